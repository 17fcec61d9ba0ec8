import type { PlanStep } from 'spillway'
import type { History } from '../result/history.js'
import { Kept } from '../result/message_results.js'
import { appliedBy } from './apply_plan.js'
import type { BudgetOptions } from './budget_options.js'
import type { ResultShare } from './message_tokens.js'
import { originalOf, Planner, type Sized, type Step, stepFor } from './plan.js'
import { type Counter, sumOf } from './token_counter.js'

/** A tool result of a prompt, with its tokens after cuts. */
export class Row implements Sized {
  readonly chars: number
  readonly #tokens = new Map<number, number>()

  constructor(
    readonly share: ResultShare,
    /** Index of the message that carries it. */
    readonly message: number,
    readonly latest: boolean,
    readonly history: History,
  ) {
    this.chars = share.chars
  }

  original(): number {
    const { share } = this
    share.original ??= originalOf(share.result.slots.map(({ text }) => text))
    return share.original
  }

  /** The key by which a plan names it. */
  get name(): string {
    return `${this.message} ${this.chars} ${this.share.result.id ?? ''}`
  }

  step(maxChars: number): PlanStep {
    return stepFor(this.share.result, this.message, this.chars, maxChars)
  }

  /** Returns the tokens freed by a cut to `maxChars`, as applying a plan makes it. Negative if a counter finds more. */
  freed(maxChars: number, counter: Counter): number {
    let tokens = this.#tokens.get(maxChars)
    if (tokens === undefined) {
      const kept = new Kept(this.share.result, this.message, this.latest, appliedBy, this.history)
      kept.clamp(maxChars)
      tokens = sumOf(kept.texts, counter)
      this.#tokens.set(maxChars, tokens)
    }
    return this.share.tokens - tokens
  }
}

/** Cuts of tool results, and the tokens that they free. */
export interface Cuts {
  readonly steps: readonly Step[]
  /** Tokens freed in messages that the provider counted. */
  readonly freedEarlier: number
  /** Tokens freed in other messages. */
  readonly freedLater: number
}

/** Returns true if a prompt fits after cuts, with `spare` tokens to spare. */
type Fits = (cuts: Cuts, spare: number) => boolean

/** Chars of the first cut, doubled with each attempt. */
const FIRST_STEP = 4_096
/** The search ends within this fraction of the remaining chars. */
const PRECISION = 2 ** 20

/** Searches for the smallest cuts of tool results that make a prompt fit. */
export class CutSearch {
  readonly #rows: readonly Row[]
  readonly #options: BudgetOptions
  /** Number of messages that the provider counted. */
  readonly #counted: number
  readonly #planner: Planner

  constructor(rows: readonly Row[], options: BudgetOptions, counted: number) {
    this.#rows = rows
    this.#options = options
    this.#counted = counted
    this.#planner = new Planner(rows, appliedBy)
  }

  /** Chars that the largest cuts omit. */
  get reducibleChars(): number {
    return this.#steps(0).reduce((sum, { index, maxChars }) => sum + this.#row(index).chars - maxChars, 0)
  }

  /**
   * Finds the smallest cuts that hold the caps and make the prompt fit, or the largest ones if none suffice. `most`:
   * cuts that leave `spare` tokens to spare, or the largest ones.
   */
  least(fits: Fits, spare: number): { cuts: Cuts; most: Cuts } {
    const total = this.#rows.reduce((sum, { chars }) => sum + chars, 0)
    let failing = Math.min(total, this.#options.aggregate.maxChars)
    let found: Cuts | undefined
    for (let [at, step] = [failing, FIRST_STEP]; ; at = Math.max(0, at - step), step *= 2) {
      const most = this.#cuts(at)
      if (!found && fits(most, 0)) found = this.#between(at, most, failing, fits)
      if (!found) failing = at
      if (at === 0 || fits(most, spare)) return { cuts: found ?? most, most }
    }
  }

  /** Searches between cuts to `low` chars, which suffice, and those to `high` chars, which do not. */
  #between(low: number, cuts: Cuts, high: number, fits: Fits): Cuts {
    if (high - low <= Math.max(1, high / PRECISION)) return cuts
    const at = Math.floor((low + high) / 2)
    const next = this.#cuts(at)
    return fits(next, 0) ? this.#between(at, next, high, fits) : this.#between(low, cuts, at, fits)
  }

  #cuts(maxChars: number): Cuts {
    const steps = this.#steps(maxChars)
    let [freedEarlier, freedLater] = [0, 0]
    for (const { index, maxChars } of steps) {
      const row = this.#row(index)
      const freed = row.freed(maxChars, this.#options.counter)
      if (row.message < this.#counted) freedEarlier += freed
      else freedLater += freed
    }
    return { steps, freedEarlier, freedLater }
  }

  /** Plans cuts to `maxChars` of all results together. Each keeps `minKeepChars` and a notice, except as a last
   *  resort. */
  #steps(maxChars: number): readonly Step[] {
    const { aggregate, maxEach, isLastResort = false } = this.#options
    return this.#planner.steps({ ...aggregate, maxChars }, maxEach, !isLastResort)
  }

  #row(index: number): Row {
    return this.#rows[index] as Row
  }
}
