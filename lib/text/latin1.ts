/**
 * Matches a char over 0xFF. V8 knows that a string stored with one byte a char cannot match, so its test takes 15 ns at
 * any length. Other strings are scanned up to the first wide char, at 0.6 ns a char.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of Latin-1
const WIDE = /[^\x00-\xff]/

/** Returns true if a string has no char over 0xFF. The engine reads such strings in half the time. */
export function isLatin1(text: string): boolean {
  if (!WIDE.test(text)) return true
  // The statics of RegExp keep the last match and its text in memory. This match replaces it.
  WIDE.test('\u0100')
  return false
}
