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
import type { ClearedResult, ClearOptions, ClearState, SpillStore } from 'spillway'
import type { EnginePolicy } from '../compiled.js'
import { callName, type Result } from '../dialect/results.js'
import { jsonOf } from '../json.js'
import { checkMessages } from '../result/clamp_messages.js'
import { elementsOf } from '../untrusted.js'
import type { Change, Saving } from './cache_prices.js'
import { type Clearing, checkClearing } from './clear_options.js'
import {
  clearedText,
  isWritable,
  LEAST,
  namedIn,
  savedBy,
  tellCleared,
  withoutInputs,
  withoutLong,
  withoutResults,
} from './cleared.js'
import { repeatsIn } from './repeated.js'
import { sumOf } from './token_counter.js'
import { estimate, hashOf, MadeCalls, readUses, type ToolUse, tokensIn } from './tool_uses.js'
import { usedIn } from './used.js'

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
  const history = new History(checkMessages(messages), clearing)
  const { spill } = clearing
  const decision = history.decide()
  if (!spill) return history.cleared(decision)
  return history.save(decision, spill).then((saved) => history.cleared(saved))
}

/** A result that can become shorter, and its new text. */
interface Shortening extends Saving {
  readonly use: ToolUse
  readonly entry: ClearedResult
}

/** The results of a history to clear, if that pays. */
interface Decision {
  readonly before: readonly unknown[]
  /** Tokens of each message before. */
  readonly tokens: readonly number[]
  readonly balance: number
  readonly change: Change<Shortening> | undefined
}

/** A history and the results of it that are cleared. */
class History {
  readonly #given: readonly unknown[]
  readonly #messages: readonly unknown[]
  readonly #clearing: Clearing
  readonly #uses: readonly ToolUse[]
  /** Tokens of each message as it was given. */
  readonly #tokens: readonly number[]
  readonly #calls: MadeCalls
  /** Answers of the model, each to one request. */
  readonly #answers: number
  /** The messages of the last request: those before the last answer of the model. */
  readonly #sent: number
  /** Entries by the use that they clear. */
  readonly #entries = new Map<ToolUse, ClearedResult>()
  /** Uses that the given history has cleared, with their entries. */
  readonly #done = new Map<ToolUse, ClearedResult>()
  #byKey: Map<string, ToolUse> | undefined
  /** Policies that name the saved outputs of results. */
  readonly #saved = new Map<ToolUse, EnginePolicy>()

