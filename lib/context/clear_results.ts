// Clears old tool results from a history, so that each clearing pays.
//
// A provider caches the beginning of a prompt, and reads it for a tenth of the price of writing it.
// A cleared result is no longer sent, but everything after it is written again. So a clearing
// happens only if the tokens that it saves over the requests to come are worth more than the cache
// that it rewrites (`cache_prices.ts`).
//
//   repeat  What the state of an earlier call names is written as it was, byte for byte.
//   dedupe  A result that repeats another becomes a reference (`repeated.ts`).
//   clear   Once the trigger is reached, the results before the last `keep` that pay become one line each.
import type { ClearOptions, ClearState, SpillStore } from 'spillway'
import { checkMessages } from '../result/clamp_messages.js'
import { originIn } from '../result/gate.js'
import { elementsOf } from '../untrusted.js'
import type { Change } from './cache_prices.js'
import { type Clearing, checkClearing } from './clear_options.js'
import { type ClearedResult, isWritable } from './cleared.js'
import { ClearedHistory, Shortening } from './cleared_history.js'
import { repeatsIn } from './duplicates.js'
import { usedLater } from './later_uses.js'
import { sumsOf } from './token_counter.js'
import { estimate, type ToolUse } from './tool_uses.js'

interface Decision {
  readonly before: readonly unknown[]
  readonly tokens: readonly number[]
  readonly balance: number
  readonly change: Change<Shortening> | undefined
}

interface Cleared<T> {
  messages: T
  state: ClearState
  cleared: number
  savedTokens: number
}

export function clearToolResults<T extends readonly unknown[]>(
  messages: T,
  options: ClearOptions & { spill: SpillStore },
): Promise<Cleared<T>>
export function clearToolResults<T extends readonly unknown[]>(
  messages: T,
  options?: ClearOptions,
): Cleared<T>
export function clearToolResults(messages: readonly unknown[], options: ClearOptions = {}) {
  const clearing = checkClearing(options)
  const clearer = new Clearer(checkMessages(messages), clearing)
  const { spill, mode } = clearing
  if (!spill) return clearer.cleared()
  return mode === 'on' ? clearer.saved(spill) : Promise.resolve(clearer.cleared())
}

/** A history and the results of it that are cleared. */
class Clearer {
  readonly #messages: readonly unknown[]
  readonly #clearing: Clearing
  readonly #history: ClearedHistory
  readonly #kept: number

  constructor(messages: readonly unknown[], clearing: Clearing) {
    this.#messages = messages
    this.#clearing = clearing
    const { state, wording, spill, mode } = clearing
    const store = mode === 'on' ? spill : undefined
    const origin = originIn(mode)
    this.#history = new ClearedHistory(elementsOf(messages), state.results, wording, store, origin)
    this.#kept = keptOf(this.#history.uses, clearing.keep)
  }

