import { callName } from '../dialect/results.js'
import { isObject } from '../untrusted.js'
import { type ClearedResult, withoutInputs, withoutResults } from './cleared.js'
import type { MessageShares } from './message_tokens.js'
import { isCurrent, type Snapshot, snapshotOf } from './snapshot.js'
import { type HistoryUses, type MadeCalls, type ToolUse, tokensIn } from './tool_uses.js'

/** A message with entries written. */
interface Rewritten {
  readonly by: string
  readonly made: unknown
  /** Undefined until it is counted. */
  tokens?: number
  readonly snapshot: Snapshot | undefined
}

/** Messages that were written, by what was read of their originals. A provider's cache and the
 *  counts of tokens hold for an object that stays the same. */
const known = new WeakMap<MessageShares, Rewritten>()

/** The messages of a history that grows, with entries written. */
export class WrittenMessages {
  readonly #read: HistoryUses
  readonly #calls: MadeCalls
  readonly #entries: ReadonlyMap<ToolUse, ClearedResult>
  /** Uses with entries by the messages that these change, and the message once it is written. */
  readonly #edits = new Map<number, { readonly uses: Set<ToolUse>; now?: Rewritten | undefined }>()

  constructor(read: HistoryUses, calls: MadeCalls, entries: ReadonlyMap<ToolUse, ClearedResult>) {
    this.#read = read
    this.#calls = calls
    this.#entries = entries
  }

  /** Forgets messages that the caller, who was given them, has changed. */
  check(): void {
    for (const edit of this.#edits.values())
      if (!(edit.now?.snapshot && isCurrent(edit.now.snapshot))) edit.now = undefined
  }

  /** Takes a use whose entry changed. `withInputs`: its call changes, too. */
  touch(use: ToolUse, withInputs: boolean | undefined): void {
    const call = withInputs ? this.#calls.of(use) : undefined
    for (const at of new Set([use.at, call?.at ?? use.at])) {
      const edit = this.#edits.get(at) ?? { uses: new Set() }
      edit.uses.add(use)
      edit.now = undefined
      this.#edits.set(at, edit)
    }
  }

  /** Returns all messages and the tokens of each. */
  all(): { readonly messages: unknown[]; readonly tokens: number[] } {
    const messages = this.#read.messages.slice()
    const tokens = this.#read.tokens.slice()
    const written = Array.from(this.#edits, ([at, edit]) => {
      edit.now ??= this.#rewritten(at, edit.uses)
      messages[at] = edit.now.made
      return [at, edit.now] as const
    })
    const open = written.map(([, now]) => now).filter((now) => now.tokens === undefined)
    for (const [nth, count] of tokensIn(open.map(({ made }) => made)).entries())
      (open[nth] as Rewritten).tokens = count
    for (const [at, now] of written) tokens[at] = now.tokens as number
    return { messages, tokens }
  }

  #rewritten(at: number, uses: ReadonlySet<ToolUse>): Rewritten {
    const texts = new Map<number, string>()
    const names = new Map<string, string | undefined>()
    // In order, so that the same text wins whichever entry came last.
    for (const use of [...uses].sort((a, b) => a.at - b.at || a.nth - b.nth)) {
      const { text, inputs, inputText } = this.#entries.get(use) as ClearedResult
      if (text !== undefined && use.at === at) texts.set(use.nth, text)
      const name = callName(use.result)
      if (inputs && name !== undefined && this.#calls.of(use)?.at === at) names.set(name, inputText)
    }
    const shares = this.#read.shares[at] as MessageShares
    const by = JSON.stringify([[...texts], [...names].map(([name, text]) => [name, text ?? 0])])
    const before = known.get(shares)
    if (before?.by === by && before.snapshot && isCurrent(before.snapshot)) return before
    const message = this.#read.messages[at]
    const without = texts.size > 0 ? withoutResults(message, texts) : message
    const made = names.size > 0 ? withoutInputs(without, names) : without
    const snapshot = isObject(made) ? snapshotOf(made) : undefined
    const rewritten = { by, made, snapshot }
    known.set(shares, rewritten)
    return rewritten
  }
}
