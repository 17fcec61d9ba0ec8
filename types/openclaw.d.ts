/**
 * OpenClaw's tool-result layer on top of spillway, with its names and signatures. Unlike the
 * originals, these functions do not exceed their own limits, split surrogate pairs or cut their own
 * notices. docs/openclaw.md lists every difference, with the reason.
 *
 * Names that only the unit tests of OpenClaw import are not here.
 *
 * A limit must be a whole number from 0 up, or Infinity; any other value throws with code
 * ERR_SPILLWAY_OPTION, even NaN, which used to switch a limit off. Content never throws. Content
 * within the limits is returned as it is.
 */

/** Release of OpenClaw to follow. '2026.4' (or 'april', the default; 2026.4.10): 40,000 chars for
 *  each result, the newest reduced first. '2026.7' (2026.6.9 and 2026.7.2): 16,000, 32,000 or
 *  64,000 by the size of the window, a separate budget for all results, the oldest reduced first.
 *  '2026.9' (or 'latest', 2026.9.6): the same with a smaller reserve, and with Chinese, Japanese
 *  and Korean weighed as 4 to 16 chars. */
export interface ProfileOptions {
  profile?: '2026.4' | '2026.7' | '2026.9' | 'april' | 'latest' | undefined
}

// ── Where a tool runs ────────────────────────────────────────────────────────────────────────────────────

export interface HardTruncateLimits {
  /** Default 51_200 (50 KiB). */
  maxBytesUtf8?: number | undefined
  /** Default 2_000. */
  maxLines?: number | undefined
  /** Text appended as it is to the kept text; it counts toward the limits. Default
   *  HARD_TRUNCATE_SUFFIX. If it does not fit, it is replaced by "[... N more characters
   *  truncated]", then by "[...]". */
  suffix?: string | undefined
}
/** Truncates a text to its head. */
export function truncateTextByLinesAndBytesUtf8(text: string, limits?: HardTruncateLimits): string
/** Truncates a string, a tool result or a partial update. Text blocks share the limits in order.
 *  Blocks without room become "[...]", or empty if that does not fit either; none is dropped. Other
 *  blocks are kept as they are. The texts fit joined by newlines, too. */
export function hardTruncateToolPayload<T>(payload: T, limits?: HardTruncateLimits): T
/** Shortens message, stack and causes of the same error object. */
export function hardTruncateToolError<E>(error: E, limits?: HardTruncateLimits): E
export const DEFAULT_TOOL_OUTPUT_HARD_LIMITS: { readonly maxBytesUtf8: 51_200; readonly maxLines: 2_000 }
/** The limits of commands, which are the default ones here. */
export const EXEC_TOOL_OUTPUT_HARD_LIMITS: { readonly maxBytesUtf8: 51_200; readonly maxLines: 2_000 }
export function countBytesUtf8(text: string): number
/** Counts lines as the limits do: a newline at the end starts no further one. */
export function countLines(text: string): number
/** Wraps a tool: its results, partial updates and thrown errors are truncated. */
export function wrapToolWithHardOutputTruncate<T extends object>(tool: T, limits?: HardTruncateLimits): T
export const HARD_TRUNCATE_SUFFIX: string

// ── Results in a history ─────────────────────────────────────────────────────────────────────────────────

export interface ToolResultTruncationOptions extends ProfileOptions {
  /** Text used as it is, or a function of the number of omitted chars. Default "[... N more
   *  characters truncated]", from '2026.7' on "[... N more characters truncated; rerun with
   *  narrower args if needed]". */
  suffix?: string | ((truncatedChars: number) => string) | undefined
  /** Chars. Both ends are kept only if there is room for more than twice as many; otherwise the
   *  head. Never raises `maxChars`. Default 2_000. */
  minKeepChars?: number | undefined
}
/** Truncates a text to its head, or to 70 % of head and 30 % of tail if the end looks important.
 *  MIDDLE_OMISSION_MARKER and the notice then stand between the two. */
