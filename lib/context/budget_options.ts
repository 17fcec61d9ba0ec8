import { PROVIDERS } from '../media/medium.js'
import { requestBytesOf } from '../media_options.js'
import type { Aggregate } from '../plan.js'
import type { OptionsOf } from '../read_options.js'
import { type CachePrices, pricesOf } from './cache_prices.js'
import { type Counter, counterOf } from './token_counter.js'

type Given = OptionsOf<'precheck'>

/** The checked input of a precheck, without the messages. */
export interface BudgetOptions
  extends Pick<
    Given,
    'contextTokens' | 'safetyMargin' | 'media' | 'systemPrompt' | 'prompt' | 'tools' | 'lastUsage'
  > {
  readonly budgetTokens: number
  /** Chars that one tool result may hold. */
  readonly maxEach: number
  readonly aggregate: Aggregate
  /** The orders in which results may be cut: that of the caller, or each if the price decides. */
  readonly orders: readonly Aggregate['order'][]
  /** Undefined: plans do not look at the cache. */
  readonly prices: CachePrices | undefined
  readonly counter: Counter
  /** Place of the provider among the tokens of an image, the last one for the dearest. */
  readonly provider: number
  readonly maxRequestBytes: number
  /** True if tool results may be cut to "[...]", regardless of `minKeepChars`. */
  readonly isLastResort?: boolean
}

export function budgetOf(given: Given): BudgetOptions {
  const { contextTokens, reserveTokens, aggregate, media } = given
  const prices = given.prices && pricesOf(given.prices)
  const maxEach = given.perResultMaxChars ?? resultChars(contextTokens)
  const { maxChars = allResultsChars(contextTokens, maxEach), order = 'oldest' } = aggregate
  return {
    ...given,
    budgetTokens: tokensLeft(contextTokens, reserveTokens),
    maxEach,
    aggregate: { ...aggregate, maxChars, order },
    orders: prices && aggregate.order === undefined ? ['oldest', 'newest'] : [order],
    prices,
    counter: counterOf(given.countTokens),
    provider: given.provider ? PROVIDERS.indexOf(given.provider) : PROVIDERS.length,
    maxRequestBytes: given.maxRequestBytes ?? requestBytesOf(media),
  }
}

const CHARS_PER_TOKEN = 4

/** Returns the tokens that a window leaves to a prompt. The reserve takes at most a quarter of
 *  it. */
function tokensLeft(contextTokens: number, reserveTokens: number): number {
  if (contextTokens === Number.POSITIVE_INFINITY) return contextTokens
  return contextTokens - Math.min(reserveTokens, Math.floor(contextTokens / 4))
}

/** The smallest window of each tier, and its chars. */
const TIERS = [
  [200_000, 64_000],
  [100_000, 32_000],
  [0, 16_000],
] as const

/** Returns the chars of one tool result at most, by the tier of the window. */
export function tierChars(contextTokens: number): number {
  const [, most] = TIERS.find(([from]) => contextTokens >= from) ?? TIERS[2]
  return most
}

/** Returns the chars of one tool result: 30 % of the window, at most its tier. */
function resultChars(contextTokens: number): number {
  return Math.min(Math.floor((contextTokens * 3) / 10) * CHARS_PER_TOKEN, tierChars(contextTokens))
}

/** Returns the chars of all tool results together: half the window, or more if four results need
 *  more. */
export function allResultsChars(contextTokens: number, maxEach: number): number {
  return Math.max(4 * maxEach, (contextTokens * CHARS_PER_TOKEN) / 2)
}
