/**
 * spillway under the names of Pi's truncation utilities (`@earendil-works/pi-coding-agent`), with their signatures and
 * result fields. Differences, each on purpose:
 *  - a newline ENDS a line, so "a\nb\n" is two lines and "" is none; a final newline is no line of its own. So exactly
 *    2,000 lines fit, and one long line with a newline behind it keeps its end instead of nothing;
 *  - content comes back well-formed: a lone surrogate comes out as U+FFFD, and truncateLine splits no pair;
 *  - limits that are no whole number from 0 up, or Infinity, throw with code ERR_SPILLWAY_OPTION instead of dropping
 *    everything;
 *  - where nothing is kept of a partial last line, `outputLines` is 0;
 *  - cost: one counting pass over the content, and a cut that depends on the limits alone.
 */

export interface TruncationResult {
  /** Whole lines joined by "\n" without a final one, or the content itself when it fits. */
  content: string
  truncated: boolean
  /** The limit that was hit first, null when nothing was cut. */
  truncatedBy: 'lines' | 'bytes' | null
  totalLines: number
  totalBytes: number
  /** Lines and bytes of `content`. */
  outputLines: number
  outputBytes: number
  /** The last line alone was over the bytes, and `content` is its end. */
  lastLinePartial: boolean
  /** The first line alone is over the bytes, and `content` is empty. */
  firstLineExceedsLimit: boolean
  maxLines: number
  maxBytes: number
}
export interface TruncationOptions {
  /** Default 2_000. */
  maxLines?: number
  /** Default 51_200 (50 KiB). */
  maxBytes?: number
}

/** Keeps whole lines from the start. */
export function truncateHead(content: string, options?: TruncationOptions): TruncationResult
/** Keeps whole lines from the end; of a last line that is too long, its end. */
export function truncateTail(content: string, options?: TruncationOptions): TruncationResult
/** Keeps the first `maxChars` (500) chars of a line and adds "... [truncated]". */
export function truncateLine(line: string, maxChars?: number): { text: string; wasTruncated: boolean }
/** Such as "512B", "50.0KB", "1.5MB". */
export function formatSize(bytes: number): string
export const DEFAULT_MAX_LINES: 2000
export const DEFAULT_MAX_BYTES: 51200
export const GREP_MAX_LINE_LENGTH: 500
