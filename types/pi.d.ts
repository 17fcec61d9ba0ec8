/**
 * Pi's truncation utilities (`@earendil-works/pi-coding-agent`) on top of spillway, with their
 * names, signatures and result fields. Intended differences:
 *  - a newline ENDS a line: "a\nb\n" has two lines, "" has 0, and a final newline does not start
 *    another line. So exactly 2,000 lines fit, and a single long line that ends in a newline keeps
 *    its end instead of nothing;
 *  - text is well-formed: lone surrogates become U+FFFD;
 *  - a negative limit keeps "" and is reported once on the diagnostics channel 'spillway:warning'
 *    (`ChannelMessages` of 'spillway'); any other limit than a whole number or Infinity throws with
 *    code ERR_SPILLWAY_OPTION instead of dropping everything;
 *  - if nothing is kept of a partial last line, `outputLines` is 0;
 *  - the cost is one counting pass over the content, and a cut that depends only on the limits.
 */

export interface TruncationResult {
  /** Whole lines joined by "\n" without a final newline, or the content itself if it fits. */
  content: string
  truncated: boolean
  /** The limit that was hit first, null if nothing was cut. */
  truncatedBy: 'lines' | 'bytes' | null
  totalLines: number
  totalBytes: number
  /** Lines and bytes of `content`. */
  outputLines: number
  outputBytes: number
  /** True if the last line alone exceeds `maxBytes`; `content` is then its end. */
  lastLinePartial: boolean
  /** True if the first line alone exceeds `maxBytes`; `content` is then empty. */
  firstLineExceedsLimit: boolean
  maxLines: number
  maxBytes: number
}
export interface TruncationOptions {
  /** Default 2_000. */
  maxLines?: number | undefined
  /** Default 51_200 (50 KiB). */
  maxBytes?: number | undefined
}

/** Keeps whole lines from the start. */
export function truncateHead(content: string, options?: TruncationOptions): TruncationResult
/** Keeps whole lines from the end. Of a last line over the limit, keeps its end. */
export function truncateTail(content: string, options?: TruncationOptions): TruncationResult
/** Keeps the first `maxChars` (500) chars of a longer line and appends "... [truncated]". */
export function truncateLine(line: string, maxChars?: number): { text: string; wasTruncated: boolean }
/** Returns the first `maxUnits` chars of a text, or one less where a surrogate pair would be
 *  split. */
export function sliceHead(text: string, maxUnits: number): string
/** Returns the last `maxUnits` chars of a text, or one less where a surrogate pair would be
 *  split. */
export function sliceTail(text: string, maxUnits: number): string
/** Formats a size, such as "512B", "50.0KB", "1.5MB". */
export function formatSize(bytes: number): string
export const DEFAULT_MAX_LINES: 2000
export const DEFAULT_MAX_BYTES: 51200
export const GREP_MAX_LINE_LENGTH: 500