export function truncateToolResultText(
  text: string,
  maxChars: number,
  options?: ToolResultTruncationOptions,
): string
/** Truncates the texts of a tool result. Small blocks stay whole, large ones share the rest. A
 *  result with an error flag keeps its findings. */
export function truncateToolResultMessage<M>(
  message: M,
  maxChars: number,
  options?: ToolResultTruncationOptions,
): M
/** Like `truncateToolResultMessage`, for a `role: "toolResult"` about to be stored; other messages
 *  are not changed. Default 40_000 chars, from '2026.7' on 16_000. */
export function capToolResultSize<M>(message: M, maxChars?: number, options?: ProfileOptions): M
export const DEFAULT_MAX_LIVE_TOOL_RESULT_CHARS: 40000
/** Returns 30 % of the window at 4 chars a token, at most the cap of the profile. */
export function calculateMaxToolResultChars(contextWindowTokens: number, options?: ProfileOptions): number
export interface ContextLimits {
  contextLimits?: { toolResultMaxChars?: number | undefined } | undefined
}
export interface LiveCapParams {
  contextWindowTokens: number
  /** OpenClaw's configuration. The limit of the agent goes before that of the defaults. */
  cfg?:
    | {
        agents?:
          | {
              defaults?: ContextLimits | undefined
              list?: readonly (ContextLimits & { id: string })[] | undefined
            }
          | undefined
      }
    | undefined
  agentId?: string | undefined
}
/** Returns the configured cap, else that for the window, within 30 % of the window. */
export function resolveLiveToolResultMaxChars(params: LiveCapParams): number
/** Returns the budget of all results from 2026.7 on: four caps, or half the window if that is more.
 *  `perResultMaxChars`: default `resolveLiveToolResultMaxChars` of the window. */
export function resolveLiveToolResultAggregateMaxChars(params: {
  contextWindowTokens: number
  perResultMaxChars?: number | undefined
}): number
export interface ToolResultBudget {
  /** `resolveLiveToolResultMaxChars` of the window. */
  maxChars: number
  /** `resolveToolResultContextMaxChars` of the window. */
  maxContextChars: number
}
/** Returns undefined for a window that is unknown, empty or infinite. */
export function resolveToolResultBudget(contextWindowTokens?: number): ToolResultBudget | undefined
/** Returns true if a text is within a budget, as '2026.9' weighs it. */
export function toolResultFitsBudget(text: string, budget?: ToolResultBudget): boolean
export interface WeightOptions {
  /** Chars that a char counts at least. Default 1. */
  minimumRawWeight?: number | undefined
}
/** Returns the longest head of a text within `maxChars`, as '2026.9' weighs it. */
export function sliceToolResultTextToBudget(text: string, maxChars: number, options?: WeightOptions): string
/** Tool results of a session as they were sent. Keep one for each session. */
export interface ToolResultPromptProjectionState {
  /** Texts of the results that were cut or pruned, by result. */
  // biome-ignore lint/suspicious/noExplicitAny: also a state that OpenClaw made
  replacements: Map<string, any>
  /** Results that were sent. */
  frozen: Set<string>
}
export function createToolResultPromptProjectionState(): ToolResultPromptProjectionState
/** Drops what a state knows of results that the history no longer has, or has with other texts. */
export function reconcileToolResultPromptProjectionState(
  messages: readonly unknown[],
  projectionState: ToolResultPromptProjectionState,
): void
export interface TruncatedMessages<M> {
  /** The same array if nothing is cut. */
  messages: M[]
  /** Results that were cut now. */
  truncatedCount: number
  /** Those of them that the budget cut further than the cap. */
  aggregateTruncatedCount: number
  /** True if all results were over the budget. */
  aggregatePressureEngaged: boolean
  aggregateBudgetChars: number
}
/**
 * Truncates every tool result to the cap, then results down to a notice until all are within the
 * budget. The budget is `aggregateMaxCharsOverride`; without one there is none in '2026.4', and
 * from '2026.7' on the larger of four caps and half the window, where results after the last
 * assistant message are cut last. Both limits hold, except that each result keeps at least "[...]",
 * and that from '2026.7' on a result with the footer "Full output: PATH" keeps that path while its
 * file exists.
 *
 * With `projectionState`, results that were cut before are sent as they were cut, byte for byte,
 * while the history grows. Then the budget spares the results that end the history ('2026.9': all
 * since the last assistant message), and cuts those that were sent before only if it must
 * ('2026.9': never). A lower cap cuts them all.
 */
