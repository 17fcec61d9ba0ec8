import type { MessagesPolicy } from 'spillway'
import { clampSlots } from './blocks.js'
import { copy } from './copy.js'
import { isFromModel, type Result, readResults } from './dialect.js'
import { Draft } from './draft.js'
import { announce, isHeard, type Origin } from './event.js'
import { optionError } from './option.js'
import { type Aggregate, checkAggregate, planOf, type Sized } from './plan.js'
import { type Compiled, compileWith, failed, shortened } from './policy.js'
import { elementAt, quietly } from './reading.js'
import { clampSide } from './result.js'
import { surelyFit } from './slots.js'

const ORIGIN: Origin = { phase: 'result' }

export function clampMessages<T extends readonly unknown[]>(
  messages: T,
  options?: MessagesPolicy,
): { messages: T; clamped: number } {
  const policy = compileWith({ notice: 'pi' }, options)
  const aggregate = options?.aggregate === undefined ? undefined : checkAggregate(options.aggregate)
  if (!Array.isArray(messages)) throw optionError(TypeError, 'messages', 'an array', messages)
  const kept = new History(messages, policy)
  if (aggregate) kept.hold(aggregate)
  return kept.done() as { messages: T; clamped: number }
}

/** A tool result of a history, and what is to be left of it. */
class Kept implements Sized {
  clamped: ReturnType<typeof clampSlots> | undefined

  constructor(
    readonly result: Result,
    readonly message: number,
    readonly latest: boolean,
    readonly policy: Compiled,
  ) {
    if (!surelyFit(result.slots, policy)) this.clamp()
  }

  /** Clamps what the result was in the beginning, so that a notice counts from that, to `maxChars` where it is given. */
  clamp(maxChars = Number.POSITIVE_INFINITY): void {
    const { result } = this
    const policy = maxChars === Number.POSITIVE_INFINITY ? this.policy : shortened(this.policy, maxChars)
    this.clamped = clampSlots(result.slots, result.isError ? failed(policy) : policy, isHeard(ORIGIN))
  }

  get texts(): string[] {
    const edits = this.clamped?.edits
    return this.result.slots.flatMap((slot) => {
      const edit = edits?.get(slot)
      return typeof edit === 'string' ? edit : edit === null ? [] : slot.text
    })
  }

  get chars(): number {
    return this.texts.reduce((sum, text) => sum + text.length, 0)
  }
}

/** The messages of a history with its tool results clamped. */
class History {
  readonly #messages: readonly unknown[]
  readonly #policy: Compiled
  readonly #results: Kept[] = []

  constructor(messages: readonly unknown[], policy: Compiled) {
    this.#messages = messages
    this.#policy = policy
    // There may be holes, and elements that throw when they are read.
    const read = Array.from(messages.keys(), (at) => elementAt(messages, at))
    const all = read.map((message) => quietly(() => resultsIn(message, policy)) ?? [])
    const lastAnswer = read.findLastIndex(
      (message) => isObject(message) && quietly(() => isFromModel(message)),
    )
    for (const [at, results] of all.entries())
      for (const result of results) this.#results.push(new Kept(result, at, at >= lastAnswer, policy))
  }

  /** Cuts results further until all of them hold a budget. */
  hold(aggregate: Aggregate): void {
    const sized = this.#results.map(({ chars, latest, texts }) => ({ chars, latest, texts }))
    for (const { index, maxChars } of planOf(sized, { aggregate }, this.#policy)) {
      this.#results[index]?.clamp(maxChars)
    }
  }

  done(): { messages: readonly unknown[]; clamped: number } {
    const drafts = new Map<number, Draft>()
    let clamped = 0
    for (const { result, message, clamped: made } of this.#results) {
      const draft = drafts.get(message) ?? new Draft()
      const cut = made !== undefined && made.edits.size > 0
      if (cut) draft.edit(result, made.edits)
      if (made?.figures) announce(ORIGIN, made.figures, result)
      const capped = this.#policy.sideData !== 'keep' && clampSide(result, this.#policy, draft)
      if (!cut && !capped) continue
      clamped += 1
      drafts.set(message, draft)
    }
    if (drafts.size === 0) return { messages: this.#messages, clamped }
    const changes = new Map<number, unknown>()
    for (const [at, draft] of drafts) {
      const message = this.#messages[at]
      changes.set(at, quietly(() => draft.done(message as object)) ?? message)
    }
    return { messages: copy(this.#messages, changes) as unknown[], clamped }
  }
}

function resultsIn(message: unknown, policy: Compiled): readonly Result[] {
  return isObject(message) ? readResults(message, policy.dialect) : []
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
