// The real Claude Code, driven offline against a model of ours on the loopback, in an empty home: what its next request
// carries after a Bash, a Grep, a Read and an MCP result, without the hook and with it. Installs 380 MB, once:
//   npm run test:hosts
// SPILLWAY_CLAUDE=FILE names a program that is there already.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const VERSION = '2.1.330'
const LIMIT = 16_384
const root = fileURLToPath(new URL('..', import.meta.url))
const place = mkdtempSync(join(tmpdir(), 'spillway-hosts-'))
process.on('exit', () => rmSync(place, { recursive: true, force: true }))

const lines = (size) =>
  Array.from({ length: size / 50 }, (_, at) =>
    `2026-01-02T03:04:05Z INFO step ${at} is done`.padEnd(49, '.'),
  ).join('\n')
const DECISIVE = '2026-01-02T03:04:06Z ERROR the disk is full'
writeFileSync(join(place, 'large.log'), `${lines(100_000)}\n${DECISIVE}\n${lines(100_000)}\n`)
writeFileSync(join(place, 'small.txt'), lines(40_000))
writeFileSync(
  join(place, 'server.js'),
  `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) return
    const answers = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } },
      'tools/list': { tools: [{ name: 'log', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: ${JSON.stringify(lines(40_000))} }] },
    }
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} }))
  })`,
)
const CALLS = {
  Bash: { command: 'cat large.log' },
  Grep: { pattern: '\\.', path: join(place, 'large.log'), output_mode: 'content', head_limit: 0 },
  Read: { file_path: join(place, 'small.txt') },
  mcp__some__log: {},
}

/** Returns the program, from SPILLWAY_CLAUDE or from a folder that stays. */
function program() {
  const { SPILLWAY_CLAUDE } = process.env
  if (SPILLWAY_CLAUDE) return SPILLWAY_CLAUDE
  const name = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`
  const folder = join(root, 'target/hosts')
  const file = join(folder, 'node_modules', name, process.platform === 'win32' ? 'claude.exe' : 'claude')
  if (existsSync(file)) return file
  mkdirSync(folder, { recursive: true })
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save']
  execFileSync('npm', ['install', ...flags, '--prefix', folder, `${name}@${VERSION}`], { stdio: 'inherit' })
  return file
}

/** Starts a model that asks for each call in turn, and keeps the results that the requests carry. */
async function model() {
  const asked = Object.entries(CALLS)
  const results = {}
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()))
    if (request.url.includes('count_tokens'))
      return response.end(JSON.stringify({ input_tokens: Math.round(JSON.stringify(body).length / 4) }))
    for (const { content } of body.messages)
      for (const block of Array.isArray(content) ? content : [])
        if (block.type === 'tool_result') results[block.tool_use_id] = JSON.stringify(block.content)
    const [name, input] = (body.tools?.length && asked.shift()) || []
    const block = name ? { type: 'tool_use', id: name, name, input: {} } : { type: 'text', text: '' }
    const delta = name
      ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
      : { type: 'text_delta', text: 'done' }
    const usage = { input_tokens: 1, output_tokens: 1 }
    const message = { id: 'm', type: 'message', role: 'assistant', model: body.model, content: [], usage }
    response.setHeader('content-type', 'text/event-stream')
    for (const event of [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: name ? 'tool_use' : 'end_turn' }, usage },
      { type: 'message_stop' },
    ])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, results, url: `http://127.0.0.1:${server.address().port}` }
}

/** Runs the host once in an empty home, and returns what the model got of each call. */
async function drive(prepare) {
  const { server, results, url } = await model()
  const home = mkdtempSync(join(place, 'home-'))
  const env = {
    HOME: home,
    PATH: process.env.PATH,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1',
  }
  prepare(env)
  const mcp = { mcpServers: { some: { command: process.execPath, args: [join(place, 'server.js')] } } }
  const args = ['-p', 'go', '--allowedTools', Object.keys(CALLS).join(), '--mcp-config', JSON.stringify(mcp)]
  const child = spawn(program(), args, { cwd: place, env, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  server.close()
  assert.equal(code, 0)
  return results
}

const spillway = (env, ...args) =>
  execFileSync(process.execPath, [join(root, 'dist/cli.js'), ...args], {
    env,
    encoding: 'utf8',
    stdio: 'pipe',
  })

test(`Claude Code ${VERSION} takes every shape of the table`, async () => {
  const plain = await drive(() => {})
  let figures
  const hooked = await drive((env) => {
    spillway(env, 'install', 'claude-code', '--yes')
    figures = () => JSON.parse(spillway(env, 'stats', '--json'))
  })
  assert.deepEqual(Object.keys(hooked), Object.keys(CALLS))
  for (const name of Object.keys(CALLS)) {
    console.log(`${name}: ${plain[name].length} chars without the hook, ${hooked[name].length} with it`)
    assert.match(hooked[name], /tool output truncated: [\d,]+ of [\d,]+ chars omitted/, name)
    assert.doesNotMatch(hooked[name], /persisted-output/, name)
    // Lines that the host numbers, and escapes, come on top of the limit.
    assert.ok(hooked[name].length < 1.25 * LIMIT, name)
  }
  assert.ok(!plain.Bash.includes(DECISIVE) && hooked.Bash.includes(DECISIVE))
  assert.ok(figures().sent > 0)
})
