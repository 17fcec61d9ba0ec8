import type { CleanOptions } from 'spillway'
import { PENDING } from '../ahead.js'
import { type CleanSteps, stepsOf } from '../clean_options.js'
import type { EnginePolicy } from '../compiled.js'
import { native } from '../engine.js'
import { optionsOf } from '../read_options.js'
import { checkText } from '../validate.js'
import { fromUtf8, plain } from './input.js'
import { isLatin1 } from './latin1.js'
import { narrowness, READ_WHOLE } from './pieces.js'

export function cleanText(text: string | Uint8Array, options: CleanOptions = {}): string {
  const cleaning = stepsOf(optionsOf('clean', 'options', options))
  const given = checkText(text)
  if (typeof given === 'string') return cleanString(given, cleaning)
  const bytes = plain(given, false)
  return fromUtf8((native.cleanText(bytes, false, [...cleaning], false) as Buffer | null) ?? bytes)
}

/** Cleans a string. Returns the same string if there is nothing to clean. */
export function cleanString(text: string, cleaning: CleanSteps, byPolicy = false): string {
  if (!cleaning.includes(true) || isClean(text, cleaning)) return text
  return (native.cleanText(text, isLatin1(text), [...cleaning], byPolicy) ?? text) as string
}

/** Chars within which a page begins. */
const START = 4_096

/** Returns true if a first look shows that a string has nothing to clean. */
function isClean(text: string, [, , , repeats, html]: CleanSteps): boolean {
  if (html && /^\s*</.test(text) && native.beginsPage(text.slice(0, START))) return false
  const narrow = narrowness(text)
  for (let start = 0; start < text.length; ) {
    const end = start + READ_WHOLE
    const piece = start === 0 && end >= text.length ? text : text.slice(start, end)
    const next = native.lookForDirt(piece, narrow(piece), repeats)
    if (next < 0) return false
    if (end >= text.length) break
    start += next
  }
  return true
}

/** Cleans a text if the policy says so. */
export function cleaned<T extends string | Uint8Array>(
  text: T,
  { clean, ahead }: Pick<EnginePolicy, 'clean' | 'ahead'>,
): T {
  if (!clean?.includes(true)) return text
  if (typeof text !== 'string')
    return (native.cleanText(plain(text, false), false, [...clean], true) ?? text) as T
  const answer = ahead?.answer(text, `clean ${clean}`, (held) => native.cleanHeld(held, [...clean]))
  if (answer === PENDING) return text
  return (answer ? (answer.value ?? text) : cleanString(text, clean, true)) as T
}
