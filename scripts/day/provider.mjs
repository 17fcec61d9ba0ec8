// A strict stub of a provider: it refuses prompts that are too long, broken pairs, wrong ids, sizes
// and media, and counts the tokens that it has cached by the longest common beginning.

/** Tokens of an image of a million pixels, a message, a block, and the shortest cached prompt. */
const [IMAGE, MESSAGE, BLOCK, CACHED] = [1_590, 4, 3, 1_024]
/** Bytes of a request, base64 chars of an image. */
const [BODY, PAYLOAD] = [32 * 2 ** 20, 5 * 2 ** 20]

export class Provider {
  #window
  #prices
  #count
  #last = []
  #tokens = new WeakMap()
  #json = new WeakMap()
  price = 0
  requests = 0
  refused = 0
  /** Sums over requests: tokens of the one before, and those of them that were cached. */
  before = 0
  kept = 0
  #size = 0

  constructor(window, prices, count) {
    this.#window = window
    this.#prices = prices
    this.#count = count
  }

  tokensOf(messages) {
    return messages.reduce((sum, message) => sum + this.#tokensIn(message), 0)
  }

  /** Takes a request. Throws as a provider refuses. */
  send(messages) {
    const fault = faultIn(messages)
    if (fault) throw this.#refusal(`invalid_request_error: ${fault}`)
    const sizes = messages.map((message) => this.#tokensIn(message))
    const total = sizes.reduce((sum, one) => sum + one, 0)
    if (total > this.#window)
      throw this.#refusal(`prompt is too long: ${total} tokens > ${this.#window} maximum`)
    const bytes = messages.reduce((sum, message) => sum + this.#jsonOf(message).length, 0)
    if (bytes > BODY) throw this.#refusal('request_too_large: Request exceeds the maximum size', 413)
    const isCached = total >= CACHED
    let [same, known] = [0, 0]
    while (
      same < this.#last.length &&
      same < messages.length &&
      this.#isSame(messages[same], this.#last[same])
    )
      known += sizes[same++]
    this.before += this.#size
    this.kept += known
    const { write, read, input } = this.#prices
    this.price += isCached ? known * read + (total - known) * write : total * input
    this.requests += 1
    this.#last = isCached ? messages : []
    this.#size = isCached ? total : 0
  }

  #refusal(message, status = 400) {
    this.refused += 1
    return Object.assign(new Error(message), { status })
  }

  #isSame(a, b) {
    return a === b || this.#jsonOf(a) === this.#jsonOf(b)
  }

  #jsonOf(message) {
    const known = this.#json.get(message) ?? JSON.stringify(message)
    this.#json.set(message, known)
    return known
  }

  #tokensIn(message) {
    const known = this.#tokens.get(message) ?? this.#counted(message)
    this.#tokens.set(message, known)
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

/** Returns why a request is invalid. */
function faultIn(messages) {
  if (messages[0]?.role !== 'user') return 'messages.0: the first message must be of the user'
  const seen = new Set()
  let open = new Set()
  for (const [at, { role, content }] of messages.entries()) {
    if (content.length === 0) return `messages.${at}: content is empty`
    const blocks = typeof content === 'string' ? [] : content
    const results = blocks.filter(({ type }) => type === 'tool_result')
    for (const { tool_use_id: id, content: shown } of results) {
      if (!open.delete(id)) return `messages.${at}: unexpected tool_use_id ${id}`
      const fault = typeof shown === 'string' ? undefined : shown.map(mediaFault).find(Boolean)
      if (fault) return `messages.${at}: ${fault}`
    }
    if (open.size > 0) return `messages.${at}: tool_use ids without tool_result: ${[...open]}`
    const uses = blocks.filter(({ type }) => type === 'tool_use')
    if (uses.length > 0 && role !== 'assistant') return `messages.${at}: tool_use of the user`
    for (const { id, input } of uses) {
      if (!/^[\w-]{1,64}$/.test(id) || seen.has(id)) return `messages.${at}: tool_use id ${id}`
      if (typeof input !== 'object' || input === null) return `messages.${at}: input must be an object`
      seen.add(id)
    }
    open = new Set(uses.map(({ id }) => id))
  }
  return open.size > 0 ? 'the last message has calls without results' : undefined
}

function mediaFault({ type, source }) {
  if (type !== 'image') return undefined
  if (source.data.length > PAYLOAD) return 'image exceeds 5 MB'
  return source.data.startsWith('iVBORw0KGgo') ? undefined : 'Could not process image'
}
