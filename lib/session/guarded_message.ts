import { types } from 'node:util'
import type { GuardOptions } from 'spillway'
import type { Origin } from '../clamp_event.js'
import type { EnginePolicy } from '../compiled.js'
import { type Result, readResults } from '../dialect/results.js'
import { plain, roomAfter, stringified } from '../json.js'
import { SYNC } from '../kinds.js'
import { clampIfResult } from '../result/clamp_result.js'
import { handBack } from '../result/gate.js'
import { redactResult } from '../result/redact_value.js'
import { ignoreRejection, isList, isObject, isPlain, isPromise, tryRead } from '../untrusted.js'
import { optionError } from '../validate.js'
import { assignInPlace } from './assign_in_place.js'
import { fitRow } from './fit_row.js'
import type { Recent } from './recent.js'
import { Snapshot } from './snapshot.js'

/** Rules for an appended message. */
export interface MessageRules {
  readonly policy: EnginePolicy
  readonly maxRowBytes: number
  /** Runs before the policy on each message. */
  readonly prepare?: (message: object) => object
  readonly inPlace: boolean
  readonly transform: GuardOptions['transform']
  readonly beforeWrite: GuardOptions['beforeWrite']
}

const NOTHING = Symbol('nothing')

/** One message to be written. */
export class GuardedMessage {
  isChanged = false
  /** The message as the last pass left it. A hook that leaves it so needs no further pass. */
  #settled: Snapshot | undefined
  /** The hook that answered with a promise. */
  #late: { readonly hook: string; readonly answer: unknown } | undefined

  constructor(
    readonly message: unknown,
    readonly rules: MessageRules,
    readonly recent?: Recent,
  ) {}

  /** Writes what the rules leave of the message. `hooks`: the hooks run first, and may keep it from
   *  being written. Throws if one answers with a promise, and writes nothing: its answer may be a
   *  veto, or a message without a secret. */
  write(write: (kept: unknown) => unknown, hooks: boolean): unknown {
    const kept = tryRead(() => (hooks ? this.#afterHooks() : this.#capInPlace(this.message)))
    if (this.#late) throw optionError(TypeError, this.#late.hook, SYNC, this.#late.answer)
    return kept === NOTHING ? undefined : write(kept === undefined ? this.message : kept)
  }

  #afterHooks(): unknown {
    const { transform, beforeWrite } = this.rules
    let kept = this.#capInPlace(this.message)
    const [result] = transform ? this.#results(kept) : []
    if (transform && result) {
      const answer = tryRead(() => transform(kept, metaOf(result)))
      kept = this.#withAnswer('transform', kept, answer)
    }
    if (!beforeWrite || this.#late) return kept
    const answer = tryRead(() => beforeWrite(kept))
    return answer === false ? NOTHING : this.#withAnswer('beforeWrite', kept, answer)
  }

  /** Applies the answer of a hook, which may have changed the message in place instead. */
  #withAnswer(hook: string, kept: unknown, answer: unknown): unknown {
    ignoreRejection(answer)
    if (isPromise(answer)) this.#late = { hook, answer }
    const isMessage = typeof answer === typeof kept && answer !== null && !isPromise(answer)
    return this.#capInPlace(isMessage ? answer : kept, isMessage && answer !== kept)
  }

  #capInPlace(kept: unknown, isFromHook = false): unknown {
    if (this.#settled?.isOf(kept)) return kept
    const capped = this.#cappedInPlace(kept, isFromHook)
    const { transform, beforeWrite } = this.rules
    this.#settled = transform || beforeWrite ? Snapshot.of(capped) : undefined
    return capped
  }

  /** Caps the message to write, and overwrites the original with it if allowed. `isFromHook`: a
   *  hook made it. */
  #cappedInPlace(kept: unknown, isFromHook: boolean): unknown {
    const capped = this.#capped(kept)
    if (capped === this.message) return capped
    this.isChanged = true
    const { message } = this
    if (!this.rules.inPlace || !isObject(message) || !isObject(capped)) return capped
    const become = () =>
      haveSameClass(message, capped) &&
      (!isFromHook || isWithout(capped, message)) &&
      assignInPlace(message, capped)
    if (tryRead(become) !== true) return capped
    // An exotic object may have ignored the writes, and a class may write others as JSON.
    return isMutable(message) || this.#capped(message, true) === message ? message : capped
  }

  #results(message: unknown): readonly Result[] {
    const { dialect } = this.rules.policy
    return (isObject(message) ? tryRead(() => readResults(message, dialect)) : undefined) ?? []
  }

  #capped(given: unknown, isTrial = false): unknown {
    const { policy } = this.rules
    const origin: Origin = { phase: 'result', onClamp: policy.onClamp, isTrial }
    return handBack(policy, origin, given, (own) => this.#made(given, own))
  }

  #made(given: unknown, from: Origin): unknown {
    const { policy, maxRowBytes, prepare } = this.rules
    const message = redactResult(given, policy)
    if (!isObject(message)) return message
    const prepared = (prepare && tryRead(() => prepare(message))) ?? message
    const origin: Origin = { ...from, ask: this.recent?.askerOf(message, policy.query) }
    const clamped = clampIfResult(prepared, policy, origin) ?? prepared
    if (isLightRow(clamped, maxRowBytes)) return clamped
    const within = tryRead(() => fitRow(clamped, { maxBytes: maxRowBytes, policy, origin })) ?? clamped
    // A value in the place of a text may have become a text.
    const capped = within === clamped ? within : (clampIfResult(within, policy, origin) ?? within)
    // A copy lacks private fields, which the class's toJSON may need.
    return capped === message || hasJson(capped) || !hasJson(message)
      ? capped
      : this.#capped(plain(message), true)
  }
}

function hasJson(value: unknown): boolean {
  return tryRead(() => stringified(value)) !== undefined
}

/** Bytes up to which a walk may tell that a row fits. */
const WALKED = 4_194_304

/** Returns true if a walk shows that a row is data within a limit. */
function isLightRow(row: object, maxBytes: number): boolean {
  return tryRead(() => roomAfter(row, Math.min(maxBytes, WALKED)) >= 0) === true
}

/** Returns true if an object has just the members that are written to it. */
function isMutable(value: object): boolean {
  return isPlain(value) && !types.isProxy(value) && !('toJSON' in value)
}

/** Returns true if one object can be overwritten with the other: both have the same class, or
 *  none. */
function haveSameClass(message: object, other: object): boolean {
  const [a, b] = [message, other].map((value) => Object.getPrototypeOf(value) as object | null)
  return a === b || (isPlain(message) && isPlain(other) && isList(message) === isList(other))
}

/** Returns true if `other` does not contain the message. */
function isWithout(other: object, message: object): boolean {
  const refuse = (_: string, value: unknown) => {
    if (value === message) throw new Error('the message itself')
    return value
  }
  return tryRead(() => stringified(other, refuse)) !== undefined
}

function metaOf({ id, tool }: Result): { toolCallId?: string; toolName?: string } {
  return { ...(id !== undefined && { toolCallId: id }), ...(tool !== undefined && { toolName: tool }) }
}