export function truncateOversizedToolResultsInMessages<M>(
  messages: M[],
  contextWindowTokens: number,
  maxCharsOverride?: number,
  aggregateMaxCharsOverride?: number,
  projectionState?: ToolResultPromptProjectionState | ProfileOptions,
  options?: ProfileOptions,
): TruncatedMessages<M>

/** `contextPruning` of OpenClaw's configuration. */
export interface CacheTtlPruningConfig {
  mode?: string | undefined
  /** Such as `5m` or `1h30m`, in minutes without a unit. Default five minutes, also for a text that
   *  is not a duration. */
  ttl?: string | undefined
  /** Names of tools, in which `*` stands for any chars. */
  tools?: { allow?: readonly string[] | undefined; deny?: readonly string[] | undefined } | undefined
  /** Default on, with the text "[Old tool result content cleared]". */
  hardClear?: { enabled?: boolean | undefined; placeholder?: string | undefined } | undefined
}
export interface CacheTtlPruningSettings {
  ttlMs: number
  hardClear: boolean
  placeholder: string
  isToolPrunable(toolName: string): boolean
}
/** Returns undefined unless the mode is 'cache-ttl'. */
export function resolveCacheTtlPruningSettings(
  config?: CacheTtlPruningConfig,
): CacheTtlPruningSettings | undefined
export interface CacheTtlPruningParams<M> {
  messages: M[]
  settings: CacheTtlPruningSettings
  contextWindowTokens: number
  /** Milliseconds when the provider's cache was last written. Without it nothing is pruned. */
  lastCacheTouchAt?: number | null | undefined
  /** Milliseconds. */
  now: number
  projectionState: ToolResultPromptProjectionState
  /** False sends again what was pruned before, and prunes nothing more. Default false. */
  pruneNewRounds?: boolean | undefined
  /** Does not count the model's thoughts. */
  dropThinkingBlocksForEstimate?: boolean | undefined
  /** Called once if anything was pruned. */
  onPruned?: (() => void) | undefined
}
/**
 * Prunes old tool results once the provider's cache has expired, when a shorter prompt costs no
 * more to read than a cached one. If messages take three tenths of the window, results before the
 * last three answers keep 1,500 chars of each end and no images; if they still take half of it, the
 * oldest are cleared. The state sends what was pruned the same way again.
 */
export function pruneExpiredCacheTtlToolResults<M>(params: CacheTtlPruningParams<M>): M[]

// ── What is stored ───────────────────────────────────────────────────────────────────────────────────────

/** A stored message, of the type of its manager. */
// biome-ignore lint/suspicious/noExplicitAny: hooks take the caller's own type of message
type StoredMessage = any

