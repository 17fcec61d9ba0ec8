import type { GuardOptions } from 'spillway'
import type { Compiled } from '../compiled.js'
import { type Result, readResults } from '../dialect/dialect.js'
import type { Origin } from '../event.js'
import { plain } from '../json.js'
import { forget, isObject, isPlain, isPromise, quietly } from '../reading.js'
import { clampKnown } from '../result/result.js'
import { overwrite } from './overwrite.js'
import { withinRow } from './row.js'

/** What is done with a message that is appended. */
export interface Rules {
  readonly policy: Compiled
  readonly maxRowBytes: number
  readonly inPlace: boolean
  readonly transform: GuardOptions['transform']
  readonly beforeWrite: GuardOptions['beforeWrite']
}

export const NOTHING = Symbol('nothing')

/** One message on its way to be written. */
export class Entry {
  isChanged = false

  constructor(
    readonly message: unknown,
    readonly rules: Rules,
  ) {}

  hooked(): unknown {
    const { transform, beforeWrite } = this.rules
    let kept = this.settle(this.message)
    const [result] = transform ? this.#results(kept) : []
    if (transform && result) {
      const answer = quietly(() => transform(kept, metaOf(result)))
      kept = this.#answered(kept, answer)
    }
    if (!beforeWrite) return kept
    const answer = quietly(() => beforeWrite(kept))
    return answer === false ? NOTHING : this.#answered(kept, answer)
  }

  /** What a hook made of a message, which it may as well have changed in place. */
  #answered(kept: unknown, answer: unknown): unknown {
    forget(answer)
    const isMessage = typeof answer === typeof kept && answer !== null && !isPromise(answer)
    return this.settle(isMessage ? answer : kept, isMessage && answer !== kept)
  }

  /** Caps what is to be written, and has the message become that. `given`: someone else made it. */
  settle(kept: unknown, given = false): unknown {
    const capped = this.#capped(kept)
    if (capped === this.message) return capped
    this.isChanged = true
    const { message } = this
    if (!this.rules.inPlace || !isObject(message) || !isObject(capped)) return capped
    const become = () =>
      isAlike(message, capped) && (!given || isApart(capped, message)) && overwrite(message, capped)
    if (quietly(become) !== true) return capped
    // An exotic object may have stayed what it was.
    return this.#capped(message, true) === message ? message : capped
  }

  #results(message: unknown): readonly Result[] {
    const { dialect } = this.rules.policy
    return (isObject(message) ? quietly(() => readResults(message, dialect)) : undefined) ?? []
  }

  #capped(message: unknown, isTrial = false): unknown {
    if (!isObject(message)) return message
    const { policy, maxRowBytes } = this.rules
    const origin: Origin = { phase: 'result', onClamp: policy.onClamp, isTrial }
    const clamped = clampKnown(message, policy, origin) ?? message
    const within = quietly(() => withinRow(clamped, { maxBytes: maxRowBytes, policy, origin })) ?? clamped
    // What stood where a text belongs may be one now.
    const capped = within === clamped ? within : (clampKnown(within, policy, origin) ?? within)
    // Private fields stay behind in a copy, and what a class writes of itself may need them.
    return capped === message || hasJson(capped) || !hasJson(message)
      ? capped
      : this.#capped(plain(message), true)
  }
}

function hasJson(value: unknown): boolean {
  return quietly(() => JSON.stringify(value)) !== undefined
}

/** Whether one can become the other: of one class, or both of none. */
function isAlike(message: object, other: object): boolean {
  const [a, b] = [message, other].map((value) => Object.getPrototypeOf(value) as object | null)
  return a === b || (isPlain(message) && isPlain(other) && Array.isArray(message) === Array.isArray(other))
}

/** Whether a message is no part of what it would become. */
function isApart(other: object, message: object): boolean {
  const refuse = (_: string, value: unknown) => {
    if (value === message) throw new Error('the message itself')
    return value
  }
  return quietly(() => JSON.stringify(other, refuse)) !== undefined
}

function metaOf({ id, tool }: Result): { toolCallId?: string; toolName?: string } {
  return { ...(id !== undefined && { toolCallId: id }), ...(tool !== undefined && { toolName: tool }) }
}
