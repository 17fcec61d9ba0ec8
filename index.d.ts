/**
 * spillway keeps tool output from drowning the model.
 *
 * "chars" always means UTF-16 code units (`string.length`); bytes are UTF-8 bytes. A newline ENDS a line: "a\nb\n" and
 * "a\nb" have two lines, "" has 0. Cost grows with the limits, not with the input. These need a pass over the input:
 * reports, totals in notices, `maxLineBytes`, keep 'findings', 'relevant' and 'auto', and limits in lines or tokens
 * without one in bytes or chars. The notice 'hint' names every limit that was exceeded, so a text over 256 KiB is read until it has more than
 * `maxLines` lines.
 *
 * Guarantees of every function that returns clamped text, for any input:
 *  G1  every limit that is set holds for the FINAL text, notice included;
 *  G2  the text is well-formed Unicode: a cut never splits a surrogate pair or a UTF-8 sequence, and lone surrogates
 *      become U+FFFD, even in a text that fits. Providers reject anything else;
 *  G3  input that is within the limits and well-formed is returned as is (`===` for strings and objects). A result in
 *      which plain data has accessors or a `toJSON`, or which has a proxy, is returned as the copy that was measured;
 *  G4  the kept text is an exact substring of the input (after cleaning, truncation of long lines and well-forming);
 *  G5  idempotent: clamp(clamp(x)) === clamp(x). If the input was truncated before, an earlier 'hint', 'pi' or 'count'
 *      notice is recognised at its position (after a head, before a tail; between two ends only in texts up to 256
 *      KiB), and the new notice counts from the ORIGINAL total, in the unit of the earlier one. A notice that cannot
 *      use that unit converts bytes to chars in the ratio of the remaining text. After 'findings', the newlines around
 *      notices and marks may count as omitted or as kept. An earlier notice can only raise a number shown: limits, Cut
 *      and ClampReport describe this input alone. An earlier notice at an end is removed, whichever side is kept;
 *      between two ends it stays as the mark of its gap while text on both sides of it stays together;
 *  G6  tight: with keep 'head' or 'tail' and snap 'char', one more code point would exceed a limit, or cut into a mark,
 *      an earlier notice or a known continuation line;
 *  G7  a notice is never truncated: if it does not fit, it is replaced by "[... N more characters truncated]" (with the
 *      line that 'pi' has for a saved output, if that fits), then by "[...]", then omitted. A notice that leaves no line for text within `maxLines` does not fit;
 *  G8  deterministic: no clock and no randomness in text that a model reads, except the ids of saved outputs;
 *  G9  inputs are not mutated, and a result does not keep a large input in memory. Two exceptions: clampError changes
 *      its argument, and Node 24 and later retain the message that an error was created with;
 *  G10 no content makes a function throw; only wrong options do.
 */

import type { ChildProcess } from 'node:child_process'
import type { Writable } from 'node:stream'

// ── Limits and policy ────────────────────────────────────────────────────────────────────────────────────

/** Upper bounds, all of which hold at once. `Infinity` lifts a bound, 0 keeps nothing. Any other value that is not a
 *  safe integer >= 0 throws a RangeError or TypeError with code ERR_SPILLWAY_OPTION that names the field and the
 *  value. */
export interface Limits {
  /** UTF-8 bytes of the result. Default 51_200 (50 KiB). */
  maxBytes?: number | undefined
  /** Lines of the result. Default 2_000. */
  maxLines?: number | undefined
  /** UTF-16 code units of the result. Default Infinity. */
  maxChars?: number | undefined
  /** Tokens of the result, as `estimateTokens` counts them. Default Infinity. */
  maxTokens?: number | undefined
  /** UTF-8 bytes of each line, without its "\n" or "\r\n". A longer line is truncated and ends in "[+N chars]", which
   *  counts towards the limit. Default Infinity. */
  maxLineBytes?: number | undefined
}
export type LimitName = 'bytes' | 'lines' | 'chars' | 'tokens' | 'lineBytes'

/**
 * Part of a text that survives a cut.
 *  'head'     the beginning; 'tail' the end; 'ends' both (see headShare);
 *  'auto'     some of both ends and, from anywhere, the lines that explain a failure, with context lines; those that have
 *             rare words of `query`; and those with names that no kept line has; in document order. Findings get all of
 *             the room but the ends for a known error (thrown, an error result, or `isError` below), for a log, and for
 *             a text whose first or last line tells that a command failed; more than half if the end of the text states
 *             a failure; up to a third of it in other text, and less the more of it looks like code. Each gap has a
 *             mark "[... 1,234 lines ...]" ("[... 1,234 chars ...]" inside a line of over 1,000 bytes), and the notice
 *             comes last. Words and shapes decide, without knowledge of any tool; lines that repeat an earlier one count
 *             less. One pass over the input, in bounded memory. A larger limit keeps all lines that a smaller one
 *             keeps. If no line differs from the others: 'ends'. Not searched for a limit under 64 chars or bytes,
 *             unless it is a known error: both ends;
 *  'findings' like 'auto' for a known error. If no line differs from the others: 'ends' with 20 % for the head;
 *  'relevant' like 'auto', without lines that explain a failure. Of a text over four times the limits and over 200 KiB,
 *             the middle is read for words of `query` and `needles` alone. If no line differs from the others: 'ends',
 *             or 'head' where no notice fits between two ends.
 */
export type Keep = 'head' | 'tail' | 'ends' | 'findings' | 'relevant' | 'auto'

/** Counts and names of one cut, for a notice. Fields that need a pass over the whole input are computed when read. */
export interface Cut {
  readonly omittedChars: number
  readonly totalChars: number
  readonly omittedBytes: number
  readonly totalBytes: number
  readonly omittedLines: number
  readonly totalLines: number
  /** Lines kept in whole or in part, 1-based and inclusive, such as "1-120,4803-5000". */
  readonly keptLines: string
  readonly keep: 'head' | 'tail' | 'ends' | 'findings' | 'relevant'
  /** Limits that the input exceeded, in the order bytes, lines, chars, tokens, lineBytes. */
  readonly exceeded: readonly LimitName[]
  /** `source` of the policy. */
  readonly source: string
  /** Path or id of the saved output, if it was saved. */
  readonly saved?: string
}

/**
 * Text that tells a model how much is missing.
 *  'hint'   (default) "[tool output truncated: 5,159,358 of 5,210,412 chars omitted (limit 50KB or 2,000 lines); ask
 *           for less, or for specific sections]", ASCII, one line. Names the limits that were exceeded, in bytes,
 *           lines, chars and tokens. A Uint8Array is counted in bytes ("bytes omitted"), which needs no pass over it.
 *           For a wrapped tool that has a parameter `offset` or `limit`: "...; request smaller chunks (offset/limit) or
 *           specific sections]". If the output was saved: "...; full output saved as PATH, read or search it there or
 *           with read_output]", or by id "...; full output saved as ID, page or search it with read_output]". If a
 *           quota allowed only its start: "...; the start of it saved as ...". If saving failed: "...; the rest could
 *           not be saved (ENOSPC); ask for less, or for specific sections]". A cut that saves nothing repeats the name,
 *           of up to 200 bytes, that the notices of earlier cuts agree on
 *  'pi'     "[... N more characters truncated]". If the whole output was saved, by this cut or under the name that the
 *           notices of earlier cuts agree on, and there is room, a line "[Full output: NAME]" follows
 *  'count'  "... (12,345 chars truncated from SOURCE)"; between ends "... (N chars truncated from SOURCE) ..."
 *  false    none
 *
 * Any other string is a template with at least one of {omittedChars} {totalChars} {omittedBytes} {totalBytes}
 * {omittedLines} {totalLines} {keptLines} {source} {saved} (empty if nothing is saved) {limits} (those exceeded, as
 * 'hint' names them); "{omittedChars:,}" groups digits. An unknown {field}, or a template without a field, is
 * ERR_SPILLWAY_OPTION.
 *
 * A function is called once per cut, and up to twice more if the length of its text changes the cut. If it throws, does
 * not return a string, or still changes the cut after that, its notice counts as not fitting.
 *
 * The notice stands at the cut: after a head as "\n\n" + notice ('pi' and the fallbacks of G7 without a separator,
 * 'count' after "\n"); before a tail as notice + "\n"; between ends as "\n\n" + notice + "\n\n". If several
 * blocks of one result are cut, the last one carries the notice and the others "[... N chars omitted]".
 *
 * If only long lines were truncated, their marks are the only notice, unless the full output was saved, or could not be:
 * then 'hint', or a template with {saved}, follows the text, all of which is kept if there is room. If that notice does
 * not fit, "[Full output: PATH]" takes its place.
 *
 * If the last 200 chars of a text say how to continue, as results of some tools do, that end is kept whatever `keep`
 * says, and the notice stands before it. Recognised are a line with "Use offset=N to continue", "N more lines in file"
 * or "Full output: PATH", also before a line with the exit status of a command, and the "nextCursor" of a JSON object.
 * If the limits leave no room for it beside a notice, it is treated as any other text. Lines are counted from the
 * original if such a line names them.
 */
