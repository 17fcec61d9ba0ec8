import { functionsOf } from '../wing.js'

export { avoidTrailingHighSurrogateBreak, sliceUtf16Safe } from '../text/slice.js'
export * from './openclaw/constants.js'
export { isMidTurnPrecheckSignal, MidTurnPrecheckSignal } from './openclaw/mid_turn_signal.js'
export { truncateUtf16Safe } from './openclaw/utf16.js'
export { toolResultWarningDedupe } from './openclaw/warning_dedupe.js'

// Loaded when one of its functions is first called, like the wings of index.ts.
const openclaw = () => require('../wings/openclaw.js') as typeof import('../wings/openclaw.js')

export const {
  buildPrePromptContextBudgetStatus,
  calculateMaxToolResultChars,
  calculateMaxToolResultCharsWithCap,
  capToolResultSize,
  countBytesUtf8,
  countLines,
  createMessageCharEstimateCache,
  createToolResultPromptProjectionState,
  estimateContextChars,
  estimateLlmBoundaryTokenPressure,
  estimateMessageCharsCached,
  estimatePrePromptTokens,
  estimateRenderedLlmBoundaryTokenPressure,
  estimateToolResultReductionPotential,
  formatContextLimitTruncationNotice,
  formatPrePromptPrecheckLog,
  getRawSessionAppendMessage,
  getToolResultText,
  getToolResultTextLength,
  hardTruncateToolError,
  hardTruncateToolPayload,
  installContextEngineLoopHook,
  installSessionToolResultGuard,
  installToolResultContextGuard,
  invalidateMessageCharsCacheEntry,
  isContextOverflowError,
  isOversizedToolResult,
  isPayloadTooLargeError,
  isToolResultMessage,
  isToolResultTextBlock,
  markTranscriptPromptText,
  resolveAutoLiveToolResultMaxChars,
  resolveLiveToolResultAggregateMaxChars,
  resolveLiveToolResultMaxChars,
  resolveToolResultBudget,
  resolveToolResultContextMaxChars,
  sanitizeToolResult,
  sessionLikelyHasOversizedToolResults,
  shouldPreemptivelyCompactBeforePrompt,
  sliceToolResultTextTailToBudget,
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
