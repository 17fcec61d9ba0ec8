// A day of agents: 200 to 2,000 calls each, against a strict stub of a provider.
//   npm run simulate                     20 agents of each kind; the figures go to docs/context.md
//   node scripts/day/simulate.mjs --agents 1000     more; written with --write only
//   node scripts/day/simulate.mjs --from 500        others
//   node scripts/day/simulate.mjs --kind returning  one kind
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { KINDS } from './agent.mjs'
import { compare } from './run.mjs'

const option = (name) => {
  const at = process.argv.indexOf(name)
  return at < 0 ? undefined : process.argv[at + 1]
}
const agents = Number(option('--agents') ?? 20)
const from = Number(option('--from') ?? 1)
const folder = new URL('../../bench/corpus/held-out/', import.meta.url)
const lines = readdirSync(folder).flatMap((name) =>
  readFileSync(new URL(name, folder), 'utf8')
    .split('\n')
    .filter((line) => line.length > 8 && line.length < 200)
    .map((line) => `${line.toWellFormed()}\n`),
)
const numbers = Array.from({ length: agents }, (_, at) => from + at)
const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : '')
const ratio = (share) => (Number.isFinite(share) ? share.toFixed(2) : '')

const head = ['', 'failed for good', 'price, median', 'price, worst', 'refusals a day, told right', 'told wrong', 'missed', 'not named', 'prefix kept']
const tables = []
for (const kind of option('--kind')?.split(',') ?? Object.keys(KINDS)) {
  const say = (number, { window, told, turns }, runs) => {
    if (!process.argv.includes('--each')) return
    console.error(number, window, told, turns.length, [...runs].map(([name, one]) => `${name}: ${Math.round(one.price)}${one.failed ? ` (${one.why})` : ''}`).join(', '))
  }
  const rows = (await compare(numbers, kind, lines, option('--only')?.split(';'), say)).map((row) => [
    row.name,
    String(row.failed),
    ratio(row.median),
    ratio(row.worst),
    String(row.refusedRight),
    String(row.refusedWrong),
    percent(row.missed),
    String(row.unnamed),
    percent(row.kept),
  ])
  tables.push(
    [
      `| ${[kind, ...head.slice(1)].join(' | ')} |`,
      `|---|${'--:|'.repeat(head.length - 1)}`,
      ...rows.map((row) => `| ${row.join(' | ')} |`),
    ].join('\n'),
  )
  console.log(`${tables.at(-1)}\n`)
}
if (process.argv.includes('--write') || process.argv.length === 2) {
  const page = new URL('../../docs/context.md', import.meta.url)
  const text = readFileSync(page, 'utf8')
  writeFileSync(
    page,
    text.replace(/(?<=<!-- day -->\n)[\s\S]*(?=<!-- end of day -->)/, () => `${tables.join('\n\n')}\n`),
  )
}
