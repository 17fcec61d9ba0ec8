import type { TextSize } from 'spillway'
import type { EnginePolicy } from '../compiled.js'
import { native } from '../engine.js'
import { isLatin1 } from './latin1.js'
import { narrowness, PIECE, pieceAt, pieces } from './pieces.js'

/** Buffer for the numbers of all native calls. They are read before any other code runs. */
export const io = new Float64Array(16)

export const NEWLINE = 10

/** Measures a string in pieces. */
export function sizeOf(text: string): TextSize {
  const sum = io.fill(0)
  const narrow = narrowness(text)
  for (const piece of pieces(text)) native.measure(piece, narrow(piece), sum)
  const [bytes = 0, chars = 0, newlines = 0] = sum
  return linesOf({ bytes, chars, newlines }, isOpen(text))
}

/**
 * Returns true if a string is well-formed and its size shows that it is within a policy. Returns
 * false if size alone cannot tell.
 */
export function isWithin(text: string, { limits, bySize }: EnginePolicy): boolean {
  if (text.length > bySize) return false
  const sum = io.fill(0)
  native.measure(text, isLatin1(text), sum)
  const [bytes = 0, , breaks = 0, broken] = sum
  return bytes <= limits.bytes && breaks + Number(isOpen(text)) <= limits.lines && broken === 0
}

const FIRST = new Uint32Array(1)

/** Estimates the tokens of one text. */
export function tokensOf(text: string | Uint8Array): number {
  if (typeof text === 'string' && text.length > PIECE) return tokensOfEach([text])[0] as number
  native.estimateEach([text], FIRST, io)
  return io[0] as number
}

/** Estimates the tokens of each text in one call, since a call costs more than a short text. */
export function tokensOfEach(texts: readonly (string | Uint8Array)[]): Float64Array {
  const counts = new Float64Array(texts.length)
  const parts: (string | Uint8Array)[] = []
  const owners: number[] = []
  for (const [at, text] of texts.entries())
    for (let start = 0; start < text.length; owners.push(at)) {
      const part = typeof text === 'string' ? pieceAt(text, start) : text
      parts.push(part)
      start += part.length
    }
  if (parts.length > 0) native.estimateEach(parts, Uint32Array.from(owners), counts)
  return counts
}

/** Adds sizes up. */
export function sum(sizes: readonly TextSize[]): TextSize {
  const total = { bytes: 0, chars: 0, lines: 0 }
  for (const { bytes, chars, lines } of sizes) {
    total.bytes += bytes
    total.chars += chars
    total.lines += lines
  }
  return total
}

/** Returns true if text follows the last newline. */
export function isOpen(text: string): boolean {
  return text.length > 0 && text.charCodeAt(text.length - 1) !== NEWLINE
}

/** Converts newlines to lines. `open`: text follows the last newline. */
export function linesOf(size: { bytes: number; chars: number; newlines: number }, open: boolean): TextSize {
  return { bytes: size.bytes, chars: size.chars, lines: size.newlines + Number(open) }
}
