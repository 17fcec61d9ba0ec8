/**
 * spillway under the names of OpenClaw's tool-result layer, with their signatures. Where they exceed their own limits,
 * split surrogate pairs or cut their own notices, these do not: docs/openclaw.md lists every difference, with the reason.
 *
 * A limit that is no whole number from 0 up, or Infinity, throws with code ERR_SPILLWAY_OPTION, also where NaN used to
 * switch a limit off. Content never throws. What fits comes back as it is.
 */

/** Which OpenClaw: 'april' (2026.4.10: 40,000 chars a result; the newest give way first) or 'latest' (2026.7 and later:
 *  16,000, 32,000 or 64,000 by window; a budget of its own for all results; the oldest give way first). Default 'april'. */
export interface ProfileOptions {
  profile?: 'april' | 'latest'
}

// ── Where a tool runs ────────────────────────────────────────────────────────────────────────────────────

export interface HardTruncateLimits {
  /** Default 51_200 (50 KiB). */
  maxBytesUtf8?: number
  /** Default 2_000. */
  maxLines?: number
  /** Stands behind what is kept, as it is, and counts inside. Default HARD_TRUNCATE_SUFFIX. Where it does not fit,
   *  "[... N more characters truncated]" takes its place, then "[...]". */
  suffix?: string
}
/** Keeps the head. */
export function truncateTextByLinesAndBytesUtf8(text: string, limits?: HardTruncateLimits): string
/** Cuts a string, a tool result or a partial update. Text blocks share the limits in order; those that no room is left
 *  for become "[...]" (empty, where there is not even room for that), and none goes. Other blocks stay as they are. */
export function hardTruncateToolPayload<T>(payload: T, limits?: HardTruncateLimits): T
/** Shortens message, stack and causes of the same error object. */
export function hardTruncateToolError<E>(error: E, limits?: HardTruncateLimits): E
/** The tool with its results, its partial updates and what it throws cut. */
export function wrapToolWithHardOutputTruncate<T extends object>(tool: T, limits?: HardTruncateLimits): T
export const HARD_TRUNCATE_SUFFIX: string

// ── Results in a history ─────────────────────────────────────────────────────────────────────────────────

export interface ToolResultTruncationOptions extends ProfileOptions {
  /** A text as it is, or a function of how many chars are missing. Default "[... N more characters truncated]", in
   *  'latest' "[... N more characters truncated; rerun with narrower args if needed]". */
  suffix?: string | ((truncatedChars: number) => string)
  /** Both ends are kept only where there is room for twice as many. Never lifts `maxChars`. Default 2_000. */
  minKeepChars?: number
}
/** Cuts a text: the head, or 70 % of head and 30 % of tail where the end looks as if it mattered. */
export function truncateToolResultText(
  text: string,
  maxChars: number,
  options?: ToolResultTruncationOptions,
): string
/** Cuts the texts of a tool result: small blocks stay whole and large ones share the rest. A result with an error flag
 *  keeps its findings. */
export function truncateToolResultMessage<M>(
  message: M,
  maxChars: number,
  options?: ToolResultTruncationOptions,
): M
/** The same for a `role: "toolResult"` about to be stored; other messages are left alone. Default 40_000 chars, in
 *  'latest' 16_000. */
export function capToolResultSize<M>(message: M, maxChars?: number, options?: ProfileOptions): M
/** Chars of the texts of a `role: "toolResult"`, 0 for anything else. */
export function getToolResultTextLength(message: unknown): number
/** 30 % of the window at 4 chars a token, at most the cap of the profile. */
export function calculateMaxToolResultChars(contextWindowTokens: number, options?: ProfileOptions): number
export function isOversizedToolResult(
  message: unknown,
  contextWindowTokens: number,
  options?: ProfileOptions,
): boolean
/**
 * Cuts every tool result to the cap, then as many as it takes, each down to a notice, until all are within the budget:
 * the cap itself ('april'), or four caps or half the window, whichever is more ('latest'; results after the last
 * assistant message give way last). Both limits hold, but each result keeps at least "[...]". The same array when
 * nothing is cut.
 */
export function truncateOversizedToolResultsInMessages<M>(
  messages: M[],
  contextWindowTokens: number,
  maxCharsOverride?: number,
  aggregateMaxCharsOverride?: number,
  options?: ProfileOptions,
): { messages: M[]; truncatedCount: number }

// ── Before a prompt is sent ──────────────────────────────────────────────────────────────────────────────

export interface ReductionParams extends ProfileOptions {
  messages: readonly unknown[]
  contextWindowTokens: number
  /** Instead of the cap that the window gives. */
  maxCharsOverride?: number
  /** Instead of the budget for all results. */
  aggregateMaxCharsOverride?: number
}
export interface ToolResultReductionPotential {
  /** The cap of one result, and the budget of all. */
  maxChars: number
  aggregateBudgetChars: number
  /** Results that hold text, and its chars. */
  toolResultCount: number
  totalToolResultChars: number
  /** Results over the cap, what the cap takes of them, and what the budget takes beyond. */
  oversizedCount: number
  oversizedReducibleChars: number
  aggregateReducibleChars: number
  maxReducibleChars: number
}
/** What truncateOversizedToolResultsInMessages would free at least: the same plan, not carried out. */
export function estimateToolResultReductionPotential(params: ReductionParams): ToolResultReductionPotential
/** Whether it would cut anything. */
export function sessionLikelyHasOversizedToolResults(params: ReductionParams): boolean

