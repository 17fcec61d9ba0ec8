// Ways to send a history. Each is made anew for an agent, and returns the messages of a request.
import * as spillway from 'spillway'
import { memoryStore } from './store.mjs'

const CLEARED = '[cleared]'
const SHORT = 200
/** Chars of a token, as LangChain counts by default. */
const CHARS = 4

/** Clears blocks of messages, and remembers which. */
class Cleared {
  #messages = new Map()
  /** Messages that are no longer sent. */
  #gone = new Set()

  sent(messages) {
    return messages.flatMap((one) => (this.#gone.has(one) ? [] : (this.#messages.get(one) ?? one)))
  }

  clear(message, id, withInputs) {
    const before = this.#messages.get(message) ?? message
    const content = before.content.map((block) => {
      if (block.tool_use_id === id) return { ...block, content: CLEARED }
      return withInputs && block.id === id ? { ...block, input: shortened(block.input) } : block
    })
    this.#messages.set(message, { ...before, content })
  }

  /** Clears results, and the arguments of their calls. */
  results(messages, ids, withInputs = false) {
    for (const message of messages)
      for (const block of typeof message.content === 'string' ? [] : message.content) {
        const id = block.tool_use_id ?? (withInputs ? block.id : undefined)
        if (ids.has(id)) this.clear(message, id, withInputs)
      }
  }

  /** Drops the oldest rounds of calls and results, up to half of a window. */
  drop(messages, size, window) {
    for (let at = 1; at + 3 < messages.length && size(this.sent(messages)) > window / 2; at += 2)
      for (const one of messages.slice(at, at + 2)) this.#gone.add(one)
  }
}

function shortened(input) {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, value.length > SHORT ? CLEARED : value]),
  )
}

function idsOf(messages) {
  return messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.flatMap(({ tool_use_id: id }) => id ?? []),
  )
}

/** Clears by hand what `old` names once a share of the window is taken. If that is not enough, or
 *  the provider refuses, all but the last result is cleared, and then the oldest rounds go. */
function byHand(share, old, withInputs) {
  return (agent, size) => {
    const cleared = new Cleared()
    let { told } = agent
    return {
      prepare(messages) {
        if (size(cleared.sent(messages)) > share * told) {
          cleared.results(messages, old(messages, told, size), withInputs)
          if (size(cleared.sent(messages)) > 0.95 * told) this.shrink(messages)
        }
        return cleared.sent(messages)
      },
      shrink(messages) {
        cleared.results(messages, new Set(idsOf(messages).slice(0, -1)), withInputs)
        if (size(cleared.sent(messages)) > 0.9 * told) cleared.drop(messages, size, told)
      },
      refused(_, messages) {
        told = agent.window
        this.shrink(messages)
        return true
      },
    }
  }
}

const lastThree = (messages) => new Set(idsOf(messages).slice(0, -3))

function newestTenth(messages, told, size) {
  let at = messages.length
  for (let left = told / 10; at > 0 && left > 0; at--) left -= size([messages[at - 1]])
  return new Set(idsOf(messages.slice(0, at)))
}

/** Clears before each request anew, as the services that keep no state do. */
function editing(trigger, sizeOf, keep) {
  return (_, size) => {
    const of = sizeOf ?? size
    return {
      prepare(messages) {
        if (of(messages) <= trigger) return messages
        const cleared = new Cleared()
        cleared.results(messages, new Set(idsOf(messages).slice(0, -keep)))
        return cleared.sent(messages)
      },
      refused: () => false,
    }
  }
}

const chars = new WeakMap()
const inChars = (messages) =>
  messages.reduce((sum, one) => {
    const known = chars.get(one) ?? JSON.stringify(one.content).length / CHARS
    chars.set(one, known)
    return sum + known
  }, 0)

function ours(more) {
  return (agent) => {
    const store = memoryStore()
    const context = spillway.createContext({ contextTokens: agent.told, spill: store, ...more(agent) })
    return {
      prepare: async (messages) => (await context.prepare(messages, { system: agent.prompt })).messages,
      refused: (error) => context.refused(error),
      read: (id) => store.texts.get(id),
    }
  }
}

export const POLICIES = {
  nothing: () => ({ prepare: (messages) => messages, refused: () => false }),
  'by hand, the last three': byHand(0.6, lastThree, false),
  'by hand, the newest tenth': byHand(0.5, newestTenth, true),
  'clearing of Anthropic': editing(100_000, undefined, 3),
  'context editing of LangChain': editing(100_000, inChars, 3),
  'createContext, told the window': ours(() => ({})),
  'createContext, told the prices too': ours(({ prices: { write, read, input } }) => ({
    prices: { write, read, input },
  })),
}
export const HANDS = ['by hand, the last three', 'by hand, the newest tenth']
