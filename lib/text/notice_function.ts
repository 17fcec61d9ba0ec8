import type { Cut, LimitName, TextSize } from 'spillway'
import { type EnginePolicy, silent, tightened, worded } from '../compiled.js'
import type { Input } from './input.js'
import { exceededBy, type Measurements } from './limits.js'
import { parted } from './prepare.js'
import { sizeOf } from './size.js'
import { type KeptParts, keptLines, type Truncation } from './truncation.js'

/** Formats the runs, such as "1-120,4803-5000". Adjacent runs are merged. */
function rangesOf({ lines }: KeptParts): string {
  const merged: [number, number][] = []
  for (const [first, last] of lines) {
    const before = merged.at(-1)
    if (before && first <= before[1] + 1) before[1] = last
    else merged.push([first, last])
  }
  return merged.map((run) => run.join('-')).join(',')
}

/** The argument of a notice function. Values that take a pass over the text are computed when they
 *  are read. */
export class NoticeCut implements Cut {
  readonly keep: Cut['keep']
  readonly source: string
  declare readonly saved?: string
  readonly #input: Pick<Measurements, 'total'>
  readonly #judged: Measurements
  readonly #part: KeptParts
  readonly #policy: EnginePolicy
  #exceeded: readonly LimitName[] | undefined

  /** `judged`: measured against the limits, if that is more than the truncated text. */
  constructor(input: Measurements, kept: KeptParts, policy: EnginePolicy, judged = input) {
    const { source, saved } = policy
    this.keep = kept.keep
    this.source = source
    if (saved && saved.how !== 'failed') this.saved = saved.name
    this.#input = input
    this.#judged = judged
    this.#part = kept
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
    return this.#input.total()
  }
}

/** Most calls of a notice function for one text. A notice may change the cut that it describes. */
const CALLS = 3

/** Truncates a prepared text, and drops from a cut what it brought together. `figures`: the kept
 *  parts will be read. */
export function truncate(input: Input, policy: EnginePolicy, figures = false): Truncation {
  const made = withNotice(input, policy, figures)
  const text = made.truncated ? parted(made.text, policy) : made.text
  return text === made.text ? made : { ...made, text, joined: made.text }
}

/** Truncates with the notice of the policy, which may be a function. */
export function withNotice(input: Input, policy: EnginePolicy, figures = false): Truncation {
  const words = policy.words
  if (!words) return input.truncate(policy, figures)
  return settle(
    input.truncate(silent(policy), true),
    (made) => speak(words, new NoticeCut(input, made.kept(), policy)),
    (text, spare) => input.truncate(worded(tightened(policy, spare), text), true),
    (a, b) => a.kept().ranges.join() === b.kept().ranges.join(),
  )
}

/**
 * Finds a cut that its worded notice describes. Words the notice for a cut without one, truncates
 * again, and repeats that if the cut has changed. `again` truncates with the given words, and with
 * room to spare beside them. Without words, it uses the standard notice.
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
    // Either the notice did not fit and another has replaced it, or it has not changed the cut that
    // it describes.
    if (cut.notice !== next || same(cut, made)) return cut
    const spare = call > 0 && spareOf(text, next)
    if (spare) roomy = { made, text: next, spare }
    made = cut
    text = next
  }
  // If two notices lead to each other's cuts, the shorter one describes the cut that the longer one
  // leaves.
  const cut = roomy && again(roomy.text, roomy.spare)
  return cut && cut.notice === roomy?.text && same(cut, roomy.made) ? cut : again(undefined)
}

/** Returns the room left if `text` replaces the notice `room`, undefined if it needs more of any
 *  unit. */
function spareOf(room: string, text: string): TextSize | undefined {
  const [from, to] = [sizeOf(room), sizeOf(text)]
  const spare = { bytes: from.bytes - to.bytes, chars: from.chars - to.chars, lines: from.lines - to.lines }
  return Math.min(spare.bytes, spare.chars, spare.lines) < 0 ? undefined : spare
}

/**
 * Returns the caller's notice. Returns undefined if the function throws or returns no string, which
 * counts as not fitting.
 */
export function speak(words: (cut: Cut) => string, cut: Cut): string | undefined {
  try {
    const text: unknown = words(cut)
    return typeof text === 'string' ? text.toWellFormed() : undefined
  } catch {
    return undefined
  }
}
