import { createHash } from 'node:crypto'
import { callName, type Result } from '../dialect/results.js'
import { blocksOf } from '../media/found.js'
import { PROVIDERS } from '../media/medium.js'
import { callsOf, type MessageShares, readShares, tokensOf } from './message_tokens.js'
import { counterOf } from './token_counter.js'

/** A use of a tool: its result, with duplicates that the framework keeps in the same message. */
export interface ToolUse {
  /** Its name in a history that only grows, whether its text has changed or not. */
  readonly key: string
  /** Index of the message that carries the result. */
  readonly at: number
  /** Answers of the model after it: requests that sent it. */
  readonly age: number
  /** Its number within this message. */
  readonly nth: number
  readonly result: Result
  readonly chars: number
  /** Tokens of its texts and payloads. */
  readonly tokens: number
  /** True if it has payloads that words can replace. */
  readonly hasMedia: boolean
}

export const estimate = counterOf(undefined)
/** The provider that counts the most for an image. */
const DEAREST = PROVIDERS.length

/** Returns the uses of tools in a history, and the tokens of each message. */
export function readUses(messages: readonly unknown[]): {
  uses: ToolUse[]
  tokens: number[]
  answers: number[]
  shares: MessageShares[]
} {
  const shares = readShares(messages, estimate)
  const tokens = tokensOfEach(shares)
  const seen = new Map<string, number>()
  // Items that follow each other are one answer.
  const answers = shares.flatMap(({ isAnswer }, at) => (isAnswer && !shares[at - 1]?.isAnswer ? at : []))
  let answered = 0
  const uses = shares.flatMap(({ results, media }, at) => {
    while ((answers[answered] ?? Number.POSITIVE_INFINITY) <= at) answered += 1
    const age = answers.length - answered
    return results.map(({ result, chars, tokens }, nth): ToolUse => {
      const name = JSON.stringify([result.id ?? null, result.tool ?? null])
      const number = seen.get(name) ?? 0
      seen.set(name, number + 1)
      const blocks = media.size === 0 ? [] : blocksOf(result)
      const paid = blocks.reduce((sum, { end }) => sum + (media.get(end.holder.value)?.[DEAREST] ?? 0), 0)
      const key = `${name}${number === 0 ? '' : number}`
      return { key, at, age, nth, result, chars, tokens: tokens + paid, hasMedia: paid > 0 }
    })
  })
  return { uses, tokens, answers, shares }
}

/** Returns the tokens of each message. */
export function tokensIn(messages: readonly unknown[]): number[] {
  return tokensOfEach(readShares(messages, estimate))
}

function tokensOfEach(shares: readonly MessageShares[]): number[] {
  // Counts all texts in one call. After it, each message has its own.
  tokensOf(shares, estimate, DEAREST)
  return shares.map((one) => tokensOf([one], estimate, DEAREST))
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

/** The calls of a history, read when a result first asks for its own. */
export class MadeCalls {
  readonly #messages: readonly unknown[]
  readonly #shares: readonly MessageShares[]
  #calls: Map<string, MadeCall[]> | undefined

  constructor(messages: readonly unknown[], shares: readonly MessageShares[]) {
    this.#messages = messages
    this.#shares = shares
  }

  /** Returns the last call of that name up to the message of the result. */
  of({ result, at }: ToolUse): MadeCall | undefined {
    const name = callName(result)
    if (name === undefined) return undefined
    this.#calls ??= this.#readCalls()
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
    const all = this.#calls?.get(callName(use.result) ?? '') ?? []
    return all.filter(({ at }) => at === call.at)
  }

  all(): MadeCall[] {
    this.#calls ??= this.#readCalls()
    return [...this.#calls.values()].flat()
  }

  toolOf(use: ToolUse): string | undefined {
    return use.result.tool ?? this.of(use)?.tool
  }

  #readCalls(): Map<string, MadeCall[]> {
    const all = new Map<string, MadeCall[]>()
    for (const [at, message] of this.#messages.entries())
      for (const call of callsOf(message, this.#shares[at] as MessageShares)) {
        const name = callName(call)
        if (name === undefined) continue
        const made = { at, tool: call.tool, args: call.args.map(({ value }) => value) }
        const known = all.get(name)
        if (known) known.push(made)
        else all.set(name, [made])
      }
    return all
  }
}
