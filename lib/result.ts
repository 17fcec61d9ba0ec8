import type { Policy, ResultPolicy, TextSize } from 'spillway'
import { cleanString } from './clean.js'
import { CutOf, settle, speak } from './cut.js'
import { type Edit, readResult, type Slot, write } from './dialect.js'
import { type Cut as NativeCut, native } from './engine.js'
import { KEPT, type Kept, keptBy } from './made.js'
import { SEARCHED, searched, windows } from './pieces.js'
import { type Compiled, compile, failed, headOf, KINDS, pack, searches } from './policy.js'
import { quietly } from './reading.js'
import { newlines, sizeOf } from './size.js'
import { StringSubject, type Subject } from './subject.js'
import { clamp } from './text.js'

export function clampResult<T>(result: T, policy?: ResultPolicy | Policy): T {
  return clampValue(result, compile(policy))
}

/** Clamps a result with a policy that was checked. */
export function clampValue<T>(result: T, policy: Compiled): T {
  if (typeof result === 'string') return clampString(result, policy) as T
  if (typeof result !== 'object' || result === null) return result
  const found = quietly(() => readResult(result, policy.dialect))
  if (!found || surelyFit(found.slots, policy)) return result
  const edits = clampSlots(found.slots, found.isError ? failed(policy) : policy)
  return edits.size === 0 ? result : (quietly(() => write(result, edits)) ?? result)
}

/** Cleans and clamps a text that a tool gave. */
export function clampString(text: string, policy: Compiled): string {
  return clamp(cleaned(text, policy), policy, SEARCHED)
}

