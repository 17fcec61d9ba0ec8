// Inspects and mends hostile files, and compares the time with that of a clean file of the same
// size, in seconds of the processor: `npm run soak:damage`.
//   node scripts/soak/damage.mjs [MB of each case, 50 unless given]
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspectSession, repairSession } from 'spillway'
import { secondsOf, untilMet } from './measure.mjs'

/** Times that of a clean session which a hostile one may take. */
const MOST = 3

const header = '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}\n'
const row = (at) =>
  `{"type":"message","id":"m${at}","parentId":${at === 0 ? 'null' : `"m${at - 1}"`},"message":{"role":"user","content":"line ${at} of a session, with some words"}}`

/** Repeats parts, each by its number, after a start and before an end. */
const shape = (part, { start = header, end = '\n' } = {}) => ({ start, part, end })
const always = (text) => shape(() => text)

const clean = shape((at) => `${row(at)}\n`, { end: '' })
const shapes = {
  'rows glued': shape(row),
  'NUL bytes between rows': shape((at) => `${row(at)}\0`),
  'rows and fragments glued': shape((at) => `${row(at)}x`),
  'torn rows glued': shape((at) => row(at).slice(0, 30 + (at % 90))),
  'torn rows, a line each': shape((at) => `${row(at).slice(0, 30 + (at % 90))}\n`),
  'torn rows that go on in the next': always('{"a":[{"b":1},\n'),
  'openings of objects': always('x{"'),
  'objects that fail in a string': always('{",":'),
  brackets: always('['),
  'closing brackets': always('}]'),
  quotes: always('"'),
  escapes: always('\\n{\\"'),
  backslashes: always('\\'),
  'blank lines at the start': shape(() => '\n', { start: '', end: header + row(0) }),
  'blank lines after a torn row': shape(() => ' \n', { start: `${header}{"a":"`, end: '' }),
  'a string of raw newlines': shape(() => '\n', { start: `${header}{"a":"`, end: '"}\n' }),
  'a value with a key for every few bytes': shape((at) => `"k${at}":1,`, {
    start: `${header}{`,
    end: '"z":1}x\n',
  }),
  'deep nesting': always('{"a":['),
  'chars that are not whole': always('{"a":"\u00e9'),
}

/** Elements of a list, which is a document: it is held against a whole list. */
const element = (at) =>
  `${at === 0 ? '' : ','}{"role":"user","content":"line ${at} of a session, with some words"}`
const list = shape(element, { start: '[', end: ']' })
const lists = {
  'a list cut off': shape(element, { start: '[', end: ',{"role":"us' }),
  'a list with NUL bytes': shape(element, { start: '[', end: '\0'.repeat(1e5) }),
  'a list with the tail of another': shape(element, { start: '[', end: '] "}]' }),
}

const bytes = Number(process.argv[2] ?? '50') * 1e6
const dir = mkdtempSync(join(tmpdir(), 'spillway-soak-'))
try {
  await measure(clean)
  console.log(`| ${bytes / 1e6} MB of | s | times a clean file | |\n|---|--:|--:|---|`)
  await compare(shapes, clean)
  await compare(lists, list)
} finally {
  rmSync(dir, { recursive: true })
}

async function compare(shapes, clean) {
  const before = await measure(clean)
  // The slower of two runs.
  const base = Math.max(before, await measure(clean))
  const isMet = (seconds) => seconds <= base * MOST
  for (const [name, own] of Object.entries(shapes)) {
    const seconds = await untilMet(() => measure(own), isMet)
    if (!isMet(seconds)) process.exitCode = 1
    console.log(
      `| ${name} | ${seconds.toFixed(2)} | ${(seconds / base).toFixed(1)} | ${isMet(seconds) ? 'met' : '**not met**'} |`,
    )
  }
}

/** Returns the seconds of the processor that a file takes to be inspected and mended. */
async function measure({ start, part, end }) {
  const path = join(dir, 's.jsonl')
  const file = openSync(path, 'w')
  let written = writeSync(file, start)
  for (let at = 0; written < bytes; ) {
    const block = []
    for (let length = 0; length < 1e6; at++) length += block[block.push(part(at)) - 1].length
    written += writeSync(file, block.join(''))
  }
  writeSync(file, end)
  closeSync(file)
  const seconds = await secondsOf(async () => {
    await inspectSession(path)
    await repairSession(path, { damaged: 'mend', pairs: true, backup: false })
  })
  rmSync(`${path}.damaged`, { force: true })
  return seconds
}
