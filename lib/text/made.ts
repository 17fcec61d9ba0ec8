import type { Keep, TextSize } from 'spillway'
import type { Cut as NativeCut } from '../engine.js'
import { io } from './size.js'

/** One cut of a text, in positions of the engine: chars of a string, bytes of a Uint8Array. */
export interface Made {
  text: string
  /** Something was left out. */
  truncated: boolean
  /** The kind of cut, resolved from 'auto'. */
  keep: Exclude<Keep, 'auto'>
  notice: string
  /** Size of what is kept of the input, and where it stands in chars. */
  kept: () => Kept
}

export interface Kept {
  bytes: number
  chars: number
  ranges: [number, number][]
  /** First and last of each run of kept lines; two runs may share a line. */
  lines: [number, number][]
}

/**
 * What a clamp wrote to `io`, as `report` in src/bindings/text.rs orders it. Read one by one: iterating over a typed
 * array costs as much as a small cut.
 */
export function clampReport() {
  const at = (index: number) => io[index] ?? 0
  return {
    cut: at(0) === 1,
    /** Where the kept head starts and ends, and the kept tail, in units of what was given. */
    headStart: at(14),
    headEnd: at(1),
    tailStart: at(2),
    tailEnd: at(15),
    broken: at(3) > 0,
    lead: at(4),
    trail: at(5),
    keep: KEPT[at(6)] ?? 'head',
    midLength: at(7),
    head: { bytes: at(8), chars: at(9), newlines: at(10) },
    tail: { bytes: at(11), chars: at(12), newlines: at(13) },
  }
}

/** Kinds of cuts, as `kept_as` in src/bindings/policy.rs numbers them. */
export const KEPT = ['head', 'tail', 'ends', 'findings'] as const

export class Untouched implements Made {
  readonly truncated = false
  readonly keep = 'head'
  readonly notice = ''
  readonly text: string
  readonly #total: () => TextSize

  constructor(text: string, total: () => TextSize) {
    this.text = text
    this.#total = total
  }

  kept(): Kept {
    const { bytes, chars, lines } = this.#total()
    return { bytes, chars, ranges: chars > 0 ? [[0, chars]] : [], lines: lines > 0 ? [[1, lines]] : [] }
  }
}

/** A cut of which the engine tells all. */
export function madeOf(cut: NativeCut): Made {
  return {
    text: cut.text,
    truncated: true,
    keep: KEPT[cut.keep] ?? 'head',
    notice: cut.text.slice(...cut.notice),
    kept: () => keptBy(cut),
  }
}

/** What a cut keeps of its input. */
export function keptBy(cut: NativeCut): Kept {
  return { bytes: cut.bytes, chars: cut.chars, ranges: pairs(cut.ranges), lines: pairs(cut.lines) }
}

function pairs(numbers: readonly number[]): [number, number][] {
  return Array.from({ length: numbers.length / 2 }, (_, at) => [
    numbers[2 * at] ?? 0,
    numbers[2 * at + 1] ?? 0,
  ])
}

/** What is kept of a text of which both ends are: sizes of the head, of the tail, of all up to the end of the tail, and of
 *  what stands before the head. */
export function keptOf(head: TextSize, tail: TextSize, upTo: TextSize, before: TextSize): Kept {
  const ranges: [number, number][] = []
  if (head.chars > 0) ranges.push([before.chars, before.chars + head.chars])
  if (tail.chars > 0) ranges.push([upTo.chars - tail.chars, upTo.chars])
  return {
    bytes: head.bytes + tail.bytes,
    chars: head.chars + tail.chars,
    ranges,
    lines: runs([before.lines + 1, before.lines + head.lines], [upTo.lines + 1 - tail.lines, upTo.lines]),
  }
}

function runs(...all: [number, number][]): [number, number][] {
  return all.filter(([first, last]) => first <= last)
}
