// spillway beside a peer and beside the floor of the same work, in one process: medians and their
// ratios. A floor is a copy of the text that is kept, or one pass over the input: no code does the
// work for less.
//   npm run bench                 all rows, written to bench/RESULTS.md
//   npm run bench -- --quick      the search by default, told of a failure and with a question, in a minute
//   node --expose-gc bench/run.mjs clampText    the rows whose name holds this
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { do_not_optimize, measure } from 'mitata'
import {
  clampJson,
  clampMessages,
  clampResult,
  clampText,
  clampTextWithReport,
  classifyProviderError,
  cleanText,
  definePolicy,
  estimateTokens,
  redactText,
} from 'spillway'
import { truncateHead, truncateTail } from 'spillway/pi'
import stripAnsi from 'strip-ansi'
import formats from '../src/redact/formats.json' with { type: 'json' }
import { captureRows, passSpeed } from './capture.mjs'
import { contextRows } from './context.mjs'
import { findings } from './findings.mjs'
import { pointsOf } from './growth/points.mjs'
import { grep, textOf } from './kinds.mjs'
import { loopRows } from './loop.mjs'
import * as pi from './node_modules/@earendil-works/pi-coding-agent/dist/core/tools/truncate.js'
import { pairRows } from './pairs.mjs'
import { QUESTION, searchRows } from './search.mjs'
import { ERROR, SESSIONS, sessionRows } from './session.mjs'
import { ascii, cjk, counted, diff, logs, mixed } from './texts.mjs'

const only = process.argv[2] ?? ''
const here = new URL('.', import.meta.url)
const require = createRequire(import.meta.url)

/** Rows whose objects decide what the collector does: each is measured in a process of its own. */
const apart = [
  {
    name: 'clampMessages, 1,000 messages that fit',
    input: () => history(),
    ours: (messages) => clampMessages(messages),
    floor: ['lengths', sumOfLengths],
  },
  {
    name: 'clampResult, 40,000 blocks at a limit of 0',
    input: () => ({
      content: Array.from({ length: 40_000 }, (_, at) => ({ type: 'text', text: `a line of output ${at}` })),
    }),
    ours: (result) => clampResult(result, { maxChars: 0 }),
    peer: ['JSON.stringify', (result) => JSON.stringify(result)],
    floor: ['lengths', ({ content }) => content.reduce((sum, { text }) => sum + text.length, 0)],
  },
  ...contextRows(),
  ...pairRows(),
]
/** Nanoseconds of the three lines of such a row, as `{ own, theirs, least }`. */
function timesApart(row) {
  const args = ['--expose-gc', fileURLToPath(import.meta.url), `=${apart.indexOf(row)}`]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}
if (only.startsWith('=')) {
  const { input, fresh, ours, peer, floor } = apart[only.slice(1)]
  const lines = { own: ours, ...(peer && { theirs: peer[1] }), least: floor[1] }
  const points = await pointsOf({ sizes: [1], input, fresh, lines, spent: 1_000 })
  const ns = Object.entries(points).map(([line, [[, ms]]]) => [line, ms * 1e6])
  console.log(JSON.stringify(Object.fromEntries(ns)))
  process.exit()
}

if (only === '--quick') {
  for (const row of searchRows()) console.log(row)
  process.exit()
}

/** Median nanoseconds of a call, the collector run before each batch. */
async function time(run) {
  // Warm: what is timed is the code that an agent runs all day, not its compilation.
  for (const end = performance.now() + 150; performance.now() < end; ) do_not_optimize(run())
  const { p50 } = await measure(() => do_not_optimize(run()), {
    inner_gc: true,
    min_cpu_time: 3e8,
    batch_samples: 512,
  })
  return p50
}

