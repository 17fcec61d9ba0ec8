import type { PlanStep } from 'spillway'
import { jsonBytes } from '../json.js'
import { blocksOf, type MediaBlock } from '../media/media_blocks.js'
import { Planner, type ResultCap, type ResultExtent, stepFor } from '../plan.js'
import type { History } from '../result/history.js'
import { HistoryResult, textsOf } from '../result/message_results.js'
import type { Original } from '../text/earlier.js'
import { appliedBy } from './apply_plan.js'
import type { BudgetOptions } from './budget_options.js'
import type { MessageShares, ResultShare } from './message_tokens.js'
import { sumsOf } from './token_counter.js'

/** A tool result of a prompt, with its tokens after cuts. */
export class PromptResult implements ResultExtent {
  readonly chars: number
  readonly #freed = new Map<number, Gain>()
  #blocks: MediaBlock[] | undefined

  constructor(
    readonly share: ResultShare,
    /** Index of the message that carries it. */
    readonly message: number,
    readonly latest: boolean,
    readonly history: History,
    /** Tokens of payloads of the message, by the objects that hold them. */
    readonly media: MessageShares['media'],
  ) {
    this.chars = share.chars
  }

  /** The payloads that words can replace. */
  get blocks(): MediaBlock[] {
    this.#blocks ??= blocksOf(this.share.result)
    return this.#blocks
  }

  get texts(): string[] {
    return textsOf(this.share.result.slots)
  }

  get original(): Original | undefined {
    return this.share.original
  }

  set original(found: Original | undefined) {
    this.share.original = found
  }

  /** The key by which a plan names it. */
  get name(): string {
    return `${this.message} ${this.chars} ${this.share.result.id ?? ''}`
  }

  step(maxChars: number, media: number | undefined): PlanStep {
    const step = stepFor(this.share.result, this.message, this.chars, maxChars)
    return media === undefined ? step : { ...step, media }
  }

  /** Returns the gain of a cut to `maxChars`, or undefined if it was not tried. */
  freed(maxChars: number): Gain | undefined {
    return this.#freed.get(maxChars)
  }

  /** Returns the texts that a cut to `maxChars` leaves, as applying a plan makes it. */
  kept(maxChars: number): string[] {
    const kept = new HistoryResult(this.share.result, this.message, this.latest, appliedBy, this.history)
    kept.clamp(maxChars)
    return kept.texts
  }

  /** Stores the gain of a cut to `maxChars`, which is negative if a counter finds more tokens. */
  take(maxChars: number, kept: readonly string[], tokens: number, isBounded: boolean): void {
    const bytes = isBounded ? bytesOf(this.texts) - bytesOf(kept) : 0
    this.#freed.set(maxChars, { tokens: this.share.tokens - tokens, bytes })
  }
}

/** Amounts that a cut frees in a prompt, and in the body of a request. */
interface Gain {
  readonly tokens: number
  readonly bytes: number
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + jsonBytes(text), 0)
}

/** Cuts of tool results, and the tokens that they free. */
export interface Cuts {
  readonly steps: readonly ResultCap[]
  /** Tokens freed in messages that the provider counted. */
  readonly freedEarlier: number
  /** Tokens freed in other messages. */
  readonly freedLater: number
  /** Bytes freed in the body of the request. */
  readonly freedBytes: number
}

/** Returns true if a prompt fits after cuts, with `spare` tokens to spare. */
type Fits = (cuts: Cuts, spare: number) => boolean

/** Chars of the first cut, doubled with each attempt. */
const FIRST_STEP = 4_096
/** The search ends within this fraction of the remaining chars. */
const PRECISION = 2 ** 20

/** Searches for the smallest cuts of tool results that make a prompt fit. */
export class CutSearch {
  readonly #rows: readonly PromptResult[]
  readonly #options: BudgetOptions
  /** Number of messages that the provider counted. */
  readonly #counted: number
  readonly #planner: Planner

  constructor(rows: readonly PromptResult[], options: BudgetOptions, counted: number) {
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
   * Finds the smallest cuts that hold the caps and make the prompt fit, or the largest ones if none
   * suffice. `most`: cuts that leave `spare` tokens to spare, or the largest ones.
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

  /** Searches between cuts to `low` chars, which suffice, and those to `high` chars, which do
   *  not. */
  #between(low: number, cuts: Cuts, high: number, fits: Fits): Cuts {
    if (high - low <= Math.max(1, high / PRECISION)) return cuts
    const at = Math.floor((low + high) / 2)
    const next = this.#cuts(at)
    return fits(next, 0) ? this.#between(at, next, high, fits) : this.#between(low, cuts, at, fits)
  }

  #cuts(maxChars: number): Cuts {
    const steps = this.#steps(maxChars)
    this.#tryOut(steps)
    let [freedEarlier, freedLater, freedBytes] = [0, 0, 0]
    for (const { index, maxChars } of steps) {
      const row = this.#row(index)
      const freed = row.freed(maxChars) as Gain
      if (row.message < this.#counted) freedEarlier += freed.tokens
      else freedLater += freed.tokens
      freedBytes += freed.bytes
    }
    return { steps, freedEarlier, freedLater, freedBytes }
  }

  /** Makes the cuts that were not made before, and counts what they leave together. */
  #tryOut(steps: readonly ResultCap[]): void {
    const { counter, maxRequestBytes } = this.#options
    const open = steps.filter(({ index, maxChars }) => !this.#row(index).freed(maxChars))
    const kept = open.map(({ index, maxChars }) => this.#row(index).kept(maxChars))
    const isBounded = maxRequestBytes !== Number.POSITIVE_INFINITY
    for (const [at, tokens] of sumsOf(kept, counter).entries()) {
      const { index, maxChars } = open[at] as ResultCap
      this.#row(index).take(maxChars, kept[at] as string[], tokens, isBounded)
    }
  }

  /** Plans cuts to `maxChars` of all results together. Each keeps `minKeepChars` and a notice,
   *  except as a last resort. */
  #steps(maxChars: number): readonly ResultCap[] {
    const { aggregate, maxEach, isLastResort = false } = this.#options
    return this.#planner.steps({ ...aggregate, maxChars }, maxEach, !isLastResort)
  }

  #row(index: number): PromptResult {
    return this.#rows[index] as PromptResult
  }
}
