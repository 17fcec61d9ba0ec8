import type { SpillStore } from 'spillway'
import { type Compiled, failed } from '../compiled.js'
import { copy } from '../dialect/copy.js'
import { nameOf, ON_UPDATE, type Origin } from '../event.js'
import { layered } from '../layered.js'
import { get, isPlain, isPromise } from '../reading.js'
import { readsSpill } from '../spill/spill_tool.js'
import { Spilling, Unsaved } from '../spill/spilling.js'
import { clampThrown, messageOf } from './error.js'
import { clampOutcome, clampPair } from './outcome.js'
import { told } from './result.js'

export type Call = (this: unknown, ...args: unknown[]) => unknown

/** How the calls of one method of a tool are clamped. */
export interface Clamping {
  readonly policy: Compiled
  readonly tool: string | undefined
  /** Calls may be handed a callback for partial updates, as Pi's are. */
  readonly updates?: boolean
  /** What comes back: what a model sees; a pair of that and an artifact; or what only the tool's own code turns into it. */
  readonly returns: 'content' | 'pair' | 'raw'
}

/** Functions that clamp, with what they wrap: a tool that is wrapped again is wrapped from the start. */
const wrapped = new WeakMap<Call, { call: Call; clamping: Clamping }>()

export function wrapCall(call: Call, given: Clamping): Call {
  const before = wrapped.get(call)
  const clamping = before ? again(before.clamping, given) : given
  if (before && isSame(before.clamping, clamping)) return call
  const inner = before?.call ?? call
  // What reads saved outputs is not saved again.
  const spill = readsSpill(inner) ? undefined : clamping.policy.spill
  const run: Call = function (this: unknown, ...args) {
    const one = new OneCall(clamping, args, spill)
    try {
      return one.settle(inner.apply(this, clamping.updates ? one.withUpdates() : args))
    } catch (error) {
      throw one.thrown(error)
    }
  }
  disguise(run, inner)
  wrapped.set(run, { call: inner, clamping })
  return run
}

/** How calls are clamped that were clamped before: never less. */
function again(before: Clamping, given: Clamping): Clamping {
  return {
    policy: layered(before.policy, given.policy),
    tool: given.tool ?? before.tool,
    updates: given.updates || before.updates || false,
    returns: given.returns === 'raw' ? before.returns : given.returns,
  }
}

function isSame(a: Clamping, b: Clamping): boolean {
  return (
    a.policy === b.policy &&
    a.returns === b.returns &&
    a.tool === b.tool &&
    (a.updates ?? false) === b.updates
  )
}

