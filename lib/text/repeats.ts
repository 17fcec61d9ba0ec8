import { fromUtf8 } from './input.js'
import type { KeptParts } from './truncation.js'

type Range = [start: number, end: number]

/**
 * Returns the kept parts of a text after lines were dropped from its cut. `cut`: the text after the
 * cut, `left`: the same without some lines.
 */
export function keptWithout(
  given: string | Uint8Array,
  cut: string,
  left: string,
  ranges: readonly Range[],
): Omit<KeptParts, 'keep'> {
  const text = typeof given === 'string' ? given.toWellFormed() : fromUtf8(given)
  const dropped = droppedFrom(cut, left)
  let from = 0
  const kept = ranges.flatMap(([start, end], at): Range[] => {
    const part = text.slice(start, end)
    const found =
      at === ranges.length - 1 && cut.endsWith(part) ? cut.length - part.length : placeOf(part, cut, from)
    if (found < 0) return [[start, end]]
    from = found + part.length
    return without(
      [start, end],
      dropped.map(([gone, next]): Range => [gone + start - found, next + start - found]),
    )
  })
  const bytes = kept.reduce((sum, [start, end]) => sum + Buffer.byteLength(text.slice(start, end)), 0)
  const chars = kept.reduce((sum, [start, end]) => sum + end - start, 0)
  return { bytes, chars, lines: linesIn(text, kept), ranges: kept }
}

/** The mark of a gap between kept lines. */
const MARK = /\n?\[\.{3} [\d,]+ (?:lines?|chars) \.{3}\]\n?/y

/** Returns the place of a kept part in a cut, at once or after the mark of a gap. */
function placeOf(part: string, cut: string, from: number): number {
  if (cut.startsWith(part, from)) return from
  MARK.lastIndex = from
  return cut.indexOf(part, from + (MARK.exec(cut)?.[0].length ?? 0))
}

/** Returns the lines of a text that are not in what is left of it, of equal ones the last. */
function droppedFrom(text: string, left: string): Range[] {
  const dropped: Range[] = []
  for (let at = 0, to = 0; at < text.length; ) {
    const end = text.indexOf('\n', at) + 1 || text.length
    const line = text.slice(at, end)
    const isLeft = left.startsWith(line, to) && (line.endsWith('\n') || to + line.length === left.length)
    if (isLeft) to += line.length
    else dropped.push([at, end])
    at = end
  }
  return dropped
}

/** Returns a range without others, which are in order. */
function without([start, end]: Range, others: readonly Range[]): Range[] {
  const kept: Range[] = []
  let from = start
  for (const [gone, next] of others) {
    if (next <= from || gone >= end) continue
    if (gone > from) kept.push([from, gone])
    from = next
  }
  if (from < end) kept.push([from, end])
  return kept
}

/** Returns the first and the last line of each range. */
function linesIn(text: string, ranges: readonly Range[]): Range[] {
  let [line, at] = [1, 0]
  const moveTo = (end: number) => {
    for (let next = text.indexOf('\n', at); next >= 0 && next < end; next = text.indexOf('\n', at)) {
      line += 1
      at = next + 1
    }
  }
  return ranges.map(([start, end]) => {
    moveTo(start)
    const first = line
    moveTo(end - 1)
    return [first, line]
  })
}
