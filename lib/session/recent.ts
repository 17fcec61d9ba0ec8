import { type Result, wordsIn } from '../dialect/results.js'
import type { Query } from '../query.js'
import { History } from '../result/history.js'
import { isObject, tryRead } from '../untrusted.js'

/** Messages that are remembered beside the last one with words of the user. */
const MOST = 32

/** The last messages that were stored, which say what was asked of the next one. */
export class Recent {
  readonly #messages: unknown[] = []
  #fromUser: unknown

  push(message: unknown): void {
    if (this.#messages.push(message) <= MOST) return
    const gone = this.#messages.shift()
    if (isObject(gone) && tryRead(() => wordsIn(gone).length > 0)) this.#fromUser = gone
  }

  /** Makes a function that returns what was asked of a result in a message that follows. All
   *  results of the message share one reading of what came before. */
  askerOf(message: object, query: Query): (result: Result | undefined) => string[] {
    const messages = [this.#fromUser, ...this.#messages, message]
    const history = new History(messages)
    return (result) => (result ? history.asked(result, messages.length - 1, query) : [])
  }
}
