export { avoidTrailingHighSurrogateBreak, sliceUtf16Safe } from '../text/slice.js'
export {
  CHARS_PER_TOKEN_ESTIMATE,
  createMessageCharEstimateCache,
  estimateContextChars,
  estimateMessageCharsCached,
  getToolResultText,
  invalidateMessageCharsCacheEntry,
  isToolResultMessage,
  TOOL_RESULT_CHARS_PER_TOKEN_ESTIMATE,
} from './openclaw/char_estimator.js'
export {
  CONTEXT_LIMIT_TRUNCATION_NOTICE,
  formatContextLimitTruncationNotice,
  installToolResultContextGuard,
  isMidTurnPrecheckSignal,
  MID_TURN_PRECHECK_ERROR_MESSAGE,
  MidTurnPrecheckSignal,
  PREEMPTIVE_CONTEXT_OVERFLOW_MESSAGE,
} from './openclaw/context_guard.js'
export {
  estimateToolResultReductionPotential,
  sessionLikelyHasOversizedToolResults,
  truncateOversizedToolResultsInMessages,
  truncateOversizedToolResultsInSession,
} from './openclaw/history.js'
export {
  isToolResultTextBlock,
  resolveToolResultBudget,
  resolveToolResultContextMaxChars,
  sliceToolResultTextTailToBudget,
  sliceToolResultTextToBudget,
  toolResultFitsBudget,
} from './openclaw/limits.js'
export { installContextEngineLoopHook, markTranscriptPromptText } from './openclaw/loop_hook.js'
export {
  isContextOverflowError,
  isPayloadTooLargeError,
  PREEMPTIVE_OVERFLOW_ERROR_TEXT,
  shouldPreemptivelyCompactBeforePrompt,
  TRUNCATION_ROUTE_BUFFER_TOKENS,
} from './openclaw/precheck.js'
export { buildPrePromptContextBudgetStatus, formatPrePromptPrecheckLog } from './openclaw/precheck_report.js'
export {
  AGGREGATE_TOOL_RESULT_CONTEXT_SHARE,
  calculateMaxToolResultChars,
  calculateMaxToolResultCharsWithCap,
  DEFAULT_MAX_LIVE_TOOL_RESULT_CHARS,
  ESTIMATED_CHARS_PER_TOKEN,
  HARD_MAX_TOOL_RESULT_CHARS,
  LARGE_CONTEXT_MAX_LIVE_TOOL_RESULT_CHARS,
  LARGE_CONTEXT_TOOL_RESULT_TOKENS,
  MAX_TOOL_RESULT_CONTEXT_SHARE,
  MIDDLE_OMISSION_MARKER,
  MIN_KEEP_CHARS,
  PROMPT_TOOL_RESULT_AGGREGATE_CAP_MULTIPLIER,
  RECOVERY_MIN_KEEP_CHARS,
  resolveAutoLiveToolResultMaxChars,
  resolveLiveToolResultAggregateMaxChars,
  resolveLiveToolResultMaxChars,
  XL_CONTEXT_MAX_LIVE_TOOL_RESULT_CHARS,
  XL_CONTEXT_TOOL_RESULT_TOKENS,
} from './openclaw/profile.js'
export { createToolResultPromptProjectionState } from './openclaw/projection.js'
export {
  estimateLlmBoundaryTokenPressure,
  estimatePrePromptTokens,
  estimateRenderedLlmBoundaryTokenPressure,
  SAFETY_MARGIN,
} from './openclaw/prompt_tokens.js'
export {
  getRawSessionAppendMessage,
  installSessionToolResultGuard,
  MISSING_TOOL_RESULT_TEXT,
} from './openclaw/session_guard.js'
export {
  capToolResultSize,
  countBytesUtf8,
  countLines,
  DEFAULT_TOOL_OUTPUT_HARD_LIMITS,
  EXEC_TOOL_OUTPUT_HARD_LIMITS,
  getToolResultTextLength,
  HARD_TRUNCATE_SUFFIX,
  hardTruncateToolError,
  hardTruncateToolPayload,
  isOversizedToolResult,
  sanitizeToolResult,
  truncateTextByLinesAndBytesUtf8,
  truncateToolResultMessage,
  truncateToolResultText,
  wrapToolWithHardOutputTruncate,
} from './openclaw/tool_results.js'
export { truncateUtf16Safe } from './openclaw/utf16.js'
