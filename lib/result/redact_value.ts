import holders from '../../src/redact/holders.json'
import type { Ahead } from '../ahead.js'
import type { Origin } from '../clamp_event.js'
import type { EnginePolicy } from '../compiled.js'
import { copy } from '../dialect/shallow_copy.js'
import { native } from '../engine.js'
import type { Redaction } from '../redact_options.js'
import { countMarks } from '../redactions.js'
import { redactString } from '../text/redact.js'
import { elementAt, indexesOf, isBoxedText, isList, isObject, tryRead, unboxed } from '../untrusted.js'
import { errorHead, isError, membersOf } from './error_members.js'
import { tellingRedacted } from './gate.js'
import { resultsIn } from './message_results.js'
import { type Changes, change, described, rebuilt } from './rebuild_error.js'
import { steadyResult } from './steady_result.js'

/** Returns a text or a tool result without its secrets, side data included. Any other value is
 *  returned as it is. */
export function redactResult<T>(value: T, policy: EnginePolicy): T {
  if (!policy.redact) return value
  const steady = steadyResult(value)
  const isKnown = typeof steady === 'string' || resultsIn(steady, policy.dialect).length > 0
  return isKnown ? redactValue(steady, policy) : value
}

/** Returns a value without the secrets in its strings: copies along the changed paths, everything
 *  else by reference. */
export function redactValue<T>(value: T, { redact, ahead }: EnginePolicy): T {
  return redact ? (new Walk(redact, rebuilt, ahead).value(value) as T) : value
}

/** Like `redactValue`, but changes errors in place. */
export function redactThrown<T>(thrown: T, { redact }: EnginePolicy): T {
  return redact ? (new Walk(redact, change).value(thrown) as T) : thrown
}

/**
 * Redacts the results of a history, and settles those that may answer in another way later.
 * `given`: its elements, as they were read, and `fits`: true for each that stays as it is.
 * `changed`: the numbers of the results in the other messages that changed.
 */
export function prepareHistory(
  messages: readonly unknown[],
  given: readonly unknown[],
  fits: readonly boolean[],
  policy: EnginePolicy,
  origin: Origin,
) {
  const redact = (message: unknown) =>
    tellingRedacted(policy, origin, message, () => redactValue(message, policy))
  const changes = new Map<number, unknown>()
  const changed = new Set<number>()
  const steady = given.map((message, at) => (fits[at] ? undefined : steadyResult(message)))
  const isSteady = steady.every((message, at) => message === undefined || message === given[at])
  let next = 0
  for (const [at, message] of isSteady && !policy.redact ? [] : steady.entries()) {
    const results = resultsIn(message, policy.dialect)
    const made = results.length > 0 ? redact(message) : given[at]
    if (made !== given[at]) changes.set(at, made)
    if (made !== given[at]) for (const nth of results.keys()) changed.add(next + nth)
    next += results.length
  }
  return { messages: changes.size > 0 ? (copy(messages, changes) as unknown[]) : messages, changed }
}

/** Members that hold the value of what the object around them, or a member beside them, names. */
const VALUES = new Set(holders.values)
const NAMES = holders.names.flatMap((name) => [name, name.replace(/^./, (first) => first.toUpperCase())])
/** Longest list of names and values in turn, as of headers. */
const PAIRED = 256

/** Returns the name of what a member holds. `under`: the name of the object. */
function nameOf(object: object, key: string, under: string | undefined): string {
  if (!VALUES.has(key.toLowerCase())) return key
  for (const name of NAMES) {
    const beside: unknown = described(object, name)?.value
    if (typeof beside === 'string' && name !== key) return beside
  }
  return under ?? key
}

/** Returns a text that was redacted, null if it has no secret. */
function counted(text: string, made: string | null): string {
  if (made !== null) countMarks(text, made)
  return made ?? text
}

class Walk {
  /** Copies by object. One that is being read stands for itself, as in a cycle. */
  readonly #made = new Map<object, object>()

  constructor(
    readonly redaction: Redaction,
    readonly changed: (error: object, changes: Changes) => object,
    readonly ahead?: Ahead,
  ) {}

  /** `name`: the name under which a text stands may tell that it is a secret. */
  value(value: unknown, name?: string): unknown {
    if (typeof value === 'string') return this.#text(value, name)
    if (!isObject(value) || ArrayBuffer.isView(value)) return value
    // Its chars are members.
    if (isBoxedText(value)) return this.#boxed(value, name)
    const known = this.#made.get(value)
    if (known) return known
    this.#made.set(value, value)
    const made = tryRead(() => (isError(value) ? this.#error(value) : this.#object(value, name))) ?? value
    this.#made.set(value, made)
    return made
  }

  /** Redacts a text as an object. Becomes a plain text if it has a secret. */
  #boxed(value: object, name: string | undefined): unknown {
    const text = unboxed(value) as string
    const made = this.#text(text, name)
    return made === text ? value : made
  }

  #text(text: string, name: string | undefined): string {
    if (name === undefined) return redactString(text, this.redaction, this.ahead) ?? text
    return counted(text, native.redactMember(this.redaction, name, text, false))
  }

  /** Redacts an element of a list in which names and values take turns. */
  #element(list: readonly unknown[], at: number, element: unknown): unknown {
    const isValue = at % 2 === 1 && list.length % 2 === 0 && list.length <= PAIRED
    const name = isValue && typeof element === 'string' ? elementAt(list, at - 1) : undefined
    if (typeof name !== 'string') return element
    return counted(element as string, native.redactMember(this.redaction, name, element as string, true))
  }

  /** `under`: the name under which an object stands. The elements of a list stand under its
   *  name. */
  #object(value: object, under?: string): object {
    const changes = new Map<string | number, unknown>()
    const look = (key: string | number, member: unknown, name?: string, given = member) => {
      const made = this.value(member, name)
      if (made !== given) changes.set(key, made)
    }
    if (isList(value)) {
      for (const at of indexesOf(value)) {
        const element = elementAt(value, at)
        look(at, this.#element(value, at, element), under, element)
      }
    }
    // Getters are not run: what they return is redacted where it becomes text.
    else
      for (const key of Object.keys(value)) look(key, described(value, key)?.value, nameOf(value, key, under))
    return changes.size > 0 ? copy(value, changes) : value
  }

  #error(error: object): object {
    const changes: Changes = {}
    const look = (key: PropertyKey, member: unknown) => {
      const made = this.value(member, typeof key === 'string' ? key : undefined)
      if (made !== member) changes[key] = made
    }
    for (const key of errorHead(error))
      look(
        key,
        tryRead(() => (error as Record<PropertyKey, unknown>)[key]),
      )
    for (const { key, value } of membersOf(error)) look(key, value)
    return Reflect.ownKeys(changes).length > 0 ? this.changed(error, changes) : error
  }
}
