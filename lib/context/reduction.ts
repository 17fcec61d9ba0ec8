import type { PlanStep } from 'spillway'
import { Kept } from '../result/history.js'
import { appliedBy } from './apply.js'
import { Planner, type Sized, type Step } from './plan.js'
import type { Counter } from './tokens.js'
import type { WeighedResult } from './weighed.js'
import type { Asked } from './window.js'

/** A tool result of a prompt, with its tokens after cuts. */
export class Row implements Sized {
  #tokens: Map<number, number> | undefined

  constructor(
    readonly weighed: WeighedResult,
    /** Index of the message that carries it. */
    readonly message: number,
    readonly latest: boolean,
  ) {}

  get chars(): number {
    return this.weighed.chars
  }

  original(): number {
    return this.weighed.original
  }

  /** The key by which a plan names it. */
  get name(): string {
    return `${this.message} ${this.chars} ${this.weighed.result.id ?? ''}`
  }

  step(maxChars: number): PlanStep {
    const { id } = this.weighed.result
    return { index: this.message, ...(id !== undefined && { callId: id }), chars: this.chars, maxChars }
  }

  /** Returns the tokens freed by a cut to `maxChars`, as applying a plan makes it. Negative if a counter finds more. */
  freed(maxChars: number, counter: Counter): number {
    this.#tokens ??= new Map()
    let tokens = this.#tokens.get(maxChars)
    if (tokens === undefined) {
      const kept = new Kept(this.weighed.result, this.message, this.latest, appliedBy)
      kept.clamp(maxChars)
      tokens = counter.each(kept.texts).reduce((sum, tokens) => sum + tokens, 0)
      this.#tokens.set(maxChars, tokens)
    }
    return this.weighed.tokens - tokens
  }
}

/** Cuts of tool results, and the tokens that they free. */
export interface Cuts {
  readonly steps: readonly Step[]
  /** Tokens freed in messages that the provider counted. */
  readonly freedOfTold: number
  /** Tokens freed in other messages. */
  readonly freedOfOthers: number
}

/** Returns true if a prompt fits after cuts, with `spare` tokens to spare. */
export type Fits = (cuts: Cuts, spare: number) => boolean

/** Searches for the smallest cuts of tool results that make a prompt fit. */
export class Reduction {
  readonly #rows: readonly Row[]
  readonly #asked: Asked
  /** Number of messages that the provider counted. */
  readonly #told: number
  readonly #planner: Planner

  constructor(rows: readonly Row[], asked: Asked, told: number) {
    this.#rows = rows
    this.#asked = asked
    this.#told = told
    this.#planner = new Planner(rows, appliedBy)
  }

  /** Plans cuts to `maxChars` of all results together. Each keeps `minKeepChars` and a notice, except as a last
   *  resort. */
  steps(maxChars: number): readonly Step[] {
    const { aggregate, maxEach, isLastResort = false } = this.#asked
    return this.#planner.steps({ ...aggregate, maxChars }, maxEach, !isLastResort)
  }

  /** Chars that the largest cuts omit. */
  get chars(): number {
    return this.steps(0).reduce((sum, { index, maxChars }) => sum + this.#row(index).chars - maxChars, 0)
  }

  /**
   * Finds the smallest cuts that hold the caps and make the prompt fit, or the largest ones if none suffice. `most`:
   * cuts that leave `spare` tokens to spare, or the largest ones.
   */
  least(fits: Fits, spare: number): { cuts: Cuts; most: Cuts } {
    const total = this.#rows.reduce((sum, { chars }) => sum + chars, 0)
    let at = Math.min(total, this.#asked.aggregate.maxChars)
    let failing = at
    let found: Found | undefined
    for (let step = FIRST_STEP; ; step *= 2) {
      const most = this.#cuts(at)
      if (!found && fits(most, 0)) found = { at, cuts: most }
      if (!found) failing = at
      if (at === 0 || fits(most, spare))
        return { cuts: found ? this.#between(found, failing, fits) : most, most }
      at = Math.max(0, at - step)
    }
  }

  /** Searches between cuts that suffice and those to `failing` chars, which do not. */
  #between(found: Found, failing: number, fits: Fits): Cuts {
    let { at: low, cuts } = found
    let high = failing
    while (high - low > Math.max(1, high / PRECISION)) {
      const at = Math.floor((low + high) / 2)
      const next = this.#cuts(at)
      if (fits(next, 0)) {
        low = at
        cuts = next
      } else high = at
    }
    return cuts
  }

  #cuts(maxChars: number): Cuts {
    const steps = this.steps(maxChars)
    let [freedOfTold, freedOfOthers] = [0, 0]
    for (const { index, maxChars } of steps) {
      const row = this.#row(index)
      const freed = row.freed(maxChars, this.#asked.counter)
      if (row.message < this.#told) freedOfTold += freed
      else freedOfOthers += freed
    }
    return { steps, freedOfTold, freedOfOthers }
  }

  #row(index: number): Row {
    return this.#rows[index] as Row
  }
}

interface Found {
  readonly at: number
  readonly cuts: Cuts
}

/** Chars of the first cut, doubled with each attempt. */
const FIRST_STEP = 4_096
/** The search ends within this fraction of the remaining chars. */
const PRECISION = 2 ** 20