export interface SessionToolResultGuardOptions extends ProfileOptions {
  /** Returns the message to store instead of any message. */
  transformMessageForPersistence?: ((message: StoredMessage) => StoredMessage) | undefined
  /** Returns the tool result to store instead, after a first cut. `isSynthetic`: it replaces a
   *  missing result. */
  transformToolResultForPersistence?:
    | ((
        message: StoredMessage,
        meta: { toolCallId?: string; toolName?: string; isSynthetic?: boolean },
      ) => StoredMessage)
    | undefined
  /** Runs last, before the write. `block` writes nothing; `message` is written instead. */
  beforeMessageWriteHook?:
    | ((event: {
        message: StoredMessage
      }) => { block?: boolean | undefined; message?: StoredMessage } | undefined)
    | undefined
  /** Stores an error result for a call without a result. Default true. */
  allowSyntheticToolResults?: boolean | undefined
  /** Text of that error result. Default MISSING_TOOL_RESULT_TEXT. */
  missingToolResultText?: string | undefined
  /** Tools whose calls are stored, ignoring case; calls of other tools are dropped. Default: all
   *  tools. */
  allowedToolNames?: Iterable<string> | undefined
  /** Chars of one tool result. Default 40_000, from '2026.7' on 16_000.
   *  `calculateMaxToolResultChars` returns the cap for a window. A value that is not a number from 0
   *  up is replaced by the default, as in OpenClaw, and told on the channel 'spillway:warning'. */
  maxToolResultChars?: number | undefined
  /** Called once for each message that was stored. An error of it is ignored. */
  onMessagePersisted?: OnMessagePersisted | undefined
  /** OpenClaw's name of the session, for `onMessagePersisted`. */
  sessionKey?: string | undefined
  /** Called with each message of the user that was stored. Errors of this and the next three are
   *  ignored. */
  onUserMessagePersisted?: ((message: StoredMessage, stored: StoredUserMessage) => void) | undefined
  /** Called with each message of the user that `beforeMessageWriteHook` blocked. */
  onUserMessageBlocked?: ((message: StoredMessage) => void) | undefined
  /** Called with each turn of the model that was stored with `stopReason: 'error'`. */
  onAssistantErrorMessagePersisted?: ((message: StoredMessage) => void) | undefined
  /** Does not store the next message of the user: an earlier attempt did. */
  suppressNextUserMessagePersistence?: boolean | undefined
  /** Called with that message, as the hooks left it. */
  onUserMessagePersistenceSuppressed?: ((message: StoredMessage) => void) | undefined
  /** Does not store turns of the model with `stopReason: 'error'`. */
  suppressAssistantErrorPersistence?: boolean | undefined
  /** Does not store messages of the model without tool calls. */
  suppressTranscriptOnlyAssistantPersistence?: boolean | undefined
  /** False stores secrets as they are. Default: as in the profile. */
  redact?: boolean | undefined
  /** OpenClaw's name of the run, stored with messages of the model and of tools as
   *  `__openclaw.runId`. */
  runId?: string | undefined
  /** OpenClaw's record of failed turns, which says what is stored of one. */
  assistantErrorTranscript?: AssistantErrorTranscript | undefined
}
/** OpenClaw's record of failed turns. `record` returns the message to store, undefined to store
 *  none. */
export interface AssistantErrorTranscript {
  record(message: StoredMessage, target: unknown, original: StoredMessage): StoredMessage
}
/** `entryId`: id of the row, if the append returns one. `appended`: true. */
export interface StoredUserMessage {
  entryId?: string | undefined
  appended: boolean
  persistedMessage: StoredMessage
}
/** `entryId`: id of the row, if the append returns one. `sessionFile`: file of the manager, if it
 *  has one. */
export type OnMessagePersisted = (
  message: StoredMessage,
  about: { entryId?: string; sessionFile?: string; sessionKey?: string },
) => void
export interface SessionToolResultGuard {
  /** Returns true if a call has no result. */
  hasPendingToolResults(): boolean
  /** Stores an error for each call without a result. */
  flushPendingToolResults(): void
  /** Like `flushPendingToolResults`, by `appendMessageAsync` if the manager has it. Resolves once
   *  the errors are stored, and rejects as the append does. */
  flushPendingToolResultsAsync(): Promise<void>
  /** Forgets the calls without a result. */
  clearPendingToolResults(): void
  /** Returns the ids of the calls without a result. */
  getPendingIds(): string[]
  /** Sets `suppressNextUserMessagePersistence` anew. Default true. */
  setNextUserMessagePersistenceSuppression(suppress?: boolean): void
  /** Stores the next message of the user, whatever `suppressNextUserMessagePersistence` says. */
  clearNextUserMessagePersistenceSuppression(): void
  /** Sets `runId` and `assistantErrorTranscript` for the messages that follow. */
  setTranscriptRunId(runId: string | undefined, errors?: AssistantErrorTranscript): void
  /** Restores the original methods. */
  uninstall(): void
}
/**
 * Guards `appendMessage` of a session manager, and `appendMessageAsync` if it has one, whose
 * appends then run one after the other:
 *  - tool results are truncated to `maxToolResultChars` before and after the hooks, their `details`
 *    to 8 KiB (from '2026.7' on in OpenClaw's shape) and their rows to 256 KiB, and get the tool
 *    name of their call;
 *  - tool calls that providers reject are dropped;
 *  - a call whose result has not been stored gets an error result before the next message other
 *    than a result; from '2026.7' on it waits behind further calls, further parts of its response,
 *    and messages that no provider is sent.
 *
 * Results are changed in place, like with `guardSession` of `spillway` and for the same reason. A
 * second guard replaces the first. A hook that throws is ignored.
 */
