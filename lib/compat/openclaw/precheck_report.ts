import type {
  ContextBudgetStatus,
  PrePromptPrecheckLogParams,
  PrePromptStatusParams,
} from 'spillway/openclaw'
import { checkOptions } from '../../validate.js'

/** Returns the line that OpenClaw logs about a precheck. */
export function formatPrePromptPrecheckLog(params: PrePromptPrecheckLogParams): string {
  const { result, sessionKey, sessionId, provider, modelId } = checkOptions('params', params)
  const { messageCount, unwindowedMessageCount, reserveTokens, contextTokenBudget, sessionFile } = params
  const fields = {
    sessionKey: sessionKey ?? sessionId ?? 'unknown',
    provider: `${provider}/${modelId}`,
    route: result.route,
    estimatedPromptTokens: result.estimatedPromptTokens,
    pressureSource: result.pressureSource ?? 'unknown',
    promptBudgetBeforeReserve: result.promptBudgetBeforeReserve,
    overflowTokens: result.overflowTokens,
    toolResultReducibleChars: result.toolResultReducibleChars,
    reserveTokens,
    effectiveReserveTokens: result.effectiveReserveTokens ?? reserveTokens,
    contextTokenBudget,
    messages: messageCount,
    unwindowedMessages: unwindowedMessageCount ?? messageCount,
    sessionFile,
  }
  const said = Object.entries(fields).map(([name, value]) => `${name}=${value}`)
  return `[context-overflow-precheck] pre-prompt check ${said.join(' ')}`
}

/** Returns the snapshot of a precheck that OpenClaw stores with a session. */
export function buildPrePromptContextBudgetStatus(params: PrePromptStatusParams): ContextBudgetStatus {
  const { result, provider, modelId, sessionId, messageCount } = checkOptions('params', params)
  const { route, shouldCompact, estimatedPromptTokens, promptBudgetBeforeReserve } = result
  const reserveTokens = whole(params.reserveTokens)
  return {
    schemaVersion: 1,
    source: 'pre-prompt-estimate',
    updatedAt: params.now ?? Date.now(),
    provider,
    model: modelId,
    route,
    shouldCompact,
    estimatedPromptTokens,
    contextTokenBudget: Math.max(1, whole(params.contextTokenBudget)),
    promptBudgetBeforeReserve,
    reserveTokens,
    effectiveReserveTokens: result.effectiveReserveTokens ?? reserveTokens,
    remainingPromptBudgetTokens: Math.max(0, promptBudgetBeforeReserve - estimatedPromptTokens),
    overflowTokens: result.overflowTokens,
    toolResultReducibleChars: result.toolResultReducibleChars,
    messageCount: whole(messageCount),
    unwindowedMessageCount: whole(params.unwindowedMessageCount ?? messageCount),
    ...(sessionId ? { sessionId } : {}),
  }
}

function whole(count: number): number {
  return Math.max(0, Math.floor(count))
}
