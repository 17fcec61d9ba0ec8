/**
 * spillway bounds what tools return before a language model reads it.
 *
 * "chars" are UTF-16 code units (`string.length`); bytes are UTF-8 bytes; a newline ENDS a line:
 * "a\nb\n" and "a\nb" have two lines, "" has 0. Cost grows with the limits, not with the input,
 * except for reports, totals in notices, `maxLineBytes`, limits in lines or tokens alone, and keep
 * 'findings', 'relevant' and 'auto', which read the input once. docs/ explains what this page
 * states; a comment names its page.
 *
 * Guarantees of every function that returns clamped text, for any input:
 *  G1  every limit that is set holds for the FINAL text, notice included;
 *  G2  the text is well-formed Unicode: no cut splits a surrogate pair or a UTF-8 sequence, and
 *      lone surrogates become U+FFFD, even in a text that fits;
 *  G3  well-formed input within the limits is returned as is (`===`). A result that fits is copied
 *      only if plain data in it has accessors, a `toJSON` or a proxy;
 *  G4  the kept text is an exact substring of the input, after cleaning, redaction, truncation of
 *      long lines and well-forming;
 *  G5  idempotent: clamp(clamp(x)) === clamp(x). A notice of an earlier cut is recognized, and the
 *      new notice counts from the ORIGINAL total (docs/options.md#notices);
 *  G6  tight: with keep 'head' or 'tail' and snap 'char', one more code point would exceed a limit,
 *      or cut into a mark, an earlier notice or a line that says how to continue;
 *  G7  a notice is never cut. If it does not fit, "[... N more characters truncated]" replaces it,
 *      then "[...]", then nothing;
 *  G8  deterministic: no clock and no randomness in text that a model reads, except the ids of
 *      saved outputs;
 *  G9  inputs are not mutated, and a result does not keep a large input in memory. Exceptions:
 *      clampError changes its argument, and Node 24 retains the message an error was made with;
 *  G10 no content makes a function throw; only wrong options do.
 */

import type { ChildProcess } from 'node:child_process'
import type { Writable } from 'node:stream'

// ── Limits and policy ───────────────────────────────────────────────────────────────────────────

/** Upper bounds, all of which hold at once. `Infinity` lifts a bound, 0 keeps nothing. Any other
 *  value that is not a safe integer >= 0 throws a TypeError or RangeError with code
 *  ERR_SPILLWAY_OPTION that names the field and the value. */
export interface Limits {
  /** UTF-8 bytes of the result. Default 51_200 (50 KiB). */
  maxBytes?: number | undefined
  /** Lines of the result. Default 2_000. */
  maxLines?: number | undefined
  /** UTF-16 code units of the result. Default Infinity. */
  maxChars?: number | undefined
  /** Tokens of the result, as `estimateTokens` counts them. Default Infinity. */
  maxTokens?: number | undefined
  /** UTF-8 bytes of each line, without its "\n" or "\r\n". A longer line is truncated and ends in
   *  "[+N chars]", which counts towards the limit. Default Infinity. */
  maxLineBytes?: number | undefined
}
export type LimitName = 'bytes' | 'lines' | 'chars' | 'tokens' | 'lineBytes'

/**
 * Part of a text that survives a cut. docs/what-survives.md explains the last three.
 *  'head', 'tail'  the beginning, the end;
 *  'ends'          both (see headShare);
 *  'auto'          both ends, the lines that explain a failure, and lines with rare words of
 *                  `query`, in document order, with a mark such as "[... 1,234 lines ...]" in each
 *                  gap. A known error, a log and the output of a failed command leave findings all
 *                  the room but the ends. Without any such line, or under 64 chars or bytes: 'ends';
 *  'findings'      'auto' for a known error;
 *  'relevant'      'auto' without the lines that explain a failure.
 */
export type Keep = 'head' | 'tail' | 'ends' | 'findings' | 'relevant' | 'auto'

/** Counts and names of one cut, for a notice. Fields that need a pass over the whole input are
 *  computed when read. */
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
 * Text at a cut that says how much is missing: docs/options.md#notices.
 *  'hint'   "[tool output truncated: 5,159,358 of 5,210,412 chars omitted (limit 50KB or 2,000
 *           lines); ask for less, or for specific sections]", and where the output was saved;
 *  'pi'     "[... N more characters truncated]"; 'count' "... (N chars truncated from SOURCE)";
 *  false    none.
 * Any other string is a template with at least one {field} of a Cut, or {limits};
 * "{omittedChars:,}" groups digits. An unknown {field} is ERR_SPILLWAY_OPTION. A function that
 * throws or returns no string counts as a notice that does not fit (G7).
 */
export type Notice = 'hint' | 'pi' | 'count' | false | (string & {}) | ((cut: Cut) => string)

/** Text that says what was asked, or a function of the arguments of a call that returns it. */
export type Query =
  | string
  | readonly string[]
  | false
  | ((args: readonly unknown[]) => string | readonly string[] | undefined)

export interface PolicyOptions extends Limits {
  /** Part of the text that stays: 'head' or 'tail', one end; 'ends', both; 'findings', lines that
   *  explain a failure; 'relevant', lines that answer `query`; 'auto' (default), findings and
   *  relevant lines, by how much the text tells of a failure. */
  keep?: Keep | undefined
  /** Share of the room that the head gets with 'ends', from 0 (like 'tail') to 1 (like 'head').
   *  Default 0.5. If only one end fits, the end with the larger share; at 0.5, the tail. */
  headShare?: number | undefined
  /** Strings that make a line a finding, such as the name of a test. Matched literally and
   *  case-sensitively; an empty string is an error. The first eight lines with a needle are kept
   *  before all others, unless a line alone is over the limits. */
  needles?: readonly string[] | undefined
  /** Text that says what was asked, for 'relevant', 'auto' and 'findings': a string, or several,
   *  the first weighing most. false asks nothing. A function gets the arguments of the call, once
   *  for each result that is cut; where no call is known, it is not called, and if it throws,
   *  nothing is asked. Default: for wrapTool the strings in the arguments; for a history also the
   *  user's last words before the call; else nothing. */
  query?: Query | undefined
  /** Marks the text as the output of a failure, for 'auto'. Default false; clampResult, wrapTool
   *  and captures detect it. */
  isError?: boolean | undefined
  /** 'line' (default) moves a cut back to a line end if that costs at most a fifth of that side's
   *  room; 'char' never does. */
  snap?: 'line' | 'char' | undefined
  /** Default 'hint'. */
  notice?: Notice | undefined
  /** For clampTextWithReport: adds `reasons` and `dropped` to the report. The text is the same.
   *  Default false. */
  explain?: boolean | undefined
  /** Name of the text in notices. Default "output". */
  source?: string | undefined
  /** Cleans texts before the limits apply, as cleanText does: G3, G4, totals and ranges hold for
   *  the cleaned text. Text that is JSON is not cleaned, and no text is emptied. Default false. */
  clean?: boolean | CleanOptions | undefined
  /** Replaces secrets by marks before all else, as redactText does: notices, events and saved
   *  outputs know the text without its secrets only. docs/redact.md says which members of results
   *  and errors are read. Wrapping a tool again redacts what either policy names. Default false. */
  redact?: boolean | RedactOptions | undefined
}
/** A checked, frozen policy, accepted wherever options are. Every function ignores options of other
 *  functions of this package, so one object can serve all. An unknown name throws a TypeError with
 *  code ERR_SPILLWAY_OPTION ("unknown option `maxByte`; did you mean `maxBytes`?"), also within a
 *  nested option. A known option with the value undefined counts as not given. spillway/openclaw,
 *  /pi and /daycare ignore unknown names. A spread copy of a policy is plain options again. */
