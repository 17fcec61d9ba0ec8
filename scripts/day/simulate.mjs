// A day of agents: 200 to 2,000 calls each, against a strict stub of a provider.
//   npm run simulate                     6 agents of each kind; the figures go to docs/context.md
//   node scripts/day/simulate.mjs --agents 1000     more; written with --write only
//   node scripts/day/simulate.mjs --from 500        others
//   node scripts/day/simulate.mjs --kind returning  one kind
//   node scripts/day/simulate.mjs --check           fails if a figure is worse than docs/context.md promises
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { KINDS } from './agent.mjs'
import { compare } from './run.mjs'

const option = (name) => {
  const at = process.argv.indexOf(name)
  return at < 0 ? undefined : process.argv[at + 1]
}
const agents = Number(option('--agents') ?? 6)
const from = Number(option('--from') ?? 1)
const folder = new URL('../../bench/corpus/held-out/', import.meta.url)
const lines = readdirSync(folder)
  .filter((name) => /^(go|java|sql|french|english|emoji|japanese)/.test(name))
  .flatMap((name) =>
    readFileSync(new URL(name, folder), 'utf8')
      .split('\n')
      .filter((line) => line.length > 8 && line.length < 200)
      .map((line) => `${line.toWellFormed()}\n`),
  )
const numbers = Array.from({ length: agents }, (_, at) => from + at)
const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : '')
const ratio = (share) => (Number.isFinite(share) ? share.toFixed(2) : '')

const head = [
  '',
  'failed for good',
  'price, median',
  'price, worst',
  'refusals a day, told right',
  'told wrong',
  'missed',
  'not named',
  'prefix kept',
]
const tables = []
/** Figures that must not get worse, of the policies that are ours. */
const isMet = ({ name, failed, median, worst, refusedRight, refusedWrong, unnamed, kept }) =>
  !name.startsWith('createContext') ||
  (failed + refusedRight + unnamed === 0 &&
    refusedWrong <= 1 &&
    median <= 0.85 &&
    worst <= 1.05 &&
    kept >= 0.9)
let met = true
for (const kind of option('--kind')?.split(',') ?? Object.keys(KINDS)) {
  const say = (number, { window, told, turns }, runs) => {
    if (!process.argv.includes('--each')) return
    console.error(
      number,
      window,
      told,
      turns.length,
      [...runs]
        .map(([name, one]) => `${name}: ${Math.round(one.price)}${one.failed ? ` (${one.why})` : ''}`)
        .join(', '),
    )
  }
  const made = await compare(numbers, kind, lines, option('--only')?.split(';'), say)
  met &&= made.every(isMet)
  const rows = made.map((row) => [
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
if (process.argv.includes('--check') && !met) process.exitCode = 1
