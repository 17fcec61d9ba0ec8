// Random sessions of agents, sent to a provider that counts and refuses correctly. The number of a
// session determines it.
import { applyPlan, ContextOverflowError, runWithRecovery } from 'spillway'

/** A seeded random generator: a session is the same on every machine. */
export function random(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count) => Math.floor(next() * count)
  return {
    next,
    below,
    pick: (list) => list[below(list.length)],
    /** Returns a number on a logarithmic scale: small and large ones are equally frequent. */
    scaled: (from, to) => Math.round(from * (to / from) ** next()),
  }
}

/** Chars of the longest tool result. */
const LONGEST = 5e6

/** Returns a text of each kind, as long as the longest result: runs of lines of the samples, in
 *  random order. */
export function poolOf(samples) {
  const rng = random(7)
  const pool = new Map()
  for (const [kind, ...texts] of samples) {
    const lines = texts.flatMap((text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [])
    const parts = []
    for (let chars = 0; chars < LONGEST * 1.1; ) {
      const from = rng.below(lines.length)
      const part = lines.slice(from, from + 1 + rng.below(20)).join('')
      parts.push(part.endsWith('\n') ? part : `${part}\n`)
      chars += parts.at(-1).length
    }
    // Copies the text into its own memory, like output of a process.
    pool.set(kind, Buffer.from(parts.join('')).toString())
  }
  return pool
}

const image = (rng) => 'iVBORw0KGgo'.repeat(10 + rng.below(5_000))

/** Forms of messages: of the user, of the model with its calls, and results. */
const DIALECTS = [
  {
    user: (text, data) => ({
      role: 'user',
      content: data
        ? [
            { type: 'text', text },
            { type: 'image', data, mimeType: 'image/png' },
          ]
        : text,
    }),
    model: (text, calls) => ({
      role: 'assistant',
      content: [
        { type: 'text', text },
        ...calls.map((id) => ({
          type: 'toolCall',
          id,
          name: 'bash',
          arguments: { command: `npm test ${id}` },
        })),
      ],
    }),
    results: (results) =>
      results.map(({ id, text }) => ({
        role: 'toolResult',
        toolCallId: id,
        toolName: 'bash',
        content: [{ type: 'text', text }],
        isError: false,
      })),
  },
  {
    user: (text, data) => ({
      role: 'user',
      content: data
        ? [
            { type: 'text', text },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
          ]
        : text,
    }),
    model: (text, calls) => ({
      role: 'assistant',
      content: text,
      ...(calls.length > 0 && {
        tool_calls: calls.map((id) => ({
          id,
          type: 'function',
          function: { name: 'bash', arguments: JSON.stringify({ command: `npm test ${id}` }) },
        })),
      }),
    }),
    results: (results) => results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
  },
  {
    user: (text, data) => ({
      role: 'user',
      content: data
        ? [
            { type: 'text', text },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
          ]
        : text,
    }),
    model: (text, calls) => ({
      role: 'assistant',
      content: [
        { type: 'text', text },
        ...calls.map((id) => ({ type: 'tool_use', id, name: 'bash', input: { command: `npm test ${id}` } })),
      ],
    }),
    results: (results) => [
      {
        role: 'user',
        content: results.map(({ id, text }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: [{ type: 'text', text }],
        })),
      },
    ],
  },
]

/** Tokens that the provider counts in addition to the text. */
const MESSAGE = 4
const CALL = 8
const IMAGE = 1_600

/** Wordings of an overflow, with the tokens asked for and allowed. */
export const WORDINGS = [
  (actual, limit) => `prompt is too long: ${actual} tokens > ${limit} maximum`,
  (actual, limit) =>
    `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${actual} tokens.`,
  (actual, limit) =>
    `The input token count (${actual}) exceeds the maximum number of tokens allowed (${limit}).`,
  (actual, limit) =>
    `This model's maximum prompt length is ${limit} but the request contains ${actual} tokens.`,
  (actual, limit) => `request (${actual} tokens) exceeds the available context size (${limit} tokens)`,
  (actual, limit) => `Your request exceeded model token limit: ${limit} (requested: ${actual})`,
  (_, limit) => `Requested token count exceeds the model's maximum context length of ${limit} tokens`,
  () => 'Your input exceeds the context window of this model.',
  () => 'ValidationException: Input is too long for requested model.',
  () => 'Please reduce the length of the messages or completion.',
]

/** A notice, and the mark used if no notice fits. */
const NOTICE = /\[\.\.\. [\d,]+ more characters truncated\]|\[\.\.\.\]/g

