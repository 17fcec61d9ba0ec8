// Random sessions, request by request, to what a provider charges for them with and without
// clearing of old results.
//   npm run simulate                          1,000 of them; the figures go to bench/SIMULATED.md
//   node bench/clearing.mjs --sessions 50     fewer; written with --write only
import { readFileSync, writeFileSync } from 'node:fs'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { clearToolResults } from 'spillway'
import { random } from '../scripts/soak/simulation.mjs'

const PRICES = { write: 1.25, read: 0.1, input: 1 }
/** Tokens of the shortest prompt that is cached. */
const CACHED = 1_024
/** Tokens that a provider adds to a message, and to a call. */
const [MESSAGE, CALL] = [4, 8]
/** Tokens from which all but the last results are cleared. */
const TRIGGER = 50_000
const KEEP = 3
const CLEARED = '[cleared]'
const clearing = {
  trigger: { type: 'input_tokens', value: TRIGGER },
  keep: { type: 'tool_uses', value: KEEP },
  prices: PRICES,
}

const ANY = { trigger: { type: 'input_tokens', value: 0 } }

/** Ways to send a history. Each is made anew for a session, and returns the messages of a
 *  request. */
const WAYS = {
  'no clearing': () => (messages) => messages,
  'clearing at a threshold': () => {
    const cleared = new Set()
    return (messages) => {
      const sent = () => messages.map((one) => (cleared.has(one) ? blank(one) : one))
      if (tokensOf(sent()) > TRIGGER)
        for (const one of messages.filter(({ role }) => role === 'tool').slice(0, -KEEP)) cleared.add(one)
      return sent()
    }
  },
  clearToolResults: () => stateful({}),
  'the same from the first token on': () => stateful(ANY),
  "the same with dedupe: 'near'": () => stateful({ ...ANY, dedupe: 'near' }),
  'told how many requests come': () => stateful(ANY, true),
  "told, with dedupe: 'near'": () => stateful({ ...ANY, dedupe: 'near' }, true),
}

function stateful(options, isTold = false) {
  let state
  return (messages, requestsToCome) => {
    const told = isTold ? { requestsToCome } : {}
    const made = clearToolResults(messages, { ...clearing, ...options, ...told, state })
    state = made.state
    return made.messages
  }
}

const blanks = new WeakMap()
function blank(message) {
  const known = blanks.get(message) ?? { ...message, content: CLEARED }
  blanks.set(message, known)
  return known
}

const json = new WeakMap()
function jsonOf(message) {
  const known = json.get(message) ?? JSON.stringify(message)
  json.set(message, known)
  return known
}

const counted = new Map()
function tokensIn(text) {
  // Lines are counted alone, as in simulate.mjs.
  const known = counted.get(text) ?? text.split('\n').reduce((sum, line) => sum + countTokens(`${line}\n`), 0)
  counted.set(text, known)
  return known
}
/** Counts the texts of messages as the provider does, which counts neither their JSON nor ids. */
function tokensOf(messages) {
  let sum = 0
  for (const { content, tool_calls: calls = [] } of messages) {
    sum += MESSAGE + tokensIn(content)
    for (const { function: call } of calls) sum += CALL + tokensIn(call.name) + tokensIn(call.arguments)
  }
  return sum
}

