import type { Keep, TextSize } from 'spillway'
import type { Cut as NativeCut } from '../engine.js'
import { io } from './size.js'

/** The result of truncating one text. */
export interface Made {
  text: string
  /** True if a part of the text is omitted. */
  truncated: boolean
  /** The kind of cut, resolved from 'auto'. */
  keep: Exclude<Keep, 'auto'>
  notice: string
  /** Returns the size of the kept input, and its ranges in chars. */
  kept: () => Kept
}

export interface Kept {
  bytes: number
  chars: number
  ranges: [number, number][]
  /** First and last line of each kept run. Two runs may share a line. */
  lines: [number, number][]
}

/**
 * Reads the numbers that a clamp wrote to `io`, in the order of `report` in src/bindings/text.rs. They are read by
 * index: iterating over a typed array costs as much as a small cut.
 */
export function clampReport() {
  const at = (index: number) => io[index] ?? 0
  return {
    cut: at(0) === 1,
    /** Bounds of the kept head and the kept tail, in units of the input. */
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

/** Kinds of cuts, by their number in `kept_as` in src/bindings/policy.rs. */
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

/** Converts a cut that the engine describes in full. */
export function madeOf(cut: NativeCut): Made {
  return {
    text: cut.text,
    truncated: true,
    keep: KEPT[cut.keep] ?? 'head',
    notice: cut.text.slice(...cut.notice),
    kept: () => keptBy(cut),
  }
}

/** Returns the kept part of an input. */
export function keptBy(cut: NativeCut): Kept {
  return { bytes: cut.bytes, chars: cut.chars, ranges: pairs(cut.ranges), lines: pairs(cut.lines) }
}

function pairs(numbers: readonly number[]): [number, number][] {
  return Array.from({ length: numbers.length / 2 }, (_, at) => [
    numbers[2 * at] ?? 0,
    numbers[2 * at + 1] ?? 0,
  ])
}

/**
 * Returns the kept part of a text that keeps a head and a tail. `upTo`: the text up to the end of the tail. `before`:
 * the text before the head.
 */
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
