import { emitClamp, type Origin } from '../clamp_event.js'
import type { EnginePolicy } from '../compiled.js'
import { Draft } from '../dialect/edit.js'
import type { Result } from '../dialect/results.js'
import { copy } from '../dialect/shallow_copy.js'
import { excess, ResultMedia } from '../media/media.js'
import { elementAt, tryRead } from '../untrusted.js'
import { resultsIn } from './message_results.js'
import { removeCopies } from './sent_once.js'

/** A result of a value, and the index of that value. */
interface Carried {
  readonly at: number
  readonly result: Result
}

/** Values and the results that they carry: one result, or the messages of a history. A step changes results, after which
 *  the next one reads them anew. */
export class Batch {
  /** Numbers of the results that a step changed. */
  readonly changed = new Set<number>()
  readonly #policy: EnginePolicy
  readonly #read = new Map<number, readonly Result[]>()
  #values: readonly unknown[]

  /** `fits`: returns true for the index of a value that stays as it is. */
  constructor(values: readonly unknown[], policy: EnginePolicy, fits: (at: number) => boolean = () => false) {
    this.#values = values
    this.#policy = policy
    for (let at = 0; at < values.length; at++) if (fits(at)) this.#read.set(at, [])
  }

  /** Makes a batch of one value whose results are known. */
  static of(value: unknown, results: readonly Result[], policy: EnginePolicy): Batch {
    const batch = new Batch([value], policy)
    batch.#read.set(0, results)
    return batch
  }

  get values(): readonly unknown[] {
    return this.#values
  }

  get results(): Carried[] {
    const all: Carried[] = []
    for (let at = 0; at < this.#values.length; at++)
      for (const result of this.#resultsAt(at)) all.push({ at, result })
    return all
  }

  /** Applies a step to each result, which returns true if it changed anything. */
  apply(step: (result: Result, draft: Draft, nth: number) => boolean): void {
    const changes = new Map<number, unknown>()
    let nth = 0
    for (let at = 0; at < this.#values.length; at++) {
      const draft = new Draft()
      let isChanged = false
      for (const result of this.#resultsAt(at)) {
        const own = nth++
        if (!tryRead(() => step(result, draft, own))) continue
        this.changed.add(own)
        isChanged = true
      }
      const value = isChanged && elementAt(this.#values, at)
      if (value) changes.set(at, tryRead(() => draft.done(value)) ?? value)
    }
    if (changes.size === 0) return
    this.#values = copy(this.#values, changes) as unknown[]
    for (const at of changes.keys()) this.#read.delete(at)
  }

  #resultsAt(at: number): readonly Result[] {
    const known = this.#read.get(at)
    if (known) return known
    const results = resultsIn(elementAt(this.#values, at), this.#policy.dialect)
    this.#read.set(at, results)
    return results
  }
}

/**
 * Removes from results what no limit counts: copies first, since they tell by comparison, then payloads over the budget of
 * each result or, in a history, of all. The texts that are left are measured.
 */
export function lighten(
  batch: Batch,
  { structured, media }: EnginePolicy,
  origin: Origin,
  isHistory = false,
): void {
  if (structured !== 'both') batch.apply((result, draft) => removeCopies(result, structured, draft))
  if (!media) return
  const all = batch.results.map(({ result }) => new ResultMedia(result))
  const gone = isHistory ? excess(all, media) : all.map((one) => excess([one], media)?.[0])
  if (!gone) return
  batch.apply((result, draft, nth) => {
    const own = gone[nth]
    if (!own?.includes(true)) return false
    emitClamp(origin, (all[nth] as ResultMedia).drop(own, draft), result)
    return true
  })
}
