import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'

const require = createRequire(import.meta.url)
const bin = join(dirname(require.resolve('spillway/package.json')), 'dist/cli.js')
const place = mkdtempSync(join(tmpdir(), 'spillway-answers-'))
after(() => rmSync(place, { recursive: true, force: true }))
const LIMIT = 4_096
/** Bytes that may stand beside what the limits count. */
const LITTLE = 1_024
const TIMES = 400

/** A server that writes what a call asks for in the place of its answer, and then says that it
 *  has. */
const server = join(place, 'server.mjs')
writeFileSync(
  server,
  `
import { createInterface } from 'node:readline'
const big = JSON.stringify('line of text here\\n'.repeat(900)).slice(1, -1)
const say = (text) => process.stdout.write(text + '\\n')
const outputSchema = { type: 'object', required: ['rows'], properties: { rows: { type: 'array' } } }
const tools = ['plain', 'table'].map((name) => ({ name, inputSchema: { type: 'object' }, ...(name === 'table' && { outputSchema }) }))
const serverInfo = { name: 'server', version: '1.0.0' }
const capabilities = { tools: {}, logging: {} }
let calls = 0
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const say_ = (result) => say(JSON.stringify({ jsonrpc: '2.0', id, result }))
  if (method === 'initialize') say_({ protocolVersion: params.protocolVersion, capabilities, serverInfo })
  if (method === 'tools/list') say_({ tools })
  if (method !== 'tools/call') return
  say(params.arguments.raw.replaceAll('BIG', big).replaceAll('ID', id))
  say(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: calls++ } }))
})
`,
)

/** Numbers that look random, the same in each run. */
function* numbers() {
  for (let state = 1; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}

const random = numbers()
const pick = (list) => list[Math.floor(random.next().value * list.length)]
const some = (list, most) =>
  Array.from({ length: Math.floor(random.next().value * (most + 1)) }, () => pick(list)())
const deep = (levels) => `${'['.repeat(levels)}"BIG"${']'.repeat(levels)}`

const block = () =>
  pick([
    '{"type":"text","text":"BIG"}',
    '{"type":"text","text":"a","_meta":{"x":"BIG"}}',
    '{"type":"resource_link","uri":"BIG","name":"BIG"}',
    '{"type":"resource","resource":{"uri":"BIG","text":"BIG"}}',
    '{"type":"resource","resource":{"uri":"a","text":"BIG"}}',
    '{"type":"text","text":"BIG","annotations":{"priority":1}}',
    '{"type":"other","text":"BIG"}',
  ])
const result = () =>
  pick([
    () =>
      `{"content":[${some([block], 4)}]${pick(['', ',"isError":true', ',"_meta":{"x":"BIG"}', ',"x":"BIG"'])}}`,
    () =>
      `{"content":[${some([block], 2)}],"structuredContent":{"rows":["BIG",1,{"a":${pick(['"BIG"', deep(9), '18446744073709551615'])}}]}}`,
    () => `{"content":[${block()}],"_meta":${deep(6_000)}}`,
    () =>
      pick([
        '"BIG"',
        '["BIG"]',
        '5',
        'null',
        '{"toolResult":"BIG"}',
        '{"content":"BIG"}',
        '{"task":{"taskId":"BIG"}}',
      ]),
  ])()
const id = () => pick(['ID', 'ID', 'ID', '"ID"', '" ID "', 'ID.0', 'IDe0', '"0xID"', '99', 'null', '""'])
const outcome = () =>
  pick([
    () => `"result":${result()}`,
    () => `"result":${result()}`,
    () => '"error":{"code":-32000,"message":"BIG","data":["BIG"]}',
    () => `"error":null,"result":${result()}`,
  ])()
const answer = () => {
  const members = [
    '"jsonrpc":"2.0"',
    `"id":${id()}`,
    outcome(),
    ...some([() => pick(['"method":null', '"x":1', '"result":{"content":[]}'])], 1),
  ]
  return `{${members.sort(() => random.next().value - 0.5)}}`
}
const line = () =>
  pick([
    answer,
    answer,
    answer,
    () => `\ufeff${answer()}`,
    () => `[${answer()},${answer()}]`,
    () => answer().replace('{', '{"n":NaN,'),
    () => `${answer()}\n${answer()}`,
    () => `log\r${answer()}`,
    () => answer().slice(0, -1),
  ])()

const bytes = (value) => Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
/** Bytes of what a host shows: texts are not JSON. */
function shown({ content = [], structuredContent }) {
  const texts = content.map(({ text, resource, ...others }) => text ?? resource?.text ?? others)
  return texts.reduce((sum, text) => sum + bytes(text), 0) + bytes(structuredContent)
}

test(`the official client gets nothing over the limits from ${TIMES} mutated answers`, {
  timeout: 120_000,
}, async () => {
  const args = [bin, 'mcp', '--no-stats', '--max-bytes', String(LIMIT), '--', process.execPath, server]
  const client = new Client({ name: 'client', version: '1.0.0' })
  const seen = new Map()
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => seen.get(params.data)?.())
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
  await client.listTools()
  let answered = 0
  for (let at = 0; at < TIMES; at++) {
    const raw = line()
    const stop = new AbortController()
    // The notification follows the answer: a call that is open then has got none.
    seen.set(at, () => setImmediate(() => stop.abort('no answer')))
    const call = client.callTool({ name: pick(['plain', 'table']), arguments: { raw } }, undefined, {
      signal: stop.signal,
    })
    const got = await call.catch((error) => ({ error }))
    seen.delete(at)
    const { error } = got
    if (!error || error.code !== undefined) answered++
    const said = error ? bytes(error.message) + bytes(error.data) : shown(got)
    assert.ok(said <= LIMIT + LITTLE, `${said} bytes: ${raw.slice(0, 300)}`)
    assert.ok(bytes(got) <= 3 * LIMIT, `${bytes(got)} bytes: ${raw.slice(0, 300)}`)
  }
  // Most mutations are those that the client takes.
  assert.ok(answered > TIMES / 2, `${answered} answered`)
  await client.close()
})
