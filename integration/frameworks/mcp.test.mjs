import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { clampResult, wrapTool } from 'spillway'
import { z } from 'zod'
import { bytes, DECISIVE, documented, FAILURE, IMAGE, LIMIT, largest, ROWS, size, TEXT } from './scenario.mjs'

const PICTURES = [
  { type: 'image', data: IMAGE, mimeType: 'image/png' },
  { type: 'audio', data: IMAGE, mimeType: 'audio/wav' },
  { type: 'resource', resource: { uri: 'file:///a.bin', mimeType: 'application/octet-stream', blob: IMAGE } },
  { type: 'resource_link', uri: 'file:///b.txt', name: 'b' },
]
const ANNOTATIONS = { audience: ['assistant'], priority: 1 }
const outputSchema = { rows: z.array(z.string()) }

const handlers = {
  big: async () => ({ content: [{ type: 'text', text: TEXT }], _meta: { keep: true } }),
  file: async () => ({
    content: [{ type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: TEXT } }],
  }),
  shot: async () => ({ content: [{ type: 'text', text: TEXT, annotations: ANNOTATIONS }, ...PICTURES] }),
  table: async () => {
    const structuredContent = { rows: ROWS }
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
  },
  boom: async () => {
    throw new Error(FAILURE)
  },
}

function makeServer(register = (server, ...tool) => server.registerTool(...tool)) {
  const server = new McpServer({ name: 'server', version: '1.0.0' })
  for (const [name, handler] of Object.entries(handlers)) {
    const config = { inputSchema: {}, ...(name === 'table' && { outputSchema }) }
    register(server, name, config, handler)
  }
  return server
}

async function connect(server) {
  const [here, there] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'client', version: '1.0.0' })
  const wire = []
  const { send } = here
  here.send = (message, options) => {
    if (message.result?.content) wire.push(message.result)
    return send.call(here, message, options)
  }
  await Promise.all([server.connect(here), client.connect(there)])
  // A client checks structured content against the schema that the list told it.
  await client.listTools()
  return { client, wire }
}

/** Calls every tool; what the client got, and what went over the wire. */
async function callAll({ client, wire }) {
  const results = {}
  for (const name of Object.keys(handlers)) results[name] = await client.callTool({ name, arguments: {} })
  return { results, wire }
}

/** The three sides that can clamp, as docs/frameworks.md lists them. */
const sides = {
  none: async () => callAll(await connect(makeServer())),
  server: async () => {
    const server = makeServer((server, name, config, handler) => {
      server.registerTool(name, config, wrapTool(handler))
    })
    return callAll(await connect(server))
  },
  client: async () => {
    const { client, wire } = await connect(makeServer())
    wrapTool(client, { method: 'callTool', sideData: 'drop' })
    return callAll({ client, wire })
  },
  proxy: async () => {
    const { client: upstream } = await connect(makeServer())
    const proxy = new Server({ name: 'proxy', version: '1.0.0' }, { capabilities: { tools: {} } })
    proxy.setRequestHandler(ListToolsRequestSchema, ({ params }) => upstream.listTools(params))
    proxy.setRequestHandler(CallToolRequestSchema, async ({ params }) =>
      clampResult(await upstream.callTool(params)),
    )
    return callAll(await connect(proxy))
  },
}

const runs = new Map()

function clampedBy(side) {
  if (!runs.has(side)) runs.set(side, sides[side]())
  return runs.get(side)
}

const textOf = ({ content }) => content.map(({ text, resource }) => text ?? resource?.text ?? '').join('')

for (const side of Object.keys(sides)) {
  test(`${side}: the largest text, structured content and row on the wire`, async () => {
    const { results, wire } = await clampedBy(side)
    const all = Object.values(results)
    const structured = all.map(({ structuredContent = '' }) => structuredContent)
    const measured = [largest(all.map(textOf)), largest(structured), largest(wire)].map(size)
    assert.deepEqual(measured, documented('MCP')[side])
  })
}

test('without a clamp megabytes go over the wire', async () => {
  const { results, wire } = await clampedBy('none')
  assert.equal(wire.length, 5)
  for (const [name, result] of Object.entries(results)) assert.ok(bytes(textOf(result)) > 2_000_000, name)
})

for (const side of ['server', 'client', 'proxy']) {
  test(`${side}: texts are within the limits, and the rest stays`, async () => {
    const { results } = await clampedBy(side)
    for (const [name, result] of Object.entries(results)) {
      assert.ok(bytes(textOf(result)) <= LIMIT, name)
      assert.ok(bytes(textOf(result)) > LIMIT / 2, name)
      assert.equal(result.isError ?? false, name === 'boom', name)
    }
    const { big, file, shot, boom } = results
    assert.deepEqual(big._meta, { keep: true })
    assert.equal(file.content[0].resource.uri, 'file:///a.txt')
    assert.deepEqual(shot.content[0].annotations, ANNOTATIONS)
    assert.deepEqual(shot.content.slice(1), PICTURES)
    assert.ok(textOf(boom).includes(DECISIVE))
  })
}

test('a server with an output schema still validates', async () => {
  for (const side of ['server', 'proxy']) {
    const { results } = await clampedBy(side)
    assert.deepEqual(results.table.structuredContent, { rows: ROWS })
    assert.ok(bytes(textOf(results.table)) <= LIMIT)
  }
})

