// Time of the processor for a context's `prepare` as a history grows, beside JSON.stringify of that
// history.
//   node bench/prepare.mjs
import { createContext } from 'spillway'

const REQUESTS = [200, 2_000]
/** Requests around each of these that are timed. */
const AROUND = 12

/** A call that reads a file and its result. Some are long, some files are read again. */
function round(n) {
  const path = `src/part${n % 7 === 0 ? n % 50 : n}.ts`
  const text = `${path}: a line that a model reads\n`.repeat(n % 9 === 0 ? 300 : 30)
  const input = { path, ...(n % 5 === 0 && { content: text }) }
  return [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: `Step ${n}.` },
        { type: 'tool_use', id: `call_${n}`, name: 'read', input },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `call_${n}`, content: text }] },
  ]
}

const timed = async (run) => {
  const start = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e3
}
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1]

const history = [{ role: 'user', content: 'Read all parts.' }]
const context = createContext({ contextTokens: 200_000 })
const [own, json] = [new Map(), new Map()]
for (let request = 1; request <= REQUESTS.at(-1); request++) {
  const at = REQUESTS.find((one) => request > one - AROUND && request <= one)
  const ms = at || request % 50 === 0 ? await timed(() => context.prepare(history)) : 0
  if (at) {
    own.set(at, [...(own.get(at) ?? []), ms])
    json.set(at, [...(json.get(at) ?? []), await timed(() => JSON.stringify(history))])
  }
  history.push(...round(request))
}
console.log('| request | prepare | JSON.stringify of the history |\n|--:|--:|--:|')
const figures = REQUESTS.map((at) => [at, median(own.get(at)), median(json.get(at))])
for (const [at, ms, least] of figures)
  console.log(`| ${at.toLocaleString('en')} | ${ms.toFixed(2)} ms | ${least.toFixed(2)} ms |`)
const [few, many] = figures
console.log(`\nper new message, request 2,000 beside request 200: ${(many[1] / few[1]).toFixed(1)}x`)
