import { types } from 'node:util'
import type { ClampReport, Policy, PolicyOptions, TextInput, TextSize } from 'spillway'
import { clampSubject, exceededBy, keptLines } from './cut.js'
import { bound, optionError } from './option.js'
import { alone } from './own.js'
import { type Compiled, compile } from './policy.js'
import { isWithin, subjectOf } from './subject.js'

export function clampText(text: TextInput, policy?: PolicyOptions | Policy): string {
  return clamp(checkText(text), compile(policy))
}

/** Clamps with a policy that was checked. */
export function clamp(text: TextInput, policy: Compiled): string {
  if (typeof text === 'string' && surelyFits(text, policy)) return text
  return clampSubject(subjectOf(text, policy.words !== undefined), policy).text
}

/** Tells without a call whether a string surely fits. */
export function fits(text: string, policy: Compiled): boolean {
  return text.length <= policy.gate && text.isWellFormed()
}

export function clampTextWithReport(text: TextInput, policy?: PolicyOptions | Policy): ClampReport {
  const compiled = compile(policy)
  const subject = subjectOf(checkText(text), compiled.words !== undefined)
  const total = subject.total()
  if (typeof text === 'string' && surelyFits(text, compiled)) return whole(text, total)
  const made = clampSubject(subject, compiled)
  const part = made.kept()
  const kept = { bytes: part.bytes, chars: part.chars, lines: keptLines(part) }
  const omitted = {
    bytes: total.bytes - kept.bytes,
    chars: total.chars - kept.chars,
    lines: total.lines - kept.lines,
  }
  return {
    text: made.text,
    truncated: made.truncated,
    exceeded: made.truncated ? exceededBy(subject, compiled) : [],
    total: { ...total },
    kept,
    omitted,
    ranges: part.ranges,
    notice: made.notice,
  }
}

function surelyFits(text: string, policy: Compiled): boolean {
  return fits(text, policy) || isWithin(text, policy)
}

/** The report of a text of which nothing is left out. */
function whole(text: string, total: TextSize): ClampReport {
  return {
    text,
    truncated: false,
    exceeded: [],
    total: { ...total },
    kept: { ...total },
    omitted: { bytes: 0, chars: 0, lines: 0 },
    ranges: total.chars > 0 ? [[0, total.chars]] : [],
    notice: '',
  }
}

export function measureText(text: TextInput): TextSize {
  return subjectOf(checkText(text)).total()
}

export function estimateTokens(text: TextInput): number {
  return subjectOf(checkText(text)).tokens()
}

export function sliceUtf16Safe(text: string, start: number, end?: number): string {
  const length = checkString(text).length
  let from = position(start, length, 0)
  let to = position(end, length, length)
  if (splitsPair(text, from)) from += 1
  if (splitsPair(text, to)) to -= 1
  const piece = text.slice(from, Math.max(from, to))
  return piece.length * 2 < length ? alone(piece) : piece
}

export function truncateUtf16Safe(text: string, maxChars: number): string {
  return sliceUtf16Safe(text, 0, bound('maxChars', maxChars, Number.POSITIVE_INFINITY))
}

/** A position as `String.prototype.slice` takes it. */
function position(at: number | undefined, length: number, missing: number): number {
  if (at === undefined) return missing
  if (typeof at !== 'number') throw optionError(TypeError, 'start and end', 'numbers', at)
  const whole = Math.trunc(at) || 0
  return whole < 0 ? Math.max(length + whole, 0) : Math.min(whole, length)
}

function splitsPair(text: string, at: number): boolean {
  return (
    at > 0 &&
    at < text.length &&
    (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 &&
    (text.charCodeAt(at) & 0xfc00) === 0xdc00
  )
}

export function checkText(text: TextInput): TextInput {
  if (typeof text === 'string' || types.isUint8Array(text)) return text
  throw optionError(TypeError, 'text', 'a string or a Uint8Array', text)
}

/** Refuses what is no string. */
export function checkString(text: string): string {
  if (typeof text === 'string') return text
  throw optionError(TypeError, 'text', 'a string', text)
}
