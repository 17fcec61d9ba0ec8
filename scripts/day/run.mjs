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

/** Runs an agent with a policy. Returns its figures. */
export async function run(agent, name, lines, count) {
  const writer = new Writer(lines)
  const provider = new Provider(agent.window, agent.prices, count)
  agent.prompt = writer.text(agent.system, 1)
  const system = { role: 'user', content: agent.prompt }
  const size = (messages) => provider.tokensOf(messages)
  // The system prompt stands before all messages, where no policy reaches it.
  const room = size([system])
  const policy = POLICIES[name]({ ...agent }, (messages) => size(messages) + room)
  const history = [{ role: 'user', content: writer.text(400, 3) }]
  const figures = { missed: 0, unnamed: 0, failed: 0, refusedByWindow: 0 }

  const request = async () => {
    for (let attempt = 1; ; attempt++) {
      const messages = await policy.prepare(history)
      try {
        provider.send([system, ...messages])
        return messages
      } catch (error) {
        if (/too long/.test(error.message)) figures.refusedByWindow += 1
        if (attempt === ATTEMPTS || !(await policy.refused(error, history))) {
          figures.failed += 1
          figures.why = error.message
          return undefined
        }
      }
    }
  }

  for (const { words, calls, needs } of agent.turns) {
    let sent = await request()
    for (const need of sent ? needs : []) {
      const whole = writer.shown(need)
      const place = placeOf(sent, need, whole)
      if (place === true) continue
      figures.missed += 1
      const id = policy.read && idOf(sent, place, whole, policy.read)
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
    history.push(writer.answer(words, calls), writer.results(calls))
  }
  const { price, requests, refused, kept, before } = provider
  return { ...figures, price, requests, refused, kept: kept / before }
}

/** Returns true if a prompt shows the result of a call, or the text in its place, undefined for
 *  none. */
function placeOf(messages, { id }, whole) {
  let place
  for (let at = messages.length - 1; at >= 0; at--)
    for (const { tool_use_id: of, content } of blocksOf(messages[at])) {
      if (content === whole) return true
      if (of === id) place = content
    }
  return place
}

/** Returns the id of a saved output that holds a result and that a text in its place names, or one
 *  that tells of omitted rounds. */
function idOf(messages, place, whole, read) {
  const texts = place === undefined ? messages.flatMap(blocksOf).map(({ content }) => content) : [place]
  const ids = texts.flatMap((text) => (typeof text === 'string' ? (text.match(ID) ?? []) : []))
  // A saved text of omitted rounds names the outputs that were saved before.
  const all = [...ids, ...ids.flatMap((id) => read(id)?.match(ID) ?? [])]
  return all.find((id) => read(id)?.includes(whole))
}

function blocksOf({ content }) {
  return typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result')
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1] ?? Number.NaN

/** Runs agents with all policies, and sums up. */
export async function compare(numbers, kind, lines, names = Object.keys(POLICIES), say = () => {}) {
  const count = counter()
  const rows = new Map(names.map((name) => [name, []]))
  for (const number of numbers) {
    const agent = agentOf(number, kind)
    for (const name of names) rows.get(name).push(await run(agent, name, lines, count))
    say(number, agent, new Map(names.map((name) => [name, rows.get(name).at(-1)])))
  }
  const told = numbers.map((number) => agentOf(number, kind)).map(({ told, window }) => told === window)
  const best = numbers.map((_, at) =>
    Math.min(
      ...HANDS.map((name) => rows.get(name)?.[at]).map((one) =>
        one && !one.failed ? one.price : Number.POSITIVE_INFINITY,
      ),
    ),
  )
  return names.map((name) => {
    const runs = rows.get(name)
    const shares = runs.flatMap((one, at) =>
      one.failed || best[at] === Number.POSITIVE_INFINITY ? [] : one.price / best[at],
    )
    const refusals = (isRight) =>
      Math.max(0, ...runs.filter((_, at) => told[at] === isRight).map((one) => one.refusedByWindow))
    const sum = (of) => runs.reduce((sum, one) => sum + of(one), 0)
    return {
      name,
      failed: sum(({ failed }) => failed),
      median: median(shares),
      worst: Math.max(...shares),
      refusedRight: refusals(true),
      refusedWrong: refusals(false),
      missed: sum(({ missed }) => missed) / sum(({ requests }) => requests),
      unnamed: sum(({ unnamed }) => unnamed),
      kept: median(runs.map(({ kept }) => kept)),
    }
  })
}
