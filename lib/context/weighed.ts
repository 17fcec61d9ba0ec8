import { isAnswer, type Result } from '../dialect/dialect.js'
import { get, isObject, quietly } from '../reading.js'
import { lengthOf, resultsIn, withTexts } from '../result/history.js'
import { originalOf } from './plan.js'
import type { Counter } from './tokens.js'
import { Watch } from './watch.js'
import { weigh } from './weight.js'

/** A message, and the tokens that it takes once they were counted. */
export interface Weighed {
  /** Of all but the texts of its tool results. */
  tokens: number
  readonly results: readonly WeighedResult[]
  readonly isAnswer: boolean
  /** What is still to be counted: its own texts, then those of each result. Let go of then, since some are copies. */
  texts: readonly (readonly string[])[] | undefined
  /** What was read of it. */
  readonly watch: Watch
}

/** A tool result of a message, and the tokens of its texts once they were counted. */
export class WeighedResult {
  tokens = 0
  #original: number | undefined

  constructor(
    readonly result: Result,
    readonly chars: number,
  ) {}

  /** Chars that it had before it was first cut. */
  get original(): number {
    this.#original ??= originalOf(this.result.slots.map(({ text }) => text))
    return this.#original
  }
}

/** What messages were found to be, as long as they are what they were: an agent asks before every request, and most of
 *  its history is what it was before the last. */
const remembered = new WeakMap<object, Weighed>()

/** Reads messages. What the counter of a caller says is not remembered: nothing tells when it will say something else. */
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

/** Counts the tokens of messages of which they are not known yet. */
export function countAll(messages: readonly Weighed[], counter: Counter): void {
  // Each once, also where one object stands in a history twice.
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

/** Tokens of a message, its tool results among them. */
export function tokensOf({ tokens, results }: Weighed): number {
  let sum = tokens
  for (const result of results) sum += result.tokens
  return sum
}