export type Notice = 'hint' | 'pi' | 'count' | false | (string & {}) | ((cut: Cut) => string)

/** Text that says what was asked, or a function of the arguments of a call that returns it. */
export type Query =
  | string
  | readonly string[]
  | false
  | ((args: readonly unknown[]) => string | readonly string[] | undefined)

export interface PolicyOptions extends Limits {
  /** Default 'auto'. */
  keep?: Keep | undefined
  /** Share of the room that the head gets with 'ends', from 0 (like 'tail') to 1 (like 'head'). Default 0.5. If only
   *  one end fits, the one with the larger share is kept; at 0.5, the tail. */
  headShare?: number | undefined
  /** Strings that make a line a finding, such as the name of a file or a test that was asked about. Matched literally
   *  and case-sensitively; an empty string is an error. The first eight lines with a needle are kept before all others;
   *  from the ninth on, a needle on more than 3 % of the lines so far says nothing. For every `keep` that searches. */
  needles?: readonly string[] | undefined
  /** Text that says what was asked, as it is: the arguments of the call, the user's words. For 'relevant',
   *  'auto' and 'findings'. A string, or several, the first weighing most; an empty string and false ask nothing.
   *
   *  A function gets the arguments of the call and returns such text, or undefined for none. It is called once for each
   *  result that is cut, never for one that fits; if it throws, nothing is asked. Where no call is known (clampText,
   *  clampResult, clampError, captures) it is not called.
   *
   *  Default: the strings in the arguments of the call for wrapTool; these and the user's last words before the call for
   *  functions of a history; nothing for all others. Of the arguments and of the words up to 4,096 chars are read. */
  query?: Query | undefined
  /** Marks the text as the output of a failure, for 'auto'. Default false; clampResult, wrapTool and captures detect
   *  it. */
  isError?: boolean | undefined
  /** 'line' (default) moves a cut back to a line end if that costs at most a fifth of that side's room; 'char' never
   *  does. */
  snap?: 'line' | 'char' | undefined
  /** Default 'hint'. */
  notice?: Notice | undefined
  /** Name of the text in notices. Default "output". */
  source?: string | undefined
  /** Cleans texts before the limits apply, as cleanText does: G3, G4, totals and ranges hold for the cleaned text. Text
   *  that is JSON is not cleaned. A text that cleaning would empty is kept as it is. If a notice or mark of this package
   *  shows that a text was cut, its repeated lines are not folded. If none shows it (`notice` false, a template or a
   *  function), two of three or more equal lines that a cut made adjacent are kept; such a notice can count the others
   *  as kept. Default false. */
  clean?: boolean | CleanOptions | undefined
  /** Replaces secrets by marks, as redactText does, before all else: G3, G4, totals, ranges, notices, events and saved
   *  outputs know the text without its secrets only. Texts are redacted after `clean`, too. In results and errors, the
   *  strings of side data and of other members are redacted as well, by the name under which they stand if that tells;
   *  values behind getters, in maps, sets and bytes are not. What looks like a secret only since a cut is dropped.
   *  Wrapping a tool again redacts what either policy names. Default false. */
  redact?: boolean | RedactOptions | undefined
}
/** A checked, frozen policy. Create it once and pass it wherever options are accepted. Every function takes a policy or
 *  plain options and ignores options of other functions of this package, so one object can serve all. An unknown name
 *  throws a TypeError with code ERR_SPILLWAY_OPTION ("unknown option `maxByte`; did you mean `maxBytes`?"), also within
 *  `clean` and `aggregate`, if inherited, and if its value is undefined. A known option with the value undefined counts
 *  as not given; symbols are ignored. spillway/openclaw, /pi and /daycare ignore unknown names, since their hosts pass
 *  more. Only the object that definePolicy returned is a checked policy; a spread copy is plain options again. */
export interface Policy extends Readonly<WrapPolicy> {
  readonly maxBytes: number
  readonly maxLines: number
}
/** Checks options once. Throws a TypeError or RangeError with code ERR_SPILLWAY_OPTION. */
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
  /** False if nothing was omitted, even if a lone surrogate was replaced. */
  truncated: boolean
  /** Limits that the input exceeded. Empty if it fits. */
  exceeded: LimitName[]
  total: TextSize
  /** Size of the kept input, without the notice. A line kept in part counts, unless only its mark is left. */
  kept: TextSize
  omitted: TextSize
  /** Kept parts of the input as [start, end) in chars. */
  ranges: [number, number][]
  /** The notice in `text`, "" if there is none. */
  notice: string
}

/** Truncates `text` to the policy. Bytes are read as UTF-8 without copying the whole input; invalid sequences become
 *  U+FFFD, and a byte order mark is kept. */
export function clampText(text: TextInput, policy?: PolicyOptions): string
/** Like `clampText`, with exact totals, which takes a pass over the input. */
export function clampTextWithReport(text: TextInput, policy?: PolicyOptions): ClampReport
/**
 * JSON within the limits that still parses. A string or bytes are text that may be JSON, any other value becomes its
 * JSON. JSON that fits is returned as it is; other JSON without white space.
 *
 * Long strings are shortened first and end in "[+N chars]". Then arrays lose elements: the first, the last, those that
 * differ in kind or hold words of failure, `needles` or `query`, and small ones stay. The first and the last are shortened
 * or emptied before they are omitted. Objects lose members last, whole. Other values are spelled as in the input. Where nothing fits, `[]`, `{}` or `""` is left, below two bytes "". Text
 * that is no JSON is cut as clampText does.
 */
export function clampJson(json: unknown, policy?: JsonPolicy): string
/** Like `clampJson`, with counts of what is missing. What an omitted element or member contains is not counted. */
export function clampJsonWithReport(json: unknown, policy?: JsonPolicy): JsonReport
export interface JsonPolicy extends PolicyOptions {
  /** A JSON schema of any draft from 4 on, against which the result validates if the input did: what is required stays, and
   *  what `enum`, `const`, `format`, `pattern` or a combination of schemas says about a value keeps it whole or leaves it
   *  out. References lead within the schema. If the limits leave no room for that, the schema is ignored. */
  schema?: object | undefined
}
export interface JsonReport {
  text: string
  /** False if nothing but white space was omitted. */
  truncated: boolean
  total: TextSize
  /** Size of `text`; of text that is no JSON, as in ClampReport. */
  kept: TextSize
  omittedElements: number
  shortenedStrings: number
  droppedMembers: number
  /** With `schema`: false if the limits left no room for JSON that validates. Input that did not validate counts as if it
   *  had. */
  validates?: boolean
}
/** Measures a text exactly, in one pass. For a Uint8Array: its own length in bytes, and the chars and lines of the
 *  decoded text. */
export function measureText(text: TextInput): TextSize
/** Estimates tokens in one pass, erring on the high side. Takes into account scripts (CJK, kana, hangul, Arabic, emoji
 *  and others), runs (digits, base64 and hex, white space, punctuation) and word lengths. Against o200k_base, the
 *  estimate is between 15 % low and 50 % high for every kind of text in docs/tokens.md. A text is never estimated lower
 *  than a head of it, nor higher than the sum of its lines. */
export function estimateTokens(text: TextInput): number
/**
 * Renders text as a terminal would show it, for models and people. Returns the same string if there is nothing to
 * clean; otherwise a well-formed one, with U+FFFD for lone surrogates and invalid byte sequences.
 *
 * - Escape sequences (CSI, OSC, DCS and the like, introduced by ESC or a C1 control) are removed. A sequence that is
 *   not terminated within 4 KiB, or before a newline or another control character, is treated as text; only its
 *   introducer is removed.
 * - Carriage returns and backspaces move the cursor back, and text that follows overwrites: "abcdef\rxy" becomes
 *   "xycdef". CRLF is a newline. Blanks at the end of a line in which something was overwritten are removed.
 * - Cursor movements and erasures (CSI A to G, J, K) are applied, up to 64 lines back: a progress display is reduced to
 *   its last state. One code point takes one column. A line over 4 KiB, and all lines above it,
 *   are final. No sequence moves the cursor past the end of its line beyond column 256. Full-screen programs are not
 *   emulated.
 * - Other control characters are removed, except tab and newline.
 * - Three or more identical consecutive lines (of at most 4 KiB) become one line and "[previous line N more times]".
 *
 * Idempotent under the same options. A wrong option throws a TypeError with code ERR_SPILLWAY_OPTION; content never
 * throws.
 */
