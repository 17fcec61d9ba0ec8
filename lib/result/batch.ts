import type { RefusedMedia } from 'spillway'
import { emitClamp, type Origin } from '../clamp_event.js'
import type { EnginePolicy } from '../compiled.js'
import { Draft } from '../dialect/edit.js'
import { PathNode } from '../dialect/paths.js'
import { pastedIn, type Result } from '../dialect/results.js'
import { copy } from '../dialect/shallow_copy.js'
import { excess, type Item, judged, ResultMedia, refusalOf } from '../media/media.js'
import { type MediaBudget, REASONS } from '../media_options.js'
import { elementAt, elementsOf, isObject, tryRead } from '../untrusted.js'
import { resultsIn } from './message_results.js'
import { type CopyChoice, removeCopies } from './sent_once.js'

/** A result of a value, and the index of that value. */
interface Carried {
  readonly at: number
  readonly result: Result
}

/** Values and the results that they carry: one result, or the messages of a history. A step changes
 *  results, after which the next one reads them anew. */
export class Batch {
  /** Numbers of the results that a step changed. */
  readonly changed = new Set<number>()
  readonly #policy: Pick<EnginePolicy, 'dialect'>
  readonly #read = new Map<number, readonly Result[]>()
  #values: readonly unknown[]

  /** `fits`: returns true for the index of a value that stays as it is. */
  constructor(
    values: readonly unknown[],
    policy: Pick<EnginePolicy, 'dialect'>,
    fits: (at: number) => boolean = () => false,
  ) {
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

  /** The payloads in messages of the user. Each has the place of its message in common with the
   *  results there. */
  get pasted(): Carried[] {
    return this.#values.flatMap((_, at) => {
      const message = elementAt(this.#values, at)
      const result = isObject(message) && tryRead(() => this.#pastedAt(at, message))
      return result ? [{ at, result }] : []
    })
  }

  #pastedAt(at: number, message: object): Result | undefined {
    let root = this.#resultsAt(at)[0]?.place ?? new PathNode(message)
    while (root.parent) root = root.parent
    return pastedIn(root, this.#policy.dialect)
  }

  /** Applies a step to each result, and `beside` to each value, which return true if they changed
   *  anything. Returns true if any did. */
  apply(
    step: (result: Result, draft: Draft, nth: number) => boolean,
    beside?: (at: number, draft: Draft) => boolean,
  ): boolean {
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
      if (beside && tryRead(() => beside(at, draft))) {
        this.changed.add(-1 - at)
        isChanged = true
      }
      const value = isChanged && elementAt(this.#values, at)
      if (value) changes.set(at, tryRead(() => draft.done(value)) ?? value)
    }
    if (changes.size === 0) return false
    this.#values = copy(this.#values, changes) as unknown[]
    for (const at of changes.keys()) this.#read.delete(at)
    return true
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
 * Removes from results what no limit counts: copies first, since they tell by comparison, then
 * payloads over the budget of each result or, in a history, of all. The texts that are left are
 * measured.
 */
export function lighten(
  batch: Batch,
  { structured, media }: EnginePolicy,
  origin: Origin,
  isHistory = false,
): void {
  sendOnce(batch, structured)
  if (!media) return
  const all = mediaOf(batch, isHistory && media.limits !== undefined)
  const gone = isHistory ? excess(all, media) : all.map((one) => excess([one], media)?.[0])
  if (gone) omit(batch, all, gone, origin)
}

/** Removes what results carry twice. */
export function sendOnce(batch: Batch, kept: CopyChoice): void {
  if (kept !== 'both') batch.apply((result, draft) => removeCopies(result, kept, draft))
}

/** The payloads of a result or of a message of the user. */
interface CarriedMedia {
  readonly at: number
  readonly result: Result
  readonly media: ResultMedia
  readonly items: readonly Item[]
  readonly fromUser: boolean
}

/** Returns the payloads of all results and, if asked to, those in messages of the user after
 *  them. */
function mediaOf(batch: Batch, withUser: boolean): CarriedMedia[] {
  const read = (only?: 'pasted') => (carried: Carried) => {
    const media = new ResultMedia(carried.result, only)
    return { ...carried, media, items: media.items, fromUser: only !== undefined }
  }
  return [...batch.results.map(read()), ...(withUser ? batch.pasted.map(read('pasted')) : [])]
}

/** Replaces payloads by words. `gone`: for each of `all`, true for each of its payloads that
 *  goes. */
function omit(
  batch: Batch,
  all: readonly CarriedMedia[],
  gone: readonly (readonly boolean[] | undefined)[],
  origin: Origin,
): void {
  const pasted = new Map(all.flatMap((one, nth) => (one.fromUser ? [[one.at, nth]] : [])))
  const drop = (nth: number | undefined, draft: Draft): boolean => {
    const own = nth === undefined ? undefined : gone[nth]
    const one = all[nth ?? -1]
    if (!one || !own?.includes(true)) return false
    emitClamp(origin, one.media.drop(own, draft), one.result)
    return true
  }
  batch.apply(
    (_, draft, nth) => drop(nth, draft),
    (at, draft) => drop(pasted.get(at), draft),
  )
}

/** Replaces the payloads that a budget does not allow in the messages of a history, those of the
 *  user included. Returns the same array if there are none. `only`: measures of payloads, as
 *  `measuresOf` writes them; all others stay. */
export function withoutRefused<M>(
  messages: readonly M[],
  budget: MediaBudget,
  origin: Origin,
  only?: ReadonlySet<string>,
): { readonly messages: readonly M[]; readonly refused: readonly RefusedMedia[] } {
  const batch = new Batch(elementsOf(messages), { dialect: undefined })
  const all = mediaOf(batch, true)
  const isMeant = (item: Item | undefined) => !only || (item !== undefined && only.has(measuresOf(item)))
  const found = judged(
    all.map(({ items }) => items),
    budget,
  )
  const reasons = found?.map((own, nth) =>
    own.map((reason, at) => (isMeant(all[nth]?.items[at]) ? reason : 0)),
  )
  if (!reasons?.some((own) => own.some((reason) => reason > 0))) return { messages, refused: [] }
  omit(
    batch,
    all,
    reasons.map((own) => own.map((reason) => reason > 0)),
    origin,
  )
  const refused = all.flatMap(({ at, items }, nth) =>
    items.flatMap((item, own) => {
      const reason = REASONS[reasons[nth]?.[own] ?? 0]
      return reason === undefined ? [] : [{ index: at, ...refusalOf(item, reason) }]
    }),
  )
  return { messages: batch.values as readonly M[], refused: refused.sort((a, b) => a.index - b.index) }
}

/** Returns a text that only payloads of the same bytes and dimensions have. */
export function measuresOf({
  bytes,
  width = 0,
  height = 0,
}: Pick<RefusedMedia, 'bytes' | 'width' | 'height'>): string {
  return `${bytes} ${width}x${height}`
}
