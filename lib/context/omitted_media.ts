import type { ProviderError } from 'spillway'
import { budgetFor, type MediaBudget } from '../media_options.js'
import { measuresOf, withoutRefused } from '../result/batch.js'
import type { MediaRefusal } from './learned.js'

/** No event is announced: the same payloads are omitted from every request. */
const SILENT = { phase: 'result', isTrial: true } as const

/** Every image and document. */
const ALL = budgetFor({ imageBytes: 0, documentBytes: 0 })

/** The payloads that the requests of a run do not carry: those over the caller's limits, and those
 *  that the provider rejected. */
export class OmittedMedia {
  readonly #budgets: MediaBudget[]
  /** Measures of payloads that were rejected for a limit that the provider did not state. */
  readonly #measures = new Set<string>()

  /** Rejections so far, to go on in another process. */
  readonly refusals: MediaRefusal[] = []

  constructor(budget: MediaBudget | undefined, refusals: readonly MediaRefusal[] = []) {
    this.#budgets = budget ? [budget] : []
    for (const one of refusals) this.#take(one)
  }

  #take(refusal: MediaRefusal): void {
    this.refusals.push(refusal)
    if ('measures' in refusal) this.#measures.add(refusal.measures)
    else this.#budgets.push(limitedTo(refusal))
  }

  /** Returns the messages without these payloads, or the same array if there are none. */
  apply<M>(messages: readonly M[]): readonly M[] {
    const bounded = this.#budgets.reduce(
      (left, budget) => withoutRefused(left, budget, SILENT).messages,
      messages,
    )
    return this.#measures.size > 0 ? withoutRefused(bounded, ALL, SILENT, this.#measures).messages : bounded
  }

  /** Takes in the refusal of a payload in messages that were sent. Returns false if none is left to
   *  omit. */
  reject({ limit, unit, index }: ProviderError, messages: readonly unknown[]): boolean {
    const stated = limit === undefined ? undefined : { limit, ...(unit && { unit }) }
    if (stated && withoutRefused(messages, limitedTo(stated), SILENT).refused.length > 0) {
      this.#take(stated)
      return true
    }
    const { refused } = withoutRefused(messages, ALL, SILENT)
    const named = refused.filter((one) => one.index === index)
    const [largest] = (named.length > 0 ? named : refused).toSorted((a, b) => b.bytes - a.bytes)
    if (largest) this.#take({ measures: measuresOf(largest) })
    return largest !== undefined
  }
}

function limitedTo({
  limit,
  unit,
}: {
  readonly limit: number
  readonly unit?: string | undefined
}): MediaBudget {
  return budgetFor(unit === 'pixels' ? { pixels: limit } : { imageBase64: limit })
}
