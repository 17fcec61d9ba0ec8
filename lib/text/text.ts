import type { ClampReport, PolicyOptions, TextInput, TextSize } from 'spillway'
import type { Compiled } from '../compiled.js'
import { compile } from '../policy.js'
import { checkText } from '../validate.js'
import { inputOf } from './input.js'
import { type Ask, exceededBy } from './limits.js'
import { truncate } from './notice_function.js'
import { parted } from './prepare.js'
import { redacted } from './redact.js'
import { isWithin } from './size.js'
import { keptLines } from './truncation.js'

export function clampText(text: TextInput, policy?: PolicyOptions): string {
  const compiled = compile(policy)
  return parted(clamp(redacted(checkText(text), compiled), compiled), compiled)
}

/** Clamps with a compiled policy. If a string has over `most` chars, only both ends are searched for findings. */
export function clamp(text: TextInput, policy: Compiled, most?: number, ask?: Ask): string {
  if (typeof text === 'string' && surelyFits(text, policy)) return text
  return truncate(inputOf(text, policy.words !== undefined, most, ask), policy).text
}

/** Returns true if a string is well-formed and fits by its length, without a native call. */
export function fits(text: string, policy: Compiled): boolean {
  return text.length <= policy.gate && text.isWellFormed()
}

export function clampTextWithReport(text: TextInput, policy?: PolicyOptions): ClampReport {
  const compiled = compile(policy)
  const given = redacted(checkText(text), compiled)
  const input = inputOf(given, compiled.words !== undefined)
  const total = input.total()
  if (typeof given === 'string' && surelyFits(given, compiled)) return whole(given, total)
  const made = truncate(input, compiled, true)
  const part = made.kept()
  const kept = { bytes: part.bytes, chars: part.chars, lines: keptLines(part) }
  const omitted = {
    bytes: total.bytes - kept.bytes,
    chars: total.chars - kept.chars,
    lines: total.lines - kept.lines,
  }
  return {
    text: parted(made.text, compiled),
    truncated: made.truncated,
    exceeded: made.truncated ? exceededBy(input, compiled) : [],
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

/** Returns the report of a text that is not truncated. */
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
  return inputOf(checkText(text)).total()
}

export function estimateTokens(text: TextInput): number {
  return inputOf(checkText(text)).tokens()
}
