import type { PlanStep } from 'spillway'
import { Kept } from '../result/history.js'
import { appliedBy } from './apply.js'
import { Planner, type Sized, type Step } from './plan.js'
import type { Counter } from './tokens.js'
import type { WeighedResult } from './weighed.js'
import type { Asked } from './window.js'

/** A tool result of a prompt, and what it would take if it were cut. */
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

  /** What a plan tells it by. */
  get name(): string {
    return `${this.message} ${this.chars} ${this.weighed.result.id ?? ''}`
  }

  step(maxChars: number): PlanStep {
    const { id } = this.weighed.result
    return { index: this.message, ...(id !== undefined && { callId: id }), chars: this.chars, maxChars }
  }

  /** Tokens that go when it is cut to so many chars, as applying a plan does; a counter may find that there are more. */
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

/** Cuts of tool results, and the tokens that go with them. */
export interface Cuts {
  readonly steps: readonly Step[]
  /** Of results in messages of which the provider told what they take. */
  readonly freedOfTold: number
  readonly freedOfOthers: number
}

/** Whether a prompt fits once it is cut, with so many tokens to spare. */
export type Fits = (cuts: Cuts, spare: number) => boolean

/** Looks for the least that has to be cut of the tool results of a prompt. */
export class Reduction {
  readonly #rows: readonly Row[]
  readonly #asked: Asked
  /** How many messages the provider told the tokens of. */
  readonly #told: number
  readonly #planner: Planner

  constructor(rows: readonly Row[], asked: Asked, told: number) {
    this.#rows = rows
    this.#asked = asked
    this.#told = told
    this.#planner = new Planner(rows, appliedBy)
  }

  /** Cuts to so many chars of all results together, but that each keeps `minKeepChars` and a notice unless there is no
   *  other way. */
  steps(maxChars: number): readonly Step[] {
    const { aggregate, maxEach, isLastResort = false } = this.#asked
    return this.#planner.steps({ ...aggregate, maxChars }, maxEach, !isLastResort)
  }

  /** Chars that such cuts leave out. */
  get chars(): number {
    return this.steps(0).reduce((sum, { index, maxChars }) => sum + this.#row(index).chars - maxChars, 0)
  }

  /**
   * Finds the least to cut so that the prompt fits: what is over the caps, and beyond that what it takes; all that there
   * is to cut where even that is not enough. `most`: the cuts that leave so many tokens to spare, or the greatest there are.
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

  /** Gives back what need not be cut: at `failing` chars too little is. */
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

/** Chars that are cut at first to see what that frees; more and more from there on. */
const FIRST_STEP = 4_096
/** What is cut is the least to this part of what is left. */
const PRECISION = 2 ** 20
