import type { ClampReport, Keep, TextSize } from 'spillway'
import type { Cut as NativeCut } from '../engine.js'

/** The result of truncating one text. */
export interface Truncation {
  readonly text: string
  /** True if a part of the text is omitted. */
  readonly truncated: boolean
  readonly notice: string
  /** Returns the kept parts of the text. */
  readonly kept: () => KeptParts
  /** The text before lines and secrets were dropped that the cut brought together. Undefined if
   *  none was. */
  readonly joined?: string
}

/** The kept parts of a text. */
export interface KeptParts {
  /** The kind of cut, resolved from 'auto'. */
  keep: Exclude<Keep, 'auto'>
  bytes: number
  chars: number
  /** Ranges in chars. */
  ranges: [number, number][]
  /** First and last line of each kept run. Two runs may share a line. */
  lines: [number, number][]
  /** The reasons of a search, if the policy asks for them. */
  reasons?: Reasons
}

/** The reasons for which lines are kept, and those of the best omitted lines. */
export interface Reasons {
  readonly kept: NonNullable<ClampReport['reasons']>
  readonly dropped: NonNullable<ClampReport['dropped']>
}

/** Returns the result for a text that is not truncated. */
export function untouched(text: string, total: () => TextSize): Truncation {
  const kept = (): KeptParts => {
    const { bytes, chars, lines } = total()
    return {
      keep: 'head',
      bytes,
      chars,
      ranges: chars > 0 ? [[0, chars]] : [],
      lines: lines > 0 ? [[1, lines]] : [],
    }
  }
  return { text, truncated: false, notice: '', kept }
}

/** Converts a cut whose text is complete. */
export function truncationOf(cut: NativeCut, truncated = true): Truncation {
  return { text: cut.text, truncated, notice: cut.text.slice(...cut.notice), kept: () => keptBy(cut) }
}

/** Returns the kept parts of an input. */
export function keptBy({ keep, bytes, chars, ranges, lines, reasons }: NativeCut): KeptParts {
  return { keep, bytes, chars, ranges: pairs(ranges), lines: pairs(lines), ...(reasons && { reasons }) }
}

function pairs(numbers: readonly number[]): [number, number][] {
  return Array.from({ length: numbers.length / 2 }, (_, at) => [
    numbers[2 * at] ?? 0,
    numbers[2 * at + 1] ?? 0,
  ])
}

/** Counts the lines that are kept, at least in part. A line in two runs counts once. */
export function keptLines({ lines }: Pick<KeptParts, 'lines'>): number {
  let count = 0
  let before = 0
  for (const [first, last] of lines) {
    count += last + 1 - Math.max(first, before + 1)
    before = last
  }
  return count
}