export function installSessionToolResultGuard(
  sessionManager: { appendMessage(message: never, ...rest: never[]): unknown },
  opts?: SessionToolResultGuardOptions,
): SessionToolResultGuard
export const MISSING_TOOL_RESULT_TEXT: string
/**
 * Returns the append of a manager as it was before its first guard, for rewrites of what is stored
 * already. A guard sets it as the symbol `openclaw.session.rawAppendMessage` of the manager; one
 * that OpenClaw itself has set is returned as well.
 */
export function getRawSessionAppendMessage<A extends (...args: never[]) => unknown>(manager: {
  appendMessage: A
}): A

/**
 * Truncates the tool results of a session file to the cap, then those of its active branch to the
 * budget, as truncateOversizedToolResultsInMessages does. Ids, rows and all other bytes are kept;
 * `<file>.bak` is the original file. Takes `<file>.lock`, unless `lock` is false because the caller
 * holds it. Never rejects: `reason` is "empty session", "no oversized or aggregate tool results",
 * or an error message. A manager that has the file open must reopen it.
 */
export function truncateOversizedToolResultsInSession(
  params: ProfileOptions & {
    sessionFile: string
    contextWindowTokens: number
    maxCharsOverride?: number | undefined
    aggregateMaxCharsOverride?: number | undefined
    lock?: boolean | undefined
    /** The budget leaves results since the last assistant message to their cap, and may be exceeded
     *  by them. */
    protectTrailingToolResults?: boolean | undefined
    /** Called once if anything was cut, with the last message that was rewritten. */
    onMessagePersisted?: OnMessagePersisted | undefined
    sessionId?: string | undefined
    sessionKey?: string | undefined
  },
): Promise<{ truncated: boolean; truncatedCount: number; reason?: string }>

/** A session manager whose active branch can be rewritten, as those of OpenClaw and Pi. */
export interface RewritableSessionManager {
  getBranch(): readonly {
    readonly id: string
    readonly parentId?: string | null
    readonly type: string
    readonly message?: StoredMessage
    readonly [member: string]: unknown
  }[]
  branch(entryId: string): void
  resetLeaf(): void
  appendMessage(message: never, ...rest: never[]): unknown
  buildSessionContext?(): { readonly messages: readonly unknown[] }
  /** A manager that is rewritten instead, and a function that puts its branch in place. */
  prepareTranscriptRewrite?(): {
    readonly sessionManager: RewritableSessionManager
    commit(entryIds: Map<string, string>): void
  }
}
/**
 * Like `truncateOversizedToolResultsInSession`, for the open session of a manager: branches off
 * before the first result that it cuts, and appends what follows again, without the hooks of a
 * guard. Results are cut as `projectionState` has sent them. The profile is 'latest' if none is
 * given. Never rejects.
 */
