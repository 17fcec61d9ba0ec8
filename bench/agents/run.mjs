// Counts the tasks that a scripted agent solves under each limit, its requests and its tokens.
//   npm run bench:agents                           200 tasks; the table goes to docs/compared.md
//   node bench/agents/run.mjs --tasks 20           fewer; nothing is written
//   node bench/agents/run.mjs --only 17            one of them, with what each policy made of it
import { readFileSync, writeFileSync } from 'node:fs'
import { counter } from '../../scripts/day/run.mjs'
import { play } from './agent.mjs'
import { POLICIES } from './policies.mjs'
import { taskOf } from './tasks.mjs'

const TASKS = 200
const WINDOW = 200_000

/** Plays a task with each policy. Returns its figures by policy. */
export async function playAll(number, range) {
  const task = taskOf(number, range)
  const count = counted()
  const all = {}
  for (const [name, make] of Object.entries(POLICIES)) {
    const policy = make(task)
    all[name] = await play(task, policy, { window: WINDOW, count })
    policy.done?.()
  }
  return all
}

/** Counts each text once. A token has at least one char and, of these texts, at most eight. */
function counted() {
  const count = counter()
  const known = new Map()
  return (text) => {
    const tokens = known.get(text) ?? (text.length > 8 * WINDOW ? text.length : count(text))
    known.set(text, tokens)
    return tokens
  }
}

/** Makes the table of figures by policy, of several tasks. */
export function tableOf(runs) {
  const grouped = (number) => Math.round(number).toLocaleString('en-US')
  const kinds = [...new Set(runs.map(({ none }) => none.kind))]
  const rows = Object.keys(POLICIES).map((name) => {
    const all = runs.map((run) => run[name])
    const solved = all.filter((one) => one.solved)
    const of = (kind) => solved.filter((one) => one.kind === kind).length
    const sum = (key) => all.reduce((sum, one) => sum + one[key], 0)
    return [
      name,
      ...kinds.map(of),
      solved.length,
      all.filter(({ refused }) => refused).length,
      (sum('steps') / all.length).toFixed(1),
      grouped(sum('tokens') / Math.max(solved.length, 1)),
    ]
  })
  const each = runs.length / kinds.length
  const head = ['results', ...kinds.map((kind) => `${kind}, of ${each}`), `solved, of ${runs.length}`]
  const all = [...head, 'refused', 'requests a task', 'tokens sent, by solved task']
  return [`| ${all.join(' | ')} |`, `|---|${'--:|'.repeat(all.length - 1)}`]
    .concat(rows.map((cells) => `| ${cells.join(' | ')} |`))
    .join('\n')
}

function write(table) {
  const page = new URL('../../docs/compared.md', import.meta.url)
  const text = readFileSync(page, 'utf8')
  writeFileSync(
    page,
    text.replace(/(?<=<!-- agents -->\n)[\s\S]*(?=<!-- end of agents -->)/, () => `${table}\n`),
  )
}

async function main() {
  const option = (name) => {
    const at = process.argv.indexOf(name)
    return at < 0 ? undefined : Number(process.argv[at + 1])
  }
  const only = option('--only')
  if (only !== undefined) return console.table(await playAll(only))
  const count = option('--tasks') ?? TASKS
  const runs = []
  for (let number = 0; number < count; number++) runs.push(await playAll(number))
  const table = tableOf(runs)
  console.log(table)
  if (count === TASKS) write(table)
}

if (process.argv[1] === new URL(import.meta.url).pathname) await main()
