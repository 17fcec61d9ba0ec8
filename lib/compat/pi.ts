import type { TruncationOptions, TruncationResult } from 'spillway/pi'
import { native } from '../engine.js'
import { bound, limit } from '../kinds.js'
import { alone } from '../text/flatten.js'
import { isNarrow, isStoredWide } from '../text/latin1.js'
import { sizeOf } from '../text/size.js'
import { sliceUtf16Safe } from '../text/slice.js'
import { checkString } from '../validate.js'
import { substitute } from '../warning.js'

export const DEFAULT_MAX_LINES = 2_000
export const DEFAULT_MAX_BYTES = 51_200
export const GREP_MAX_LINE_LENGTH = 500

export function truncateHead(content: string, options: TruncationOptions = {}): TruncationResult {
  return truncate(content, options, false)
}

export function truncateTail(content: string, options: TruncationOptions = {}): TruncationResult {
  return truncate(content, options, true)
}

export function truncateLine(
  line: string,
  maxChars = GREP_MAX_LINE_LENGTH,
): { text: string; wasTruncated: boolean } {
  if (checkString(line).length <= limitOf('maxChars', maxChars, GREP_MAX_LINE_LENGTH)) {
    return { text: line.toWellFormed(), wasTruncated: false }
  }
  return { text: `${sliceHead(line, maxChars)}... [truncated]`, wasTruncated: true }
}

export function sliceHead(text: string, maxUnits: number): string {
  return sliceUtf16Safe(text, 0, Math.max(limitOf('maxUnits', maxUnits), 0)).toWellFormed()
}

export function sliceTail(text: string, maxUnits: number): string {
  const start = checkString(text).length - Math.max(limitOf('maxUnits', maxUnits), 0)
  return sliceUtf16Safe(text, Math.max(start, 0)).toWellFormed()
}

export function formatSize(bytes: number): string {
  if (bytes < 1_024) return `${bytes}B`
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)}KB` : `${(bytes / 1_048_576).toFixed(1)}MB`
}

/** Returns a limit, which may be negative: then nothing fits, not even "". */
function limitOf(field: string, value: number | undefined, preset?: number): number {
  if (typeof value === 'number' && value < 0) {
    substitute(field, value, 0)
    return value
  }
  return preset === undefined ? limit(field, value) : bound(field, value, preset)
}

/** Numbers to and from the engine, shared by all calls. */
const io = new Float64Array(7)

function truncate(content: string, options: TruncationOptions, fromEnd: boolean): TruncationResult {
  const maxLines = limitOf('maxLines', options.maxLines, DEFAULT_MAX_LINES)
  const maxBytes = limitOf('maxBytes', options.maxBytes, DEFAULT_MAX_BYTES)
  const { bytes: totalBytes, lines: totalLines } = sizeOf(checkString(content))
  const result = {
    content,
    truncated: false,
    truncatedBy: null,
    totalLines,
    totalBytes,
    outputLines: totalLines,
    outputBytes: totalBytes,
    lastLinePartial: false,
    firstLineExceedsLimit: false,
    maxLines,
    maxBytes,
  }
  if (totalLines <= maxLines && totalBytes <= maxBytes) return { ...result, content: content.toWellFormed() }
  // A char takes at least one byte; plus a final newline and half a surrogate pair.
  const reach = Math.max(maxBytes, 0) + 3
  const window = fromEnd ? content.slice(-reach) : content.slice(0, reach)
  // The engine takes negative numbers as 0.
  io.set([maxBytes < 0 ? 0 : maxLines, maxBytes, Number(fromEnd)])
  native.wholeLines(window, !isStoredWide(content) && isNarrow(window), io)
  const [start, end, outputLines = 0, outputBytes = 0, partial, firstTooLong, broken] = io
  const kept = alone(window.slice(start, end))
  return {
    ...result,
    content: broken ? kept.toWellFormed() : kept,
    truncated: true,
    truncatedBy: !firstTooLong && outputLines >= maxLines && outputBytes <= maxBytes ? 'lines' : 'bytes',
    outputLines,
    outputBytes,
    lastLinePartial: partial === 1,
    firstLineExceedsLimit: firstTooLong === 1,
  }
}