/** Makes the messages of a session, in turns of one request each. */
function sessionOf(number) {
  const rng = random(number * 2_654_435_761 + 5)
  const requests = rng.scaled(5, 100)
  const longest = rng.scaled(2_000, 60_000)
  const line = () =>
    `${rng.pick(['src', 'lib', 'test'])}/${rng.below(1e6).toString(36)}: ${rng.below(1e9)} of it\n`
  const seen = []
  const textOf = () => {
    const [path, old] = seen.length > 0 && rng.next() < 0.25 ? rng.pick(seen) : []
    let text = old
    if (old === undefined) {
      const lines = Array.from({ length: Math.ceil(rng.scaled(200, longest) / 30) }, line)
      text = lines.join('')
    } else if (rng.next() < 0.4) {
      const lines = old.split('\n')
      lines[rng.below(lines.length)] = line().trim()
      text = lines.join('\n')
    }
    const name = path ?? `src/file${seen.length}.ts`
    seen.push([name, text])
    return [name, text]
  }
  const turns = [
    [
      { role: 'system', content: line().repeat(100) },
      { role: 'user', content: line().repeat(5) },
    ],
  ]
  for (let turn = 1; turn < requests; turn++) {
    const calls = Array.from({ length: 1 + rng.below(2) }, (_, at) => [`c${turn}_${at}`, ...textOf()])
    turns.push([
      {
        role: 'assistant',
        content: line().repeat(1 + rng.below(8)),
        tool_calls: calls.map(([id, path]) => ({
          id,
          type: 'function',
          function: { name: 'read', arguments: JSON.stringify({ path }) },
        })),
      },
      ...calls.map(([id, , content]) => ({ role: 'tool', tool_call_id: id, content })),
    ])
  }
  return turns
}

/** Returns what a provider charges for a session up to each request. */
function pricesOf(turns, send) {
  let [price, messages, before] = [0, [], []]
  const prices = []
  for (const [at, turn] of turns.entries()) {
    messages = [...messages, ...turn]
    const sent = send(messages, turns.length - at)
    let same = 0
    while (same < before.length && jsonOf(sent[same]) === jsonOf(before[same])) same++
    const [known, fresh] = [tokensOf(sent.slice(0, same)), tokensOf(sent.slice(same))]
    const isCached = known + fresh >= CACHED
    price += isCached ? known * PRICES.read + fresh * PRICES.write : (known + fresh) * PRICES.input
    prices.push(price)
    before = isCached ? sent : []
  }
  return prices
}

const at = process.argv.indexOf('--sessions')
const sessions = at < 0 ? 1_000 : Number(process.argv[at + 1])
const runs = []
/** Sessions by the way, in which some request makes the sum dearer than without clearing. */
const early = Object.keys(WAYS).map(() => 0)
const isDearer = (price, than) => price > than + 1e-6
for (let number = 0; number < sessions; number++) {
  counted.clear()
  const turns = sessionOf(number)
  const all = Object.values(WAYS).map((make) => pricesOf(turns, make()))
  for (const [way, prices] of all.entries())
    if (prices.some((price, at) => isDearer(price, all[0][at]))) early[way] += 1
  runs.push(all.map((prices) => prices.at(-1)))
}
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1]
const percent = (share) => `${(share * 100).toFixed(1)} %`
const total = (way) => runs.reduce((sum, prices) => sum + prices[way], 0)
/** The sessions that reach the threshold. */
const long = runs.filter((prices) => prices[1] !== prices[0])
const rows = Object.keys(WAYS).map((name, way) => [
  name,
  percent(total(way) / total(0)),
  percent(median(long.map((prices) => prices[way] / prices[0]))),
  percent(median(long.map((prices) => prices[way] / prices[1]))),
  String(runs.filter((prices) => isDearer(prices[way], prices[0])).length),
  String(early[way]),
  percent(Math.max(...runs.map((prices) => prices[way] / prices[0]))),
])
const head = [
  '',
  'price of all',
  'median, of no clearing',
  'median, of the threshold',
  'dearer than no clearing',
  'at some request',
  'the dearest',
]
const table = [
  `| ${head.join(' | ')} |`,
  '|---|--:|--:|--:|--:|--:|--:|',
  ...rows.map((row) => `| ${row.join(' | ')} |`),
].join('\n')
console.log(table)
console.log(`${long.length} of ${sessions} sessions reach the threshold`)
if (sessions === 1_000 || process.argv.includes('--write')) {
  const page = new URL('SIMULATED.md', import.meta.url)
  const text = readFileSync(page, 'utf8')
  const made = `${table}\n\n${long.length} of the ${sessions.toLocaleString('en-US')} sessions reach the threshold.\n`
  writeFileSync(
    page,
    text.replace(/(?<=<!-- clearing -->\n)[\s\S]*(?=<!-- end of clearing -->)/, () => made),
  )
}
