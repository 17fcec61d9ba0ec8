/**
 * spillway keeps tool output from drowning the model.
 *
 * "chars" always means UTF-16 code units (`string.length`). Bytes are UTF-8 bytes. Lines: a newline ENDS a line, so
 * "a\nb\n" and "a\nb" are two lines and "" is none. Cost grows with the limits and not with the input, except where a
 * pass is the point: reports, totals in notices, `maxLineBytes`, 'findings', limits in lines or tokens alone. The notice
 * 'hint' names all limits that were broken: a text over 256 KiB is read until it has more than `maxLines` lines.
 *
 * Guarantees that hold for every function that returns clamped text, whatever the input:
 *  G1  every limit that is set holds for the FINAL text, notice included;
 *  G2  the text is well-formed Unicode, so that no provider rejects the request: a cut never splits a surrogate pair nor
 *      a UTF-8 sequence, and a lone surrogate comes out as U+FFFD, also in a text that fits;
 *  G3  within the limits and well-formed, the very same value comes back (`===` for strings and objects);
 *  G4  what is kept is an exact substring of the input (after cleaning, line cutting and well-forming);
 *  G5  idempotent: clamp(clamp(x)) === clamp(x). When a text that was cut before is cut again, an earlier 'hint', 'pi' or
 *      'count' notice is recognised where it would stand (end of a head, start of a tail, between ends only in texts up
 *      to 256 KiB), and the new notice counts from the ORIGINAL total, in the unit of the earlier one (one that cannot
 *      takes what was counted in bytes for as many chars as the text that is left has for its bytes; after 'findings' the
 *      newlines around notices and marks may count as missing or kept). That can only raise a number shown: limits, Cut
 *      and ClampReport speak of this input alone. An earlier notice at an end goes whichever side is kept; one between
 *      ends stays as the mark of its gap while text on both sides of it stays together;
 *  G6  tight: with keep 'head' or 'tail' and snap 'char', one more code point would break a limit, or cut into a mark, an
 *      earlier notice or a known continuation line;
 *  G7  a notice is never cut: when it does not fit, "[... N more characters truncated]" takes its place, then "[...]",
 *      then none. A notice that needs more lines than there are beside a line of text does not fit;
 *  G8  deterministic: no clock and no randomness in text a model reads, but for the ids of saved outputs;
 *  G9  the input is never changed, and a kept result never keeps a large input alive in memory (except by name:
 *      clampError changes its argument, and Node from 24 on keeps the message that an error was made with);
 *  G10 no throw on any content; only wrong options throw.
 */

import type { ChildProcess } from 'node:child_process'
import type { Writable } from 'node:stream'

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
  /** Path or id of the saved whole, when there is one. */
  readonly saved?: string
}

/**
 * The text that tells a model what is missing.
 *  'hint'   (default) "[tool output truncated: 5,159,358 of 5,210,412 chars omitted (limit 50KB or 2,000 lines); ask for
 *           less, or for specific sections]", ASCII, one line. The limits that were broken are named, in bytes, lines,
 *           chars and tokens. A Uint8Array is counted in bytes ("bytes omitted"), so that no pass over it is needed. A
 *           wrapped tool that has a parameter `offset` or `limit` is asked so: "...; request smaller chunks
 *           (offset/limit) or specific sections]". When the whole was saved: "...; full output saved as PATH, read or
 *           search it there or with read_output]", or by id "...; full output saved as ID, page or search it with
 *           read_output]"; when a quota let only its start be saved: "...; the start of it saved as ..."; when saving
 *           failed: "...; the rest could not be saved (ENOSPC); ask for less, or for specific sections]"
 *  'pi'     "[... N more characters truncated]"
 *  'count'  "... (12,345 chars truncated from SOURCE)"; between ends "... (N chars truncated from SOURCE) ..."
 *  false    none
 * Any other string is a template and holds at least one of {omittedChars} {totalChars} {omittedBytes} {totalBytes}
 * {omittedLines} {totalLines} {keptLines} {source} {saved} (empty where nothing is saved) {limits} (those that were
 * broken, as 'hint' names them), digits grouped as in
 * "{omittedChars:,}"; an unknown {field}, or none, is ERR_SPILLWAY_OPTION. A function is called once per cut, and again at most twice when its text's
 * length changes the cut; one that throws, returns no string, or has not settled then, counts as not fitting.
 * It stands where the text was cut. After a head: "\n\n" + notice ('pi' and what takes its place: glued, 'count': "\n");
 * before a tail: notice + "\n"; between ends: "\n\n" + notice + "\n\n". Where only lines were cut inside, their marks tell.
 * Where several blocks of one result are cut, the last carries the notice and the others "[... N chars omitted]".
 * A text whose last 200 chars say how to go on, as other tools end their results, keeps that end whatever `keep` says, and
 * the notice stands before it: a line with "Use offset=N to continue", "N more lines in file" or "Full output: PATH", with
 * how a command exited behind it, or the "nextCursor" of a JSON object. Where the limits have no room for it beside a
 * notice, it is text like any other. Lines are counted from the original where it names them.
 */
export type Notice = 'hint' | 'pi' | 'count' | false | (string & {}) | ((cut: Cut) => string)

