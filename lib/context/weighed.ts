import { isAnswer, type Result } from '../dialect/dialect.js'
import { get, isObject, quietly } from '../reading.js'
import { lengthOf, resultsIn, withTexts } from '../result/history.js'
import { originalOf } from './plan.js'
import type { Counter } from './tokens.js'
import { Watch } from './watch.js'
import { weigh } from './weight.js'

/** A message with its tokens, once counted. */
export interface Weighed {
  /** Tokens without the texts of its tool results. */
  tokens: number
  readonly results: readonly WeighedResult[]
  readonly isAnswer: boolean
  /** Texts to count: its own, then those of each result. Released afterwards, since some are copies. */
  texts: readonly (readonly string[])[] | undefined
  /** The reads that the count depends on. */
  readonly watch: Watch
}

/** A tool result with the tokens of its texts, once counted. */
export class WeighedResult {
  tokens = 0
  #original: number | undefined

  constructor(
    readonly result: Result,
    readonly chars: number,
  ) {}

  /** Chars before it was first cut. */
  get original(): number {
    this.#original ??= originalOf(this.result.slots.map(({ text }) => text))
    return this.#original
  }
}

/** Counts of unchanged messages. An agent checks before every request, and most of its history stays the same. */
const remembered = new WeakMap<object, Weighed>()

/** Reads messages. Counts of a caller's counter are not remembered, since they may change at any time. */
export function readAll(messages: readonly unknown[], counter: Counter): Weighed[] {
  return messages.map((message) => {
    if (!counter.isOwn || !isObject(message)) return read(message)
    const known = remembered.get(message)
    if (known?.watch.holds()) return known
    const made = read(message)
    remembered.set(message, made)
    return made
  })
}

function read(message: unknown): Weighed {
  const watch = new Watch()
  const answers = isObject(message) && (quietly(() => isAnswer(message)) ?? false)
  if (isObject(message) && get(message, 'excludeFromContext') === true) {
    watch.note(message, 'excludeFromContext', true)
    return { tokens: 0, results: [], isAnswer: answers, texts: undefined, watch }
  }
  const results = resultsIn(message)
  const weight = weigh(message, results, watch)
  const alone = withTexts(results).map(([first]) => first)
  return {
    tokens: weight.fixed,
    results: alone.map(({ result, texts }) => new WeighedResult(result, lengthOf(texts))),
    isAnswer: answers,
    texts: [weight.texts, ...alone.map(({ texts }) => texts)],
    watch,
  }
}

/** Counts the tokens of messages that are not counted yet. */
export function countAll(messages: readonly Weighed[], counter: Counter): void {
  // A set, since an object may occur in a history twice.
  const fresh = [...new Set(messages.filter((message) => message.texts !== undefined))]
  if (fresh.length === 0) return
  const counts = counter.each(fresh.flatMap(({ texts }) => texts?.flat() ?? []))
  let next = 0
  const take = (texts: readonly string[] = []) => {
    let sum = 0
    for (const _ of texts) sum += counts[next++] ?? 0
    return sum
  }
  for (const message of fresh) {
    const [own, ...ofResults] = message.texts ?? []
    message.tokens += take(own)
    for (const [at, result] of message.results.entries()) result.tokens = take(ofResults[at])
    message.texts = undefined
  }
}

/** Returns the tokens of a message, tool results included. */
export function tokensOf({ tokens, results }: Weighed): number {
  let sum = tokens
  for (const result of results) sum += result.tokens
  return sum
}
