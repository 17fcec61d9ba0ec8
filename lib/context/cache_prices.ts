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

/**
 * Prices of a prompt whose beginning a provider caches. A change at a message has the provider write the rest of the
 * prompt again instead of reading it, once. The tokens that it saves are not read in this request, nor in those to come.
 */
export class CachePrices {
  constructor(
    readonly write: number,
    readonly read: number,
  ) {}

  /**
   * Returns the savings of the change that pays most, an empty list if none pays. Everything after its first message
   * that can become shorter does: the provider writes that part anew in any case.
   *
   * `tokens`: those of each message; `sent`: the messages of the last request, which are cached; `requests`: those to
   * come, this one included; `least`: tokens that a change must save.
   */
  best<T extends Saving>(
    savings: readonly T[],
    tokens: readonly number[],
    sent: number,
    requests: number,
    least: number,
  ): readonly T[] {
    const order = savings.toSorted((a, b) => b.from - a.from)
    let [count, most, gain, all, cached, after] = [0, 0, 0, 0, 0, 0]
    let end = Math.min(sent, tokens.length)
    for (let at = 0; at < order.length; ) {
      const { from } = order[at] as T
      for (; end > from; end--) after += tokens[end - 1] as number
      for (; order[at]?.from === from; at++) {
        const { at: message, saved, age } = order[at] as T
        const isCached = message < sent
        all += saved
        if (isCached) cached += saved
        gain += saved * (isCached ? this.read * Math.min(requests, age) : this.write)
      }
      const net = gain - Math.max(0, this.write - this.read) * Math.max(0, after - cached)
      // Of equal ones the earliest, so that a second call finds nothing that pays.
      if (all < least || net <= 0 || net < most) continue
      ;[count, most] = [at, net]
    }
    return order.slice(0, count)
  }
}