/** What notices and marks of ours say. */
const CUT_BEFORE =
  /\[tool output truncated: |\[\.\.\. \d+ (?:more characters truncated|chars omitted)\]|\.\.\. \([\d,]+ chars truncated from |\[\+\d+ chars\]$/m

/** A text as the policy has it cleaned, unless nothing to see would be left of it: no empty block is ever made. */
function cleaned(text: string, { clean }: Compiled): string {
  if (!clean) return text
  // A notice may have made lines alike that stood apart, or lines that were cut; folding them would lose its place.
  const [ansi, carriageReturns, control, repeats] = clean
  const left = cleanString(text, [ansi, carriageReturns, control, repeats && !CUT_BEFORE.test(text)])
  return left.trim() === '' ? text : left
}

function surelyFit(slots: readonly Slot[], policy: Compiled): boolean {
  if (policy.clean) return false
  let length = 0
  for (const { text } of slots) length += text.length
  return length <= policy.gate && slots.every(({ text }) => text.isWellFormed())
}

function clampSlots(slots: readonly Slot[], policy: Compiled): Map<Slot, Edit> {
  const [slot] = slots
  if (slots.length > 1 || !slot) return clampTogether(slots, policy)
  const text = showing(clampString(slot.text, policy), slot.text, policy)
  return new Map(text === slot.text ? [] : [[slot, text]])
}

/** A clamped text, or the start of the text where nothing of it is to be seen: a result keeps a text that shows. */
function showing(clamped: string, text: string, policy: Compiled): string {
  if (clamped.trim() !== '' || text.trim() === '') return clamped
  return clampString(text.trimStart(), headOf(policy))
}

/** Numbers that go with each block, as src/bindings/share.rs reads and writes them. */
const COLUMNS = 4
const WHOLE = 0
const CUT = 1
const GONE = 2
const LINED = 4

interface Shared {
  truncated: boolean
  notice: string
  /** Every block has the limits to itself. */
  each: boolean
  table: Float64Array
  cuts: (NativeCut | null | undefined)[]
}

function clampTogether(slots: readonly Slot[], policy: Compiled): Map<Slot, Edit> {
  const texts = slots.map(({ text }) => cleaned(text, policy))
  const words = policy.words
  const shared = words
    ? settle(
        share(texts, policy, policy.spoken, ''),
        (made) => speak(words, teller(texts, made, policy)),
        (said) =>
          said === undefined ? share(texts, policy, KINDS.pi) : share(texts, policy, policy.spoken, said),
        (a, b) => JSON.stringify(a.cuts.map(partOf)) === JSON.stringify(b.cuts.map(partOf)),
      )
    : share(texts, policy)
  const edits = new Map<Slot, Edit>()
  for (const [at, slot] of slots.entries()) {
    const outcome = shared.table[at * COLUMNS + 3]
    if (outcome === CUT || outcome === LINED) edits.set(slot, shared.cuts[at]?.text ?? '')
    else if (outcome === GONE) edits.set(slot, shared.cuts[at]?.text ?? null)
    else {
      const text = texts[at] ?? ''
      const whole = outcome === WHOLE ? text : text.toWellFormed()
      if (whole !== slot.text) edits.set(slot, whole)
    }
  }
  return edits
}

/** Has the engine clamp the texts of one result under one budget. */
function share(texts: readonly string[], policy: Compiled, kind?: number, words = policy.notice): Shared {
  const table = new Float64Array(texts.length * COLUMNS)
  const byLines = policy.limits.lineBytes !== Number.POSITIVE_INFINITY
  const parts = texts.flatMap((text) =>
    byLines ? [text, ''] : searches(policy) ? searched(text, policy) : windows(text, policy),
  )
  for (const [at, text] of texts.entries()) {
    const known = policy.countsAll || policy.words || (searches(policy) && text.length > SEARCHED)
    const total = known ? sizeOf(text) : undefined
    table[at * COLUMNS] = text.length
    table[at * COLUMNS + 1] = total?.bytes ?? Number.NaN
    table[at * COLUMNS + 2] = total ? newlines(text, total) : Number.NaN
  }
  const cuts = native.clampBlocks(pack(policy, kind), words, policy.said, policy.needles, parts, table)
  const last = lastCut(table)
  const notice = words !== '' && cuts[last]?.text.includes(words) ? words : ''
  return { truncated: last >= 0, notice, each: policy.each, table, cuts }
}

/** What of a block is kept; nothing where it is whole or gone. */
function partOf(cut: NativeCut | null | undefined) {
  return cut && [cut.ranges, cut.bytes]
}

function lastCut(table: Float64Array): number {
  let at = table.length / COLUMNS - 1
  while (at >= 0 && table[at * COLUMNS + 3] !== CUT) at -= 1
  return at
}

/** What the notice of the last block that is cut can tell: of its own text, and of the blocks that are gone. */
function teller(texts: readonly string[], shared: Shared, policy: Compiled) {
  const carrier = lastCut(shared.table)
  const missing = texts.filter((_, at) => at === carrier || shared.table[at * COLUMNS + 3] === GONE)
  const cut = shared.cuts[carrier]
  const kept = (): Kept => (cut ? keptBy(cut) : { bytes: 0, chars: 0, ranges: [], lines: [] })
  const made = { text: '', truncated: true, keep: KEPT[cut?.keep ?? 0] ?? 'head', notice: '', kept }
  const judged = shared.each ? [texts[carrier] ?? ''] : texts
  return new CutOf(new Together(missing), made, policy, new Together(judged))
}

/** Several texts that are measured as one. */
class Together implements Pick<Subject, 'total' | 'bytesOut' | 'tokens' | 'hasLongLine'> {
  readonly #subjects: StringSubject[]

  constructor(texts: readonly string[]) {
    this.#subjects = texts.map((text) => new StringSubject(text))
  }

  total(): TextSize {
    const sum = { bytes: 0, chars: 0, lines: 0 }
    for (const subject of this.#subjects) {
      const { bytes, chars, lines } = subject.total()
      sum.bytes += bytes
      sum.chars += chars
      sum.lines += lines
    }
    return sum
  }

  bytesOut(): number {
    return this.total().bytes
  }

  tokens(): number {
    return this.#subjects.reduce((sum, subject) => sum + subject.tokens(), 0)
  }

  hasLongLine(maxBytes: number): boolean {
    return this.#subjects.some((subject) => subject.hasLongLine(maxBytes))
  }
}
