// A day of agents: 200 to 2,000 calls each, against a strict stub of a provider.
//   npm run simulate                     6 agents of each kind; the figures go to docs/context.md
//   node scripts/day/simulate.mjs --agents 1000     more; written with --write only
//   node scripts/day/simulate.mjs --from 500        others
//   node scripts/day/simulate.mjs --kind returning  one kind
//   node scripts/day/simulate.mjs --rows FILE       keeps the figures of each agent in a file, and goes on there
//   node scripts/day/simulate.mjs --rows FILE --part 1/2    every second agent, for two processes
//   node scripts/day/simulate.mjs --rows FILE --known       runs none, sums up the agents of the file
//   node scripts/day/simulate.mjs --check           fails if a figure is worse than docs/context.md promises
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { KINDS } from './agent.mjs'
import { POLICIES } from './policies.mjs'
import { rowsOf, summed } from './run.mjs'

const option = (name) => {
  const at = process.argv.indexOf(name)
  return at < 0 ? undefined : process.argv[at + 1]
}
const agents = Number(option('--agents') ?? 6)
const from = Number(option('--from') ?? 1)
const [part, parts] = (option('--part') ?? '1/1').split('/').map(Number)
const file = option('--rows')
const names = option('--only')?.split(';') ?? Object.keys(POLICIES)
const folder = new URL('../../bench/corpus/held-out/', import.meta.url)
const lines = readdirSync(folder)
  .filter((name) => /^(go|java|sql|french|english|emoji|japanese)/.test(name))
  .flatMap((name) =>
    readFileSync(new URL(name, folder), 'utf8')
      .split('\n')
      .filter((line) => line.length > 8 && line.length < 200)
      .map((line) => `${line.toWellFormed()}\n`),
  )
const all = Array.from({ length: agents }, (_, at) => from + at).filter(
  (number) => number % parts === part % parts,
)
const known =
  file && existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line) => (line.endsWith('}') ? JSON.parse(line) : []))
    : []
const isWhole = (kind, number) => {
  const own = known.filter((row) => row.kind === kind && row.number === number)
  return names.every((name) => own.some((row) => row.name === name))
}
const percent = (share) => (Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : '')
const ratio = (share) => (Number.isFinite(share) ? share.toFixed(2) : '')

const head = [
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
const say = ({ window, told, turns }, made) => {
  if (file) appendFileSync(file, made.map((row) => `${JSON.stringify(row)}\n`).join(''))
  if (!process.argv.includes('--each')) return
  const prices = made.map(({ name, price, failed, why }) => {
    return `${name}: ${Math.round(price)}${failed ? ` (${why})` : ''}`
  })
  console.error(made[0].number, window, told, turns.length, prices.join(', '))
}
for (const kind of option('--kind')?.split(',') ?? Object.keys(KINDS)) {
  const numbers = process.argv.includes('--known') ? all.filter((number) => isWhole(kind, number)) : all
  const made = summed(await rowsOf(numbers, kind, lines, names, known, say), names)
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
      `| ${[`${kind}, ${numbers.length.toLocaleString('en')} agents`, ...head].join(' | ')} |`,
      `|---|${'--:|'.repeat(head.length)}`,
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
