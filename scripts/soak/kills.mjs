// Kills repairs while rows are appended, at random points and right after the exchange of names, and counts the rows that
// are lost or doubled.
//   node scripts/soak/kills.mjs [kills, 507 unless given]
import { fork } from 'node:child_process'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as soon, setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { repairSession } from 'spillway'

const script = fileURLToPath(import.meta.url)
const [, , role = '507', path = ''] = process.argv

/** A session of which every third row is too long. */
const row = (id, text) =>
  `${JSON.stringify({ type: 'message', id, message: { role: 'toolResult', toolCallId: id, content: text } })}\n`
const session = () =>
  `{"type":"session","version":3,"id":"s"}\n${Array.from({ length: 30 }, (_, at) =>
    row(`old${at}`, at % 3 ? 'short' : 'too long '.repeat(9_000)),
  ).join('')}`

const started = (child) => new Promise((resolve) => child.once('message', resolve))
const ended = (child) => new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))

if (role === 'append') append()
else if (role === 'repair') await repair()
else await soak(Number(role))

/** Appends rows as Pi does, opening the file for each, until it is told to stop. */
function append() {
  let at = 0
  const next = () => {
    appendFileSync(path, row(`new${at++}`, 'late'))
    timer = setTimeout(next, 1)
  }
  let timer = setTimeout(next, 1)
  process.once('message', () => {
    clearTimeout(timer)
    process.send(at, () => process.exit())
  })
  process.send('started')
}

async function repair() {
  process.send('started')
  await repairSession(path, { backup: false })
  process.exit()
}

async function soak(kills) {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-soak-'))
  const sum = { kills: 0, rows: 0, recovered: 0, lost: 0, doubled: 0, left: 0 }
  try {
    for (let round = 0; sum.kills < kills; round++) await one(join(dir, `${round}.jsonl`), sum)
  } finally {
    rmSync(dir, { recursive: true })
  }
  console.log(JSON.stringify(sum))
  if (sum.lost + sum.doubled + sum.left > 0) process.exitCode = 1
}

/** Waits until the new file has the session's name. Late rows have yet to be carried over then. */
async function exchanged(path, ino) {
  const end = Date.now() + 400
  while (Date.now() < end && statSync(path).ino === ino) await soon()
}

/** Runs one session. Two repairs are killed before one ends: one at any moment, one right after the exchange. */
async function one(path, sum) {
  writeFileSync(path, session())
  const appender = fork(script, ['append', path])
  await started(appender)
  for (let run = 0; run < 2; run++) {
    const { ino } = statSync(path)
    const child = fork(script, ['repair', path])
    const end = ended(child)
    await started(child)
    if (run === 0) await wait(Math.random() * 40)
    else await exchanged(path, ino)
    child.kill('SIGKILL')
    sum.kills += Number((await end) === 'SIGKILL')
    // Gives the next repair something to do.
    appendFileSync(path, row(`more${run}`, 'too long '.repeat(9_000)))
  }
  const done = started(appender)
  appender.send('stop')
  const appended = await done
  const { recovered = 0 } = await repairSession(path, { backup: false })
  const rows = readFileSync(path, 'utf8').trimEnd().split('\n').slice(1)
  const seen = new Map()
  for (const text of rows) {
    const { id } = JSON.parse(text)
    seen.set(id, (seen.get(id) ?? 0) + 1)
  }
  const expected = [
    ...Array.from({ length: 30 }, (_, at) => `old${at}`),
    ...Array.from({ length: appended }, (_, at) => `new${at}`),
    'more0',
    'more1',
  ]
  sum.rows += expected.length
  sum.recovered += recovered
  sum.lost += expected.filter((id) => !seen.has(id)).length
  sum.doubled += [...seen.values()].filter((times) => times > 1).length
  const name = path.slice(path.lastIndexOf('/') + 1)
  sum.left += readdirSync(join(path, '..')).filter((other) => other.startsWith(`${name}.`)).length
}
