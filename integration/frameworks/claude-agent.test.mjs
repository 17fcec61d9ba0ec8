// spillway/claude-agent and wrapServer in the real Claude Agent SDK. Its program, which calls hooks
// and servers, is played by claude_program.mjs.
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk'
import { createSpillStore } from 'spillway'
import { spillwayHooks } from 'spillway/claude-agent'
import { wrapServer } from 'spillway/mcp'
import { bytes, DECISIVE, FAILURE, IMAGE, TEXT } from './scenario.mjs'

const LIMIT = 8_000
const SECRET = ['ghp', 'a1B2'.repeat(9)].join('_')
const program = fileURLToPath(new URL('claude_program.mjs', import.meta.url))
const stored = () => createSpillStore({ dir: mkdtempSync(join(tmpdir(), 'spillway-')), reference: 'id' })

/** Runs steps of the program against a session of the SDK. Returns an answer for each. */
async function session(steps, options) {
  const SCRIPT = join(mkdtempSync(join(tmpdir(), 'spillway-')), 'steps.json')
  writeFileSync(SCRIPT, JSON.stringify(steps))
  const started = query({
    prompt: 'go',
    options: {
      env: { ...process.env, SCRIPT },
      pathToClaudeCodeExecutable: program,
      executable: process.execPath,
      settingSources: [],
      ...options,
    },
  })
  for await (const message of started) if (message.type === 'result') return JSON.parse(message.result)
  throw new Error('the program ended early')
}

const used = (tool_name, tool_response, tool_input = {}) => ({
  hook_event_name: 'PostToolUse',
  session_id: 's',
  transcript_path: '/transcript.jsonl',
  cwd: '/',
  tool_use_id: 'call_1',
  tool_name,
  tool_input,
  tool_response,
})
const bash = (stdout, stderr = '') => ({ stdout, stderr, interrupted: false, isImage: false })
const rpc = (server, id, method, params = {}) => ({
  server,
  message: { jsonrpc: '2.0', id, method, params },
})
const hello = (server) =>
  rpc(server, 0, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'host', version: '1.0.0' },
  })
const outputOf = (answer) => answer.hookSpecificOutput?.updatedToolOutput

test('the hook: results come back cut and redacted, in the shape of each tool', async () => {
  const hooks = spillwayHooks({ maxBytes: LIMIT, redact: true, spill: stored() })
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } }
  const [run, small, mcp, fetched] = await session(
    [
      used('Bash', bash(`${FAILURE}token=${SECRET}\n`)),
      used('Bash', bash('done\n')),
      used('mcp__files__read', [{ type: 'text', text: TEXT }, image]),
      used('WebFetch', { code: 200, result: `token=${SECRET}` }),
    ],
    { hooks },
  )
  const { stdout, ...others } = outputOf(run)
  assert.ok(bytes(stdout) <= LIMIT)
  assert.ok(stdout.includes(DECISIVE))
  assert.match(stdout, /saved as [0-9a-f]{16}/)
  assert.deepEqual(others, { stderr: '', interrupted: false, isImage: false })
  assert.deepEqual(small, {})
  const [text, kept] = outputOf(mcp)
  assert.ok(bytes(text.text) <= LIMIT)
  assert.deepEqual(kept, image)
  assert.equal(outputOf(fetched).code, 200)
  assert.ok(!JSON.stringify([run, fetched]).includes(SECRET))
})

test('a server in the process: bounded before the host sees it, and read back', async () => {
  const spill = stored()
  const project = createSdkMcpServer({
    name: 'project',
    tools: [
      tool('build', 'Builds', {}, async () => ({ content: [{ type: 'text', text: FAILURE }] })),
      tool('fails', 'Fails', {}, async () => {
        throw new Error(FAILURE)
      }),
    ],
  })
  wrapServer(project.instance, { maxBytes: LIMIT, spill })
  // A server without tools of its own offers read_output alone, for what the hook saves.
  const outputs = createSdkMcpServer({ name: 'outputs', tools: [] })
  wrapServer(outputs.instance, { spill })
  const mcpServers = { project, outputs }
  const hooks = spillwayHooks({ maxBytes: LIMIT, spill })
  const call = (server, id, name, args = {}) => rpc(server, id, 'tools/call', { name, arguments: args })
  const [, listed, built, failed, , own, run] = await session(
    [
      hello('project'),
      rpc('project', 1, 'tools/list'),
      call('project', 2, 'build'),
      call('project', 3, 'fails'),
      hello('outputs'),
      rpc('outputs', 1, 'tools/list'),
      used('Bash', bash(FAILURE)),
    ],
    { mcpServers, hooks },
  )
  const names = ({ result }) => result.tools.map(({ name }) => name)
  assert.deepEqual([names(listed), names(own)], [['build', 'fails', 'read_output'], ['read_output']])
  const texts = [built.result.content[0].text, failed.result.content[0].text, outputOf(run).stdout]
  for (const text of texts) {
    assert.ok(bytes(text) <= LIMIT)
    assert.ok(text.includes(DECISIVE))
  }
  assert.equal(failed.result.isError, true)
  const read = (text) => ({ id: /saved as ([0-9a-f]{16})/.exec(text)?.[1], line: 23_001, lines: 1 })
  const pages = await session(
    [
      hello('project'),
      rpc('project', 1, 'tools/list'),
      call('project', 2, 'read_output', read(texts[0])),
      hello('outputs'),
      // Without a list before it.
      call('outputs', 2, 'read_output', read(texts[2])),
    ],
    { mcpServers: servers(spill) },
  )
  for (const { result } of [pages[2], pages[4]]) assert.ok(result.content[0].text.includes(DECISIVE))
})

/** The two servers anew: a server of the SDK connects once. */
function servers(spill) {
  return Object.fromEntries(
    ['project', 'outputs'].map((name) => {
      const server = createSdkMcpServer({ name, tools: [] })
      wrapServer(server.instance, { spill })
      return [name, server]
    }),
  )
}
