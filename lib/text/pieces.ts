import type { EnginePolicy } from '../compiled.js'
import { isNarrow, isStoredWide } from './latin1.js'

/** Chars that are read at once. Their copy stays in the processor's cache. */
export const PIECE = 65_536

/** Returns the piece of a string from `start`. It does not end inside a surrogate pair. */
export function pieceAt(text: string, start: number): string {
  let end = Math.min(start + PIECE, text.length)
  if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

/** Yields a string in pieces. */
export function* pieces(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const piece = pieceAt(text, start)
    yield piece
    start += piece.length
  }
}

/**
 * Returns a test of consecutive pieces of a string, true if a piece is narrow. A string is all
 * narrow or all wide in memory, so after one wide piece the rest is not tested.
 */
export function narrowness(text: string): (piece: string) => boolean {
  let narrow = !isStoredWide(text)
  return (piece) => {
    narrow &&= isNarrow(piece)
    return narrow
  }
}

/**
 * Chars up to which a text is read whole: an earlier notice may be between its ends (`SEARCHED` in
 * src/notice/earlier.rs).
 */
export const READ_WHOLE = 256 * 1024

/** Chars at an end of a text in which 'auto' and the search for earlier notices (`LONGEST` there)
 *  look. */
const GLANCE = 8_192

/** Returns the parts of a string that its cut can depend on: the whole string, or both ends. */
export function windows(text: string, policy: Pick<EnginePolicy, 'reach'>): [head: string, tail: string] {
  const { head, tail } = policy.reach
  if (text.length <= Math.max(head, tail, READ_WHOLE)) return [text, '']
  // An earlier notice at an end is not kept as text, so the kept text reaches further by its
  // length.
  return [text.slice(0, head + GLANCE), text.slice(-(tail + GLANCE))]
}

/**
 * Chars of a result's text that are searched for findings, most of them at its end. A search must
 * not hold up the event loop for long.
 */
export const SEARCHED = 16 * 1024 * 1024
