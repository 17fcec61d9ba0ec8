import type { PlanStep } from 'spillway'
import { type EnginePolicy, handleOf, unworded } from './compiled.js'
import type { Result } from './dialect/results.js'
import { native } from './engine.js'
import type { OptionsOf } from './read_options.js'
import { type Original, originalsOf } from './text/earlier.js'

/** A budget over all tool results of a history, checked. */
export interface Aggregate extends OptionsOf<'aggregate'> {
  /** The latest results stay, even over budget. */
  readonly sparesLatest?: boolean | undefined
}

/** The size of a tool result, for a plan. */
export interface ResultExtent {
  readonly chars: number
  /** True if it follows the last message of the model. */
  readonly latest: boolean
  readonly texts: readonly string[]
  /** The figures of its notices, which determine the length of the next notice. Looked up only if
   *  needed. */
  original?: Original | undefined
}

/** Chars that a result may keep. */
export interface ResultCap {
  /** Index of the result. */
  readonly index: number
  readonly maxChars: number
}

/** Returns the fields of a budget for the engine. */
export function budgetFields(
  { maxChars, order, protectNewest, minKeepChars, sparesLatest }: Aggregate,
  keepsContent = false,
) {
  const latest = sparesLatest ? 'never' : protectNewest ? 'last' : 'asOthers'
  return { maxChars, order, latest, minKeepChars, keepsContent } as const
}

/** Numbers for each result, in the order of bindings/src/plan.rs: its chars, its original chars, 1
 *  if it is one of the latest, the chars of its saved name, and 1 if its original was looked up. */
const COLUMNS = 5

/** Plans the chars that each result may keep. `policy`: the policy that will cut them, whose
 *  notices have a length. */
export class Planner {
  readonly #results: readonly ResultExtent[]
  readonly #policy: EnginePolicy
  readonly #table: Float64Array
  /** Chars of all results, and of the longest. */
  #total = 0
  #longest = 0

  constructor(results: readonly ResultExtent[], policy: EnginePolicy) {
    this.#results = results
    this.#policy = policy
    this.#table = new Float64Array(results.length * COLUMNS)
    for (const [nth, { chars, latest }] of results.entries()) {
      this.#table.set([chars, chars, Number(latest)], nth * COLUMNS)
      this.#total += chars
      this.#longest = Math.max(this.#longest, chars)
    }
  }

  /**
   * Limits each result to `maxEach` chars, and all of them to the aggregate. A step leaves at least
   * "[...]", or with `keepsContent` at least `minKeepChars` and a notice. Planning again after the
   * steps were applied plans nothing.
   */
  steps(aggregate: Aggregate, maxEach = Number.POSITIVE_INFINITY, keepsContent = false): ResultCap[] {
    if (this.#total <= aggregate.maxChars && this.#longest <= maxEach) return []
    const policy = this.#policy
    // The length of a caller's notice is unknown, so its fallback is used for the plan.
    const handle = handleOf(unworded(policy))
    const left = Float64Array.from(this.#results, ({ chars }) => chars)
    const originals = (indexes: number[]) => this.#originals(indexes)
    native.planResults(handle, maxEach, budgetFields(aggregate, keepsContent), this.#table, left, originals)
    return this.#results.flatMap(({ chars }, index) => {
      const maxChars = left[index] as number
      return maxChars < chars ? [{ index, maxChars }] : []
    })
  }

  #originals(indexes: readonly number[]): number[] {
    const results = indexes.map((index) => this.#results[index] as ResultExtent)
    const open = results.filter(({ original }) => !original)
    const found = originalsOf(open.map(({ texts }) => texts))
    for (const [at, result] of open.entries()) result.original = found[at]
    return results.flatMap(({ original }) => [original?.chars ?? 0, original?.named ?? 0])
  }
}

/** Makes a step of a plan for a result of the message at `index`. */
export function stepFor({ id }: Result, index: number, chars: number, maxChars: number): PlanStep {
  return { index, ...(id !== undefined && { callId: id }), chars, maxChars }
}