export function cleanText(text: TextInput, options?: CleanOptions): string
/**
 * Replaces secrets by "[redacted: KIND]", which says their kind and no part of them. docs/redact.md lists the formats. A
 * secret is at most 64 KiB. Returns the same string if there are none. A second pass changes nothing; with `patterns`,
 * unless one of them looks at what a mark has at its ends. Content never throws.
 */
export function redactText(text: TextInput, options?: RedactOptions): string
/** Secrets that are replaced. */
export interface RedactOptions {
  /** Kinds of docs/redact.md, such as 'github token'. Default: all. Any other throws a RangeError with code
   *  ERR_SPILLWAY_OPTION. */
  kinds?: readonly string[] | undefined
  /** Secrets of your own: a regular expression of Rust's `regex` (no look-around), the whole match of which is the secret,
   *  and the kind that the mark says. They are looked for besides `kinds`. */
  patterns?: readonly { kind: string; pattern: string }[] | undefined
}
/** Steps of cleaning. All default to true. */
export interface CleanOptions {
  /** False keeps escape sequences as they are; they neither move the cursor nor erase. */
  ansi?: boolean | undefined
  /** False keeps carriage returns and backspaces as they are; sequences neither move the cursor nor erase. */
  carriageReturns?: boolean | undefined
  /** False keeps other control characters, each one column wide. */
  control?: boolean | undefined
  /** False keeps repeated lines. */
  repeats?: boolean | undefined
}
/** Like `String.prototype.slice`, but never splits a surrogate pair. Negative indexes count from the end. Lone
 *  surrogates are kept. */
export function sliceUtf16Safe(text: string, start: number, end?: number): string
/** Returns the first `maxChars` chars, or one less if that would split a surrogate pair. Lone surrogates are kept. */
export function truncateUtf16Safe(text: string, maxChars: number): string

// ── Tool results ─────────────────────────────────────────────────────────────────────────────────────────

/** Shape of the tool results and messages of a framework. */
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
  | 'gemini-cli'
  | 'copilot'
  | 'opencode'

export interface ResultPolicy extends PolicyOptions {
  /** Division of the limits among the text blocks of ONE result. 'fair' (default): small blocks are kept whole, large
   *  ones share the rest; 'order': first come, first served; 'each': every block has the limits to itself. */
  share?: 'fair' | 'order' | 'each' | undefined
  /** Treatment of side data: copies beside the text that are not sent to a model (Pi `details`, LangChain `artifact`,
   *  MCP `structuredContent`). 'keep' (default) keeps them by reference. 'cap' keeps `maxSideBytes` of their JSON and
   *  records the original size (`spillway.originalBytes`). 'drop' removes them. An MCP server with an output schema
   *  needs
   *  'keep'. An MCP client that forwards `structuredContent` to a model wants 'drop' after validation; if the result
   *  has no text, a text then says that it was dropped.
   *
   *  'cap' never cuts inside a payload: if it does not fit, it is replaced by its size, such as "[... 1,234,567 bytes
   *  of audio/wav omitted]". A payload is a base64 data URL, or a string of nothing but base64 or base64url (no white
   *  space) whose length fits its padding, if one of these holds: it has 1,024 chars or more, with upper- and
   *  lower-case letters; or it has 64 or more, is not hexadecimal, and a `mimeType`, `mediaType`, `media_type`,
   *  `format` or `type` beside or above it names a media type other than text, or image, audio, video, wav, mp3, png
   *  and the like. Any other string is truncated as text. */
  sideData?: 'keep' | 'cap' | 'drop' | undefined
  /** JSON bytes that 'cap' keeps of each copy. Default 8_192. Small scalar fields survive first, long texts are
   *  truncated, arrays and objects keep what fits. Cycles, BigInt, maps and bytes are replaced by a description. */
  maxSideBytes?: number | undefined
  /** Copies to keep of an MCP result whose `content` repeats its `structuredContent`: both (default), the text, or the
   *  structured content. A text repeats it if it is its JSON, however spelled, or that of its only member `result`, into
   *  which servers wrap what is no object; if that is a list, the texts may be its elements. All other results stay as
   *  they are. Under 'structured', `content` keeps its other blocks and may be empty, limits of texts no longer apply,
   *  and messages of Pi keep their text, since Pi sends no structured content. docs/frameworks.md says what each client
   *  does with both. */
  structured?: 'both' | 'text' | 'structured' | undefined
  /** Form of JSON that is over the limits. 'text' (default): cut like any text, and tags that announce JSON announce text.
   *  'keep-shape': cut as clampJson does, so that it parses and data stays data: texts that are a JSON list or object,
   *  JSON of the AI SDK, Bedrock and Gemini, plain data that a tool returns, and under `sideData: 'cap'` an MCP
   *  `structuredContent`. What is missing is told by notices in other texts of the result, by reports and events, never
   *  within the JSON: a result that is JSON alone carries no notice. */
  json?: 'text' | 'keep-shape' | undefined
  /** With `json: 'keep-shape'`: the JSON schema of what the tool returns, as `JsonPolicy.schema`. */
  schema?: object | undefined
  /** Default: detected from the shape of the value, by its tags alone, never by instanceof. */
  dialect?: DialectName | undefined
  /** Budget of the payloads of one result, in clampMessages and repairSession of all results together: images, audio and
   *  files in blocks, and base64 in texts (data URLs from 1,024 chars, and bare runs of over 4 KiB that decode to a known
   *  kind of file). What is over goes whole; a block of text in its place names its size, its kind and, for an image, its
   *  dimensions, such as "[... 1,048,576 bytes of image/png 1280x720 omitted]". The limits then count these words.
   *  References (addresses, ids of files) stay, as do screenshots that OpenAI's computer tool requires. Default: all
   *  payloads stay. */
  media?: MediaOptions | undefined
}

export interface MediaOptions {
  /** Bytes of all payloads together, decoded. Default Infinity. */
  maxBytes?: number | undefined
  /** Payloads. Default Infinity. */
  maxItems?: number | undefined
  /** End from which payloads are kept, each that fits beside those before it. Default 'latest'. */
  keep?: 'latest' | 'first' | undefined
}
/** A number of images, sounds and files, and their bytes, decoded. */
export interface MediaCount {
  items: number
  bytes: number
}

/** Clamps one tool result, tool message or provider message of any dialect: a string, a `{content: [...]}`, or a
 *  message that carries several results, each of which has the limits to itself. Order, ids, image blocks (by
 *  reference) and metadata are kept.
 *
 *  Members and blocks that no dialect knows are kept up to 1 KiB of JSON. Above that they count against the limits, and
 *  are shortened in place if over them (bytes, and values with a `toJSON`, as their JSON). Class instances keep their
 *  class, but not values in private fields. No empty text block is created and no result is dropped. If the limits are
 *  too small for a visible text in every block, the first blocks that fit are kept and the notice stands for the
 *  others; at a limit of 0 one empty block is kept, because G1 takes precedence.
 *
 *  JSON over the limits becomes its text, clamped: AI SDK `json` becomes `text`, `error-json` becomes `error-text`,
 *  Bedrock `{json}` becomes `{text}`, a Gemini response becomes `{output}` or `{error}`. Payloads in it (see
 *  `sideData`) are replaced by their size first, so no cut goes through one; if that is enough, there is no notice.
 *
 *  Plain data that is not a result of any dialect, such as `{stdout}` or a list of strings, is bounded as wrapTool bounds
 *  it: over the limits it becomes its JSON text, clamped, so a value of type `T` may be a string. Messages of the user,
 *  the model and the system without a tool result, and rows of session files, are returned as they are. If `dialect` is
 *  given, any object with its fields is read as a result. */
