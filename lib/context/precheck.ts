import type { PlanStep, Precheck, PrecheckInput, Route } from 'spillway'
import { native } from '../engine.js'
import { jsonOf } from '../json.js'
import { checkNames } from '../option.js'
import { elementsOf } from '../result/history.js'
import { checkMessages } from '../result/messages.js'
import type { Step } from './plan.js'
import { type Cuts, Reduction, Row } from './reduction.js'
import { Standing } from './tokens.js'
import { countAll, readAll, tokensOf, type Weighed } from './weighed.js'
import { MESSAGE } from './weight.js'
import { type Asked, checkAsked } from './window.js'

export function precheck(input: PrecheckInput): Precheck {
  const asked = checkAsked(checkNames('precheck', 'input', input))
  checkMessages(input.messages)
  return new Prompt(input.messages, asked).check()
}

/** Routes as the engine numbers them, and `SPARE` of src/context/window.rs. */
const ROUTES: readonly Route[] = [
  'fits',
  'compact_only',
  'truncate_tool_results_only',
  'compact_then_truncate',
]
const SPARE = 512

const NO_CUTS: Cuts = { steps: [], freedOfTold: 0, freedOfOthers: 0 }

const systemPrompts = new Standing()
const toolSchemas = new Standing()

/** A prompt to be sent to a model. */
export class Prompt {
  readonly #asked: Asked
  readonly #messages: readonly Weighed[]
  readonly #rows: readonly Row[]
  /** The provider's count for the first messages. Undefined if the history has become shorter. */
  readonly #usage: Asked['lastUsage']
  /** Tokens of the messages after those. */
  readonly #later: number
  #before: number | undefined

  constructor(messages: readonly unknown[], asked: Asked) {
    this.#asked = asked
    this.#messages = readAll(elementsOf(messages), asked.counter)
    this.#rows = rowsOf(this.#messages)
    const { lastUsage, prompt, counter } = asked
    this.#usage = lastUsage && lastUsage.messages <= messages.length ? lastUsage : undefined
    const asking = prompt === '' ? 0 : MESSAGE + (counter.each([prompt])[0] ?? 0)
    this.#later = asking + this.#sum(this.#usage?.messages ?? 0)
  }

  /** The estimate without a margin and without the provider's count. */
  get tokens(): number {
    return this.#told() + this.#later
  }

  /** Estimates the prompt with a margin, except for the part that the provider counted. */
  estimate(margin: number): number {
    return this.#usage ? this.#anchored(this.#usage, NO_CUTS, margin) : this.#estimated(NO_CUTS, margin)
  }

  check(): Precheck {
    const { budgetTokens, safetyMargin } = this.#asked
    const reduction = new Reduction(this.#rows, this.#asked, this.#usage?.messages ?? 0)
    const estimatedTokens = this.estimate(safetyMargin)
    const said = {
      estimatedTokens,
      budgetTokens,
      overflowTokens: Math.max(0, estimatedTokens - budgetTokens),
      reducibleChars: reduction.chars,
    }
    if (estimatedTokens <= budgetTokens) return { route: 'fits', ...said, plan: [] }
    // Also counts the messages that the provider counted: the tokens freed from a result depend on its size.
    const uncut = this.#left(NO_CUTS)
    const { cuts, most } = reduction.least((cuts, spare) => this.#left(cuts) + spare <= budgetTokens, SPARE)
    const least = most.steps.length > 0 ? this.#left(most) : Number.NaN
    const route = ROUTES[native.route(uncut, budgetTokens, least)] as Route
    return { route, ...said, plan: route === 'compact_only' ? [] : this.#planOf(cuts.steps) }
  }

  /** Returns the tokens of the prompt after cuts. The provider's count is void once the history changes, so the prompt
   *  must also fit by the estimate alone. */
  #left(cuts: Cuts): number {
    const { safetyMargin } = this.#asked
    const estimated = this.#estimated(cuts, safetyMargin)
    return this.#usage ? Math.max(estimated, this.#anchored(this.#usage, cuts, safetyMargin)) : estimated
  }

  #estimated({ freedOfTold, freedOfOthers }: Cuts, margin: number): number {
    return Math.ceil((this.tokens - freedOfTold - freedOfOthers) * margin)
  }

  #anchored(
    { inputTokens }: { inputTokens: number },
    { freedOfTold, freedOfOthers }: Cuts,
    margin: number,
  ): number {
    // If the provider counted less than the estimate, the tokens freed are reduced in proportion.
    const freed = freedOfTold === 0 ? 0 : freedOfTold * Math.min(1, inputTokens / this.#told())
    return Math.ceil(inputTokens - freed + (this.#later - freedOfOthers) * margin)
  }

  /** Estimates the messages that the provider counted, the system prompt and the tools. */
  #told(): number {
    if (this.#before === undefined) {
      const { counter, systemPrompt, tools } = this.#asked
      const system = systemPrompt === '' ? 0 : MESSAGE + systemPrompts.count(systemPrompt, counter)
      const schemas = tools === undefined ? 0 : toolSchemas.count(jsonOf(tools) ?? '', counter)
      this.#before = system + schemas + this.#sum(0, this.#usage?.messages ?? 0)
    }
    return this.#before
  }

  #sum(from: number, to?: number): number {
    const messages = from === 0 && to === undefined ? this.#messages : this.#messages.slice(from, to)
    countAll(messages, this.#asked.counter)
    let sum = 0
    for (const message of messages) sum += tokensOf(message)
    return sum
  }

  /** Makes steps that name results by message, id and length. Results that share all three get a step each, so that
   *  none takes the step of another. */
  #planOf(steps: readonly Step[]): PlanStep[] {
    const left = new Map(steps.map(({ index, maxChars }) => [this.#rows[index] as Row, maxChars]))
    const names = new Set([...left.keys()].map(({ name }) => name))
    const named = this.#rows.filter((row) => left.has(row) || names.has(row.name))
    return named.map((row) => row.step(left.get(row) ?? row.chars))
  }
}

/** Returns the tool results of messages. Results from the last message of the model on are the latest. */
function rowsOf(messages: readonly Weighed[]): Row[] {
  let answer = messages.length - 1
  while (answer >= 0 && !messages[answer]?.isAnswer) answer -= 1
  const rows: Row[] = []
  for (let at = 0; at < messages.length; at++)
    for (const result of messages[at]?.results ?? []) rows.push(new Row(result, at, at >= answer))
  return rows
}
