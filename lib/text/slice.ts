import { bound } from '../kinds.js'
import { checkString, optionError } from '../validate.js'
import { alone } from './flatten.js'

export function sliceUtf16Safe(text: string, start: number, end?: number): string {
  const length = checkString(text).length
  let from = position(start, length, 0)
  let to = position(end, length, length)
  if (splitsPair(text, from)) from += 1
  if (splitsPair(text, to)) to -= 1
  const piece = text.slice(from, Math.max(from, to))
  return piece.length * 2 < length ? alone(piece) : piece
}

export function truncateUtf16Safe(text: string, maxChars: number): string {
  return sliceUtf16Safe(text, 0, bound('maxChars', maxChars, Number.POSITIVE_INFINITY))
}

/** Returns the end of a piece of a text, moved by one where it would split a pair, and never back
 *  to the start. */
export function avoidTrailingHighSurrogateBreak(text: string, start: number, end: number): number {
  if (end <= start || !splitsPair(checkString(text), end)) return end
  return end - 1 > start ? end - 1 : end + 1
}

/** Resolves a position like `String.prototype.slice`. */
function position(at: number | undefined, length: number, missing: number): number {
  if (at === undefined) return missing
  if (typeof at !== 'number') throw optionError(TypeError, 'start and end', 'numbers', at)
  const whole = Math.trunc(at) || 0
  return whole < 0 ? Math.max(length + whole, 0) : Math.min(whole, length)
}

function splitsPair(text: string, at: number): boolean {
  return (
    at > 0 &&
    at < text.length &&
    (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 &&
    (text.charCodeAt(at) & 0xfc00) === 0xdc00
  )
}
