import type { Serializer } from 'node:v8'

/**
 * Matches a char over 0xFF. V8 knows that a string stored with one byte a char cannot match, so its
 * test takes 15 ns at any length. Other strings are scanned up to the first wide char, at 0.5 ns a
 * char.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of Latin-1
const WIDE = /[^\x00-\xff]/

/** Returns true if a string has no char over 0xFF. The engine reads such strings in half the time.
 *  Returns false for a long one that V8 stores with two bytes a char all the same. */
export function isLatin1(text: string): boolean {
  return !isStoredWide(text) && isNarrow(text)
}

/** Returns true if a string has no char over 0xFF. */
export function isNarrow(text: string): boolean {
  if (!WIDE.test(text)) return true
  hasMetWide = true
  // The statics of RegExp keep the last match and its text in memory. This match replaces it.
  // Made, as a bundler writes a literal as the char itself, and V8 would then store the whole file
  // with two bytes a char.
  WIDE.test(String.fromCharCode(0x100))
  return false
}

/** Chars from which the scan of a string takes far longer than to ask how it is stored. */
const LONG = 65_536

/** A wide char was met. Until then no string is asked, as most programs have none. */
let hasMetWide = false

/** Serializes values as `v8.serialize` does, whose format tags strings by their width. Undefined
 *  until it is needed, as its module takes a millisecond to load, and null where there is none. */
let serializer: Serializer | null | undefined

/** The tag of a string with two bytes a char. */
const TWO_BYTES = 'c'.charCodeAt(0)

/** Returns true if V8 is known to store a string with two bytes a char. A wrong answer costs time
 *  alone. */
export function isStoredWide(text: string): boolean {
  if (text.length < LONG || !hasMetWide) return false
  if (serializer === undefined) {
    // V8 alone stores strings so. Other runtimes have a module of this name.
    const v8 = 'Bun' in globalThis ? undefined : process.getBuiltinModule?.('node:v8')
    serializer = v8 ? new v8.Serializer() : null
  }
  if (!serializer) return false
  // A part is stored as its whole, from 3 chars on.
  serializer.writeValue(text.slice(0, 16))
  return serializer.releaseBuffer()[0] === TWO_BYTES
}
