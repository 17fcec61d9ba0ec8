// A strict stub of a provider: it refuses prompts that are too long, broken pairs, wrong ids, sizes
// and media, and counts the tokens that it has cached by the longest common beginning. That
// beginning was accepted before, so only the messages after it are read.

/** Tokens of an image of a million pixels, a message, a block, and the shortest cached prompt. */
const [IMAGE, MESSAGE, BLOCK, CACHED] = [1_590, 4, 3, 1_024]
/** Chars of a request as JSON, base64 chars of an image. */
const [BODY, PAYLOAD] = [32 * 2 ** 20, 5 * 2 ** 20]

/** Tokens and JSON of messages, by the message. */
const figures = new WeakMap()

export class Provider {
  #window
  #prices
  #count
  #cached = new Prompt()
  price = 0
  requests = 0
  refused = 0
  /** Sums over requests: tokens of the one before, and those of them that were cached. */
  before = 0
  kept = 0

  constructor(window, prices, count) {
    this.#window = window
    this.#prices = prices
    this.#count = count
  }

  tokensOf(message) {
    return this.#figuresOf(message).tokens
  }

  /** Takes a request. Throws as a provider refuses. */
  send(messages) {
    const cached = this.#cached
    const same = cached.alike(messages, (message) => this.#figuresOf(message).json)
    const known = cached.tokens[same]
    const later = messages.slice(same).map((message) => this.#figuresOf(message))
    const fault = cached.faultIn(messages, same)
    if (fault) throw this.#refusal(`invalid_request_error: ${fault}`)
    const total = later.reduce((sum, { tokens }) => sum + tokens, known)
    if (total > this.#window)
      throw this.#refusal(`prompt is too long: ${total} tokens > ${this.#window} maximum`)
    if (later.reduce((sum, { json }) => sum + json.length, cached.chars[same]) > BODY)
      throw this.#refusal('request_too_large: Request exceeds the maximum size', 413)
    const isCached = total >= CACHED
    this.before += cached.tokens.at(-1)
    this.kept += known
    const { write, read, input } = this.#prices
    this.price += isCached ? known * read + (total - known) * write : total * input
    this.requests += 1
    if (isCached) cached.take(messages, same, later)
    else this.#cached = new Prompt()
  }

  #refusal(message, status = 400) {
    this.refused += 1
    return Object.assign(new Error(message), { status })
  }

  #figuresOf(message) {
    const known = figures.get(message) ?? { tokens: this.#counted(message), json: JSON.stringify(message) }
    figures.set(message, known)
    return known
  }

  #counted({ content }) {
    const text = (text) => this.#count(text)
    const block = (one) => {
      if (one.type === 'text') return BLOCK + text(one.text)
      if (one.type === 'image') return IMAGE
      if (one.type === 'tool_use') return 12 + text(one.name) + text(JSON.stringify(one.input))
      return (
        12 +
        (typeof one.content === 'string'
          ? text(one.content)
          : one.content.reduce((sum, part) => sum + block(part), 0))
      )
    }
    return (
      MESSAGE +
      (typeof content === 'string' ? text(content) : content.reduce((sum, one) => sum + block(one), 0))
    )
  }
}

/** A prompt that was accepted. */
class Prompt {
  #messages = []
  /** The message of each call, by id. */
  #calls = new Map()
  /** Tokens and chars before each message, and of all. */
  tokens = [0]
  chars = [0]

  /** Returns the number of messages with which other messages begin as these do. */
  alike(messages, jsonOf) {
    const own = this.#messages
    const isSame = (a, b) => a === b || jsonOf(a) === jsonOf(b)
    let same = 0
    while (same < own.length && same < messages.length && isSame(messages[same], own[same])) same += 1
    return same
  }

  /** Becomes other messages, which begin with some of the same. */
  take(messages, same, later) {
    for (const message of this.#messages.slice(same))
      for (const id of callsIn(message)) this.#calls.delete(id)
    this.tokens.length = same + 1
    this.chars.length = same + 1
    for (const [nth, { tokens, json }] of later.entries()) {
      for (const id of callsIn(messages[same + nth])) this.#calls.set(id, same + nth)
      this.tokens.push(this.tokens.at(-1) + tokens)
      this.chars.push(this.chars.at(-1) + json.length)
    }
    this.#messages = messages
  }

  /** Returns why a request is invalid that begins with the first messages of this one. */
  faultIn(messages, same) {
    if (messages[0]?.role !== 'user') return 'messages.0: the first message must be of the user'
    const later = new Set()
    const isKnown = (id) => later.has(id) || (this.#calls.get(id) ?? same) < same
    let open = new Set(same > 0 ? callsIn(messages[same - 1]) : [])
    for (let at = same; at < messages.length; at++) {
      const { role, content } = messages[at]
      if (content.length === 0) return `messages.${at}: content is empty`
      for (const { type, tool_use_id: id, content: shown } of blocksOf(messages[at])) {
        if (type !== 'tool_result') continue
        if (!open.delete(id)) return `messages.${at}: unexpected tool_use_id ${id}`
        const fault = typeof shown === 'string' ? undefined : shown.map(mediaFault).find(Boolean)
        if (fault) return `messages.${at}: ${fault}`
      }
      if (open.size > 0) return `messages.${at}: tool_use ids without tool_result: ${[...open]}`
      const uses = blocksOf(messages[at]).filter(({ type }) => type === 'tool_use')
      if (uses.length > 0 && role !== 'assistant') return `messages.${at}: tool_use of the user`
      for (const { id, input } of uses) {
        if (!/^[\w-]{1,64}$/.test(id) || isKnown(id)) return `messages.${at}: tool_use id ${id}`
        if (typeof input !== 'object' || input === null) return `messages.${at}: input must be an object`
        later.add(id)
      }
      open = new Set(uses.map(({ id }) => id))
    }
    return open.size > 0 ? 'the last message has calls without results' : undefined
  }
}

function blocksOf({ content }) {
  return typeof content === 'string' ? [] : content
}

function callsIn(message) {
  return blocksOf(message).flatMap(({ type, id }) => (type === 'tool_use' ? id : []))
}

function mediaFault({ type, source }) {
  if (type !== 'image') return undefined
  if (source.data.length > PAYLOAD) return 'image exceeds 5 MB'
  return source.data.startsWith('iVBORw0KGgo') ? undefined : 'Could not process image'
}
