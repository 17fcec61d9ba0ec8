/**
 * Matches a char over 0xFF. V8 knows that a string stored with one byte a char cannot match, so its test takes 15 ns at
 * any length. Other strings are scanned up to the first wide char, at 0.6 ns a char.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of Latin-1
const WIDE = /[^\x00-\xff]/

/** Chars of a probe, and the milliseconds above which the test must have scanned it. A scan takes twice that. */
const PROBE = 1_024
const WALKED = 0.0003

/**
 * Returns true if a string certainly has no char over 0xFF. A narrow part of a wide string may count as wide, instead
 * of being scanned: both ways to read it have the same result.
 */
export function isNarrow(text: string): boolean {
  if (text.length > PROBE) {
    const probe = text.slice(0, PROBE)
    // A single slow test may have been interrupted. Two slow tests scan.
    if (takesLong(probe) && takesLong(probe)) {
      clearStatics()
      return false
    }
  }
  return isSurelyNarrow(text)
}

/** Like `isNarrow` without a probe, for a string whose start was probed before. */
export function isSurelyNarrow(text: string): boolean {
  if (!WIDE.test(text)) return true
  clearStatics()
  return false
}

/** The statics of RegExp keep the last match and its text in memory. This match replaces it. */
function clearStatics(): void {
  WIDE.test('\u0100')
}

function takesLong(probe: string): boolean {
  const start = performance.now()
  WIDE.test(probe)
  return performance.now() - start > WALKED
}
