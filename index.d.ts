/**
 * spillway bounds what tools return before a language model reads it.
 *
 * "chars" are UTF-16 code units (`string.length`); bytes are UTF-8 bytes; a newline ENDS a line:
 * "a\nb\n" and "a\nb" have two lines, "" has 0. Comments give units, defaults and errors; the pages
 * of docs/ that they name say the rest.
 *
 * Guarantees of every function that returns clamped text, for any input:
 *  G1  every limit that is set holds for the FINAL text, notice included;
 *  G2  the text is well-formed Unicode: lone surrogates become U+FFFD, even in a text that fits;
 *  G3  well-formed input within the limits is returned as is (`===`). A result that fits is copied
 *      only if plain data in it has accessors, a `toJSON` or a proxy;
 *  G4  the kept text is an exact substring of the input, after cleaning, redaction, truncation of
 *      long lines and well-forming;
 *  G5  idempotent: clamp(clamp(x)) === clamp(x). A notice of an earlier cut is recognized, and the
 *      new notice counts from the ORIGINAL total;
 *  G6  tight: with keep 'head' or 'tail' and snap 'char', one more code point would exceed a limit,
 *      or cut into a mark, an earlier notice or a line that says how to continue;
 *  G7  a notice is never cut: if it does not fit, a shorter one replaces it, then nothing;
 *  G8  deterministic, the ids of saved outputs included;
 *  G9  inputs are not mutated, and a result does not keep a large input in memory. Exceptions:
 *      clampError changes its argument, and Node 24 retains the message an error was made with;
 *  G10 no content makes a function throw; only wrong options do.
 */

import type { ChildProcess } from 'node:child_process'
import type { Writable } from 'node:stream'

// ── Limits and policy ───────────────────────────────────────────────────────────────────────────

/** Upper bounds, which all hold at once. `Infinity` lifts a bound, 0 keeps nothing. Any other value
 *  that is not a safe integer >= 0 throws ERR_SPILLWAY_OPTION. docs/tokens.md. */
export interface Limits {
  /** UTF-8 bytes of the result. Default 51_200 (50 KiB). */
  maxBytes?: number | undefined
  /** Lines of the result. Default 2_000. */
  maxLines?: number | undefined
  /** UTF-16 code units of the result. Default Infinity. */
  maxChars?: number | undefined
  /** Tokens of the result, as `estimateTokens` counts them. Default Infinity. */
  maxTokens?: number | undefined
  /** UTF-8 bytes of a line. A longer one ends in "[+N chars]", which counts. Default Infinity. */
  maxLineBytes?: number | undefined
}

/**
 * Part of a text that survives a cut: docs/what-survives.md.
 *  'head', 'tail', 'ends'  the beginning, the end, both (see headShare);
 *  'findings', 'relevant'  the ends, and lines that explain a failure, or answer `query`;
 *  'auto'                  all of these, by how much the text tells of a failure.
 */
export type Keep = 'head' | 'tail' | 'ends' | 'findings' | 'relevant' | 'auto'

/** Counts of one cut, for a notice. Counts that need a pass over the input are computed when
 *  read. */
export interface Cut {
  readonly omittedChars: number
  readonly totalChars: number
  readonly omittedBytes: number
  readonly totalBytes: number
  readonly omittedLines: number
  readonly totalLines: number
  /** Lines kept in whole or in part, such as "1-120,4803-5000". */
  readonly keptLines: string
  readonly keep: 'head' | 'tail' | 'ends' | 'findings' | 'relevant'
  /** Limits that the input exceeded, in this order. */
  readonly exceeded: readonly ('bytes' | 'lines' | 'chars' | 'tokens' | 'lineBytes')[]
  /** `source` of the policy. */
  readonly source: string
  /** Path or id of the saved output. */
  readonly saved?: string
}

/**
 * Text at a cut that says how much is missing: docs/options.md#notices.
 *  'hint'   "[tool output truncated: 5,159,358 of 5,210,412 chars omitted (limit 50KB or 2,000
 *           lines); ask for less, or for specific sections]";
 *  'pi'     "[... N more characters truncated]"; 'count' "... (N chars truncated from SOURCE)";
 *  string   a template with a {field} of a Cut or {limits}; "{omittedChars:,}" groups digits.
 */
export type Notice = 'hint' | 'pi' | 'count' | false | (string & {}) | ((cut: Cut) => string)

export interface TextPolicy extends Limits {
  /** 'auto' (default): lines that explain a failure, lines that the agent may use next, both ends.
   *  'head', 'tail', 'ends': by place. 'findings', 'relevant': one of the two searches. */
  keep?: Keep | undefined
  /** Share of the head with 'ends', from 0 to 1. Default 0.5. */
  headShare?: number | undefined
  /** Strings that make a line a finding, with every `keep`. Matched literally. An empty string is
   *  an error. */
  needles?: readonly string[] | undefined
  /** The question, or a function of the arguments of a call that returns it. false asks nothing.
   *  Default: for wrapTool the strings in the arguments; for a history also the user's last words.
   *  docs/options.md. */
  query?:
    | string
    | readonly string[]
    | false
    | ((args: readonly unknown[]) => string | readonly string[] | undefined)
    | undefined
  /** Marks the text as the output of a failure, for 'auto'. Default false, unless detected. */
  isError?: boolean | undefined
  /** 'line' (default) moves a cut to a line end if that costs at most a fifth; 'char' never
   *  does. */
  snap?: 'line' | 'char' | undefined
  /** Default 'hint'. */
  notice?: Notice | undefined
  /** Adds `reasons` and `dropped` to the report of clampTextWithReport. Default false. */
  explain?: boolean | undefined
  /** Name of the text in notices. Default "output". */
  source?: string | undefined
  /** Cleans texts before the limits apply, as cleanText does. Text that is JSON is not cleaned.
   *  Default false. docs/options.md#cleaning. */
  clean?: boolean | CleanOptions | undefined
  /** Replaces secrets before all else, also in saved outputs. Default false. docs/redact.md. */
  redact?: boolean | RedactOptions | undefined
}
/** A checked, frozen policy. Each function ignores the options of the others; an unknown name, and
 *  an option that `keep` makes useless, throw ERR_SPILLWAY_OPTION. docs/options.md#one-policy. */
export interface Policy extends Readonly<WrapPolicy> {
  readonly maxBytes: number
  readonly maxLines: number
}
/** Checks options once. Throws a TypeError or RangeError with code ERR_SPILLWAY_OPTION. */
export function definePolicy(options?: WrapPolicy): Policy

// ── Text ────────────────────────────────────────────────────────────────────────────────────────

