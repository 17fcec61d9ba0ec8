// Repairs and inspects sessions that are larger than memory should be: `npm run soak:session`.
//   node scripts/soak/session.mjs [MB of each case, 1,074 (1 GiB) unless given]
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspectSession, repairSession } from 'spillway'

/** Resident memory that a repair may add to its longest row, in MB: 64 MiB. */
const MOST = 67.1

const small = (at) => `{"role":"tool","tool_call_id":"c${at}","content":"ok, ${at % 7} files changed"}\n`
const LINE = '2026-01-02 INFO server: GET /api/items/7 took 12 ms\\n'

/** The pieces of a session of so many bytes, the bytes of its longest row, and the number of rows
 *  over the limits. */
const cases = {
  // The row is longer than V8's longest string.
  'one row of three fifths': (bytes) => ({ pieces: oneLong(bytes), longest: bytes * 0.6, over: 1 }),
  'tiny rows': (bytes) => ({ pieces: tiny(bytes), longest: 0, over: 0 }),
  'rows of 4 MB, all over the limits': (bytes) => ({
    pieces: many(bytes),
    longest: 4e6,
    over: Math.floor(bytes / 4e6),
  }),
}

function* oneLong(bytes) {
  for (const size of [0.2, 0.6, 0.2].map((share) => bytes * share)) {
    if (size < bytes / 2) yield* tiny(size)
    else yield* long(size)
  }
}

function* tiny(bytes) {
  const block = Array.from({ length: 20_000 }, (_, at) => small(at)).join('')
  for (let written = 0; written < bytes; written += block.length) yield block
}

function* long(bytes) {
  yield '{"role":"tool","tool_call_id":"long","content":"first\\n'
  const block = LINE.repeat(2_000)
  for (let written = 0; written < bytes; written += block.length) yield block
  yield 'error: it broke in the end\\n"}\n'
}

function* many(bytes) {
  for (let count = Math.floor(bytes / 4e6); count > 0; count--) yield* long(4e6)
}

const [, , size = '1074', name] = process.argv
if (name) await one(name, Number(size) * 1e6)
else all()

/** Runs each case in a process of its own. */
function all() {
  console.log(
    `| a session of ${size} MB: | s | rows | resident memory added, MB | event loop held up, ms | |\n|---|--:|--:|--:|--:|---|`,
  )
  for (const name of Object.keys(cases)) {
    const script = fileURLToPath(import.meta.url)
    const args = ['--expose-gc', script, size, name]
    const { seconds, rows, added, delay, wrong } = JSON.parse(
      execFileSync(process.execPath, args, { encoding: 'utf8' }),
    )
    if (wrong.length > 0) process.exitCode = 1
    const verdict = wrong.length > 0 ? `**${wrong.join(', ')}**` : 'met'
    console.log(
      `| ${name} | ${seconds.toFixed(1)} | ${rows} | ${added.toFixed(1)} | ${delay.toFixed(1)} | ${verdict} |`,
    )
  }
}

async function one(name, bytes) {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-soak-'))
  try {
    const path = join(dir, 's.jsonl')
    const { pieces, longest, over } = cases[name](bytes)
    const file = openSync(path, 'w')
    for (const piece of pieces) writeSync(file, piece)
    closeSync(file)
    const before = process.memoryUsage.rss()
    let [most, delay, last] = [before, 0, performance.now()]
    const look = () => {
      const now = performance.now()
      delay = Math.max(delay, now - last - 1)
      last = now
      most = Math.max(most, process.memoryUsage.rss())
    }
    const watch = setInterval(look, 1)
    const seen = await inspectSession(path, { top: 1 })
    const start = performance.now()
    const report = await repairSession(path, { backup: false })
    const seconds = (performance.now() - start) / 1e3
    look()
    clearInterval(watch)
    const added = (most - before) / 1e6
    const again = await repairSession(path, { backup: false })
    const checks = {
      'rows were lost': report.rows === seen.rows && again.rows === seen.rows,
      'not what was over is cut': report.clamped === over && seen.oversized === over,
      'the size is wrong': statSync(path).size === report.bytesAfter,
      'it is too long': report.bytesAfter <= report.bytesBefore - over * 1e6,
      'the end is gone': over === 0 || lastOf(path).includes('"}\n'),
      'there was more to do': again.changed === false,
      'memory grew': added <= MOST + (longest * 1.05) / 1e6,
    }
    const wrong = Object.entries(checks).flatMap(([what, holds]) => (holds ? [] : what))
    console.log(JSON.stringify({ seconds, rows: seen.rows, added, delay, wrong }))
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** Returns the last bytes of a file. */
function lastOf(path) {
  const file = openSync(path, 'r')
  const buffer = Buffer.alloc(200)
  const count = readSync(file, buffer, 0, 200, statSync(path).size - 200)
  closeSync(file)
  return buffer.toString('utf8', 0, count)
}
