import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CreateMessageRequestSchema, EmptyResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { bytes, DECISIVE, LIMIT, TEXT } from './scenario.mjs'

const require = createRequire(import.meta.url)
const bin = join(dirname(require.resolve('spillway/package.json')), 'dist/cli.js')
const place = mkdtempSync(join(tmpdir(), 'spillway-mcp-'))
after(() => rmSync(place, { recursive: true, force: true }))
/** The server sends a text twice, and the client closes the connection at 10 MiB. */
const BIG = TEXT.slice(0, TEXT.length / 5)
writeFileSync(join(place, 'big.txt'), BIG)
writeFileSync(join(place, 'small.txt'), 'small')
writeFileSync(join(place, 'failure.log'), `${BIG}${DECISIVE}\n${BIG}`)

/** Command line of a reference server. */
function serverOf(name, ...args) {
  const folder = join(import.meta.dirname, `node_modules/@modelcontextprotocol/server-${name}`)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return [process.execPath, join(folder, Object.values(bin)[0]), ...args]
}

async function connect([command, ...args]) {
  const env = { ...process.env, MEMORY_FILE_PATH: join(place, 'memory.jsonl'), XDG_STATE_HOME: place }
  const client = new Client({ name: 'client', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command, args, env, stderr: 'ignore' }))
  after(() => client.close())
  return client
}

/** The same server, as it is and behind the proxy. */
async function both(server, ...flags) {
  const through = [process.execPath, bin, 'mcp', '--dir', join(place, 'saved'), ...flags, '--', ...server]
  const [plain, proxied] = await Promise.all([connect(server), connect(through)])
  const lists = await Promise.all([plain.listTools(), proxied.listTools()])
  return { plain, proxied, lists }
}

const texts = ({ content }) => content.map(({ text }) => text ?? '').join('')

test('filesystem: what is over the limits is cut, saved and paged; all else is as without the proxy', async () => {
  const { plain, proxied, lists } = await both(serverOf('filesystem', place), '--structured', 'text')
  const [before, behind] = lists.map(({ tools }) => tools)
  assert.deepEqual(behind.slice(0, -1), before)
  assert.equal(behind.at(-1).name, 'read_output')
  assert.deepEqual(proxied.getServerVersion(), plain.getServerVersion())
  assert.deepEqual(proxied.getServerCapabilities(), plain.getServerCapabilities())

  const read = (client, file) =>
    client.callTool({ name: 'read_text_file', arguments: { path: join(place, file) } })
  assert.deepEqual(await read(proxied, 'small.txt'), await read(plain, 'small.txt'))
  assert.deepEqual(await read(proxied, 'none.txt'), await read(plain, 'none.txt'))
  assert.equal(texts(await read(plain, 'big.txt')), BIG)
  const cut = await read(proxied, 'big.txt')
  assert.ok(bytes(texts(cut)) <= LIMIT)
  const [, id] = /full output saved as ([0-9a-f]{16})/.exec(texts(cut)) ?? []
  const page = await proxied.callTool({ name: 'read_output', arguments: { id, line: 4_000, lines: 1 } })
  assert.match(texts(page), /^4000: line of tool output é /m)

  const failed = await connect([
    process.execPath,
    bin,
    'mcp',
    '--keep',
    'findings',
    '--',
    ...serverOf('filesystem', place),
  ])
  assert.ok(texts(await read(failed, 'failure.log')).includes(DECISIVE))
})

test('everything: prompts, resources, progress, pings and structured content pass', async () => {
  const { plain, proxied } = await both(serverOf('everything'))
  for (const list of ['listPrompts', 'listResources', 'listResourceTemplates'])
    assert.deepEqual(await proxied[list](), await plain[list]())
  assert.deepEqual(await proxied.ping(), await plain.ping())
  const { tools } = await plain.listTools()
  const { name } = tools.find(({ name }) => /long.*running/i.test(name))
  const steps = async (client) => {
    const seen = []
    const onprogress = (progress) => seen.push(progress)
    await client.callTool({ name, arguments: { duration: 0.3, steps: 3 } }, undefined, { onprogress })
    return seen
  }
  const seen = await steps(proxied)
  // The last may come with the result, after which the client no longer listens.
  assert.deepEqual(seen.slice(0, 2), (await steps(plain)).slice(0, 2))
  assert.ok(seen.length >= 2)
  const structured = {
    name: tools.find(({ outputSchema }) => outputSchema).name,
    arguments: { location: 'New York' },
  }
  assert.deepEqual(await proxied.callTool(structured), await plain.callTool(structured))
  const controller = new AbortController()
  const stopped = proxied.callTool({ name, arguments: { duration: 60, steps: 2 } }, undefined, {
    signal: controller.signal,
  })
  controller.abort('enough')
  await assert.rejects(stopped, /enough/)
  assert.deepEqual(await proxied.ping(), {})
})

