import type { Values } from '../option_table.js'
import type { PRICES } from '../options.js'

/** A result that can become shorter. */
export interface Saving {
  /** Index of the first message that this changes. */
  readonly from: number
  /** Index of the message that carries the result. */
  readonly at: number
  /** Tokens that this saves. */
  readonly saved: number
  /** Requests that sent it before. */
  readonly age: number
}

/** Factor applied to what a change costs, where it must not cost too much: token counts are
 *  estimates. */
const MARGIN = 1.1

/** The caller's knowledge of later requests. */
export interface Outlook {
  /** Their number with this one, if the caller knows it. Otherwise this one may be the last, so
   *  that a change may cost no more than `balance`: then no history is ever dearer than without
   *  changes. */
  readonly requests: number | undefined
  /** Savings of earlier changes so far, less their cost. */
  readonly balance: number
}

/** Savings that a provider's prompt is changed for, and what this request costs less (more if
 *  negative). */
export interface Change<T> {
  readonly savings: readonly T[]
  readonly price: number
}

/**
 * Prices of a prompt whose beginning a provider caches. A change at a message has the provider
 * write the rest of the prompt again instead of reading it, once. The tokens that it saves are not
 * read in this request, nor in those to come.
 */
export class CachePrices {
  constructor(
    readonly write: number,
    readonly read: number,
  ) {}

  /** Returns the price of messages whose first `known` are cached. */
  of(tokens: readonly number[], known: number): number {
    return tokens.reduce((sum, one, at) => sum + one * (at < known ? this.read : this.write), 0)
  }

  /** Returns the most that a message adds to what a change at it or before it costs less in this
   *  request: `best` changes nothing from which on these sums are below `-balance`. `saved`: tokens
   *  that its results may save. */
  bound(saved: number, tokens: number): number {
    const rewriting = Math.max(0, this.write - this.read) * MARGIN
    return Math.max(this.read + rewriting, this.write) * saved - rewriting * tokens
  }

  /**
   * Returns the change that pays most, undefined if none pays. Everything after its first message
   * that can become shorter does: the provider writes that part anew in any case.
   *
   * `tokens`: those of each message; `sent`: the messages of the last request, which are cached;
   * `least`: tokens that a change must save.
   */
  best<T extends Saving>(
    savings: readonly T[],
    tokens: readonly number[],
    sent: number,
    { requests, balance }: Outlook,
    least: number,
  ): Change<T> | undefined {
    const order = savings.toSorted((a, b) => b.from - a.from)
    let [most, gain, now, all, cached, after] = [0, 0, 0, 0, 0, 0]
    let best: { count: number; price: number } | undefined
    let end = Math.min(sent, tokens.length)
    for (let at = 0; at < order.length; ) {
      const { from } = order[at] as T
      for (; end > from; end--) after += tokens[end - 1] as number
      for (; order[at]?.from === from; at++) {
        const { at: message, saved, age } = order[at] as T
        const isCached = message < sent
        all += saved
        if (isCached) cached += saved
        now += saved * (isCached ? this.read : this.write)
        gain += saved * (isCached ? this.read * Math.min(requests ?? age, age) : this.write)
      }
      const rewritten = Math.max(0, this.write - this.read) * Math.max(0, after - cached)
      const net = gain - rewritten
      const price = now - rewritten * MARGIN
      if (requests === undefined && balance + price < 0) continue
      // Of equal ones the earliest, so that a second call finds nothing that pays.
      if (all < least || net <= 0 || net < most) continue
      most = net
      best = { count: at, price }
    }
    return best && { savings: order.slice(0, best.count), price: best.price }
  }
}

export function pricesOf({ write, read, input }: Values<typeof PRICES.rows>): CachePrices {
  return new CachePrices(write ?? 1.25 * input, read ?? 0.1 * input)
}