export interface PolicyOptions extends Limits {
  /** Default 'auto'. */
  keep?: Keep
  /** Share of the room that goes to the head with 'ends', 0 to 1. Default 0.5. 1 is 'head' and 0 is 'tail'; where there is
   *  no room for both ends, the one with the larger share stays, and the tail of equal ones. */
  headShare?: number
  /** Texts that make a line a finding: what was asked about, such as the name of a file or a test. Looked for as they
   *  are, upper and lower case told apart. */
  needles?: readonly string[]
  /** Tells 'auto' that the text comes from something that failed. Default false; found out by clampResult, wrapTool and
   *  captures. */
  isError?: boolean
  /** 'line' (default) moves a cut back to a line end where that costs at most a fifth of that side's room; 'char' never. */
  snap?: 'line' | 'char'
  /** Default 'hint'. */
  notice?: Notice
  /** Name of the text in notices. Default "output". */
  source?: string
}
/** A checked, frozen policy: make it once and pass it. Every function takes it or plain options, and passes over options
 *  of another function of this package, so that one object serves all. A name that is of none throws a TypeError with
 *  code ERR_SPILLWAY_OPTION, also within `clean` and `aggregate`, inherited, or with the value undefined: "`maxByte` is
 *  no option; did you mean `maxBytes`?". The value undefined counts as not given; symbols are passed over.
 *  spillway/openclaw, /pi and /daycare pass over all that they do not know, since their hosts pass more. Only what
 *  definePolicy returned counts as checked; a spread copy of it is plain options again. */
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
  /** Of the input; the notice is not counted. A line that is kept in part counts, one of which only the mark is left not. */
  kept: TextSize
  omitted: TextSize
  /** Kept parts of the input as [start, end) in chars. */
  ranges: [number, number][]
  /** The notice in `text`, "" when there is none. */
  notice: string
}

/** Cuts `text` to the policy. Bytes are read as UTF-8 without copying the whole input; invalid sequences come out as
 *  U+FFFD, and a byte order mark stays. */
export function clampText(text: TextInput, policy?: PolicyOptions): string
/** The same, with exact totals. */
export function clampTextWithReport(text: TextInput, policy?: PolicyOptions): ClampReport
/** Exact size in one pass. Of a Uint8Array: its own length in bytes, and the chars and lines of what it decodes to. */
export function measureText(text: TextInput): TextSize
/** Upper-leaning estimate in tokens, in one pass: aware of scripts (CJK, kana, hangul, Arabic, emoji and others), of runs
 *  (digits, base64 and hex, white space, signs) and of the lengths of words. Measured against o200k_base in docs/tokens.md:
 *  between 15 % low and 50 % high for every kind of text there. A text never comes to less than a head of it, nor to more
 *  than its lines do one by one. */
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
   *  forwards `structuredContent` to a model wants 'drop' after its validation (where it has no text, that says it then).
   *  'cap' never cuts inside a payload: where it has no room, its size takes its place, such as "[... 1,234,567 bytes of
   *  audio/wav omitted]". A payload is a base64 data URL, or a string of nothing but base64 or base64url (no white space)
   *  whose length fits its padding: of 1,024 chars or more with capitals and small letters; or of 64 or more, and not hex
   *  digits alone, where `mimeType`, `mediaType`, `media_type`, `format` or `type` beside or above it names a media type
   *  that is no text, or image, audio, video, wav, mp3, png and the like. Any other string is shortened as text. */
  sideData?: 'keep' | 'cap' | 'drop'
  /** JSON bytes that 'cap' leaves of each copy. Default 8_192. Small scalar fields survive first, long texts are
   *  shortened, arrays and objects keep what fits; cycles, BigInt, maps and bytes come described. */
  maxSideBytes?: number
  /** Default: found from the value's shape, by tags alone, never by instanceof. */
  dialect?: DialectName
  /** Cleans texts before the limits, as cleanText does; a text that cleaning would empty stays. Lines that become alike or
   *  meet in a cut are folded by the next cleaning, unless a notice or a mark of ours shows that the text was cut: with
   *  `notice` false or in words of one's own, G5 does not hold for such lines. Default false. */
  clean?: boolean | CleanOptions
}

/** Clamps one tool result, tool message or provider message of any dialect: a string, a `{content: [...]}`, a message that
 *  carries several results, each of which has the limits to itself. Order, ids, image blocks (by reference) and metadata
 *  stay. So does what no dialect knows of a result, members and blocks alike, up to 1 KiB of JSON; more of it counts
 *  against the limits, and comes back smaller in its place where it is over them (bytes, and what has a `toJSON` of its own,
 *  as their JSON has them). Class instances keep their class, but
 *  for what it hides in private fields; no empty text block is ever made, and no result is ever dropped
 *  (where the limits are too small for a visible text in every block, the first stay, as many as fit, and the notice
 *  stands for the others, or one block stays, at a limit of 0 an empty one; G1 wins). JSON over the limits becomes its text,
 *  clamped: AI SDK `json` as `text`, `error-json` as `error-text`, Bedrock `{json}` as `{text}`, a Gemini response as
 *  `{output}` or `{error}`. Payloads in it (see `sideData`) are named with their size first, so that no cut goes through
 *  one; where that is enough no notice stands. Unknown shapes, and rows of session files, come back as they are; where a
 *  dialect is named, any object with its fields is read as a result. */