const head = definePolicy({ keep: 'head' })
const tail = definePolicy({ keep: 'tail' })
const [log, source] = [logs(5e6), textOf('TypeScript sources', 5e6)]
const small = ascii(1_900)
const fits = ascii(40_000)
const mega = { ASCII: ascii(1e6), CJK: cjk(1e6), 'ASCII with one wide char': mixed(1e6) }
const bytes = { ASCII: Buffer.from(mega.ASCII), CJK: Buffer.from(mega.CJK) }
const colour = diff(1e6)
/** The starts of secrets, as plain JavaScript would look for it. */
const SECRETS = new RegExp(
  formats
    .flatMap(({ anchors }) => anchors)
    .map((anchor) => anchor.replace(/[^\w]/g, '\\$&'))
    .join('|'),
)

const clean = { ASCII: counted('ASCII', 1e6), CJK: counted('CJK', 1e6) }
const service = logs(6e6)
const found = definePolicy({ keep: 'findings', maxChars: 8_000 })
const block = { content: [{ type: 'text', text: 'ok, 3 files changed' }] }
const blocks = { content: Array.from({ length: 10 }, (_, at) => ({ type: 'text', text: `block ${at}` })) }

function history() {
  return Array.from({ length: 1_000 }, (_, at) =>
    at % 2
      ? { role: 'assistant', content: [{ type: 'toolCall', id: `c${at}`, name: 'read', arguments: {} }] }
      : { role: 'toolResult', toolCallId: `c${at}`, content: [{ type: 'text', text: ascii(1_000 + at) }] },
  )
}

/** The least that anyone would do: the lengths of all texts. */
function sumOfLengths(messages) {
  let sum = 0
  for (const { role, content } of messages)
    if (role === 'toolResult')
      for (const block of content) if (block.type === 'text') sum += block.text.length
  return sum
}

/** Medians of five runs each, by turns: the machine is as busy for both. */
async function timesOf(first, second) {
  const runs = []
  for (let run = 0; run < 5; run++) runs.push([await time(first), await time(second)])
  const median = (at) => runs.map((run) => run[at]).sort((a, b) => a - b)[2]
  return median(1) / median(0)
}

const refused = 'prompt is too long: 213462 tokens > 200000 maximum'
const overflow = Object.assign(new Error(`400 ${JSON.stringify({ error: { message: refused } })}`), {
  status: 400,
})
const echo = { status: 400, message: `{"error":{"message":"${refused}"},"request":"${ascii(5e6)}"}` }

/** A screenshot in a text, and the way to find it by hand. */
const payload = `Saved: ${Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d4948445200000500000002d00806', 'hex'), Buffer.alloc(750_000)]).toString('base64')}\n`
const PAYLOAD = /(?:data:[^,]{1,200};base64,)?[\w+/-]{4096,}={0,2}/g
const noMedia = definePolicy({ maxBytes: Infinity, maxLines: Infinity, media: { maxItems: 0 } })

/** Data of rows with short values. */
const short = {
  rows: Array.from({ length: 30_000 }, (_, id) => ({
    id,
    state: id === 7 ? 'failed' : 'done',
    note: 'a few words',
  })),
}
/** JSON of rows, and what a program writes by hand for it: the first and the last rows, fewer until
 *  they fit. */
const table = JSON.stringify(
  Array.from({ length: 80_000 }, (_, id) => ({
    id,
    name: `row ${id}`,
    state: id % 97 ? 'ok' : 'failed',
    notes: ascii(60),
  })),
)
function halved(json) {
  const rows = JSON.parse(json)
  for (let kept = rows.length; ; kept >>= 1) {
    const some = JSON.stringify([...rows.slice(0, kept >> 1), ...rows.slice(-(kept >> 1))])
    if (some.length <= KEPT || kept === 0) return some
  }
}

/** Floors: a copy of `chars` of a text, and one pass over it. */
const KEPT = 51_200
const copy = (text, chars = KEPT) => ['a copy', () => Buffer.from(text.slice(0, chars), 'utf16le')]
const pass = (text) => ['a pass', () => Buffer.byteLength(text)]

