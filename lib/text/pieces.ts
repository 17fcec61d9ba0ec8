import type { Compiled } from '../compiled.js'
import { isNarrow, isSurelyNarrow } from './narrow.js'
import { sliceUtf16Safe } from './slice.js'

/** Chars that are read at once. Their copy stays in the processor's cache. */
export const PIECE = 65_536

/** Yields a string in pieces. No piece ends inside a surrogate pair. */
export function* pieces(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE, text.length)
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1
    yield start === 0 && end === text.length ? text : text.slice(start, end)
    start = end
  }
}

/**
 * Returns a test of consecutive pieces, true if a piece is narrow. A string is all narrow or all wide in memory, so
 * after one wide piece the rest is not tested.
 */
export function narrowness(text: string): (piece: string) => boolean {
  let narrow = isNarrow(text.length > PIECE ? text.slice(0, PIECE) : text)
  return (piece) => {
    narrow &&= isSurelyNarrow(piece)
    return narrow
  }
}

/**
 * Chars up to which a text is read whole: an earlier notice may be between its ends (`SEARCHED` in
 * src/text/earlier.rs).
 */
const READ_WHOLE = 256 * 1024

/** Chars at an end of a text in which 'auto' and the search for earlier notices (`LONGEST` there) look. */
const GLANCE = 8_192

/** Returns the parts of a string that its cut can depend on: the whole string, or both ends. */
export function windows(text: string, policy: Pick<Compiled, 'reach'>): [head: string, tail: string] {
  const { head, tail } = policy.reach
  if (text.length <= Math.max(head, tail, READ_WHOLE)) return [text, '']
  // An earlier notice at an end is not kept as text, so the kept text reaches further by its length.
  return [text.slice(0, head + GLANCE), text.slice(-(tail + GLANCE))]
}

/**
 * Chars of a result's text that are searched for findings, and how many of them at its start. Failures are more often
 * at the end, and a search must not hold up the event loop for long.
 */
export const SEARCHED = 16 * 1024 * 1024
const SEARCHED_HEAD = 4 * 1024 * 1024

/**
 * Returns the parts of a string to search: the whole string, or both ends, which end at lines if a line end is near.
 */
export function searched(text: string, { reach }: Compiled): [head: string, tail: string] {
  const most = Math.max(SEARCHED_HEAD, reach.head + PIECE)
  const least = text.length - Math.max(SEARCHED - SEARCHED_HEAD, reach.tail + PIECE)
  if (text.length <= SEARCHED || least <= most) return [text, '']
  const head = sliceUtf16Safe(text, 0, most)
  const headLine = head.lastIndexOf('\n', most - 1) + 1
  const tail = sliceUtf16Safe(text, least)
  const tailLine = tail.slice(0, PIECE).indexOf('\n') + 1
  return [headLine > most - PIECE ? head.slice(0, headLine) : head, tail.slice(tailLine)]
}