/** Yields the strings that a model reads, with the id of the call for those of results. */
function* textsOf(message) {
  const { content } = message
  if (message.role === 'toolResult') yield* content.map(({ text }) => [text, message.toolCallId])
  else if (message.role === 'tool') yield [content, message.tool_call_id]
  else {
    for (const block of typeof content === 'string' ? [{ text: content }] : content) {
      if (block.type === 'tool_result') yield* block.content.map(({ text }) => [text, block.tool_use_id])
      else if (block.text !== undefined) yield [block.text]
      else if (block.arguments ?? block.input) yield [JSON.stringify(block.arguments ?? block.input)]
    }
    for (const call of message.tool_calls ?? []) yield [call.function.arguments]
  }
}

/** Counts tokens as a provider does, images at a fixed cost. */
function counted(messages, rest, count, most = Number.POSITIVE_INFINITY) {
  let tokens = rest
  for (const message of messages) {
    if (tokens > most) break
    tokens += MESSAGE
    for (const [text] of textsOf(message)) tokens += count(text)
    const { content, tool_calls: calls = [] } = message
    for (const { type = '' } of [...(Array.isArray(content) ? content : []), ...calls])
      tokens += type.startsWith('image') ? IMAGE : type === 'text' ? 0 : CALL
  }
  return tokens
}

const resultsOf = (messages) =>
  messages.flatMap((message) =>
    [...textsOf(message)].flatMap(([text, id]) => (id === undefined ? [] : { id, text })),
  )

/** Makes a session: its history, the window of its model, and the agent's means against an
 *  overflow. */
export function sessionOf(number, pool) {
  const rng = random(number * 2_654_435_761 + 1)
  const dialect = rng.pick(DIALECTS)
  const all = [...pool.keys()]
  const kinds = Array.from({ length: 1 + rng.below(4) }, () => rng.pick(all))
  const say = (chars) => {
    const text = pool.get(rng.pick(kinds))
    const from = rng.below(Math.max(1, text.length - chars))
    const said = text.slice(from, from + chars).toWellFormed()
    // A minified file, or JSON, is one line.
    return chars < 200_000 && rng.next() < 0.05 ? said.replaceAll('\n', ' ') : said
  }
  const contextTokens = rng.scaled(4_000, 1_000_000)
  const results = rng.scaled(1, 500)
  // Most outputs are short, but the few long ones matter.
  const longest = rng.next() < 0.2 ? LONGEST : rng.scaled(100, LONGEST / 20)
  const prose = contextTokens * rng.scaled(0.01 * 100, 100) * 0.04
  const messages = [dialect.user(say(10 + rng.below(400)))]
  const turns = Math.max(1, Math.ceil(results / (1 + rng.below(6))))
  for (let id = 0, turn = 1; id < results; turn++) {
    const many = Math.min(results - id, turn === turns ? results : 1 + rng.below(8))
    const chars = Math.ceil((prose / turns) * rng.next())
    const ids = Array.from({ length: many }, () => `call_${number}_${id++}`)
    if (rng.next() < 0.2) messages.push(dialect.user(say(chars), rng.next() < 0.2 ? image(rng) : undefined))
    messages.push(dialect.model(say(Math.ceil(chars / 2)), ids))
    messages.push(...dialect.results(ids.map((id) => ({ id, text: say(rng.scaled(10, longest)) }))))
  }
  if (rng.next() < 0.2) messages.push(dialect.model(say(300), []), dialect.user(say(300)))
  return {
    messages,
    contextTokens,
    reserveTokens: rng.pick([0, 4_096, 16_384, Math.ceil(contextTokens / 10)]),
    systemPrompt: say(rng.scaled(100, contextTokens / 4)),
    // In one session of six, the agent assumes a larger window than the model has.
    limit: rng.next() < 1 / 6 ? Math.ceil(contextTokens * (0.5 + rng.next() / 2)) : contextTokens,
    wording: rng.pick(WORDINGS),
    compaction: rng.pick(['none', 'none', 'summary', 'fails', 'little']),
    storage: rng.pick(['none', 'none', 'stored', 'fails']),
    summary: say(2_000),
    dialect,
  }
}