export function clampResult<T>(result: T, policy?: ResultPolicy): T
/** Shortens the SAME error object: `message` to the policy, `stack` to that message and at most 20 frames (as many as
 *  the limit allows), `cause` and AggregateError `errors` likewise to depth 5. Frames are truncated at 1,000 chars,
 *  `name` and any text before the message at 200. A thrown string is clamped.
 *
 *  One budget covers everything attached to an error, such as `response.data`, `stdout`, `request`, and causes at any
 *  depth: `JSON.stringify(error)`, `util.inspect(error)` and `String(error)` of the returned error are each at most
 *  four times `maxBytes` and four times `maxChars` (from a limit of 256 up; if JSON.stringify throws, its bound does
 *  not apply). A value too large for its share is replaced by a shortened copy of plain data, in which many small
 *  members are dropped; the original value is not changed.
 *
 *  The JSON of any other thrown value, arrays, maps, bytes and class instances included, is within the limits
 *  themselves, since frameworks send it. Data is returned as a shortened copy; an instance is shortened in place. A
 *  frozen error is returned as a new one of the same prototype, name and code. An error whose own `toJSON`, `toString`
 *  or class exceeds the budget is returned as a plain Error: G1 takes precedence. No getter runs twice, except those of
 *  `name`, `message` and `stack`. */
export function clampError<E>(error: E, policy?: PolicyOptions): E

/**
 * Wraps a tool: its results, partial updates and thrown errors are clamped. Accepts every form in which frameworks call
 * a tool: an object with `execute` (a function as its 4th argument is Pi's onUpdate), `invoke` or `func`, or a plain
 * function. `this`, all arguments, the prototype, and whether a call is sync, async or a generator are preserved. Plain
 * objects are copied; class instances get an own method. Options are checked here, not when the tool runs.
 *
 * Wrapping a tool again never loosens its limits: the tighter limit of each kind holds, defaults and `maxSideBytes` (if
 * it is set, or the first policy caps) included, also for a copy that a framework made of a wrapped tool. The first
 * `spill` stays, and a text is saved once; each `onClamp` is called once for a cut. Other options that the later policy
 * sets replace those of the first; of a checked policy, those that definePolicy was given.
 *
 * A result is clamped as clampResult does. In addition:
 * - a tool with its own `toModelOutput` (AI SDK) keeps its raw result, and the model's copy is clamped;
 * - a tool of the AI SDK without one (a plain object with an `inputSchema` and no `name`) gets a `toModelOutput` that
 *   sends the clamped text of an object or array over the limits, while `execute` still returns the object. Side data of
 *   a result over the limits is capped in that copy, since the AI SDK sends all of it;
 * - for any other tool, an object or array (bytes and class instances too) that is not a result of any dialect and
 *   whose JSON is over the limits becomes its JSON text, clamped; frameworks would serialise it anyway. So does a message
 *   with more than 1 KiB of JSON beside its results, and an object whose `toJSON` returns more than its members;
 * - lone surrogates are replaced in a result that fits;
 * - of a LangGraph Command, `update.messages` is clamped;
 * - of a LangChain pair of content and artifact (`func`), the content is clamped.
 *
 * With `toModelOutput`, a cut never changes the type of a result. Without it, `T` may still say `{ rows: number[] }`
 * although the value is a string, the start of its JSON: code that calls such a tool itself should check `typeof` first,
 * or call the original tool. docs/frameworks.md says what each framework does with the value.
 */
export function wrapTool<T extends object>(tool: T, policy?: WrapPolicy): T
export interface WrapPolicy extends ResultPolicy {
  /** Method to wrap. Default: the first of execute, invoke, func that is a function. */
  method?: string | undefined
  /** Store for the full output of a result that was cut: its text slots joined by newlines, or the message of a thrown
   *  error, before cleaning. The notice then names it, or says why it could not be saved. Only tools that return a
   *  promise can save (with `toModelOutput`: if that returns one); for others the notice says "could not be saved
   *  (ERR_SPILLWAY_SPILL)". If only payloads in JSON were replaced by their size, there is no notice to name
   *  the file. The same text of the same call is saved once. */
  spill?: SpillStore | undefined
  /** Called after each cut, never with content. Errors it throws are ignored. The same events go to the channel
   *  'spillway:clamp' of node:diagnostics_channel. */
  onClamp?: ((event: ClampEvent) => void) | undefined
}
/** One cut of a result, a partial update or a thrown error. Sizes are totals over all texts of the result. */
export interface ClampEvent {
  tool?: string
  callId?: string
  phase: 'result' | 'update' | 'error'
  total: TextSize
  /** Size of the original text that was kept, without notices, but with the sizes that replace payloads. */
  kept: TextSize
  exceeded: LimitName[]
  /** Payloads that words replaced, which is an event of its own: no limit is exceeded, and `kept` counts these words if
   *  they stand in a text. */
  media?: MediaCount
}
/** Wraps every tool of an array or record, under one policy, or each under the policy that a function returns for it
 *  (undefined: not wrapped), such as 'tail' for a shell and 'head' for a file reader. */
export function wrapTools<
  T extends readonly object[] | (object & { [K in keyof T]: object }),
  P extends WrapPolicy | undefined = WrapPolicy | undefined,
>(tools: T, policy?: WrapPolicy | (((name: string, tool: object) => P) & OnlyOptions<P>)): T
/** Makes TypeScript reject a function that returns policies with unknown options; by itself it accepts them. */
export type OnlyOptions<P> =
  Exclude<P extends unknown ? keyof P : never, keyof WrapPolicy> extends infer Name
    ? [Name] extends [never]
      ? unknown
      : string extends Name
        ? unknown
        : { 'no option': Name }
    : never

/** Makes a copy for people's screens, never for a model and not as a limit on stored data. Text blocks are truncated to
 *  `maxChars` (8_000), the texts of an error result to their first line and `maxErrorChars` (400), including notices
 *  and the "…" of a truncated line. Images, audio and files become `{bytes, omitted: true}` in place of their payload,
 *  with its decoded size. An Error is returned as a new one of the same prototype, name and code, without frames and
 *  causes. Returns the same value if nothing changes. */
export function sanitizeForDisplay<T>(result: T, options?: DisplayOptions): T
export interface DisplayOptions {
  /** Chars of each text block. Default 8_000. */
  maxChars?: number | undefined
  /** Chars of each text of an error result. Default 400. */
  maxErrorChars?: number | undefined
  /** Cleans texts before they are cut, as cleanText does. Default false. */
  clean?: boolean | CleanOptions | undefined
  /** Replaces secrets by marks, as redactText does. Default false. */
  redact?: boolean | RedactOptions | undefined
}

// ── Histories ────────────────────────────────────────────────────────────────────────────────────────────

/** Clamps every tool result of a history under the policy (`notice` 'pi' unless given), then all of them together under
 *  `aggregate`. Returns the same array if nothing changed, and messages without a tool result as they are. `clamped`
 *  counts the results that changed. Unless `query` is given, what the history says is asked of each result. */
export function clampMessages<T extends readonly unknown[]>(
  messages: T,
  options?: MessagesPolicy,
): { messages: T; clamped: number }
export interface MessagesPolicy extends ResultPolicy {
  aggregate?: AggregatePolicy | undefined
}
/** A budget over all tool results of a history. Older results are reduced in steps, each from one end of the history to
 *  the other, and only as far as the budget needs: to `minKeepChars`; then to a notice. The latest then share what is
 *  left: those under an equal share stay whole, the others get equal room, whichever came first. If that is less than a
 *  notice, older results give way to "[...]", and the latest share again. */
export interface AggregatePolicy {
  /** Chars that all tool results together may hold. It always holds, except that each result keeps at least "[...]". */
  maxChars: number
  /** End of the history at which reduction starts. Default 'oldest'. */
  order?: 'oldest' | 'newest' | undefined
  /** Touches the latest results only when nothing else is left. The latest are those after the last message of the
   *  model; one that ended in an error does not count. If false, they are reduced like older ones. Default true. */
  protectLatest?: boolean | undefined
  /** Chars of content that each result keeps if possible; the latest may have to share less. Default 2_000; 0 leaves
   *  only a notice. */
  minKeepChars?: number | undefined
}

/** Makes a history one that its provider accepts: every tool call has one result, where the provider wants it, and every
 *  result its call. Returns the same array if it is sound; otherwise messages before the first fault stay the same
 *  objects. `repaired` counts the calls and results that were put in, moved, removed or renamed, and turns joined.
 *  docs/tool-pairs.md lists what each dialect asks for.
 *
 *  A result belongs to the call of its id before it, in the latest turn that has one without a result. It is moved to
 *  that call if it stands elsewhere. Where a call has two results, the first stays, unless it was put in for a missing
 *  one: a short line that says so in the words of any host, or that is an error where the later result is not. A call
 *  whose result only the provider could make (web search, computer use) goes if it has none. Ids that the provider
 *  refuses are changed in calls and results alike: empty, too long, with other characters, or used before. */