export function truncateOversizedToolResultsInSessionManager(
  params: ProfileOptions & {
    sessionManager: RewritableSessionManager
    contextWindowTokens: number
    maxCharsOverride?: number | undefined
    aggregateMaxCharsOverride?: number | undefined
    /** The budget leaves results since the last assistant message to their cap, and may be exceeded
     *  by them. */
    protectTrailingToolResults?: boolean | undefined
    projectionState?: ToolResultPromptProjectionState | undefined
    /** Called once if anything was cut, with the last message that was rewritten. */
    onMessagePersisted?: OnMessagePersisted | undefined
    sessionFile?: string | undefined
    sessionId?: string | undefined
    sessionKey?: string | undefined
    agentId?: string | undefined
  },
): Promise<{ truncated: boolean; truncatedCount: number; reason?: string }>

// ── Before a prompt is sent ──────────────────────────────────────────────────────────────────────────────

export interface ReductionParams extends ProfileOptions {
  messages: readonly unknown[]
  contextWindowTokens: number
  /** Cap of one result, instead of that for the window. */
  maxCharsOverride?: number | undefined
  /** Budget of all results, instead of that for the window. */
  aggregateMaxCharsOverride?: number | undefined
}
/** Returns true if truncateOversizedToolResultsInSession would cut anything. */
export function sessionLikelyHasOversizedToolResults(params: ReductionParams): boolean

export interface PromptParams extends ProfileOptions {
  messages: readonly unknown[]
  systemPrompt?: string | undefined
  prompt: string
  /** Tool schemas that are sent with the request. */
  tools?: unknown
}
/**
 * Estimates the tokens of a prompt, times SAFETY_MARGIN and rounded up. 'april': 4 chars a token,
 * 1,200 tokens an image. From '2026.7' on: OpenClaw's later weights, with 2 chars a token for tool
 * results and a token or more for each Chinese, Japanese or Korean char. System prompt, images of
 * users and tool schemas count; `details` do not. `estimateTokens` of `spillway` is closer.
 */
export function estimatePrePromptTokens(params: PromptParams): number

export type PressureParams = Omit<PromptParams, 'profile'>
/** Returns `estimatePrePromptTokens` of 2026.7 and later, for any profile. */
export function estimateLlmBoundaryTokenPressure(params: PressureParams): number
/** The same for a history that was rendered into the prompt. */
export function estimateRenderedLlmBoundaryTokenPressure(params: Omit<PressureParams, 'messages'>): number

export interface PreemptiveCompactionParams extends PromptParams {
  /** Tokens of the context window. */
  contextTokenBudget: number
  /** Tokens of the window to reserve. '2026.7' leaves half the window, or 8,000 tokens if that is
   *  less; '2026.9' three quarters. */
  reserveTokens: number
  /** The history before it was windowed. Used if its estimate is larger. */
  unwindowedMessages?: readonly unknown[] | undefined
  /** Cap of one result, instead of that for the window. */
  toolResultMaxChars?: number | undefined
  /** Token count of another source, used instead of the estimate. */
  llmBoundaryTokenPressure?: { estimatedPromptTokens: number; source: string } | undefined
}
export interface PreemptiveCompactionDecision {
  route: 'fits' | 'compact_only' | 'truncate_tool_results_only' | 'compact_then_truncate'
  /** True for both routes that compact. */
  shouldCompact: boolean
  estimatedPromptTokens: number
  /** The window less the reserve, at least 1. */
  promptBudgetBeforeReserve: number
  overflowTokens: number
  toolResultReducibleChars: number
  /** Source of the estimate: "transcript_estimate", "unwindowed_transcript_estimate" or that of
   *  `llmBoundaryTokenPressure`. From '2026.7' on. */
  pressureSource?: string | undefined
  /** Tokens that were reserved. From '2026.7' on. */
  effectiveReserveTokens?: number | undefined
}
/**
 * Decides what to do with a prompt before it is sent. Truncation alone is chosen if it frees 512
 * tokens more than the overflow, and one and a half times the overflow; compaction alone if
 * truncation frees nothing. `precheck` of `spillway` asks only for the 512 tokens.
 */
