import { createHash } from 'node:crypto'
import { callName, type Result } from '../dialect/results.js'
import { blocksOf } from '../media/media_blocks.js'
import { PROVIDERS } from '../media/medium.js'
import { callsOf, type MessageShares, readShares, tokensOfEach } from './message_tokens.js'
import { counterOf } from './token_counter.js'

/** A use of a tool: its result, with duplicates that the framework keeps in the same message. */
export class ToolUse {
  readonly #answers: readonly number[]
  /** Answers of the model up to its message. */
  readonly #answered: number

  constructor(
    /** Its name in a history that only grows, whether its text has changed or not. */
    readonly key: string,
    /** Index of the message that carries the result. */
    readonly at: number,
    /** Its number within this message. */
    readonly nth: number,
    readonly result: Result,
    readonly chars: number,
    /** Tokens of its texts and payloads. */
    readonly tokens: number,
    /** True if it has payloads that words can replace. */
    readonly hasMedia: boolean,
    answers: readonly number[],
  ) {
    this.#answers = answers
    this.#answered = answers.length
  }

  /** Answers of the model after it: requests that sent it. */
  get age(): number {
    return this.#answers.length - this.#answered
  }
}

export const estimate = counterOf(undefined)
/** The provider that counts the most for an image. */
const DEAREST = PROVIDERS.length

/** The uses of tools in a history that grows. Each message is read once. */
export class HistoryUses {
  readonly messages: unknown[] = []
  readonly shares: MessageShares[] = []
  /** Tokens of each message. */
  readonly tokens: number[] = []
  readonly uses: ToolUse[] = []
  /** Indexes of the answers of the model, each to one request. */
  readonly answers: number[] = []
  readonly #byKey = new Map<string, ToolUse>()
  readonly #numbers = new Map<string, number>()

  /** Reads what a history has more. Returns false if it does not begin with the messages that were
   *  read, as they were then. `all`: the shares of the messages. */
  take(messages: readonly unknown[], all: readonly MessageShares[]): boolean {
    if (this.shares.some((shares, at) => shares !== all[at])) return false
    const later = all.slice(this.shares.length)
    const tokens = tokensOfEach(later, estimate, DEAREST)
    for (const [nth, shares] of later.entries()) {
      // Items that follow each other are one answer.
      if (shares.isAnswer && !this.shares.at(-1)?.isAnswer) this.answers.push(this.shares.length)
      this.messages.push(messages[this.shares.length])
      this.tokens.push(tokens[nth] as number)
      this.shares.push(shares)
      this.#read(shares)
    }
    return true
  }

  /** Returns the use of that name. */
  named(key: string): ToolUse | undefined {
    return this.#byKey.get(key)
  }

  #read({ results, media }: MessageShares): void {
    for (const [nth, { result, chars, tokens }] of results.entries()) {
      const name = JSON.stringify([result.id ?? null, result.tool ?? null])
      const number = this.#numbers.get(name) ?? 0
      this.#numbers.set(name, number + 1)
      const blocks = media.size === 0 ? [] : blocksOf(result)
      const paid = blocks.reduce((sum, { end }) => sum + (media.get(end.holder.value)?.[DEAREST] ?? 0), 0)
      const key = `${name}${number === 0 ? '' : number}`
      const at = this.shares.length - 1
      const use = new ToolUse(key, at, nth, result, chars, tokens + paid, paid > 0, this.answers)
      this.uses.push(use)
      this.#byKey.set(key, use)
    }
  }
}

export function sharesOf(messages: readonly unknown[]): MessageShares[] {
  return readShares(messages, estimate)
}

/** Returns the uses of tools in a history, and the tokens of each message. */
export function readUses(messages: readonly unknown[]): HistoryUses {
  const read = new HistoryUses()
  read.take(messages, sharesOf(messages))
  return read
}

/** Returns the tokens of each message. */
export function tokensIn(messages: readonly unknown[]): number[] {
  return tokensOfEach(sharesOf(messages), estimate, DEAREST)
}

/** Hashes of results, which are read once for as long as their message stays the same. */
const hashes = new WeakMap<Result, string>()

/** Returns what tells the texts of a result from others under the same key. */
export function hashOf(result: Result): string {
  const known = hashes.get(result)
  if (known !== undefined) return known
  const texts = JSON.stringify(result.slots.map(({ text }) => text))
  const hash = createHash('sha256').update(texts).digest('base64url').slice(0, 16)
  hashes.set(result, hash)
  return hash
}

/** A call of the model. */
export interface MadeCall {
  readonly at: number
  readonly tool: string | undefined
  readonly args: readonly unknown[]
}

/** The calls of a history that may grow, read when a result first asks for its own. */
export class MadeCalls {
  readonly #messages: readonly unknown[]
  readonly #shares: readonly MessageShares[]
  readonly #calls = new Map<string, MadeCall[]>()
  /** Messages that were read. */
  #read = 0

  constructor(messages: readonly unknown[], shares: readonly MessageShares[]) {
    this.#messages = messages
    this.#shares = shares
  }

  /** Returns the last call of that name up to the message of the result. */
  of({ result, at }: ToolUse): MadeCall | undefined {
    const name = callName(result)
    if (name === undefined) return undefined
    this.#readCalls()
    // In order, and there may be as many of one name as messages.
    const calls = this.#calls.get(name) ?? []
    let [low, high] = [0, calls.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((calls[middle] as MadeCall).at <= at) low = middle + 1
      else high = middle
    }
    return calls[low - 1]
  }

  /** Returns the arguments of the call of a result. Without an id these are those of all calls of
   *  its tool in the message, which are cleared together. */
  argsOf(use: ToolUse): readonly unknown[] {
    return this.alike(use).flatMap(({ args }) => args)
  }

  /** Returns the call of a result, without an id all calls of its tool in the message. */
  alike(use: ToolUse): readonly MadeCall[] {
    const call = this.of(use)
    if (!call || use.result.id !== undefined) return call ? [call] : []
    const all = this.#calls.get(callName(use.result) ?? '') ?? []
    return all.filter(({ at }) => at === call.at)
  }

  all(): MadeCall[] {
    this.#readCalls()
    return [...this.#calls.values()].flat()
  }

  toolOf(use: ToolUse): string | undefined {
    return use.result.tool ?? this.of(use)?.tool
  }

  #readCalls(): void {
    for (; this.#read < this.#messages.length; this.#read++) {
      const at = this.#read
      for (const call of callsOf(this.#messages[at], this.#shares[at] as MessageShares)) {
        const name = callName(call)
        if (name === undefined) continue
        const made = { at, tool: call.tool, args: call.args.map(({ value }) => value) }
        const known = this.#calls.get(name)
        if (known) known.push(made)
        else this.#calls.set(name, [made])
      }
    }
  }
}
