import type { BudgetOptions } from './budget_options.js'
import type { Cuts, PromptResult } from './find_cuts.js'
import { sumOf } from './token_counter.js'

/** Bytes of a block of words beside the words, at most. */
const BLOCK = 40
/** Bytes of the smallest payload that goes, which takes more of a request than any words in its
 *  place. */
const LEAST = 512

/** A payload of a tool result that words may replace, and what that frees. */
interface Drop {
  readonly row: PromptResult
  readonly bytes: number
  readonly tokens: number
  readonly freed: number
}

/** The payloads of tool results in the order in which they go: those of older results, then those
 *  of the latest. */
export class Drops {
  readonly #drops: readonly Drop[]
  readonly #counted: number

  constructor(rows: readonly PromptResult[], options: BudgetOptions, counted: number) {
    this.#drops = [false, true].flatMap((latest) =>
      rows.filter((row) => row.latest === latest).flatMap((row) => dropsOf(row, options)),
    )
    this.#counted = counted
  }

  get count(): number {
    return this.#drops.length
  }

  /** Returns cuts with the first `count` payloads dropped too. */
  with(cuts: Cuts, count: number): Cuts {
    let { freedEarlier, freedLater, freedBytes } = cuts
    for (const { row, tokens, freed } of this.#drops.slice(0, count)) {
      if (row.message < this.#counted) freedEarlier += tokens
      else freedLater += tokens
      freedBytes += freed
    }
    return { ...cuts, freedEarlier, freedLater, freedBytes }
  }

  /** Returns the fewest payloads to drop, from `from` on, with which a test holds, or all of them
   *  if none do. */
  fewest(holds: (count: number) => boolean, from = 0): number {
    let [low, high] = [from, this.count]
    while (low < high) {
      const at = Math.floor((low + high) / 2)
      if (holds(at)) high = at
      else low = at + 1
    }
    return low
  }

  /** Returns the bytes that each result keeps which loses some of the first `count` payloads. */
  kept(count: number): Map<PromptResult, number> {
    const left = new Map<PromptResult, number>()
    for (const { row, bytes } of this.#drops.slice(0, count))
      left.set(row, (left.get(row) ?? bytesOf(row)) - bytes)
    return left
  }
}

/** Returns the payloads of a result that are sent, and large enough to go. */
function dropsOf(row: PromptResult, { counter, provider }: BudgetOptions): Drop[] {
  return row.blocks.flatMap(({ medium: { bytes, sent, words }, end }) => {
    const paid = row.media.get(end.holder.value)?.[provider]
    if (paid === undefined || bytes < LEAST) return []
    return { row, bytes, tokens: paid - sumOf([words], counter), freed: sent - 2 * words.length - BLOCK }
  })
}

function bytesOf({ blocks }: PromptResult): number {
  return blocks.reduce((sum, { medium }) => sum + medium.bytes, 0)
}
