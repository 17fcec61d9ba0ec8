import type {
  truncateOversizedToolResultsInSession as DeclaredTruncate,
  ProfileOptions,
  ReductionParams,
  ToolResultReductionPotential,
} from 'spillway/openclaw'
import { originalOf, Planner, type Sized } from '../../context/plan.js'
import { copy } from '../../dialect/shallow_copy.js'
import { compile } from '../../policy.js'
import { checkMessages } from '../../result/clamp_messages.js'
import { elementsOf } from '../../result/message_results.js'
import { repairCounted } from '../../session/session.js'
import { bound, checkOptions } from '../../validate.js'
import { isAssistant } from './calls.js'
import { calculateMaxToolResultChars, profileOf, RECOVERY_MIN_KEEP_CHARS } from './profile.js'
import { isToolResult, policyFor, textsOf, truncateToolResultMessage } from './tool_results.js'

export function truncateOversizedToolResultsInMessages<M>(
  messages: M[],
  contextWindowTokens: number,
  maxCharsOverride?: number,
  aggregateMaxCharsOverride?: number,
  options: ProfileOptions = {},
): { messages: M[]; truncatedCount: number } {
  checkMessages(messages)
  const { profile } = checkOptions('options', options)
  const budget = budgetOf({ contextWindowTokens, maxCharsOverride, aggregateMaxCharsOverride, profile })
  const { read, sizes, steps } = planFor(messages, budget)
  const limits = new Map(steps.map(({ index, maxChars }) => [index, maxChars]))
  // Providers reject text that is not well-formed, even if it fits.
  for (const [at, { texts, chars }] of sizes.entries())
    if (!limits.has(at) && !texts.every((text) => text.isWellFormed())) limits.set(at, chars)
  if (limits.size === 0) return { messages, truncatedCount: 0 }
  const next = new Map(
    [...limits].map(([at, maxChars]) => [at, truncateToolResultMessage(read[at], maxChars, budget.cutting)]),
  )
  return { messages: copy(messages, next) as M[], truncatedCount: steps.length }
}

export function estimateToolResultReductionPotential(params: ReductionParams): ToolResultReductionPotential {
  checkMessages(checkOptions('params', params).messages)
  const budget = budgetOf(params)
  const { sizes, steps } = planFor(params.messages, budget)
  const { maxEach, aggregate } = budget
  let oversized = 0
  let all = 0
  for (const { index, maxChars } of steps) {
    const chars = sizes[index]?.chars ?? 0
    oversized += Math.max(0, chars - Math.max(maxEach, maxChars))
    all += chars - maxChars
  }
  const results = sizes.filter(({ chars }) => chars > 0)
  return {
    maxChars: maxEach,
    aggregateBudgetChars: aggregate.maxChars,
    toolResultCount: results.length,
    totalToolResultChars: results.reduce((sum, { chars }) => sum + chars, 0),
    oversizedCount: results.filter(({ chars }) => chars > maxEach).length,
    oversizedReducibleChars: oversized,
    aggregateReducibleChars: all - oversized,
    maxReducibleChars: all,
  }
}

export function sessionLikelyHasOversizedToolResults(params: ReductionParams): boolean {
  const { oversizedCount, aggregateReducibleChars } = estimateToolResultReductionPotential(params)
  return oversizedCount > 0 || aggregateReducibleChars > 0
}

type SessionParams = Parameters<typeof DeclaredTruncate>[0]
type SessionAnswer = Awaited<ReturnType<typeof DeclaredTruncate>>

export async function truncateOversizedToolResultsInSession(params: SessionParams): Promise<SessionAnswer> {
  try {
    const { maxEach, aggregate, cutting } = budgetOf(checkOptions('params', params))
    const policy = compile(policyFor(Number.POSITIVE_INFINITY, maxEach, cutting))
    const { sessionFile, lock = true } = params
    const { report } = await repairCounted(sessionFile, { aggregate, lock }, policy)
    const { clamped, reason } = report
    if (clamped > 0) return { truncated: true, truncatedCount: clamped }
    const nothing = 'no oversized or aggregate tool results'
    return { truncated: false, truncatedCount: 0, reason: reason === 'empty session' ? reason : nothing }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { truncated: false, truncatedCount: 0, reason }
  }
}

/** Returns the cap of one tool result, the budget of all with its order, and the options of cuts. */
function budgetOf(params: {
  contextWindowTokens: number
  maxCharsOverride?: number | undefined
  aggregateMaxCharsOverride?: number | undefined
  profile?: ProfileOptions['profile'] | undefined
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

/** Plans the chars that each tool result may keep, within the cap and the budget. */
function planFor(messages: readonly unknown[], { maxEach, aggregate, cutting }: ReturnType<typeof budgetOf>) {
  const read = elementsOf(messages)
  const sizes = sizesOf(read)
  const steps = new Planner(sizes, compile(policyFor(0, 0, cutting))).steps(aggregate, maxEach)
  return { read, sizes, steps }
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
