// The price of a session whose old results are cleared before each request, as `clearToolResults`
// does.
//
// That function reads a whole history, and a session has as many requests as answers. Here one pass
// keeps what a request changes: new messages come at the end, their results get older, and a
// clearing takes results from some message on. A clearing at a message costs the cached tokens
// behind it, less the tokens that it saves there, and may cost no more than earlier clearings
// saved. Cost and savings are sums over the messages behind it, so the lowest sums so far, which
// only fall, lead to the first message at which a clearing is affordable. Only the results from
// there on are compared. So a request takes the time of the results that it may clear, and a
// clearing that of the messages behind it, which the provider reads anew as well.
import { CachePrices, type Saving } from '../../lib/context/cache_prices.js'
import { isWritable, LEAST, Wording, withoutResults } from '../../lib/context/cleared.js'
import { Names, Repeats } from '../../lib/context/duplicates.js'
import { sumOf } from '../../lib/context/token_counter.js'
import { estimate, MadeCalls, type readUses, type ToolUse, tokensIn } from '../../lib/context/tool_uses.js'

type Uses = ReturnType<typeof readUses>

const WORDING = new Wording()
const CALL = { tool: undefined, callId: undefined }

/** The last results, which stay, as clearToolResults assumes them. */
const KEEP = 3

/** A shorter text in place of a result. */
interface Shorter {
  readonly text: string
  readonly saved: number
  /** The key of the result that it refers to. */
  readonly of?: string | undefined
}

/** A result that a text may replace. */
interface ClearableResult {
  readonly use: ToolUse
  /** The line in its place, once it is no longer one of the last. */
  line?: Shorter | undefined
  /** The reference in its place, if it repeats an earlier one. */
  reference?: Shorter | undefined
  isReplaced?: true
}

interface Candidate extends Saving {
  readonly open: ClearableResult
  readonly shorter: Shorter
}

/** Returns the price of all requests, in tokens of plain input, with the old results cleared from
 *  the first token on and near repeats replaced. */
export function clearedPriceOf(
  messages: readonly unknown[],
  uses: Uses,
  prices: { write: number; read: number },
): number {
  const replay = new Replay(messages, uses, new CachePrices(prices.write, prices.read))
  return Math.round(uses.answers.reduce((price, end, nth) => price + replay.priceOf(end, nth), 0))
}

/** A history that grows by what each request adds. */
class Replay {
  readonly #messages: readonly unknown[]
  readonly #history: Uses
  readonly #prices: CachePrices
  readonly #names = new Names()
  readonly #repeats: Repeats
  /** Tokens of each message in the form that the agent sends, and the sum before each message. */
  readonly #tokens: number[] = []
  readonly #before = [0]
  /** Tokens that the open results of each message may save. */
  readonly #savings: number[] = []
  /** For the messages before each: the most that a clearing of all is worth, and the lowest of
   *  these so far. */
  readonly #worth = [0]
  readonly #lowest = [0]
  /** The open results in order, and by the number of their result. */
  readonly #open: ClearableResult[] = []
  readonly #numbered: (ClearableResult | undefined)[] = []
  #older = 0
  /** The texts that replace results, by message and number. */
  readonly #texts = new Map<number, Map<number, string>>()
  /** Tokens that all clearings save in each request. */
  #saved = 0
  #balance = { answers: 0, price: 0 }

  constructor(messages: readonly unknown[], history: Uses, prices: CachePrices) {
    this.#messages = messages
    this.#history = history
    this.#prices = prices
    this.#repeats = new Repeats(new MadeCalls(messages, history.shares), 'near', this.#names)
  }

  /** Returns the price of the request before answer `nth`, which sends the messages up to `end`. */
  priceOf(end: number, nth: number): number {
    const sent = this.#tokens.length
    this.#append(end)
    const { read, write } = this.#prices
    const balance = this.#balance.price + (nth - this.#balance.answers) * this.#saved * read
    const change = this.#change(end, sent, nth, balance)
    const known = change ? Math.min(sent, this.#clear(change.savings)) : sent
    if (change) this.#balance = { answers: nth, price: balance + change.price }
    const [cached = 0, all = 0] = [this.#before[known], this.#before[end]]
    return read * cached + write * (all - cached)
  }

  #append(end: number): void {
    const { tokens, uses } = this.#history
    let changed = this.#tokens.length
    for (let at = changed; at < end; at++) {
      this.#tokens.push(tokens[at] as number)
      this.#savings.push(0)
    }
    for (let use = uses[this.#numbered.length]; use && use.at < end; use = uses[this.#numbered.length]) {
      this.#names.see(use)
      const isLong = use.chars > LEAST || use.hasMedia
      const open = isLong && isWritable(use.result, use.hasMedia) ? { use } : undefined
      this.#numbered.push(open)
      if (!open) continue
      this.#open.push(open)
      this.#compare(open)
    }
    for (; this.#older < this.#numbered.length - KEEP; this.#older++) {
      const open = this.#numbered[this.#older]
      if (!open || open.isReplaced) continue
      this.#note(open, { line: shorterBy(open.use, WORDING.result(open.use.result, CALL)) })
      changed = Math.min(changed, open.use.at)
    }
    this.#settle(changed)
  }

  /** Looks for an earlier result that a result repeats. */
  #compare(open: ClearableResult): void {
    const entry = isWritable(open.use.result, false) ? this.#repeats.take(open.use) : undefined
    this.#note(open, { reference: entry && shorterBy(open.use, entry.text, entry.of?.key) })
  }

  /** Notes what may replace a result. */
  #note(open: ClearableResult, given: Pick<ClearableResult, 'line' | 'reference' | 'isReplaced'>): void {
    const { at } = open.use
    const saved = () => (open.isReplaced ? 0 : Math.max(open.line?.saved ?? 0, open.reference?.saved ?? 0))
    const before = saved()
    Object.assign(open, given)
    this.#savings[at] = (this.#savings[at] ?? 0) + saved() - before
  }