/** Rows: ours, the peer if there is one, and the floor. */
const rows = [
  {
    name: '5 MB of log, defaults',
    ours: () => clampText(log),
    peer: ['split, one RegExp', () => grep(log)],
    floor: pass(log),
  },
  {
    name: '5 MB of log, defaults, told of a failure',
    ours: () => clampText(log, { isError: true }),
    peer: ['split, one RegExp', () => grep(log)],
    floor: pass(log),
  },
  {
    name: '5 MB of source, with the question',
    ours: () => clampText(source, { query: QUESTION }),
    peer: ['split, one RegExp', () => grep(source)],
    floor: pass(source),
  },
  {
    name: 'text under 2,000 chars that fits',
    ours: () => clampText(small),
    peer: ['Pi truncateHead', () => pi.truncateHead(small)],
    floor: pass(small),
  },
  {
    name: '40 KB that fits',
    ours: () => clampText(fits),
    peer: ['Pi truncateHead', () => pi.truncateHead(fits)],
    floor: pass(fits),
  },
  ...Object.entries(mega).flatMap(([kind, text]) => [
    {
      name: `clampText 1 MB ${kind}, head`,
      ours: () => clampText(text, head),
      peer: ['Pi truncateHead', () => pi.truncateHead(text)],
      floor: copy(text),
    },
    {
      name: `clampText 1 MB ${kind}, tail`,
      ours: () => clampText(text, tail),
      peer: ['Pi truncateTail', () => pi.truncateTail(text)],
      floor: copy(text),
    },
    {
      name: `clampTextWithReport 1 MB ${kind}`,
      ours: () => clampTextWithReport(text, head),
      peer: ['Pi truncateHead', () => pi.truncateHead(text)],
      floor: pass(text),
    },
  ]),
  ...Object.entries(bytes).map(([kind, text]) => ({
    name: `clampText of a Uint8Array 1 MB ${kind}`,
    ours: () => clampText(text, head),
    peer: ['toString, then Pi', () => pi.truncateHead(text.toString())],
    floor: ['a copy', () => text.toString('utf8', 0, KEPT)],
  })),
  {
    name: 'spillway/pi truncateHead 1 MB ASCII',
    ours: () => truncateHead(mega.ASCII),
    peer: ['Pi truncateHead', () => pi.truncateHead(mega.ASCII)],
    floor: pass(mega.ASCII),
  },
  {
    name: 'spillway/pi truncateTail 1 MB ASCII',
    ours: () => truncateTail(mega.ASCII),
    peer: ['Pi truncateTail', () => pi.truncateTail(mega.ASCII)],
    floor: pass(mega.ASCII),
  },
  {
    name: 'spillway/pi truncateHead 2 KB that fits',
    ours: () => truncateHead(small),
    peer: ['Pi truncateHead', () => pi.truncateHead(small)],
    floor: pass(small),
  },
  {
    name: "keep 'findings', 6 MB of logs to 8,000 chars",
    ours: () => clampText(service, found),
    peer: ['plain JavaScript', () => findings(service, 8_000)],
    floor: pass(service),
  },
  {
    name: 'clampResult, one block that fits',
    ours: () => clampResult(block),
    floor: pass(block.content[0].text),
  },
  {
    name: 'clampResult, ten blocks that fit',
    ours: () => clampResult(blocks),
    floor: ['a pass', () => blocks.content.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)],
  },
  ...apart,
  {
    name: 'cleanText of a colour diff, 1 MB',
    ours: () => cleanText(colour),
    peer: ['strip-ansi', () => stripAnsi(colour)],
    floor: pass(colour),
  },
  ...Object.entries(clean).map(([kind, text]) => ({
    name: `cleanText, nothing to clean, 1 MB ${kind}`,
    ours: () => cleanText(text),
    peer: ['strip-ansi', () => stripAnsi(text)],
    floor: pass(text),
  })),
  ...['ASCII', 'CJK'].map((kind) => ({
    name: `redactText, no secret, 1 MB ${kind}`,
    ours: () => redactText(clean[kind]),
    peer: ['one RegExp of the same texts', () => SECRETS.test(clean[kind])],
    floor: pass(clean[kind]),
  })),
  {
    name: 'clampResult, data of 30,000 rows',
    ours: () => clampResult(short),
    peer: ['parse, halve, stringify', () => halved(JSON.stringify(short.rows))],
    floor: ['JSON.stringify and JSON.parse', () => JSON.parse(JSON.stringify(short))],
  },
  {
    name: 'clampJson, 10 MB of rows',
    ours: () => clampJson(table, head),
    peer: ['parse, halve, stringify', () => halved(table)],
    floor: ['JSON.parse', () => JSON.parse(table)],
  },
  ...Object.entries({ 'no payload': clean.ASCII, 'a payload': payload }).map(([kind, text]) => ({
    name: `clampResult with media, 1 MB, ${kind}`,
    ours: () => clampResult(text, noMedia),
    peer: ['one RegExp', () => text.replace(PAYLOAD, '')],
    floor: pass(text),
  })),
  ...['ASCII', 'CJK'].map((kind) => ({
    name: `estimateTokens, 1 MB ${kind}`,
    ours: () => estimateTokens(mega[kind]),
    floor: pass(mega[kind]),
  })),
  {
    name: 'classifyProviderError, a typical error',
    ours: () => classifyProviderError(overflow),
    floor: pass(overflow.message),
  },
  {
    name: 'classifyProviderError, a body of 5 MB',
    ours: () => classifyProviderError(echo),
    floor: pass(echo.message),
  },
]