export function repairToolPairs<T extends readonly unknown[]>(
  messages: T,
  options?: PairsOptions,
): { messages: T; repaired: number }
export interface PairsOptions {
  /** Default: that of the first call. */
  dialect?: DialectName | undefined
  /** Results without a call: 'drop' (default) or 'text', which keeps their text as words of the user. */
  orphans?: 'drop' | 'text' | undefined
  /** Text of a result that is missing. It is an error for the model. Default: "[No result: the call was interrupted, or
   *  its result was removed]". */
  missing?: string | undefined
}

// ── Process output ───────────────────────────────────────────────────────────────────────────────────────

/**
 * Captures any amount of output in memory bounded by the policy: both ends and the findings, and some MiB for cleaning.
 * A limit of Infinity keeps everything that it admits; without any limit that is all output.
 *
 * With `clean: false` and no exit line, a merged capture is exactly `clampText` of the output: of a string if only
 * strings were written, of the bytes otherwise. With cleaning it is `clampText` of `cleanText` of the output. Chunks
 * may end anywhere: a character that is incomplete at the end of a chunk waits for the next chunk of its stream. Unlike
 * in clampText, notices of earlier cuts are treated as plain text.
 *
 * Binary output is replaced by "[binary output, 5242880 bytes]". Output is binary if three in ten of its characters are
 * invalid UTF-8 or control characters that do not occur in text.
 */
export class OutputCapture {
  constructor(options?: CaptureOptions)
  /** Writables for the two streams, with back-pressure: if output is saved, a slow disk slows the writer. Ending one
   *  leaves the other open. Chunks are copied on write; strings may have any encoding. */
  readonly stdout: Writable
  readonly stderr: Writable
  /**
   * Reads a child's stdout and stderr. Resolves with its exit code or signal once both pipes have ended, or `graceMs`
   * (2,000) after its exit if another process holds them open. That process continues; its further output is discarded.
   *
   * Rejects on the child's 'error', and on abort with the signal's reason; an abort kills the child (SIGTERM), as the
   * `signal` option of spawn does. After a rejection, `finish` returns the output so far. The child's stdin is not
   * touched. One child per capture; a second, or a child with neither pipe (stdio 'inherit' or 'ignore'), is
   * ERR_SPILLWAY_OPTION.
   */
  attach(child: ChildProcess, options?: AttachOptions): Promise<CaptureResult>
  /** Returns the result that `finish` would return now, except for the saved file, which is not complete yet. Costs
   *  about one clamp, so it can feed partial updates. */
  snapshot(): CaptureResult
  /** Ends both streams. Further calls return the first result. */
  finish(exit?: ProcessExit): Promise<CaptureResult>
}
export interface AttachOptions {
  /** Milliseconds to wait for the end of the pipes after the child has exited. Default 2_000. */
  graceMs?: number | undefined
  /** Aborts the capture and kills the child with SIGTERM. */
  signal?: AbortSignal | undefined
}
/** Options of a capture. `keep` is 'findings' unless given. A code other than 0, a signal or a timeout makes the text
 *  an error for 'auto'. */
export interface CaptureOptions extends PolicyOptions {
  /** 'merged' (default): one text in order of arrival; 'separate': each stream has its own text and its own limits. */
  streams?: 'merged' | 'separate' | undefined
  /** Cleans the output before the limits apply, as cleanText does, while it streams. The saved file is never cleaned.
   *  Default true. */
  clean?: boolean | CleanOptions | undefined
  /** Store for the raw output, both streams in order of arrival, once it exceeds the limits. If the
   *  text is not cut in the end, no file is left. Default: not saved. */
  spill?: SpillStore | undefined
  /** Name of the producer in notices (unless `source` is given), events and spill records. */
  tool?: string | undefined
  callId?: string | undefined
}
/** The end of a process. Known parts are reported in a last line, such as "[exit code 1]", "[killed by SIGKILL]" or
 *  "[timed out, exit code 124]". */
export interface ProcessExit {
  code?: number | null | undefined
  signal?: string | null | undefined
  timedOut?: boolean | undefined
}
export interface CaptureResult {
  /** The merged text, or both streams under "stdout:" and "stderr:" (an empty stream has no label). The streams share
   *  the limits, and a small one stays whole; of a failed process stderr comes first. The exit line counts towards the
   *  limits, and is omitted only if they are too small for it. */
  text: string
  /** With 'separate': each stream within the limits on its own, without label and exit line. Otherwise "". */
  stdout: string
  stderr: string
  /** True if anything was omitted from `text`, `stdout` or `stderr`. */
  truncated: boolean
  /** Size of the output before cleaning. */
  total: TextSize
  exit?: ProcessExit
  /** The saved output, if anything was omitted. */
  spill?: SpillRecord
  /** Reason why the full output could not be saved (disk full, no permission). The notice says so too; the text is
   *  clamped all the same. */
  spillError?: string
  /** True if binary output was replaced by its size. */
  binary: boolean
}

/** Formats stdout and stderr, each with its label and under the policy on its own, so that neither crowds out the other
 *  (unless given: keep 'findings', 8_000 chars, notice 'count' with the name of the stream), and then the end of the
 *  process. An empty stream is omitted. If the process failed, stderr comes first, and both streams are errors for
 *  'auto'. Labels and the last line do not count towards the limits. */
export function formatProcessOutput(output: ProcessOutput, policy?: PolicyOptions): string
/** Output of a process that was collected in another way than by a capture. */
export interface ProcessOutput {
  stdout: TextInput
  stderr: TextInput
  exitCode?: number | null | undefined
  signal?: string | null | undefined
  timedOut?: boolean | undefined
}

// ── Full outputs on disk ─────────────────────────────────────────────────────────────────────────────────

export interface SpillOptions {
  /** Directory used for nothing else, created with mode 0700 if missing. A relative path is resolved at once. If the
   *  directory is yours but accessible to others, it is tightened to 0700 if it contains only saved outputs; otherwise
   *  the call fails. Symbolic links and other users' directories are rejected. */
  dir: string
  /** Reference to a saved output in notices: the file's path (default; an agent's own file tools can read it), or its
   *  id alone (for spillTool, or if the agent cannot see the path). File names begin with the id. */
  reference?: 'path' | 'id' | undefined
  /** Bytes of one file. Above it the file is truncated and not complete. Default 64 MiB. */
  maxFileBytes?: number | undefined
  /** Bytes of the whole directory. Above it the oldest files are removed, except those younger than `minAge`. Default
   *  512 MiB. */
  maxTotalBytes?: number | undefined
  /** Milliseconds since the output ended, after which its file is removed. Default 7 days. */
  maxAge?: number | undefined
  /** Milliseconds. No younger file is removed. Default 1 hour. */
  minAge?: number | undefined
}
/** A saved output. `bytes` and `lines` are the size of the full output. `complete` is false if the file holds less: it
 *  reached its quota, is still being written, or its writer died (then they are the size of the file). */
export interface SpillRecord {
  /** 16 hexadecimal digits, random. */
  id: string
  path: string
  bytes: number
  lines: number
  complete: boolean
}
/**
 * Full outputs, found by their ids. Anybody may implement it: wrapTool, OutputCapture and spillTool take any store.
 *
 * createSpillStore keeps a directory, with each output in a file of mode 0600 with its raw bytes. All work is done on
 * other threads. An output is saved once its file has its final name, `ID.TOOL.BYTESb.LINESl.txt`; before that it is `ID.TOOL.part`. A
 * save that fails (ENOSPC, EACCES, EROFS ...) rejects with the system's code and leaves no file. Errors of the store
 * itself have the code ERR_SPILLWAY_SPILL, wrong arguments ERR_SPILLWAY_OPTION.
 */
