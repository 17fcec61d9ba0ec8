import { agentOf, Writer } from './agent.mjs'
import { HANDS, POLICIES } from './policies.mjs'
import { Provider } from './provider.mjs'

/** Price of the answer that asks for a result again, in tokens of input. */
const ASKING = 200
const ATTEMPTS = 8
/** An id of a saved output. */
const ID = /\b[0-9a-f]{16}\b/g

/** Counts as tokenizers do, in a simple way: syllables, digits by three, runs of the rest. */
const PIECES = / ?\p{L}{1,6}|\d{1,3}|\s+(?!\p{L})|[^\s\p{L}\d]{1,4}|\s/gu
export function counter() {
  const known = new Map()
  const line = (text) => {
    const tokens = known.get(text) ?? text.match(PIECES)?.length ?? 0
    if (text.length < 400) known.set(text, tokens)
    return tokens
  }
  return (text) => {
    let sum = 0
    for (let start = 0; start < text.length; ) {
      const end = text.indexOf('\n', start) + 1 || text.length
      sum += line(text.slice(start, end))
      start = end
    }
    return sum
  }
}

/** A day of an agent: the messages of its turns are the same for all policies. */
export class Day {
  #turns

  constructor(agent, lines) {
    this.agent = agent
    this.count = counter()
    this.writer = new Writer(lines)
    agent.prompt = this.writer.text(agent.system, 1)
    this.system = { role: 'user', content: agent.prompt }
    this.question = { role: 'user', content: this.writer.text(400, 3) }
  }

  get turns() {
    const { writer } = this
    this.#turns ??= this.agent.turns.map(({ words, calls, needs }) => ({
      messages: [writer.answer(words, calls), writer.results(calls)],
      needs,
    }))
    return this.#turns
  }
}

/** Runs the day of an agent with a policy. Returns its figures. */
export async function run({ agent, writer, system, question, turns, count }, name) {
  const provider = new Provider(agent.window, agent.prices, count)
  // The system prompt stands before all messages, where no policy reaches it.
  const size = (message) => provider.tokensOf(message)
  const policy = POLICIES[name](agent, size, size(system))
  const history = [question]
  const figures = { missed: 0, unnamed: 0, failed: 0, refusedByWindow: 0 }

  const request = async () => {
    for (let attempt = 1; ; attempt++) {
      const messages = await policy.prepare(history)
      try {
        provider.send([system, ...messages])
        return messages
      } catch (error) {
        if (/too long/.test(error.message)) figures.refusedByWindow += 1
        if (attempt === ATTEMPTS || !(await policy.refused(error))) {
          figures.failed += 1
          figures.why = error.message
          return undefined
        }
      }
    }
  }

  for (const { messages, needs } of turns) {
    let sent = await request()
    for (const need of sent ? needs : []) {
      const whole = writer.shown(need)
      const place = placeOf(sent, need, whole)
      if (place === true) continue
      figures.missed += 1
      const id = policy.saved && idOf(sent, place, whole, policy.saved)
      if (id === undefined) figures.unnamed += 1
      provider.price += ASKING
      const again = {
        ...need,
        id: `again_${history.length}`,
        argument: undefined,
        ...(id !== undefined && { tool: 'read_output', input: { id }, shows: whole }),
      }
      history.push(writer.answer(40, [again]), writer.results([again]))
      sent = await request()
      if (!sent) break
    }
    if (!sent) break
    history.push(...messages)
  }
  const { price, requests, refused, kept, before } = provider
  return { ...figures, price, requests, refused, kept: kept / before }
}

/** Returns true if a prompt shows the result of a call, or the text in its place, undefined for
 *  none. */
function placeOf(messages, { id }, whole) {
  let place
  for (let at = messages.length - 1; at >= 0; at--) {
    const { content } = messages[at]
    for (const { tool_use_id: of, content: shown } of typeof content === 'string' ? [] : content) {
      if (of !== undefined && shown === whole) return true
      if (of === id) place = shown
    }
  }
  return place
}

/** Returns the id of a saved output that holds a result and that a text in its place names, or one
 *  that tells of omitted rounds. */
function idOf(messages, place, whole, saved) {
  const texts = place === undefined ? messages.flatMap(shownIn) : shownIn({ content: [{ content: place }] })
  const ids = texts.flatMap((text) => text.match(ID) ?? [])
  return [...ids, ...ids.flatMap((id) => namedIn(saved, id))].find((id) => saved.get(id)?.includes(whole))
}

/** Returns the ids in a saved text: one of omitted rounds names the outputs that were saved
 *  before. */
function namedIn(saved, id) {
  const text = saved.get(id)
  if (text === undefined) return []
  const ids = named.get(saved) ?? new Map()
  named.set(saved, ids)
  const own = ids.get(text) ?? text.match(ID) ?? []
  ids.set(text, own)
  return own
}
const named = new WeakMap()

/** Returns the texts of the results in a message. */
function shownIn({ content }) {
  const textsIn = (shown) =>
    typeof shown === 'string' ? [shown] : (shown ?? []).map(({ text }) => text ?? '')
  return typeof content === 'string' ? [] : content.flatMap(({ content }) => textsIn(content))
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1] ?? Number.NaN

/** Runs the agents of a kind with policies. Returns a row of figures for each; `known`: rows that
 *  were made before. */
export async function rowsOf(numbers, kind, lines, names, known = [], say = () => {}) {
  const rows = new Map(known.map((row) => [nameOf(row), row]))
  for (const number of numbers) {
    const missing = names.filter((name) => !rows.has(nameOf({ kind, number, name })))
    if (missing.length === 0) continue
    const agent = agentOf(number, kind)
    const day = new Day(agent, lines)
    const told = agent.told === agent.window ? 'right' : 'wrong'
    const made = []
    for (const name of missing) made.push({ kind, number, name, told, ...(await run(day, name)) })
    for (const row of made) rows.set(nameOf(row), row)
    say(agent, made)
  }
  const named = (number) => names.flatMap((name) => rows.get(nameOf({ kind, number, name })) ?? [])
  return numbers.flatMap(named)
}

function nameOf({ kind, number, name }) {
  return `${kind} ${number} ${name}`
}

/** Sums up rows by policy. Prices are shares of the better of those by hand. */
export function summed(rows, names) {
  const best = new Map()
  for (const { name, number, price, failed } of rows)
    if (HANDS.includes(name) && !failed)
      best.set(number, Math.min(price, best.get(number) ?? Number.POSITIVE_INFINITY))
  return names.map((name) => {
    const own = rows.filter((row) => row.name === name)
    const shares = own.flatMap(({ number, price, failed }) =>
      failed || !best.has(number) ? [] : price / best.get(number),
    )
    const sum = (of) => own.reduce((sum, one) => sum + of(one), 0)
    const refusals = (told) =>
      own.reduce((most, one) => (one.told === told ? Math.max(most, one.refusedByWindow) : most), 0)
    return {
      name,
      agents: own.length,
      failed: sum(({ failed }) => failed),
      median: median(shares),
      worst: shares.reduce((most, one) => Math.max(most, one), Number.NEGATIVE_INFINITY),
      refusedRight: refusals('right'),
      refusedWrong: refusals('wrong'),
      missed: sum(({ missed }) => missed) / sum(({ requests }) => requests),
      unnamed: sum(({ unnamed }) => unnamed),
      kept: median(own.map(({ kept }) => kept)),
    }
  })
}
