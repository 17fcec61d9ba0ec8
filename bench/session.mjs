// A stored session of 200 MB in which 40 results of 4 MB lie among many small rows, repaired beside a copy of the file and
// a rewrite in JavaScript, each in a process of its own, so that its memory can be told.
//   node bench/session.mjs NAME     one of them, as JSON
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clampResult, repairSession } from 'spillway'
import { logs } from './texts.mjs'

const SIZE = 200e6
const OVERSIZED = 40
const LONGEST = 4e6

/** Writes the session, and returns its bytes. */
function make(path) {
  const file = openSync(path, 'w')
  let [bytes, at] = [0, 0]
  const put = (row) => {
    bytes += writeSync(file, `${JSON.stringify(row)}\n`)
  }
  const text = logs(1e6)
  const entry = (message) => ({ type: 'message', id: `${at}`, parentId: at++ ? `${at - 2}` : null, message })
  const result = (length) => ({
    role: 'toolResult',
    toolCallId: `call_${at}`,
    toolName: 'bash',
    content: [{ type: 'text', text: text.repeat(Math.ceil(length / text.length)).slice(0, length) }],
    details: { exitCode: 0 },
    isError: false,
  })
  put({ type: 'session', version: 3, id: 's', cwd: '/' })
  const each = (SIZE - OVERSIZED * LONGEST * 1.02) / OVERSIZED
  for (let block = 0; block < OVERSIZED; block++) {
    put(entry(result(LONGEST)))
    for (const end = bytes + each; bytes < end; ) {
      put(entry({ role: 'assistant', content: [{ type: 'text', text: text.slice(0, 700) }] }))
      put(entry(result(300 + (at % 40) * 200)))
    }
  }
  closeSync(file)
  return bytes
}

function synced(path) {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

const ways = {
  'cp and fsync': (path) => {
    copyFileSync(path, `${path}.copy`)
    synced(`${path}.copy`)
  },
  repairSession: (path) => repairSession(path),
  'repairSession, nothing to do': (path) => repairSession(path, { maxBytes: 1e9, maxLines: 1e9 }),
  'JSON.parse and JSON.stringify of each row': (path) => {
    const rows = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((row) => {
        const entry = JSON.parse(row)
        if (entry.message) entry.message = clampResult(entry.message, { notice: 'pi' })
        return `${JSON.stringify(entry)}\n`
      })
    writeFileSync(`${path}.new`, rows.join(''))
    synced(`${path}.new`)
  },
}

/** Runs them all, each three times by turns; medians. */
export function sessionRows() {
  const runs = Array.from({ length: 3 }, () =>
    Object.keys(ways).map((name) =>
      JSON.parse(
        execFileSync(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), name], {
          encoding: 'utf8',
        }),
      ),
    ),
  )
  const median = (numbers) => numbers.sort((a, b) => a - b)[1]
  const rows = Object.keys(ways).map((name, at) => {
    const of = (what) => median(runs.map((run) => run[at][what]))
    return { name, ms: of('ms'), delay: of('delay'), added: of('added') }
  })
  return rows.map((row) => ({ ...row, times: row.ms / rows[0].ms }))
}

const [, script, name] = process.argv
if (name in ways && script === fileURLToPath(import.meta.url)) {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-bench-'))
  try {
    const path = join(dir, 's.jsonl')
    make(path)
    synced(path)
    const small = join(dir, 'small.jsonl')
    writeFileSync(
      small,
      `${JSON.stringify({ role: 'tool', tool_call_id: 'c', content: 'x'.repeat(60_000) })}\n`,
    )
    await ways[name](small)
    // In the page cache, for all alike.
    execFileSync('cat', [path], { stdio: 'ignore' })
    gc()
    const before = process.memoryUsage.rss()
    let [most, delay] = [before, 0]
    const start = performance.now()
    let last = start
    const look = () => {
      const now = performance.now()
      delay = Math.max(delay, now - last - 1)
      last = now
      most = Math.max(most, process.memoryUsage.rss())
    }
    const watch = setInterval(look, 1)
    await ways[name](path)
    const ms = performance.now() - start
    look()
    clearInterval(watch)
    console.log(JSON.stringify({ ms, delay, added: (most - before) / 1e6 }))
  } finally {
    rmSync(dir, { recursive: true })
  }
}
