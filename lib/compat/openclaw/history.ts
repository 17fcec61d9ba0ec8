import type {
  truncateOversizedToolResultsInSession as DeclaredTruncate,
  ProfileOptions,
  ReductionParams,
  ToolResultPromptProjectionState,
  ToolResultTruncationOptions,
  TruncatedMessages,
} from 'spillway/openclaw'
import { copy } from '../../dialect/shallow_copy.js'
import { bound, callback, flag } from '../../kinds.js'
import { type Aggregate, Planner, type ResultExtent } from '../../plan.js'
import { compile } from '../../policy.js'
import { checkMessages } from '../../result/clamp_messages.js'
import { repairCounted } from '../../session/session.js'
import { elementsOf, tryRead } from '../../untrusted.js'
import { checkOptions } from '../../validate.js'
import { isAssistant } from './calls.js'
import { RECOVERY_MIN_KEEP_CHARS } from './constants.js'
import { ELIDED, spilled } from './elision.js'
import { lastChangedMessage } from './last_changed_row.js'
import { calculateMaxToolResultChars, profileOf } from './profile.js'
import { isProjectionState, Projection, withTexts } from './projection.js'
import {
  getToolResultTextLength,
  isToolResult,
  policyFor,
  textsOf,
  truncateToolResultMessage,
} from './tool_results.js'

export function truncateOversizedToolResultsInMessages<M>(
  messages: M[],
  contextWindowTokens: number,
  maxCharsOverride?: number,
  aggregateMaxCharsOverride?: number,
  projectionState?: ToolResultPromptProjectionState | ProfileOptions,
  options: ProfileOptions = {},
): TruncatedMessages<M> {
  checkMessages(messages)
  const isState = isProjectionState(projectionState)
  const given = isState || projectionState === undefined ? options : projectionState
  const { profile } = checkOptions('options', given)
  const unlimited = profileOf(given).budgetsMessages ? undefined : Number.POSITIVE_INFINITY
  const budget = budgetOf({
    contextWindowTokens,
    maxCharsOverride,
    aggregateMaxCharsOverride: aggregateMaxCharsOverride ?? unlimited,
    profile,
  })
  const read = elementsOf(messages)
  const sent = isState ? new Projection(read, projectionState) : undefined
  const { sizes, steps, aggregateSteps, isOver } = planFor(sent?.messages ?? read, budget, sent)
  const limits = new Map(steps.map(({ index, maxChars }) => [index, maxChars]))
  // Providers reject text that is not well-formed, even if it fits.
  for (const [at, { texts, chars }] of sizes.entries())
    if (!limits.has(at) && !texts.every((text) => text.isWellFormed())) limits.set(at, chars)
  // A result is always cut from its own text, so that a second cut keeps what it says of the first;
  // a pruned one from the text that is left of it.
  const sourceOf = (at: number) => (sent?.prunedAs(at) ? sent.messages : read)[at] as object
  const cut = new Map([...limits].map(([at, maxChars]) => [at, shortened(sourceOf(at), maxChars, budget)]))
  sent?.record(cut)
  const next = new Map(cut)
  for (const [at, message] of sent?.messages.entries() ?? [])
    if (message !== read[at] && !next.has(at)) next.set(at, message as object)
  return {
    messages: next.size === 0 ? messages : (copy(messages, next) as M[]),
    truncatedCount: steps.length,
    aggregateTruncatedCount: aggregateSteps,
    aggregatePressureEngaged: isOver,
    aggregateBudgetChars: budget.aggregate.maxChars,
  }
}

/** Cuts a result to the chars of its step. Since 2026.7, an empty result gets no notice. */
function shortened(message: object, maxChars: number, { cutting, elides, notice }: HistoryBudget): object {
  const spill = elides ? spilled(message) : undefined
  if (spill) {
    if (maxChars >= spill.suffix(getToolResultTextLength(message)).length)
      return truncateToolResultMessage(message, maxChars, { ...cutting, suffix: spill.suffix })
    return withTexts(message, [maxChars >= spill.full.length ? spill.full : spill.compact])
  }
  const least = notice.length - '{omittedChars}'.length
  return elides && maxChars <= least && maxChars >= ELIDED.length
    ? withTexts(message, [ELIDED])
    : truncateToolResultMessage(message, maxChars, cutting)
}

interface ToolResultReductionPotential {
  /** Cap of one result. */
  maxChars: number
  /** Budget of all results. */
  aggregateBudgetChars: number
  /** Results with text. */
  toolResultCount: number
  /** Chars of all results. */
  totalToolResultChars: number
  /** Results over the cap. */
  oversizedCount: number
  /** Chars that the cap removes. */
  oversizedReducibleChars: number
  /** Chars that the budget removes beyond the cap. */
  aggregateReducibleChars: number
  /** Chars that both remove. */
  maxReducibleChars: number
}

/** Estimates the least that truncateOversizedToolResultsInSession would free, from the same
 *  plan. */
