// A history and the entries that shorten it: results that a line replaces, arguments without their
// long strings. An entry names its result by a key and a hash, so that it applies to the full
// history and to the shortened one, in this process and in another, and writes the same bytes.
import type { ClampReason, ClearedResult, ClearState, SpillStore } from 'spillway'
import type { Origin } from '../clamp_event.js'
import type { EnginePolicy } from '../compiled.js'
import { callName, type Result } from '../dialect/results.js'
import { jsonOf } from '../json.js'
import { elementsOf, isObject } from '../untrusted.js'
import type { Saving } from './cache_prices.js'
import {
  adviceBy,
  argumentsSavedBy,
  isWritable,
  LEAST,
  namedIn,
  savedBy,
  tellCleared,
  type Wording,
  withoutInputs,
  withoutLong,
  withoutResults,
} from './cleared.js'
import type { MessageShares } from './message_tokens.js'
import { isCurrent, type Snapshot, snapshotOf } from './snapshot.js'
import { sumOf } from './token_counter.js'
import { estimate, hashOf, MadeCalls, readUses, type ToolUse } from './tool_uses.js'

/** A result that can become shorter, and its entry. */
export interface Shortening extends Saving {
  readonly use: ToolUse
  readonly entry: ClearedResult
}

/** Messages that were written, by what was read of their originals. A provider's cache and the
 *  counts of tokens hold for an object that stays the same. */
const known = new WeakMap<MessageShares, { by: string; made: unknown; snapshot: Snapshot | undefined }>()

export class ClearedHistory {
  readonly given: readonly unknown[]
  readonly uses: readonly ToolUse[]
  readonly shares: readonly MessageShares[]
  /** Tokens of each message as it was given. */
  readonly tokens: readonly number[]
  readonly calls: MadeCalls
  /** Indexes of the answers of the model, each to one request. */
  readonly answers: readonly number[]
  /** Entries by the use that they clear. */
  readonly entries = new Map<ToolUse, ClearedResult>()
  /** Uses that the given history has cleared, with their entries. */
  readonly done = new Map<ToolUse, ClearedResult>()
  readonly #results: ClearState['results']
  readonly #wording: Wording
  readonly #origin: Origin
  /** Names an output as long as the store will. */
  readonly #unsaved: EnginePolicy | undefined
  #byKey: Map<string, ToolUse> | undefined
  /** Policies that name the saved outputs of results, and of the arguments of their calls. */
  readonly #saved = new Map<ToolUse, { result?: EnginePolicy; inputs?: EnginePolicy }>()