export interface TextSize {
  bytes: number
  chars: number
  lines: number
}
export interface ClampReport {
  text: string
  /** False if nothing was omitted, even if a lone surrogate was replaced. */
  truncated: boolean
  /** Limits that the input exceeded. */
  exceeded: Cut['exceeded'][number][]
  total: TextSize
  /** Size of the kept input, without the notice. A line kept in part counts. */
  kept: TextSize
  omitted: TextSize
  /** Kept parts of the input as [start, end) in chars. */
  ranges: [number, number][]
  /** The notice in `text`, or "". */
  notice: string
  /** With `explain`: one reason for each kept line, in order; none if the text fits. */
  reasons?: LineReason[]
  /** With `explain`: at most 20 omitted lines that a larger limit would keep first. */
  dropped?: LineReason[]
}
/** The reason to keep a line: docs/what-survives.md. */
export interface LineReason {
  /** Number of the line in the input (with `clean`, in the cleaned text), from 1. */
  line: number
  /** The stream that took the line, or its first kept part. */
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
  /** Points that decide the order within a stream. 0 for streams that take lines by their place. */
  score: number
}

/** Truncates `text` to the policy. Bytes are read as UTF-8; invalid sequences become U+FFFD. */
export function clampText(text: string | Uint8Array, policy?: TextPolicy): string
/** Returns what `clampText` returns. A text over 262,144 chars is cleaned, redacted and searched on
 *  another thread, so the event loop goes on: docs/speed.md. Rejects for wrong options. */
export function clampTextAsync(text: string, policy?: TextPolicy): Promise<string>
/** Like `clampText`, with exact totals, which takes a pass over the input. */
export function clampTextWithReport(text: string | Uint8Array, policy?: TextPolicy): ClampReport
/** Cuts JSON so that it still parses: docs/json.md. A string or bytes are text that may be JSON;
 *  any other value becomes its JSON. Text that is not JSON is cut as clampText cuts it. */
export function clampJson(json: unknown, policy?: TextPolicy & Pick<ResultPolicy, 'schema'>): string
/** Like `clampJson`, with counts. The contents of an omitted element or member are not counted. */
export function clampJsonWithReport(
  json: unknown,
  policy?: TextPolicy & Pick<ResultPolicy, 'schema'>,
): {
  text: string
  /** False if nothing but white space was omitted. */
  truncated: boolean
  total: TextSize
  /** Size of `text`; of text that is not JSON, as in ClampReport. */
  kept: TextSize
  omittedElements: number
  shortenedStrings: number
  droppedMembers: number
  /** With `schema`: false if the limits left no room for JSON that validates. */
  validates?: boolean
}
/** Measures a text in one pass: bytes of a string as UTF-8, chars and lines of bytes as decoded. */
export function measureText(text: string | Uint8Array): TextSize
/** Estimates tokens in one pass, between 15 % low and 50 % high of o200k_base: docs/tokens.md. */
export function estimateTokens(text: string | Uint8Array): number
/** Renders text as a terminal would show it, and folds repeated lines: docs/options.md#cleaning.
 *  Returns the same string if there is nothing to clean. */
export function cleanText(text: string | Uint8Array, options?: CleanOptions): string
/** Replaces secrets by "[redacted: KIND]": docs/redact.md. Returns the same string if there are
 *  none. */
export function redactText(text: string | Uint8Array, options?: RedactOptions): string
export interface RedactOptions {
  /** Kinds of docs/redact.md, such as 'github token'. Default: all. */
  kinds?: readonly string[] | undefined
  /** Secrets of your own: a regular expression of Rust's `regex`, and the kind that the mark
   *  states. */
  patterns?: readonly { kind: string; pattern: string }[] | undefined
}
/** Steps of cleaning. All but `html` default to true. */
export interface CleanOptions {
  /** False keeps escape sequences; they neither move the cursor nor erase. */
  ansi?: boolean | undefined
  /** False keeps carriage returns and backspaces; sequences neither move the cursor nor erase. */
  carriageReturns?: boolean | undefined
  /** False keeps other control characters, each one column wide. */
  control?: boolean | undefined
  /** False keeps repeated lines. */
  repeats?: boolean | undefined
  /** Turns a page of HTML into text, before all else. Default false. docs/options.md#html. */
  html?: boolean | undefined
}

// ── Tool results ────────────────────────────────────────────────────────────────────────────────

/** Shape of the tool results and messages of a framework: docs/frameworks.md. */
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
  | 'kimi-code'
  | 'continue'

export interface ResultPolicy extends TextPolicy {
  /** Division of the limits among the text blocks of ONE result. 'fair' (default): small blocks
   *  stay whole; 'order': first come, first served; 'each': all limits to each block. */
  share?: 'fair' | 'order' | 'each' | undefined
  /** Copies beside the text that are not sent to a model: 'whole' (default), at most `maxBytes` of
   *  their JSON, 'cap' (8_192 bytes), or 'drop'. docs/results.md#side-data. */
  sideData?: 'whole' | 'cap' | 'drop' | { maxBytes: number } | undefined
  /** Copies to keep of an MCP result whose texts repeat its `structuredContent`. Default 'both'.
   *  docs/frameworks.md#what-is-sent-twice. */
  structured?: 'both' | 'text' | 'structured' | undefined
  /** Form of a list or an object of JSON over the limits: JSON with the notice as its last value,
   *  'data' (default); the same without a notice, 'keep-shape'; or lines of text, 'text'.
   *  docs/json.md#results-of-tools. */
  json?: 'data' | 'keep-shape' | 'text' | undefined
  /** A JSON schema, such as that of the tool's result. JSON that validates against it still does if
   *  the limits leave room, and no notice is added to it. */
  schema?: object | undefined
  /** Default: detected from the tags of the value, never by instanceof. */
  dialect?: DialectName | undefined
  /** Budget of images, audio and files, of one result or of a history. Default: all stay. */
  media?: MediaOptions | undefined
  /** Reports what would change, and returns the value as it came. Nothing is saved. Default false,
   *  or true by SPILLWAY=observe in the environment. docs/observability.md. */
  observe?: boolean | undefined
}

/** Bounds of images, audio and files in blocks, and base64 in texts: docs/media.md. A payload over
 *  them becomes words, such as "[... 1,048,576 bytes of image/png 1280x720 omitted]". */
