import type { CleanOptions } from 'spillway'
import { PENDING } from '../ahead.js'
import { type CleanSteps, NONE, stepsOf } from '../clean_options.js'
import type { EnginePolicy } from '../compiled.js'
import { native } from '../engine.js'
import { optionsOf } from '../read_options.js'
import { checkText } from '../validate.js'
import { plain } from './input.js'
import { narrowness, PIECE, pieces } from './pieces.js'

export function cleanText(text: string | Uint8Array, options: CleanOptions = {}): string {
  const cleaning = stepsOf(optionsOf('clean', 'options', options))
  const given = checkText(text)
  return typeof given === 'string' ? cleanString(given, cleaning) : cleanBytes(plain(given, false), cleaning)
}

/** Cleans a string. Returns the same string if there is nothing to clean. */
export function cleanString(text: string, cleaning: CleanSteps): string {
  if (!cleaning.includes(true) || isClean(text, cleaning)) return text
  const cleaned = throughPieces(text, cleaning)
  // The first look may have been a false alarm. The text is then returned as given, lone surrogates
  // included.
  return cleaned === text.toWellFormed() ? text : cleaned
}

/** Chars within which a page begins. */
const START = 4_096

/** Returns true if a first look shows that a string has nothing to clean. */
function isClean(text: string, [, , , repeats, html]: CleanSteps): boolean {
  if (html && /^\s*</.test(text) && native.beginsPage(text.slice(0, START))) return false
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

function throughPieces(text: string, what: CleanSteps): string {
  const cleaning = native.startCleaning(...what)
  const narrow = narrowness(text)
  const parts: string[] = []
  for (const piece of pieces(text))
    parts.push((narrow(piece) ? native.cleanPieceLatin1 : native.cleanPiece)(cleaning, piece))
  parts.push(native.finishCleaning(cleaning))
  return parts.join('')
}

function cleanBytes(bytes: Uint8Array, what: CleanSteps): string {
  return cleanedPieces(bytes, native.isCleanUtf8(bytes, what[3], what[4]) ? NONE : what).join('')
}

function cleanedPieces(bytes: Uint8Array, what: CleanSteps): string[] {
  const cleaning = native.startCleaning(...what)
  const parts: string[] = []
  for (let start = 0; start < bytes.length; start += PIECE)
    parts.push(native.cleanPieceOfBytes(cleaning, bytes.subarray(start, start + PIECE)))
  parts.push(native.finishCleaning(cleaning))
  return parts
}

/** Cleans a text if the policy says so, as `cleaned` in src/slots/slot_text.rs does. */
export function cleaned<T extends string | Uint8Array>(
  text: T,
  { clean, ahead }: Pick<EnginePolicy, 'clean' | 'ahead'>,
): T {
  if (!clean?.includes(true)) return text
  if (typeof text !== 'string') return cleanedBytes(text, clean) as T
  const answer = ahead?.answer(text, `clean ${clean}`, (held) => native.cleanHeld(held, ...clean))
  if (answer === PENDING) return text
  return (answer ? (answer.value ?? text) : cleanedString(text, clean)) as T
}

function cleanedString(text: string, clean: CleanSteps): string {
  if (isClean(text, clean)) return text
  const left = cleanedOnce(text, clean)
  // Blanks that cleaning leaves as they are hide nothing.
  if (left.trim() !== '' || left === text) return left
  const symbols = cleanedOnce(shown(text), clean)
  return symbols.trim() === '' ? cleanedOnce(shown(text), ofTerminal(clean)) : symbols
}

/**
 * Returns a text, whose cleaning leaves nothing, with symbols for its control characters: no block
 * becomes empty, and a cut of this text is cleaned to itself.
 */
function shown(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are its subject
  return text.replaceAll('\r\n', '\n').replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, (control) => {
    const code = control.charCodeAt(0)
    // The bundler writes characters for escapes, and V8 reads a file of ASCII faster.
    return String.fromCharCode(code < 0x20 ? 0x2400 + code : code === 0x7f ? 0x2421 : 0xfffd)
  })
}

/** Returns the steps for a page that would show nothing. */
function ofTerminal([ansi, returns, control, repeats]: CleanSteps): CleanSteps {
  return [ansi, returns, control, repeats, false]
}

function cleanedOnce(text: string, clean: CleanSteps): string {
  const isCut = native.hasNotice(text)
  let left = cleanString(text, folding(clean, !isCut))
  // The notice may be overwritten.
  if (isCut && !native.hasNotice(left)) left = cleanString(left, clean)
  return left
}

/** The outcome may be longer than a string can be. */
function cleanedBytes(given: Uint8Array, clean: CleanSteps): Uint8Array {
  const bytes = plain(given, false)
  if (native.isCleanUtf8(bytes, clean[3], clean[4])) return given
  const parts = cleanedParts(bytes, clean)
  const left = bytesOf(parts)
  const isBlank = parts.every((part) => part.trim() === '') && !left.equals(bytes)
  if (!isBlank) return left
  const symbols = cleanedParts(shownBytes(bytes), clean)
  const isEmpty = symbols.every((part) => part.trim() === '')
  return bytesOf(isEmpty ? cleanedParts(shownBytes(bytes), ofTerminal(clean)) : symbols)
}

function cleanedParts(bytes: Uint8Array, clean: CleanSteps): string[] {
  const isCut = native.hasNoticeInBytes(bytes)
  const parts = cleanedPieces(bytes, folding(clean, !isCut))
  const left = isCut ? bytesOf(parts) : undefined
  return left && !native.hasNoticeInBytes(left) ? cleanedPieces(left, clean) : parts
}

function shownBytes(bytes: Uint8Array): Uint8Array {
  // A return at the end of a piece may belong to a newline.
  let held = ''
  const parts = cleanedPieces(bytes, NONE).map((part) => {
    const text = held + part
    held = text.endsWith('\r') ? '\r' : ''
    return shown(text.slice(0, text.length - held.length))
  })
  return bytesOf([...parts, shown(held)])
}

function bytesOf(parts: readonly string[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part)))
}

/**
 * Returns the steps for a text that may have been cut. The cut may have brought equal lines
 * together, or made different lines equal. Folding them would hide it. It may also have left text
 * at the start that a page quotes.
 */
function folding([ansi, returns, control, repeats, html]: CleanSteps, isWhole: boolean): CleanSteps {
  return [ansi, returns, control, repeats && isWhole, html && isWhole]
}