export function estimateToolResultReductionPotential(params: ReductionParams): ToolResultReductionPotential {
  checkMessages(checkOptions('params', params).messages)
  const budget = budgetOf(params)
  const { sizes, steps } = planFor(elementsOf(params.messages), budget)
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
    const sparesLatest = flag('protectTrailingToolResults', params.protectTrailingToolResults, false)
    const onPersisted = callback('onMessagePersisted', params.onMessagePersisted)
    const { report } = await repairCounted(sessionFile, { aggregate, lock, sparesLatest }, policy)
    const { clamped, reason, backupPath } = report
    if (onPersisted && clamped > 0 && backupPath !== undefined) {
      const { sessionKey } = params
      const last = await lastChangedMessage(backupPath, sessionFile)
      const about = { ...(last?.entryId !== undefined && { entryId: last.entryId }), sessionFile }
      tryRead(() =>
        onPersisted(last?.message as never, { ...about, ...(sessionKey !== undefined && { sessionKey }) }),
      )
    }
    if (clamped > 0) return { truncated: true, truncatedCount: clamped }
    const nothing = 'no oversized or aggregate tool results'
    return { truncated: false, truncatedCount: 0, reason: reason === 'empty session' ? reason : nothing }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { truncated: false, truncatedCount: 0, reason }
  }
}

type HistoryBudget = ReturnType<typeof budgetOf>

/** Returns the cap of one tool result, the budget of all with its order, and the options of
 *  cuts. */
function budgetOf(params: {
  contextWindowTokens: number
  maxCharsOverride?: number | undefined
  aggregateMaxCharsOverride?: number | undefined
  profile?: ProfileOptions['profile'] | undefined
}) {
  const { contextWindowTokens: tokens, profile } = params
  const options = profile === undefined ? {} : { profile }
  const { aggregate: share, order, ...rest } = profileOf(options)
  const preset = calculateMaxToolResultChars(tokens, options)
  const maxEach = bound('maxCharsOverride', params.maxCharsOverride, preset)
  const all = bound('aggregateMaxCharsOverride', params.aggregateMaxCharsOverride, share(tokens, maxEach))
  return {
    ...rest,
    maxEach,
    aggregate: { maxChars: all, order, protectNewest: false, minKeepChars: RECOVERY_MIN_KEEP_CHARS },
    cutting: { ...options, minKeepChars: RECOVERY_MIN_KEEP_CHARS },
  }
}

/** Plans the chars that each tool result may keep, within the cap and the budget. `sent`: what was
 *  sent before. */
function planFor(read: readonly unknown[], budget: HistoryBudget, sent?: Projection) {
  const { maxEach, aggregate, cutting, elides } = budget
  const sizes = sizesOf(read, budget.measure)
  const held = sent ? heldOf(read, sent, budget) : () => false
  const within = sizes.map(({ chars }) => Math.min(chars, maxEach))
  const kept = total(within.filter((_, at) => held(at)))
  // In turn: what was sent before, then what is new.
  const wasSent = (at: number) => Number(sent?.has(at) ?? false)
  const inTurn = [...sizes.entries()].sort(([a], [b]) => wasSent(b) - wasSent(a))
  const planned = (isHeld: boolean, budget: Aggregate, options: ToolResultTruncationOptions) => {
    const those = inTurn.map(([at, size]) => ({ ...size, chars: held(at) === isHeld ? size.chars : 0 }))
    const steps = new Planner(those, compile(policyFor(0, 0, options))).steps(budget, maxEach)
    return steps.map(({ index, maxChars }) => ({ index: inTurn[index]?.[0] as number, maxChars }))
  }
  const room = { ...aggregate, maxChars: Math.max(0, aggregate.maxChars - kept) }
  const first = planned(false, room, cutting)
  // If notices are too long for the budget, shorter words of the same kind leave more than "[...]".
  const isShort = elides && first.some(({ maxChars }) => maxChars < ELIDED.length)
  const given = isShort ? planned(false, room, { ...cutting, suffix: ELIDED }) : first
  const aggregateSteps = given.filter(({ index, maxChars }) => maxChars < (within[index] ?? 0)).length
  const unlimited = { ...aggregate, maxChars: Number.POSITIVE_INFINITY }
  const steps = [...given, ...planned(true, unlimited, cutting)]
  return { sizes, steps, aggregateSteps, isOver: total(within) > aggregate.maxChars }
}

/** Tells the results that only their cap may cut: the freshest, and in some profiles all that were
 *  sent before. */
function heldOf(messages: readonly unknown[], sent: Projection, { thaws, protects }: HistoryBudget) {
  const ends = protects === 'batch' ? (message: unknown) => !isToolResult(message) : isAssistant
  const fresh = messages.findLastIndex(ends)
  return (at: number) => at > fresh || (!thaws && sent.has(at))
}

function total(chars: readonly number[]): number {
  return chars.reduce((sum, each) => sum + each, 0)
}

/** Returns the sizes of messages for a plan. Messages other than tool results have size 0. */
function sizesOf(messages: readonly unknown[], measure: HistoryBudget['measure']): ResultExtent[] {
  return messages.map((message) => {
    const texts = isToolResult(message) ? textsOf(message) : []
    return {
      chars: total(texts.map(measure)),
      latest: false,
      texts,
    }
  })
}
