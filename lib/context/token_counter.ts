import { native } from '../engine.js'
import { StringInput } from '../text/input.js'
import { PIECE } from '../text/pieces.js'
import { callback, optionError } from '../validate.js'

/** A counter of tokens. */
export interface Counter {
  /** True for the estimate, false for a caller's function. */
  readonly isOwn: boolean
  each(texts: readonly string[]): number[]
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
  return counter.each(texts).reduce((sum, tokens) => sum + tokens, 0)
}

function checked(tokens: unknown): number {
  if (Number.isFinite(tokens) && (tokens as number) >= 0) return tokens as number
  throw optionError(RangeError, 'countTokens', 'a function that returns a number from 0 up', tokens)
}

/** Estimates texts in batches, since a call costs more than a short text. */
function estimateEach(texts: readonly string[]): number[] {
  const counts: number[] = []
  let [batch, chars]: [string[], number] = [[], 0]
  const flush = () => {
    const lengths = Float64Array.from(batch, ({ length }) => length)
    native.estimateEach(batch.join(''), lengths)
    counts.push(...lengths)
    batch = []
    chars = 0
  }
  for (const text of texts) {
    if (chars + text.length > PIECE) flush()
    if (text.length > PIECE) counts.push(new StringInput(text).tokens())
    else {
      batch.push(text)
      chars += text.length
    }
  }
  flush()
  return counts
}