  /** Sums up the messages from `from` on. */
  #settle(from: number): void {
    for (let at = from; at < this.#tokens.length; at++) {
      const [tokens = 0, saved = 0] = [this.#tokens[at], this.#savings[at]]
      const worth = (this.#worth[at] ?? 0) + this.#prices.bound(saved, tokens)
      this.#before[at + 1] = (this.#before[at] ?? 0) + tokens
      this.#worth[at + 1] = worth
      this.#lowest[at + 1] = Math.min(this.#lowest[at] ?? 0, worth)
    }
  }

  /** Returns the clearing that pays most, undefined if none pays. */
  #change(end: number, sent: number, nth: number, balance: number) {
    const from = Math.min(sent, this.#affordable(end, sent, balance))
    let first = this.#open.length
    while ((this.#open[first - 1]?.use.at ?? -1) >= from) first -= 1
    const open = this.#open.slice(first)
    const later = this.#history.answers.length - nth
    const candidate = (open: ClearableResult, shorter: Shorter | undefined): Candidate[] => {
      const { at, age } = open.use
      return shorter ? [{ open, shorter, from: at, at, age: age - later, saved: shorter.saved }] : []
    }
    const needed = new Set(this.#numbered.slice(this.#older).map((open) => open?.reference?.of))
    const isLine = ({ line, use }: ClearableResult) => line !== undefined && !needed.has(use.key)
    const lines = open.filter(isLine).flatMap((open) => candidate(open, open.line))
    const references = open.flatMap((open) => candidate(open, open.reference))
    const others = references.filter(({ open }) => !isLine(open))
    const pays = (some: readonly Candidate[]) =>
      some.length === 0
        ? undefined
        : this.#prices.best(some, this.#tokens, sent, { requests: undefined, balance }, 0)
    return pays([...lines, ...others]) ?? pays(references)
  }

  /** Returns the first message at which a clearing may cost no more than `balance`. */
  #affordable(end: number, sent: number, balance: number): number {
    const unsent = (this.#before[end] ?? 0) - (this.#before[sent] ?? 0)
    const most = (this.#worth[end] ?? 0) - this.#prices.bound(0, unsent) + balance
    // Sums of fractions in another order than those that decide.
    const limit = most + 1e-9 * (1 + Math.abs(most) + (this.#before[end] ?? 0))
    let [low, high] = [0, end]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#lowest[middle] ?? 0) <= limit) high = middle
      else low = middle + 1
    }
    return low
  }

  /** Replaces results, and returns the first message whose tokens this changes. */
  #clear(savings: readonly Candidate[]): number {
    const messages = new Set<number>()
    for (const { open, shorter, at } of savings) {
      this.#note(open, { isReplaced: true, line: undefined, reference: shorter.of ? shorter : undefined })
      this.#texts.set(at, (this.#texts.get(at) ?? new Map<number, string>()).set(open.use.nth, shorter.text))
      this.#saved += shorter.saved
      messages.add(at)
    }
    const from = savings.reduce((least, { at }) => Math.min(least, at), this.#tokens.length)
    let changed = this.#tokens.length
    for (const at of messages) {
      const [tokens = 0] = tokensIn([withoutResults(this.#messages[at], this.#texts.get(at) ?? new Map())])
      if (tokens !== this.#tokens[at]) changed = Math.min(changed, at)
      this.#tokens[at] = tokens
    }
    const left: ClearableResult[] = []
    for (let last = this.#open.at(-1); last && last.use.at >= from; last = this.#open.at(-1)) {
      this.#open.pop()
      if (!last.isReplaced) left.push(last)
    }
    this.#repeats.rewind(from)
    for (const open of left.reverse()) {
      this.#open.push(open)
      this.#compare(open)
    }
    this.#settle(from)
    return changed
  }
}

/** Returns the text in place of a result, undefined unless that is shorter. */
function shorterBy(use: ToolUse, text: string, of?: string): Shorter | undefined {
  const saved = use.tokens - sumOf([text], estimate)
  return saved > 0 ? { text, saved, of } : undefined
}
