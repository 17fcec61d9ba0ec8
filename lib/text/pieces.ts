import type { Compiled } from '../compiled.js'
import { isNarrow, isSurelyNarrow } from './narrow.js'
import { sliceUtf16Safe } from './slice.js'

/** Chars that are read at once: the copy stays in the processor's cache. */
export const PIECE = 65_536

/** A string in pieces, none of which ends inside a pair. */
export function* pieces(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE, text.length)
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1
    yield start === 0 && end === text.length ? text : text.slice(start, end)
    start = end
  }
}

/** Tells of one piece after another whether it is narrow. A string is all narrow or all wide in memory, so after one wide
 *  piece the rest need not be tested. */
export function narrowness(text: string): (piece: string) => boolean {
  let narrow = isNarrow(text.length > PIECE ? text.slice(0, PIECE) : text)
  return (piece) => {
    narrow &&= isSurelyNarrow(piece)
    return narrow
  }
}

/** An earlier notice may stand between the ends of a text up to this length (`SEARCHED` in src/text/earlier.rs). */
const READ_WHOLE = 256 * 1024

/** The end of a text that 'auto' and earlier notices (`LONGEST` there) are judged by. */
const GLANCE = 8_192

/** The parts of a string that its cut can depend on: all of it, or both ends. */
export function windows(text: string, policy: Pick<Compiled, 'reach'>): [head: string, tail: string] {
  const { head, tail } = policy.reach
  if (text.length <= Math.max(head, tail, READ_WHOLE)) return [text, '']
  // A notice at an end is no text to keep: what is kept reaches so much further.
  return [text.slice(0, head + GLANCE), text.slice(-(tail + GLANCE))]
}

/** Chars of a result's text that are searched for findings, and how many of them at its start: the failure is more often
 *  at the end, and a search must not hold up the event loop for long. */
export const SEARCHED = 16 * 1024 * 1024
const SEARCHED_HEAD = 4 * 1024 * 1024

/** The parts of a string that are searched: all of it, or both ends, at the ends of lines where some are near. */
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
