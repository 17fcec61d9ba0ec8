// Growth with the bytes of an output, of a stored session and of a saved output: 1 KB to 100 MB.
import {
  closeSync,
  copyFileSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  clampResult,
  createSpillStore,
  inspectSession,
  OutputCapture,
  repairSession,
  spillTool,
} from 'spillway'
import { createRemoteSpillStore } from 'spillway/remote'
import { OutputAccumulator } from '../node_modules/@earendil-works/pi-coding-agent/dist/core/tools/output-accumulator.js'
import { logs } from '../texts.mjs'

const CHUNK = 65_536
const PAGE = 40_000
const DECADES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8]
const log = Buffer.from(logs(1e6))
const bytes = (size) => Buffer.alloc(size, log)

function captured(options, chunk = CHUNK, each = () => {}) {
  return async (given) => {
    const capture = new OutputCapture(options)
    for (let at = 0; at < given.length; at += chunk) {
      const isFull = !capture.stdout.write(given.subarray(at, at + chunk))
      if (isFull) await new Promise((resolve) => capture.stdout.once('drain', resolve))
      each(capture)
    }
    return capture.finish()
  }
}
function byPi(given) {
  const all = new OutputAccumulator()
  // It saves what is long.
  all.tempFilePath = 'nowhere'
  for (let at = 0; at < given.length; at += CHUNK) all.append(given.subarray(at, at + CHUNK))
  all.finish()
  return all.snapshot()
}

function folder() {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-bench-'))
  return { dir, done: () => rmSync(dir, { recursive: true }) }
}
function synced(path) {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}
/** A session of Pi in which every eighth result is long. */
function session(size, long = 60_000, short = 1_000) {
  const { dir, done } = folder()
  const path = join(dir, 's.jsonl')
  const text = log.toString('latin1', 0, 1e5)
  const rows = [JSON.stringify({ type: 'session', version: 3, id: 's', cwd: '/' })]
  const entry = (at, message) =>
    rows.push(JSON.stringify({ type: 'message', id: `${at}`, parentId: at ? `${at - 1}` : null, message }))
  for (let [at, bytes] = [0, 0]; bytes < size; at += 2) {
    const call = { type: 'toolCall', id: `c${at}`, name: 'bash', arguments: { at } }
    entry(at, { role: 'assistant', content: [{ type: 'text', text: 'next' }, call] })
    const content = [{ type: 'text', text: text.slice(at % 1_000, (at % 1_000) + (at % 16 ? short : long)) }]
    entry(at + 1, { role: 'toolResult', toolCallId: `c${at}`, toolName: 'bash', content, isError: false })
    bytes += rows.at(-1).length + 300
  }
  const original = Buffer.from(`${rows.join('\n')}\n`)
  writeFileSync(path, original)
  synced(path)
  return { path, original, done }
}
function asBefore(given) {
  for (const end of ['.bak', '.bak.latest']) rmSync(`${given.path}${end}`, { force: true })
  writeFileSync(given.path, given.original)
  synced(given.path)
  return given
}
const copied = ({ path }) => {
  copyFileSync(path, `${path}.copy`)
  synced(`${path}.copy`)
}
function rewritten({ path }) {
  const rows = readFileSync(path, 'utf8').trimEnd().split('\n')
  const made = rows.map((row) => {
    const entry = JSON.parse(row)
    if (entry.message) entry.message = clampResult(entry.message, { notice: 'pi' })
    return `${JSON.stringify(entry)}\n`
  })
  writeFileSync(`${path}.new`, made.join(''))
  synced(`${path}.new`)
}
const read = { 'reading it': ({ path }) => readFileSync(path).length }
const cp = { 'cp and fsync': copied }
const byRow = { 'parse, clamp, stringify': rewritten }
const each = ({ path }) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row)).length

const unlimited = { maxFileBytes: 1e12, maxTotalBytes: 1e12 }
function fileStore(size) {
  const { dir, done } = folder()
  return { dir, done, given: bytes(size), store: createSpillStore({ dir, ...unlimited }) }
}
async function saved(size) {
  const made = fileStore(size)
  const { id, path } = await made.store.save(made.given)
  return { ...made, id, path, byte: Math.max(0, size - PAGE), line: Math.floor(size / 65) }
}
function remoteStore() {
  const items = new Map()
  const storage = {
    getItemRaw: async (key) => items.get(key),
    setItemRaw: async (key, value) => void items.set(key, Buffer.from(value)),
    removeItem: async (key) => void items.delete(key),
    getKeys: async (base = '') => [...items.keys()].filter((key) => key.startsWith(base)),
  }
  return createRemoteSpillStore({ storage, ...unlimited })
}
async function savedRemotely(size) {
  const store = remoteStore()
  const { id } = await store.save(bytes(size))
  return { store, id, given: bytes(size), byte: Math.max(0, size - PAGE) }
}
async function outputs(count) {
  const { dir, done } = folder()
  const store = createSpillStore({ dir, ...unlimited })
  let id
  for (let at = 0; at < count; at++) ({ id } = await store.save('an output\n'))
  return { store, id, done }
}
const COUNTS = [1, 10, 100, 1_000]