export function shouldPreemptivelyCompactBeforePrompt(
  params: PreemptiveCompactionParams,
): PreemptiveCompactionDecision
export interface PrePromptStatusParams {
  result: PreemptiveCompactionDecision
  provider: string
  modelId: string
  messageCount: number
  /** Default `messageCount`. */
  unwindowedMessageCount?: number | undefined
  contextTokenBudget: number
  reserveTokens: number
  sessionId?: string | undefined
  /** Milliseconds. Default: now. */
  now?: number | undefined
}
export interface PrePromptPrecheckLogParams extends Omit<PrePromptStatusParams, 'now'> {
  sessionKey?: string | undefined
  sessionFile?: string | undefined
}
/** Returns the line that OpenClaw logs about a precheck. */
export function formatPrePromptPrecheckLog(params: PrePromptPrecheckLogParams): string
export interface ContextBudgetStatus
  extends Omit<PreemptiveCompactionDecision, 'pressureSource' | 'effectiveReserveTokens'> {
  schemaVersion: 1
  source: 'pre-prompt-estimate'
  updatedAt: number
  provider: string
  model: string
  contextTokenBudget: number
  reserveTokens: number
  effectiveReserveTokens: number
  /** Tokens of the budget that the prompt leaves, at least 0. */
  remainingPromptBudgetTokens: number
  messageCount: number
  unwindowedMessageCount: number
  sessionId?: string
}
/** Returns a decision as OpenClaw stores it with a session. */
export function buildPrePromptContextBudgetStatus(params: PrePromptStatusParams): ContextBudgetStatus
/** Keys of warnings that were logged, 1,024 at most. */
export interface WarningDedupe {
  /** Returns true if a key is known, and remembers it. False for none. */
  check(key: string | null | undefined): boolean
  /** Returns true if a key is known. */
  peek(key: string | null | undefined): boolean
  delete(key: string | null | undefined): void
  clear(): void
  size(): number
}
/** The sessions whose pressure, or whose recovery, has been logged in this process. */
export const toolResultWarningDedupe: {
  readonly promptPressure: WarningDedupe
  readonly sessionRecovery: WarningDedupe
}
/** OpenClaw's error message for a prompt that it does not send. */
export const PREEMPTIVE_OVERFLOW_ERROR_TEXT: 'Context overflow: prompt too large for the model (precheck).'

// ── In the loop of an agent ──────────────────────────────────────────────────────────────────────────────

/** An agent that passes its messages through a function before each request. */
export interface TransformingAgent {
  transformContext?:
    | ((messages: StoredMessage[], signal: AbortSignal) => StoredMessage[] | Promise<StoredMessage[]>)
    | undefined
}
export interface MidTurnPrecheckRequest
  extends Omit<PreemptiveCompactionDecision, 'route' | 'shouldCompact'> {
  route: Exclude<PreemptiveCompactionDecision['route'], 'fits'>
}
/** Thrown where a new tool result makes the next prompt too large, to be caught by the loop. */
export class MidTurnPrecheckSignal extends Error {
  constructor(request: MidTurnPrecheckRequest)
  readonly name: 'MidTurnPrecheckSignal'
  readonly request: MidTurnPrecheckRequest
}
export function isMidTurnPrecheckSignal(error: unknown): error is MidTurnPrecheckSignal

/**
 * Guards what an agent sends. A tool result over half the window, at 2 chars a token, is cut in a
 * copy and loses its `details`; images that do not fit are named. Messages over nine tenths of the
 * window, at 4 chars a token, throw PREEMPTIVE_CONTEXT_OVERFLOW_MESSAGE, up to '2026.7'. With
 * `midTurnPrecheck`, the precheck runs after each new result and throws a MidTurnPrecheckSignal
 * unless the prompt fits. Returns a function that removes the guard.
 */
export function installToolResultContextGuard(
  params: ProfileOptions & {
    agent: TransformingAgent
    contextWindowTokens: number
    midTurnPrecheck?:
      | {
          enabled?: boolean | undefined
          contextTokenBudget: number
          reserveTokens: () => number
          toolResultMaxChars?: number | undefined
          getSystemPrompt?: (() => string | undefined) | undefined
          /** Messages before the prompt of this turn. Default: those of the first call. */
          getPrePromptMessageCount?: (() => number) | undefined
          onMidTurnPrecheck?: ((request: MidTurnPrecheckRequest) => void) | undefined
        }
      | undefined
  },
): () => void

