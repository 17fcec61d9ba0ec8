import type { ProfileOptions } from 'spillway/openclaw'
import { originalOf, Planner, type Sized } from '../../context/plan.js'
import { copy } from '../../dialect/copy.js'
import { bound, checkOptions } from '../../option.js'
import { compile } from '../../policy.js'
import { elementAt } from '../../reading.js'
import { checkMessages } from '../../result/messages.js'
import { isAssistant } from './calls.js'
import { calculateMaxToolResultChars, profileOf, RECOVERY_MIN_KEEP_CHARS } from './profile.js'
import { isToolResult, policyFor, textsOf, truncateToolResultMessage } from './result.js'

export function truncateOversizedToolResultsInMessages<M>(
  messages: M[],
  contextWindowTokens: number,
  maxCharsOverride?: number,
  aggregateMaxCharsOverride?: number,
  options: ProfileOptions = {},
): { messages: M[]; truncatedCount: number } {
  const { steps, sizes, read, cutting } = reduce(
    messages,
    contextWindowTokens,
    maxCharsOverride,
    aggregateMaxCharsOverride,
    options,
  )
  const next = new Map<number, unknown>()
  for (const { index, maxChars } of steps)
    next.set(index, truncateToolResultMessage(read[index], maxChars, cutting))
  // Providers reject text that is not well-formed, even if it fits.
  for (const [at, { texts, chars }] of sizes.entries()) {
    if (next.has(at) || texts.every((text) => text.isWellFormed())) continue
    next.set(at, truncateToolResultMessage(read[at], chars, cutting))
  }
  if (next.size === 0) return { messages, truncatedCount: 0 }
  return { messages: copy(messages, next) as M[], truncatedCount: steps.length }
}

/** Plans the chars that each tool result may keep, within the cap and the budget. */
export function reduce(
  messages: readonly unknown[],
  contextWindowTokens: number,
  maxCharsOverride: number | undefined,
  aggregateMaxCharsOverride: number | undefined,
  options: ProfileOptions,
) {
  checkMessages(messages)
  const { maxEach, aggregate, cutting } = budgetOf({
    ...checkOptions('options', options),
    contextWindowTokens,
    maxCharsOverride,
    aggregateMaxCharsOverride,
  })
  const read = Array.from(messages.keys(), (at) => elementAt(messages, at))
  const sizes = sizesOf(read)
  const steps = new Planner(sizes, compile(policyFor(0, 0, cutting))).steps(aggregate, maxEach)
  return { steps, sizes, read, maxEach, budget: aggregate.maxChars, cutting }
}

/** Returns the cap of one tool result, the budget of all with its order, and the options of cuts. */
export function budgetOf(params: {
  contextWindowTokens: number
  maxCharsOverride?: number | undefined
  aggregateMaxCharsOverride?: number | undefined
  profile?: ProfileOptions['profile']
}) {
  const { contextWindowTokens: tokens, profile } = params
  const options = profile === undefined ? {} : { profile }
  const { aggregate: share, order, protectLatest } = profileOf(options)
  const preset = calculateMaxToolResultChars(tokens, options)
  const maxEach = bound('maxCharsOverride', params.maxCharsOverride, preset)
  const all = bound('aggregateMaxCharsOverride', params.aggregateMaxCharsOverride, share(tokens, maxEach))
  return {
    maxEach,
    aggregate: { maxChars: all, order, protectLatest, minKeepChars: RECOVERY_MIN_KEEP_CHARS },
    cutting: { ...options, minKeepChars: RECOVERY_MIN_KEEP_CHARS },
  }
}

interface Sizes extends Sized {
  readonly texts: readonly string[]
}

/** Returns the sizes of messages for a plan. Messages other than tool results have size 0. */
function sizesOf(messages: readonly unknown[]): Sizes[] {
  const lastAnswer = messages.findLastIndex(isAssistant)
  return messages.map((message, at) => {
    const texts = isToolResult(message) ? textsOf(message) : []
    return {
      chars: texts.reduce((sum, text) => sum + text.length, 0),
      latest: at > lastAnswer,
      texts,
      original: () => originalOf(texts),
    }
  })
}
