import type { PrecheckInput } from 'spillway'
import { PROVIDERS } from '../media/medium.js'
import { checkMedia, type MediaBudget, requestBytesOf } from '../media_options.js'
import { type Aggregate, checkAggregate } from '../plan.js'
import { bound, checkOptions, choice, limit, optionError, text } from '../validate.js'
import { type CachePrices, checkPrices } from './cache_prices.js'
import { type Counter, counterOf } from './token_counter.js'

/** The checked input of a precheck, without the messages. */
export interface BudgetOptions {
  readonly budgetTokens: number
  readonly contextTokens: number
  readonly safetyMargin: number
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
  readonly media: MediaBudget | undefined
  readonly systemPrompt: string
  readonly prompt: string
  readonly tools: unknown
  readonly lastUsage: { readonly inputTokens: number; readonly messages: number } | undefined
  /** True if tool results may be cut to "[...]", regardless of `minKeepChars`. */
  readonly isLastResort?: boolean
}

export function checkBudget(input: Omit<PrecheckInput, 'messages'>): BudgetOptions {
  checkOptions('input', input)
  const contextTokens = limit('contextTokens', input.contextTokens)
  const reserveTokens = limit('reserveTokens', input.reserveTokens)
  const { aggregate = {} } = input
  const media = checkMedia(input.media)
  const prices = input.prices === undefined ? undefined : checkPrices(input.prices)
  const maxEach = bound('perResultMaxChars', input.perResultMaxChars, resultChars(contextTokens))
  const checked = checkAggregate(aggregate, {
    maxChars: allResultsChars(contextTokens, maxEach),
    minKeepChars: 0,
  })
  return {
    budgetTokens: budgetOf(contextTokens, reserveTokens),
    contextTokens,
    safetyMargin: margin(input.safetyMargin),
    maxEach,
    aggregate: checked,
    orders: prices && aggregate.order === undefined ? ['oldest', 'newest'] : [checked.order],
    prices,
    counter: counterOf(input.countTokens),
    provider: providerAt(input.provider),
    maxRequestBytes: bound('maxRequestBytes', input.maxRequestBytes, requestBytesOf(media)),
    media,
    systemPrompt: text('systemPrompt', input.systemPrompt, ''),
    prompt: text('prompt', input.prompt, ''),
    tools: input.tools,
    lastUsage: usage(input.lastUsage),
  }
}

const CHARS_PER_TOKEN = 4

/** Returns the tokens that a window leaves to a prompt. The reserve takes at most a quarter of
 *  it. */
function budgetOf(contextTokens: number, reserveTokens: number): number {
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

function providerAt(provider: unknown): number {
  if (provider === undefined) return PROVIDERS.length
  return PROVIDERS.indexOf(choice('provider', provider, PROVIDERS, 'anthropic'))
}

function margin(value: unknown): number {
  if (value === undefined) return 1.1
  if (Number.isFinite(value) && (value as number) > 0) return value as number
  const kind = typeof value === 'number' ? RangeError : TypeError
  throw optionError(kind, 'safetyMargin', 'a number over 0', value)
}

function usage(value: PrecheckInput['lastUsage']): BudgetOptions['lastUsage'] {
  if (value === undefined) return undefined
  const { inputTokens, messages } = checkOptions('lastUsage', value)
  return {
    inputTokens: limit('lastUsage.inputTokens', inputTokens),
    messages: limit('lastUsage.messages', messages),
  }
}
