import { callback } from '../kinds.js'
import { tokensOfEach } from '../text/size.js'
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
  if (!given) return { isOwn: true, each: tokensOfEach }
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
  return sumsOf([texts], counter)[0] as number
}

/** Returns the tokens of each group of texts. All are counted in one call. */
export function sumsOf(groups: readonly (readonly string[])[], counter: Counter): number[] {
  const counts = counter.each(groups.flat())
  let at = 0
  return groups.map((texts) => texts.reduce((sum) => sum + (counts[at++] as number), 0))
}

function checked(tokens: unknown): number {
  if (Number.isFinite(tokens) && (tokens as number) >= 0) return tokens as number
  throw optionError(RangeError, 'countTokens', 'a function that returns a number from 0 up', tokens)
}
