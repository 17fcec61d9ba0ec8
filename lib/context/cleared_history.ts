// A history and the entries that shorten it: results that a line replaces, arguments without their
// long strings. An entry names its result by a key and a hash, so that it applies to the full
// history and to the shortened one, in this process and in another, and writes the same bytes.
import type { ClampEvent, ClearState, SpillStore } from 'spillway'
import type { Origin } from '../clamp_event.js'
import type { EnginePolicy } from '../compiled.js'
import type { Result } from '../dialect/results.js'
import { jsonOf } from '../json.js'
import type { Saving } from './cache_prices.js'
import {
  adviceBy,
  argumentsSavedBy,
  type Cleared,
  type ClearedResult,
  isWritable,
  LEAST,
  namedIn,
  savedBy,
  tellCleared,
  type Wording,
  withoutLong,
} from './cleared.js'
import { AlikeResults } from './duplicates.js'
import type { MessageShares } from './message_tokens.js'
import { sumsOf } from './token_counter.js'
import { estimate, HistoryUses, hashOf, MadeCalls, sharesOf, type ToolUse } from './tool_uses.js'
import { WrittenMessages } from './written_messages.js'

/** A result that can become shorter, and its entry. */
export class Shortening implements Saving {
  constructor(
    readonly use: ToolUse,
    readonly from: number,
    readonly at: number,
    readonly saved: number,
    readonly entry: ClearedResult,
  ) {}

  get age(): number {
    return this.use.age
  }
}

interface KnownShortening {
  readonly withInputs: boolean
  readonly made: Shortening | undefined
}

/** A shortening before its tokens are counted: those of the text in place of a result, and of the
 *  arguments of its calls before and after. */
interface Draft {
  readonly groups: readonly (readonly string[])[]
  made(counts: readonly number[]): Shortening | undefined
}

export class ClearedHistory {
  /** Entries by the use that they clear. */
  readonly entries = new Map<ToolUse, ClearedResult>()
  /** Uses that the given history has cleared, with their entries. */
  readonly done = new Map<ToolUse, ClearedResult>()
  readonly calls: MadeCalls
  readonly alike = new AlikeResults()
  readonly #read = new HistoryUses()
  readonly #wording: Wording
  readonly #origin: Origin
  /** Names an output as long as the store will. */
  readonly #unsaved: EnginePolicy | undefined
  #results: ClearState['results'] = {}
  /** True if an entry waits for the result that it refers to. */
  #waits = false
  readonly #written: WrittenMessages
  /** Uses by the name of the result that they refer to. */
  readonly #referring = new Map<string, ToolUse[]>()
  readonly #shortenings = new Map<ToolUse, KnownShortening>()
  /** Policies that name the saved outputs of results, and of the arguments of their calls. */
  readonly #saved = new Map<ToolUse, { result?: EnginePolicy; inputs?: EnginePolicy }>()

