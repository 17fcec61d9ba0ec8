import type { ProfileOptions } from 'spillway/openclaw'
import { copy } from '../../copy.js'
import { bound, optionError } from '../../option.js'
import { planOf, type Sized } from '../../plan.js'
import { compile } from '../../policy.js'
import { elementAt, get } from '../../reading.js'
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
  // What fits and is not well-formed would be refused by a provider.
  for (const [at, { texts = [], chars }] of sizes.entries()) {
    if (next.has(at) || texts.every((text) => text.isWellFormed())) continue
    next.set(at, truncateToolResultMessage(read[at], chars, cutting))
  }
  if (next.size === 0) return { messages, truncatedCount: 0 }
  return { messages: copy(messages, next) as M[], truncatedCount: steps.length }
}

/** Plans what each tool result may keep, so that all are within the cap and the budget. */
export function reduce(
  messages: readonly unknown[],
  contextWindowTokens: number,
  maxCharsOverride: number | undefined,
  aggregateMaxCharsOverride: number | undefined,
  options: ProfileOptions,
) {
  if (!Array.isArray(messages)) throw optionError(TypeError, 'messages', 'an array', messages)
  const { aggregate: share, order, protectLatest } = profileOf(options)
  const preset = calculateMaxToolResultChars(contextWindowTokens, options)
  const maxEach = bound('maxCharsOverride', maxCharsOverride, preset)
  const maxChars = bound(
    'aggregateMaxCharsOverride',
    aggregateMaxCharsOverride,
    share(contextWindowTokens, maxEach),
  )
  const aggregate = { maxChars, order, protectLatest, minKeepChars: RECOVERY_MIN_KEEP_CHARS }
  const cutting = { ...options, minKeepChars: RECOVERY_MIN_KEEP_CHARS }
  const read = Array.from(messages.keys(), (at) => elementAt(messages, at))
  const sizes = sizesOf(read)
  const steps = planOf(sizes, { aggregate, maxEach }, compile(policyFor(0, 0, cutting)))
  return { steps, sizes, read, maxEach, budget: maxChars, cutting }
}

/** What a plan is told of each message; one that is no tool result holds nothing. */
function sizesOf(messages: readonly unknown[]): Sized[] {
  const isAssistant = (message: unknown) =>
    typeof message === 'object' && message !== null && get(message, 'role') === 'assistant'
  const lastAnswer = messages.findLastIndex(isAssistant)
  return messages.map((message, at) => {
    const texts = isToolResult(message) ? textsOf(message) : []
    return { chars: texts.reduce((sum, text) => sum + text.length, 0), latest: at > lastAnswer, texts }
  })
}
