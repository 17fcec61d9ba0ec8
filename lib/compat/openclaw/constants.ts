/** OpenClaw's constants. They stand apart, so that an import of the package loads nothing else. */

export const MAX_TOOL_RESULT_CONTEXT_SHARE = 0.3
export const DEFAULT_MAX_LIVE_TOOL_RESULT_CHARS = 40_000
export const MIN_KEEP_CHARS = 2_000
export const RECOVERY_MIN_KEEP_CHARS = 0
export const ESTIMATED_CHARS_PER_TOKEN = 4

export const CHARS_PER_TOKEN_ESTIMATE = 4
export const TOOL_RESULT_CHARS_PER_TOKEN_ESTIMATE = 2

export const PREEMPTIVE_CONTEXT_OVERFLOW_MESSAGE =
  'Context overflow: estimated context size exceeds safe threshold during tool loop.'
export const MID_TURN_PRECHECK_ERROR_MESSAGE =
  'Context overflow: prompt too large for the model (mid-turn precheck).'
export const PREEMPTIVE_OVERFLOW_ERROR_TEXT = 'Context overflow: prompt too large for the model (precheck).'
export const TRUNCATION_ROUTE_BUFFER_TOKENS = 512

/** Factor applied to estimates, since they are derived from chars. */
export const SAFETY_MARGIN = 1.2

export const MISSING_TOOL_RESULT_TEXT: string =
  '[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.'

export const HARD_TRUNCATE_SUFFIX: string =
  '\n\n[tool output truncated: exceeded 50KB or 2000 lines; request smaller chunks (offset/limit) or specific sections]'

export const DEFAULT_TOOL_OUTPUT_HARD_LIMITS = { maxBytesUtf8: 51_200, maxLines: 2_000 } as const
export const EXEC_TOOL_OUTPUT_HARD_LIMITS = DEFAULT_TOOL_OUTPUT_HARD_LIMITS
