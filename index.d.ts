/**
 * spillway keeps tool output from drowning the model.
 *
 * "chars" always means UTF-16 code units (`string.length`). Bytes are UTF-8 bytes. Lines: a newline ENDS a line, so
 * "a\nb\n" and "a\nb" are two lines and "" is none. Cost grows with the limits and not with the input, except where a
 * pass is the point: reports, totals in notices, `maxLineBytes`, 'findings', limits in lines or tokens alone.
 *
 * Guarantees that hold for every function that returns clamped text, whatever the input:
 *  G1  every limit that is set holds for the FINAL text, notice included;
 *  G2  the text is well-formed Unicode, so that no provider rejects the request: a cut never splits a surrogate pair nor
 *      a UTF-8 sequence, and a lone surrogate comes out as U+FFFD, also in a text that fits;
 *  G3  within the limits and well-formed, the very same value comes back (`===` for strings and objects);
 *  G4  what is kept is an exact substring of the input (after cleaning, line cutting and well-forming);
 *  G5  idempotent: clamp(clamp(x)) === clamp(x). When a text that was cut before is cut again, an earlier 'hint', 'pi' or
 *      'count' notice is recognised where it would stand (end of a head, start of a tail, between ends only in texts up
 *      to 256 KiB), and the new notice counts from the ORIGINAL total. That can only raise a number shown: limits, Cut
 *      and ClampReport speak of this input alone;
 *  G6  tight: with keep 'head' or 'tail' and snap 'char', one more code point would break a limit, or cut into a mark or
 *      an earlier notice;
 *  G7  a notice is never cut: when it does not fit, "[... N more characters truncated]" takes its place, then "[...]",
 *      then none. A notice that needs more lines than there are beside a line of text does not fit;
 *  G8  deterministic: no clock and no randomness in text a model reads;
 *  G9  the input is never changed, and a kept result never keeps a large input alive in memory (except by name:
 *      clampError changes its argument);
 *  G10 no throw on any content; only wrong options throw.
 */

// ── Limits and policy ────────────────────────────────────────────────────────────────────────────────────

/** Upper bounds. All hold at once. `Infinity` lifts a bound, 0 keeps nothing. Anything else that is not a safe integer
 *  >= 0 throws RangeError/TypeError with code ERR_SPILLWAY_OPTION, naming the field and value. */
export interface Limits {
  /** UTF-8 bytes of the result. Default 51_200 (50 KiB). */
  maxBytes?: number
  /** Lines of the result. Default 2_000. */
  maxLines?: number
  /** UTF-16 code units of the result. Default Infinity. */
  maxChars?: number
  /** Tokens of the result as `estimateTokens` counts them. Default Infinity. */
  maxTokens?: number
  /** UTF-8 bytes of any one line, its "\n" or "\r\n" not counted; a longer line is cut inside and ends in "[+N chars]",
   *  which counts inside. Default Infinity. */
  maxLineBytes?: number
}
export type LimitName = 'bytes' | 'lines' | 'chars' | 'tokens' | 'lineBytes'

/**
 * What survives a cut.
 *  'head'     the beginning; 'tail' the end; 'ends' both (see headShare);
 *  'findings' some of both ends and, from anywhere, the lines that tell what went wrong, with lines around them, in
 *             document order, a mark "[... 1,234 lines ...]" in each gap ("[... 1,234 chars ...]" inside a line of over
 *             1,000 bytes) and the notice last. Words and shapes decide, no knowledge of any tool; lines that say the
 *             same again count less. One pass over the input, in memory bounded by the limits. Without findings: 'ends'
 *             with 20 % for the head;
 *  'auto'     what is known to be an error (thrown, an error result, `isError` below) -> 'findings'; else, when the last
 *             2,000 chars look like they matter (a word such as error, failed, "exit code", total, summary, done; a
 *             closing brace at the end), 'ends' with 70 % for the head; else 'head'. The text itself is not sniffed for
 *             failures: that would scatter source files.
 */
