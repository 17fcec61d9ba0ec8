// Shows what a model reads of the output of four tools: after a plain cut, and after spillway's, to
// one limit. Then a session that no model accepts any more, repaired. The outputs are made here;
// every mark is computed from the texts.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { createSpillStore, OutputCapture, precheck, repairSession, spillTool, wrapTool } from 'spillway'

const LIMIT = { maxChars: 4_000, maxBytes: Infinity, maxLines: Infinity }
const WINDOW = 200_000
const WIDTH = Math.min(process.stdout.columns || 110, 120) - 14

const { FORCE_COLOR, NO_COLOR } = process.env
const isColoured = FORCE_COLOR ? FORCE_COLOR !== '0' : process.stdout.isTTY && !NO_COLOR
const paint = (code) => (text) => (isColoured ? `\x1b[${code}m${text}\x1b[0m` : text)
const [bold, dim, red, green, yellow] = [1, 2, 31, 32, 33].map(paint)
const grouped = (number) => number.toLocaleString('en-US')
const repeat = (count, line) => Array.from({ length: count }, (_, at) => line(at + 1)).join('\n')

/** A line as a screen can show it: one row, no control characters, halves of surrogate pairs
 *  told. */
function short(line) {
  const points = [...line.replaceAll('\x1b', '\\e')].map((point) =>
    /\p{Surrogate}/u.test(point) ? `\\u${point.charCodeAt(0).toString(16)}` : point,
  )
  return points.length > WIDTH ? `${points.slice(0, WIDTH - 1).join('')}…` : points.join('')
}

let isBroken = false
const must = (isTrue) => {
  if (!isTrue) isBroken = true
  return isTrue
}

/** Prints what a cut leaves around the decisive line, or its last line if that is lost. */
function show(name, text, decisive, isKept) {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('[tool output'))
  const at = lines.findIndex((line) => line.includes(decisive))
  const shown = at < 0 ? lines.slice(-2) : lines.slice(Math.max(0, at - 1), at + 2)
  const [first, ...rest] = shown.map((line) => {
    const isDecisive = line.includes(decisive)
    return isDecisive ? `${red('▶')} ${bold(short(line))}` : `  ${dim(short(line))}`
  })
  console.log(`${isKept ? green('  ✓') : red('  ✗')} ${name}${first}`)
  for (const line of rest) console.log(`            ${line}`)
  if (!isKept) console.log(`              ${red('cut off here')}`)
}

/** Shows an output of a tool after both cuts. */
function compare(title, whole, ours, decisive, holds = (text) => text.includes(decisive)) {
  const sliced = whole.slice(0, LIMIT.maxChars)
  const [length, shown] = [whole, stripVTControlCharacters(whole)].map((text) => grouped(text.length))
  const ofThese = length === shown ? '' : `, ${shown} without colors`
  console.log(`\n${bold(title)}${dim(` of ${length} chars${ofThese}`)}`)
  show('slice   ', sliced, decisive, holds(sliced))
  show('spillway', ours, decisive, must(holds(ours) && ours.length <= LIMIT.maxChars))
  const [notice] = ours.match(/\[tool output truncated:.*\]/) ?? []
  must(notice !== undefined)
  console.log(`              ${yellow(short(notice ?? ''))}`)
}

const directory = mkdtempSync(join(tmpdir(), 'spillway-demo-'))
process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
const store = createSpillStore({ dir: join(directory, 'outputs'), reference: 'id' })

console.log(
  `What a model reads of an output, in ${grouped(LIMIT.maxChars)} chars. ${red('▶')} is the line that matters.`,
)

// A command that is captured while it runs.
const error = "src/cart.ts:7:12 - error TS2304: Cannot find name 'total'."
const build = `
  for (let n = 1; n <= 60000; n++) {
    process.stdout.write('\\x1b[2m[' + n + '/60000]\\x1b[0m compiled module ' + n + '\\n')
    if (n === 23457) process.stdout.write(${JSON.stringify(`${error}\n`)})
  }
  process.exitCode = 2`
