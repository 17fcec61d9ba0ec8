import type { ProfileOptions } from 'spillway/openclaw'
import { bound, optionError } from '../../option.js'
import { planOf, type Sized } from '../../plan.js'
import { compile } from '../../policy.js'
import { get } from '../../reading.js'
import { calculateMaxToolResultChars, profileOf, RECOVERY_MIN_KEEP_CHARS } from './profile.js'
import { isToolResult, policyFor, textsOf, truncateToolResultMessage } from './result.js'

export function truncateOversizedToolResultsInMessages<M>(
  messages: M[],
  contextWindowTokens: number,
  maxCharsOverride?: number,
  aggregateMaxCharsOverride?: number,
  options: ProfileOptions = {},
): { messages: M[]; truncatedCount: number } {
  const { steps, cutting } = reduce(
    messages,
    contextWindowTokens,
    maxCharsOverride,
    aggregateMaxCharsOverride,
    options,
  )
  if (steps.length === 0) return { messages, truncatedCount: 0 }
  const next = [...messages]
  for (const { index, maxChars } of steps)
    next[index] = truncateToolResultMessage(messages[index] as M, maxChars, cutting)
  return { messages: next, truncatedCount: steps.length }
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
  const sizes = sizesOf(messages)
  const steps = planOf(sizes, { aggregate, maxEach }, compile(policyFor(0, 0, cutting)))
  return { steps, sizes, maxEach, budget: maxChars, cutting }
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