export function clampResult<T>(result: T, policy?: ResultPolicy): T
/** Shortens the SAME error object: `message` to the policy, `stack` to that message and at most 20 frames (as many as take
 *  no more than the limit), `cause` and AggregateError `errors` likewise to depth 5. Frames are cut at 1,000 chars, `name` and
 *  what stands before the message at 200. A thrown string is clamped.
 *
 *  One budget holds for all that hangs on an error, such as `response.data`, `stdout`, `request`, causes at any depth:
 *  `JSON.stringify(error)`, `util.inspect(error)` and `String(error)` of what comes back are each at most four times
 *  `maxBytes`, and four times `maxChars` (from a limit of 256 up; where JSON throws, it is bounded no further). What is
 *  too large for its share comes as a shortened copy of plain data, many small members go; what it was stays as it was.
 *  The JSON of anything else that is thrown, arrays, maps, bytes and class instances included, is within the limits
 *  themselves, since frameworks send that: data comes as a shortened copy, an instance is shortened in place. A frozen error
 *  comes back as a new one of the same prototype, name and code, and an error whose own `toJSON`, `toString` or class says too
 *  much as a plain Error: G1 wins. No getter is run twice but those of `name`, `message` and `stack`. */
export function clampError<E>(error: E, policy?: PolicyOptions): E

/**
 * The tool, with its results, its partial updates and what it throws clamped. Takes whatever frameworks call a tool: an
 * object with `execute` (a function as its 4th argument is Pi's onUpdate), `invoke` or `func`, or a plain function. Keeps
 * `this`, all arguments, prototype, and whether a call is sync, async or a generator. Plain objects are copied, class
 * instances get an own method. Options are checked here, not when the tool runs.
 *
 * Wrapping twice is wrapping once, and never loosens: the tighter limit of each kind holds, defaults and `maxSideBytes` (where
 * it is set, or the first one caps) among them, also of a copy that a framework made of a wrapped tool. The first `spill`
 * stays, and one text is saved once; each `onClamp` is told of a cut once. Of the rest, what the later policy sets replaces
 * what the first one set, and what it does not set stays; of a checked policy, that is what definePolicy was given.
 *
 * What a tool returns is clamped as clampResult does. Besides: a tool with its own `toModelOutput` (AI SDK) keeps its raw
 * result and has the model's copy clamped; without one, an object or array that is no dialect's result and whose JSON is
 * over the limits becomes its JSON text, clamped (frameworks would serialise it anyway), bytes and class instances too; a
 * lone surrogate in what fits is repaired; a LangGraph Command has its `update.messages` clamped; of a LangChain pair of
 * content and artifact (`func`), the content.
 *
 * A cut can change the type of an answer: `T` still says `{ rows: number[] }` where the answer is a string by then, the start
 * of its JSON. Code of yours that calls a wrapped tool asks `typeof` first, or calls the tool that was wrapped; with
 * `toModelOutput` the answer stays what it was.
 */
export function wrapTool<T extends object>(tool: T, policy?: WrapPolicy): T
export interface WrapPolicy extends ResultPolicy {
  /** Method to wrap. Default: the first of execute, invoke, func that is a function. */
  method?: string
  /** Where the whole goes when it was cut: the text slots of one result joined by newlines, or the message of what was
   *  thrown, before cleaning; the notice then says so, or why it could not. Only for tools that answer with a promise
   *  (of one with `toModelOutput`: where that does); of others the notice says "could not be saved (ERR_SPILLWAY_SPILL)".
   *  Where only lines were cut inside (`maxLineBytes`) or payloads of JSON named, no notice stands and none says where the
   *  whole is. The same text of the same call is saved once. */
  spill?: SpillStore
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
  /** Of the text that there was; notices are not counted, names of payloads are. */
  kept: TextSize
  exceeded: LimitName[]
}
/** Every tool of an array or record, under one policy or each under its own (undefined: as it is), such as 'tail' for a
 *  shell and 'head' for a file reader. */
export function wrapTools<
  T extends readonly object[] | (object & { [K in keyof T]: object }),
  P extends WrapPolicy | undefined = WrapPolicy | undefined,
>(tools: T, policy?: WrapPolicy | (((name: string, tool: object) => P) & OnlyOptions<P>)): T
/** Has TypeScript refuse a function whose policies have a name that is no option, which it does not by itself. */
export type OnlyOptions<P> =
  Exclude<P extends unknown ? keyof P : never, keyof WrapPolicy> extends infer Name
    ? [Name] extends [never]
      ? unknown
      : string extends Name
        ? unknown
        : { 'no option': Name }
    : never

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
  /** The tool results after the last message of the model, of which one that ended in an error is none, are touched only
   *  when nothing else is left. Default true. */
  protectLatest?: boolean
  /** Chars of content that each keeps where possible. Default 2_000; 0 leaves a notice. */
  minKeepChars?: number
}

// ── Process output ───────────────────────────────────────────────────────────────────────────────────────

