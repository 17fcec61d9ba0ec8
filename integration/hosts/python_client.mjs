// The official Python client of MCP in front of `spillway mcp`, against a server whose answers are
// wrong in id, method, type and nesting: whatever the client takes for a result or an error is
// within the limits. Installs the client from PyPI into target/hosts, once: npm run test:hosts
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'

const LIMIT = 4_096
/** Bytes of the client's own members and of escapes in JSON. */
const BESIDE = 2_048
const CALLS = 600
const root = fileURLToPath(new URL('../..', import.meta.url))
const place = mkdtempSync(join(tmpdir(), 'spillway-python-'))
process.on('exit', () => rmSync(place, { recursive: true, force: true }))

/** A server that answers a call with the line that it asks for, and then as it should. */
writeFileSync(
  join(place, 'server.cjs'),
  `const big = JSON.stringify('line of text here\\n'.repeat(900)).slice(1, -1)
  const say = (text) => process.stdout.write(text + '\\n')
  const tool = { name: 'plain', description: 'a tool', inputSchema: { type: 'object', properties: {} } }
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) return
    const answers = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'a', version: '1' },
      },
      'tools/list': { tools: [tool] },
      'tools/call': { content: [{ type: 'text', text: 'as it should' }] },
    }
    if (method === 'tools/call') say(params.arguments.raw.replaceAll('BIG', big).replaceAll('"ID"', JSON.stringify(id)))
    say(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} }))
  })`,
)

const text = fc.constantFrom('BIG', 'short', '', 'BIG\\u0007BIG', '\\ud800')
const block = fc.oneof(
  text.map((text) => `{"type":"text","text":"${text}"}`),
  text.map((text) => `{"type":"resource","resource":{"uri":"file:///a","text":"${text}"}}`),
  text.map((text) => `{"type":"resource_link","uri":"file:///a","name":"${text}"}`),
  text.map((text) => `{"type":"text","text":"a","_meta":{"a":"${text}"}}`),
  fc.constant('{"type":"odd"}'),
)
const deep = fc.nat(3_000).map((levels) => '['.repeat(levels) + ']'.repeat(levels))
const data = fc.oneof(
  text.map((text) => `"${text}"`),
  deep,
  fc.constantFrom('NaN', 'null', '5', '1e999', '{"a":"BIG"}', '["BIG","BIG"]'),
)
const result = fc.oneof(
  fc.array(block, { maxLength: 4 }).map((blocks) => `{"content":[${blocks}]}`),
  fc.tuple(fc.array(block, { maxLength: 2 }), data).map(([blocks, data]) => {
    return `{"content":[${blocks}],"structuredContent":${data}}`
  }),
  fc.tuple(block, data).map(([block, data]) => `{"content":[${block}],"_meta":{"a":${data}},"isError":true}`),
  data,
)
const answer = fc
  .record({
    id: fc.constantFrom('"ID"', '"ID"', '"ID"', '"\\"ID\\""', '77', 'null', '"BIG"', '2.0'),
    method: fc.constantFrom(
      '',
      '',
      '"method":null,',
      '"method":"ping",',
      '"method":"notifications/progress",',
    ),
    before: fc.constantFrom('', '', '', '\ufeff', ' '.repeat(99), 'log '),
    kind: fc.constantFrom('result', 'result', 'Result', 'error'),
    result,
  })
  .map(({ id, method, before, kind, result }) => {
    const own = kind === 'error' ? `{"code":1,"message":"BIG","data":${result}}` : result
    return `${before}{"jsonrpc":"2.0","id":${id},${method}"${kind}":${own}}`
  })

/** Returns a Python with the client, installed into a folder that stays. */
function python() {
  const folder = join(root, 'target/hosts/python')
  const program = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
  if (!existsSync(program)) execFileSync('python3', ['-m', 'venv', folder])
  execFileSync(program, ['-m', 'pip', 'install', '--quiet', 'mcp'], { stdio: 'inherit' })
  return program
}

test('the Python client is handed nothing over the limits', { timeout: 900_000 }, () => {
  const answers = fc.sample(answer, { numRuns: CALLS, seed: 1 })
  const server = [process.execPath, join(place, 'server.cjs')]
  const proxy = [process.execPath, join(root, 'dist/cli.js'), 'mcp', '--max-bytes', String(LIMIT), '--']
  const input = JSON.stringify({ command: [...proxy, ...server], answers, limit: LIMIT + BESIDE, seconds: 5 })
  const script = fileURLToPath(new URL('python_client.py', import.meta.url))
  const { stdout, stderr } = spawnSync(python(), [script], { input, encoding: 'utf8', maxBuffer: 1 << 26 })
  const { ends, largest, over, failed } = JSON.parse(stdout || '{}')
  assert.equal(failed, undefined, stderr.slice(-2_000))
  console.log(`${ends?.result} results and ${ends?.error} errors, the largest of ${largest} bytes`)
  assert.deepEqual(over, [], stderr.slice(-2_000))
  assert.equal(ends.result + ends.error, CALLS)
})
