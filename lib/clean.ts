import type { CleanOptions, TextInput } from 'spillway'
import * as native from '../native.js'
import { isNarrow, isSurelyNarrow } from './narrow.js'
import { flag, optionError } from './option.js'
import { PIECE, pieces, plain } from './subject.js'
import { checkText } from './text.js'

/** What is cleaned, in the order that src/bindings/clean.rs takes it. */
type Choices = readonly [ansi: boolean, carriageReturns: boolean, control: boolean, repeats: boolean]

export function cleanText(text: TextInput, options?: CleanOptions): string {
  const choices = check(options)
  if (typeof checkText(text) !== 'string') return cleanBytes(plain(text as Uint8Array, false), choices)
  const string = text as string
  if (!choices.includes(true) || isClean(string, choices[3])) return string
  const cleaned = cleanString(string, choices)
  // What the first look was wary of may have been nothing; then a lone surrogate stays too.
  return cleaned === string.toWellFormed() ? string : cleaned
}

function check(options: CleanOptions | undefined): Choices {
  if (options === undefined) return ALL
  if (typeof options !== 'object' || options === null)
    throw optionError(TypeError, 'options', 'an object', options)
  return [
    flag('ansi', options.ansi, true),
    flag('carriageReturns', options.carriageReturns, true),
    flag('control', options.control, true),
    flag('repeats', options.repeats, true),
  ]
}

const ALL: Choices = [true, true, true, true]
const NONE: Choices = [false, false, false, false]

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

function cleanString(text: string, choices: Choices): string {
  const cleaning = native.startCleaning(...choices)
  const narrow = narrowness(text)
  const parts: string[] = []
  for (const piece of pieces(text))
    parts.push((narrow(piece) ? native.cleanPieceLatin1 : native.cleanPiece)(cleaning, piece))
  parts.push(native.finishCleaning(cleaning))
  return parts.join('')
}

function cleanBytes(bytes: Uint8Array, choices: Choices): string {
  const needed = native.isCleanUtf8(bytes, choices[3]) ? NONE : choices
  const cleaning = native.startCleaning(...needed)
  const parts: string[] = []
  for (let start = 0; start < bytes.length; start += PIECE)
    parts.push(native.cleanPieceOfBytes(cleaning, bytes.subarray(start, start + PIECE)))
  parts.push(native.finishCleaning(cleaning))
  return parts.join('')
}

/** Tells of one piece after another whether it is narrow. A string is all narrow or all wide in memory, so after one
 *  wide piece the rest need not be tested. */
function narrowness(text: string): (piece: string) => boolean {
  let narrow = isNarrow(text.length > PIECE ? text.slice(0, PIECE) : text)
  return (piece) => {
    narrow &&= isSurelyNarrow(piece)
    return narrow
  }
}