export interface Policy extends Readonly<WrapPolicy> {
  readonly maxBytes: number
  readonly maxLines: number
}
/** Checks options once. Throws a TypeError or RangeError with code ERR_SPILLWAY_OPTION. */
export function definePolicy(options?: WrapPolicy): Policy

// ── Text ────────────────────────────────────────────────────────────────────────────────────────

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
  /** Size of the kept input, without the notice. A line kept in part counts, unless only its mark
   *  is left. */
  kept: TextSize
  omitted: TextSize
  /** Kept parts of the input as [start, end) in chars. */
  ranges: [number, number][]
  /** The notice in `text`, "" if there is none. */
  notice: string
  /** With `explain`: one reason for each kept line, in order. Empty if nothing was omitted. */
  reasons?: LineReason[]
  /** With `explain`: the omitted lines that a larger limit would keep first for their score, at
   *  most 20, the next first. Empty if the text was not searched. */
  dropped?: LineReason[]
}
/** The reason to keep a line. */
export interface LineReason {
  /** Number of the line in the input (with `clean`, in the cleaned text), from 1. */
  line: number
  /** The stream that took the line or its first kept part: 'head' and 'tail' for its place, also in
   *  a cut that does not search; 'needles' for one of `needles`; 'findings' for words of failure;
   *  'context' and 'around' for a finding beside it; 'tallies' for a result that it states;
   *  'before' for standing before the last of these; 'answers' for words of `query`, its own or of
   *  the line beside it; 'names' for names and words that no kept line had; 'gap' if it takes no
   *  more room than the mark in its place. */
  stream:
    | 'head'
    | 'tail'
    | 'needles'
    | 'findings'
    | 'context'
    | 'around'
    | 'tallies'
    | 'before'
    | 'answers'
    | 'names'
    | 'gap'
  /** Points that decide the order within a stream, to compare within it alone: for 'findings', and
   *  for lines beside one, the score of the finding, halved for each line like it before; for
   *  'answers' what the line has of the question; for 'names' the worth of its new names. 0 for all
   *  others. */
  score: number
}

/** Truncates `text` to the policy. Bytes are read as UTF-8 without copying the whole input; invalid
 *  sequences become U+FFFD, and a byte order mark is kept. */
export function clampText(text: TextInput, policy?: PolicyOptions): string
/** Like `clampText`, with exact totals, which takes a pass over the input. */
export function clampTextWithReport(text: TextInput, policy?: PolicyOptions): ClampReport
/**
 * JSON within the limits that still parses: docs/json.md. A string or bytes are text that may be
 * JSON, any other value becomes its JSON. JSON that fits is returned as it is; other JSON without
 * white space. Long strings are shortened and end in "[+N chars]", then arrays lose elements, then
 * objects lose members. Where nothing fits, `[]`, `{}` or `""` is left, below two bytes "". Text
 * that is not JSON is cut as clampText cuts it.
 */
export function clampJson(json: unknown, policy?: JsonPolicy): string
/** Like `clampJson`, with counts of what is missing. What an omitted element or member contains is
 *  not counted. */
export function clampJsonWithReport(json: unknown, policy?: JsonPolicy): JsonReport
export interface JsonPolicy extends PolicyOptions {
  /** A JSON schema of any draft from 4 on, with references within itself. The result validates
   *  against it if the input did. If the limits leave no room for that, the schema is ignored. */
  schema?: object | undefined
}
export interface JsonReport {
  text: string
  /** False if nothing but white space was omitted. */
  truncated: boolean
  total: TextSize
  /** Size of `text`; of text that is not JSON, as in ClampReport. */
  kept: TextSize
  omittedElements: number
  shortenedStrings: number
  droppedMembers: number
  /** With `schema`: false if the limits left no room for JSON that validates. The input itself is
   *  not validated. */
  validates?: boolean
}
/** Measures a text exactly, in one pass. For a Uint8Array: its own length in bytes, and the chars
 *  and lines of the decoded text. */
export function measureText(text: TextInput): TextSize
/** Estimates tokens in one pass, erring on the high side: between 15 % low and 50 % high of
 *  o200k_base for every kind of text in docs/tokens.md. A text is never estimated lower than a head
 *  of it, nor higher than the sum of its lines. */
export function estimateTokens(text: TextInput): number
/** Renders text as a terminal would show it: docs/options.md#cleaning. Removes escape sequences and
 *  control characters, applies carriage returns, backspaces and cursor movements, and folds three
 *  or more equal lines. Returns the same string if there is nothing to clean. Idempotent under the
 *  same options. */
export function cleanText(text: TextInput, options?: CleanOptions): string
/** Replaces secrets by "[redacted: KIND]": docs/redact.md lists the kinds. A secret is at most
 *  64 KiB. Returns the same string if there are none. A second pass changes nothing, unless one of
 *  `patterns` matches at the ends of a mark. */
export function redactText(text: TextInput, options?: RedactOptions): string
export interface RedactOptions {
  /** Kinds of docs/redact.md, such as 'github token'. Default: all. Any other is a RangeError with
   *  code ERR_SPILLWAY_OPTION. */
  kinds?: readonly string[] | undefined
  /** Secrets of your own, besides `kinds`: a regular expression of Rust's `regex` (no look-around),
   *  whose whole match is the secret, and the kind that the mark states. */
  patterns?: readonly { kind: string; pattern: string }[] | undefined
}
/** Steps of cleaning. All default to true. */
export interface CleanOptions {
  /** False keeps escape sequences as they are; they neither move the cursor nor erase. */
  ansi?: boolean | undefined
  /** False keeps carriage returns and backspaces as they are; sequences neither move the cursor nor
   *  erase. */
  carriageReturns?: boolean | undefined
  /** False keeps other control characters, each one column wide. */
  control?: boolean | undefined
  /** False keeps repeated lines. */
  repeats?: boolean | undefined
}