export interface MediaOptions {
  /** Bytes of all payloads together, decoded. Default Infinity. */
  maxBytes?: number | undefined
  /** Number of payloads. Default Infinity. */
  maxItems?: number | undefined
  /** End at which omission starts. Default 'oldest'. */
  order?: 'oldest' | 'newest' | undefined
  /** Provider whose limits for one request apply too; in histories also to the user's payloads.
   *  Default: none. */
  provider?: 'anthropic' | 'openai' | 'gemini' | 'bedrock' | undefined
}
/** A payload that a provider rejects in a request. */
export interface RefusedMedia {
  /** Index of its message. */
  index: number
  from: 'tool' | 'user'
  kind: 'image' | 'document' | 'file'
  /** The limit for which it is omitted. 'budget' is `maxBytes` or `maxItems`, 'image_type' an image
   *  whose bytes are not of the type that it claims. */
  reason:
    | 'budget'
    | 'image_bytes'
    | 'image_pixels'
    | 'many_images_pixels'
    | 'images'
    | 'document_bytes'
    | 'documents'
    | 'request_bytes'
    | 'image_type'
  /** Bytes, decoded. */
  bytes: number
  /** Pixels, if the header of an image states them. */
  width?: number
  height?: number
}
/** Clamps one tool result or message of any dialect: docs/results.md. Order, ids, images and
 *  metadata stay; messages without a tool result are returned as they are. Plain data over the
 *  limits becomes less data with a notice, or a text: docs/json.md. */
export function clampResult<T>(result: T, policy?: ResultPolicy): T

/** Returns what `clampResult` returns.
 *  Texts over 262,144 chars are cleaned, redacted and searched on other threads, so the event loop
 *  goes on: docs/speed.md. With `spill` the whole of each text that is cut is saved, and its notice
 *  names it. Getters and `toJSON` of a long result run more than once, those of any result with
 *  `spill`. Rejects for wrong options. */
export function clampResultAsync<T>(result: T, policy?: ResultPolicy & Pick<WrapPolicy, 'spill'>): Promise<T>
/** Shortens the SAME error object, with all that is attached to it. A frozen error is returned as a
 *  new error, any other thrown value as a copy. docs/results.md#errors. */
export function clampError<E>(error: E, policy?: TextPolicy & Pick<ResultPolicy, 'observe'>): E

/** Wraps a tool (`execute`, `invoke`, `func`, or a function): its results, partial updates and
 *  thrown errors are clamped. Options are checked here. A cut may turn an object into text: check
 *  `typeof` if you call such a tool yourself. docs/results.md#wrapped-tools. */
export function wrapTool<T extends object>(tool: T, policy?: WrapPolicy): T
export interface WrapPolicy extends ResultPolicy {
  /** Method to wrap. Default: the first of execute, invoke, func that is a function. */
  method?: string | undefined
  /** Store for the full output of a result that was cut. Only tools that return a promise can
   *  save. */
  spill?: SpillStore | undefined
  /** Called with each event, never with content, like the channel 'spillway:clamp'. Errors it
   *  throws are ignored. */
  onClamp?: ((event: ClampEvent) => void) | undefined
}
/** A change of a result, a partial update or a thrown error, or a result that was left as it was.
 *  Sizes are sums over all its texts, and 0 for 'redacted' and 'skipped'. docs/observability.md. */
export interface ClampEvent {
  /** 'omitted': words replaced payloads; 'cleared': a line replaced an old result. */
  action: 'cut' | 'cleared' | 'omitted' | 'redacted' | 'skipped'
  /**
   *  'limits'      the result's own limits, which `exceeded` names;
   *  'budget'      a budget of several results: `aggregate`, a plan, a full window;
   *  'prices'      clearing pays; 'window' the window is full; 'repeat' another result says the same;
   *  'media'       limits of payloads; 'secret' a secret was found;
   *  'stream'      a stream of a class, which passes; 'unreadable' reading it threw.
   */
  reason: 'limits' | 'budget' | 'prices' | 'window' | 'repeat' | 'media' | 'secret' | 'stream' | 'unreadable'
  /** False if it was only observed: the value passed as it came. */
  applied?: false
  tool?: string
  callId?: string
  /** 'error' for a thrown error. The result of a command that failed is a 'result'. */
  phase: 'result' | 'update' | 'error'
  /** Id or path of the saved output, as the notice names it. */
  saved?: string
  total: TextSize
  /** Size of the kept text, without notices, but with the words that replace payloads. */
  kept: TextSize
  exceeded: Cut['exceeded'][number][]
  /** Omitted payloads (images, sounds and files) and their bytes, decoded, in an event of their own
   *  with an empty `exceeded`. */
  media?: { items: number; bytes: number }
  /** Number of secrets that marks replaced, by kind. */
  redacted?: { readonly [kind: string]: number }
}
/** Wraps every tool of an array or record. A function may return a policy for each (undefined: not
 *  wrapped). */
export function wrapTools<
  T extends readonly object[] | (object & { [K in keyof T]: object }),
  P extends WrapPolicy | undefined = WrapPolicy | undefined,
>(tools: T, policy?: WrapPolicy | (((name: string, tool: object) => P) & OnlyOptions<P>)): T
/** Makes TypeScript reject a function that returns policies with unknown options. */
type OnlyOptions<P> =
  Exclude<P extends unknown ? keyof P : never, keyof WrapPolicy> extends infer Name
    ? [Name] extends [never]
      ? unknown
      : string extends Name
        ? unknown
        : { 'no option': Name }
    : never

/** Makes a copy for people's screens, never for a model: docs/results.md#display. Texts are
 *  truncated, notices included; images, audio and files become `{bytes, omitted: true}`. */
export function sanitizeForDisplay<T>(
  result: T,
  options?: {
    /** Chars of each text. Default 8_000. */
    maxChars?: number | undefined
    /** Chars of each text of an error result, of its first line. Default 400. */
    maxErrorChars?: number | undefined
    /** Cleans texts first, as cleanText does. Default false. */
    clean?: boolean | CleanOptions | undefined
    /** Replaces secrets, as redactText does. Default false. */
    redact?: boolean | RedactOptions | undefined
  },
): T

// ── Histories ───────────────────────────────────────────────────────────────────────────────────

/** Clamps every tool result of a history (`notice` 'pi' unless given), then all together under
 *  `aggregate`. Returns the same array if nothing changed. `clamped` counts results. */
export function clampMessages<T extends readonly unknown[]>(
  messages: T,
  policy?: MessagesPolicy,
): { messages: T; clamped: number }
export interface MessagesPolicy extends ResultPolicy {
  aggregate?: AggregateOptions | undefined
}
/** A budget over all tool results of a history: docs/results.md#a-history. */
export interface AggregateOptions {
  /** Chars of all tool results together. Each result keeps at least "[...]". */
  maxChars: number
  /** End of the history at which reduction starts. Default 'oldest'. */
  order?: 'oldest' | 'newest' | undefined
  /** Reduces the results after the model's last message only when nothing else is left. Default
   *  true. */
  protectNewest?: boolean | undefined
  /** Chars of content that each result keeps if possible. Default 2_000; 0 leaves only a notice. */
  minKeepChars?: number | undefined
}

/** Gives every tool call one result and every result its call, as the provider requires:
 *  docs/tool-pairs.md. Returns the same array if it is sound. `repaired` counts changes. */