  /** Clears the results that pay, after each was saved in a store. */
  async saved(store: SpillStore) {
    const made = this.#decide()
    const savings: Shortening[] = []
    for (const one of made.change?.savings ?? []) {
      const named = await this.#history.save(store, one)
      if (named) savings.push(named)
    }
    return this.#made({
      ...made,
      change: made.change && savings.length > 0 ? { ...made.change, savings } : undefined,
    })
  }

  cleared() {
    const { mode, state } = this.#clearing
    const messages = this.#messages
    if (mode === 'off') return { messages, state, cleared: 0, savedTokens: 0 }
    const made = this.#made(this.#decide())
    return mode === 'on' ? made : { ...made, messages, state: { ...made.state, observed: true as const } }
  }

  #decide(): Decision {
    const { messages, tokens } = this.#history.written()
    const balance = this.#balance()
    return { before: messages, tokens, balance, change: this.#change(tokens, balance) }
  }

  #made({ before, tokens, balance, change }: Decision) {
    const uses = (change?.savings ?? []).flatMap((one) => this.#history.clear(one, 'prices'))
    const left = change ? this.#history.written() : { messages: before, tokens }
    const { messages } = left
    const isSame = messages.every((message, at) => message === this.#history.given[at])
    return {
      messages: isSame ? this.#messages : messages,
      state: change ? this.#stateAfter(uses, change.price, balance) : this.#clearing.state,
      cleared: change?.savings.length ?? 0,
      savedTokens: change ? Math.round(total(tokens) - total(left.tokens)) : 0,
    }
  }

  /** Returns what the clearings up to the last request have saved, less what they cost. Each
   *  request reads less. */
  #balance(): number {
    const { balance } = this.#clearing.state
    if (!balance) return 0
    // A compaction takes answers away: what was saved meanwhile is unknown.
    const requests = Math.max(0, this.#history.answers.length - balance.answers)
    const entries = [...this.#history.entries.values(), ...this.#history.done.values()]
    const saved = total(entries.map(({ saved = 0 }) => saved))
    return balance.price + requests * saved * this.#clearing.prices.read
  }

  #stateAfter(uses: readonly ToolUse[], price: number, balance: number): ClearState {
    const entries = uses.map((use) => [use.key, this.#history.entries.get(use) as ClearedResult] as const)
    return {
      results: { ...this.#clearing.state.results, ...Object.fromEntries(entries) },
      balance: { answers: this.#history.answers.length, price: balance + price },
    }
  }

  /** Returns the results to clear, undefined if none pays. `tokens`: those of each message
   *  before. */
  #change(tokens: readonly number[], balance: number): Change<Shortening> | undefined {
    const { trigger, prices, clearAtLeast, requestsToCome: requests } = this.#clearing
    const isReached =
      trigger.type === 'input_tokens'
        ? total(tokens) > trigger.value
        : this.#history.uses.filter((use) => !this.#history.known(use)).length > trigger.value
    const repeats = this.#repeats()
    const clearable = isReached ? this.#clearable(repeats) : []
    const uses = new Set(clearable.map(({ use }) => use))
    const all = [...clearable, ...repeats.filter(({ use }) => !uses.has(use))]
    const pays = (some: readonly Shortening[], least: number) =>
      prices.best(some, tokens, this.#history.sent, { requests, balance }, least)
    return (isReached ? pays(all, clearAtLeast) : undefined) ?? pays(repeats, 0)
  }

  /** Returns the results that repeat an earlier one. */
  #repeats(): Shortening[] {
    const { dedupe } = this.#clearing
    if (dedupe === false) return []
    const isOpen = (use: ToolUse) =>
      !this.#history.isCleared(use) && !this.#isExcluded(use) && isWritable(use.result, false)
    const found = [...repeatsIn(this.#history.uses, this.#history.calls, dedupe, isOpen)]
    const tokens = sumsOf(
      found.map(([, { text }]) => [text]),
      estimate,
    )
    return found.flatMap(([use, entry], at) => {
      const saved = use.tokens - (tokens[at] as number)
      return saved > 0 ? new Shortening(use, use.at, use.at, saved, entry) : []
    })
  }

  #isExcluded(use: ToolUse): boolean {
    const { excludeTools } = this.#clearing
    const tool = excludeTools.size > 0 ? this.#history.calls.toolOf(use) : undefined
    return tool !== undefined && excludeTools.has(tool)
  }

  /** Returns the results before the last `keep` that a line would shorten. Those stay to which a
   *  later one refers that stays. */
  #clearable(repeats: readonly Shortening[]): Shortening[] {
    const { uses, calls } = this.#history
    const older = this.#kept
    const pending = new Map(repeats.map(({ use, entry }) => [use, entry]))
    const needed = new Set<string | undefined>()
    const used = this.#clearing.keepUsed ? usedLater(uses, calls) : undefined
    const stays = (use: ToolUse) => this.#isExcluded(use) || (used?.has(use) ?? false)
    for (const [at, use] of uses.entries()) {
      const { of } = pending.get(use) ?? this.#history.known(use) ?? {}
      if (of && (at >= older || stays(use))) needed.add(of.key)
    }
    const isOpen = (use: ToolUse) => !this.#history.isCleared(use) && !needed.has(use.key) && !stays(use)
    const withInputs = (use: ToolUse) => this.#clearing.clearsInputs(calls.toolOf(use))
    return this.#history.shortenings(uses.slice(0, older).filter(isOpen), withInputs)
  }
}

/** Returns the index from which on results stay: the last ones, by number or by tokens. */
export function keptOf(uses: readonly ToolUse[], { type, value }: Clearing['keep']): number {
  if (type === 'tool_uses') return Math.max(0, uses.length - value)
  let at = uses.length
  for (let left = value; at > 0 && left > 0; at--) left -= (uses[at - 1] as ToolUse).tokens
  return at
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}
