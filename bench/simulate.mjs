// Random sessions through runWithRecovery, with a provider that counts with a real tokenizer.
//   npm run simulate                          10,000 of them; the figures go to bench/SIMULATED.md
//   node bench/simulate.mjs --sessions 500    fewer; nothing is written
//   node bench/simulate.mjs --only 17         one of them, in full
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { isMet, poolOf, run, summary } from '../scripts/soak/simulation.mjs'
import { corpus } from './corpus.mjs'

/** Texts that never change, so that a session stays what it is: no files of the project. */
const MOVING = ['Markdown', 'TypeScript', 'JavaScript', 'Rust', 'JSON']
const samples = corpus.filter(([kind]) => !MOVING.includes(kind))

const tokens = (text) => countTokens(text, { disallowedSpecial: new Set() })

/** Lines are counted once: none of the tokenizer's words goes over a line end unless white space or
 *  a slash follows. */
const known = new Map()
function count(text) {
  let sum = 0
  for (let start = 0; start < text.length; ) {
    let end = text.indexOf('\n', start) + 1
    while (end > 0 && /[\s/]/.test(text.charAt(end))) end = text.indexOf('\n', end) + 1
    const line = text.slice(start, end || text.length)
    let counted = known.get(line)
    if (counted === undefined) {
      counted = tokens(line)
      if (known.size > 500_000) known.clear()
      known.set(line.length < 100_000 ? Buffer.from(line).toString() : line, counted)
    }
    sum += counted
    start += line.length
  }
  return sum
}

function checkCount(pool) {
  for (const [kind, text] of pool) {
    const sample = text.slice(4_321, 34_321).toWellFormed()
    if (count(sample) !== tokens(sample))
      throw new Error(`${kind} is counted ${count(sample)}, not ${tokens(sample)}`)
  }
}

const option = (name) => {
  const at = process.argv.indexOf(name)
  return at < 0 ? undefined : Number(process.argv[at + 1])
}

if (!isMainThread) {
  const pool = poolOf(samples)
  parentPort.on('message', async (number) => parentPort.postMessage(await run(number, pool, count)))
} else if (option('--only') !== undefined) {
  const pool = poolOf(samples)
  checkCount(pool)
  console.log(await run(option('--only'), pool, count))
} else await main(option('--sessions') ?? 10_000)

async function main(sessions) {
  const start = performance.now()
  checkCount(poolOf(samples))
  const runs = []
  let next = 0
  const work = () =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url))
      const more = () => {
        if (next < sessions) worker.postMessage(next++)
        else resolve(worker.terminate())
      }
      worker.on('error', reject)
      worker.on('message', (run) => {
        runs.push(run)
        if (runs.length % 1_000 === 0) console.error(`${runs.length} of ${sessions}`)
        more()
      })
      more()
    })
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  const figures = summary(runs)
  const table = tableOf(figures)
  console.log(table)
  console.log(`\n${((performance.now() - start) / 1e3).toFixed(0)} s`)
  for (const name of ['lost', 'upsideDown', 'loops'])
    if (figures[name].length > 0) console.log(`${name}: ${figures[name].slice(0, 20).join(', ')}`)
  if (sessions === 10_000) write(table)
  process.exitCode = isMet(figures) ? 0 : 1
}

function tableOf(figures) {
  const { sessions, sends, chars, thrown, fill } = figures
  const grouped = (number) => number.toLocaleString('en-US')
  const percent = (share) => `${(share * 100).toFixed(2)} %`
  const rows = [
    ['sessions', grouped(sessions), ''],
    ['larger than what their model takes', grouped(figures.overflowed), ''],
    ['of those, such that truncation alone can save', grouped(figures.savableOverflowed), ''],
    ['of the last, ended with an answer', percent(figures.savedOfOverflowed), 'at least 99.5 %'],
    ['of all that fit or can be saved, ended with an answer', percent(figures.saved), 'at least 99.5 %'],
    ['the newest result a bare notice, an older one whole', grouped(figures.upsideDown.length), '0'],
    ['loops', grouped(figures.loops.length), '0'],
    ['sends: 1, 2, 3, 4, 5', sends.map(grouped).join(', '), ''],
    ['sends a run', figures.sendsMean.toFixed(3), ''],
    ['compactions', grouped(figures.compactions), ''],
    ['chars of tool results, of runs with an answer', grouped(chars), ''],
    ['of those thrown away', `${grouped(thrown)} (${percent(thrown / Math.max(1, chars))})`, ''],
    ['sent after a cut, of what the model takes, median', percent(fill), ''],
  ]
  return ['| | | |', '|---|--:|---|', ...rows.map((cells) => `| ${cells.join(' | ')} |`)].join('\n')
}

function write(table) {
  const page = new URL('SIMULATED.md', import.meta.url)
  const text = readFileSync(page, 'utf8')
  writeFileSync(
    page,
    text.replace(/(?<=<!-- table -->\n)[\s\S]*(?=<!-- end -->)/, () => `${table}\n`),
  )
}
