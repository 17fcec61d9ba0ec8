import { type Call, callName, callsIn, type Result, wordsIn } from '../dialect/results.js'
import { askedBy, decoded, type Query, stringsIn } from '../query.js'
import { elementAt, isObject, tryRead } from '../untrusted.js'

/** The messages around results, which say what was asked of these. Nothing is read before a result
 *  is cut. */
export class History {
  readonly #messages: readonly unknown[]
  /** The calls of each name, in order, with the index of their message. */
  #calls: Map<string, { readonly at: number; readonly call: Call }[]> | undefined
  /** The user's last words up to each message. */
  readonly #words: string[][] = []

  constructor(messages: readonly unknown[]) {
    this.#messages = messages
  }

  /** Returns what was asked of a result in the message at an index: the texts of the caller's
   *  function or, by default, those in the arguments of the call and the user's last words
   *  before. */
  asked(result: Result, at: number, query: Query): string[] {
    const args = (this.#callOf(result, at)?.args ?? []).map(decoded)
    const asked = askedBy(query, args)
    return typeof query === 'function' ? asked : [...asked, ...this.#wordsBefore(at)]
  }

  /** Returns the last call of that name up to the message of the result, which may itself carry the
   *  call. */
  #callOf(result: Result, at: number): Call | undefined {
    const name = callName(result)
    if (name === undefined) return undefined
    this.#calls ??= this.#readCalls()
    return this.#calls.get(name)?.findLast((one) => one.at <= at)?.call
  }

  #readCalls() {
    const all = new Map<string, { at: number; call: Call }[]>()
    for (const at of this.#messages.keys())
      for (const call of this.#read(at, callsIn) ?? []) {
        const known = all.get(call.name)
        if (known) known.push({ at, call })
        else all.set(call.name, [{ at, call }])
      }
    return all
  }

  #wordsBefore(end: number): string[] {
    const words = this.#words
    while (words.length < end) {
      const own = stringsIn([...new Set(this.#read(words.length, wordsIn))])
      words.push(own.length > 0 ? own : (words.at(-1) ?? []))
    }
    return words[end - 1] ?? []
  }

  #read<T>(at: number, read: (message: object) => T): T | undefined {
    const message = elementAt(this.#messages, at)
    return isObject(message) ? tryRead(() => read(message)) : undefined
  }
}
