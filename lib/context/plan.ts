import type { PlanStep } from 'spillway'
import { type Compiled, pack } from '../compiled.js'
import { native } from '../engine.js'
import { KINDS } from '../notice.js'
import { bound, checkNamesWithin, checkOptions, choice, flag, limit, optionError, text } from '../option.js'
import { windows } from '../text/pieces.js'

/** A budget over all tool results of a history, checked. */
export interface Aggregate {
  readonly maxChars: number
  readonly order: 'oldest' | 'newest'
  readonly protectLatest: boolean
  readonly minKeepChars: number
}

/** A tool result as a plan sees it. */
export interface Sized {
  readonly chars: number
  /** It came after the last message of the model. */
  readonly latest: boolean
  /** Chars that it had before it was first cut, which tell how long the next notice will be; asked only where needed. */
  original?(): number
}

/** What a result is to keep. */
export interface Step {
  /** Among the results. */
  readonly index: number
  readonly maxChars: number
}

/** Checks the options of an aggregate budget; what is not given comes from `preset`. */
export function checkAggregate(options: unknown, preset: Partial<Aggregate> = {}): Aggregate {
  const given: Partial<Aggregate> = checkNamesWithin('aggregate', options as object)
  const { maxChars = preset.maxChars, order, protectLatest, minKeepChars } = given
  return {
    maxChars: limit('aggregate.maxChars', maxChars),
    order: choice('aggregate.order', order, ['oldest', 'newest'], preset.order ?? 'oldest'),
    protectLatest: flag('aggregate.protectLatest', protectLatest, preset.protectLatest ?? true),
    minKeepChars: bound('aggregate.minKeepChars', minKeepChars, preset.minKeepChars ?? 2_000),
  }
}

/** A budget as src/bindings/plan.rs reads it. */
export function packBudget(
  { maxChars, order, protectLatest, minKeepChars }: Aggregate,
  maxEach = Number.POSITIVE_INFINITY,
  keepsContent = false,
): Float64Array {
  const isNewest = order === 'newest'
  return Float64Array.of(maxEach, maxChars, +isNewest, +protectLatest, minKeepChars, +keepsContent)
}

/** Checks the steps of a plan that a caller hands over; `most` checks what each may keep. */
export function checkPlan(
  plan: readonly unknown[],
  most: (field: string, value: unknown) => number = limit,
): PlanStep[] {
  if (!Array.isArray(plan)) throw optionError(TypeError, 'plan', 'an array of steps', plan)
  return Array.from(plan as readonly unknown[], (step, at) => {
    const name = `plan[${at}]`
    const { index, callId, chars, maxChars }: Partial<PlanStep> = checkOptions(name, step as object)
    return {
      index: limit(`${name}.index`, index),
      ...(callId !== undefined && { callId: text(`${name}.callId`, callId, '') }),
      chars: limit(`${name}.chars`, chars),
      maxChars: most(`${name}.maxChars`, maxChars),
    }
  })
}

/** Numbers that go with each result, as src/bindings/plan.rs reads them. */
const COLUMNS = 3

/** How often a plan is made anew for what notices tell. Each time it is a few chars that move. */
const ROUNDS = 4

/** A result that keeps so much more than it has to has room for any digits. */
const FEW = 512

/** Plans what each result may keep; `policy` is the one by which they will be cut, which tells how long a notice is. */
export class Planner {
  readonly #results: readonly Sized[]
  readonly #policy: Compiled
  /** Chars, those of the original, and 1 where it is of the latest. */
  readonly #table: Float64Array
  readonly #asked: Uint8Array
  #total = 0
  #longest = 0

  constructor(results: readonly Sized[], policy: Compiled) {
    this.#results = results
    this.#policy = policy
    this.#table = new Float64Array(results.length * COLUMNS)
    this.#asked = new Uint8Array(results.length)
    for (let at = 0; at < results.length; at++) {
      const { chars, latest } = results[at] as Sized
      this.#table[at * COLUMNS] = chars
      this.#table[at * COLUMNS + 1] = chars
      this.#table[at * COLUMNS + 2] = Number(latest)
      this.#total += chars
      this.#longest = Math.max(this.#longest, chars)
    }
  }

  /**
   * Leaves each result at most `maxEach` chars, and all of them what the aggregate says. No step leaves less than
   * "[...]", or, where they `keepsContent`, less than `minKeepChars` and a notice; planning again over what the steps
   * leave plans nothing.
   */
  steps(aggregate: Aggregate, maxEach = Number.POSITIVE_INFINITY, keepsContent = false): Step[] {
    if (this.#total <= aggregate.maxChars && this.#longest <= maxEach) return []
    const packed = packBudget(aggregate, maxEach, keepsContent)
    for (let round = 1; ; round++) {
      const steps = this.#planned(packed)
      if (round === ROUNDS || !this.#ask(steps, aggregate.minKeepChars + FEW)) return steps
    }
  }

  /** Asks what was cut far down how long it once was; whether that says anything new. */
  #ask(steps: readonly Step[], few: number): boolean {
    let changed = false
    for (const { index, maxChars } of steps) {
      if (maxChars > few || this.#asked[index] === 1) continue
      this.#asked[index] = 1
      const original = this.#results[index]?.original?.()
      if (original === undefined || original === this.#table[index * COLUMNS + 1]) continue
      this.#table[index * COLUMNS + 1] = original
      changed = true
    }
    return changed
  }

  #planned(budget: Float64Array): Step[] {
    const table = this.#table.slice()
    const policy = this.#policy
    // Where a caller words the notice, the one that takes its place when it does not fit is reckoned with.
    const packed = pack(policy, policy.words ? KINDS.pi : undefined)
    native.planResults(packed, policy.notice, policy.said, budget, table)
    const steps: Step[] = []
    for (let at = 0; at < table.length; at += COLUMNS) {
      const maxChars = table[at] as number
      if (maxChars < (this.#table[at] as number)) steps.push({ index: at / COLUMNS, maxChars })
    }
    return steps
  }
}

/** A glance at both ends finds most notices of a long text. */
const GLANCE = { reach: { head: 0, tail: 0 } }

/** Chars that a result had before it was first cut, by the notices in its texts. */
export function originalOf(texts: readonly string[]): number {
  let sum = 0
  for (const text of texts) {
    const [head, tail] = windows(text, GLANCE)
    sum += native.originalChars(head, tail, text.length)
  }
  return sum
}