export type Keep = 'head' | 'tail' | 'ends' | 'findings' | 'auto'

/** What was cut, for a notice. Fields that need a pass over the whole input are computed only when read. */
export interface Cut {
  readonly omittedChars: number
  readonly totalChars: number
  readonly omittedBytes: number
  readonly totalBytes: number
  readonly omittedLines: number
  readonly totalLines: number
  /** Lines kept, whole or in part, 1-based and inclusive, such as "1-120,4803-5000". */
  readonly keptLines: string
  readonly keep: 'head' | 'tail' | 'ends' | 'findings'
  /** Limits that the input broke, in the order bytes, lines, chars, tokens, lineBytes. */
  readonly exceeded: readonly LimitName[]
  /** What the text is called, from the policy. */
  readonly source: string
}

/**
 * The text that tells a model what is missing.
 *  'hint'   (default) "[tool output truncated: 5159358 of 5210412 chars omitted (limit 50KB or 2000 lines); request
 *           smaller chunks (offset/limit) or specific sections]", ASCII, one line. The limits in force are named: bytes
 *           and lines, and chars or tokens where set. A Uint8Array is counted in bytes ("bytes omitted"), so that no pass
 *           over it is needed.
 *  'pi'     "[... N more characters truncated]"
 *  'count'  "... (12,345 chars truncated from SOURCE)"; between ends "... (N chars truncated from SOURCE) ..."
 *  false    none
 * Any other string is a template and holds at least one of {omittedChars} {totalChars} {omittedBytes} {totalBytes}
 * {omittedLines} {totalLines} {keptLines} {source} {saved} (empty: nothing is saved yet) {limits}, digits grouped as in
 * "{omittedChars:,}"; an unknown
 * {field}, or none, is ERR_SPILLWAY_OPTION. A function is called once per cut, and again at most twice when its text's
 * length changes the cut; one that throws, or returns no string, counts as not fitting.
 * It stands where the text was cut. After a head: "\n\n" + notice ('pi' and what takes its place: glued, 'count': "\n");
 * before a tail: notice + "\n"; between ends: "\n\n" + notice + "\n\n". Where only lines were cut inside, their marks tell.
 * Where several blocks of one result are cut, the last carries the notice and the others "[... N chars omitted]".
 */
export type Notice = 'hint' | 'pi' | 'count' | false | (string & {}) | ((cut: Cut) => string)

export interface PolicyOptions extends Limits {
  /** Default 'auto'. */
  keep?: Keep
  /** Share of the room that goes to the head with 'ends', 0 to 1. Default 0.5. */
  headShare?: number
  /** Texts that make a line a finding: what was asked about, such as the name of a file or a test. Looked for as they
   *  are, upper and lower case told apart. */
  needles?: readonly string[]
  /** Tells 'auto' that the text comes from something that failed. Default false; found out by clampResult, wrapTool. */
  isError?: boolean
  /** 'line' (default) moves a cut back to a line end where that costs at most a fifth of that side's room; 'char' never. */
  snap?: 'line' | 'char'
  /** Default 'hint'. */
  notice?: Notice
  /** Name of the text in notices. Default "output". */
  source?: string
}
/** A checked, frozen policy: make it once and pass it. Every function takes it or plain options, and ignores fields that
 *  are not its own. Only what definePolicy returned counts as checked; a spread copy of it is plain options again. */
export interface Policy extends Readonly<WrapPolicy> {
  readonly maxBytes: number
  readonly maxLines: number
}
export function definePolicy(options?: WrapPolicy): Policy

// ── Text ─────────────────────────────────────────────────────────────────────────────────────────────────

