import type {
  truncateOversizedToolResultsInSessionManager as Declared,
  RewritableSessionManager,
} from 'spillway/openclaw'
import { callback, flag } from '../../kinds.js'
import { get, notify } from '../../untrusted.js'
import { checkOptions } from '../../validate.js'
import { truncateOversizedToolResultsInMessages } from './history.js'
import {
  createToolResultPromptProjectionState,
  Projection,
  reconcileToolResultPromptProjectionState,
} from './projection.js'
import { type Entry, rewriteBranch } from './session_rewrite.js'

type Params = Parameters<typeof Declared>[0]
type Answer = Awaited<ReturnType<typeof Declared>>

export async function truncateOversizedToolResultsInSessionManager(params: Params): Promise<Answer> {
  try {
    const { sessionManager, projectionState } = checkOptions('params', params)
    const onPersisted = callback('onMessagePersisted', params.onMessagePersisted)
    const branch = sessionManager.getBranch()
    if (branch.length === 0) return nothing('empty session')
    const entries = inContext(branch)
    const cut = truncated(
      entries.map(({ message }) => message),
      params,
    )
    const changed = entries.flatMap(({ id, message }, at) =>
      cut[at] === message ? [] : [[id, cut[at]] as const],
    )
    if (changed.length === 0) return nothing('no oversized or aggregate tool results')
    await rewriteBranch(sessionManager, new Map(changed))
    if (projectionState) reconcileToolResultPromptProjectionState(messagesOf(sessionManager), projectionState)
    const { sessionKey, sessionFile } = params
    const about = {
      ...(sessionFile !== undefined && { sessionFile }),
      ...(sessionKey !== undefined && { sessionKey }),
    }
    notify(() => onPersisted?.(changed.at(-1)?.[1], about))
    return { truncated: true, truncatedCount: changed.length }
  } catch (error) {
    return nothing(error instanceof Error ? error.message : String(error))
  }
}

function nothing(reason: string): Answer {
  return { truncated: false, truncatedCount: 0, reason }
}

/** Returns the messages that a model is sent, of a branch that may have been compacted. */
function inContext(branch: readonly Entry[]): Entry[] {
  const boundary = branch.findLastIndex(({ type }) => type === 'compaction' || type === 'reset')
  const firstKept = get(branch[boundary] ?? {}, 'firstKeptEntryId')
  const kept = branch.findIndex(({ id }) => id === firstKept)
  const from = kept >= 0 && kept < boundary ? kept : boundary + 1
  return branch
    .slice(from)
    .filter(({ type, message }) => type === 'message' && get(message ?? {}, 'excludeFromContext') !== true)
}

/** Cuts the results of a history as they were sent, to the cap and to the budget. */
function truncated(messages: readonly unknown[], params: Params): readonly unknown[] {
  const { contextWindowTokens, projectionState, profile = 'latest' } = params
  const sent = projectionState ? new Projection(messages, projectionState).messages : messages
  const spares = flag('protectTrailingToolResults', params.protectTrailingToolResults, false)
  return truncateOversizedToolResultsInMessages(
    [...sent],
    contextWindowTokens,
    params.maxCharsOverride,
    params.aggregateMaxCharsOverride,
    // A state without history spares the last results alone.
    spares ? createToolResultPromptProjectionState() : undefined,
    { profile },
  ).messages
}

function messagesOf(sessionManager: RewritableSessionManager): readonly unknown[] {
  const context = sessionManager.buildSessionContext?.()
  return context?.messages ?? inContext(sessionManager.getBranch()).map(({ message }) => message)
}