// ── Tool results ────────────────────────────────────────────────────────────────────────────────

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
  /** Division of the limits among the text blocks of ONE result. 'fair' (default): small blocks are
   *  kept whole, large ones share the rest; 'order': first come, first served; 'each': every block
   *  has the limits to itself. */
  share?: 'fair' | 'order' | 'each' | undefined
  /** Treatment of side data: copies beside the text that are not sent to a model (Pi `details`,
   *  LangChain `artifact`, MCP `structuredContent`). 'keep' (default) keeps them by reference;
   *  `{ maxBytes }` keeps that many bytes of the JSON of each copy and records the original size
   *  (`spillway.originalBytes`); 'cap' is `{ maxBytes: 8_192 }`; 'drop' removes them.
   *  docs/results.md#side-data says what stays, and what MCP servers and clients need. */
  sideData?: 'keep' | 'cap' | 'drop' | { maxBytes: number } | undefined
  /** Copies to keep of an MCP result whose `content` repeats its `structuredContent`: both
   *  (default), the text, or the structured content, after which limits of texts no longer apply.
   *  All other results stay as they are. docs/frameworks.md#what-is-sent-twice. */
  structured?: 'both' | 'text' | 'structured' | undefined
  /** Form of JSON that is over the limits. 'text' (default): cut like any text, and tags that
   *  announce JSON announce text. 'keep-shape': cut as clampJson cuts it, so that it parses and
   *  data stays data; a result that is JSON alone then carries no notice. A last block of text says
   *  what is missing of an MCP `structuredContent`. docs/json.md. */
  json?: 'text' | 'keep-shape' | undefined
  /** With `json: 'keep-shape'`: the JSON schema of what the tool returns, as
   *  `JsonPolicy.schema`. */
  schema?: object | undefined
  /** Default: detected from the shape of the value, by its tags alone, never by instanceof. */
  dialect?: DialectName | undefined
  /** Budget of images, audio and files: of one result, and in clampMessages and repairSession of
   *  all results together. Default: all payloads stay. docs/media.md. */
  media?: MediaOptions | undefined
}

/** Payloads are images, audio and files in blocks, and base64 in texts. A payload over the budget
 *  is omitted whole, and a text such as "[... 1,048,576 bytes of image/png 1280x720 omitted]" takes
 *  its place and counts towards the limits. References (addresses, ids of files) stay. */
export interface MediaOptions {
  /** Bytes of all payloads together, decoded. Default Infinity. */
  maxBytes?: number | undefined
  /** Payloads. Default Infinity. */
  maxItems?: number | undefined
  /** End at which omission starts; a payload that still fits beside those kept so far stays.
   *  Default 'oldest'. */
  order?: 'oldest' | 'newest' | undefined
  /** Provider whose limits for one request apply too: the size of one image in bytes and pixels,
   *  the number of images and documents, and the bytes of all (docs/media.md). In clampMessages and
   *  repairSession messages of the user count as well; a payload of theirs is omitted if the
   *  provider rejects it by itself or, at last, if omitting every payload of a tool is not enough.
   *  Default: no limits of a provider. */
  provider?: MediaProvider | undefined
}
/** A provider whose limits for images and files are known. */
export type MediaProvider = 'anthropic' | 'openai' | 'gemini' | 'bedrock'
/** The limit for which a payload is omitted: `maxBytes` or `maxItems`; the size of one image, in
 *  bytes or pixels; pixels of an image among many; the number of images; the size of one document,
 *  and their number; the bytes of a request. */
export type MediaReason =
  | 'budget'
  | 'image_bytes'
  | 'image_pixels'
  | 'many_images_pixels'
  | 'images'
  | 'document_bytes'
  | 'documents'
  | 'request_bytes'
/** A payload that a provider rejects in a request. */
export interface RefusedMedia {
  /** The index of its message. */
  index: number
  from: 'tool' | 'user'
  kind: 'image' | 'document' | 'file'
  reason: MediaReason
  /** Bytes of the payload, decoded. */
  bytes: number
  /** Pixels of an image. Absent if its header does not tell them. */
  width?: number
  height?: number
}
/** A payload of a stored session that a provider rejects. */
export interface RefusedRow extends Omit<RefusedMedia, 'index'> {
  /** The line of the file, 1-based. */
  row: number
  provider: MediaProvider
}
/** A number of images, sounds and files, and their bytes, decoded. */
export interface MediaCount {
  items: number
  bytes: number
}

/** Clamps one tool result, tool message or provider message of any dialect: a string, a
 *  `{content: [...]}`, or a message that carries several results, each of which has the limits to
 *  itself. Order, ids, image blocks (by reference) and metadata are kept, no result is dropped, and
 *  messages without a tool result are returned as they are. Plain data over the limits becomes its
 *  JSON text, clamped, so a value of type `T` may be a string. docs/results.md. */
export function clampResult<T>(result: T, policy?: ResultPolicy): T
/** Shortens the SAME error object: `message` to the policy, `stack` to at most 20 frames, `cause`
 *  and `errors` likewise to depth 5. `JSON.stringify(error)`, `util.inspect(error)` and
 *  `String(error)` are each at most four times `maxBytes` and `maxChars`, whatever is attached to
 *  the error. A frozen error is returned as a new error of the same prototype, name and code, and
 *  any other thrown value as a copy within the limits themselves. docs/results.md#errors. */
export function clampError<E>(error: E, policy?: PolicyOptions): E

/**
 * Wraps a tool: its results, partial updates and thrown errors are clamped. Accepts an object with
 * `execute`, `invoke` or `func`, or a plain function; keeps `this`, all arguments, the prototype,
 * and whether a call is sync, async or a generator. Options are checked here, not when the tool
 * runs. Wrapping a tool again never loosens its limits. A cut may turn an object into text, so code
 * that calls such a tool itself should check `typeof` first. docs/results.md#wrapped-tools.
 */
export function wrapTool<T extends object>(tool: T, policy?: WrapPolicy): T
export interface WrapPolicy extends ResultPolicy {
  /** Method to wrap. Default: the first of execute, invoke, func that is a function. */
  method?: string | undefined
  /** Store for the full output of a result that was cut: its texts joined by newlines, or the
   *  message of a thrown error, before cleaning. The notice then names it, or says why it could not
   *  be saved. Only tools that return a promise can save; for others the notice says "could not be
   *  saved (ERR_SPILLWAY_SPILL)". The same text of the same call is saved once. */
  spill?: SpillStore | undefined
  /** Called after each cut, never with content. Errors it throws are ignored. The same events are
   *  published on the channel 'spillway:clamp' of node:diagnostics_channel. */
  onClamp?: ((event: ClampEvent) => void) | undefined
}
/** One cut of a result, a partial update or a thrown error. Sizes are totals over all texts of the
 *  result. */
export interface ClampEvent {
  tool?: string
  callId?: string
  phase: 'result' | 'update' | 'error'
  total: TextSize
  /** Size of the original text that was kept, without notices, but with the sizes that replace
   *  payloads. */
  kept: TextSize
  exceeded: LimitName[]
  /** Omitted payloads, which are an event of their own: `exceeded` is then empty. */
  media?: MediaCount
}
/** Wraps every tool of an array or record, under one policy, or each under the policy that a
 *  function returns for it (undefined: not wrapped), such as 'tail' for a shell and 'head' for a
 *  file reader. */
export function wrapTools<
  T extends readonly object[] | (object & { [K in keyof T]: object }),
  P extends WrapPolicy | undefined = WrapPolicy | undefined,
>(tools: T, policy?: WrapPolicy | (((name: string, tool: object) => P) & OnlyOptions<P>)): T
/** Makes TypeScript reject a function that returns policies with unknown options; by itself it
 *  accepts them. */
type OnlyOptions<P> =
  Exclude<P extends unknown ? keyof P : never, keyof WrapPolicy> extends infer Name
    ? [Name] extends [never]
      ? unknown
      : string extends Name
        ? unknown
        : { 'no option': Name }
    : never