  /** `store`: will save what is cleared, and name it. `origin`: that of the events. */
  constructor(
    messages: readonly unknown[],
    results: ClearState['results'],
    wording: Wording,
    store: SpillStore | undefined,
    origin: Origin,
    shares = sharesOf(messages),
  ) {
    this.#origin = origin
    this.#unsaved = store && namedIn(store)
    this.#wording = wording
    this.calls = new MadeCalls(this.#read.messages, this.#read.shares)
    this.#written = new WrittenMessages(this.#read, this.calls, this.entries)
    this.grow(messages, results, shares)
  }

  /** Takes the messages that the history has more. Returns false if it begins otherwise than
   *  before. */
  grow(
    messages: readonly unknown[],
    results: ClearState['results'],
    shares: readonly MessageShares[],
  ): boolean {
    const before = this.uses.length
    if (this.#waits || !this.#read.take(messages, shares)) return false
    this.#results = results
    for (const use of this.#saved.keys()) this.#shortenings.delete(use)
    this.#saved.clear()
    this.#written.check()
    for (const use of this.uses.slice(before)) this.#enter(use)
    return true
  }

  #enter(use: ToolUse): void {
    const entry = this.known(use)
    if (!entry) return
    if (entry.text !== undefined && isText(use.result, entry.text)) this.done.set(use, entry)
    else if (entry.hash !== hashOf(use.result)) return
    else if (this.#hasTarget(entry)) this.set(use, entry)
    else this.#waits = true
  }

  get given(): readonly unknown[] {
    return this.#read.messages
  }

  get uses(): readonly ToolUse[] {
    return this.#read.uses
  }

  get shares(): readonly MessageShares[] {
    return this.#read.shares
  }

  /** Indexes of the answers of the model, each to one request. */
  get answers(): readonly number[] {
    return this.#read.answers
  }

  /** The messages of the last request: those before the last answer of the model. */
  get sent(): number {
    return this.answers.at(-1) ?? 0
  }

  /** Returns the use of that name. */
  named(key: string): ToolUse | undefined {
    return this.#read.named(key)
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
    const target = this.named(of.key)
    return target !== undefined && (this.known(target)?.hash ?? hashOf(target.result)) === of.hash
  }

  /** Sets the entry of a use. */
  set(use: ToolUse, entry: ClearedResult): void {
    const before = this.entries.get(use)
    this.entries.set(use, entry)
    this.#shortenings.delete(use)
    if (entry.of && !before?.of) {
      const referring = this.#referring.get(entry.of.key)
      if (referring) referring.push(use)
      else this.#referring.set(entry.of.key, [use])
    }
    this.#written.touch(use, entry.inputs || before?.inputs)
  }

  /** Has the results that refer to one that is no longer sent name its saved output: they come
   *  after it, where the prompt is written anew in any case. Returns these. `policy`: names it. */
  release(use: ToolUse, policy: EnginePolicy | undefined): readonly ToolUse[] {
    if (!policy || adviceBy(policy) === undefined) return []
    const referring = this.#referring.get(use.key) ?? []
    this.#referring.delete(use.key)
    for (const one of referring) {
      const { of: _, ...entry } = this.entries.get(one) as ClearedResult
      this.set(one, { ...entry, text: this.#wording.result(one.result, this.#wordsOf(one), policy) })
    }
    return referring
  }

  #wordsOf(use: ToolUse): Cleared {
    return { tool: this.calls.toolOf(use), callId: use.result.id }
  }

  /** Returns what clearing each result saves, with the arguments of its call if they are cleared.
   *  Omits those that save nothing. A short result stays: it may answer a call with long
   *  arguments. */
  shortenings(uses: readonly ToolUse[], withInputs: (use: ToolUse) => boolean, least = LEAST): Shortening[] {
    const known = least === LEAST ? this.#shortenings : new Map<ToolUse, KnownShortening>()
    const open = uses.filter((use) => known.get(use)?.withInputs !== withInputs(use))
    const drafts = open.map((use) => this.#draft(use, withInputs(use), least))
    const groups = drafts.flatMap((draft) => draft?.groups ?? [])
    const counts = sumsOf(groups, estimate).values()
    for (const [at, use] of open.entries()) {
      const draft = drafts[at]
      const made = draft?.made(draft.groups.map(() => counts.next().value as number))
      known.set(use, { withInputs: withInputs(use), made })
    }
    return uses.flatMap((use) => known.get(use)?.made ?? [])
  }

  #draft(use: ToolUse, withInputs: boolean, least: number): Draft | undefined {
    const { at } = use
    const before = this.entryOf(use)
    const isShort = use.chars <= least && (!use.hasMedia || least > LEAST)
    // Calls of one name without ids are cleared together, so each goes with its result unless
    // nothing else helps.
    if (isShort && use.result.id === undefined && least === LEAST) return undefined
    const words = this.#wordsOf(use)
    const { result: ofResult = this.#unsaved, inputs: ofInputs = this.#unsaved } = this.#saved.get(use) ?? {}
    const isOpen = before?.text === undefined && !isShort && isWritable(use.result, use.hasMedia)
    const text = isOpen ? this.#wording.result(use.result, words, ofResult) : undefined
    const call = withInputs && !before?.inputs ? this.calls.of(use) : undefined
    const gone = call && this.#wording.inputs(words, ofInputs)
    const args = call ? this.calls.argsOf(use) : []
    const short = args.map((one) => shown(withoutLong(one, gone)))
    const groups = [text === undefined ? [] : [text], args.map(shown), short]
    const made = ([ofText = 0, ofArgs = 0, ofShort = 0]: readonly number[]) => {
      const saved = text === undefined ? 0 : use.tokens - ofText
      const entry = { ...before, hash: hashOf(use.result), ...(saved > 0 && text !== undefined && { text }) }
      // Calls of one tool without ids are cleared together, and each use counts its share of all,
      // so that none counts twice.
      const inputs = call ? (ofArgs - ofShort) / this.calls.alike(use).length : 0
      if (!call || inputs <= 0) return saved > 0 ? new Shortening(use, at, at, saved, entry) : undefined
      const own = saved > 0 ? at : call.at
      return new Shortening(use, call.at, own, Math.max(0, saved) + inputs, { ...entry, inputs: true })
    }
    return { groups, made }
  }

  /** Saves what a shortening will replace, and returns it with the name of that, undefined if it
   *  would not be shorter then. */
  async save(store: SpillStore, given: Shortening): Promise<Shortening | undefined> {
    const { use, entry } = given
    const before = this.entryOf(use)
    const words = this.#wordsOf(use)
    const { tool } = words
    const policies: { result?: EnginePolicy; inputs?: EnginePolicy } = {}
    let [named, { saved }] = [entry, given]
    if (entry.text !== undefined && before?.text === undefined && !entry.of) {
      policies.result = await savedBy(store, use.result, tool)
      named = { ...named, text: this.#wording.result(use.result, words, policies.result) }
      const [unnamed = 0, full = 0] = sumsOf([[entry.text], [named.text as string]], estimate)
      saved += unnamed - full
    }
    if (entry.inputs && !before?.inputs) {
      const args = this.calls.argsOf(use)
      policies.inputs = await argumentsSavedBy(store, args, tool, use.result.id)
      if (adviceBy(policies.inputs) !== undefined)
        named = { ...named, inputText: this.#wording.inputs(words, policies.inputs) }
    }
    this.#saved.set(use, policies)
    this.#shortenings.delete(use)
    return saved > 0 ? new Shortening(use, given.from, given.at, saved, named) : undefined
  }

  /** Adds an entry, and tells listeners of the result that a line replaces. Returns the uses whose
   *  entries changed. */
  clear({ use, entry, saved }: Shortening, reason: ClampEvent['reason']): readonly ToolUse[] {
    const before = this.entryOf(use)
    this.set(use, { ...entry, saved: saved + (before?.saved ?? 0) })
    if (entry.text === undefined || before?.text !== undefined) return [use]
    const policy = this.#saved.get(use)?.result
    this.tell(use, entry.of ? 'repeat' : reason, policy)
    return [use, ...this.release(use, policy)]
  }

  /** Tells listeners of a result that a line replaces. The call knows the tool, where the result
   *  does not. */
  tell(use: ToolUse, reason: ClampEvent['reason'], policy?: EnginePolicy): void {
    const tool = this.calls.toolOf(use)
    tellCleared(use.result, reason, { ...this.#origin, ...(tool !== undefined && { tool }) }, policy)
  }

  /** Returns the messages with all entries written, and the tokens of each. */
  written(): { readonly messages: unknown[]; readonly tokens: number[] } {
    return this.#written.all()
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (jsonOf(value) ?? '')
}

/** Returns true if a text is all that a result says. */
function isText({ slots }: Result, text: string): boolean {
  return slots.length === 1 && [text, JSON.stringify(text)].includes(slots[0]?.text as string)
}