export interface SpillStore {
  /** Part of a record that notices name. Default 'id'. */
  readonly reference?: 'path' | 'id' | undefined
  /** Saves a text as UTF-8 (lone surrogates as U+FFFD), or bytes as they are; do not change the bytes until the save is
   *  done. Chunks are asked for one after another: a capture waits while 1 MiB is not asked for. If they end in an
   *  error, nothing is kept, and the save rejects with that error. Before its first file, and then once an hour, a store sweeps by itself, with the `retain` of the last
   *  `sweep`. */
  save(text: TextInput | AsyncIterable<Uint8Array>, meta?: SpillMeta): Promise<SpillRecord>
  /** Reads a page by id, never by path: from a line (1-based, default 1) or from a byte (0-based; takes precedence), up
   *  to `lines` lines and `maxBytes` bytes (40_960) of text. A page by line ends at a line end, if it contains one. No
   *  page ends inside a UTF-8 sequence, and each holds at least one code point. Invalid sequences become U+FFFD.
   *  Consecutive pages make up the whole file. A page beyond the end is empty. */
  read(id: string, range?: SpillRange): Promise<SpillSlice>
  /** Finds the lines that contain a plain text, or match a regular expression, in order. Expressions take linear time:
   *  no backreferences and no lookaround. Ignored case, `\w`, `\d`, `\s` and `\b` are Unicode: `é+` with `ignoreCase`
   *  finds "ÉÉ". Returns at most 40_960 bytes of text. A line of over 500 bytes is shown around its match, between marks
   *  "[+N bytes]". A line of over 32 KiB is searched in parts that overlap by 16 KiB. */
  search(id: string, pattern: string, options?: SpillSearch): Promise<SpillMatch[]>
  /** Lists all outputs, oldest first. */
  list(): Promise<SpillRecord[]>
  /** Removes files by age and total size, except the ids in `retain` and files that are still being written. Safe while
   *  other processes sweep, save and read. Counts only the files that this sweep removed. */
  sweep(options?: SweepOptions): Promise<{ removed: number; bytes: number }>
}
/** The producer of an output, for the name of its file and for events. */
export interface SpillMeta {
  tool?: string | undefined
  callId?: string | undefined
}
export interface SpillRange {
  /** First line of the page, 1-based. Default 1. */
  line?: number | undefined
  /** First byte of the page, 0-based. Takes precedence over `line`. */
  byte?: number | undefined
  /** Lines of the page at most. Default: as many as fit. */
  lines?: number | undefined
  /** Bytes of text of the page at most. Default 40_960. */
  maxBytes?: number | undefined
}
export interface SweepOptions {
  /** Ids of outputs to keep, such as those that a conversation still names. */
  retain?: readonly string[] | undefined
}
/** A page of a saved output. */
export interface SpillSlice {
  text: string
  /** Line in which the page begins (1-based). */
  line: number
  /** Byte at which the page begins (0-based). */
  byte: number
  /** Size of the file, which is less than the full output if that is not complete. */
  totalLines: number
  totalBytes: number
  /** Line at which the next page begins. Absent at the end, and if the page ends inside a line. */
  nextLine?: number
  /** Byte at which the next page begins. Absent at the end. */
  nextByte?: number
  /** Record of the output, if the store has it at hand. Without it, the tool of spillTool looks for it in `list()` at the
   *  end of an output. */
  record?: SpillRecord
}
export interface SpillSearch {
  /** Reads the pattern as a regular expression. Default false. */
  regex?: boolean | undefined
  /** Default false. */
  ignoreCase?: boolean | undefined
  /** Lines to show before and after each match. Default 0, at most 100. */
  context?: number | undefined
  /** Matches to return. Default 100, at most 1_000. */
  max?: number | undefined
  /** First line that may match; to continue, the line after the last match. Default 1. */
  line?: number | undefined
}
/** A matching line, without its line end. */
export interface SpillMatch {
  line: number
  /** Position of the match in the file, for `read`. */
  byte: number
  text: string
  before: string[]
  after: string[]
}
/** Message on the diagnostics channel 'spillway:spill', for each output that was saved or could not be. */
export interface SpillEvent {
  tool?: string
  callId?: string
  record?: SpillRecord
  error?: Error
}
/** Creates a store and checks its options. Does not touch the disk before the first save. */
export function createSpillStore(options: SpillOptions): SpillStore
/** Creates a tool that a model can call to read and search saved outputs. Map its four fields to your framework's
 *  names. Its parameters are {id, line?, byte?, lines?, pattern?, regex?}, as a JSON schema. An answer is text of at
 *  most 40_960 bytes, each line numbered and as a terminal would show it, and ends with the position of the next page.
 *  Invalid input is answered with a sentence; nothing throws. As id, the path of a file is accepted too. */
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

/** Step to take before a request: none; compact older history; truncate tool results, the cheapest if it alone makes
 *  the prompt fit with 512 tokens to spare; or both. */
export type Route = 'fits' | 'compact_only' | 'truncate_tool_results_only' | 'compact_then_truncate'

export interface PrecheckInput {
  /** The history, in the shape of any framework. Texts, thinking and calls count, images by their pixels (`provider`);
   *  side data, ids and metadata do not count. */
  messages: readonly unknown[]
  systemPrompt?: string | undefined
  /** The user's current request, if it is not among the messages yet. */
  prompt?: string | undefined
  /** Tool schemas that are sent with the request, counted as their JSON. */
  tools?: unknown
  /** Tokens of the context window, for input and output of one turn together. */
  contextTokens: number
  /** Tokens of the window reserved for the answer. At most a quarter of the window is reserved. */
  reserveTokens: number
  /** Factor applied to estimates. Default 1.1. */
  safetyMargin?: number | undefined
  /** Replaces estimateTokens. Fractions are rounded up. Errors it throws pass through; a result that is not a number
   *  >= 0 is ERR_SPILLWAY_OPTION. */
  countTokens?: ((text: string) => number) | undefined
  /** Tokens that the provider last reported for the first `messages` messages of the history, system prompt and tools
   *  included. Only later messages are then estimated. Ignored if `messages` exceeds the length of the history. */
  lastUsage?: { inputTokens: number; messages: number } | undefined
  /** Chars that one tool result may hold. Default: 30 % of the window in chars (4 a token), at most 16_000, 32_000 from
   *  100k tokens, 64_000 from 200k. */
  perResultMaxChars?: number | undefined
  /** Provider whose way to count an image holds: docs/media.md has the rules. Default: the dearest of the three. An image
   *  whose dimensions its header does not tell, or that is only named by its address, and any other file count 2,000
   *  tokens. */
  provider?: 'anthropic' | 'openai' | 'gemini' | undefined
  /** Bytes that the body of the request may have, as JSON. Above it the route is not 'fits', whatever the tokens.
   *  Providers accept 20 to 50 MB. Default Infinity. */
  maxRequestBytes?: number | undefined
  /** Budget over all tool results. Defaults: `maxChars` is the larger of four results and half the window in chars,
   *  `order` 'oldest', `protectLatest` true, `minKeepChars` 0. */
  aggregate?: (Omit<AggregatePolicy, 'maxChars'> & { maxChars?: number | undefined }) | undefined
}

export interface Precheck {
  route: Route
  estimatedTokens: number
  /** `contextTokens` less the reserve, which is at most a quarter of the window. */
  budgetTokens: number
  overflowTokens: number
  /** Bytes of the request's body, with system prompt and tools. Only if `maxRequestBytes` is given. */
  requestBytes?: number
  /** Chars that truncating all tool results to `minKeepChars` and a notice each would free. */
  reducibleChars: number
  /** Truncations to apply if the prompt does not fit: of results over their own limit; of all results together to
   *  `aggregate`; then as little more as makes the prompt fit, or everything that can be cut if that is not enough.
   *  Empty for 'fits' and 'compact_only'. The result of `applyPlan`, with its own defaults, fits by the same
   *  estimate. */
  plan: readonly PlanStep[]
}

/** Truncation of one tool result: the result in `messages[index]` with this call id (absent: without id) and this
 *  length. Results that share all three have a step each, in order. A step whose `maxChars` equals `chars` changes
 *  nothing. */
export interface PlanStep {
  index: number
  callId?: string | undefined
  /** Chars of all texts of the result now. */
  chars: number
  maxChars: number
  /** Bytes of payloads in blocks of their own, decoded, that the result may keep, the latest first. The words in place of
   *  others do not count towards `maxChars`. Absent: all stay. */
  media?: number | undefined
}

/** Estimates a prompt before it is sent, and finds the cheapest way to make it fit. Counts are remembered with their
 *  messages, so a later call only reads new and changed messages in full. */
export function precheck(input: PrecheckInput): Precheck

/** Truncates the tool results that a plan names. The only limits are those of the steps and those given in `policy`;
 *  `notice` is 'pi' unless given. A result that does not match its step is not changed. Returns the same array if the
 *  plan is empty or nothing matches. */
export function applyPlan<T extends readonly unknown[]>(
  messages: T,
  plan: readonly PlanStep[],
  policy?: ResultPolicy,
): T