const lines = []
const print = (line) => {
  lines.push(line)
  console.log(line)
}
const show = (ns) =>
  ns < 1e3 ? `${ns.toFixed(0)} ns` : ns < 1e6 ? `${(ns / 1e3).toFixed(1)} us` : `${(ns / 1e6).toFixed(2)} ms`
const ratio = (value) => `${value < 10 ? value.toFixed(1) : value.toFixed(0)}x`

print(
  '| case | ours | peer | | faster than it | floor | | times the floor |\n|---|--:|---|--:|--:|---|--:|--:|',
)
for (const row of rows.filter(({ name }) => name.includes(only))) {
  const { name, ours, peer, floor } = row
  const { own, theirs, least } = row.input
    ? timesApart(row)
    : { own: await time(ours), theirs: peer && (await time(peer[1])), least: await time(floor[1]) }
  const beside = peer ? `${peer[0]} | ${show(theirs)} | ${ratio(theirs / own)}` : '- | |'
  print(`| ${name} | ${show(own)} | ${beside} | ${floor[0]} | ${show(least)} | ${ratio(own / least)} |`)
}
if (only) process.exit()

print('\n| case | |\n|---|--:|')
{
  const ten = ascii(1e7)
  const growth = (await time(() => clampText(ten, head))) / (await time(() => clampText(mega.ASCII, head)))
  print(`| clampText 10 MB against 1 MB | ${growth.toFixed(2)} times |`)
  const five = ascii(5e6)
  const result = { content: [{ type: 'text', text: five }] }
  const times = await timesOf(
    () => clampText(five),
    () => clampResult(result),
  )
  print(`| clampResult, 5 MB in one block, against clampText | ${times.toFixed(2)} times |`)
  print(`| 10 MB result kept, heap after gc | ${heapKept().toFixed(3)} MB |`)
  const binary = statSync(new URL('../dist/spillway.node', here)).size / 1e6
  print(`| binary | ${binary.toFixed(2)} MB |`)
  const bare = "require('fs').readFileSync(require.resolve('spillway'))"
  print(`| require('spillway') in a fresh process | ${freshTime("require('spillway')").toFixed(1)} ms |`)
  print(`| reading its main file in a fresh process | ${freshTime(bare).toFixed(1)} ms |`)
}

print('\nThe search, which is what a cut is by default, on twelve kinds of text:\n')
for (const row of searchRows()) print(row)

print('\nThe event loop while threads do the long work of tools that return a promise:\n')
for await (const row of loopRows()) print(row)