  /** `store`: will save what is cleared, and name it. `origin`: that of the events. */
  constructor(
    messages: readonly unknown[],
    results: ClearState['results'],
    wording: Wording,
    store: SpillStore | undefined,
    origin: Origin,
  ) {
    this.#origin = origin
    this.#unsaved = store && namedIn(store)
    this.given = elementsOf(messages)
    const { uses, tokens, answers, shares } = readUses(this.given)
    this.uses = uses
    this.shares = shares
    this.tokens = tokens
    this.answers = answers
    this.calls = new MadeCalls(this.given, shares)
    this.#results = results
    this.#wording = wording
    for (const use of uses) {
      const entry = this.known(use)
      if (!entry) continue
      if (entry.text !== undefined && isText(use.result, entry.text)) this.done.set(use, entry)
      else if (entry.hash === hashOf(use.result) && this.#hasTarget(entry)) this.entries.set(use, entry)
    }
  }

  /** The messages of the last request: those before the last answer of the model. */
  get sent(): number {
    return this.answers.at(-1) ?? 0
  }

  known({ key }: ToolUse): ClearedResult | undefined {
    return Object.hasOwn(this.#results, key) ? this.#results[key] : undefined
  }

  /** Returns the entry that clears a use, in these messages or before. */
  entryOf(use: ToolUse): ClearedResult | undefined {
    return this.entries.get(use) ?? this.done.get(use)
  }

  isCleared(use: ToolUse): boolean {
    return this.entryOf(use) !== undefined
  }

  /** Returns true if the history still has the result that an entry refers to, which a compaction
   *  may have taken. */
  #hasTarget({ of }: ClearedResult): boolean {
    if (!of) return true
    this.#byKey ??= new Map(this.uses.map((use) => [use.key, use]))
    const target = this.#byKey.get(of.key)
    return target !== undefined && (this.known(target)?.hash ?? hashOf(target.result)) === of.hash
  }

  /** Returns what clearing a result saves, with the arguments of its call if they are cleared. A
   *  short result stays: it may answer a call with long arguments. */
  shortening(use: ToolUse, withInputs: boolean, least = LEAST): Shortening | undefined {
    const { at, age } = use
    const before = this.entryOf(use)
    const isShort = use.chars <= least && (!use.hasMedia || least > LEAST)
    // Calls of one name without ids are cleared together, so each goes with its result unless
    // nothing else helps.
    if (isShort && use.result.id === undefined && least === LEAST) return undefined
    const words = { tool: this.calls.toolOf(use), callId: use.result.id }
    const { result: ofResult = this.#unsaved, inputs: ofInputs = this.#unsaved } = this.#saved.get(use) ?? {}
    const isOpen = before?.text === undefined && !isShort && isWritable(use.result, use.hasMedia)
    const text = isOpen ? this.#wording.result(use.result, words, ofResult) : undefined
    const saved = text === undefined ? 0 : use.tokens - sumOf([text], estimate)
    const entry = { ...before, hash: hashOf(use.result), ...(saved > 0 && text !== undefined && { text }) }
    const call = withInputs && !before?.inputs ? this.calls.of(use) : undefined
    const inputText = call && this.#wording.inputs(words, ofInputs)
    const inputs = call ? this.#inputTokens(use, inputText) : 0
    if (!call || inputs <= 0) return saved > 0 ? { use, from: at, at, age, saved, entry } : undefined
    const own = saved > 0 ? at : call.at
    return {
      use,
      from: call.at,
      at: own,
      age,
      saved: Math.max(0, saved) + inputs,
      entry: { ...entry, inputs: true },
    }
  }

  /** Returns the tokens that cleared arguments save. Calls of one tool without ids are cleared
   *  together, and each use counts its share of all, so that none counts twice. */
  #inputTokens(use: ToolUse, gone: string | undefined): number {
    let saved = 0
    for (const one of this.calls.argsOf(use)) saved += inputTokens(one, gone)
    return saved / this.calls.alike(use).length
  }

  /** Saves what a shortening will replace, and returns it with the name of that, undefined if it
   *  would not be shorter then. */
  async save(store: SpillStore, given: Shortening): Promise<Shortening | undefined> {
    const { use, entry } = given
    const before = this.entryOf(use)
    const tool = this.calls.toolOf(use)
    const words = { tool, callId: use.result.id }
    const policies: { result?: EnginePolicy; inputs?: EnginePolicy } = {}
    let [named, { saved }] = [entry, given]
    if (entry.text !== undefined && before?.text === undefined && !entry.of) {
      policies.result = await savedBy(store, use.result, tool)
      named = { ...named, text: this.#wording.result(use.result, words, policies.result) }
      saved += sumOf([entry.text], estimate) - sumOf([named.text as string], estimate)
    }
    if (entry.inputs && !before?.inputs) {
      const args = this.calls.argsOf(use)
      policies.inputs = await argumentsSavedBy(store, args, tool, use.result.id)
      if (adviceBy(policies.inputs) !== undefined)
        named = { ...named, inputText: this.#wording.inputs(words, policies.inputs) }
    }
    this.#saved.set(use, policies)
    return saved > 0 ? { ...given, entry: named, saved } : undefined
  }

  /** Adds an entry, and tells listeners of the result that a line replaces. */
  clear({ use, entry, saved }: Shortening, reason: ClampReason): void {
    const before = this.entryOf(use)
    this.entries.set(use, { ...entry, saved: saved + (before?.saved ?? 0) })
    if (entry.text !== undefined && before?.text === undefined)
      this.tell(use, entry.of ? 'repeat' : reason, this.#saved.get(use)?.result)
  }

  /** Tells listeners of a result that a line replaces. The call knows the tool, where the result
   *  does not. */
  tell(use: ToolUse, reason: ClampReason, policy?: EnginePolicy): void {
    const tool = this.calls.toolOf(use)
    tellCleared(use.result, reason, { ...this.#origin, ...(tool !== undefined && { tool }) }, policy)
  }

  /** Returns the messages with all entries written. */
  written(): readonly unknown[] {
    if (this.entries.size === 0) return this.given
    const texts = new Map<number, Map<number, string>>()
    const calls = new Map<number, Map<string, string | undefined>>()
    for (const [use, { text, inputs, inputText }] of this.entries) {
      if (text !== undefined)
        texts.set(use.at, (texts.get(use.at) ?? new Map<number, string>()).set(use.nth, text))
      const call = inputs ? this.calls.of(use) : undefined
      const name = callName(use.result)
      if (call && name !== undefined)
        calls.set(call.at, (calls.get(call.at) ?? new Map<string, string | undefined>()).set(name, inputText))
    }
    return this.given.map((message, at) => {
      const [own, names] = [texts.get(at), calls.get(at)]
      return own || names ? this.#rewritten(message, at, own, names) : message
    })
  }

  #rewritten(
    message: unknown,
    at: number,
    texts: ReadonlyMap<number, string> | undefined,
    names: ReadonlyMap<string, string | undefined> | undefined,
  ): unknown {
    const shares = this.shares[at] as MessageShares
    const by = JSON.stringify([
      [...(texts ?? [])],
      [...(names ?? [])].map(([name, text]) => [name, text ?? 0]),
    ])
    const before = known.get(shares)
    if (before?.by === by && before.snapshot && isCurrent(before.snapshot)) return before.made
    const without = texts ? withoutResults(message, texts) : message
    const made = names ? withoutInputs(without, names) : without
    known.set(shares, { by, made, snapshot: isObject(made) ? snapshotOf(made) : undefined })
    return made
  }
}

function inputTokens(args: unknown, gone: string | undefined): number {
  const shown = (value: unknown) => (typeof value === 'string' ? value : (jsonOf(value) ?? ''))
  return sumOf([shown(args)], estimate) - sumOf([shown(withoutLong(args, gone))], estimate)
}

/** Returns true if a text is all that a result says. */
function isText({ slots }: Result, text: string): boolean {
  return slots.length === 1 && [text, JSON.stringify(text)].includes(slots[0]?.text as string)
}