const child = spawn(process.execPath, ['-e', build])
const chunks = []
child.stdout.on('data', (chunk) => chunks.push(chunk))
const capture = new OutputCapture({ ...LIMIT, spill: store, tool: 'build' })
const { text, spill } = await capture.attach(child)
compare('A build', Buffer.concat(chunks).toString(), text, error)
const found = await spillTool(store).execute({ id: spill.id, pattern: 'error', lines: 1 })
must(found.includes(error))
const [place] = found.split('\n').filter((line) => line.includes(error))
console.log(`              ${dim(short(`read_output finds it too: ${place}`))}`)

// A log that a tool returns.
const assertion = 'AssertionError [ERR_ASSERTION]: expected 0.3, got 0.30000000000000004'
const time = (second) => new Date(Date.UTC(2026, 0, 1, 12, 0, second)).toISOString()
const log = [
  repeat(9_000, (n) => `${time(n)} INFO  invoice ${n} adds up`),
  `${time(9_001)} ERROR invoice 9001: ${assertion}`,
  `${time(9_001)}     at total (src/invoice.ts:31:9)`,
  repeat(9_000, (n) => `${time(9_001 + n)} INFO  invoice ${9_001 + n} adds up`),
].join('\n')
const ci = wrapTool({ name: 'ci', execute: async () => log }, LIMIT)
compare('A CI log', log, await ci.execute(), assertion)

// A search, which keeps what answers its question.
const answer = 'src/payment/client.ts:88:  const RETRY_LIMIT = 5'
const matches = [
  repeat(1_500, (n) => `src/generated/schema_${n}.ts:${n}:  readonly field${n}: string`),
  answer,
  repeat(1_500, (n) => `test/fixtures/case_${n}.ts:${n}:  expect(field${n}).toBe(${n})`),
].join('\n')
const search = wrapTool({ name: 'search', execute: async (_args) => matches }, LIMIT)
compare(
  'A search for the retry limit',
  matches,
  await search.execute({ question: 'retry limit of the payment client' }),
  answer,
)

// A text of surrogate pairs: providers reject the half of one.
const chat = `.\n${repeat(300, () => '🎉'.repeat(40))}`
const read = wrapTool({ name: 'read', execute: async () => chat }, { ...LIMIT, keep: 'head' })
const half = /\p{Surrogate}/u
compare('A chat', chat, await read.execute(), '\0', (text) => !half.test(text))

// A session that holds one such output.
const file = join(directory, 'session.jsonl')
const call = { type: 'function', id: 'c1', function: { name: 'build', arguments: '{}' } }
const history = (content) => [
  { role: 'user', content: 'Build it' },
  { role: 'assistant', content: '', tool_calls: [call] },
  { role: 'tool', tool_call_id: 'c1', content },
]
writeFileSync(
  file,
  history(log.repeat(6))
    .map((row) => `${JSON.stringify(row)}\n`)
    .join(''),
)
function check() {
  const messages = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row))
  return precheck({ messages, contextTokens: WINDOW, reserveTokens: 0 })
}
const before = check()
const { bytesBefore, bytesAfter } = await repairSession(file)
const after = check()
must(before.route !== 'fits' && after.route === 'fits')
const session = ({ estimatedTokens }, bytes) => `${grouped(estimatedTokens)} tokens, ${grouped(bytes)} bytes`
console.log(`\n${bold('A session')}${dim(` for a window of ${grouped(WINDOW)} tokens`)}`)
console.log(`${red('  ✗')} as it is  ${session(before, bytesBefore)}: no prompt is accepted any more`)
console.log(
  `${green('  ✓')} repaired  ${session(after, bytesAfter)}: it opens again; session.jsonl.bak has the rest`,
)

console.log(`
${bold('Next')}  wrapTools(tools)                  in front of your agent's tools (README.md)
      node dist/cli.js run -- npm test  in front of a command
      node dist/cli.js inspect FILE     what a session of yours is spent on`)
if (isBroken) process.exitCode = 1
