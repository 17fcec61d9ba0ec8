import { isSurelyNarrow } from '../../text/narrow.js'

/** Code points that OpenClaw's later releases count as several chars: from, to, chars. */
const HEAVY: readonly (readonly [number, number, number])[] = [
  [0xb7, 0xb7, 4],
  [0x1100, 0x11ff, 12],
  [0x2e80, 0x33ff, 4],
  [0x3400, 0x4dbf, 12],
  [0x4e00, 0x9fff, 4],
  [0xa000, 0xa4cf, 12],
  [0xa960, 0xa97f, 12],
  [0xac00, 0xd7a3, 4],
  [0xd7b0, 0xd7ff, 12],
  [0xf900, 0xfaff, 12],
  [0xff01, 0xff60, 4],
  [0xff61, 0xffdc, 8],
  [0xffe0, 0xffe6, 4],
  [0x1b000, 0x1b16f, 16],
  [0x1d300, 0x1d311, 12],
  [0x20000, 0x3ffff, 16],
]

/** The first heavy code point except the middle dot. */
const FIRST = 0x1100
const MIDDLE_DOT = 0xb7
const DOT = String.fromCharCode(MIDDLE_DOT)

/** Counts the chars of a text, with Chinese, Japanese and Korean weighted by their tokens. */
export function weightedChars(text: string): number {
  let sum = text.length
  if (isSurelyNarrow(text)) {
    for (let at = text.indexOf(DOT); at >= 0; at = text.indexOf(DOT, at + 1)) sum += extra(MIDDLE_DOT)
    return sum
  }
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= FIRST || unit === MIDDLE_DOT) sum += extra(text.codePointAt(at) ?? unit)
  }
  return sum
}

/** Returns the weight of a code point beyond its length. */
function extra(point: number): number {
  for (const [from, to, chars] of HEAVY)
    if (point <= to) return point < from ? 0 : chars - (point > 0xffff ? 2 : 1)
  return 0
}