/**
 * Keeps what the policy keeps of any amount of output, in memory that the policy bounds: both ends and the findings, and
 * some MiB for cleaning. A limit of Infinity has all kept that it lets through; with no limit at all that is all output.
 *
 * With `clean: false` and no exit line, a merged capture is exactly `clampText` of all that came: of the string where only
 * strings came, and of the bytes otherwise. With cleaning it is `clampText` of what `cleanText` makes of all that came.
 * Chunks may end anywhere: a character that one ends inside of waits for the next chunk of the same stream. Only notices
 * of earlier cuts are text here like any other.
 *
 * Output that is no text (of its characters, three in ten are control characters that no text has, or no UTF-8) is named
 * with its size instead: "[binary output, 5242880 bytes]".
 */
export class OutputCapture {
  constructor(options?: CaptureOptions)
  /** Writables for the two streams, with real back-pressure: where output is saved, a slow disk slows the writer. Ending
   *  one leaves the other open. Chunks are copied on write; strings may have any encoding. */
  readonly stdout: Writable
  readonly stderr: Writable
  /**
   * Pipes a child in and resolves, with exit code or signal, once both pipes ended, or `graceMs` (2,000) after exit where
   * a grandchild holds them open; that one goes on, and what it prints then is thrown away. Rejects on the child's
   * 'error', and on abort with the signal's reason; the child is killed then (SIGTERM), as the `signal` of spawn does.
   * After a rejection `finish` tells what came until then. Its stdin is left alone. Once for each capture. A child that
   * has neither pipe (stdio 'inherit' or 'ignore') is ERR_SPILLWAY_OPTION.
   */
  attach(
    child: ChildProcess,
    options?: { graceMs?: number; signal?: AbortSignal | undefined },
  ): Promise<CaptureResult>
  /** What `finish` would return now, but for the file, which is not complete yet. Costs about one clamp, so it can feed
   *  partial updates. */
  snapshot(): CaptureResult
  /** Ends both streams. The second call returns what the first did. */
  finish(exit?: ProcessExit): Promise<CaptureResult>
}
/** `keep` is 'findings' unless given. A code other than 0, a signal or a time-out makes the text an error for 'auto'. */
export interface CaptureOptions extends PolicyOptions {
  /** 'merged' (default): one text in order of arrival; 'separate': each stream has its own text and its own limits. */
  streams?: 'merged' | 'separate'
  /** Cleaning before the limits, as cleanText does, in a stream. Default true. Never of the spill. */
  clean?: boolean | CleanOptions
  /** Where the raw output goes, both streams in order of arrival, once what came in passes the limits; a capture that is
   *  not cut in the end leaves no file. A store of createSpillStore. Default: nowhere. */
  spill?: SpillStore
  /** Names the producer in notices (unless `source` does), events and spill records. */
  tool?: string
  callId?: string
}
/** How a process ended. Each part that is known is told in a line at the end, such as "[exit code 1]", "[killed by
 *  SIGKILL]" or "[timed out, exit code 124]". */
export interface ProcessExit {
  code?: number | null
  signal?: string | null
  timedOut?: boolean
}
export interface CaptureResult {
  /** The merged text, or both streams under "stdout:" and "stderr:" (one of which nothing came has none), sharing the
   *  limits so that a small one stays whole; of what failed stderr comes first. The exit line is included, within the
   *  limits, and is left out only where they are too small for it. */
  text: string
  /** With 'separate': each within the limits by itself, without label and exit line. Else "". */
  stdout: string
  stderr: string
  /** Something was left out of `text`, `stdout` or `stderr`. */
  truncated: boolean
  /** Of what came in, before cleaning. */
  total: TextSize
  exit?: ProcessExit
  /** The saved whole, where something was left out. */
  spill?: SpillRecord
  /** Set when the full output could not be saved (disk full, no permission); the text says so too, and is clamped all the
   *  same. */
  spillError?: string
  /** A text was named instead of shown. */
  binary: boolean
}

/** stdout and stderr, each under the policy on its own (unless given: keep 'findings', 8_000 chars, notice 'count' with the
 *  stream's name), labelled, so that neither can crowd the other out; then how the process ended. An empty stream is left
 *  out, and stderr comes first where the process failed, which also makes both an error for 'auto'. Labels and the last
 *  line stand beside the limits. */
export function formatProcessOutput(
  output: {
    stdout: TextInput
    stderr: TextInput
    exitCode?: number | null
    signal?: string | null
    timedOut?: boolean
  },
  policy?: PolicyOptions,
): string

// ── Full outputs on disk ─────────────────────────────────────────────────────────────────────────────────

export interface SpillOptions {
  /** A directory of its own, made with mode 0700 where there is none; a relative path is resolved at once. One of this
   *  user's that others may enter is closed to them if it holds nothing but saved outputs, and refused otherwise; so are
   *  a symbolic link and a directory of another user. */
  dir: string
  /** What notices name: the file's path (default: an agent's own file tools can read it), or its id alone (for spillTool,
   *  or where the agent cannot see the path). The file's name begins with the id. */
  reference?: 'path' | 'id'
  /** Default 64 MiB; there a file stops and is not complete. */
  maxFileBytes?: number
  /** Default 512 MiB over the whole directory; the oldest files go first. What is younger than `minAge` may stand above. */
  maxTotalBytes?: number
  /** Milliseconds. Default 7 days; nothing younger than `minAge` (1 hour) is ever removed. */
  maxAge?: number
  minAge?: number
}
/** A saved output. `bytes` and `lines` are those of the whole; `complete` is false when the file holds less: it reached its
 *  quota, is still written, or its writer died (then they are those of the file). */