export type TextInput = string | Uint8Array
export interface TextSize {
  bytes: number
  chars: number
  lines: number
}
export interface ClampReport {
  text: string
  /** False when nothing was left out, also when a lone surrogate was repaired. */
  truncated: boolean
  /** Limits that the input broke. Empty when it fits. */
  exceeded: LimitName[]
  total: TextSize
  /** Of the input; the notice is not counted. A line that is kept in part counts. */
  kept: TextSize
  omitted: TextSize
  /** Kept parts of the input as [start, end) in chars. */
  ranges: [number, number][]
  /** The notice in `text`, "" when there is none. */
  notice: string
}

/** Cuts `text` to the policy. Bytes are read as UTF-8 without copying the whole input; invalid sequences come out as
 *  U+FFFD, and a byte order mark stays. */
export function clampText(text: TextInput, policy?: PolicyOptions | Policy): string
/** The same, with exact totals. */
export function clampTextWithReport(text: TextInput, policy?: PolicyOptions | Policy): ClampReport
/** Exact size in one pass. Of a Uint8Array: its own length in bytes, and the chars and lines of what it decodes to. */
export function measureText(text: TextInput): TextSize
/** Upper-leaning estimate in tokens, aware of scripts (CJK, kana, hangul, emoji, digits). Every line is rounded up by
 *  itself, so the estimates of whole lines add up. */
export function estimateTokens(text: TextInput): number
/**
 * The text as a terminal would show it, for models and people. The same string when there is nothing to clean; otherwise
 * well-formed, a lone surrogate or an invalid sequence of bytes as U+FFFD.
 *
 * - Escape sequences go: CSI, OSC, DCS and the like, by ESC or as C1 controls. What does not end within 4 KiB, or meets a
 *   newline or another control character, was none: its introducer goes and the rest is text.
 * - Carriage returns and backspaces move back, and what follows overwrites: "abcdef\rxy" is "xycdef", CRLF is a newline.
 *   Blanks at the end of a line in which something was overwritten do not show. So
 *   do cursor movements and erasures (CSI A to G, J, K), up to 64 lines back, so that a progress display comes to its last
 *   state. One code point takes one column, and a line of more than 4,096 cannot be gone back in; no sequence goes
 *   further right than column 256 of a line that is shorter. Full-screen programs are not emulated.
 * - Other control characters go, but for tab and newline.
 * - Three or more identical lines in a row (of at most 4 KiB) become the line and "[previous line N more times]".
 *
 * Idempotent under the same options. A wrong option throws a TypeError with code ERR_SPILLWAY_OPTION; content never throws.
 */
export function cleanText(text: TextInput, options?: CleanOptions): string
/** All true by default. */
export interface CleanOptions {
  /** False leaves escape sequences as they are; they move and erase nothing then. */
  ansi?: boolean
  /** False leaves carriage returns and backspaces as they are; sequences move and erase nothing then. */
  carriageReturns?: boolean
  /** False leaves other control characters as they are, each one column wide. */
  control?: boolean
  /** False leaves repeated lines as they are. */
  repeats?: boolean
}
/** `String.prototype.slice` that never splits a surrogate pair (negative indexes count from the end). Lone surrogates
 *  stay. */
export function sliceUtf16Safe(text: string, start: number, end?: number): string
/** The first `maxChars` chars, one less where that would split a pair. Lone surrogates stay. */
export function truncateUtf16Safe(text: string, maxChars: number): string

// ── Tool results ─────────────────────────────────────────────────────────────────────────────────────────

/** Where a framework keeps the text of a tool result. */
export type DialectName =
  | 'text'
  | 'pi'
  | 'mcp'
  | 'ai-sdk'
  | 'ai-sdk-ui'
  | 'langchain'
  | 'openai-chat'
  | 'openai-responses'
  | 'openai-agents'
  | 'anthropic'
  | 'gemini'
  | 'bedrock'
  | 'mastra'

