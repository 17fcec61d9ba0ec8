/**
 * V8 knows that a string which it keeps as one byte a char cannot match, so for those the test takes 15 ns whatever the
 * length. Others it walks up to the first wide char, 0.6 ns a char.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of Latin-1
const WIDE = /[^\x00-\xff]/

/** Chars that show by the time they take whether the test walks, and the milliseconds that tell: a walk takes twice that. */
const PROBE = 1_024
const WALKED = 0.0003

/**
 * Tells whether a string surely holds no char over 0xFF. A narrow part of a wide string may be called wide, rather than
 * walked: that chooses between two ways of reading it, which come to the same.
 */
export function isNarrow(text: string): boolean {
  if (text.length > PROBE) {
    const probe = text.slice(0, PROBE)
    // What takes long may have been interrupted; what takes long twice walks.
    if (takesLong(probe) && takesLong(probe)) {
      clearStatics()
      return false
    }
  }
  return isSurelyNarrow(text)
}

/** The same by the test alone, for a string of which the start was judged before. */
export function isSurelyNarrow(text: string): boolean {
  if (!WIDE.test(text)) return true
  clearStatics()
  return false
}

/** A match stays in the statics of RegExp, and with it the text; this one takes its place. */
function clearStatics(): void {
  WIDE.test('\u0100')
}

function takesLong(probe: string): boolean {
  const start = performance.now()
  WIDE.test(probe)
  return performance.now() - start > WALKED
}