export interface SpillRecord {
  /** 16 hexadecimal digits, random. */
  id: string
  path: string
  bytes: number
  lines: number
  complete: boolean
}
/**
 * Full outputs in a directory, each a file of mode 0600 that holds its raw bytes. Everything is done on other threads.
 *
 * What is saved counts as soon as its file has its last name, `ID.TOOL.BYTESb.LINESl.txt`; until then it is
 * `ID.TOOL.part`. A save that fails (ENOSPC, EACCES, EROFS ...) rejects with the system's code and leaves no file.
 * Anything that goes wrong in the store itself has the code ERR_SPILLWAY_SPILL, a wrong argument ERR_SPILLWAY_OPTION.
 */
export interface SpillStore {
  /** Saves a text as UTF-8 (a lone surrogate as U+FFFD), or bytes as they are, which must not change meanwhile. Before its
   *  first file, and once an hour, a store sweeps by itself, keeping what the last `sweep` was told to retain. */
  save(text: TextInput, meta?: { tool?: string; callId?: string }): Promise<SpillRecord>
  /** By id, never by path: from a line (1-based; default: the first) or from a byte (0-based; it wins), up to `lines`
   *  lines and `maxBytes` bytes (40_960) of text. A page by line ends where a line does, if one ends in it; no page ends
   *  inside a UTF-8 sequence, and each holds one code point at least. An invalid sequence comes out as U+FFFD. Pages in a
   *  row make the whole. Beyond the end there is an empty page. */
  read(
    id: string,
    range?: { line?: number; byte?: number; lines?: number; maxBytes?: number },
  ): Promise<SpillSlice>
  /** The lines that hold a plain text, or match a regular expression, in order. An expression takes linear time: no
   *  backreferences, no lookaround, `\w`, `\d`, `\s`, `\b` and its ignored case are those of ASCII. The answer is at most
   *  40_960 bytes of text; a line of over 500 bytes is shown around its match, between marks "[+N bytes]". A line of over
   *  128 KiB (24 KiB for a large expression) is searched in parts that share 16 KiB. */
  search(id: string, pattern: string, options?: SpillSearch): Promise<SpillMatch[]>
  /** Oldest first. */
  list(): Promise<SpillRecord[]>
  /** Removes what age and size allow, keeping the ids in `retain` and what is still written. Safe beside other processes,
   *  which may be sweeping, saving and reading. Counts what this sweep removed. */
  sweep(options?: { retain?: readonly string[] }): Promise<{ removed: number; bytes: number }>
}
/** A page of a saved output. */
export interface SpillSlice {
  text: string
  /** The line that it begins in, and the byte that it begins at. */
  line: number
  byte: number
  /** Of the file, which holds less than the whole output where that is not complete. */
  totalLines: number
  totalBytes: number
  /** Where the next page begins: none at the end, and no line inside one. */
  nextLine?: number
  nextByte?: number
}
export interface SpillSearch {
  regex?: boolean
  ignoreCase?: boolean
  /** Lines to show before and after each match. Default 0, at most 100. */
  context?: number
  /** Matches. Default 100, at most 1_000. */
  max?: number
  /** The first line that may match, to go on behind the last match. Default 1. */
  line?: number
}
/** A line that matches, without its terminator. */
export interface SpillMatch {
  line: number
  /** Where the match stands in the file: a page can be read from there. */
  byte: number
  text: string
  before: string[]
  after: string[]
}
/** What the diagnostics channel 'spillway:spill' tells of each output that was saved, or could not be. */
export interface SpillEvent {
  tool?: string
  callId?: string
  record?: SpillRecord
  error?: Error
}
/** Checks the options; nothing touches the disk before something is saved. */
export function createSpillStore(options: SpillOptions): SpillStore
/** A tool through which a model reads and searches what was saved, by these four parts under the names that its framework
 *  uses for them. Its parameters are {id, line?, byte?, lines?, pattern?, regex?} as a JSON schema. An answer is text of at
 *  most 40_960 bytes, each line with its number and as a terminal would show it; it tells where the next page begins. What
 *  is wrong with an input is told in a sentence; nothing throws. A file's path is taken for the id in its name. */
export function spillTool(store: SpillStore): {
  name: 'read_output'
  description: string
  parameters: {
    type: 'object'
    properties: Record<
      'id' | 'line' | 'byte' | 'lines' | 'pattern' | 'regex',
      { type: 'string' | 'integer' | 'boolean'; description: string }
    >
    required: string[]
    additionalProperties: false
  }
  execute(input: unknown): Promise<string>
}

// ── Context budget ───────────────────────────────────────────────────────────────────────────────────────

/** What to do before a request: nothing; compact older history; cut tool results, which is the cheapest way where that
 *  alone makes the prompt fit with 512 tokens to spare; or both. */