export interface ResultPolicy extends PolicyOptions {
  /** How the text blocks of ONE result share its limits. 'fair' (default): small blocks stay whole, large ones share the
   *  rest; 'order': first come, first served; 'each': every block has the limits to itself. */
  share?: 'fair' | 'order' | 'each'
  /** Copies beside the text that no model is sent (Pi `details`, LangChain `artifact`, MCP `structuredContent`): 'keep'
   *  (default) leaves them, by reference; 'cap' leaves `maxSideBytes` of their JSON, with the size that they had inside
   *  (`spillway.originalBytes`); 'drop' removes them. An MCP server with an output schema needs 'keep'; an MCP client that
   *  forwards `structuredContent` to a model wants 'drop' after its validation (where it has no text, that says it then). */
  sideData?: 'keep' | 'cap' | 'drop'
  /** JSON bytes that 'cap' leaves of each copy. Default 8_192. Small scalar fields survive first, long strings are
   *  shortened, arrays and objects keep what fits; cycles, BigInt, maps and bytes come described. */
  maxSideBytes?: number
  /** Default: found from the value's shape, by tags alone, never by instanceof. */
  dialect?: DialectName
  /** Cleans texts before the limits, as cleanText does; a text that cleaning would empty stays. Default false. */
  clean?: boolean | CleanOptions
}

/** Clamps one tool result, tool message or provider message of any dialect: a string, a `{content: [...]}`, a message that
 *  carries several results, each of which has the limits to itself. Order, ids, image blocks (by reference), unknown fields
 *  and metadata stay; class instances keep their class; no empty text block is ever made, and no result is ever dropped
 *  (where the limits are too small for a visible text in every block, blocks go and one stays, at a limit of 0 an empty
 *  one; G1 wins). JSON over the limits becomes its text, clamped: AI SDK `json` as `text`, `error-json` as `error-text`,
 *  Bedrock `{json}` as `{text}`, a Gemini response as `{output}` or `{error}`. Unknown shapes, and rows of session files,
 *  come back as they are; where a dialect is named, any object with its fields is read as a result. */
export function clampResult<T>(result: T, policy?: ResultPolicy | Policy): T
/** Shortens the SAME error object: `message` to the policy, `stack` to that message and at most 20 frames, `cause` and
 *  AggregateError `errors` likewise to depth 5. Frames are cut at 1,000 chars, what stands before the message at 200. A thrown string is clamped. A frozen error comes back as a new one of the
 *  same prototype, name and code: G1 wins. So does plain data whose JSON is over the limits, its strings shortened:
 *  frameworks send it as JSON. */
export function clampError<E>(error: E, policy?: PolicyOptions | Policy): E

/**
 * The tool, with its results, its partial updates and what it throws clamped. Takes whatever frameworks call a tool: an
 * object with `execute` (a function as its 4th argument is Pi's onUpdate), `invoke` or `func`, or a plain function. Keeps
 * `this`, all arguments, prototype, and whether a call is sync, async or a generator. Plain objects are copied, class
 * instances get an own method; wrapping twice is wrapping once, under the latest policy. Options are checked here, not
 * when the tool runs.
 *
 * What a tool returns is clamped as clampResult does. Besides: a tool with its own `toModelOutput` (AI SDK) keeps its raw
 * result and has the model's copy clamped; without one, a plain object or array that is no dialect's result and whose JSON
 * is over the limits becomes its JSON text, clamped (frameworks would serialise it anyway); a LangGraph Command has its
 * `update.messages` clamped; of a LangChain pair of content and artifact (`func`), the content.
 */
