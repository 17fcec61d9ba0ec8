// Which results to clear now, and whether to clear any.
//
// A cleared result is no longer read from the cache in each request, but everything after it is
// written again, and if it is needed the model asks for it in a request more. So results go in
// batches, and the first message that a batch changes decides what it costs. Two rules find when a
// batch is due and what it takes. Neither knows the future:
//
//   what   A result is worth clearing if reading it over the requests to come costs more than what
//          the model is likely to spend to get it back. Large old results are, small ones are not.
//   when   A batch is due once reading its results again has cost as much as the batch will. That is
//          the best period for results that come at a steady rate (holding costs equal ordering
//          costs), and never costs more than twice the best choice in hindsight.
//
// If the window is full, the prompt is written anew in any case, so the batch that frees enough and
// costs least is taken, with everything after its first message that is worth clearing.
import type { CachePrices } from './cache_prices.js'
import type { Shortening } from './cleared_history.js'
import type { Outlook } from './outlook.js'

/** Share of the prompt that is read again when a result is asked for, since clearing keeps it
 *  small. */
const READ_AGAIN = 0.6
/** Price of an answer that asks for a result again, in tokens of input. */
const ASKING = 200
/** Share of a full window that a batch frees beyond what must go, so that the next request does not
 *  need another. */
const SPARE = 0.1

/** The prompt that a batch would change. */
export interface Prompt {
  /** Tokens of each message, and of all with the system prompt and the tools. */
  readonly tokens: readonly number[]
  readonly total: number
  /** Messages of the last request, which are cached. */
  readonly sent: number
  /** Tokens that a request may have. */
  readonly limit: number
}

/** Returns the results to clear, none if no batch is due. */
export function dueOf(
  all: readonly Shortening[],
  { tokens, total, sent, limit }: Prompt,
  prices: CachePrices,
  outlook: Outlook,
): readonly Shortening[] {
  const over = total - limit
  const isWorth = (one: Shortening) => one.saved * prices.read * outlook.requests > backOf(one)
  const backOf = ({ use, saved, entry }: Shortening) =>
    entry.text === undefined || entry.of
      ? 0
      : outlook.needsOf(use) * (total * READ_AGAIN * prices.read + saved * prices.write + ASKING)
  const order = all.filter(isWorth).toSorted((a, b) => b.from - a.from)
  const rewriting = Math.max(0, prices.write - prices.read)
  let [gain, saved, cached, after, end] = [0, 0, 0, 0, Math.min(sent, tokens.length)]
  let [best, most, forced, least] = [0, 0, 0, Number.NEGATIVE_INFINITY]
  for (let at = 0; at < order.length; ) {
    const { from } = order[at] as Shortening
    for (; end > from; end--) after += tokens[end - 1] as number
    for (; order[at]?.from === from; at++) {
      const one = order[at] as Shortening
      const isCached = one.at < sent
      const requests = Math.min(one.age, outlook.requests)
      saved += one.saved
      if (isCached) cached += one.saved
      gain += one.saved * (isCached ? prices.read * requests : prices.write)
      gain -= backOf(one) * Math.min(1, one.age / outlook.requests)
    }
    const net = gain - rewriting * Math.max(0, after - cached)
    if (net > most) [best, most] = [at, net]
    if (over > 0 && saved >= over + SPARE * limit && net > least) [forced, least] = [at, net]
  }
  if (over <= 0) return order.slice(0, best)
  // Without such a batch everything goes that can.
  return forced > 0 ? order.slice(0, Math.max(best, forced)) : all
}