export type Route = 'fits' | 'compact_only' | 'truncate_tool_results_only' | 'compact_then_truncate'

export interface PrecheckInput {
  /** The history, in the shape of any framework: texts, thinking and calls count, an image by a fixed 2,000 tokens, and
   *  side data, ids and metadata not at all. */
  messages: readonly unknown[]
  systemPrompt?: string | undefined
  /** What the user asks now, where it is not among the messages yet. */
  prompt?: string | undefined
  /** Tool schemas that travel with the request. They count as their JSON. */
  tools?: unknown
  /** Tokens that the model reads and writes in one turn. */
  contextTokens: number
  /** Tokens of them to keep free for its answer: at most a quarter of the window is. */
  reserveTokens: number
  /** What estimates are multiplied by. Default 1.1. */
  safetyMargin?: number | undefined
  /** Replaces estimateTokens; fractions are rounded up. What it throws passes through, and what it returns that is no
   *  number from 0 up is ERR_SPILLWAY_OPTION. */
  countTokens?: ((text: string) => number) | undefined
  /** What the provider last reported for the first `messages` of the history (system prompt and tools among it); only
   *  later messages are estimated then. Of more messages than there are it tells nothing. */
  lastUsage?: { inputTokens: number; messages: number } | undefined
  /** Chars that one tool result may hold. Default: 30 % of the window in chars (4 a token), at most 16_000, 32_000 from
   *  100k tokens, 64_000 from 200k. */
  perResultMaxChars?: number | undefined
  /** What all of them may hold. Default: the larger of four results and half the window in chars; the oldest first, the
   *  latest protected, `minKeepChars` 0. */
  aggregate?: Partial<AggregatePolicy> | undefined
}

export interface Precheck {
  route: Route
  estimatedTokens: number
  /** `contextTokens` less the reserve, which is held to a quarter of the window. */
  budgetTokens: number
  overflowTokens: number
  /** Chars that cutting tool results down to `minKeepChars` and a notice each would free. */
  reducibleChars: number
  /** What to leave of tool results where the prompt does not fit: those over their own limit, all of them what `aggregate`
   *  says, and beyond that the least that makes the prompt fit, or all there is to cut where even that does not. Empty on
   *  'fits' and 'compact_only'. What `applyPlan` makes of it, with its own defaults, fits by the same estimate. */
  plan: readonly PlanStep[]
}

/** What to leave of one tool result: the one in `messages[index]` that has this id (none: no id) and this length. Of
 *  several that are alike in that, each has a step, in order; one whose `maxChars` is its length stays as it is. */
export interface PlanStep {
  index: number
  callId?: string
  /** Chars that all its texts hold now. */
  chars: number
  maxChars: number
}

/** Estimates a prompt before it is sent, and finds the cheapest way to make it fit. What messages came to is remembered
 *  with them, so that the next time only new and changed ones are read in full. */
export function precheck(input: PrecheckInput): Precheck

/** Cuts the tool results that a plan names. Its only limits are those of the steps (and what `policy` gives besides),
 *  `notice` is 'pi' unless given, and a result that is not what its step says stays as it is. The same array when the plan
 *  is empty, or nothing matches. */
export function applyPlan<T extends readonly unknown[]>(
  messages: T,
  plan: readonly PlanStep[],
  policy?: ResultPolicy,
): T

/**
 *  'context_overflow'            more tokens than the model has room for: make the history smaller and send again;
 *  'payload_too_large'           more bytes than the server takes: the same, but of bytes, and compaction may not help;
 *  'field_too_long'              one text over the length that any may have: shorten that;
 *  'request_exceeds_rate_limit'  a single request over what a minute or day allows: waiting does not help, a smaller one does;
 *  'rate_limit'                  wait and send the same again;
 *  'malformed_unicode'           the history has a lone surrogate: `clampMessages` makes it well-formed;
 *  'other'                       anything else, billing and login among it.
 */
export type ProviderErrorKind =
  | 'context_overflow'
  | 'payload_too_large'
  | 'field_too_long'
  | 'request_exceeds_rate_limit'
  | 'rate_limit'
  | 'malformed_unicode'
  | 'other'
export interface ProviderError {
  kind: ProviderErrorKind
  /** Tokens (or bytes, for payload_too_large) that were asked for and allowed, when the error says so. */
  actual?: number
  limit?: number
  status?: number
}
/**
 * Tells what a provider's error is about: docs/errors.md. Reads status and code before text, and causes after the error
 * itself; takes an Error, a response body, a string, or an assistant message that ended in an error.
 *
 * Only errors count, not words about them: in a string or an Error without a status, what a provider says has to be the
 * sentence, with nothing before it but what leads an error ("400", "ollama error:", "ValidationException:"). Messages of users and
 * tools, and assistant messages without an error stop reason, are 'other' whatever they say. `patterns` are tried first,
 * against the same texts. Of a long text the start and the end are read. Nothing in an error makes this throw; wrong
 * options do (code ERR_SPILLWAY_OPTION).
 */
export function classifyProviderError(
  error: unknown,
  options?: { patterns?: readonly { pattern: RegExp; kind: ProviderErrorKind }[] },
): ProviderError