export function wrapTool<T extends object>(tool: T, policy?: WrapPolicy | Policy): T
export interface WrapPolicy extends ResultPolicy {
  /** Method to wrap. Default: the first of execute, invoke, func that is a function. */
  method?: string
  /** Called after each cut, never with content. What it throws is passed over. The same events go to the channel
   *  'spillway:clamp' of node:diagnostics_channel. */
  onClamp?: (event: ClampEvent) => void
}
/** One cut: of a result, a partial update or a thrown error. Sizes are of all texts of the result together. */
export interface ClampEvent {
  tool?: string
  callId?: string
  phase: 'result' | 'update' | 'error'
  total: TextSize
  /** Of the text that there was; notices are not counted. */
  kept: TextSize
  exceeded: LimitName[]
}
/** Every tool of an array or record, under one policy or each under its own (undefined: as it is), such as 'tail' for a
 *  shell and 'head' for a file reader. */
export function wrapTools<T extends readonly object[] | Record<string, object>>(
  tools: T,
  policy?: WrapPolicy | Policy | ((name: string, tool: object) => WrapPolicy | Policy | undefined),
): T

/** A copy for people's screens: each text block to `maxChars` (8_000) and the texts of an error result to their first line
 *  and `maxErrorChars` (400), both notices and the "…" of a cut line included; images, audio and files as
 *  `{bytes, omitted: true}` in the place of their payload, with the size that it decodes to. An Error comes back as a new
 *  one of the same prototype, name and code, without frames and causes. The same value when nothing changes; never
 *  for a model, and no limit on what a framework keeps. */
export function sanitizeForDisplay<T>(result: T, options?: { maxChars?: number; maxErrorChars?: number }): T

// ── Histories ────────────────────────────────────────────────────────────────────────────────────────────

/** Clamps every tool result of a history under the policy (`notice` 'pi' unless given), then all of them together under
 *  `aggregate`. The same array when nothing changed; messages that are or carry no tool result come back as they are.
 *  `clamped`: how many results changed. */
export function clampMessages<T extends readonly unknown[]>(
  messages: T,
  options?: MessagesPolicy,
): { messages: T; clamped: number }
export interface MessagesPolicy extends ResultPolicy {
  aggregate?: AggregatePolicy
}
/** A budget over all tool results of a history. They give way in steps, each from one end of the history to the other, and
 *  no step goes further than the budget needs: the others down to `minKeepChars`, the others down to a notice, the latest
 *  down to `minKeepChars`, the latest down to a notice; at last all of them, the others first, to "[...]". */
export interface AggregatePolicy {
  /** Chars that all tool results together may hold: whatever that takes, but that each keeps at least "[...]". */
  maxChars: number
  /** Which results give way first. Default 'oldest'. */
  order?: 'oldest' | 'newest'
  /** The tool results after the last message of the model are touched only when nothing else is left. Default true. */
  protectLatest?: boolean
  /** Chars of content that each keeps where possible. Default 2_000; 0 leaves a notice. */
  minKeepChars?: number
}

// ── Sessions ─────────────────────────────────────────────────────────────────────────────────────────────

/** One step of a plan over the messages of a history: which result, how long it is now, and what it may keep. */
export interface PlanStep {
  index: number
  callId?: string
  /** chars now */
  chars: number
  maxChars: number
}

/** `notice` is 'pi' and `sideData` 'cap' unless given. A `notice` function is ERR_SPILLWAY_OPTION: it cannot run on another
 *  thread. `dialect` picks results by their tags: rows that are none of that dialect's stay as they are. */