print(
  '\nA tail of many lines (Pi shifts an array for each):\n\n| lines kept | Pi truncateTail | spillway/pi truncateTail |\n|--:|--:|--:|',
)
for (const maxLines of [2_000, 20_000, 100_000]) {
  const text = 'ab\n'.repeat(400_000)
  const options = { maxLines, maxBytes: 1e9 }
  const times = [
    await time(() => pi.truncateTail(text, options)),
    await time(() => truncateTail(text, options)),
  ]
  print(`| ${maxLines.toLocaleString('en-US')} | ${times.map(show).join(' | ')} |`)
}

print(
  '\nOutputCapture: a log of 1 GiB in chunks of 64 KiB. Pi without its file unless that is said; a peer that would not\nsurvive 1 GiB gets less.\n\n| capture | ours, MB/s | peer | MB/s | faster than it | memory added, ours | peer |\n|---|--:|---|--:|--:|--:|--:|',
)
for (const { name, size, peer, peerSize, ours, theirs } of captureRows()) {
  const sized = (name, size) => (size < 1024 ? `${name}, ${size} MiB` : name)
  const speeds = `${ours.speed.toFixed(0)} | ${sized(peer, peerSize)} | ${theirs.speed.toFixed(0)}`
  const added = `${ours.added.toFixed(1)} MB | ${theirs.added.toFixed(0)} MB`
  print(`| ${sized(name, size)} | ${speeds} | ${ratio(ours.speed / theirs.speed)} | ${added} |`)
}

print(`\nThe floor, one pass of memchr over the same chunks: ${passSpeed().toFixed(0)} MB/s.`)

const WAYS =
  '| way | ms | times the floor | event loop held up, ms | memory added, MB |\n|---|--:|--:|--:|--:|'
for (const [title, isMany, line] of [
  ['A session of 200 MB, in which 40 results have 4 MB each. The floor is cp and fsync.', false],
  ['The same, in which all results are one error line with CJK chars, repeated.', false, ERROR],
  [`${SESSIONS} sessions of 2 MB, in which 4 results have 400 KB each, two at once.`, true],
]) {
  print(`\n${title}\n\n${WAYS}`)
  for (const { name, ms, times, delay, added } of sessionRows(isMany, line))
    print(`| ${name} | ${ms.toFixed(0)} | ${times.toFixed(2)} | ${delay.toFixed(1)} | ${added.toFixed(1)} |`)
}

/** Megabytes that a kept result of a 10 MB input holds, in a process of its own; a bare slice holds
 *  all of it. */
function heapKept() {
  const script = `
    const { clampText } = require('spillway')
    const kept = []
    const used = () => { gc(); gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external }
    const keep = (i) => clampText(String.fromCharCode(97 + i) + 'x'.repeat(1e7))
    clampText('x'.repeat(1e6))
    const before = used()
    for (let i = 0; i < 20; i++) kept.push(keep(i))
    console.log((used() - before) / kept.length / 1e6)`
  return Number(
    execFileSync(process.execPath, ['--expose-gc', '-e', script], { cwd: here, encoding: 'utf8' }),
  )
}

/** Milliseconds that a statement takes in a fresh process, the median of nine. */
function freshTime(statement) {
  const script = `const start = performance.now(); ${statement}; console.log(performance.now() - start)`
  const times = Array.from({ length: 9 }, () =>
    Number(execFileSync(process.execPath, ['-e', script], { cwd: here, encoding: 'utf8' })),
  )
  return times.sort((a, b) => a - b)[4]
}

const { version } = JSON.parse(
  readFileSync(require.resolve('./node_modules/@earendil-works/pi-coding-agent/package.json'), 'utf8'),
)
const [cpu] = os.cpus()
const machine = `${cpu?.model ?? 'unknown processor'}, ${os.cpus().length} cores, Node ${process.versions.node}, Pi ${version}`
const title = `# Results\n\nWritten by \`npm run bench\` (mitata, medians, the collector run before every batch). Machines differ and are noisy: read\nthe ratios. ${machine}.\n\n`
writeFileSync(new URL('RESULTS.md', here), `${title}${lines.join('\n')}\n`)