/** Makes a copy for people's screens, never for a model and not as a limit on stored data. Text
 *  blocks are truncated to `maxChars`, the texts of an error result to their first line and
 *  `maxErrorChars`, notices included. Images, audio and files become `{bytes, omitted: true}`. An
 *  Error is returned as a new error of the same prototype, name and code, without frames and
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

// ── Histories ───────────────────────────────────────────────────────────────────────────────────

/** Clamps every tool result of a history under the policy (`notice` 'pi' unless given), then all of
 *  them together under `aggregate`. Returns the same array if nothing changed, and messages without
 *  a tool result as they are. `clamped` counts the results that changed. */
export function clampMessages<T extends readonly unknown[]>(
  messages: T,
  options?: MessagesPolicy,
): { messages: T; clamped: number }
export interface MessagesPolicy extends ResultPolicy {
  aggregate?: AggregatePolicy | undefined
}
/** A budget over all tool results of a history. Older results are reduced one after the other, only
 *  as far as the budget needs: to `minKeepChars`, then to a notice. The newest share what is left:
 *  small ones stay whole, the others get equal room. If that is less than a notice, older results
 *  become "[...]". */
export interface AggregatePolicy {
  /** Chars that all tool results together may hold. Always holds, except that each result keeps at
   *  least "[...]". */
  maxChars: number
  /** End of the history at which reduction starts. Default 'oldest'. */
  order?: 'oldest' | 'newest' | undefined
  /** Reduces the newest results, those after the last message of the model, only when nothing else
   *  is left. A message that ended in an error does not count. If false, they are reduced like
   *  older ones. Default true. */
  protectNewest?: boolean | undefined
  /** Chars of content that each result keeps if possible; the newest may have to share less.
   *  Default 2_000; 0 leaves only a notice. */
  minKeepChars?: number | undefined
}

/** Gives every tool call one result, where its provider requires it, and every result its call.
 *  Returns the same array if it is sound; otherwise messages before the first fault stay the same
 *  objects. A result moves to the call of its id, a missing result is put in, and ids that the
 *  provider rejects are changed in calls and results alike. `repaired` counts what was put in,
 *  moved, removed, renamed or joined. docs/tool-pairs.md lists the rules of each dialect. */
export function repairToolPairs<T extends readonly unknown[]>(
  messages: T,
  options?: PairsOptions,
): { messages: T; repaired: number }
export interface PairsOptions {
  /** Default: that of the first call. */
  dialect?: DialectName | undefined
  /** Results without a call: 'drop' (default) or 'text', which keeps their text as words of the
   *  user. */
  orphans?: 'drop' | 'text' | undefined
  /** Text of a result that is missing, which is an error for the model. Default: "[No result: the
   *  call was interrupted, or its result was removed]". */
  missing?: string | undefined
}

// ── Process output ──────────────────────────────────────────────────────────────────────────────

/**
 * Captures any amount of output in memory bounded by the policy: docs/capture.md. With `clean:
 * false` and no exit line, a merged capture is exactly `clampText` of the output; with cleaning,
 * `clampText` of `cleanText` of the output. Chunks may end anywhere. A limit of Infinity keeps
 * everything that it admits. Binary output is replaced by "[binary output, 5242880 bytes]".
 */
