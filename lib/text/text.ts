import type { ClampReport, TextPolicy, TextSize } from 'spillway'
import type { EnginePolicy } from '../compiled.js'
import { compile } from '../policy.js'
import { tryRead } from '../untrusted.js'
import { checkText } from '../validate.js'
import { type Input, inputOf } from './input.js'
import { type Ask, exceededBy } from './limits.js'
import { leftOfRepeats, parted, prepared } from './prepare.js'
import { keptWithout } from './repeats.js'
import { isWithin } from './size.js'
import { type KeptParts, keptLines, type Truncation } from './truncation.js'

export function clampText(text: string | Uint8Array, policy?: TextPolicy): string {
  return clampPrepared(checkText(text), compile(policy))
}

/** Takes a text through all steps: cleans it, redacts it, cuts it, and drops what the cut brought
 *  together. If a string has over `most` chars, only both ends are searched for findings. `ask`:
 *  gathers what was asked of the text. */
export function clampPrepared(
  given: string | Uint8Array,
  policy: EnginePolicy,
  most?: number,
  ask?: Ask,
): string {
  const text = prepared(given, policy)
  if (typeof text === 'string' && surelyFits(text, policy)) return text
  return truncate(inputOf(text, policy.words !== undefined, most, ask), policy).text
}

/** Truncates a prepared text, and prepares lines that the cut made neighbors. `figures`: the kept
 *  parts will be read. */
function truncate(input: Input, policy: EnginePolicy, figures = false): Truncation {
  const made = input.truncate(policy, figures)
  const text = made.truncated ? parted(made.text, policy) : made.text
  return text === made.text ? made : { ...made, text, joined: made.text }
}

/** Returns true if a string is well-formed and fits by its length, without a native call. */
export function fits(text: string, policy: EnginePolicy): boolean {
  return text.length <= policy.gate && text.isWellFormed()
}

export function clampTextWithReport(text: string | Uint8Array, policy?: TextPolicy): ClampReport {
  const compiled = compile(policy)
  const given = prepared(checkText(text), compiled)
  const input = inputOf(given, compiled.words !== undefined)
  const total = input.total()
  if (typeof given === 'string' && surelyFits(given, compiled)) return whole(given, total, compiled)
  const made = truncate(input, compiled, true)
  const part = keptIn(given, made, compiled)
  const kept = { bytes: part.bytes, chars: part.chars, lines: keptLines(part) }
  const omitted = {
    bytes: total.bytes - kept.bytes,
    chars: total.chars - kept.chars,
    lines: total.lines - kept.lines,
  }
  return {
    text: made.text,
    truncated: made.truncated,
    exceeded: made.truncated ? exceededBy(input, compiled) : [],
    total: { ...total },
    kept,
    omitted,
    ranges: part.ranges,
    notice: made.notice,
    ...(compiled.explain && (made.truncated ? explained(part) : { reasons: [], dropped: [] })),
  }
}

/** Returns the kept parts of a text, without the lines that are dropped after the cut. */
function keptIn(given: string | Uint8Array, made: Truncation, policy: EnginePolicy): KeptParts {
  const kept = made.kept()
  const { joined } = made
  const left = joined && leftOfRepeats(joined, policy)
  if (joined === undefined || left === undefined || left === joined) return kept
  return { ...kept, ...tryRead(() => keptWithout(given, joined, left, kept.ranges)) }
}

type Explanation = Required<Pick<ClampReport, 'reasons' | 'dropped'>>

/** Returns the reason of each kept line. Without a search, lines are kept for their place. */
function explained({ keep, lines, ranges, reasons }: KeptParts): Explanation {
  const found = new Map(reasons?.kept.map((reason) => [reason.line, reason]))
  const startsAtEnd = keep === 'tail' || (keep === 'ends' && ranges.length === 1 && ranges[0]?.[0] !== 0)
  const kept = new Map<number, Explanation['reasons'][number]>()
  for (const [at, [first, last]] of lines.entries()) {
    const stream = at > 0 || startsAtEnd ? 'tail' : 'head'
    for (let line = first; line <= last; line++)
      if (!kept.has(line)) kept.set(line, found.get(line) ?? { line, stream, score: 0 })
  }
  return { reasons: [...kept.values()], dropped: reasons?.dropped ?? [] }
}

function surelyFits(text: string, policy: EnginePolicy): boolean {
  return fits(text, policy) || isWithin(text, policy)
}

/** Returns the report of a text that is not truncated. */
function whole(text: string, total: TextSize, { explain }: EnginePolicy): ClampReport {
  return {
    text,
    truncated: false,
    exceeded: [],
    total: { ...total },
    kept: { ...total },
    omitted: { bytes: 0, chars: 0, lines: 0 },
    ranges: total.chars > 0 ? [[0, total.chars]] : [],
    notice: '',
    ...(explain && { reasons: [], dropped: [] }),
  }
}

export function measureText(text: string | Uint8Array): TextSize {
  return inputOf(checkText(text)).total()
}

export function estimateTokens(text: string | Uint8Array): number {
  return inputOf(checkText(text)).tokens()
}