/**
 * Kind of a provider's error.
 *  'context_overflow'            more tokens than the context window holds: make the history smaller and send again;
 *  'payload_too_large'           more bytes than the server accepts: make the history smaller in bytes; compaction may
 *                                not help;
 *  'field_too_long'              one text exceeds the length allowed for it: shorten that text;
 *  'request_exceeds_rate_limit'  a single request exceeds the quota of a minute or day: send a smaller one; waiting
 *                                does not help;
 *  'rate_limit'                  wait and send the request again;
 *  'malformed_unicode'           the history has a lone surrogate: `clampMessages` makes it well-formed;
 *  'other'                       anything else, including billing and login.
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
  /** Size of the request, if the error states it: tokens, or bytes for payload_too_large. Includes the room that was
   *  requested for the answer where the provider counts both. */
  actual?: number
  /** Size allowed, in the same unit, if the error states it. */
  limit?: number
  /** Set if `actual` and `limit` count characters. */
  unit?: 'characters'
  /** HTTP status, if the error has one. */
  status?: number
}
/**
 * Classifies a provider's error: docs/errors.md. Accepts an Error, a response body, a string, or an assistant message
 * that ended in an error. A sentence that states both of its numbers decides first, then status and codes, then other
 * words. The error itself is read before its causes.
 *
 * Only errors count, not words about errors: in a string or an Error without a status, a sentence without both numbers
 * must be a statement of its own, behind nothing but labels ("400", "ollama error:", "Turn failed:"). A string in which a
 * person speaks ("Why do I get ...?") and messages of users and tools are always 'other', and so are assistant messages
 * without an error stop reason. `patterns` are tried first, against the same texts. Of a long text the start and the end
 * are read. No error makes this function throw; wrong options do (code ERR_SPILLWAY_OPTION).
 */
export function classifyProviderError(error: unknown, options?: ClassifyOptions): ProviderError
export interface ClassifyOptions {
  /** Tried first, in this order, against the texts of the error. */
  patterns?: readonly { pattern: RegExp; kind: ProviderErrorKind }[] | undefined
}

/**
 * Sends a prompt, and recovers if it is too large: precheck, the cheapest fix, send. After a reported overflow it
 * compacts, at most `maxCompactions` times, then truncates (to "[...]" if necessary) while anything is left to cut,
 * then rejects with ContextOverflowError. After a refusal without numbers, each truncation leaves at most half of the
 * last estimate. Requests above a rate limit are reduced in the same way; those of too many bytes by their bytes, and
 * truncated before they are compacted. docs/context.md describes the states.
 *
 * It always ends. A step that leaves more than 95 % of the lowest estimate so far is not repeated before the next
 * refusal, after a refusal only a smaller prompt is sent, and there are at most `maxCompactions` + 2 sends. If no step
 * makes the prompt fit, it is still sent once: estimates run high, so the provider decides. Errors of hooks pass
 * through, as do rejections of `send` for any other reason. An abort rejects with `signal.reason` at once, even while a
 * hook hangs.
 */
export function runWithRecovery<R, M = unknown>(hooks: RecoveryHooks<R, M>): Promise<R>
/** Hooks and options of runWithRecovery. `lastUsage` counts until the first compaction or truncation. `countTokens` is
 *  called once for each text. */
export interface RecoveryHooks<R, M = unknown> extends Omit<PrecheckInput, 'messages'> {
  /** Returns the current history. Called before every attempt and after every step. */
  messages: () => readonly M[] | PromiseLike<readonly M[]>
  /** Sends these messages; adding the system prompt and tools is up to it. If nothing was cut, `messages` is the array
   *  of the history itself. After a compaction or a truncation its calls and results are paired by repairToolPairs. `signal` is that of the run, or one that never aborts. A rejection is classified, and so is
   *  an assistant message that ended in an error as its result (Pi never throws). */
  send: (messages: M[], context: { attempt: number; signal: AbortSignal }) => PromiseLike<R>
  /** Makes older history smaller. Returns false if it could not; then it is not called again. `actualTokens`: the
   *  provider's count, if it reported one. */
  compact?:
    | ((state: { attempt: number; overflowTokens: number; actualTokens?: number }) => PromiseLike<boolean>)
    | undefined
  /** Stores the truncation. If it returns false, or the history is not smaller afterwards, it is not called again, and
   *  recovery compacts; without `compact` it cuts only the messages that are sent. Without this hook the plan is always
   *  applied to the messages that are sent. A result stays cut in the same way for the whole run, so prompt caches
   *  hold. */
  truncate?: ((plan: readonly PlanStep[]) => PromiseLike<boolean>) | undefined
  /** Compactions before and after a send together. Default 3. */
  maxCompactions?: number | undefined
  /** Called with every decision. Errors it throws are ignored. The same events go to the channel 'spillway:recovery' of
   *  node:diagnostics_channel. */
  onEvent?: ((event: RecoveryEvent) => void) | undefined
  signal?: AbortSignal | undefined
}
export interface RecoveryEvent {
  /** 'overflow': the provider refused the prompt. All other types are reported before the step is taken. */
  type: 'precheck' | 'compact' | 'truncate' | 'send' | 'overflow' | 'give_up'
  /** Number of the send that this step leads to, from 1; for 'overflow' and 'give_up' the last send. */
  attempt: number
  route?: Route
  /** After a refusal, scaled so that the refused prompt does not fit. */
  estimatedTokens?: number
  /** Reason for this step, and against the alternatives. */
  reason?: string
}
/** Thrown if nothing is left to reduce, or no send is left. `cause` is the last refusal. `attempts` and `precheck` are
 *  not enumerable, so the error prints short. */
export class ContextOverflowError extends Error {
  readonly code: 'ERR_SPILLWAY_CONTEXT_OVERFLOW'
  /** All events, in order. */
  readonly attempts: readonly RecoveryEvent[]
  /** The last precheck. */
  readonly precheck: Precheck
  constructor(
    message: string,
    options: { attempts: readonly RecoveryEvent[]; precheck: Precheck; cause?: unknown },
  )
}

// ── Sessions ─────────────────────────────────────────────────────────────────────────────────────────────

/** Options of guardSession. Unless given, `keep` is 'auto', `notice` 'hint', `sideData` 'cap', and `query` what the last
 *  32 messages and the last with words of the user say. */
export interface GuardOptions extends ResultPolicy {
  /** Method of the manager that stores a message, its first argument. Default 'appendMessage'. */
  method?: string | undefined
  /** Runs after a first cap, on messages that are or carry tool results, with the call id and tool name of the first
   *  result. Its return value is capped again. Synchronous: if it throws, or does not return a message (undefined, a
   *  promise), it is ignored. */
  transform?: ((message: unknown, meta: { toolCallId?: string; toolName?: string }) => unknown) | undefined
  /** Runs last, on every message. Returns the message to write, or false to write nothing (appendMessage then returns
   *  undefined). Its return value is capped too, and ignored in the same cases as that of `transform`. */
  beforeWrite?: ((message: unknown) => unknown | false) | undefined
  /** Bytes of a message with tool results as JSON, without the payloads of its images, audio and files: the last line
   *  of defence. Reduced in this order: side data, members and blocks that no dialect knows, text, other members around
   *  the results, and blocks from the end. A payload that no dialect knows, such as the base64 of an unknown block, is
   *  kept whole or replaced by its size (see `sideData`). The bound holds from 2 KiB for each result of a message;
   *  below that every result is still kept. Other messages are never changed. Default 262_144. */
  maxRowBytes?: number | undefined
  /** Changes the message itself, because agents (Pi up to 0.74) send the object that they store. A message that cannot
   *  be changed (frozen) is copied; if a hook returns an object of another class, that object is written. Default
   *  true. */
  inPlace?: boolean | undefined
  /** Called after each cut of a text, never with content. */
  onClamp?: ((event: ClampEvent) => void) | undefined
}
/** Clamps the messages of one manager before its `appendMessage`, or another method, stores them. An override that is
 *  already there keeps working, and no prototype is patched. Guarding the same method again replaces the options and
 *  returns the same guard. The guard itself never throws out of an append; errors of the manager (disk full) pass
 *  through. */
// biome-ignore lint/suspicious/noExplicitAny: managers name their own messages
export function guardSession<S extends { appendMessage(message: any, ...rest: any[]): any }>(
  manager: S,
  options?: GuardOptions,
): Guard
export function guardSession(manager: object, options: GuardOptions & { method: string }): Guard
export interface Guard {
  /** Restores the original method. If another override was installed after the guard, that stays, and the guard lets
   *  every message pass unchanged. */
  uninstall(): void
  /** Messages that were changed before they were written. */
  readonly clamped: number
}

