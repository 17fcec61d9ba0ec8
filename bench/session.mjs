// A stored session of 200 MB in which 40 results of 4 MB lie among many small rows, repaired beside
// a copy of the file and a rewrite in JavaScript, each in a process of its own, so that its memory
// can be told.
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

/** The line that all results repeat; without one, they are logs. */
const LINE = process.env.LINE ?? ''
export const ERROR = 'error: request to 10.0.0.7:5432 failed: connect ECONNREFUSED 失敗\n'

/** Many sessions of 2 MB, as a folder has them: `SESSIONS=1000 npm run bench` repairs a
 *  thousand. */
export const SESSIONS = Number(process.env.SESSIONS ?? 100)
const ONE = { size: 2e6, oversized: 4, longest: 400_000 }

/** Writes a session, and returns its bytes. */
function make(path, { size, oversized, longest } = { size: SIZE, oversized: OVERSIZED, longest: LONGEST }) {
  const file = openSync(path, 'w')
  let [bytes, at] = [0, 0]
  const put = (row) => {
    bytes += writeSync(file, `${JSON.stringify(row)}\n`)
  }
  const text = LINE.repeat(1e6 / (LINE.length || 1)) || logs(1e6)
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
  const each = (size - oversized * longest * 1.02) / oversized
  for (let block = 0; block < oversized; block++) {
    put(entry(result(longest)))
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

/** Ways with many sessions, two at once: as many as the cores of a small machine. */
const inFolder = {
  'cp and fsync of each': (paths) => paths.map(ways['cp and fsync']),
  'repairSession of each': async (paths) => {
    const left = [...paths]
    const work = async () => {
      for (let path = left.pop(); path; path = left.pop()) await repairSession(path)
    }
    await Promise.all([work(), work()])
  },
}

/** Runs all ways with one session, or with many, each three times by turns; medians. `line`: the
 *  line that all results repeat. */
export function sessionRows(isMany = false, line = '') {
  const names = Object.keys(isMany ? inFolder : ways).slice(0, line === '' ? undefined : 2)
  const runs = Array.from({ length: 3 }, () =>
    names.map((name) =>
      JSON.parse(
        execFileSync(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), name], {
          encoding: 'utf8',
          env: { ...process.env, LINE: line },
        }),
      ),
    ),
  )
  const median = (numbers) => numbers.sort((a, b) => a - b)[1]
  const rows = names.map((name, at) => {
    const of = (what) => median(runs.map((run) => run[at][what]))
    return { name, ms: of('ms'), delay: of('delay'), added: of('added') }
  })
  return rows.map((row) => ({ ...row, times: row.ms / rows[0].ms }))
}

const [, script, name] = process.argv
if ((name in ways || name in inFolder) && script === fileURLToPath(import.meta.url)) {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-bench-'))
  try {
    const paths = Array.from({ length: name in ways ? 1 : SESSIONS }, (_, at) => join(dir, `${at}.jsonl`))
    for (const path of paths) {
      make(path, name in ways ? undefined : ONE)
      synced(path)
    }
    const small = join(dir, 'small.jsonl')
    writeFileSync(
      small,
      `${JSON.stringify({ role: 'tool', tool_call_id: 'c', content: 'x'.repeat(60_000) })}\n`,
    )
    const run = name in ways ? ([path]) => ways[name](path) : inFolder[name]
    await run([small])
    // In the page cache, for all alike.
    execFileSync('cat', paths, { stdio: 'ignore' })
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
    await run(paths)
    const ms = performance.now() - start
    look()
    clearInterval(watch)
    console.log(JSON.stringify({ ms, delay, added: (most - before) / 1e6 }))
  } finally {
    rmSync(dir, { recursive: true })
  }
}