export interface RepairOptions extends ResultPolicy {
  /** A budget over all tool results of the active branch: of Pi sessions from version 2 on the way from the last row to its
   *  root, else all rows in their order, Claude Code's sidechains aside. */
  aggregate?: AggregatePolicy
  /** A plan that was made before, instead of `aggregate`: matched by call id and present length, by index and length only in
   *  files of plain messages. What does not match is left alone and counted in `unmatched`. */
  plan?: readonly PlanStep[]
  /** Keeps the file as it was before its first repair as `<file>.bak`, never overwritten, and before its latest as
   *  `<file>.bak.latest`; both are hard links where the file system has them, and stand beside the file that a symbolic
   *  link leads to. Default true. */
  backup?: boolean
  /** Reports what a repair would do. Takes no lock and writes nothing. */
  dryRun?: boolean
  /** false: the caller holds `<file>.lock` already. Default true; a lock that this process holds elsewhere fails at once
   *  and says so. */
  lock?: boolean
  /** Milliseconds to wait for the file's lock. Default 10_000. */
  lockTimeout?: number
  /** Stops the work before the file is replaced; the call then rejects with `signal.reason`, with nothing left behind. */
  signal?: AbortSignal
  /** Called some 20 times a second while something goes on, and once at the end. What it throws is passed over. */
  onProgress?: (progress: { bytes: number; totalBytes: number; rows: number; clamped: number }) => void
}
export interface RepairReport {
  /** False in a dry run, whose other figures say what would be. */
  changed: boolean
  /** Rows of the file, blank ones not counted. */
  rows: number
  /** Rows of which a tool result, or what it holds besides its text, was cut. */
  clamped: number
  /** Rows that had to be parsed and are no JSON: kept byte for byte. */
  damaged: number
  /** The file did not end in a newline, and was given one so that the next append cannot fuse with its last row. */
  tornTail: boolean
  bytesBefore: number
  bytesAfter: number
  /** Steps of the plan for which no result was found. */
  unmatched: number
  /** Where the file is kept as it was: `<file>.bak` after its first repair, `<file>.bak.latest` after others. */
  backupPath?: string
  reason?: 'nothing to do' | 'empty session' | 'dry run'
}
/** Repairs a JSONL session of any size off the main thread: rows of Pi and OpenClaw 7, of Claude Code, and messages of any
 *  dialect. Only what is over the limits is written anew, within string literals, JSON with its tag, and side data; every
 *  other byte stays, and rows stay in number and order. The file is replaced in one step (temporary file, fsync, rename,
 *  directory fsync), with its mode and owner: a crash at any instant leaves the old file or the new. Memory is bounded by the
 *  longest row. Rows that a writer without a lock appends meanwhile are carried over, clamped on their own;
 *  docs/sessions.md tells of the instant in which one can be missed. Repairing twice is repairing once.
 *
 *  Rejects with ERR_SPILLWAY_LOCKED when another holds `<file>.lock`, ERR_SPILLWAY_CHANGED when the file was replaced or
 *  written to otherwise than at its end, ERR_SPILLWAY_FORMAT when it is no file of rows, and with the system's own codes. */
export function repairSession(path: string, options?: RepairOptions): Promise<RepairReport>

export interface SessionReport {
  format: 'pi' | 'claude-code' | 'messages' | 'unknown'
  /** Blank ones are not counted. */
  rows: number
  bytes: number
  toolResults: number
  /** Chars of tool-result text by tool, largest first; `tool` is "unknown" where neither result nor call names it. */
  byTool: { tool: string; results: number; chars: number; bytes: number }[]
  /** The largest results; `row` is the line of the file, counted from 1. */
  largest: { row: number; tool?: string; callId?: string; chars: number; bytes: number }[]
  /** Results that the policy would cut. */
  oversized: number
  /** All rows that are no JSON; blank ones are not counted. */
  damaged: number
}
/** Tells what a session's context is spent on, with its `top` (10) largest results. Reads only, off the main thread. */
export function inspectSession(
  path: string,
  options?: ResultPolicy & { signal?: AbortSignal; top?: number },
): Promise<SessionReport>

// ── Errors and events ────────────────────────────────────────────────────────────────────────────────────
// Every error that these functions throw for wrong arguments has the stable `code` ERR_SPILLWAY_OPTION; functions that
// return a promise reject with it. Sessions besides: ERR_SPILLWAY_LOCKED, ERR_SPILLWAY_CHANGED, ERR_SPILLWAY_FORMAT, or
// the system's own code (ENOENT ...). The channel 'spillway:repair' of node:diagnostics_channel tells of each repair: its
// report with the `path`.