/** A schema that asks for what a careless cut would lose. */
const strict = {
  pages: z
    .array(z.object({ url: z.url(), state: z.enum(['open', 'closed', 'failed']), body: z.string() }).strict())
    .min(2),
  next: z.string().regex(/^cursor-[0-9]+$/),
  total: z.number().int(),
}

function makePages() {
  const body = 'what the page says, and so on '.repeat(9)
  const pages = Array.from({ length: 3_000 }, (_, at) => ({
    url: `https://example.org/docs/page-${at}`,
    state: at === 1_234 ? 'failed' : 'open',
    body,
  }))
  return { pages, next: `cursor-${'1'.repeat(60)}`, total: 3_000 }
}

/** Wraps a handler, the client's `callTool`, or what a proxy sends on, and calls the tool. */
const shaping = {
  server: async (policy) => {
    const server = new McpServer({ name: 'server', version: '1.0.0' })
    const handler = async () => ({ content: [], structuredContent: makePages() })
    server.registerTool('pages', { inputSchema: {}, outputSchema: strict }, wrapTool(handler, policy))
    return connect(server)
  },
  client: async (policy) => {
    const { client } = await shaping.server({})
    wrapTool(client, { method: 'callTool', ...policy })
    return { client }
  },
  proxy: async (policy) => {
    const { client: upstream } = await shaping.server({})
    const proxy = new Server({ name: 'proxy', version: '1.0.0' }, { capabilities: { tools: {} } })
    proxy.setRequestHandler(ListToolsRequestSchema, ({ params }) => upstream.listTools(params))
    proxy.setRequestHandler(CallToolRequestSchema, async ({ params }) =>
      clampResult(await upstream.callTool(params), policy),
    )
    return connect(proxy)
  },
}

for (const side of Object.keys(shaping)) {
  test(`${side}: structured content that keeps its shape passes the client's validation`, async () => {
    const { client: plain } = await shaping.server({})
    const [{ outputSchema: schema }] = (await plain.listTools()).tools
    const policy = { json: 'keep-shape', sideData: { maxBytes: 9_000 }, schema }
    const { client } = await shaping[side](policy)
    const { structuredContent, isError } = await client.callTool({ name: 'pages', arguments: {} })
    assert.ok(!isError)
    const made = z.strictObject(strict).parse(structuredContent)
    assert.ok(bytes(made) <= 9_000 && bytes(made) > 4_000)
    assert.deepEqual([made.next, made.total], [makePages().next, 3_000])
    assert.ok(made.pages.some(({ state }) => state === 'failed'))
  })
}

test('structured content that is cut as side data is refused: it says its size within', async () => {
  const { client } = await shaping.server({ sideData: { maxBytes: 9_000 } })
  const refused = await client.callTool({ name: 'pages', arguments: {} })
  assert.ok(refused.isError)
  assert.match(textOf(refused), /structured/)
})

test('a client may drop structured content once it was validated', async () => {
  const { results, wire } = await clampedBy('client')
  assert.equal(Object.hasOwn(results.table, 'structuredContent'), false)
  assert.ok(wire.some(({ structuredContent }) => structuredContent))
})

test('a server that drops it is refused: the schema wants it', async () => {
  const server = makeServer((server, name, config, handler) => {
    server.registerTool(name, config, wrapTool(handler, { sideData: 'drop' }))
  })
  const { client } = await connect(server)
  const refused = await client.callTool({ name: 'table', arguments: {} })
  assert.ok(refused.isError)
  assert.match(textOf(refused), /structured/)
})

test('an abort arrives at the handler', async () => {
  const server = new McpServer({ name: 'server', version: '1.0.0' })
  const controller = new AbortController()
  const aborted = new Promise((resolve) => {
    const wait = async (_input, { signal }) => {
      const abort = new Promise((done) => signal.addEventListener('abort', done))
      controller.abort()
      await abort
      resolve(signal.aborted)
      return { content: [{ type: 'text', text: TEXT }] }
    }
    server.registerTool('wait', { inputSchema: {} }, wrapTool(wait))
  })
  const { client } = await connect(server)
  const call = client.callTool({ name: 'wait', arguments: {} }, undefined, { signal: controller.signal })
  await assert.rejects(call, /abort/i)
  assert.equal(await aborted, true)
})

test('progress is not bounded: clamp its message where it is sent', async () => {
  const server = new McpServer({ name: 'server', version: '1.0.0' })
  server.registerTool(
    'progress',
    { inputSchema: {} },
    wrapTool(async (_input, { sendNotification, _meta }) => {
      const { progressToken } = _meta
      for (const message of [TEXT, clampResult(TEXT)]) {
        await sendNotification({
          method: 'notifications/progress',
          params: { progressToken, progress: 1, message },
        })
      }
      return { content: [{ type: 'text', text: 'done' }] }
    }),
  )
  const { client } = await connect(server)
  const shown = []
  const onprogress = ({ message }) => shown.push(bytes(message))
  await client.callTool({ name: 'progress', arguments: {} }, undefined, { onprogress })
  assert.equal(shown[0], bytes(TEXT))
  assert.ok(shown[1] <= LIMIT)
})
