// spillway beside its peers, in one process: medians, and ratios with the target beside each.
//   npm run bench                 all rows, written to bench/RESULTS.md
//   node --expose-gc bench/run.mjs clampText    the rows whose name holds this
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import { do_not_optimize, measure } from 'mitata'
import {
  clampMessages,
  clampResult,
  clampText,
  clampTextWithReport,
  classifyProviderError,
  cleanText,
  definePolicy,
  estimateTokens,
} from 'spillway'
import { truncateHead, truncateTail } from 'spillway/pi'
import stripAnsi from 'strip-ansi'
import { captureRows } from './capture.mjs'
import { contextGrowth, contextRows } from './context.mjs'
import { findings } from './findings.mjs'
import * as pi from './node_modules/@earendil-works/pi-coding-agent/dist/core/tools/truncate.js'
import { sessionRows } from './session.mjs'
import { ascii, cjk, counted, diff, logs, mixed } from './texts.mjs'

const only = process.argv[2] ?? ''
const here = new URL('.', import.meta.url)
const require = createRequire(import.meta.url)

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

/** Rows: what is compared, the peer and ours, and how many times faster ours has to be. */
const head = definePolicy({ keep: 'head' })
const tail = definePolicy({ keep: 'tail' })
const small = ascii(1_900)
const fits = ascii(40_000)
const mega = { ASCII: ascii(1e6), CJK: cjk(1e6), 'ASCII with one wide char': mixed(1e6) }
const bytes = { ASCII: Buffer.from(mega.ASCII), CJK: Buffer.from(mega.CJK) }
const colour = diff(1e6)
const clean = { ASCII: counted('ASCII', 1e6), CJK: counted('CJK', 1e6) }
const service = logs(6e6)
const found = definePolicy({ keep: 'findings', maxChars: 8_000 })
const block = { content: [{ type: 'text', text: 'ok, 3 files changed' }] }
const blocks = { content: Array.from({ length: 10 }, (_, at) => ({ type: 'text', text: `block ${at}` })) }

const history = Array.from({ length: 1_000 }, (_, at) =>
  at % 2
    ? { role: 'assistant', content: [{ type: 'toolCall', id: `c${at}`, name: 'read', arguments: {} }] }
    : { role: 'toolResult', toolCallId: `c${at}`, content: [{ type: 'text', text: ascii(1_000 + at) }] },
)

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

const rows = [
  [
    'text under 2,000 chars that fits',
    'Pi truncateHead',
    50,
    () => pi.truncateHead(small),
    () => clampText(small),
  ],
  ['40 KB that fits', 'Pi truncateHead', 6, () => pi.truncateHead(fits), () => clampText(fits)],
  ...Object.entries({ ASCII: 120, CJK: 300, 'ASCII with one wide char': 0 }).flatMap(([kind, target]) => [
    [
      `clampText 1 MB ${kind}, head`,
      'Pi truncateHead',
      target,
      () => pi.truncateHead(mega[kind]),
      () => clampText(mega[kind], head),
    ],
    [
      `clampText 1 MB ${kind}, tail`,
      'Pi truncateTail',
      target,
      () => pi.truncateTail(mega[kind]),
      () => clampText(mega[kind], tail),
    ],
  ]),
  ...Object.entries({ ASCII: 7, CJK: 10, 'ASCII with one wide char': 0 }).map(([kind, target]) => [
    `clampTextWithReport 1 MB ${kind}`,
    'Pi truncateHead',
    target,
    () => pi.truncateHead(mega[kind]),
    () => clampTextWithReport(mega[kind], head),
  ]),
  ...Object.entries({ ASCII: 100, CJK: 400 }).map(([kind, target]) => [
    `clampText of a Uint8Array 1 MB ${kind}`,
    'toString, then Pi',
    target,
    () => pi.truncateHead(bytes[kind].toString()),
    () => clampText(bytes[kind], head),
  ]),
  [
    'spillway/pi truncateHead 1 MB ASCII',
    'Pi truncateHead',
    0,
    () => pi.truncateHead(mega.ASCII),
    () => truncateHead(mega.ASCII),
  ],
  [
    'spillway/pi truncateTail 1 MB ASCII',
    'Pi truncateTail',
    0,
    () => pi.truncateTail(mega.ASCII),
    () => truncateTail(mega.ASCII),
  ],
  [
    'spillway/pi truncateHead 2 KB that fits',
    'Pi truncateHead',
    0,
    () => pi.truncateHead(small),
    () => truncateHead(small),
  ],
  [
    "keep 'findings', 6 MB of logs to 8,000 chars",
    'plain JavaScript',
    15,
    () => findings(service, 8_000),
    () => clampText(service, found),
  ],
  [
    'clampMessages, 1,000 messages that fit',
    'summing lengths',
    0,
    () => sumOfLengths(history),
    () => clampMessages(history),
  ],
  ...contextRows(),
  ['cleanText of a colour diff, 1 MB', 'strip-ansi', 0, () => stripAnsi(colour), () => cleanText(colour)],
  ...Object.entries(clean).map(([kind, text]) => [
    `cleanText, nothing to clean, 1 MB ${kind}`,
    'strip-ansi',
    0,
    () => stripAnsi(text),
    () => cleanText(text),
  ]),
]

