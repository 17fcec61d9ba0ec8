// Behind `spillway/openclaw`, and a few names more for __test__/support/openclaw_tests.ts.
export {
  pruneExpiredCacheTtlToolResults,
  resolveCacheTtlPruningSettings,
} from '../compat/openclaw/cache_ttl.js'
export {
  estimateContextChars,
  estimateMessageCharsCached,
  isToolResultMessage,
} from '../compat/openclaw/char_estimator.js'
export {
  formatContextLimitTruncationNotice,
  installToolResultContextGuard,
} from '../compat/openclaw/context_guard.js'
export {
  estimateToolResultReductionPotential,
  sessionLikelyHasOversizedToolResults,
  truncateOversizedToolResultsInMessages,
  truncateOversizedToolResultsInSession,
} from '../compat/openclaw/history.js'
export {
  resolveToolResultBudget,
  resolveToolResultContextMaxChars,
  sliceToolResultTextToBudget,
  toolResultFitsBudget,
} from '../compat/openclaw/limits.js'
export { installContextEngineLoopHook, markTranscriptPromptText } from '../compat/openclaw/loop_hook.js'
export {
  isContextOverflowError,
  isLikelyContextOverflowError,
  isPayloadTooLargeError,
  shouldPreemptivelyCompactBeforePrompt,
} from '../compat/openclaw/precheck.js'
export {
  buildPrePromptContextBudgetStatus,
  formatPrePromptPrecheckLog,
} from '../compat/openclaw/precheck_report.js'
export {
  calculateMaxToolResultChars,
  calculateMaxToolResultCharsWithCap,
  resolveAutoLiveToolResultMaxChars,
  resolveLiveToolResultAggregateMaxChars,
  resolveLiveToolResultMaxChars,
} from '../compat/openclaw/profile.js'
export {
  createToolResultPromptProjectionState,
  reconcileToolResultPromptProjectionState,
} from '../compat/openclaw/projection.js'
export {
  estimateLlmBoundaryTokenPressure,
  estimatePrePromptTokens,
  estimateRenderedLlmBoundaryTokenPressure,
} from '../compat/openclaw/prompt_tokens.js'
export {
  getRawSessionAppendMessage,
  installSessionToolResultGuard,
} from '../compat/openclaw/session_guard.js'
export { truncateOversizedToolResultsInSessionManager } from '../compat/openclaw/session_manager.js'
export {
  capToolResultSize,
  countBytesUtf8,
  countLines,
  getToolResultTextLength,
  hardTruncateToolError,
  hardTruncateToolPayload,
  sanitizeToolResult,
  truncateTextByLinesAndBytesUtf8,
  truncateToolResultMessage,
  truncateToolResultText,
  wrapToolWithHardOutputTruncate,
} from '../compat/openclaw/tool_results.js'