/** OpenClaw's engine of contexts, as far as the hook calls it. */
export interface LoopContextEngine {
  afterTurn?: ((params: StoredMessage) => unknown) | undefined
  ingestBatch?: ((params: StoredMessage) => unknown) | undefined
  ingest?: ((params: StoredMessage) => unknown) | undefined
  assemble: (params: StoredMessage) => Promise<{ messages: StoredMessage[] }>
}
/**
 * Hands new messages to a context engine before each request (`afterTurn`, else `ingestBatch`, else
 * `ingest`), and sends the view that it assembles. Without new messages the last view is sent. If
 * the engine fails, the messages are sent as they are, and handed on again with the next call.
 * Returns a function that removes the hook.
 */
export function installContextEngineLoopHook(params: {
  agent: TransformingAgent
  contextEngine: LoopContextEngine
  sessionId: string
  sessionKey?: string | undefined
  sessionTarget?: unknown
  sessionFile: string
  tokenBudget?: number | undefined
  modelId: string
  getPrePromptMessageCount?: (() => number) | undefined
  getRuntimeContext?:
    | ((params: { messages: StoredMessage[]; prePromptMessageCount: number }) => unknown)
    | undefined
  runtimeSettings?: unknown
  onAfterTurnCheckpoint?: ((messageCount: number) => void) | undefined
  repairAssembledMessages?: ((messages: StoredMessage[]) => StoredMessage[]) | undefined
  isHeartbeat?: boolean | undefined
}): () => void
/** Marks the message of a user whose text in the transcript differs from what the model reads. The
 *  hook gives the engine that text. */
export function markTranscriptPromptText(message: object, text: string): void

// ── When a provider says no ──────────────────────────────────────────────────────────────────────────────

/** Returns true if an error (an Error, a response body, a string, an assistant message with an
 *  error) says that the prompt has too many tokens or bytes; from '2026.7' on also if a single
 *  request exceeds a rate limit. Returns false for prose that mentions an overflow.
 *  `classifyProviderError` of `spillway` distinguishes these kinds, and reads the numbers. */
export function isContextOverflowError(error: unknown, options?: ProfileOptions): boolean
/** Returns true where 9.6 tries a smaller prompt: an overflow, no rate limit, and Anthropic's
 *  demand of extra usage for a long context, which is a 429. */
export function isLikelyContextOverflowError(error: unknown): boolean
/** Returns true if an error says that a request, or one field of it, has too many bytes. */
export function isPayloadTooLargeError(error: unknown): boolean

// ── For screens ──────────────────────────────────────────────────────────────────────────────────────────

/** Truncates every text to 8,000 chars, "\n…(truncated)…" included. Images become `{ bytes,
 *  omitted: true }`, without their data. From the profile '2026.7' on, secrets become marks, as
 *  `redactText` of `spillway` makes them; so they do in results that
 *  `installSessionToolResultGuard` stores. */
export function sanitizeToolResult(result: unknown, options?: ProfileOptions): unknown

// ── Text ─────────────────────────────────────────────────────────────────────────────────────────────────

/** Like `String.prototype.slice`, but never splits a surrogate pair. Lone surrogates are kept. */
export function sliceUtf16Safe(text: string, start: number, end?: number): string
/** Returns `end`, or one less where that would split a surrogate pair; one more where nothing would
 *  be left. */
export function avoidTrailingHighSurrogateBreak(text: string, start: number, end: number): number
/** Returns the first `maxChars` chars, or one less if that would split a surrogate pair. A fraction
 *  is rounded down; a limit below 0 or NaN is 0, told on the channel 'spillway:warning'. */
export function truncateUtf16Safe(text: string, maxChars: number): string

// biome-ignore lint/complexity/noUselessEmptyExport: without it, a declaration file exports all names
export {}
