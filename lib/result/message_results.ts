import type { DialectName } from 'spillway'
import { emitClamp, type Figures, hasListeners, type Origin, savedFor } from '../clamp_event.js'
import { type EnginePolicy, failed, shortened } from '../compiled.js'
import { Draft } from '../dialect/edit.js'
import type { PathNode } from '../dialect/paths.js'
import { isAnswer, type Result, readResults } from '../dialect/results.js'
import { copy } from '../dialect/shallow_copy.js'
import type { Slot } from '../dialect/walk.js'
import { excess, ResultMedia } from '../media/media.js'
import { once } from '../query.js'
import { isObject, tryRead } from '../untrusted.js'
import { clampSlots, type SlotsOutcome } from './clamp_slots.js'
import type { History } from './history.js'
import { writeResult } from './write_result.js'

/** The origin of events of a history, and of none. */
export const ORIGIN: Origin = { phase: 'result' }
export const TRIAL: Origin = { phase: 'result', isTrial: true }

/** Returns the tool results that a message is or carries, an empty list if reading it throws. */
export function resultsIn(message: unknown, dialect?: DialectName, root?: PathNode): readonly Result[] {
  return (isObject(message) && tryRead(() => readResults(message, dialect, root))) || NONE
}

const NONE: readonly never[] = []

/** Returns the index of the model's last answer. Results from there on are the latest. */
export function lastAnswer(messages: readonly unknown[]): number {
  return messages.findLastIndex((message) => isObject(message) && tryRead(() => isAnswer(message)))
}

/** A tool result of a history, with its clamped texts. */
export class HistoryResult {
  #clamped: SlotsOutcome | undefined
  #ask: (() => string[]) | undefined

  constructor(
    readonly result: Result,
    /** Index of the message that carries it. */
    readonly message: number,
    readonly latest: boolean,
    readonly policy: EnginePolicy,
    readonly history: History,
  ) {}

  /** Clamps the original result, to `maxChars` if it is given. Notices count from the original. */
  clamp(maxChars = Number.POSITIVE_INFINITY): void {
    const { result, message, history } = this
    const policy = maxChars === Number.POSITIVE_INFINITY ? this.policy : shortened(this.policy, maxChars)
    const own = result.isError ? failed(policy) : policy
    this.#ask ??= once(() => history.asked(result, message, policy.query))
    const clamped = clampSlots(result.slots, own, hasListeners(ORIGIN), this.#ask)
    const { figures } = clamped
    const texts = () => result.slots.map(({ text }) => text)
    const reason = maxChars === Number.POSITIVE_INFINITY ? 'limits' : 'budget'
    this.#clamped = figures
      ? { ...clamped, figures: () => ({ ...figures(), reason, ...savedFor(texts(), own) }) }
      : clamped
  }

  /** Replaces payloads in blocks of their own over `maxBytes`, the latest last. */
  lighten(maxBytes: number): void {
    const media = new ResultMedia(this.result, 'blocks')
    const [gone] = excess([media], { maxBytes, maxItems: Number.POSITIVE_INFINITY, first: false }) ?? []
    if (gone) this.drop = (draft) => media.drop(gone, draft)
  }

  /** Replaces the payloads that go. */
  drop: ((draft: Draft) => () => Figures) | undefined

  get clamped(): SlotsOutcome | undefined {
    return this.#clamped
  }

  get texts(): string[] {
    return textsOf(this.result.slots, this.#clamped)
  }

  get chars(): number {
    return lengthOf(this.texts)
  }
}

/** Returns the texts of a result, clamped if it was. */
export function textsOf(slots: readonly Slot[], clamped?: SlotsOutcome): string[] {
  if (!clamped) return slots.map(({ text }) => text)
  return slots.flatMap((slot) => {
    const edit = clamped.edits.get(slot)
    if (edit === null) return []
    return typeof edit === 'string' ? edit : (edit?.text ?? slot.text)
  })
}

export function lengthOf(texts: readonly string[]): number {
  let sum = 0
  for (const { length } of texts) sum += length
  return sum
}

/** A tool result and its texts. */
export interface WithTexts {
  readonly result: Result
  readonly texts: readonly string[]
}

/**
 * Returns the results of one message with their texts, each grouped with its duplicates: some
 * frameworks keep a call in two places.
 */
export function withTexts(results: readonly Result[]): Twins[] {
  // A single result has no duplicate, and reading its id takes time.
  if (results.length <= 1) return results.map((result) => [{ result, texts: textsOf(result.slots) }])
  const groups: Twins[] = []
  const known = new ByTexts<Twins>()
  for (const result of results) {
    const one = { result, texts: textsOf(result.slots) }
    const { id } = result
    const group = id === undefined ? undefined : known.get(id, one.texts)
    if (group) group.push(one)
    else {
      const alone: Twins = [one]
      groups.push(alone)
      if (id !== undefined) known.set(id, one.texts, alone)
    }
  }
  return groups
}

type Twins = [WithTexts, ...WithTexts[]]

/** Values by the id and the texts of a result. Texts are hashed only where ids and lengths are
 *  equal. */
export class ByTexts<T> {
  readonly #values = new Map<string, Map<string, T>>()

  get isEmpty(): boolean {
    return this.#values.size === 0
  }

  get(id: string, texts: readonly string[]): T | undefined {
    return this.#values.get(`${id} ${lengthOf(texts)}`)?.get(joined(texts))
  }

  set(id: string, texts: readonly string[], value: T): void {
    const name = `${id} ${lengthOf(texts)}`
    const alike = this.#values.get(name) ?? new Map<string, T>()
    alike.set(joined(texts), value)
    this.#values.set(name, alike)
  }
}

/** Returns a text that only the same texts have, of all with their length. A single text is not
 *  copied. */
function joined(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] as string) : JSON.stringify(texts)
}

/** Writes clamped results into copies of their messages. Returns the same array if nothing changed,
 *  and the numbers of the results that did. */
export function written(
  messages: readonly unknown[],
  results: readonly HistoryResult[],
  policy: EnginePolicy,
  origin = ORIGIN,
): { messages: readonly unknown[]; changed: ReadonlySet<number> } {
  const drafts = new Map<number, Draft>()
  const changed = new Set<number>()
  for (const [nth, { result, message, clamped, drop }] of results.entries()) {
    const draft = drafts.get(message) ?? new Draft()
    const dropped = drop?.(draft)
    if (dropped) emitClamp(origin, dropped, result)
    if (!writeResult(result, clamped, policy, draft, origin) && !drop) continue
    changed.add(nth)
    drafts.set(message, draft)
  }
  return { messages: withDrafts(messages, drafts), changed }
}

/** Writes drafts into copies of their messages, by index. Returns the same array without any. */
function withDrafts(messages: readonly unknown[], drafts: ReadonlyMap<number, Draft>): readonly unknown[] {
  if (drafts.size === 0) return messages
  const changes = new Map<number, unknown>()
  for (const [at, draft] of drafts) {
    const message = messages[at]
    changes.set(at, tryRead(() => draft.done(message as object)) ?? message)
  }
  return copy(messages, changes) as unknown[]
}
