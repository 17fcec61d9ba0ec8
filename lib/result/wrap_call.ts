import type { SpillStore } from 'spillway'
import { callNames, emitSkip, ON_UPDATE, type Origin } from '../clamp_event.js'
import { clampLater } from '../clamp_later.js'
import { type EnginePolicy, failed } from '../compiled.js'
import { copy } from '../dialect/shallow_copy.js'
import { layered } from '../layered.js'
import { askedBy } from '../query.js'
import { CallSpill, UnsavedCallSpill } from '../spill/call_spill.js'
import { pagerOf } from '../spill/spill_tool.js'
import { mayBeLong } from '../text/rounds.js'
import { get, isList, isObject, isPlain, isPromise } from '../untrusted.js'
import { inputIn, writtenIn } from './call_arguments.js'
import { clampThrown, messageOf } from './clamp_error.js'
import { clampAndReport } from './clamp_result.js'
import { clampWithFigures } from './clamp_slots.js'
import { handBack, tellingRedacted } from './gate.js'
import { redactThrown, redactValue } from './redact_value.js'
import { clampPair, clampReturn, isCutData } from './tool_return.js'

export type ToolFunction = (this: unknown, ...args: unknown[]) => unknown

/** Settings for the calls of one method of a tool. */
export interface CallSettings {
  readonly policy: EnginePolicy
  readonly tool: string | undefined
  /** True if calls may get a callback for partial updates, like Pi's. */
  readonly updates?: boolean
  /**
   * The returned value: content that a model sees, a pair of content and artifact, raw data that
   * the tool's own code converts to content, or content whose type a program relies on: an object
   * that only its text could bound stays, and `sentFor` has the text.
   */
  readonly returns: 'content' | 'pair' | 'raw' | 'typed'
  /** True for a method that converts the output of a call, such as `toModelOutput`. */
  readonly isConverter?: boolean
}

/** Clamping functions and the functions that they wrap. A tool that is wrapped again is wrapped
 *  from the start. */
const wrapped = new WeakMap<ToolFunction, WrapRecord>()

interface WrapRecord {
  readonly call: ToolFunction
  readonly clamping: CallSettings
  /** The clamped text or data of each object that a 'typed' call returned. */
  readonly sent: WeakMap<object, unknown>
}

export function wrapCall(call: ToolFunction, given: CallSettings): ToolFunction {
  const before = wrapped.get(call)
  const clamping = before ? again(before.clamping, given) : given
  if (before && isSame(before.clamping, clamping)) return call
  const inner = before?.call ?? call
  // The output of a tool that reads saved outputs is not saved again.
  const pager = pagerOf(inner)
  const spill = pager ? undefined : clamping.policy.spill
  const sent = new WeakMap<object, unknown>()
  const run: ToolFunction = function (this: unknown, ...args) {
    const one = new ToolCall(clamping, args, spill, sent)
    try {
      if (pager) return one.settle(pager(args[0], (answer) => one.fits(answer)))
      return one.settle(inner.apply(this, clamping.updates ? one.withUpdates() : args))
    } catch (error) {
      throw one.thrown(error)
    }
  }
  mimic(run, inner)
  wrapped.set(run, { call: inner, clamping, sent })
  return run
}

/** Returns the settings of a wrapped call, and the texts of its result. */
export function wrappedOf(call: ToolFunction): Pick<WrapRecord, 'clamping' | 'sent'> | undefined {
  return wrapped.get(call)
}

/** Combines settings with those of an earlier wrapper. Limits never become looser. */
function again(before: CallSettings, given: CallSettings): CallSettings {
  return {
    policy: layered(before.policy, given.policy),
    tool: given.tool ?? before.tool,
    updates: given.updates || before.updates || false,
    returns: given.returns === 'raw' ? before.returns : given.returns,
    isConverter: before.isConverter ?? false,
  }
}

function isSame(a: CallSettings, b: CallSettings): boolean {
  return (
    a.policy === b.policy &&
    a.returns === b.returns &&
    a.tool === b.tool &&
    (a.updates ?? false) === b.updates
  )
}

/** Gives the wrapper the name, arity, prototype and other properties of the function that it
 *  wraps. */