export const streams = {
  what: 'an output or a session',
  unit: 'B',
  sizes: DECADES,
  floor: { 'one pass': (given) => (given.given ?? given).indexOf(0) },
  drawn: [
    ['OutputCapture, by default', bytes, captured({}), { 'Pi OutputAccumulator': byPi }],
    [
      'OutputCapture, both ends',
      bytes,
      captured({ keep: 'ends', clean: false }),
      { 'Pi OutputAccumulator': byPi },
    ],
    ['repairSession', session, ({ path }) => repairSession(path), byRow, cp, asBefore],
    [
      'repairSession, nothing to do',
      (size) => session(size, 1_000),
      ({ path }) => repairSession(path),
      byRow,
      cp,
    ],
    ['inspectSession', session, ({ path }) => inspectSession(path), { 'JSON.parse, row by row': each }, read],
    [
      'createSpillStore, save',
      fileStore,
      ({ store, given }) => store.save(given),
      {},
      {
        'write and fsync': ({ dir, given }) => {
          writeFileSync(join(dir, 'x.part'), given)
          synced(join(dir, 'x.part'))
        },
      },
    ],
    ['createSpillStore, the last page', saved, ({ store, id, byte }) => store.read(id, { byte }), {}, read],
    [
      'createSpillStore, search',
      saved,
      ({ store, id }) => store.search(id, 'nowhere'),
      {
        'read and includes': ({ path }) =>
          readFileSync(path, 'utf8')
            .split('\n')
            .filter((line) => line.includes('nowhere')),
      },
      read,
    ],
    [
      'createRemoteSpillStore, save',
      bytes,
      (given) => remoteStore().save(given),
      {},
      { 'a copy': (given) => Buffer.from(given) },
    ],
  ],
  listed: [
    ["OutputCapture, 'separate'", bytes, captured({ streams: 'separate' })],
    ['OutputCapture, with a query', bytes, captured({ keep: 'auto', query: 'connection refused items' })],
    ['OutputCapture, chunks of 64 bytes', bytes, captured({}, 64)],
    ['OutputCapture, all of it kept', bytes, captured({ maxBytes: Infinity, maxLines: Infinity })],
    ['OutputCapture, lines of a char', (size) => Buffer.alloc(size, 'y\n'), captured({ clean: false })],
    ['OutputCapture, a progress display', (size) => Buffer.alloc(size, '\r 12% of 100\x1b[K'), captured({})],
    ['OutputCapture, a snapshot a chunk', bytes, captured({}, CHUNK, (capture) => capture.snapshot())],
    [
      'repairSession, aggregate',
      session,
      ({ path }) => repairSession(path, { aggregate: { maxChars: 1e5 }, dryRun: true }),
      {},
      cp,
    ],
    [
      'repairSession, many small rows',
      (size) => session(size, 50, 50),
      ({ path }) => repairSession(path, { aggregate: { maxChars: 1e4 }, dryRun: true }),
      {},
      cp,
    ],
    [
      'createSpillStore, the last page by line',
      saved,
      ({ store, id, line }) => store.read(id, { line }),
      {},
      read,
    ],
    [
      'createSpillStore, search by expression',
      saved,
      ({ store, id }) => store.search(id, 'no[a-z]+re', { regex: true }),
      {},
      read,
    ],
    [
      'spillTool, the last page',
      async (size) => ({ ...(await saved(size)), size }),
      ({ store, id, byte }) => spillTool(store).execute({ id, byte }),
      {},
      read,
    ],
    [
      'createRemoteSpillStore, the last page',
      savedRemotely,
      ({ store, id, byte }) => store.read(id, { byte }),
    ],
    ['createRemoteSpillStore, search', savedRemotely, ({ store, id }) => store.search(id, 'nowhere')],
    [
      'createSpillStore, a page among outputs',
      outputs,
      ({ store, id }) => store.read(id),
      {},
      {},
      undefined,
      COUNTS,
    ],
    ['createSpillStore, a list of outputs', outputs, ({ store }) => store.list(), {}, {}, undefined, COUNTS],
    [
      'createSpillStore, a sweep of outputs',
      outputs,
      ({ store }) => store.sweep(),
      {},
      {},
      undefined,
      COUNTS,
    ],
  ],
}
