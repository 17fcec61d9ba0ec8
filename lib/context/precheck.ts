import type { PlanStep, Precheck, PrecheckInput } from 'spillway'
import { jsonBytes, jsonOf } from '../json.js'
import type { ResultCap } from '../plan.js'
import { optionsOf } from '../read_options.js'
import { withoutRefused } from '../result/batch.js'
import { checkMessages } from '../result/clamp_messages.js'
import { History } from '../result/history.js'
import { TRIAL } from '../result/message_results.js'
import { elementsOf } from '../untrusted.js'
import { appliedBy, withPlan } from './apply_plan.js'
import { type BudgetOptions, budgetOf } from './budget_options.js'
import type { CachePrices } from './cache_prices.js'
import { CutSearch, type Cuts, PromptResult } from './find_cuts.js'
import { Drops } from './find_drops.js'
import {
  bodyBytesOf,
  MESSAGE,
  type MessageShares,
  readShares,
  tokensOf,
  tokensOfEach,
} from './message_tokens.js'
import { sumOf } from './token_counter.js'

export function precheck(input: PrecheckInput): Precheck {
  const options = budgetOf(optionsOf('precheck', 'input', input))
  const given = checkMessages(input.messages)
  const { media } = options
  if (!media) return new Prompt(given, options).check()
  const { messages, refused } = withoutRefused(given, media, { phase: 'result', isTrial: true })
  const checked = new Prompt(messages, options).check()
  return refused.length > 0 ? { ...checked, refused } : checked
}

/** Spare tokens required to rely on truncation alone, since both counts are estimates. */
const SPARE = 512

const NO_CUTS: Cuts = { steps: [], freedEarlier: 0, freedLater: 0, freedBytes: 0 }

/** A prompt to be sent to a model. */
export class Prompt {
  readonly #options: BudgetOptions
  readonly #messages: readonly MessageShares[]
  readonly #rows: readonly PromptResult[]
  /** The provider's count for the first messages. Undefined if the history has become shorter. */
  readonly #usage: BudgetOptions['lastUsage']
  /** Tokens of the messages after those. */
  readonly #later: number
  readonly #read: readonly unknown[]
  #estimatedEarlier: number | undefined
  #bytes: number | undefined

  constructor(messages: readonly unknown[], options: BudgetOptions) {
    const { lastUsage, prompt, counter } = options
    this.#options = options
    this.#read = elementsOf(messages)
    this.#messages = readShares(this.#read, counter)
    this.#rows = rowsOf(this.#messages, new History(this.#read))
    this.#usage = lastUsage && lastUsage.messages <= messages.length ? lastUsage : undefined
    const later = this.#messages.slice(this.#usage?.messages ?? 0)
    this.#later = this.#counted(prompt) + tokensOf(later, counter, options.provider)
  }

  /** Bytes of the body of the request. */
  get bytes(): number {
    this.#bytes ??= this.#measured()
    return this.#bytes
  }

  /** The estimate without a margin and without the provider's count. */
  get tokens(): number {
    return this.#earlier() + this.#later
  }

  /** Estimates the prompt with a margin, except for the part that the provider counted. */
  estimate(margin: number): number {
    return this.#usage ? this.#anchored(this.#usage, NO_CUTS, margin) : this.#estimated(NO_CUTS, margin)
  }