/** Runs a session, and returns its outcome. */
export async function run(number, pool, count) {
  const session = sessionOf(number, pool)
  const { contextTokens, reserveTokens, systemPrompt, limit, wording, compaction, storage, dialect } = session
  let { messages } = session
  const rest = MESSAGE + count(systemPrompt)
  const originals = new Map(resultsOf(messages).map(({ id, text }) => [id, text]))
  const least = counted(applyPlan(messages, cutToNothing(messages)), rest, count)
  const told = { sends: 0, compactions: 0, trail: [], view: messages, tokens: 0 }
  const hooks = {
    contextTokens,
    reserveTokens,
    systemPrompt,
    messages: () => messages,
    send: async (view) => {
      told.sends += 1
      told.view = view
      told.tokens = counted(view, rest, count)
      if (told.tokens > limit) throw Object.assign(new Error(wording(told.tokens, limit)), { status: 400 })
      return 'the answer'
    },
    ...(compaction !== 'none' && {
      compact: async () => {
        told.compactions += 1
        if (compaction === 'fails') return false
        const older = Math.floor(messages.length * (compaction === 'little' ? 0.02 : 0.6))
        const first = messages.findIndex((message, at) => at >= older && resultsOf([message]).length === 0)
        if (first > 0) messages = [dialect.user(session.summary), ...messages.slice(first)]
        return first > 0
      },
    }),
    ...(storage !== 'none' && {
      truncate: async (plan) => {
        if (storage === 'stored') messages = applyPlan(messages, plan)
        return storage === 'stored'
      },
    }),
    onEvent: ({ type, estimatedTokens, reason }) => {
      told.trail.push(`${type}, ${estimatedTokens} tokens: ${reason}`)
    },
  }
  const error = await runWithRecovery(hooks).then(
    () => undefined,
    (error) => error,
  )
  if (error && !(error instanceof ContextOverflowError)) throw error
  const kept = resultsOf(told.view)
  const lengths = kept.map(({ id, text }) => [originals.get(id).length, text.length])
  return {
    number,
    answered: !error,
    /** Kept only if the session ended without an answer. */
    trail: error ? told.trail : [],
    /** True if truncation alone could have made it fit. */
    savable: least <= limit,
    overflowed: counted(session.messages, rest, count, limit) > limit,
    sends: told.sends,
    compactions: told.compactions,
    loops: told.sends > 5 || told.compactions > 3 || told.trail.length > 40,
    upsideDown: isUpsideDown(kept, originals),
    chars: lengths.reduce((sum, [before]) => sum + before, 0),
    thrown: lengths.reduce((sum, [before, after]) => sum + before - after, 0),
    fill: told.tokens / limit,
    compaction,
    storage,
    contextTokens,
    limit,
    least,
  }
}

/** Returns a plan that cuts each result to the least that any plan leaves. */
function cutToNothing(messages) {
  return messages.flatMap((message, index) =>
    resultsOf([message]).map(({ id, text }) => ({
      index,
      callId: id,
      chars: text.length,
      maxChars: Math.min(text.length, 5),
    })),
  )
}

/** Returns true if only a notice is left of the newest result, while an older and longer result is
 *  whole. */
function isUpsideDown(kept, originals) {
  const newest = kept.at(-1)
  if (!newest || newest.text === originals.get(newest.id)) return false
  if (newest.text.replace(NOTICE, '').trim() !== '') return false
  return kept.some(({ id, text }) => text.length > newest.text.length && text === originals.get(id))
}

/** Returns the figures of many runs. */
export function summary(runs) {
  const answered = runs.filter(({ answered }) => answered)
  const savable = runs.filter(({ savable }) => savable)
  const over = savable.filter(({ overflowed }) => overflowed)
  const lost = savable.filter(({ answered }) => !answered)
  const sum = (list, read) => list.reduce((total, one) => total + read(one), 0)
  const cut = answered.filter(({ thrown }) => thrown > 0)
  const fills = cut.map(({ fill }) => fill).sort((a, b) => a - b)
  return {
    sessions: runs.length,
    overflowed: runs.filter(({ overflowed }) => overflowed).length,
    savable: savable.length,
    savableOverflowed: over.length,
    saved: 1 - lost.length / Math.max(1, savable.length),
    savedOfOverflowed: 1 - lost.length / Math.max(1, over.length),
    lost: lost.map(({ number }) => number),
    upsideDown: runs.filter(({ upsideDown }) => upsideDown).map(({ number }) => number),
    loops: runs.filter(({ loops }) => loops).map(({ number }) => number),
    sends: [1, 2, 3, 4, 5].map((sends) => runs.filter((run) => run.sends === sends).length),
    sendsMean: sum(runs, ({ sends }) => sends) / Math.max(1, runs.length),
    compactions: sum(runs, ({ compactions }) => compactions),
    chars: sum(answered, ({ chars }) => chars),
    thrown: sum(answered, ({ thrown }) => thrown),
    /** Median share of the limit that a prompt fills after a cut. */
    fill: fills[fills.length >> 1] ?? 0,
  }
}

export const isMet = ({ saved, savedOfOverflowed, upsideDown, loops }) =>
  saved >= 0.995 && savedOfOverflowed >= 0.995 && upsideDown.length === 0 && loops.length === 0
