import { native } from '../engine.js'
import { callback } from '../kinds.js'
import { StringInput } from '../text/input.js'
import { PIECE } from '../text/pieces.js'
import { optionError } from '../validate.js'

/** A counter of tokens. */
export interface Counter {
  /** True for the estimate, false for a caller's function. */
  readonly isOwn: boolean
  each(texts: readonly string[]): ArrayLike<number>
}

/** Returns a caller's counter, or the estimate. */
export function counterOf(countTokens: ((text: string) => number) | undefined): Counter {
  const given = callback('countTokens', countTokens)
  if (!given) return { isOwn: true, each: estimateEach }
  // Whole tokens, since sums of fractions depend on the order.
  const count = (text: string) => Math.ceil(checked(given(text)))
  return { isOwn: false, each: (texts) => texts.map(count) }
}

/** Returns a counter that calls a caller's function once for each text. */
export function remembering(counter: Counter): Counter {
  if (counter.isOwn) return counter
  const known = new Map<string, number>()
  const count = (text: string): number => {
    const tokens = known.get(text) ?? sumOf([text], counter)
    known.set(text, tokens)
    return tokens
  }
  return { isOwn: false, each: (texts) => texts.map(count) }
}

/** Returns the tokens of texts together. */
export function sumOf(texts: readonly string[], counter: Counter): number {
  const counts = counter.each(texts)
  let sum = 0
  for (let at = 0; at < counts.length; at++) sum += counts[at] as number
  return sum
}

function checked(tokens: unknown): number {
  if (Number.isFinite(tokens) && (tokens as number) >= 0) return tokens as number
  throw optionError(RangeError, 'countTokens', 'a function that returns a number from 0 up', tokens)
}

/** Estimates texts in one call, since a call costs more than a short text. */
function estimateEach(texts: readonly string[]): Float64Array {
  const counts = new Float64Array(texts.length)
  const isLong = (text: string) => text.length > PIECE
  const long = texts.some(isLong)
  native.estimateEach(long ? texts.map((text) => (isLong(text) ? '' : text)) : texts, counts)
  if (long)
    for (const [at, text] of texts.entries()) if (isLong(text)) counts[at] = new StringInput(text).tokens()
  return counts
}