/**
 * Sends a prompt and recovers where it is too large: precheck, the cheapest fix, send; on a reported overflow compaction,
 * `maxCompactions` times at most, then truncation (to "[...]" where it takes that), again and again while anything is left to
 * cut, then ContextOverflowError. A refusal that gives no number leaves at most half of the last estimate to each such
 * truncation. Payloads that are too large and requests above a rate limit are made smaller the same way, by bytes and tokens
 * that the provider tells. docs/context.md has the states.
 *
 * It always ends: a step that leaves more than 95 % of the least estimate so far is not taken again before the next refusal,
 * after a refusal nothing is sent that is not smaller, and there are at most `maxCompactions` + 2 sends. A prompt that nothing makes fit is sent
 * once all the same, since estimates lean upwards and the provider has the last word. What a hook throws passes through, and
 * so does what `send` rejects with for any other reason. An abort rejects with `signal.reason` at once, also while a hook
 * hangs.
 */
export function runWithRecovery<R, M = unknown>(hooks: RecoveryHooks<R, M>): Promise<R>
/** `lastUsage` counts until the first compaction or truncation. A `countTokens` is asked once of each text. */
export interface RecoveryHooks<R, M = unknown> extends Omit<PrecheckInput, 'messages'> {
  /** The history as it stands, read anew before every attempt and after every step. */
  messages: () => readonly M[] | PromiseLike<readonly M[]>
  /** Sends these messages (with the system prompt and the rest, which are up to it): where nothing was cut, the very array
   *  of the history. `signal` is that of the run, or one that is never aborted. What it rejects with is classified; so is an
   *  assistant message that it resolves with and that ended in an error (Pi never throws). */
  send: (messages: M[], context: { attempt: number; signal: AbortSignal }) => PromiseLike<R>
  /** Makes older history smaller; false when it could not, and then it is not asked again. `actualTokens`: what the
   *  provider counted, where it told. */
  compact?:
    | ((state: { attempt: number; overflowTokens: number; actualTokens?: number }) => PromiseLike<boolean>)
    | undefined
  /** Stores the truncation; false, or a history that is no smaller, falls back to compaction, and where there is none to
   *  cutting what is sent, and then it is not asked again. Without it the plan is applied to what is sent, and a result that was cut once stays so, and the
   *  same, for the whole run, so that prompt caches hold. */
  truncate?: ((plan: readonly PlanStep[]) => PromiseLike<boolean>) | undefined
  /** Compactions before and after a send together. Default 3. */
  maxCompactions?: number | undefined
  /** Told of every decision. What it throws is passed over. The same events go to the channel 'spillway:recovery' of
   *  node:diagnostics_channel. */
  onEvent?: ((event: RecoveryEvent) => void) | undefined
  signal?: AbortSignal | undefined
}
export interface RecoveryEvent {
  /** 'overflow': the provider refused. The others are told before the step is taken. */
  type: 'precheck' | 'compact' | 'truncate' | 'send' | 'overflow' | 'give_up'
  /** The send that this leads to, from 1 on; of 'overflow' and 'give_up' the last one. */
  attempt: number
  route?: Route
  /** After a refusal scaled, so that what was refused does not fit. */
  estimatedTokens?: number
  /** Why this step was taken, and others were not. */
  reason?: string
}
/** Nothing was left to make smaller, or no send was left. The last refusal is the `cause`. Prints short:
 *  `attempts` and `precheck` are not enumerable. */
export class ContextOverflowError extends Error {
  readonly code: 'ERR_SPILLWAY_CONTEXT_OVERFLOW'
  /** All that was done, in order. */
  readonly attempts: readonly RecoveryEvent[]
  /** The last one. */
  readonly precheck: Precheck
  constructor(
    message: string,
    options: { attempts: readonly RecoveryEvent[]; precheck: Precheck; cause?: unknown },
  )
}

// ── Sessions ─────────────────────────────────────────────────────────────────────────────────────────────

/** `keep` is 'auto', `notice` 'hint', `sideData` 'cap' unless given. */
export interface GuardOptions extends ResultPolicy {
  /** Method of the manager that stores a message, which is its first argument. Default 'appendMessage'. */
  method?: string
  /** Runs after a first cap, on messages that are or carry tool results, and is told of the first of these. What it returns
   *  is capped again. Synchronous: one that throws, or answers with no message (undefined, a promise), is passed over. */
  transform?: (message: unknown, meta: { toolCallId?: string; toolName?: string }) => unknown
  /** Last word before the write, on every message: a message to write instead, or false to write nothing (appendMessage
   *  then returns undefined). Its answer is capped too, and passed over as that of `transform` is. */
  beforeWrite?: (message: unknown) => unknown | false
  /** Bytes of a tool result's message as JSON, without the payloads of its images, audio and files: the last line of
   *  defence. Side data gives way first, then members and blocks that no dialect knows, then text; past that, what stands
   *  around the results, and blocks from the end. A payload that no dialect knows, such as the base64 of an unknown
   *  block, stays whole or leaves its size alone (see `sideData`). It holds from 2 KiB for each result in a message; below
   *  that, results stay. Other messages are never touched. Default 262_144. */
  maxRowBytes?: number
  /** Changes the message itself, since agents (Pi up to 0.74) send the very object that they store. Default true. What
   *  refuses (a frozen message) is copied, and an answer of a hook that is of another class is written as it is. */
  inPlace?: boolean
  /** Called after each cut of a text, never with content. */
  onClamp?: (event: ClampEvent) => void
}
/** Puts the clamp in front of `appendMessage` of this instance, or of another method (whatever override stands there keeps
 *  working; no prototype is patched; a second guard on the same method replaces the options of the first, and is the same
 *  guard). Nothing of ours throws out of an append; what the manager throws (disk full) passes through. */
