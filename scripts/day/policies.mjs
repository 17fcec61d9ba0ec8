// Ways to send a history. Each is made anew for an agent, and returns the messages of a request. A
// history only grows, so each looks at a message once.
import * as spillway from 'spillway'
import { memoryStore } from './store.mjs'

const CLEARED = '[cleared]'
const SHORT = 200
/** Chars of a token, as LangChain counts by default. */
const CHARS = 4

/** The messages of a history as they are sent: results are cleared from the oldest on. */
class Sent {
  #size
  #withInputs
  /** Undefined in the place of messages that are no longer sent. */
  #messages = []
  #tokens = []
  /** Tokens of the messages as they were made. */
  #whole = []
  /** Results in order, and the messages of calls by id. */
  #results = []
  #calls = new Map()
  #cleared = 0
  #gone = 0
  total = 0

  constructor(size, withInputs = false) {
    this.#size = size
    this.#withInputs = withInputs
  }

  get results() {
    return this.#results.length
  }

  /** Takes the messages that a history has more. */
  take(history) {
    for (let at = this.#messages.length; at < history.length; at++) {
      const message = history[at]
      this.#messages.push(undefined)
      this.#tokens.push(0)
      this.#put(at, message)
      this.#whole.push(this.#tokens[at])
      for (const { id, tool_use_id: of } of blocksOf(message)) {
        if (of !== undefined) this.#results.push({ id: of, at })
        else if (id !== undefined) this.#calls.set(id, at)
      }
    }
    return this
  }

  get messages() {
    return this.#gone > 0 ? this.#messages.filter(Boolean) : this.#messages
  }

  /** Clears all results before one, by its number. */
  clearTo(end) {
    for (; this.#cleared < end; this.#cleared++) {
      const { id, at } = this.#results[this.#cleared]
      this.#edit(at, (block) => (block.tool_use_id === id ? { ...block, content: CLEARED } : block))
      const call = this.#withInputs ? this.#calls.get(id) : undefined
      if (call !== undefined)
        this.#edit(call, (block) => (block.id === id ? { ...block, input: shortened(block.input) } : block))
    }
  }

  /** Returns the number of results before the newest tokens. */
  before(tokens) {
    let at = this.#messages.length
    for (let left = tokens; at > 0 && left > 0; at--) left -= this.#whole[at - 1]
    let count = this.#results.length
    while (count > 0 && this.#results[count - 1].at >= at) count -= 1
    return count
  }

  /** Drops the oldest rounds of calls and results while there are more tokens than a number. */
  dropTo(tokens) {
    for (let at = 1; at + 3 < this.#messages.length && this.total > tokens; at += 2)
      for (const one of [at, at + 1]) if (this.#messages[one]) this.#put(one, undefined)
  }

  #edit(at, change) {
    const message = this.#messages[at]
    if (message) this.#put(at, { ...message, content: message.content.map(change) })
  }

  #put(at, message) {
    if (!message) this.#gone += 1
    const tokens = message ? this.#size(message) : 0
    this.total += tokens - this.#tokens[at]
    this.#tokens[at] = tokens
    this.#messages[at] = message
  }
}

function blocksOf({ content }) {
  return typeof content === 'string' ? [] : content
}

function shortened(input) {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, value.length > SHORT ? CLEARED : value]),
  )
}

/** Clears by hand what `old` names once a share of the window is taken. If that is not enough, or
 *  the provider refuses, all but the last result is cleared, and then the oldest rounds go. */
function byHand(share, old, withInputs) {
  return (agent, size, room) => {
    const sent = new Sent(size, withInputs)
    const shrink = () => {
      sent.clearTo(sent.results - 1)
      if (sent.total + room > 0.9 * told) sent.dropTo(told / 2 - room)
    }
    let { told } = agent
    return {
      prepare(history) {
        if (sent.take(history).total + room > share * told) {
          sent.clearTo(old(sent, told))
          if (sent.total + room > 0.95 * told) shrink()
        }
        return sent.messages
      },
      refused() {
        told = agent.window
        shrink()
        return true
      },
    }
  }
}

/** Clears before each request anew, as the services that keep no state do. `sizeOf`: size of a
 *  message, without the system prompt. */
function editing(trigger, keep, sizeOf) {
  return (_, size, room) => {
    const sent = new Sent(size)
    let [total, counted] = [sizeOf ? 0 : room, 0]
    return {
      prepare(history) {
        for (; counted < history.length; counted++) total += (sizeOf ?? size)(history[counted])
        sent.take(history)
        if (total > trigger) sent.clearTo(sent.results - keep)
        return sent.messages
      },
      refused: () => false,
    }
  }
}

const inChars = ({ content }) => JSON.stringify(content).length / CHARS

function ours(more) {
  return (agent) => {
    const store = memoryStore()
    const context = spillway.createContext({ contextTokens: agent.told, spill: store, ...more(agent) })
    return {
      prepare: async (messages) => (await context.prepare(messages, { system: agent.prompt })).messages,
      refused: (error) => context.refused(error),
      saved: store.texts,
    }
  }
}

export const POLICIES = {
  nothing: () => ({ prepare: (messages) => messages, refused: () => false }),
  'by hand, the last three': byHand(0.6, (sent) => sent.results - 3, false),
  'by hand, the newest tenth': byHand(0.5, (sent, told) => sent.before(told / 10), true),
  'clearing of Anthropic': editing(100_000, 3),
  'context editing of LangChain': editing(100_000, 3, inChars),
  'createContext, told the window': ours(() => ({})),
  'createContext, told the prices too': ours(({ prices: { write, read, input } }) => ({
    prices: { write, read, input },
  })),
}
export const HANDS = ['by hand, the last three', 'by hand, the newest tenth']
