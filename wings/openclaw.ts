export {
  pruneExpiredCacheTtlToolResults,
  resolveCacheTtlPruningSettings,
} from '../lib/compat/openclaw/cache_ttl.js'
export {
  createMessageCharEstimateCache,
  estimateContextChars,
  estimateMessageCharsCached,
  getToolResultText,
  invalidateMessageCharsCacheEntry,
  isToolResultMessage,
} from '../lib/compat/openclaw/char_estimator.js'
export {
  formatContextLimitTruncationNotice,
  installToolResultContextGuard,
} from '../lib/compat/openclaw/context_guard.js'
export {
  estimateToolResultReductionPotential,
  sessionLikelyHasOversizedToolResults,
  truncateOversizedToolResultsInMessages,
  truncateOversizedToolResultsInSession,
} from '../lib/compat/openclaw/history.js'
export {
  isToolResultTextBlock,
  resolveToolResultBudget,
  resolveToolResultContextMaxChars,
  sliceToolResultTextTailToBudget,
  sliceToolResultTextToBudget,
  toolResultFitsBudget,
} from '../lib/compat/openclaw/limits.js'
export { installContextEngineLoopHook, markTranscriptPromptText } from '../lib/compat/openclaw/loop_hook.js'
export {
  isContextOverflowError,
  isLikelyContextOverflowError,
  isPayloadTooLargeError,
  shouldPreemptivelyCompactBeforePrompt,
} from '../lib/compat/openclaw/precheck.js'
export {
  buildPrePromptContextBudgetStatus,
  formatPrePromptPrecheckLog,
} from '../lib/compat/openclaw/precheck_report.js'
export {
  calculateMaxToolResultChars,
  calculateMaxToolResultCharsWithCap,
  resolveAutoLiveToolResultMaxChars,
  resolveLiveToolResultAggregateMaxChars,
  resolveLiveToolResultMaxChars,
} from '../lib/compat/openclaw/profile.js'
export {
  createToolResultPromptProjectionState,
  reconcileToolResultPromptProjectionState,
} from '../lib/compat/openclaw/projection.js'
export {
  estimateLlmBoundaryTokenPressure,
  estimatePrePromptTokens,
  estimateRenderedLlmBoundaryTokenPressure,
} from '../lib/compat/openclaw/prompt_tokens.js'
export {
  getRawSessionAppendMessage,
  installSessionToolResultGuard,
} from '../lib/compat/openclaw/session_guard.js'
export { truncateOversizedToolResultsInSessionManager } from '../lib/compat/openclaw/session_manager.js'
export {
  capToolResultSize,
  countBytesUtf8,
  countLines,
  getToolResultTextLength,
  hardTruncateToolError,
  hardTruncateToolPayload,
  isOversizedToolResult,
  sanitizeToolResult,
  truncateTextByLinesAndBytesUtf8,
  truncateToolResultMessage,
  truncateToolResultText,
  wrapToolWithHardOutputTruncate,
} from '../lib/compat/openclaw/tool_results.js'