/** The wrapper passes for what it wraps: name, arity, prototype and whatever else hangs on it. */
export function disguise(run: Call, call: Call): void {
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

/** One call of a tool, until all that it gives has been clamped. */
class OneCall {
  constructor(
    readonly clamping: Clamping,
    readonly args: unknown[],
    readonly spill: SpillStore | undefined,
  ) {}

  /** The arguments, with a callback that clamps what it is told. */
  withUpdates(): unknown[] {
    const update = this.args[ON_UPDATE]
    if (typeof update !== 'function') return this.args
    const one = this
    const clamping = function (this: unknown, partial: unknown, ...rest: unknown[]): unknown {
      return (update as Call).call(this, one.#clamp(partial, 'update'), ...rest)
    }
    return this.args.with(ON_UPDATE, clamping)
  }

  /** Clamps what a call came to, now or when it is there: a value, a promise, the steps of a generator. */
  settle(outcome: unknown, phase: Origin['phase'] = 'result'): unknown {
    if (typeof outcome !== 'object' || outcome === null) return this.#settleNow(outcome, phase)
    if (isPromise(outcome)) {
      // The `then` of something that is no promise may return anything.
      return Promise.resolve(outcome).then(
        (value) => this.#settleLater(value, phase),
        (error: unknown) => this.#throwLater(error),
      )
    }
    if (isGenerator(outcome)) return this.#steps(outcome)
    return isIterable(outcome) ? this.#iterable(outcome) : this.#settleNow(outcome, phase)
  }

  #settleNow(value: unknown, phase: Origin['phase']): unknown {
    return this.#clamp(value, phase, phase === 'result' ? this.#unsaved() : undefined)
  }

  #unsaved(): Partial<Origin> | undefined {
    return this.spill && { spilling: new Unsaved() }
  }

  /** The same of a value that was waited for: of what is cut, the whole can be saved. */
  async #settleLater(value: unknown, phase: Origin['phase']): Promise<unknown> {
    const { spill } = this
    if (spill && !(typeof value === 'object' && value !== null && isGenerator(value))) {
      const spilling = new Spilling()
      this.#clamp(value, phase, { spilling, isTrial: true })
      if (await spilling.save(spill, nameOf(this.#origin(phase))))
        return this.#clamp(value, phase, { spilling })
    }
    return this.settle(value, phase)
  }

  async #throwLater(error: unknown): Promise<never> {
    const policy = failed(this.clamping.policy)
    const text = messageOf(error)
    if (!this.spill || text === undefined) throw this.thrown(error)
    const spilling = new Spilling()
    told(text, policy, { ...this.#origin('error'), spilling, isTrial: true })
    await spilling.save(this.spill, nameOf(this.#origin('error')))
    throw this.thrown(error, { spilling })
  }

  thrown(error: unknown, more?: Partial<Origin>): unknown {
    return clampThrown(error, failed(this.clamping.policy), {
      ...this.#origin('error'),
      ...(more ?? this.#unsaved()),
    })
  }

  #clamp(value: unknown, phase: Origin['phase'], more?: Partial<Origin>): unknown {
    const { policy, returns } = this.clamping
    if (returns === 'raw') return value
    const clamp = returns === 'pair' && Array.isArray(value) && value.length === 2 ? clampPair : clampOutcome
    return clamp(value, policy, { ...this.#origin(phase), ...more })
  }

  #origin(phase: Origin['phase']): Origin {
    const { policy, tool } = this.clamping
    return { phase, tool, args: this.args, onClamp: policy.onClamp }
  }

  /** The same data to whoever iterates over it, with every step clamped. */
  #iterable(value: AsyncIterable<unknown>): object {
    const iterate = () => this.#steps(value[Symbol.asyncIterator]() as Steps)
    const made = copy(value, new Map())
    return Object.defineProperty(made, Symbol.asyncIterator, { value: iterate, configurable: true })
  }

  /** The same generator to whoever runs it, with every step clamped. */
  #steps(steps: Steps): Steps {
    const step = (result: unknown): unknown => {
      const { done, value } = result as IteratorResult<unknown>
      return { done, value: this.settle(value, done ? 'result' : 'update') }
    }
    const fail = (error: unknown): never => {
      throw this.thrown(error)
    }
    const run =
      (name: 'next' | 'return' | 'throw') =>
      (...args: unknown[]): unknown => {
        try {
          const made = (steps[name] as Call).apply(steps, args)
          return isPromise(made) ? made.then(step, fail) : step(made)
        } catch (error) {
          return fail(error)
        }
      }
    const clamping = Object.create(Object.getPrototypeOf(steps) as object) as Steps
    // Iterators that are written by hand may have one of their own, and no way to end them.
    for (const name of ['next', 'return', 'throw'] as const)
      if (typeof get(steps, name) === 'function') Object.defineProperty(clamping, name, { value: run(name) })
    for (const name of [Symbol.asyncIterator, Symbol.iterator])
      if (typeof get(steps, name) === 'function')
        Object.defineProperty(clamping, name, { value: () => clamping })
    return clamping
  }
}

type Steps = Generator | AsyncGenerator

/** A generator, or what passes for an async one: those who run these call `next` alone, or `return` where there is one. */
function isGenerator(value: object): value is Steps {
  const isAsync = typeof get(value, Symbol.asyncIterator) === 'function'
  const iterates = isAsync || typeof get(value, Symbol.iterator) === 'function'
  return (
    iterates &&
    typeof get(value, 'next') === 'function' &&
    (isAsync || typeof get(value, 'throw') === 'function')
  )
}

/** Plain data that has steps; a stream is a class of its own, which a wrapper cannot pass for. */
function isIterable(value: object): value is AsyncIterable<unknown> {
  return typeof get(value, Symbol.asyncIterator) === 'function' && isPlain(value)
}