export interface PromptParams extends ProfileOptions {
  messages: readonly unknown[]
  systemPrompt?: string
  prompt: string
  /** Tool schemas that travel with the request. */
  tools?: unknown
}
/**
 * Estimates a prompt: 4 chars a token and 1,200 tokens an image ('april'), or OpenClaw's later weights, under which a char
 * of a tool result weighs twice and Chinese, Japanese and Korean a token or more ('latest'); times SAFETY_MARGIN, rounded up.
 * System prompt, images of users and tool schemas count; `details` do not. `estimateTokens` of `spillway` itself is closer.
 */
export function estimatePrePromptTokens(params: PromptParams): number

export interface PreemptiveCompactionParams extends PromptParams {
  /** Tokens of the window. */
  contextTokenBudget: number
  /** Tokens kept back; 'latest' keeps back a quarter of the window at most. */
  reserveTokens: number
  /** The history before it was windowed: counts where its estimate is larger. */
  unwindowedMessages?: readonly unknown[]
  /** Instead of the cap that the window gives. */
  toolResultMaxChars?: number
  /** Tokens that were counted otherwise, which take the place of the estimate. */
  llmBoundaryTokenPressure?: { estimatedPromptTokens: number; source: string }
}
export interface PreemptiveCompactionDecision {
  route: 'fits' | 'compact_only' | 'truncate_tool_results_only' | 'compact_then_truncate'
  /** True for both routes that compact. */
  shouldCompact: boolean
  estimatedPromptTokens: number
  /** The window less what is kept back, at least 1. */
  promptBudgetBeforeReserve: number
  overflowTokens: number
  toolResultReducibleChars: number
  /** What the estimate is of: "transcript_estimate", "unwindowed_transcript_estimate" or what was told. Only in 'latest'. */
  pressureSource?: string
  /** What was kept back. Only in 'latest'. */
  effectiveReserveTokens?: number
}
/**
 * Finds what to do with a prompt before it is sent. Truncation alone is the way where it frees what is over and 512 tokens
 * more, and one and a half times what is over; compaction alone where it frees nothing. `precheck` of `spillway` itself asks
 * for no more than the 512 tokens.
 */
export function shouldPreemptivelyCompactBeforePrompt(
  params: PreemptiveCompactionParams,
): PreemptiveCompactionDecision
/** What OpenClaw fails a prompt with that it does not send. */
export const PREEMPTIVE_OVERFLOW_ERROR_TEXT: 'Context overflow: prompt too large for the model (precheck).'

// ── When a provider says no ──────────────────────────────────────────────────────────────────────────────

/** Whether an error (an Error, a response body, a string, an assistant message with an error) says that the prompt or its
 *  bytes are too many; in 'latest' also that it asks for more than a minute allows. Prose that mentions an overflow does not.
 *  `classifyProviderError` of `spillway` itself tells them apart, and reads the numbers. */
export function isContextOverflowError(error: unknown, options?: ProfileOptions): boolean
/** Whether it is the bytes: of the request, or of one field of it. */
export function isPayloadTooLargeError(error: unknown): boolean

// ── For screens ──────────────────────────────────────────────────────────────────────────────────────────

/** Every text to 8,000 chars, "\n…(truncated)…" included; images to `{ bytes, omitted: true }` without their data. */
export function sanitizeToolResult(result: unknown): unknown

// ── Text ─────────────────────────────────────────────────────────────────────────────────────────────────

/** `String.prototype.slice` that splits no surrogate pair. Lone surrogates stay. */
export function sliceUtf16Safe(text: string, start: number, end?: number): string
export function truncateUtf16Safe(text: string, maxChars: number): string

// ── Constants ────────────────────────────────────────────────────────────────────────────────────────────

export const MAX_TOOL_RESULT_CONTEXT_SHARE: 0.3
export const DEFAULT_MAX_LIVE_TOOL_RESULT_CHARS: 40000
export const HARD_MAX_TOOL_RESULT_CHARS: 400000
export const LARGE_CONTEXT_TOOL_RESULT_TOKENS: 100000
export const LARGE_CONTEXT_MAX_LIVE_TOOL_RESULT_CHARS: 32000
export const XL_CONTEXT_TOOL_RESULT_TOKENS: 200000
export const XL_CONTEXT_MAX_LIVE_TOOL_RESULT_CHARS: 64000
export const MIN_KEEP_CHARS: 2000
export const RECOVERY_MIN_KEEP_CHARS: 0
export const PROMPT_TOOL_RESULT_AGGREGATE_CAP_MULTIPLIER: 4
export const AGGREGATE_TOOL_RESULT_CONTEXT_SHARE: 0.5
/** What OpenClaw puts between head and tail. Here the notice stands there. */
export const MIDDLE_OMISSION_MARKER: string
export const ESTIMATED_CHARS_PER_TOKEN: 4
export const SAFETY_MARGIN: 1.2
export const TRUNCATION_ROUTE_BUFFER_TOKENS: 512