export function repairToolPairs<T extends readonly unknown[]>(
  messages: T,
  options?: {
    /** Default: that of the first call. */
    dialect?: DialectName | undefined
    /** Results without a call: 'drop' (default), or 'text', which keeps their text as the user's
     *  words. */
    orphans?: 'drop' | 'text' | undefined
    /** Text of a missing result. Default: "[No result: the call was interrupted, or its result was
     *  removed]". */
    missing?: string | undefined
  },
): { messages: T; repaired: number }

// ── Process output ──────────────────────────────────────────────────────────────────────────────

/** Captures any amount of output in bounded memory: docs/capture.md. The text is `clampText` of the
 *  output, cleaned unless `clean` is false, however it was chunked. Binary output becomes its
 *  size. */
export class OutputCapture {
  constructor(options?: CaptureOptions)
  /** Writables with back-pressure. Ending one leaves the other open. Chunks are copied. */
  readonly stdout: Writable
  readonly stderr: Writable
  /** Reads a child's stdout and stderr. Resolves once both have ended, or `graceMs` (2,000) after
   *  the exit. Rejects on the child's 'error', and on abort, after SIGTERM; `finish` then returns
   *  the output so far. A second child, or one without pipes, is ERR_SPILLWAY_OPTION. */
  attach(
    child: ChildProcess,
    options?: { graceMs?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<CaptureResult>
  /** Returns the present result. Costs about one clamp. Its notice and `spill` name the output
   *  while it is still being saved, so that it can be paged, if createSpillStore made the store. */
  snapshot(): CaptureResult
  /** Ends both streams. Further calls return the first result. */
  finish(exit?: ProcessExit): Promise<CaptureResult>
}
/** Options of a capture. `keep` is 'findings' unless given. */
export interface CaptureOptions extends TextPolicy {
  /** 'merged' (default): one text in order of arrival; 'separate': each stream has its own
   *  limits. */
  streams?: 'merged' | 'separate' | undefined
  /** Cleans the output as it streams; the saved file stays raw. Default true. */
  clean?: boolean | CleanOptions | undefined
  /** Store for the raw output, once it exceeds the limits. Default: not saved. */
  spill?: SpillStore | undefined
  /** Name of the producer in notices (unless `source` is given), events and spill records. */
  tool?: string | undefined
  callId?: string | undefined
}
/** The end of a process, reported in a last line such as "[exit code 1]". */
export interface ProcessExit {
  exitCode?: number | null | undefined
  signal?: string | null | undefined
  timedOut?: boolean | undefined
}
export interface CaptureResult {
  /** The merged text, or both streams under "stdout:" and "stderr:". The exit line counts. */
  text: string
  /** With 'separate': each stream by itself, without label and exit line. Otherwise "". */
  stdout: string
  stderr: string
  /** True if anything was omitted. */
  truncated: boolean
  /** Size before cleaning. */
  total: TextSize
  exit?: ProcessExit
  /** The saved output, if anything was omitted. */
  spill?: SpillRecord
  /** Reason why the full output could not be saved. */
  spillError?: string
  /** True if binary output was replaced by its size. */
  binary: boolean
}

/** Formats stdout and stderr under labels, each within the policy (unless given: keep 'findings',
 *  8_000 chars, notice 'count'), and the exit. docs/capture.md#output-that-you-have. */
export function formatProcessOutput(
  output: ProcessExit & { stdout: string | Uint8Array; stderr: string | Uint8Array },
  policy?: TextPolicy,
): string

// ── Full outputs on disk ────────────────────────────────────────────────────────────────────────

export interface SpillOptions {
  /** Directory used for nothing else, created with mode 0700.
   *  docs/spill.md#what-is-stored-where. */
  dir: string
  /** Reference to a saved output in notices: the file's path (default), or its id alone, for
   *  spillTool. */
  reference?: 'path' | 'id' | undefined
  /** Key of the ids, at least 16 chars. Directories with one secret give the same output of the
   *  same call one id. Default: a random one in the directory, made by the first save. */
  secret?: string | undefined
  /** Bytes of one file, which is truncated above it. Default 64 MiB. */
  maxFileBytes?: number | undefined
  /** Bytes of the directory. Above it the oldest files are removed. Default 512 MiB. */
  maxTotalBytes?: number | undefined
  /** Milliseconds after which a file is removed. Default 7 days. */
  maxAge?: number | undefined
  /** Milliseconds. No younger file is removed. Default 1 hour. */
  minAge?: number | undefined
}
/** A saved output. `bytes` and `lines` are the size of the full output. `complete` is false if the
 *  file holds less, or is still being written. */
export interface SpillRecord {
  /** 16 hexadecimal digits: a keyed hash of the call and the output. */
  id: string
  path: string
  bytes: number
  lines: number
  complete: boolean
}
/** Full outputs, found by their ids: docs/spill.md. Anyone may implement it. Errors have the
 *  system's code (ENOSPC ...) or ERR_SPILLWAY_SPILL, wrong arguments ERR_SPILLWAY_OPTION. */
export interface SpillStore {
  /** Part of a record that notices name. Default 'id'. */
  readonly reference?: 'path' | 'id' | undefined
  /** Saves a text as UTF-8, or bytes as they are, which must not change meanwhile. Chunks are asked
   *  for one after another; if they end in an error, nothing is kept.
   *  docs/spill.md#a-store-of-your-own. */
  save(
    text: string | Uint8Array | AsyncIterable<Uint8Array>,
    meta?: { tool?: string | undefined; callId?: string | undefined },
  ): Promise<SpillRecord>
  /** Reads a page by id. No page splits a UTF-8 sequence; consecutive pages make up the file. A
   *  page beyond the end is empty. docs/spill.md#reading-back. */
  read(id: string, range?: SpillRange): Promise<SpillSlice>
  /** Finds the lines that contain a text or match a regular expression, in order. Returns at most
   *  40_960 bytes of text. docs/spill.md#reading-back. */
  search(id: string, pattern: string, options?: SpillSearch): Promise<SpillMatch[]>
  /** Lists all outputs, oldest first. */
  list(): Promise<SpillRecord[]>
  /** Removes files by age and total size, except the ids in `retain` and files still being
   *  written. */
  sweep(options?: { retain?: readonly string[] | undefined }): Promise<{ removed: number; bytes: number }>
}
export interface SpillRange {
  /** First line of the page. Default 1. */
  line?: number | undefined
  /** First byte of the page, from 0. Takes precedence over `line`. */
  byte?: number | undefined
  /** Lines at most. Default: as many as fit. */
  lines?: number | undefined
  /** Bytes of text at most. Default 40_960. */
  maxBytes?: number | undefined
  /** Reads the bytes as they were saved. Stores always do; spillReader shows JSON as lines without
   *  it. Default false. */
  exact?: boolean | undefined
}
/** A page of a saved output. */
export interface SpillSlice {
  text: string
  /** First line, from 1. */
  line: number
  /** First byte, from 0. */
  byte: number
  /** Size of the file, less than the full output if that is not complete. */
  totalLines: number
  totalBytes: number
  /** First line of the next page. Absent at the end, and if the page ends inside a line. */
  nextLine?: number
  /** First byte of the next page. Absent at the end. */
  nextByte?: number
  /** Record of the output, if the store has it at hand; saves spillTool a look at `list()`. */
  record?: SpillRecord
}
export interface SpillSearch {
  /** Reads the pattern as a regular expression. Default false. */
  regex?: boolean | undefined
  /** Default false. */
  ignoreCase?: boolean | undefined
  /** Lines before and after each match. Default 0, at most 100. */
  context?: number | undefined
  /** Matches. Default 100, at most 1_000. */
  max?: number | undefined
  /** First line that may match; to continue, the line after the last match. Default 1. */
  line?: number | undefined
  /** Searches the bytes as they were saved, like `SpillRange.exact`. Default false. */
  exact?: boolean | undefined
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
/** Creates a store in a directory, which it does not touch before the first save. */
export function createSpillStore(options: SpillOptions): SpillStore
/** Reads saved outputs as a person would: an object or a list in JSON as lines, each with its path,
 *  strings without escapes. Lines, bytes and totals are those of these lines.
 *  docs/spill.md#json-as-lines. */
export function spillReader(store: SpillStore): {
  /** Reads a page. `exact`: it has the bytes as they were saved. */
  read(id: string, range?: SpillRange): Promise<SpillSlice & { exact: boolean }>
  search: SpillStore['search']
}
/** Creates a tool with which a model reads and searches saved outputs; map its fields to your
 *  framework's names. It answers invalid input with a sentence. docs/spill.md#for-a-model. */
export function spillTool(store: SpillStore): {
  name: 'read_output'
  description: string
  parameters: {
    type: 'object'
    properties: Record<
      'id' | 'line' | 'byte' | 'lines' | 'pattern' | 'regex' | 'exact',
      { type: 'string' | 'integer' | 'boolean'; description: string }
    >
    required: string[]
    additionalProperties: false
  }
  /** The same parameters as a Standard Schema with a JSON schema, as the AI SDK, Mastra and MCP SDK
   *  2.x take them. It accepts every input: `execute` answers a wrong one in words. */
  inputSchema: {
    '~standard': {
      version: 1
      vendor: 'spillway'
      validate(value: unknown): { value: unknown }
      jsonSchema: { input(): Record<string, unknown>; output(): Record<string, unknown> }
    }
  }
  execute(input: unknown): Promise<string>
}

// ── Context budget ──────────────────────────────────────────────────────────────────────────────

export interface PrecheckInput {
  /** The history, in the shape of any framework. */
  messages: readonly unknown[]
  systemPrompt?: string | undefined
  /** The user's current request, if it is not among the messages yet. */
  prompt?: string | undefined
  /** Tool schemas that are sent with the request, counted as their JSON. */
  tools?: unknown
  /** Tokens of the context window, for input and output of one turn together. */
  contextTokens: number
  /** Tokens of the window for the answer. At most a quarter of the window is reserved. */
  reserveTokens: number
  /** Factor applied to estimates. Default 1.1. */
  safetyMargin?: number | undefined
  /** Replaces estimateTokens. Errors it throws pass through; a result that is not a number >= 0 is
   *  ERR_SPILLWAY_OPTION. */
  countTokens?: ((text: string) => number) | undefined
  /** Tokens that the provider reported for the first `messages` messages, system prompt and tools
   *  included. Ignored if the history is shorter. */
  lastUsage?: { inputTokens: number; messages: number } | undefined
  /** Chars of one tool result. Default: 30 % of the window, 4 chars a token, at most 16_000; 32_000
   *  from 100k tokens, 64_000 from 200k. */
  perResultMaxChars?: number | undefined
  /** Provider whose rule counts the tokens of an image (docs/media.md). Default: the highest
   *  count of the three. */
  provider?: 'anthropic' | 'openai' | 'gemini' | undefined
  /** Bytes of the request's body, as JSON. Above it the route is not 'fits'. Default Infinity. */
  maxRequestBytes?: number | undefined
  /** Limits of payloads. Those over them are listed in `refused` and not counted. Default: none. */
  media?: MediaOptions | undefined
  /** Budget over all tool results. `maxChars` defaults to the larger of four results and half the
   *  window, `minKeepChars` to 0. */
  aggregate?: (Omit<AggregateOptions, 'maxChars'> & { maxChars?: number | undefined }) | undefined
  /** Prices as in `clearToolResults`: the plan then starts at the end that makes the request
   *  cheaper, unless `aggregate.order` is given. Default: off. */
  prices?: ClearOptions['prices']
}

export interface Precheck {
  /** Step to take before the request: docs/context.md#the-route. */
  route: 'fits' | 'compact_only' | 'truncate_tool_results_only' | 'compact_then_truncate'
  estimatedTokens: number
  /** `contextTokens` less the reserve. */
  budgetTokens: number
  overflowTokens: number
  /** Bytes of the request's body, if `maxRequestBytes` is given. */
  requestBytes?: number
  /** Payloads over the limits in `media`, in order. Absent if there are none. */
  refused?: readonly RefusedMedia[]
  /** Chars that truncating all tool results to `minKeepChars` and a notice each would free. */
  reducibleChars: number
  /** Price of the request after the plan, if `prices` is given. */
  price?: number
  /** Truncations that make the prompt fit, and no more than those. Empty for 'fits' and
   *  'compact_only'. */
  plan: readonly PlanStep[]
}

/** Truncation of one tool result, found by index, call id (absent: without id) and length. Results
 *  that share all three have a step each, in order. Texts stay if `maxChars` equals `chars`. */
export interface PlanStep {
  index: number
  callId?: string | undefined
  /** Chars of all texts of the result now. */
  chars: number
  maxChars: number
  /** Decoded bytes of payloads in blocks of their own that the result may keep, besides `maxChars`.
   *  Absent: all. */
  media?: number | undefined
}

/** Estimates a prompt before it is sent, and finds the cheapest way to make it fit:
 *  docs/context.md. */
export function precheck(input: PrecheckInput): Precheck

/** Truncates the tool results that a plan names, to the limits of its steps and of `policy`
 *  (`notice` 'pi' unless given). Returns the same array if nothing matches. */
export function applyPlan<T extends readonly unknown[]>(
  messages: T,
  plan: readonly PlanStep[],
  policy?: ResultPolicy,
): T

/** Clears old tool results where that saves more than rewriting the cached prompt costs:
 *  docs/context.md#clearing-old-results. Pass `state` to the next call, with the full history or
 *  the cleared one. Returns the same array if nothing is cleared. With `spill`, each result that a
 *  line replaces is saved, unless a notice in it names a saved output, and the line names it. If a
 *  save fails, the line asks to call the tool again. */
export function clearToolResults<T extends readonly unknown[]>(
  messages: T,
  options: ClearOptions & { spill: SpillStore },
): Promise<{ messages: T; state: ClearState; cleared: number; savedTokens: number }>
export function clearToolResults<T extends readonly unknown[]>(
  messages: T,
  options?: ClearOptions,
): {
  messages: T
  state: ClearState
  /** Results that this call cleared. */
  cleared: number
  /** Tokens saved in each request, estimated as `precheck` does. */
  savedTokens: number
}
/** Names are those of Anthropic's `clear_tool_uses_20250919`, except for those after
 *  `clearToolInputs`. */
export interface ClearOptions {
  /** Clears nothing up to this. Default: 100,000 input tokens. */
  trigger?: { type: 'input_tokens' | 'tool_uses'; value: number } | undefined
  /** Last results that stay, by number or by tokens (the result that reaches them stays). Default:
   *  3 tool uses. */
  keep?: { type: 'tool_uses' | 'input_tokens'; value: number } | undefined
  /** Tokens that a clearing must save. Default: 0. */
  clearAtLeast?: { type: 'input_tokens'; value: number } | undefined
  /** Tools whose results stay. Default: none. */
  excludeTools?: readonly string[] | undefined
  /** Also clears strings of over 200 chars in arguments of calls, whatever the size of their
   *  results. Default: false. */
  clearToolInputs?: boolean | readonly string[] | undefined
  /** Keeps a result whose call has a name with a dot or slash, of at most 200 chars, that a later
   *  call of another tool has too. Of equal calls only the last result stays. Default: false. */
  keepUsed?: boolean | undefined
  /** Also replaces a result by a reference to an earlier one: with the same text, or with 'near'
   *  also of the same call with few changed lines. Default: false. */
  dedupe?: 'exact' | 'near' | false | undefined
  /** Prices of a token in any unit. Defaults: `write` 1.25 and `read` 0.1 of `input`, which is
   *  1. */
  prices?: { write?: number | undefined; read?: number | undefined; input?: number | undefined } | undefined
  /** Expected number of requests, with this one. Default: unknown, so that no clearing costs more
   *  than clearings have saved so far. */
  requestsToCome?: number | undefined
  /** The state that the last call for this history returned. */
  state?: ClearState | undefined
  /** Words in place of a cleared result. `advice` says how to read it again, such as 'call the tool
   *  again if you need it', or names its saved output; it is added unless the words hold it. */
  placeholder?: string | ((call: { tool?: string; callId?: string; advice: string }) => string) | undefined
  /** Reports what would be cleared, and returns the messages as they came, with the counts of what
   *  would be. A later call that acts ignores such a `state`. Default as in ResultPolicy. */
  observe?: boolean | undefined
}
/** Plain JSON. Results are named by call id, tool and a number, or without an id by their order. */
export interface ClearState {
  readonly results: {
    readonly [name: string]: {
      /** Hash of its texts. */
      readonly hash: string
      /** Text in its place. Undefined if it stays, and only the arguments of its call are
       *  cleared. */
      readonly text?: string | undefined
      /** Tokens saved in each request. */
      readonly saved?: number | undefined
      /** True if the arguments of its call are cleared too. */
      readonly inputs?: true | undefined
      /** Text in place of their long strings. Undefined: '[cleared]'. */
      readonly inputText?: string | undefined
      /** The earlier result that it repeats. If that is not in the history, the text is sent
       *  whole. */
      readonly of?: { readonly key: string; readonly hash: string } | undefined
    }
  }
  /** Savings of clearings after this many answers, less their cost, in units of `prices`. */
  readonly balance?: { readonly answers: number; readonly price: number } | undefined
  /** True if none of it was applied. */
  readonly observed?: true | undefined
}

/** Keeps the prompts of one history within the window of a model. Remembers its decisions, and what
 *  it learned from refusals: docs/context.md. */
export function createContext(options: ContextOptions): Context
export interface ContextOptions
  extends Pick<
    ClearOptions,
    'prices' | 'requestsToCome' | 'keep' | 'excludeTools' | 'placeholder' | 'observe'
  > {
  /** The model's window. A refusal lowers it. */
  contextTokens: number
  /** Room for the answer, at most a quarter of the window. Default: 16_384. */
  reserveTokens?: number | undefined
  /** Factor on estimates. Default: 1.1. */
  safetyMargin?: number | undefined
  /** Saves results and arguments before they are cleared, cut or omitted. The text in their place
   *  names the saved output. */
  spill?: SpillStore | undefined
  /** How results are cut that do not fit otherwise. Default: `notice` 'pi'. */
  policy?: ResultPolicy | undefined
  /** `state` of an earlier context for this history, to go on in another process. */
  state?: object | undefined
}
export interface Context {
  /** Returns the messages to send. Repeats earlier decisions byte for byte. Give the full history,
   *  or messages that an earlier call returned with later ones. Content never throws. */
  prepare<M>(
    messages: readonly M[],
    request?: { system?: unknown; tools?: unknown },
  ): Promise<{
    messages: M[]
    /** Estimate with `safetyMargin`, system prompt and tools included. */
    estimatedTokens: number
    /** Results and calls that this call made shorter. */
    cleared: number
    /** False if nothing is left to take away, and the estimate is still over the budget. */
    fits: boolean
  }>
  /** Learns from an error of `send`. Returns true if the next `prepare` makes a smaller prompt,
   *  false for errors that have nothing to do with its size, and once nothing is left to take
   *  away. */
  refused(error: unknown): Promise<boolean>
  /** Prepares and sends, again after each refusal. Other errors pass through. */
  run<M, R>(
    messages: readonly M[],
    send: (messages: M[]) => R | PromiseLike<R>,
    request?: { system?: unknown; tools?: unknown },
  ): Promise<R>
  /** Plain JSON. Read it after `prepare` or `refused`. */
  readonly state: object
}

/**
 * Kind of a provider's error: docs/errors.md says what to do.
 *  'context_overflow'            more tokens than the context window holds;
 *  'payload_too_large'           more bytes than the server accepts;
 *  'media_too_large'             one image or document over the size allowed for it;
 *  'field_too_long'              one text over the length allowed for it;
 *  'request_exceeds_rate_limit'  one request over the quota of a minute or day: do not wait;
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
  /** Size of the request that the error states, in tokens, or bytes for payload_too_large. Includes
   *  the room for the answer where the provider counts both. */
  actual?: number
  /** Size allowed that the error states. */
  limit?: number
  /** Set if `actual` and `limit` count characters, or pixels of the longer side of an image. */
  unit?: 'characters' | 'pixels'
  /** For media_too_large: the index of the message in the request, if the error states it. */
  index?: number
  /** For field_too_long: the path of the text in the request, such as `messages[3].content`, if the
   *  error states it. */
  field?: string
  /** HTTP status, if the error has one. */
  status?: number
}
/** Classifies a provider's error: an Error, a response body, a string, or a message that ended in
 *  an error. Words about errors do not count: docs/errors.md. `patterns` are tried first, in
 *  order. */
export function classifyProviderError(
  error: unknown,
  options?: {
    patterns?: readonly { pattern: RegExp; kind: ProviderErrorKind }[] | undefined
  },
): ProviderError

/** Sends a prompt, and recovers if it is too large: docs/context.md#recovery. At most
 *  `maxCompactions` + 2 sends, then ContextOverflowError. Errors of hooks and other rejections of
 *  `send` pass through. An abort rejects with `signal.reason` at once. */
export function runWithRecovery<R, M = unknown>(hooks: RecoveryHooks<R, M>): Promise<R>
/** Hooks and options of runWithRecovery. `lastUsage` counts until the first compaction or
 *  truncation. */
export interface RecoveryHooks<R, M = unknown> extends Omit<PrecheckInput, 'messages'> {
  /** Returns the current history. Called before every attempt and after every step. */
  messages: () => readonly M[] | PromiseLike<readonly M[]>
  /** Sends these messages: the array of the history itself if nothing was cut. Adding the system
   *  prompt and tools is up to it. A rejection is classified, and so is a message that ended in an
   *  error. `signal` never aborts if the options have none. */
  send: (messages: M[], context: { attempt: number; signal: AbortSignal }) => PromiseLike<R>
  /** Makes older history smaller. Returns false if it could not; then it is not called again.
   *  `actualTokens` is the provider's count, if it reported one. */
  compact?:
    | ((state: { attempt: number; overflowTokens: number; actualTokens?: number }) => PromiseLike<boolean>)
    | undefined
  /** Stores the truncation. If it returns false, or the history is not smaller afterwards, it is
   *  not called again, and recovery compacts. Without it, the plan is applied to the messages that
   *  are sent. */
  truncate?: ((plan: readonly PlanStep[]) => PromiseLike<boolean>) | undefined
  /** Compactions before and after a send together. Default 3. */
  maxCompactions?: number | undefined
  /** Called with every decision, like the channel 'spillway:recovery'. Errors it throws are
   *  ignored. */
  onEvent?: ((event: RecoveryEvent) => void) | undefined
  /** Sends the history once as it is, and reports the step that would come first. Default as in
   *  ResultPolicy. */
  observe?: boolean | undefined
  signal?: AbortSignal | undefined
}
export interface RecoveryEvent {
  /** 'overflow': the provider refused the prompt. All other types are reported before the step. */
  type: 'precheck' | 'compact' | 'truncate' | 'send' | 'overflow' | 'give_up'
  /** Number of the send that this step leads to, from 1; at the end, of the last send. */
  attempt: number
  route?: Precheck['route']
  /** After a refusal, scaled so that the refused prompt does not fit. */
  estimatedTokens?: number
  /** Reason for this step, and against the alternatives. */
  reason?: string
  /** False if it was only observed. */
  applied?: false
}
/** Thrown if nothing is left to reduce, or no send is left. `cause` is the last refusal. `attempts`
 *  and `precheck` are not enumerable. */
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
 *  `query` the last messages: docs/sessions.md. */
export interface GuardOptions extends ResultPolicy {
  /** Method that stores a message, its first argument. Default 'appendMessage'. */
  method?: string | undefined
  /** Runs after a first cap, on messages with tool results; the meta is of the first. Its message
   *  is capped again; any other return value, or a throw, is ignored. A promise is an error of
   *  appendMessage, which then writes nothing. */
  transform?: ((message: unknown, meta: { toolCallId?: string; toolName?: string }) => unknown) | undefined
  /** Runs last, on every message. Returns the message to write, or false to write nothing:
   *  appendMessage then returns undefined. Capped and ignored like `transform`. */
  beforeWrite?: ((message: unknown) => unknown | false) | undefined
  /** Bytes of a message with tool results as JSON, without payloads; at least 2 KiB for each
   *  result. Default 262_144. */
  maxRowBytes?: number | undefined
  /** Changes the message itself, because agents (Pi up to 0.74) send the object that they store.
   *  Default true. */
  inPlace?: boolean | undefined
  /** Called with each event, never with content. */
  onClamp?: ((event: ClampEvent) => void) | undefined
}
/** Clamps the messages of one manager before it stores them: docs/sessions.md. Guarding the same
 *  method again replaces the options and returns the same guard. The guard never throws; errors of
 *  the manager pass through. */
// biome-ignore lint/suspicious/noExplicitAny: managers name their own messages
export function guardSession<S extends { appendMessage(message: any, ...rest: any[]): any }>(
  manager: S,
  options?: GuardOptions,
): Guard
export function guardSession(manager: object, options: GuardOptions & { method: string }): Guard
export interface Guard {
  /** Restores the original method, or lets every message pass if another override came after. */
  uninstall(): void
  /** Messages that were changed before they were written. */
  readonly clamped: number
}

/** Options of repairSession. Unless given, `notice` is 'pi' and `sideData` 'cap', which keeps 9_216
 *  bytes here. A function as `notice` or `query` is ERR_SPILLWAY_OPTION. `dialect` repairs rows of
 *  that dialect alone. */
export interface RepairOptions extends ResultPolicy {
  /** Budget over all tool results of the active branch; in files without branches, of all rows.
   *  Cannot be combined with `plan`. */
  aggregate?: AggregateOptions | undefined
  /** Plan to apply instead of `aggregate` and `media`. Steps without a match are counted in
   *  `unmatched`. */
  plan?: readonly PlanStep[] | undefined
  /** Keeps the original file as `<file>.bak`, which is never overwritten, and the file before later
   *  repairs as `<file>.bak.latest`. Default true. */
  backup?: boolean | undefined
  /** Treatment of what is not JSON in UTF-8: 'keep' (default), or 'mend', which splits glued rows,
   *  joins broken ones, closes a document behind its last whole message, and moves the rest to
   *  `<file>.damaged`. docs/sessions.md#damaged-rows-and-documents. */
  damaged?: 'leave' | 'mend' | undefined
  /** Gives a result to every tool call that has none, and removes results without a call, where the
   *  format allows it. Default false. docs/sessions.md#calls-without-a-result. */
  pairs?: boolean | undefined
  /** Reports the effect of a repair without a lock and without writing. Default false. */
  dryRun?: boolean | undefined
  /** False if the caller already holds `<file>.lock`. Default true. */
  lock?: boolean | undefined
  /** Milliseconds to wait for the file's lock. Default 10_000. */
  lockTimeout?: number | undefined
  /** Aborts until the file is replaced. The call then rejects with `signal.reason`. */
  signal?: AbortSignal | undefined
  /** Called some 20 times a second, and once at the end. Errors it throws are ignored. */
  onProgress?:
    | ((progress: { bytes: number; totalBytes: number; rows: number; clamped: number }) => void)
    | undefined
}
export interface RepairReport {
  /** True if the file was replaced. Always false in a dry run. */
  changed: boolean
  /** Rows of the file, without blank ones. */
  rows: number
  /** Rows in which a tool result, or other content of one, was cut. */
  clamped: number
  /** Rows that are not JSON in UTF-8; 1 for a document that is not. */
  damaged: number
  /** True if the file did not end in a newline. It then gets one. */
  tornTail: boolean
  /** Calls that were given a result. Absent if there are none. */
  paired?: number
  /** Calls without a result that the format has no way to give one. Absent if there are none. */
  unpaired?: number
  /** Results without a call, and second results of a call, that were removed. Absent if there are
   *  none. */
  orphans?: number
  /** Blanks that rows got in place of what was cut, since other files hold offsets into this one.
   *  Absent if there are none. */
  padded?: number
  /** Rows that keep a secret for the same reason: with a mark, they would be longer. Absent if
   *  there are none. */
  unredacted?: number
  /** Damaged rows that `damaged: 'mend'` leaves for the same reason. Absent if there are none. */
  unmended?: number
  /** Such results that stay: the format has no way to remove them, or no message would be left.
   *  Absent if there are none. */
  strays?: number
  /** Results that moved to their calls, ids and names that changed, and turns that became one.
   *  Absent if there are none. */
  rearranged?: number
  bytesBefore: number
  bytesAfter: number
  /** Steps of the plan that matched no result. */
  unmatched: number
  /** Number of omitted payloads, and their decoded bytes. Absent if no payload was omitted. */
  media?: { items: number; bytes: number }
  /** Path of the original file. */
  backupPath?: string
  /** Path of `<file>.damaged`, if something was put there. */
  damagedPath?: string
  /** Rows restored that were appended while an earlier repair replaced the file and was killed.
   *  Absent if 0. */
  recovered?: number
  /** Reason why nothing was repaired. 'damaged rows': a row or document that is not JSON may be
   *  over the limits. 'format unknown': no whole row or message of a known session. */
  reason?: 'nothing to do' | 'empty session' | 'dry run' | 'damaged rows' | 'format unknown'
}
/** Repairs a session of any size off the main thread: docs/sessions.md lists the formats. Every
 *  byte of what fits is kept; a second repair changes nothing; a crash leaves the old file or the
 *  new one. Rejects with ERR_SPILLWAY_LOCKED, ERR_SPILLWAY_CHANGED, ERR_SPILLWAY_ATTRIBUTE,
 *  ERR_SPILLWAY_FORMAT, ERR_SPILLWAY_BESIDE, or the system's own codes. */
export function repairSession(path: string, options?: RepairOptions): Promise<RepairReport>

export interface SessionReport {
  /** 'messages': messages of any dialect. OpenClaw's sessions are 'pi', Roo Code's 'cline'. */
  format:
    | 'pi'
    | 'claude-code'
    | 'codex'
    | 'copilot'
    | 'gemini-cli'
    | 'qwen'
    | 'kimi'
    | 'kimi-code'
    | 'continue'
    | 'cline'
    | 'opencode'
    | 'messages'
    | 'unknown'
  /** Rows of the file, without blank ones; the messages of a document. */
  rows: number
  bytes: number
  toolResults: number
  /** Size of tool-result text by tool, largest first. `tool` is "unknown" if nothing names it. */
  byTool: { tool: string; results: number; chars: number; bytes: number }[]
  /** The largest results. `row` is the line of the file, or the message of a document, from 1. */
  largest: { row: number; tool?: string; callId?: string; chars: number; bytes: number }[]
  /** Number of payloads in tool results, and their decoded bytes. Absent without payloads. */
  media?: { items: number; bytes: number }
  /** Payloads that the next request could not carry, of `media.provider` or of each provider. */
  refused?: (Omit<RefusedMedia, 'index'> & {
    /** Line of the file, from 1. */
    row: number
    provider: NonNullable<MediaOptions['provider']>
  })[]
  /** Results that the policy, apart from `media`, would cut. */
  oversized: number
  /** Rows that are not JSON in UTF-8, without blank ones; 1 for a document that is not. */
  damaged: number
  /** Estimated tokens of the results that the next request carries, each within the limits. */
  resultTokens: number
  /** Line of the first call whose name no provider takes. Absent if there is none. */
  invalidName?: number
  /** Line of a row on the active branch that follows a row which is not in the file, if the host
   *  sends nothing before it. Absent if there is none. */
  lostParent?: number
}
/** Reports which tools and results take up a session, with its `top` (10) largest results. Reads
 *  only, off the main thread. */
export function inspectSession(
  path: string,
  options?: ResultPolicy & { signal?: AbortSignal | undefined; top?: number | undefined },
): Promise<SessionReport>

// ── Errors and events ───────────────────────────────────────────────────────────────────────────
// Every error has a stable `code`: ERR_SPILLWAY_OPTION for wrong arguments,
// ERR_SPILLWAY_CONTEXT_OVERFLOW, ERR_SPILLWAY_LOCKED, ERR_SPILLWAY_CHANGED, ERR_SPILLWAY_ATTRIBUTE,
// ERR_SPILLWAY_FORMAT, ERR_SPILLWAY_BESIDE, ERR_SPILLWAY_SPILL, or Node's own system code (ENOSPC
// ...).

/** Messages of the channels 'spillway:clamp', 'spillway:spill' and so on of
 *  `node:diagnostics_channel`: docs/observability.md. They cost nothing without subscribers. */
export interface ChannelMessages {
  clamp: ClampEvent
  /** An output was saved, or could not be. */
  spill: { tool?: string; callId?: string; record?: SpillRecord; error?: Error }
  recovery: RecoveryEvent
  repair: RepairReport & { path: string }
  /** spillway/pi or spillway/openclaw used another value, as the original does. Sent once for each
   *  field and value. */
  warning: { field: string; value: unknown; used: unknown }
}
/** Writes a line for each event of these channels, 'spillway:warning' apart, until you call what it
 *  returns. Default: `console.error`. docs/observability.md. */
export function logEvents(write?: (line: string) => void): () => void

// biome-ignore lint/complexity/noUselessEmptyExport: without it, a declaration file exports all names
export {}
