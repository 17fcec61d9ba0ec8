import type { CleanOptions, TextInput } from 'spillway'
import { type Cleaning, checkCleaning, NONE } from '../clean_options.js'
import type { Compiled } from '../compiled.js'
import { native } from '../engine.js'
import { checkText } from '../validate.js'
import { plain } from './input.js'
import { narrowness, PIECE, pieces } from './pieces.js'

export function cleanText(text: TextInput, options?: CleanOptions): string {
  const cleaning = checkCleaning(options)
  const given = checkText(text)
  return typeof given === 'string' ? cleanString(given, cleaning) : cleanBytes(plain(given, false), cleaning)
}

/** Cleans a string. Returns the same string if there is nothing to clean. */
export function cleanString(text: string, cleaning: Cleaning): string {
  if (!cleaning.includes(true) || isClean(text, cleaning[3])) return text
  const cleaned = throughPieces(text, cleaning)
  // The first look may have been a false alarm. The text is then returned as given, lone surrogates included.
  return cleaned === text.toWellFormed() ? text : cleaned
}

/** Returns true if a first look shows that a string has nothing to clean. */
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

/**
 * Cleans a text if the policy says so. Returns the text as given if nothing visible would be left: no block becomes
 * empty.
 */
export function cleaned(text: string, { clean }: Compiled): string {
  if (!clean?.includes(true) || isClean(text, clean[3])) return text
  // An earlier cut may have brought equal lines together, or made different lines equal. Folding them would hide the
  // cut.
  const [ansi, carriageReturns, control, repeats] = clean
  const left = cleanString(text, [ansi, carriageReturns, control, repeats && !native.hasNotice(text)])
  return left.trim() === '' ? text : left
}
