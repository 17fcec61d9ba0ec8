import type { CleanOptions, TextInput } from 'spillway'
import { type Cleaning, checkCleaning, NONE } from '../cleaning.js'
import type { Compiled } from '../compiled.js'
import { native } from '../engine.js'
import { checkText } from '../option.js'
import { narrowness, PIECE, pieces } from './pieces.js'
import { plain } from './subject.js'

export function cleanText(text: TextInput, options?: CleanOptions): string {
  const cleaning = checkCleaning(options)
  const given = checkText(text)
  return typeof given === 'string' ? cleanString(given, cleaning) : cleanBytes(plain(given, false), cleaning)
}

/** Cleans a string; the very same comes back when there is nothing to clean. */
export function cleanString(text: string, cleaning: Cleaning): string {
  if (!cleaning.includes(true) || isClean(text, cleaning[3])) return text
  const cleaned = throughPieces(text, cleaning)
  // What the first look was wary of may have been nothing; then a lone surrogate stays too.
  return cleaned === text.toWellFormed() ? text : cleaned
}

/** Tells by a first look that a string has nothing to clean. */
function isClean(text: string, repeats: boolean): boolean {
  const narrow = narrowness(text)
  for (let start = 0; start < text.length; ) {
    const end = start + PIECE
    const piece = start === 0 && end >= text.length ? text : text.slice(start, end)
    const look = narrow(piece) ? native.lookForDirtLatin1 : native.lookForDirt
    const next = look(piece, repeats)
    if (next < 0) return false
    if (end >= text.length) break
    start += next
  }
  return true
}

function throughPieces(text: string, what: Cleaning): string {
  const cleaning = native.startCleaning(...what)
  const narrow = narrowness(text)
  const parts: string[] = []
  for (const piece of pieces(text))
    parts.push((narrow(piece) ? native.cleanPieceLatin1 : native.cleanPiece)(cleaning, piece))
  parts.push(native.finishCleaning(cleaning))
  return parts.join('')
}

function cleanBytes(bytes: Uint8Array, what: Cleaning): string {
  const needed = native.isCleanUtf8(bytes, what[3]) ? NONE : what
  const cleaning = native.startCleaning(...needed)
  const parts: string[] = []
  for (let start = 0; start < bytes.length; start += PIECE)
    parts.push(native.cleanPieceOfBytes(cleaning, bytes.subarray(start, start + PIECE)))
  parts.push(native.finishCleaning(cleaning))
  return parts.join('')
}

/** What notices and marks of ours say. */
const CUT_BEFORE =
  /\[tool output truncated: |^\[\.\.\.\]$|\[\.\.\. \d+ (?:more characters truncated|chars omitted)\]|\.\.\. \([\d,]+ chars truncated from |\[\+\d+ chars\]$/m

/** A text as the policy has it cleaned, unless nothing to see would be left of it: no empty block is ever made. */
export function cleaned(text: string, { clean }: Compiled): string {
  if (!clean) return text
  // A notice may have made lines alike that stood apart, or lines that were cut; folding them would lose its place.
  const [ansi, carriageReturns, control, repeats] = clean
  const left = cleanString(text, [ansi, carriageReturns, control, repeats && !CUT_BEFORE.test(text)])
  return left.trim() === '' ? text : left
}

/** Drops all but two of equal lines that met in a cut of a cleaned text, so that the next cleaning does not fold them. */
export function parted(text: string, { clean }: Compiled): string {
  return clean?.[3] && !CUT_BEFORE.test(text) ? (native.leaveTwo(text) ?? text) : text
}