  constructor(messages: readonly unknown[], clearing: Clearing) {
    this.#messages = messages
    this.#given = elementsOf(messages)
    this.#clearing = clearing
    const { uses, tokens, answers } = readUses(this.#given)
    this.#uses = uses
    this.#tokens = tokens
    this.#calls = new MadeCalls(this.#given)
    this.#sent = answers.at(-1) ?? 0
    this.#answers = answers.length
    for (const use of uses) {
      const known = this.#known(use)
      if (!known) continue
      if (known.text !== undefined && isText(use.result, known.text)) this.#done.set(use, known)
      else if (known.hash === hashOf(use.result) && this.#hasTarget(known)) this.#entries.set(use, known)
    }
  }

  #known({ key }: ToolUse): ClearedResult | undefined {
    const { results } = this.#clearing.state
    return Object.hasOwn(results, key) ? results[key] : undefined
  }

  /** Returns true if the history still has the result that an entry refers to, which a compaction
   *  may have taken. */
  #hasTarget({ of }: ClearedResult): boolean {
    if (!of) return true
    this.#byKey ??= new Map(this.#uses.map((use) => [use.key, use]))
    const target = this.#byKey.get(of.key)
    return target !== undefined && (this.#known(target)?.hash ?? hashOf(target.result)) === of.hash
  }

  decide(): Decision {
    const before = this.#written()
    const tokens = before === this.#given ? this.#tokens : tokensIn(before)
    const balance = this.#balance()
    return { before, tokens, balance, change: this.#change(tokens, balance) }
  }

  /** Saves the results that a line will replace. Resolves to the decision with the lines that name
   *  what was saved, except those that would not be shorter. */
  async save(decision: Decision, store: SpillStore): Promise<Decision> {
    const { change } = decision
    const savings: Shortening[] = []
    for (const one of change?.savings ?? []) {
      const isLine = one.entry.text !== undefined && !one.entry.of
      const named = isLine ? await this.#named(one.use, store) : one
      if (named.saved > 0) savings.push(named)
    }
    return { ...decision, change: change && savings.length > 0 ? { ...change, savings } : undefined }
  }

  async #named(use: ToolUse, store: SpillStore): Promise<Shortening> {
    const policy = await savedBy(store, use.result, this.#calls.toolOf(use))
    this.#saved.set(use, policy)
    return this.#shortening(use, clearedText(use.result, policy))
  }

  cleared({ before, tokens, balance, change }: Decision) {
    const { state } = this.#clearing
    for (const { use, entry, saved } of change?.savings ?? []) {
      this.#entries.set(use, { ...entry, saved })
      if (entry.text !== undefined) tellCleared(use.result, this.#saved.get(use))
    }
    const messages = change ? this.#written() : before
    const isSame = messages.every((message, at) => message === this.#given[at])
    return {
      messages: isSame ? this.#messages : messages,
      state: change ? this.#stateAfter(change, balance) : state,
      cleared: change?.savings.length ?? 0,
      savedTokens: change ? Math.round(total(tokens) - total(tokensIn(messages))) : 0,
    }
  }

  /** Returns what the clearings up to the last request have saved, less what they cost. Each
   *  request reads less. */
  #balance(): number {
    const { balance } = this.#clearing.state
    if (!balance) return 0
    // A compaction takes answers away: what was saved meanwhile is unknown.
    const requests = Math.max(0, this.#answers - balance.answers)
    const entries = [...this.#entries.values(), ...this.#done.values()]
    const saved = total(entries.map(({ saved = 0 }) => saved))
    return balance.price + requests * saved * this.#clearing.prices.read
  }

  #stateAfter({ savings, price }: Change<Shortening>, balance: number): ClearState {
    const entries = savings.map(({ use }) => [use.key, this.#entries.get(use) as ClearedResult] as const)
    return {
      results: { ...this.#clearing.state.results, ...Object.fromEntries(entries) },
      balance: { answers: this.#answers, price: balance + price },
    }
  }

  /** Returns the results to clear, undefined if none pays. `tokens`: those of each message
   *  before. */
  #change(tokens: readonly number[], balance: number): Change<Shortening> | undefined {
    const { trigger, prices, clearAtLeast, requestsToCome: requests } = this.#clearing
    const isReached =
      trigger.type === 'input_tokens'
        ? total(tokens) > trigger.value
        : this.#uses.filter((use) => !this.#known(use)).length > trigger.value
    const repeats = this.#repeats()
    const clearable = isReached ? this.#clearable(repeats) : []
    const uses = new Set(clearable.map(({ use }) => use))
    const all = [...clearable, ...repeats.filter(({ use }) => !uses.has(use))]
    const pays = (some: readonly Shortening[], least: number) =>
      prices.best(some, tokens, this.#sent, { requests, balance }, least)
    return (isReached ? pays(all, clearAtLeast) : undefined) ?? pays(repeats, 0)
  }

  /** Returns the results that repeat an earlier one. */
  #repeats(): Shortening[] {
    const { dedupe } = this.#clearing
    if (dedupe === false) return []
    const isOpen = (use: ToolUse) =>
      !this.#isCleared(use) && !this.#isExcluded(use) && isWritable(use.result, false)
    return [...repeatsIn(this.#uses, this.#calls, dedupe, isOpen)].flatMap(([use, entry]) => {
      const saved = use.tokens - sumOf([entry.text], estimate)
      return saved > 0 ? { use, from: use.at, at: use.at, age: use.age, saved, entry } : []
    })
  }

  #isCleared(use: ToolUse): boolean {
    return this.#entries.has(use) || this.#done.has(use)
  }

  #isExcluded(use: ToolUse): boolean {
    const { excludeTools } = this.#clearing
    const tool = excludeTools.size > 0 ? this.#calls.toolOf(use) : undefined
    return tool !== undefined && excludeTools.has(tool)
  }

  /** Returns the results before the last `keep` that a line would shorten. Those stay to which a
   *  later one refers that stays. */
  #clearable(repeats: readonly Shortening[]): Shortening[] {
    const { keep, keepUsed, spill } = this.#clearing
    const older = Math.max(0, this.#uses.length - keep)
    const pending = new Map(repeats.map(({ use, entry }) => [use, entry]))
    const needed = new Set<string | undefined>()
    const used = keepUsed ? usedIn(this.#uses, this.#calls) : undefined
    const stays = (use: ToolUse) => this.#isExcluded(use) || (used?.has(use) ?? false)
    for (const [at, use] of this.#uses.entries()) {
      const { of } = pending.get(use) ?? this.#known(use) ?? {}
      if (of && (at >= older || stays(use))) needed.add(of.key)
    }
    return this.#uses.slice(0, older).flatMap((use) => {
      if (this.#isCleared(use) || needed.has(use.key) || stays(use)) return []
      const isShort = use.chars <= LEAST && !use.hasMedia
      // Calls of one name without ids are cleared together, so each goes with its result.
      if (isShort && use.result.id === undefined) return []
      const text =
        isShort || !isWritable(use.result, use.hasMedia)
          ? undefined
          : clearedText(use.result, spill && namedIn(spill))
      const one = this.#shortening(use, text)
      return one.saved > 0 ? one : []
    })
  }

  /** Returns what clearing a result saves, with the arguments of its call if they are cleared.
   *  Without a text the result stays: a short one may answer a call with long arguments. */
  #shortening(use: ToolUse, text: string | undefined): Shortening {
    const { at, age } = use
    const saved = text === undefined ? 0 : use.tokens - sumOf([text], estimate)
    const entry = { hash: hashOf(use.result), ...(text !== undefined && { text }) }
    const call = this.#clearing.clearsInputs(this.#calls.toolOf(use)) ? this.#calls.of(use) : undefined
    const inputs = call ? total(call.args.map(inputTokens)) : 0
    if (!call || inputs <= 0) return { use, from: at, at, age, saved, entry }
    const own = text === undefined ? call.at : at
    return { use, from: call.at, at: own, age, saved: saved + inputs, entry: { ...entry, inputs: true } }
  }

  /** Returns the messages with all entries written. */
  #written(): readonly unknown[] {
    if (this.#entries.size === 0) return this.#given
    const texts = new Map<number, Map<number, string>>()
    const calls = new Map<number, Set<string>>()
    for (const [use, { text, inputs }] of this.#entries) {
      if (text !== undefined)
        texts.set(use.at, (texts.get(use.at) ?? new Map<number, string>()).set(use.nth, text))
      const call = inputs ? this.#calls.of(use) : undefined
      const name = callName(use.result)
      if (call && name !== undefined) calls.set(call.at, (calls.get(call.at) ?? new Set()).add(name))
    }
    return this.#given.map((message, at) => {
      const own = texts.get(at)
      const names = calls.get(at)
      const without = own ? withoutResults(message, own) : message
      return names ? withoutInputs(without, names) : without
    })
  }
}

function inputTokens(args: unknown): number {
  const shown = (value: unknown) => (typeof value === 'string' ? value : (jsonOf(value) ?? ''))
  return sumOf([shown(args)], estimate) - sumOf([shown(withoutLong(args))], estimate)
}

/** Returns true if a text is all that a result says. */
function isText({ slots }: Result, text: string): boolean {
  return slots.length === 1 && [text, JSON.stringify(text)].includes(slots[0]?.text as string)
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}
