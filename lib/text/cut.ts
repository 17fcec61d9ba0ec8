import type { Cut, LimitName, TextSize } from 'spillway'
import { type Compiled, tightened } from '../compiled.js'
import { KINDS } from '../notice.js'
import { exceededBy, type Measured } from './limits.js'
import type { Kept, Made } from './made.js'
import { sizeOf } from './size.js'
import type { Subject } from './subject.js'

/** Lines of which something is kept. A line that two runs keep a part of counts once. */
export function keptLines({ lines }: Kept): number {
  let count = 0
  let before = 0
  for (const [first, last] of lines) {
    count += last + 1 - Math.max(first, before + 1)
    before = last
  }
  return count
}

/** The runs as a text, such as "1-120,4803-5000"; runs that touch are one. */
function rangesOf({ lines }: Kept): string {
  const merged: [number, number][] = []
  for (const [first, last] of lines) {
    const before = merged.at(-1)
    if (before && first <= before[1] + 1) before[1] = last
    else merged.push([first, last])
  }
  return merged.map((run) => run.join('-')).join(',')
}

/** What a caller's notice is told. What takes a pass over the text is worked out when it is read. */
export class CutOf implements Cut {
  readonly keep: Cut['keep']
  readonly source: string
  declare readonly saved?: string
  readonly #subject: Measured
  readonly #judged: Measured
  readonly #made: Made
  readonly #policy: Compiled
  #kept: Kept | undefined
  #exceeded: readonly LimitName[] | undefined

  /** `judged`: what is held against the limits, where that is more than the text that was cut. */
  constructor(subject: Measured, made: Made, policy: Compiled, judged = subject) {
    this.keep = made.keep
    this.source = policy.source
    if (policy.saved !== undefined) this.saved = policy.saved
    this.#subject = subject
    this.#judged = judged
    this.#made = made
    this.#policy = policy
  }

  get totalChars() {
    return this.#total.chars
  }
  get totalBytes() {
    return this.#total.bytes
  }
  get totalLines() {
    return this.#total.lines
  }
  get omittedChars() {
    return this.#total.chars - this.#part.chars
  }
  get omittedBytes() {
    return this.#total.bytes - this.#part.bytes
  }
  get omittedLines() {
    return this.#total.lines - keptLines(this.#part)
  }
  get keptLines() {
    return rangesOf(this.#part)
  }
  get exceeded() {
    this.#exceeded ??= exceededBy(this.#judged, this.#policy)
    return this.#exceeded
  }

  get #total(): TextSize {
    return this.#subject.total()
  }
  get #part(): Kept {
    this.#kept ??= this.#made.kept()
    return this.#kept
  }
}

/** A notice may change the cut that it speaks of; so often it is asked again. */
const CALLS = 3

/** Cuts with the notice of the policy, which may be a function. */
export function clampSubject(subject: Subject, policy: Compiled): Made {
  const words = policy.words
  if (!words) return subject.clamp(policy)
  return settle(
    subject.clamp(policy, KINDS.none),
    (made) => speak(words, new CutOf(subject, made, policy)),
    (text, spare) =>
      subject.clamp(tightened(policy, spare), text === undefined ? KINDS.pi : policy.spoken, text),
    (a, b) => a.kept().ranges.join() === b.kept().ranges.join(),
  )
}

/**
 * Finds a cut that a worded notice is true of: words it for the cut without a notice, cuts again, and words it again
 * when that changed the cut. `again` cuts with given words, and with room to spare beside them; with none, the standard
 * notice takes their place.
 */
export function settle<T extends { truncated: boolean; notice: string }>(
  first: T,
  word: (made: T) => string | undefined,
  again: (text: string | undefined, spare?: TextSize) => T,
  same: (a: T, b: T) => boolean,
): T {
  if (!first.truncated) return first
  let made = first
  let text = ''
  let roomy: { made: T; text: string; spare: TextSize } | undefined
  for (let call = 0; call < CALLS; call++) {
    const next = word(made)
    if (next === undefined) return again(undefined)
    if (next === text) return made
    const cut = again(next)
    // A notice that does not fit has given way to one that needs no caller; one that changed nothing is true.
    if (cut.notice !== next || same(cut, made)) return cut
    const spare = call > 0 && spareOf(text, next)
    if (spare) roomy = { made, text: next, spare }
    made = cut
    text = next
  }
  // Of two notices that lead to each other's cuts, the shorter is true of the cut that the longer one left.
  const cut = roomy && again(roomy.text, roomy.spare)
  return cut && cut.notice === roomy?.text && same(cut, roomy.made) ? cut : again(undefined)
}

/** What is left of the room for a notice when another takes its place; nothing when that needs more of anything. */
function spareOf(room: string, text: string): TextSize | undefined {
  const [from, to] = [sizeOf(room), sizeOf(text)]
  const spare = { bytes: from.bytes - to.bytes, chars: from.chars - to.chars, lines: from.lines - to.lines }
  return Math.min(spare.bytes, spare.chars, spare.lines) < 0 ? undefined : spare
}

/** What the caller says; nothing when it throws or says no string, which counts as not fitting. */
export function speak(words: (cut: Cut) => string, cut: Cut): string | undefined {
  try {
    const text: unknown = words(cut)
    return typeof text === 'string' ? text.toWellFormed() : undefined
  } catch {
    return undefined
  }
}