/** Options of repairSession. Unless given, `notice` is 'pi' and `sideData` 'cap'. Unless `maxSideBytes` is given, side
 *  data of up to 9_216 bytes is kept: no row is rewritten to save so little. A function as `notice` or `query` is
 *  ERR_SPILLWAY_OPTION, since it cannot run on another thread. `dialect` selects results by their tags: rows of other
 *  dialects are not changed. */
export interface RepairOptions extends ResultPolicy {
  /** Budget over all tool results of the active branch. In Pi sessions from version 2 on, the branch runs from the last
   *  row to its root, or to the first row that its last compaction keeps. In other files it is all rows in order,
   *  without Claude Code's sidechains. Cannot be combined with `plan`. */
  aggregate?: AggregatePolicy | undefined
  /** Plan to apply instead of `aggregate` and `media`. Steps are matched by call id and present length; by index and length only in
   *  files of plain messages. Steps without a match are ignored and counted in `unmatched`. */
  plan?: readonly PlanStep[] | undefined
  /** Keeps the file as it was before its first repair as `<file>.bak`, which is never overwritten, and as it was before
   *  its latest repair as `<file>.bak.latest`. Both are the original file itself, under one name or two, beside the
   *  target if the path is a symbolic link. A repair that fails or is aborted makes no backup. Default true. */
  backup?: boolean | undefined
  /** Treatment of rows that are not JSON. 'keep' (default) keeps them byte for byte. 'mend' reads the rows that they
   *  still hold: rows glued together are split, runs of NUL bytes omitted, and rows that a raw newline broke joined.
   *  Nothing is closed and nothing invented: what is not JSON by itself goes to `<file>.damaged`, a line each, which
   *  later repairs append to. Documents of one JSON value are not mended. */
  damaged?: 'keep' | 'mend' | undefined
  /** Gives a result to every tool call of the active branch that has none: one that says so, as `repairToolPairs` puts in.
   *  It becomes a row after the call's, an element of a document's list, or a member of the call, as the format has it;
   *  the row that follows then names the new one. Calls that the format has no way to give a result are counted in
   *  `unpaired`: those in rows of Pi without ids. Default false. */
  pairs?: boolean | undefined
  /** Reports the effect of a repair without a lock and without writing. Default false. */
  dryRun?: boolean | undefined
  /** False if the caller already holds `<file>.lock`. Default true; if this process already holds the lock, the call
   *  then fails at once. */
  lock?: boolean | undefined
  /** Milliseconds to wait for the file's lock. Default 10_000. */
  lockTimeout?: number | undefined
  /** Aborts until the file is replaced. The call then rejects with `signal.reason` and leaves no file behind. */
  signal?: AbortSignal | undefined
  /** Called some 20 times a second while work goes on, and once at the end. Errors it throws are ignored. */
  onProgress?:
    | ((progress: { bytes: number; totalBytes: number; rows: number; clamped: number }) => void)
    | undefined
}
export interface RepairReport {
  /** True if the file was replaced. Always false in a dry run; its other figures are those of a real repair. */
  changed: boolean
  /** Rows of the file, without blank ones. */
  rows: number
  /** Rows in which a tool result, or other content of one, was cut. */
  clamped: number
  /** Rows that are not JSON, as `inspectSession` counts them. They are kept byte for byte, or mended. */
  damaged: number
  /** True if the file did not end in a newline. It then gets one, so that the next append does not join its last
   *  row. */
  tornTail: boolean
  /** Calls that were given a result. Absent if there are none. */
  paired?: number
  /** Calls without a result that the format has no way to give one. Absent if there are none. */
  unpaired?: number
  bytesBefore: number
  bytesAfter: number
  /** Steps of the plan that matched no result. */
  unmatched: number
  /** Payloads that words replaced. Absent if there are none. */
  media?: MediaCount
  /** Path of the original file: `<file>.bak` after its first repair, `<file>.bak.latest` after later ones. */
  backupPath?: string
  /** Path of `<file>.damaged`, if something was put there. */
  damagedPath?: string
  /** Rows restored that were appended while an earlier repair replaced the file and was killed. Absent if 0. */
  recovered?: number
  /** Reason why nothing was repaired. 'damaged rows': nothing to do but in rows that are not JSON, and a result in one
   *  may be over the limits (see `damaged` of the options). 'format unknown': no row belongs to a known session format
   *  (see `inspectSession`). */
  reason?: 'nothing to do' | 'empty session' | 'dry run' | 'damaged rows' | 'format unknown'
}
/** Repairs a session of any size off the main thread: rows of JSON (Pi and OpenClaw 7, Claude Code, Codex, Copilot CLI,
 *  Gemini CLI, messages of any dialect), or one JSON value (Cline, Roo Code, OpenCode, older Gemini CLI, a list of
 *  messages), which has to fit in memory. Only content over the limits is rewritten, within string literals, JSON with its tag, and side data.
 *  Every other byte is kept, and so are the number and order of rows. Repairing twice changes nothing more.
 *
 *  The file is replaced in one step (temporary file, fsync, exchange of the names, directory fsync), with its owner,
 *  its mode and, on Linux, its access list and extended attributes: a crash at any instant leaves the old file or the
 *  new. Memory is bounded by the longest row. Rows appended meanwhile by a writer without a lock are carried over and
 *  clamped; if the repair is killed first, the next one restores them. docs/sessions.md describes the instant in which
 *  such a row can be lost.
 *
 *  Rejects with ERR_SPILLWAY_LOCKED if `<file>.lock` is held by another process, ERR_SPILLWAY_CHANGED if the file was
 *  replaced or modified other than by appending, ERR_SPILLWAY_ATTRIBUTE if an extended attribute cannot be kept,
 *  ERR_SPILLWAY_FORMAT if the file does not consist of rows, and the system's own codes. */
export function repairSession(path: string, options?: RepairOptions): Promise<RepairReport>

/** Format of a session. 'messages': messages of any dialect, as rows or as one list. OpenClaw's sessions are 'pi', Roo
 *  Code's 'cline'. */
export type SessionFormat =
  | 'pi'
  | 'claude-code'
  | 'codex'
  | 'copilot'
  | 'gemini-cli'
  | 'cline'
  | 'opencode'
  | 'messages'
  | 'unknown'

export interface SessionReport {
  format: SessionFormat
  /** Rows of the file, without blank ones; the messages of a document. */
  rows: number
  bytes: number
  toolResults: number
  /** Size of tool-result text by tool, largest first. `tool` is "unknown" if neither result nor call names it. */
  byTool: { tool: string; results: number; chars: number; bytes: number }[]
  /** The largest results. `row` is the line of the file, or the message of a document, 1-based. */
  largest: { row: number; tool?: string; callId?: string; chars: number; bytes: number }[]
  /** Payloads of tool results, in blocks of their own and as base64 in texts. Absent if there are none. */
  media?: MediaCount
  /** Results that the policy would cut. */
  oversized: number
  /** Rows that are not JSON, without blank ones. */
  damaged: number
}
/** Reports which tools and results take up a session, with its `top` (10) largest results. Reads only, off the main
 *  thread. */
export function inspectSession(path: string, options?: InspectOptions): Promise<SessionReport>
/** Options of inspectSession. The policy decides which results count as oversized, apart from `media`. */
export interface InspectOptions extends ResultPolicy {
  signal?: AbortSignal | undefined
  /** Largest results to report. Default 10. */
  top?: number | undefined
}

// ── Errors and events ────────────────────────────────────────────────────────────────────────────────────
// Every error has a stable `code`: ERR_SPILLWAY_OPTION for wrong arguments, ERR_SPILLWAY_CONTEXT_OVERFLOW,
// ERR_SPILLWAY_LOCKED, ERR_SPILLWAY_CHANGED, ERR_SPILLWAY_ATTRIBUTE, ERR_SPILLWAY_FORMAT, ERR_SPILLWAY_SPILL, or Node's
// own system code (ENOSPC ...).
// diagnostics_channel: 'spillway:clamp', 'spillway:spill', 'spillway:recovery', 'spillway:repair' (the report of a
// repair, with its `path`), 'spillway:warning'. They cost nothing without subscribers.

/** Message on the diagnostics channel 'spillway:warning': a wrong value, for which spillway/pi or spillway/openclaw uses
 *  another, as the original does. Sent once for each field and value. */
export interface OptionWarning {
  field: string
  value: unknown
  used: unknown
}