test('memory: structured content is cut so that the client takes it', async () => {
  const { plain, proxied } = await both(serverOf('memory'))
  const entities = Array.from({ length: 2_000 }, (_, at) => ({
    name: `entity ${at}`,
    entityType: 'part',
    observations: [at === 1_234 ? 'error: it is lost' : `it is the part with the number ${at}`],
  }))
  await proxied.callTool({ name: 'create_entities', arguments: { entities } })
  const ask = { name: 'read_graph', arguments: {} }
  const [whole, cut] = [await plain.callTool(ask), await proxied.callTool(ask)]
  assert.deepEqual(whole.structuredContent.entities, entities)
  assert.deepEqual(Object.keys(cut.structuredContent), Object.keys(whole.structuredContent))
  const left = cut.structuredContent.entities
  const known = new Set(entities.map((entity) => JSON.stringify(entity)))
  assert.ok(left.every((entity) => known.has(JSON.stringify(entity))))
  assert.ok(left.some(({ observations }) => observations[0] === 'error: it is lost'))
  // A host shows the structured content, the text that repeats it, or both.
  assert.ok(bytes(cut.structuredContent) > LIMIT / 3)
  assert.ok(bytes(cut.structuredContent) + bytes(texts(cut)) <= LIMIT)
  const said = cut.content.at(-1).text
  assert.match(said, new RegExp(`, ${(2_000 - left.length).toLocaleString('en-US')} elements omitted;`))
  const [, id] = /full output saved as ([0-9a-f]{16})/.exec(said) ?? []
  // The text of the server spells it, and was cut as JSON too.
  assert.deepEqual(Object.keys(JSON.parse(cut.content[0].text)), Object.keys(whole.structuredContent))
  const page = await proxied.callTool({ name: 'read_output', arguments: { id, pattern: 'entity 1777"' } })
  assert.match(texts(page), /"name": "entity 1777"/)
})

/** Serves one session of the official transport. */
async function serve(enableJsonResponse) {
  const server = new McpServer({ name: 'server', version: '1.0.0' })
  const verbs = []
  server.registerTool('big', {}, async () => ({ content: [{ type: 'text', text: BIG }] }))
  const outputSchema = {
    rows: z.array(z.strictObject({ at: z.iso.datetime(), state: z.enum(['done', 'failed']) })).min(3),
    next: z.string().regex(/^cursor-[0-9]+$/),
  }
  server.registerTool('table', { outputSchema }, async () => {
    const at = '2026-01-02T03:04:05.678Z'
    const rows = Array.from({ length: 5_000 }, (_, row) => ({ at, state: row === 3_210 ? 'failed' : 'done' }))
    return { content: [], structuredContent: { rows, next: `cursor-${'1'.repeat(60)}` } }
  })
  server.registerTool('ask', {}, async () => {
    const { content } = await server.server.createMessage({ messages: [], maxTokens: 9 })
    return { content: [{ type: 'text', text: `the client says ${content.text}` }] }
  })
  server.registerTool('steps', {}, async ({ sendNotification, sendRequest, _meta: { progressToken } }) => {
    for (const progress of [1, 2, 3])
      await sendNotification({ method: 'notifications/progress', params: { progressToken, progress } })
    // The client hears no progress after the result.
    await sendRequest({ method: 'ping' }, EmptyResultSchema)
    return { content: [] }
  })
  server.registerTool('hang', {}, async ({ signal }) => {
    await once(signal, 'abort')
    verbs.push('aborted')
    return { content: [] }
  })
  const sessionIdGenerator = randomUUID
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator, enableJsonResponse })
  await server.connect(transport)
  const listening = createServer((request, response) => {
    verbs.push(request.method)
    void transport.handleRequest(request, response)
  }).listen(0, '127.0.0.1')
  await once(listening, 'listening')
  after(() => listening.close().closeAllConnections())
  return { url: `http://127.0.0.1:${listening.address().port}/mcp`, verbs }
}

for (const isJson of [false, true])
  test(`streamable HTTP (${isJson ? 'JSON' : 'events'}): results are cut, all else passes in both directions`, async () => {
    const { url, verbs } = await serve(isJson)
    const client = new Client({ name: 'client', version: '1.0.0' }, { capabilities: { sampling: {} } })
    const content = { type: 'text', text: 'hello' }
    client.setRequestHandler(CreateMessageRequestSchema, () => ({ model: 'm', role: 'assistant', content }))
    const args = [bin, 'mcp', '--dir', join(place, 'saved'), '--url', url]
    const env = { ...process.env, XDG_STATE_HOME: place }
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }))
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['big', 'table', 'ask', 'steps', 'hang', 'read_output'],
    )
    const cut = texts(await client.callTool({ name: 'big' }))
    assert.ok(bytes(cut) <= LIMIT)
    const [, id] = /full output saved as ([0-9a-f]{16})/.exec(cut) ?? []
    const page = await client.callTool({ name: 'read_output', arguments: { id, line: 4_000, lines: 1 } })
    assert.match(texts(page), /^4000: line of tool output é /m)
    // The client has checked it against the schema.
    const { content: said, structuredContent } = await client.callTool({ name: 'table' })
    assert.ok(bytes(structuredContent) <= LIMIT && bytes(structuredContent) > LIMIT / 2)
    assert.ok(structuredContent.rows.some(({ state }) => state === 'failed'))
    assert.match(said[0].text, /^\[structured content truncated: .* elements omitted; full output saved as /)
    if (!isJson) {
      const seen = []
      const onprogress = ({ progress }) => seen.push(progress)
      await client.callTool({ name: 'steps' }, undefined, { onprogress })
      assert.deepEqual(seen, [1, 2, 3])
    }
    assert.equal(texts(await client.callTool({ name: 'ask' })), 'the client says hello')
    const controller = new AbortController()
    const stopped = client.callTool({ name: 'hang' }, undefined, { signal: controller.signal })
    controller.abort('enough')
    await assert.rejects(stopped, /enough/)
    assert.deepEqual(await client.ping(), {})
    await client.close()
    assert.deepEqual([verbs.includes('GET'), verbs.at(-1)], [true, 'DELETE'])
  })
