import { functionsOf } from '../wing.js'

export { avoidTrailingHighSurrogateBreak, sliceUtf16Safe } from '../text/slice.js'
export {
  DEFAULT_MAX_LIVE_TOOL_RESULT_CHARS,
  DEFAULT_TOOL_OUTPUT_HARD_LIMITS,
  EXEC_TOOL_OUTPUT_HARD_LIMITS,
  HARD_TRUNCATE_SUFFIX,
  MISSING_TOOL_RESULT_TEXT,
  PREEMPTIVE_OVERFLOW_ERROR_TEXT,
} from './openclaw/constants.js'
export { isMidTurnPrecheckSignal, MidTurnPrecheckSignal } from './openclaw/mid_turn_signal.js'
export { truncateUtf16Safe } from './openclaw/utf16.js'
export { toolResultWarningDedupe } from './openclaw/warning_dedupe.js'

// Loaded when one of its functions is first called, like the wings of index.ts.
const openclaw = () => require('../wings/openclaw.js') as typeof import('../wings/openclaw.js')

export const {
  buildPrePromptContextBudgetStatus,
  calculateMaxToolResultChars,
  capToolResultSize,
  countBytesUtf8,
  countLines,
  createToolResultPromptProjectionState,
  estimateLlmBoundaryTokenPressure,
  estimatePrePromptTokens,
  estimateRenderedLlmBoundaryTokenPressure,
  formatPrePromptPrecheckLog,
  getRawSessionAppendMessage,
  hardTruncateToolError,
  hardTruncateToolPayload,
  installContextEngineLoopHook,
  installSessionToolResultGuard,
  installToolResultContextGuard,
  isContextOverflowError,
  isPayloadTooLargeError,
  markTranscriptPromptText,
  resolveLiveToolResultAggregateMaxChars,
  resolveLiveToolResultMaxChars,
  resolveToolResultBudget,
  sanitizeToolResult,
  sessionLikelyHasOversizedToolResults,
  shouldPreemptivelyCompactBeforePrompt,
  sliceToolResultTextToBudget,
  toolResultFitsBudget,
  truncateOversizedToolResultsInMessages,
  truncateOversizedToolResultsInSession,
  truncateTextByLinesAndBytesUtf8,
  truncateToolResultMessage,
  truncateToolResultText,
  wrapToolWithHardOutputTruncate,
  reconcileToolResultPromptProjectionState,
  isLikelyContextOverflowError,
  pruneExpiredCacheTtlToolResults,
  resolveCacheTtlPruningSettings,
  truncateOversizedToolResultsInSessionManager,
} = functionsOf(openclaw)