const lines = []
const print = (line) => {
  lines.push(line)
  console.log(line)
}
const show = (ns) =>
  ns < 1e3 ? `${ns.toFixed(0)} ns` : ns < 1e6 ? `${(ns / 1e3).toFixed(1)} us` : `${(ns / 1e6).toFixed(2)} ms`
const verdict = (met) => (met ? 'met' : '**not met**')

print('| case | beside | peer | ours | ratio | at least | |\n|---|---|--:|--:|--:|--:|---|')
for (const [name, beside, target, peer, ours] of rows.filter(([name]) => name.includes(only))) {
  const [theirs, own] = [await time(peer), await time(ours)]
  const ratio = theirs / own
  const goal = target ? `${target}x | ${verdict(ratio >= target)}` : '- | '
  print(
    `| ${name} | ${beside} | ${show(theirs)} | ${show(own)} | ${ratio < 10 ? ratio.toFixed(1) : ratio.toFixed(0)}x | ${goal} |`,
  )
}
if (only) process.exit()

print('\n| case | ours | at most | |\n|---|--:|--:|---|')
const bounded = (name, value, text, most, unit) =>
  print(`| ${name} | ${text} | ${most}${unit} | ${verdict(value <= most)} |`)
{
  const ten = ascii(1e7)
  const growth = (await time(() => clampText(ten, head))) / (await time(() => clampText(mega.ASCII, head)))
  bounded('clampText 10 MB against 1 MB', growth, `${growth.toFixed(2)} times`, 1.5, ' times')
  const one = await time(() => clampResult(block))
  bounded('clampResult, one block that fits', one, show(one), 150, ' ns')
  const all = await time(() => clampResult(blocks))
  bounded('clampResult, ten blocks that fit', all, show(all), 1_000, ' ns')
  const five = ascii(5e6)
  const result = { content: [{ type: 'text', text: five }] }
  const times = await timesOf(
    () => clampText(five),
    () => clampResult(result),
  )
  bounded(
    'clampResult, 5 MB in one block, against clampText',
    times,
    `${times.toFixed(2)} times`,
    1.5,
    ' times',
  )
  const speed = (service.length / (await time(() => clampText(service, found)))) * 1e3
  print(`| keep 'findings', 6 MB of logs | ${speed.toFixed(0)} MB/s | - | |`)
  for (const kind of ['ASCII', 'CJK']) {
    const speed = (1e6 / (await time(() => estimateTokens(mega[kind])))) * 1e3
    print(`| estimateTokens, 1 MB ${kind} | ${speed.toFixed(0)} M chars/s | - | |`)
  }
  const typical = await time(() => classifyProviderError(overflow))
  bounded('classifyProviderError, a typical error', typical / 1e3, show(typical), 200, ' us')
  const large = await time(() => classifyProviderError(echo))
  bounded('classifyProviderError, a body of 5 MB', large / 1e6, show(large), 1, ' ms')
  const kept = heapKept()
  bounded('10 MB result kept, heap after gc', kept, `${kept.toFixed(3)} MB`, 0.1, ' MB each')
  const binary = statSync(new URL('../dist/spillway.linux-x64-gnu.node', here)).size / 1e6
  bounded('binary', binary, `${binary.toFixed(2)} MB`, 1.5, ' MB')
  const load = requireTime()
  bounded("require('spillway')", load, `${load.toFixed(1)} ms`, 10, ' ms')
}