export class OutputCapture {
  constructor(options?: CaptureOptions)
  /** Writables for the two streams, with back-pressure. Ending one leaves the other open. Chunks
   *  are copied on write; strings may have any encoding. */
  readonly stdout: Writable
  readonly stderr: Writable
  /**
   * Reads a child's stdout and stderr. Resolves with its exit once both pipes have ended, or
   * `graceMs` (2,000) after its exit if another process holds them open; the output of that process
   * is then discarded. Rejects on the child's 'error', and on abort of `signal` with its reason,
   * after killing the child (SIGTERM); `finish` then returns the output so far. A second child, or
   * a child with neither pipe, is ERR_SPILLWAY_OPTION.
   */
  attach(
    child: ChildProcess,
    options?: { graceMs?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<CaptureResult>
  /** Returns the result that `finish` would return now, except for the saved file, which is not
   *  complete yet. Costs about one clamp, so it can feed partial updates. */
  snapshot(): CaptureResult
  /** Ends both streams. Further calls return the first result. */
  finish(exit?: ProcessExit): Promise<CaptureResult>
}
/** Options of a capture. `keep` is 'findings' unless given. An exit code other than 0, a signal or
 *  a timeout makes the text an error for 'auto'. */
export interface CaptureOptions extends PolicyOptions {
  /** 'merged' (default): one text in order of arrival; 'separate': each stream has its own text and
   *  its own limits. */
  streams?: 'merged' | 'separate' | undefined
  /** Cleans the output before the limits apply, as cleanText does, while it streams. The saved file
   *  is never cleaned. Default true. */
  clean?: boolean | CleanOptions | undefined
  /** Store for the raw output, both streams in order of arrival, once it exceeds the limits. If the
   *  text is not cut in the end, no file is left. Default: not saved. */
  spill?: SpillStore | undefined
  /** Name of the producer in notices (unless `source` is given), events and spill records. */
  tool?: string | undefined
  callId?: string | undefined
}
/** The end of a process. Known parts are reported in a last line, such as "[exit code 1]", "[killed
 *  by SIGKILL]" or "[timed out, exit code 124]". */
export interface ProcessExit {
  exitCode?: number | null | undefined
  signal?: string | null | undefined
  timedOut?: boolean | undefined
}
export interface CaptureResult {
  /** The merged text, or both streams under "stdout:" and "stderr:" (an empty stream has no label).
   *  The streams share the limits; of a failed process stderr comes first. The exit line counts
   *  towards the limits, and is omitted only if they are too small for it. */
  text: string
  /** With 'separate': each stream within the limits on its own, without label and exit line.
   *  Otherwise "". */
  stdout: string
  stderr: string
  /** True if anything was omitted from `text`, `stdout` or `stderr`. */
  truncated: boolean
  /** Size of the output before cleaning. */
  total: TextSize
  exit?: ProcessExit
  /** The saved output, if anything was omitted. */
  spill?: SpillRecord
  /** Reason why the full output could not be saved (disk full, no permission). The notice says so
   *  too; the text is clamped all the same. */
  spillError?: string
  /** True if binary output was replaced by its size. */
  binary: boolean
}

/** Formats stdout and stderr, each with its label and under the policy on its own (unless given:
 *  keep 'findings', 8_000 chars, notice 'count' with the name of the stream), and then the end of
 *  the process. An empty stream is omitted. If the process failed, stderr comes first, and both
 *  streams are errors for 'auto'. Labels and the last line do not count towards the limits. */
export function formatProcessOutput(output: ProcessOutput, policy?: PolicyOptions): string
/** Output of a process that was collected in another way than by a capture. */
export interface ProcessOutput extends ProcessExit {
  stdout: TextInput
  stderr: TextInput
}

// ── Full outputs on disk ────────────────────────────────────────────────────────────────────────

export interface SpillOptions {
  /** Directory used for nothing else, created with mode 0700 if missing. A relative path is
   *  resolved at once. A directory that others can enter is tightened to 0700 if it contains only
   *  saved outputs; otherwise the call fails. Symbolic links and other users' directories are
   *  rejected. */
  dir: string
  /** Reference to a saved output in notices: the file's path (default; an agent's own file tools
   *  can read it), or its id alone (for spillTool, or if the agent cannot see the path). */
  reference?: 'path' | 'id' | undefined
  /** Bytes of one file. Above it the file is truncated and not complete. Default 64 MiB. */
  maxFileBytes?: number | undefined
  /** Bytes of the whole directory. Above it the oldest files are removed, except those younger than
   *  `minAge`. Default 512 MiB. */
  maxTotalBytes?: number | undefined
  /** Milliseconds since the output ended, after which its file is removed. Default 7 days. */
  maxAge?: number | undefined
  /** Milliseconds. No younger file is removed. Default 1 hour. */
  minAge?: number | undefined
}
/** A saved output. `bytes` and `lines` are the size of the full output. `complete` is false if the
 *  file holds less: it reached its quota, is still being written, or its writer died (then they are
 *  the size of the file). */
export interface SpillRecord {
  /** 16 hexadecimal digits, random. */
  id: string
  path: string
  bytes: number
  lines: number
  complete: boolean
}
/** Full outputs, found by their ids: docs/spill.md. Anybody may implement it: wrapTool,
 *  OutputCapture and spillTool accept any store. Errors of the store of createSpillStore have the
 *  system's code (ENOSPC, EACCES ...) or ERR_SPILLWAY_SPILL; wrong arguments
 *  ERR_SPILLWAY_OPTION. */
export interface SpillStore {
  /** Part of a record that notices name. Default 'id'. */
  readonly reference?: 'path' | 'id' | undefined
  /** Saves a text as UTF-8 (lone surrogates as U+FFFD), or bytes as they are; do not change the
   *  bytes until the save is done. Chunks are asked for one after another: a capture waits while 1
   *  MiB is not asked for. If they end in an error, nothing is kept, and the save rejects with that
   *  error. `meta` names the producer, for the name of the file and for events. */
  save(
    text: TextInput | AsyncIterable<Uint8Array>,
    meta?: { tool?: string | undefined; callId?: string | undefined },
  ): Promise<SpillRecord>
  /** Reads a page by id, never by path. A page by line ends at a line end, if it contains one. No
   *  page ends inside a UTF-8 sequence, and each holds at least one code point. Invalid sequences
   *  become U+FFFD. Consecutive pages make up the whole file. A page beyond the end is empty. */
  read(id: string, range?: SpillRange): Promise<SpillSlice>
  /** Finds the lines that contain a plain text, or match a regular expression, in order.
   *  Expressions take linear time: no backreferences and no lookaround; case and classes are
   *  Unicode. Returns at most 40_960 bytes of text. A line of over 500 bytes is shown around its
   *  match, between marks "[+N bytes]". */
  search(id: string, pattern: string, options?: SpillSearch): Promise<SpillMatch[]>
  /** Lists all outputs, oldest first. */
  list(): Promise<SpillRecord[]>
  /** Removes files by age and total size, except the ids in `retain` and files that are still being
   *  written. Safe while other processes sweep, save and read. Counts only the files that this
   *  sweep removed. A store of createSpillStore also sweeps by itself, before its first file and
   *  then once an hour, with the `retain` of the last call. */
  sweep(options?: { retain?: readonly string[] | undefined }): Promise<{ removed: number; bytes: number }>
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
  /** Record of the output, if the store has it at hand. Without it, the tool of spillTool looks for
   *  it in `list()` at the end of an output. */
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
/** Message on the diagnostics channel 'spillway:spill', for each output that was saved or could not
 *  be. */
export interface SpillEvent {
  tool?: string
  callId?: string
  record?: SpillRecord
  error?: Error
}
/** Creates a store in a directory, with each output in a file of mode 0600 with its raw bytes.
 *  Checks its options; does not touch the disk before the first save, and works on other threads.
 *  An output is saved once its file has its final name, `ID.TOOL.BYTESb.LINESl.txt`; a save that
 *  fails leaves no file. */
export function createSpillStore(options: SpillOptions): SpillStore
/** Creates a tool that a model can call to read and search saved outputs. Map its four fields to
 *  your framework's names. An answer is text of at most 40_960 bytes, each line numbered and as a
 *  terminal would show it, and ends with the position of the next page. Invalid input is answered
 *  with a sentence; nothing throws. As id, the path of a file is accepted too. */
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

// ── Context budget ──────────────────────────────────────────────────────────────────────────────

/** Step to take before a request: none; compact older history; truncate tool results, the cheapest
 *  if it alone makes the prompt fit with 512 tokens to spare; or both. */
export type Route = 'fits' | 'compact_only' | 'truncate_tool_results_only' | 'compact_then_truncate'

export interface PrecheckInput {
  /** The history, in the shape of any framework. Texts, thinking and calls count, images by their
   *  pixels (`provider`); side data, ids and metadata do not count. */
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
  /** Replaces estimateTokens. Fractions are rounded up. Errors it throws pass through; a result
   *  that is not a number >= 0 is ERR_SPILLWAY_OPTION. */
  countTokens?: ((text: string) => number) | undefined
  /** Tokens that the provider last reported for the first `messages` messages of the history,
   *  system prompt and tools included. Only later messages are then estimated. Ignored if
   *  `messages` exceeds the length of the history. */
  lastUsage?: { inputTokens: number; messages: number } | undefined
  /** Chars that one tool result may hold. Default: 30 % of the window in chars (4 a token), at most
   *  16_000, 32_000 from 100k tokens, 64_000 from 200k. */
  perResultMaxChars?: number | undefined
  /** Provider whose rule counts the tokens of an image (docs/media.md). Default: the dearest of the
   *  three. A file, or an image without known dimensions, counts 2,000 tokens. */
  provider?: 'anthropic' | 'openai' | 'gemini' | undefined
  /** Bytes that the body of the request may have, as JSON. Above it the route is not 'fits',
   *  whatever the tokens. Providers accept 20 to 50 MB. Default Infinity. */
  maxRequestBytes?: number | undefined
  /** Limits of payloads: those of `provider`, say. Payloads over them are listed in `refused`, and
   *  all other figures are those of the history without them: `clampMessages(messages, { media })`
   *  omits the same. runWithRecovery omits them from what it sends. Default: none. */
  media?: MediaOptions | undefined
  /** Budget over all tool results. Defaults: `maxChars` is the larger of four results and half the
   *  window in chars, `order` 'oldest', `protectNewest` true, `minKeepChars` 0. */
  aggregate?: (Omit<AggregatePolicy, 'maxChars'> & { maxChars?: number | undefined }) | undefined
  /** Counts what the prompt cache makes cheap, with prices as in `clearToolResults`. Messages
   *  before the last answer of the model are cached, and a cut has the rest after it written again.
   *  Unless `aggregate.order` is given, the plan then starts at the end that makes the request
   *  cheaper. Default: off. */
  prices?: ClearOptions['prices']
}

export interface Precheck {
  route: Route
  estimatedTokens: number
  /** `contextTokens` less the reserve, which is at most a quarter of the window. */
  budgetTokens: number
  overflowTokens: number
  /** Bytes of the request's body, with system prompt and tools. Only if `maxRequestBytes` is
   *  given. */
  requestBytes?: number
  /** Payloads over the limits in `media`, in the order of messages. Absent if there are none. */
  refused?: readonly RefusedMedia[]
  /** Chars that truncating all tool results to `minKeepChars` and a notice each would free. */
  reducibleChars: number
  /** Price of the request after the plan, in the unit of `prices`. Only if `prices` is given. */
  price?: number
  /** Truncations to apply if the prompt does not fit: of results over their own limit; of all
   *  results together to `aggregate`; then as little more as makes the prompt fit, or everything
   *  that can be cut if that is not enough. Empty for 'fits' and 'compact_only'. The result of
   *  `applyPlan`, with its own defaults, fits by the same estimate. */
  plan: readonly PlanStep[]
}

/** Truncation of one tool result: the result in `messages[index]` with this call id (absent:
 *  without id) and this length. Results that share all three have a step each, in order. A step
 *  whose `maxChars` equals `chars` changes nothing. */
export interface PlanStep {
  index: number
  callId?: string | undefined
  /** Chars of all texts of the result now. */
  chars: number
  maxChars: number
  /** Bytes of payloads in blocks of their own, decoded, that the result may keep, the newest first.
   *  The words in place of others do not count towards `maxChars`. Absent: all stay. */
  media?: number | undefined
}

/** Estimates a prompt before it is sent, and finds the cheapest way to make it fit:
 *  docs/context.md. Counts are remembered with their messages, so a later call reads only new and
 *  changed messages in full. */
export function precheck(input: PrecheckInput): Precheck

/** Truncates the tool results that a plan names. The only limits are those of the steps and those
 *  given in `policy`; `notice` is 'pi' unless given. A result that does not match its step is not
 *  changed. Returns the same array if the plan is empty or nothing matches. */
export function applyPlan<T extends readonly unknown[]>(
  messages: T,
  plan: readonly PlanStep[],
  policy?: ResultPolicy,
): T

/** Clears old tool results once a trigger is reached, if the tokens that this saves over the
 *  requests to come outweigh the cached prompt that it rewrites: docs/context.md. Pure. Keep
 *  `state` beside the history and pass it to the next call: a cleared result stays the same byte
 *  for byte, whether that call gets the full history or the cleared one. A cleared result is one
 *  line, with the name of its saved output if a notice in it names one. Returns the same array if
 *  nothing is cleared. */
export function clearToolResults<T extends readonly unknown[]>(
  messages: T,
  options?: ClearOptions,
): {
  messages: T
  state: ClearState
  /** Results that this call cleared. 0: the prompt begins like that of the call before. */
  cleared: number
  /** Tokens that this saves in each request, estimated as `precheck` does. */
  savedTokens: number
}
/** Names and meanings are those of Anthropic's `clear_tool_uses_20250919`, except for the last
 *  five. */
export interface ClearOptions {
  /** Clears nothing up to this many tokens of messages, or results that are not cleared yet.
   *  Default: 100,000 input tokens. */
  trigger?: { type: 'input_tokens' | 'tool_uses'; value: number } | undefined
  /** Last results that are never cleared. Default: 3. */
  keep?: { type: 'tool_uses'; value: number } | undefined
  /** Tokens that a clearing must save. Default: 0. */
  clearAtLeast?: { type: 'input_tokens'; value: number } | undefined
  /** Tools whose results are never cleared. Default: none. */
  excludeTools?: readonly string[] | undefined
  /** Also clears strings of over 200 chars in the arguments of the calls, for true or these tools.
   *  The shape of the arguments stays. Default: false. */
  clearToolInputs?: boolean | readonly string[] | undefined
  /** Keeps a result whose call names a path, or another name with a dot or slash, that a later call
   *  of another tool has in its arguments too: a file that was edited since. If the same call was
   *  made again, only its last result stays. Strings of over 200 chars do not count. Default:
   *  false. */
  keepUsed?: boolean | undefined
  /** Also replaces a result by a reference to an earlier one with the same text, whether the
   *  trigger is reached or not. 'near': also if the same call returned it before, and a diff of
   *  lines takes at most a quarter of it. The newer result is replaced, since the older one is
   *  cached. Default: false. */
  dedupe?: 'exact' | 'near' | false | undefined
  /** Prices of a token in any unit: written to the cache (default: 1.25 of `input`), read from it
   *  (0.1 of `input`), and without a cache (1). Equal ones: nothing is cached now. */
  prices?: { write?: number | undefined; read?: number | undefined; input?: number | undefined } | undefined
  /** Expected number of requests, with this one. Default: unknown, so that a clearing may cost no
   *  more than it saves in this request and earlier ones have saved so far: whenever the history
   *  ends, it was not dearer than without clearing. */
  requestsToCome?: number | undefined
  /** The state that the last call for this history returned. Default: nothing is cleared yet. */
  state?: ClearState | undefined
}
/** Plain JSON. Results are named by call id, tool and a number, or without an id by their order. */
export interface ClearState {
  readonly results: { readonly [name: string]: ClearedResult }
  /** What clearings had saved after this many answers, less what they cost, in units of
   *  `prices`. */
  readonly balance?: { readonly answers: number; readonly price: number } | undefined
}
export interface ClearedResult {
  /** Tells its texts from others. */
  readonly hash: string
  /** Text in its place. */
  readonly text: string
  /** Tokens that this saves in each request. */
  readonly saved?: number | undefined
  /** True if the arguments of its call are cleared too. */
  readonly inputs?: true | undefined
  /** The earlier result that it repeats. Without it in the history the text is sent whole. */
  readonly of?: { readonly key: string; readonly hash: string } | undefined
}

/**
 * Kind of a provider's error.
 *  'context_overflow'            more tokens than the context window holds: make the history smaller;
 *  'payload_too_large'           more bytes than the server accepts: make the history smaller in
 *                                bytes; compaction may not help;
 *  'media_too_large'             one image or document exceeds the size allowed for it: omit it;
 *  'field_too_long'              one text exceeds the length allowed for it: shorten that text;
 *  'request_exceeds_rate_limit'  a single request exceeds the quota of a minute or day: send a
 *                                smaller one; waiting does not help;
 *  'rate_limit'                  wait and send the request again;
 *  'malformed_unicode'           a lone surrogate in the history: `clampMessages` replaces it;
 *  'other'                       anything else, including billing and login.
 */
export type ProviderErrorKind =
  | 'context_overflow'
  | 'payload_too_large'
  | 'media_too_large'
  | 'field_too_long'
  | 'request_exceeds_rate_limit'
  | 'rate_limit'
  | 'malformed_unicode'
  | 'other'
export interface ProviderError {
  kind: ProviderErrorKind
  /** Size of the request, if the error states it: tokens, or bytes for payload_too_large. Includes
   *  the room that was requested for the answer where the provider counts both. */
  actual?: number
  /** Size allowed, in the same unit, if the error states it. */
  limit?: number
  /** Set if `actual` and `limit` count characters, or pixels of the longer side of an image. */
  unit?: 'characters' | 'pixels'
  /** For media_too_large: the index of the message in the request, if the error states it. */
  index?: number
  /** HTTP status, if the error has one. */
  status?: number
}
/** Classifies a provider's error: an Error, a response body, a string, or an assistant message that
 *  ended in an error. Only errors count, not words about errors: docs/errors.md has the rules.
 *  `patterns` are tried first, in order, against the texts of the error. No error makes this
 *  function throw; wrong options do (code ERR_SPILLWAY_OPTION). */
export function classifyProviderError(
  error: unknown,
  options?: {
    patterns?: readonly { pattern: RegExp; kind: ProviderErrorKind }[] | undefined
  },
): ProviderError

/**
 * Sends a prompt, and recovers if it is too large: precheck, the cheapest fix, send. After a
 * reported overflow it compacts, at most `maxCompactions` times, then truncates while anything is
 * left to cut, then rejects with ContextOverflowError. There are at most `maxCompactions` + 2
 * sends, and after a refusal only a smaller prompt is sent. Errors of hooks pass through, as do
 * rejections of `send` for any other reason. An abort rejects with `signal.reason` at once.
 * docs/context.md#recovery.
 */
export function runWithRecovery<R, M = unknown>(hooks: RecoveryHooks<R, M>): Promise<R>
/** Hooks and options of runWithRecovery. `lastUsage` counts until the first compaction or
 *  truncation. `countTokens` is called once for each text. */
export interface RecoveryHooks<R, M = unknown> extends Omit<PrecheckInput, 'messages'> {
  /** Returns the current history. Called before every attempt and after every step. */
  messages: () => readonly M[] | PromiseLike<readonly M[]>
  /** Sends these messages; adding the system prompt and tools is up to it. If nothing was cut,
   *  `messages` is the array of the history itself; after a step, repairToolPairs has paired its
   *  calls and results. `signal` is that of the run, or one that never aborts. A rejection is
   *  classified, and so is an assistant message that ended in an error as its result (Pi never
   *  throws). */
  send: (messages: M[], context: { attempt: number; signal: AbortSignal }) => PromiseLike<R>
  /** Makes older history smaller. Returns false if it could not; then it is not called again.
   *  `actualTokens`: the provider's count, if it reported one. */
  compact?:
    | ((state: { attempt: number; overflowTokens: number; actualTokens?: number }) => PromiseLike<boolean>)
    | undefined
  /** Stores the truncation. If it returns false, or the history is not smaller afterwards, it is
   *  not called again, and recovery compacts; without `compact` it cuts only the messages that are
   *  sent. Without this hook the plan is always applied to the messages that are sent. A result
   *  stays cut in the same way for the whole run, so prompt caches hold. */
  truncate?: ((plan: readonly PlanStep[]) => PromiseLike<boolean>) | undefined
  /** Compactions before and after a send together. Default 3. */
  maxCompactions?: number | undefined
  /** Called with every decision. Errors it throws are ignored. The same events are published on the
   *  channel 'spillway:recovery' of node:diagnostics_channel. */
  onEvent?: ((event: RecoveryEvent) => void) | undefined
  signal?: AbortSignal | undefined
}
export interface RecoveryEvent {
  /** 'overflow': the provider refused the prompt. All other types are reported before the step. */
  type: 'precheck' | 'compact' | 'truncate' | 'send' | 'overflow' | 'give_up'
  /** Number of the send that this step leads to, from 1; for 'overflow' and 'give_up' the last
   *  send. */
  attempt: number
  route?: Route
  /** After a refusal, scaled so that the refused prompt does not fit. */
  estimatedTokens?: number
  /** Reason for this step, and against the alternatives. */
  reason?: string
}
/** Thrown if nothing is left to reduce, or no send is left. `cause` is the last refusal. `attempts`
 *  and `precheck` are not enumerable, so the error prints short. */
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

// ── Sessions ────────────────────────────────────────────────────────────────────────────────────

/** Options of guardSession. Unless given, `keep` is 'auto', `notice` 'hint', `sideData` 'cap', and
 *  `query` what the last 32 messages and the last with words of the user say. */
export interface GuardOptions extends ResultPolicy {
  /** Method of the manager that stores a message, its first argument. Default 'appendMessage'. */
  method?: string | undefined
  /** Runs after a first cap, on messages that are or carry tool results, with the call id and tool
   *  name of the first result. Its return value is capped again. Synchronous: if it throws, or does
   *  not return a message (undefined, a promise), it is ignored. */
  transform?: ((message: unknown, meta: { toolCallId?: string; toolName?: string }) => unknown) | undefined
  /** Runs last, on every message. Returns the message to write, or false to write nothing
   *  (appendMessage then returns undefined). Its return value is capped too, and ignored in the
   *  same cases as that of `transform`. */
  beforeWrite?: ((message: unknown) => unknown | false) | undefined
  /** Bytes of a message with tool results as JSON, without the payloads of its images, audio and
   *  files: the last line of defense. Holds from 2 KiB for each result of a message; below that
   *  every result is still kept. docs/sessions.md says what is reduced first. Default 262_144. */
  maxRowBytes?: number | undefined
  /** Changes the message itself, because agents (Pi up to 0.74) send the object that they store. A
   *  message that cannot be changed (frozen) is copied; if a hook returns an object of another
   *  class, that object is written. Default true. */
  inPlace?: boolean | undefined
  /** Called after each cut of a text, never with content. */
  onClamp?: ((event: ClampEvent) => void) | undefined
}
/** Clamps the messages of one manager before its `appendMessage`, or another method, stores them.
 *  An override that is already there keeps working, and no prototype is patched. Guarding the same
 *  method again replaces the options and returns the same guard. The guard itself never throws out
 *  of an append; errors of the manager (disk full) pass through. */
// biome-ignore lint/suspicious/noExplicitAny: managers name their own messages
export function guardSession<S extends { appendMessage(message: any, ...rest: any[]): any }>(
  manager: S,
  options?: GuardOptions,
): Guard
export function guardSession(manager: object, options: GuardOptions & { method: string }): Guard
export interface Guard {
  /** Restores the original method. If another override was installed after the guard, that stays,
   *  and the guard lets every message pass unchanged. */
  uninstall(): void
  /** Messages that were changed before they were written. */
  readonly clamped: number
}

/** Options of repairSession. Unless given, `notice` is 'pi' and `sideData` 'cap', which keeps up to
 *  9_216 bytes here: no row is rewritten to save so little. A function as `notice` or `query` is
 *  ERR_SPILLWAY_OPTION, since it cannot run on another thread. `dialect` selects results by their
 *  tags: rows of other dialects are not changed. */
export interface RepairOptions extends ResultPolicy {
  /** Budget over all tool results of the active branch: in Pi sessions from version 2 on, from the
   *  last row to its root, or to the first row that its last compaction keeps; in other files, all
   *  rows in order, without Claude Code's sidechains. Cannot be combined with `plan`. */
  aggregate?: AggregatePolicy | undefined
  /** Plan to apply instead of `aggregate` and `media`. Steps are matched by call id and present
   *  length; by index and length only in files of plain messages. Steps without a match are counted
   *  in `unmatched`. */
  plan?: readonly PlanStep[] | undefined
  /** Keeps the original file as `<file>.bak` at its first repair, which is never overwritten, and
   *  as `<file>.bak.latest` at later ones, beside the target of a symbolic link. A repair that
   *  fails or is aborted makes no backup. Default true. */
  backup?: boolean | undefined
  /** Treatment of rows that are not JSON. 'keep' (default) keeps them byte for byte. 'mend' reads
   *  the rows that they still hold: it splits rows that are glued together, omits runs of NUL
   *  bytes, and joins rows that a raw newline broke. It closes nothing and invents nothing: what is
   *  not JSON by itself goes to `<file>.damaged`, a line each, to which later repairs append.
   *  Documents of one JSON value are not mended. */
  damaged?: 'keep' | 'mend' | undefined
  /** Gives a result to every tool call of the active branch that has none: one that says so, as
   *  `repairToolPairs` puts in. It becomes a row after the call's, an element of a document's list,
   *  or a member of the call, as the format has it; the row that follows then names the new one.
   *  Calls that the format has no way to give a result are counted in `unpaired`: those in rows of
   *  Pi without ids. A result that a host put in for a missing one gives way to the real one that
   *  comes later. A result whose call is nowhere in the file is removed, and its row if nothing
   *  else is in it; of Copilot CLI, and of Pi's rows without ids, it stays. Default false. */
  pairs?: boolean | undefined
  /** Reports the effect of a repair without a lock and without writing. Default false. */
  dryRun?: boolean | undefined
  /** False if the caller already holds `<file>.lock`. Default true; if this process already holds
   *  the lock, the call then fails at once. */
  lock?: boolean | undefined
  /** Milliseconds to wait for the file's lock. Default 10_000. */
  lockTimeout?: number | undefined
  /** Aborts until the file is replaced. The call then rejects with `signal.reason` and leaves no
   *  file behind. */
  signal?: AbortSignal | undefined
  /** Called some 20 times a second while work goes on, and once at the end. Errors it throws are
   *  ignored. */
  onProgress?:
    | ((progress: { bytes: number; totalBytes: number; rows: number; clamped: number }) => void)
    | undefined
}
export interface RepairReport {
  /** True if the file was replaced. Always false in a dry run; its other figures are those of a
   *  real repair. */
  changed: boolean
  /** Rows of the file, without blank ones. */
  rows: number
  /** Rows in which a tool result, or other content of one, was cut. */
  clamped: number
  /** Rows that are not JSON, as `inspectSession` counts them. */
  damaged: number
  /** True if the file did not end in a newline. It then gets one, so that the next append does not
   *  join its last row. */
  tornTail: boolean
  /** Calls that were given a result. Absent if there are none. */
  paired?: number
  /** Calls without a result that the format has no way to give one. Absent if there are none. */
  unpaired?: number
  /** Results without a call that were removed. Absent if there are none. */
  orphans?: number
  bytesBefore: number
  bytesAfter: number
  /** Steps of the plan that matched no result. */
  unmatched: number
  /** Payloads that words replaced. Absent if there are none. */
  media?: MediaCount
  /** Path of the original file: `<file>.bak` after its first repair, `<file>.bak.latest` after
   *  later ones. */
  backupPath?: string
  /** Path of `<file>.damaged`, if something was put there. */
  damagedPath?: string
  /** Rows restored that were appended while an earlier repair replaced the file and was killed.
   *  Absent if 0. */
  recovered?: number
  /** Reason why nothing was repaired. 'damaged rows': a row that is not JSON may hold a result over
   *  the limits (see `damaged` of the options). 'format unknown': no row belongs to a known session
   *  format (see `inspectSession`). */
  reason?: 'nothing to do' | 'empty session' | 'dry run' | 'damaged rows' | 'format unknown'
}
/** Repairs a session of any size off the main thread: rows of JSON (Pi and OpenClaw 7, Claude Code,
 *  Codex, Copilot CLI, Gemini CLI, messages of any dialect), or one JSON value (Cline, Roo Code,
 *  OpenCode, older Gemini CLI, a list of messages). Only content over the limits is rewritten;
 *  every other byte is kept, and so are the number and order of rows. Repairing twice changes
 *  nothing more. The file is replaced in one step: a crash at any instant leaves the old file or
 *  the new. Memory is bounded by the longest row, or the document. docs/sessions.md describes rows
 *  that are appended meanwhile.
 *
 *  Rejects with ERR_SPILLWAY_LOCKED if `<file>.lock` is held by another process,
 *  ERR_SPILLWAY_CHANGED if the file was replaced or modified other than by appending,
 *  ERR_SPILLWAY_ATTRIBUTE if an extended attribute cannot be kept, ERR_SPILLWAY_FORMAT if the file
 *  does not consist of rows, and the system's own codes. */
export function repairSession(path: string, options?: RepairOptions): Promise<RepairReport>

/** Format of a session. 'messages': messages of any dialect, as rows or as one list. OpenClaw's
 *  sessions are 'pi', Roo Code's 'cline'. */
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
  /** Size of tool-result text by tool, largest first. `tool` is "unknown" if neither result nor
   *  call names it. */
  byTool: { tool: string; results: number; chars: number; bytes: number }[]
  /** The largest results. `row` is the line of the file, or the message of a document, 1-based. */
  largest: { row: number; tool?: string; callId?: string; chars: number; bytes: number }[]
  /** Payloads of tool results, in blocks of their own and as base64 in texts. Absent if there are
   *  none. */
  media?: MediaCount
  /** Payloads that a provider rejects in the next request of the session: `media.provider`, or each
   *  of them. Absent if there are none. */
  refused?: RefusedRow[]
  /** Results that the policy would cut. */
  oversized: number
  /** Rows that are not JSON, without blank ones. */
  damaged: number
}
/** Reports which tools and results take up a session, with its `top` (10) largest results. Reads
 *  only, off the main thread. The policy decides which results count as oversized, apart from
 *  `media`. */
export function inspectSession(
  path: string,
  options?: ResultPolicy & { signal?: AbortSignal | undefined; top?: number | undefined },
): Promise<SessionReport>

// ── Errors and events ───────────────────────────────────────────────────────────────────────────
// Every error has a stable `code`: ERR_SPILLWAY_OPTION for wrong arguments,
// ERR_SPILLWAY_CONTEXT_OVERFLOW, ERR_SPILLWAY_LOCKED, ERR_SPILLWAY_CHANGED, ERR_SPILLWAY_ATTRIBUTE,
// ERR_SPILLWAY_FORMAT, ERR_SPILLWAY_SPILL, or Node's own system code (ENOSPC ...).
// diagnostics_channel: 'spillway:clamp', 'spillway:spill', 'spillway:recovery', 'spillway:repair'
// (the report of a repair, with its `path`), 'spillway:warning'. They cost nothing without
// subscribers.

/** Message on the diagnostics channel 'spillway:warning': a wrong value, for which spillway/pi or
 *  spillway/openclaw uses another, as the original does. Sent once for each field and value. */
export interface OptionWarning {
  field: string
  value: unknown
  used: unknown
}

// biome-ignore lint/complexity/noUselessEmptyExport: without it, a declaration file exports all names
export {}
