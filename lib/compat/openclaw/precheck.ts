import type { ProviderErrorKind } from 'spillway'
import type {
  PreemptiveCompactionDecision,
  PreemptiveCompactionParams,
  ProfileOptions,
} from 'spillway/openclaw'
import { limit } from '../../kinds.js'
import { classifyProviderError } from '../../provider_errors/classify.js'
import { checkOptions, optionError } from '../../validate.js'
import { ESTIMATED_CHARS_PER_TOKEN, TRUNCATION_ROUTE_BUFFER_TOKENS } from './constants.js'
import { estimateToolResultReductionPotential } from './history.js'
import { april, profileOf } from './profile.js'
import { estimated } from './prompt_tokens.js'

/** Multiple of the overflow that truncation alone has to free, since the amount it frees is an
 *  estimate. */
const TRUNCATION_ROUTE_FACTOR = 1.5

export function shouldPreemptivelyCompactBeforePrompt(
  params: PreemptiveCompactionParams,
): PreemptiveCompactionDecision {
  const { contextTokenBudget, reserveTokens, toolResultMaxChars } = checkOptions('params', params)
  const profile = profileOf(params)
  const window = Math.max(1, limit('contextTokenBudget', contextTokenBudget))
  const reserve = Math.min(limit('reserveTokens', reserveTokens), profile.mostReserved(window))
  // An infinite window has no share to reserve.
  const budget = Number.isFinite(window) ? Math.max(1, window - reserve) : window
  const { tokens, source, messages } = weighed(params)
  const overflow = tokens > budget ? tokens - budget : 0
  const { maxReducibleChars } = estimateToolResultReductionPotential({
    messages,
    contextWindowTokens: contextTokenBudget,
    ...(toolResultMaxChars !== undefined && { maxCharsOverride: toolResultMaxChars }),
    ...(params.profile !== undefined && { profile: params.profile }),
  })
  const route = routeOf(overflow, maxReducibleChars)
  return {
    route,
    shouldCompact: route === 'compact_only' || route === 'compact_then_truncate',
    estimatedPromptTokens: tokens,
    promptBudgetBeforeReserve: budget,
    overflowTokens: overflow,
    toolResultReducibleChars: maxReducibleChars,
    ...(profile.explains && { pressureSource: source, effectiveReserveTokens: reserve }),
  }
}

/** Returns the larger of the given count and the estimate of the full history, with the messages
 *  that it belongs to. */
function weighed(params: PreemptiveCompactionParams) {
  const { messages, unwindowedMessages, llmBoundaryTokenPressure: told } = params
  const own = checkPressure(told) ?? { tokens: estimated(params, messages), source: 'transcript_estimate' }
  if (unwindowedMessages === undefined || unwindowedMessages === messages) return { ...own, messages }
  const tokens = estimated(params, unwindowedMessages)
  return tokens > own.tokens
    ? { tokens, source: 'unwindowed_transcript_estimate', messages: unwindowedMessages }
    : { ...own, messages }
}

function checkPressure(told: PreemptiveCompactionParams['llmBoundaryTokenPressure']) {
  if (told === undefined) return undefined
  const { estimatedPromptTokens, source } = checkOptions('llmBoundaryTokenPressure', told)
  if (typeof source !== 'string')
    throw optionError(TypeError, 'llmBoundaryTokenPressure.source', 'a string', source)
  const tokens = limit('llmBoundaryTokenPressure.estimatedPromptTokens', estimatedPromptTokens)
  return { tokens, source: source.trim() || 'rendered_llm_boundary' }
}

function routeOf(overflowTokens: number, reducibleChars: number): PreemptiveCompactionDecision['route'] {
  if (overflowTokens === 0) return 'fits'
  if (reducibleChars === 0) return 'compact_only'
  const over = overflowTokens * ESTIMATED_CHARS_PER_TOKEN
  const spare = TRUNCATION_ROUTE_BUFFER_TOKENS * ESTIMATED_CHARS_PER_TOKEN
  const enough = Math.max(over + spare, Math.ceil(over * TRUNCATION_ROUTE_FACTOR))
  return reducibleChars >= enough ? 'truncate_tool_results_only' : 'compact_then_truncate'
}

export function isContextOverflowError(error: unknown, options?: ProfileOptions): boolean {
  return profileOf(options).overflows.includes(classifyProviderError(error).kind)
}

/** Anthropic's words where only a smaller prompt is free of further charge: a rate limit by its
 *  status. */
const EXTRA_USAGE = /^\W*(?:error\W+)?(?:429\W+)?extra usage is required for long context requests\b/i

export function isLikelyContextOverflowError(error: unknown): boolean {
  const patterns = [{ pattern: EXTRA_USAGE, kind: 'context_overflow' as const }]
  return april.overflows.includes(classifyProviderError(error, { patterns }).kind)
}

/** Kinds of errors about too many bytes, in a request or in one of its fields. */
const PAYLOADS: readonly ProviderErrorKind[] = ['payload_too_large', 'field_too_long']

export function isPayloadTooLargeError(error: unknown): boolean {
  return PAYLOADS.includes(classifyProviderError(error).kind)
}