  /** Checks the prompt. Where prices are given, the cheaper plan is taken of those that help as
   *  much. */
  check(): Precheck {
    const { orders, aggregate, prices } = this.#options
    const checks = orders.map((order) =>
      this.#checked({ ...this.#options, aggregate: { ...aggregate, order } }),
    )
    const [first] = checks as [Precheck]
    if (!prices) return first
    const priced = checks
      .filter(({ route }) => route === first.route)
      .map((check) => ({ ...check, price: this.#priceOf(check.plan, prices) }))
    return priced.reduce((best, check) => (check.price < best.price ? check : best))
  }

  /** Returns the price of the request after a plan. Messages before the last answer of the model
   *  are cached, up to the first one that the plan changes. */
  #priceOf(plan: readonly PlanStep[], prices: CachePrices): number {
    const { counter, provider, systemPrompt, tools, prompt } = this.#options
    const left = withPlan(this.#read, plan, appliedBy, TRIAL)
    const tokens = tokensOfEach(readShares(left, counter), counter, provider)
    const isFirst = ({ isAnswer }: MessageShares, at: number) => isAnswer && !this.#messages[at - 1]?.isAnswer
    const sent = Math.max(0, this.#messages.findLastIndex(isFirst))
    const changed = left.findIndex((message, at) => message !== this.#read[at])
    const known = changed < 0 ? sent : Math.min(sent, changed)
    const schemas = tools === undefined ? 0 : sumOf([jsonOf(tools) ?? ''], counter)
    const before = this.#counted(systemPrompt) + schemas
    const all = [before, ...tokens, this.#counted(prompt)]
    return Math.round(prices.of(all, sent > 0 ? known + 1 : 0))
  }

  #checked(options: BudgetOptions): Precheck {
    const { budgetTokens, safetyMargin, maxRequestBytes } = options
    const isBounded = maxRequestBytes !== Number.POSITIVE_INFINITY
    const search = new CutSearch(this.#rows, options, this.#usage?.messages ?? 0)
    const estimatedTokens = this.estimate(safetyMargin)
    const figures = {
      estimatedTokens,
      budgetTokens,
      overflowTokens: Math.max(0, estimatedTokens - budgetTokens),
      reducibleChars: search.reducibleChars,
      ...(isBounded && { requestBytes: this.bytes }),
    }
    const isOver = isBounded && this.bytes > maxRequestBytes
    if (estimatedTokens <= budgetTokens && !isOver) return { route: 'fits', ...figures, plan: [] }
    // Also counts the messages that the provider counted: the tokens freed from a result depend on
    // its size.
    const uncut = this.#left(NO_CUTS)
    const drops = new Drops(this.#rows, options, this.#usage?.messages ?? 0)
    const isSmall = (cuts: Cuts) => !isOver || this.bytes - cuts.freedBytes <= maxRequestBytes
    const fits = (cuts: Cuts, spare: number) => this.#left(cuts) + spare <= budgetTokens && isSmall(cuts)
    // Payloads go first where bytes are over, texts where tokens are.
    let gone = drops.fewest((count) => isSmall(drops.with(NO_CUTS, count)))
    const least = () => search.least((cuts, spare) => fits(drops.with(cuts, gone), spare), SPARE)
    let { cuts, most } = fits(drops.with(NO_CUTS, gone), 0) ? { cuts: NO_CUTS, most: NO_CUTS } : least()
    let spare = most === NO_CUTS ? 0 : SPARE
    const more = drops.fewest((count) => fits(drops.with(most, count), spare), gone)
    if (more > gone) {
      gone = more
      ;({ cuts, most } = least())
      spare = SPARE
    }
    const left = drops.with(most, gone)
    const frees = this.#left(left) < uncut || (isOver && left.freedBytes > 0)
    if ((most.steps.length === 0 && gone === 0) || !frees)
      return { route: 'compact_only', ...figures, plan: [] }
    const route = fits(left, spare) ? 'truncate_tool_results_only' : 'compact_then_truncate'
    return { route, ...figures, plan: this.#planOf(cuts.steps, drops.kept(gone)) }
  }

  /** Returns the tokens of the prompt after cuts. The provider's count is void once the history
   *  changes, so the prompt must also fit by the estimate alone. */
  #left(cuts: Cuts): number {
    const { safetyMargin } = this.#options
    const estimated = this.#estimated(cuts, safetyMargin)
    return this.#usage ? Math.max(estimated, this.#anchored(this.#usage, cuts, safetyMargin)) : estimated
  }

  #estimated({ freedEarlier, freedLater }: Cuts, margin: number): number {
    return Math.ceil((this.tokens - freedEarlier - freedLater) * margin)
  }

  #anchored(
    { inputTokens }: { inputTokens: number },
    { freedEarlier, freedLater }: Cuts,
    margin: number,
  ): number {
    // If the provider counted less than the estimate, the tokens freed are reduced in proportion.
    const freed = freedEarlier === 0 ? 0 : freedEarlier * Math.min(1, inputTokens / this.#earlier())
    return Math.ceil(inputTokens - freed + (this.#later - freedLater) * margin)
  }

  /** Estimates the messages that the provider counted, the system prompt and the tools. */
  #earlier(): number {
    if (this.#estimatedEarlier === undefined) {
      const { counter, systemPrompt, tools, provider } = this.#options
      const schemas = tools === undefined ? 0 : sumOf([jsonOf(tools) ?? ''], counter)
      const counted = this.#messages.slice(0, this.#usage?.messages ?? 0)
      this.#estimatedEarlier = this.#counted(systemPrompt) + schemas + tokensOf(counted, counter, provider)
    }
    return this.#estimatedEarlier
  }

  /** Measures the body of the request. */
  #measured(): number {
    const { systemPrompt, prompt, tools } = this.#options
    const beside = [systemPrompt, prompt, tools].filter((part) => part !== undefined && part !== '')
    return beside.reduce(
      (sum: number, part) => sum + jsonBytes(part),
      bodyBytesOf(this.#read, this.#messages),
    )
  }

  /** Counts a text that is sent as a message, unless it is empty. */
  #counted(text: string): number {
    return text === '' ? 0 : MESSAGE + sumOf([text], this.#options.counter)
  }

  /** Makes steps that name results by message, id and length. Results that share all three get a
   *  step each, so that none takes the step of another. */
  #planOf(steps: readonly ResultCap[], media: ReadonlyMap<PromptResult, number>): PlanStep[] {
    const left = new Map(steps.map(({ index, maxChars }) => [this.#rows[index] as PromptResult, maxChars]))
    const names = new Set([...left.keys(), ...media.keys()].map(({ name }) => name))
    const named = this.#rows.filter(({ name }) => names.has(name))
    return named.map((row) => row.step(left.get(row) ?? row.chars, media.get(row)))
  }
}

/** Returns the tool results of messages. Results from the last message of the model on are the
 *  latest. */
function rowsOf(messages: readonly MessageShares[], history: History): PromptResult[] {
  const answer = messages.findLastIndex(({ isAnswer }) => isAnswer)
  return messages.flatMap(({ results, media }, at) =>
    results.map((result) => new PromptResult(result, at, at >= answer, history, media)),
  )
}