// biome-ignore lint/suspicious/noExplicitAny: managers name their own messages
export function guardSession<S extends { appendMessage(message: any, ...rest: any[]): any }>(
  manager: S,
  options?: GuardOptions,
): Guard
export function guardSession(manager: object, options: GuardOptions & { method: string }): Guard
export interface Guard {
  /** Restores what stood there; where another override stands before the guard by now, it lets everything pass. */
  uninstall(): void
  /** Messages that were changed before they were written. */
  readonly clamped: number
}

/** `notice` is 'pi' and `sideData` 'cap' unless given. Where `maxSideBytes` is not given either, side data of up to 9_216 bytes
 *  stays as it is: no row is written anew for so little. A `notice` function is ERR_SPILLWAY_OPTION: it cannot run on another
 *  thread. `dialect` picks results by their tags: rows that are none of that dialect's stay as they are. */
export interface RepairOptions extends ResultPolicy {
  /** A budget over all tool results of the active branch: of Pi sessions from version 2 on the way from the last row to its
   *  root, or to the first row that its last compaction keeps; else all rows in their order, Claude Code's sidechains aside. */
  aggregate?: AggregatePolicy
  /** A plan that was made before, instead of `aggregate`: matched by call id and present length, by index and length only in
   *  files of plain messages. What does not match is left alone and counted in `unmatched`. */
  plan?: readonly PlanStep[]
  /** Keeps the file as it was before its first repair as `<file>.bak`, never overwritten, and before its latest as
   *  `<file>.bak.latest`; both are the file itself, under one name or two, and stand beside the file that a symbolic link
   *  leads to. A repair that fails or is stopped makes neither. Default true. */
  backup?: boolean
  /** Reports what a repair would do. Takes no lock and writes nothing. */
  dryRun?: boolean
  /** false: the caller holds `<file>.lock` already. Default true; a lock that this process holds elsewhere fails at once
   *  and says so. */
  lock?: boolean
  /** Milliseconds to wait for the file's lock. Default 10_000. */
  lockTimeout?: number
  /** Stops the work before the file is replaced; the call then rejects with `signal.reason`, with nothing left behind. */
  signal?: AbortSignal | undefined
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
  /** Rows that had come to the file while an earlier repair replaced it, and that were brought back because that one was
   *  killed; absent where there are none. */
  recovered?: number
  /** 'format unknown': no row is one of a session that is known, as `inspectSession` has it; the file is left alone. */
  reason?: 'nothing to do' | 'empty session' | 'dry run' | 'format unknown'
}
/** Repairs a JSONL session of any size off the main thread: rows of Pi and OpenClaw 7, of Claude Code, and messages of any
 *  dialect. Only what is over the limits is written anew, within string literals, JSON with its tag, and side data; every
 *  other byte stays, and rows stay in number and order. The file is replaced in one step (temporary file, fsync, exchange of
 *  the names, directory fsync), with its owner, its mode and, on Linux, its access list and extended attributes: a crash at any
 *  instant leaves the old file or the new. Memory is bounded by the longest row. Rows that a writer without a lock appends
 *  meanwhile are carried over, clamped on their own; where the repair is killed before, the next brings them back.
 *  docs/sessions.md tells of the instant in which one can be missed. Repairing twice is repairing once.
 *
 *  Rejects with ERR_SPILLWAY_LOCKED when another holds `<file>.lock`, ERR_SPILLWAY_CHANGED when the file was replaced or
 *  written to otherwise than at its end, ERR_SPILLWAY_ATTRIBUTE when it has an extended attribute that a new file cannot
 *  have, ERR_SPILLWAY_FORMAT when it is no file of rows, and with the system's own codes. */
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
  options?: ResultPolicy & { signal?: AbortSignal | undefined; top?: number },
): Promise<SessionReport>

// ── Errors and events ────────────────────────────────────────────────────────────────────────────────────
// Every error thrown has a stable `code`: ERR_SPILLWAY_OPTION for wrong arguments, ERR_SPILLWAY_CONTEXT_OVERFLOW,
// ERR_SPILLWAY_LOCKED, ERR_SPILLWAY_CHANGED, ERR_SPILLWAY_ATTRIBUTE, ERR_SPILLWAY_FORMAT, ERR_SPILLWAY_SPILL, or Node's own
// system code (ENOSPC ...).
// diagnostics_channel: 'spillway:clamp', 'spillway:spill', 'spillway:recovery', 'spillway:repair' (the report of a repair, with
// its `path`). Free without subscribers.