print(
  '\nGrowth, ASCII, head (cost follows the limits, not the input):\n\n| input | Pi truncateHead | clampText | clampTextWithReport |\n|---|--:|--:|--:|',
)
for (const size of [1e3, 1e4, 1e5, 1e6, 1e7, 1e8]) {
  const text = ascii(size)
  const times = []
  for (const run of [
    () => pi.truncateHead(text),
    () => clampText(text, head),
    () => clampTextWithReport(text, head),
  ])
    times.push(show(await time(run)))
  print(`| ${size >= 1e6 ? `${size / 1e6} MB` : `${size / 1e3} KB`} | ${times.join(' | ')} |`)
}

print(
  '\nGrowth of precheck (it follows the number of messages):\n\n| messages | JSON.stringify | precheck | for the first time |\n|--:|--:|--:|--:|',
)
for (const { messages, runs } of contextGrowth()) {
  const times = []
  for (const run of runs) times.push(show(await time(run)))
  print(`| ${messages.toLocaleString('en-US')} | ${times.join(' | ')} |`)
}

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
  '\nOutputCapture: a log of 1 GiB in chunks of 64 KiB. Pi without its file unless that is said; a peer that would not\nsurvive 1 GiB gets less.\n\n| capture | beside | peer, MB/s | ours, MB/s | ratio | at least | | memory added, peer | ours, at most 33.5 MB | |\n|---|---|--:|--:|--:|--:|---|--:|--:|---|',
)
for (const { name, size, peer, peerSize, target, ours, theirs } of captureRows()) {
  const ratio = ours.speed / theirs.speed
  const goal = target ? `${target}x | ${verdict(ratio >= target)}` : '- | '
  const sized = (name, size) => (size < 1024 ? `${name}, ${size} MiB` : name)
  print(
    `| ${sized(name, size)} | ${sized(peer, peerSize)} | ${theirs.speed.toFixed(0)} | ${ours.speed.toFixed(0)} | ${ratio.toFixed(1)}x | ${goal} | ${theirs.added.toFixed(0)} MB | ${ours.added.toFixed(1)} MB | ${verdict(ours.added <= 33.5)} |`,
  )
}

print(
  '\nA session of 200 MB, in which 40 results have 4 MB each.\n\n| way | ms | times cp and fsync | at most | | event loop held up, ms | at most 20 | memory added, MB | at most | |\n|---|--:|--:|--:|---|--:|---|--:|--:|---|',
)
for (const { name, ms, times, delay, added, limits } of sessionRows()) {
  const judged = (value, most) => (limits ? verdict(value <= most) : '')
  print(
    `| ${name} | ${ms.toFixed(0)} | ${times.toFixed(2)} | ${limits?.times ?? '-'} | ${judged(times, limits?.times)} | ${delay.toFixed(1)} | ${judged(delay, limits?.delay)} | ${added.toFixed(1)} | ${limits?.added ?? '-'} | ${judged(added, limits?.added)} |`,
  )
}

/** Megabytes that a kept result of a 10 MB input holds, in a process of its own; a bare slice holds all of it. */
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

/** Milliseconds that the first require takes, the median of processes of their own. */
function requireTime() {
  const script =
    "const start = performance.now(); require('spillway'); console.log(performance.now() - start)"
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