export function mimic(run: ToolFunction, call: ToolFunction): void {
  Object.setPrototypeOf(run, Object.getPrototypeOf(call) as object | null)
  const members = Object.getOwnPropertyDescriptors(call) as unknown as Record<
    string | symbol,
    PropertyDescriptor
  >
  for (const key of Reflect.ownKeys(members)) {
    const member = members[key]
    const fixed = Object.getOwnPropertyDescriptor(run, key)?.configurable === false
    if (member && !fixed && key !== 'arguments' && key !== 'caller') Object.defineProperty(run, key, member)
  }
}

/** One call of a tool, until all its output has been clamped. */
class ToolCall {
  constructor(
    readonly clamping: CallSettings,
    readonly args: unknown[],
    readonly spill: SpillStore | undefined,
    readonly sent: WeakMap<object, unknown>,
  ) {}

  /** Returns true if a text would pass uncut. */
  fits(text: string): boolean {
    const { policy } = this.clamping
    return policy.mode !== 'on' || !clampWithFigures(redactValue(text, policy), policy, false).figures
  }

  #asked: string[] | undefined

  #ask(): string[] {
    const { policy, isConverter } = this.clamping
    const args = isConverter ? [inputIn(this.args)] : this.args
    this.#asked ??= askedBy(policy.query, args, writtenIn(args))
    return this.#asked
  }

  /** Returns the arguments with a callback that clamps partial updates. */
  withUpdates(): unknown[] {
    const update = this.args[ON_UPDATE]
    if (typeof update !== 'function') return this.args
    const one = this
    const clamping = function (this: unknown, partial: unknown, ...rest: unknown[]): unknown {
      return (update as ToolFunction).call(this, one.#clamp(partial, 'update'), ...rest)
    }
    return this.args.with(ON_UPDATE, clamping)
  }

  /** Clamps the outcome of a call: a value, a promise, or the steps of a generator. */
  settle(outcome: unknown, phase: Origin['phase'] = 'result'): unknown {
    if (typeof outcome !== 'object' || outcome === null) return this.#settleNow(outcome, phase)
    if (isPromise(outcome)) {
      // The `then` of another thenable may return anything.
      return Promise.resolve(outcome).then(
        (value) => this.#settleLater(value, phase, this.spill),
        (error: unknown) => this.#throwLater(error),
      )
    }
    if (isGenerator(outcome)) return this.#steps(outcome)
    if (isIterable(outcome)) return this.#iterable(outcome)
    if (isStream(outcome)) emitSkip(this.#origin(phase), 'stream')
    return this.#settleNow(outcome, phase)
  }

  #settleNow(value: unknown, phase: Origin['phase']): unknown {
    return this.#clamp(value, phase, phase === 'result' ? this.#unsaved() : undefined)
  }

  #unsaved(): Partial<Origin> | undefined {
    return this.spill && { spilling: new UnsavedCallSpill() }
  }

  /** Clamps a value that was awaited; threads do long work. If it is truncated, the whole can be
   *  saved. */
  async #settleLater(
    value: unknown,
    phase: Origin['phase'],
    spill: SpillStore | undefined,
  ): Promise<unknown> {
    if (isObject(value) && (isGenerator(value) || isIterable(value))) return this.settle(value, phase)
    const isLong = mayBeLong(value)
    if (!spill && !isLong) return this.#settleNow(value, phase)
    const origin = { ...this.#origin(phase), ...(phase === 'result' && this.#unsaved()) }
    const later = {
      given: value,
      policy: this.clamping.policy,
      isLong,
      origin,
      storing: spill && (() => spill),
    }
    return clampLater(later, (policy, own) => this.#clamp(value, phase, own, policy))
  }

  async #throwLater(error: unknown): Promise<never> {
    // A process that only observes, or is off, saves nothing and leaves the error as it is.
    const { spill } = this
    if (!spill) throw this.thrown(error)
    const policy = failed(this.clamping.policy)
    const origin = this.#origin('error')
    const open = tellingRedacted(policy, origin, error, () => redactThrown(error, policy))
    const text = messageOf(open)
    if (text === undefined) throw this.thrown(open)
    const spilling = new CallSpill()
    clampAndReport(text, policy, { ...origin, spilling, isTrial: true })
    await spilling.save(() => spill, callNames(origin))
    throw this.thrown(open, { spilling })
  }

  thrown(error: unknown, more?: Partial<Origin>): unknown {
    return clampThrown(error, failed(this.clamping.policy), {
      ...this.#origin('error'),
      ...(more ?? this.#unsaved()),
    })
  }

  #clamp(
    value: unknown,
    phase: Origin['phase'],
    more?: Partial<Origin>,
    policy = this.clamping.policy,
  ): unknown {
    const { returns } = this.clamping
    if (returns === 'raw') return value
    return handBack(policy, { ...this.#origin(phase), ...more }, value, (origin) =>
      this.#clamped(value, policy, origin),
    )
  }

  #clamped(value: unknown, policy: EnginePolicy, origin: Origin): unknown {
    const { returns } = this.clamping
    const clamp = returns === 'pair' && isList(value) && value.length === 2 ? clampPair : clampReturn
    const open = returns === 'typed' ? redactValue(value, policy) : value
    const clamped = clamp(open, policy, origin)
    if (returns !== 'typed' || !isObject(open)) return clamped
    // A run before this one may have left a text.
    this.sent.delete(open)
    const isData = typeof clamped === 'string' || isCutData(clamped)
    if (!isData) return clamped
    this.sent.set(open, clamped)
    return open
  }

  #origin(phase: Origin['phase']): Origin {
    const { policy, tool } = this.clamping
    return { phase, tool, args: this.args, ask: () => this.#ask(), onClamp: policy.onClamp }
  }

  /** Returns a copy of the data whose iterators clamp every step. */
  #iterable(value: AsyncIterable<unknown>): object {
    const iterate = () => this.#steps(value[Symbol.asyncIterator]() as Steps)
    const made = copy(value, new Map())
    return Object.defineProperty(made, Symbol.asyncIterator, { value: iterate, configurable: true })
  }

  /** Returns a generator that passes for the given one and clamps every step. */
  #steps(steps: Steps): Steps {
    const step = (result: unknown): unknown => {
      const { done, value } = result as IteratorResult<unknown>
      return { done, value: this.settle(value, done ? 'result' : 'update') }
    }
    const stepLater = async (result: unknown): Promise<unknown> => {
      const { done, value } = result as IteratorResult<unknown>
      if (!mayBeLong(value)) return step(result)
      return { done, value: await this.#settleLater(value, done ? 'result' : 'update', undefined) }
    }
    const fail = (error: unknown): never => {
      throw this.thrown(error)
    }
    const run =
      (name: 'next' | 'return' | 'throw') =>
      (...args: unknown[]): unknown => {
        try {
          const made = (steps[name] as ToolFunction).apply(steps, args)
          return isPromise(made) ? made.then(stepLater, fail) : step(made)
        } catch (error) {
          return fail(error)
        }
      }
    const clamping = Object.create(Object.getPrototypeOf(steps) as object) as Steps
    // Handwritten iterators may have methods of their own, and lack `return` and `throw`.
    for (const name of ['next', 'return', 'throw'] as const)
      if (typeof get(steps, name) === 'function') Object.defineProperty(clamping, name, { value: run(name) })
    for (const name of [Symbol.asyncIterator, Symbol.iterator])
      if (typeof get(steps, name) === 'function')
        Object.defineProperty(clamping, name, { value: () => clamping })
    return clamping
  }
}

type Steps = Generator | AsyncGenerator

/**
 * Returns true for a generator or an async iterator. Callers of async iterators use `next`, and
 * `return` if there is one.
 */
function isGenerator(value: object): value is Steps {
  const isAsync = typeof get(value, Symbol.asyncIterator) === 'function'
  const iterates = isAsync || typeof get(value, Symbol.iterator) === 'function'
  return (
    iterates &&
    typeof get(value, 'next') === 'function' &&
    (isAsync || typeof get(value, 'throw') === 'function')
  )
}

/**
 * Returns true for plain data with an async iterator. A stream is an object of a class, which a
 * wrapper cannot imitate.
 */
function isIterable(value: object): value is AsyncIterable<unknown> {
  return isStream(value) && isPlain(value)
}

function isStream(value: object): value is AsyncIterable<unknown> {
  return typeof get(value, Symbol.asyncIterator) === 'function'
}
