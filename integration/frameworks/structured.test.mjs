// Tests how each client treats a result of MCP that carries the same as text and as structured
// content, and with one that carries it once. docs/frameworks.md has the table.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tool as agentTool } from '@langchain/core/tools'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Agent, Runner, setTracingDisabled, Usage } from '@openai/agents'
import { generateText, stepCountIs, tool } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { clampResult, wrapTool, wrapTools } from 'spillway'
import { z } from 'zod'
import { bytes } from './scenario.mjs'

setTracingDisabled(true)

const rows = Array.from({ length: 300 }, (_, at) => ({ id: at, name: `row ${at}` }))
const text = JSON.stringify({ rows }, null, 2)
const block = { type: 'text', text }
const twice = () => ({ content: [block], structuredContent: { rows } })
const name = 'table'
const KEPT = ['both', 'text', 'structured']

/** Expected results of each policy. */
const left = {
  both: twice(),
  text: { content: [block] },
  structured: { content: [], structuredContent: { rows } },
}

function makeServer(handler = twice) {
  const server = new McpServer({ name: 'server', version: '1.0.0' })
  const outputSchema = { rows: z.array(z.object({ id: z.number(), name: z.string() })) }
  server.registerTool(name, { inputSchema: {}, outputSchema }, handler)
  return server
}

async function connect(server) {
  const [here, there] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'client', version: '1.0.0' })
  await Promise.all([server.connect(here), client.connect(there)])
  await client.listTools()
  return client
}

const call = (client) => client.callTool({ name, arguments: {} })

for (const structured of KEPT) {
  test(`an MCP client that keeps ${structured}, after its validation`, async () => {
    const client = await connect(makeServer())
    wrapTool(client, { method: 'callTool', structured })
    assert.deepEqual(await call(client), left[structured])
  })

  test(`a proxy that keeps ${structured}`, async () => {
    const upstream = await connect(makeServer())
    const proxy = new Server({ name: 'proxy', version: '1.0.0' }, { capabilities: { tools: {} } })
    proxy.setRequestHandler(ListToolsRequestSchema, ({ params }) => upstream.listTools(params))
    proxy.setRequestHandler(CallToolRequestSchema, async ({ params }) =>
      clampResult(await upstream.callTool(params), { structured }),
    )
    const client = await connect(proxy)
    if (structured === 'text') await assert.rejects(call(client), /structured content/)
    else assert.deepEqual(await call(client), left[structured])
  })
}

test('a server with an output schema may keep the structured content alone, and not the text alone', async () => {
  const answer = async (structured) =>
    call(await connect(makeServer(wrapTool(async () => twice(), { structured }))))
  assert.deepEqual(await answer('structured'), left.structured)
  const refused = await answer('text')
  assert.ok(refused.isError)
  assert.match(refused.content[0].text, /structured/)
})

test('the AI SDK sends a result as JSON, with both', async () => {
  for (const structured of KEPT) {
    const remote = tool({ inputSchema: z.object({}), execute: async () => twice() })
    const sent = []
    const finish = (unified) => ({ unified, raw: unified })
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
    const model = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => {
        const results = prompt.filter(({ role }) => role === 'tool').flatMap(({ content }) => content)
        sent.push(...results.map(({ output }) => output))
        const done = { content: [{ type: 'text', text: 'done' }], finishReason: finish('stop') }
        const calls = [{ type: 'tool-call', toolCallId: 'c1', toolName: name, input: '{}' }]
        const asks = { content: calls, finishReason: finish('tool-calls') }
        return { ...(results.length > 0 ? done : asks), usage, warnings: [] }
      },
    })
    const tools = wrapTools({ [name]: remote }, { structured })
    await generateText({ model, tools, prompt: 'go', stopWhen: stepCountIs(3) })
    assert.deepEqual(sent, [{ type: 'json', value: left[structured] }])
    if (structured !== 'both') assert.ok(bytes(sent[0]) < bytes(twice()) * 0.7)
  }
})

test('LangChain sends what a function returns as JSON, with both: its message is a text already', async () => {
  for (const structured of KEPT) {
    const about = { name, description: name, schema: z.object({}) }
    const ask = async (remote) =>
      JSON.parse((await remote.invoke({ type: 'tool_call', id: 'c1', name, args: {} })).content)
    assert.deepEqual(
      await ask(
        agentTool(
          wrapTool(async () => twice(), { structured }),
          about,
        ),
      ),
      left[structured],
    )
    assert.deepEqual(
      await ask(
        wrapTool(
          agentTool(async () => twice(), about),
          { structured },
        ),
      ),
      left.both,
    )
  }
})

/** The request of OpenAI Agents with results of a server that clamps. */
async function sentByAgents(structured, useStructuredContent) {
  const client = await connect(makeServer())
  wrapTool(client, { method: 'callTool', structured })
  const server = {
    name: 'server',
    cacheToolsList: false,
    useStructuredContent,
    connect: async () => {},
    close: async () => {},
    listTools: async () => (await client.listTools()).tools,
    callTool: async () => (await call(client)).content,
    callToolResult: async () => call(client),
    invalidateToolsCache: async () => {},
  }
  const sent = []
  const model = {
    getResponse: async ({ input }) => {
      const results = input.filter?.(({ type }) => type === 'function_call_result') ?? []
      sent.push(...results.map(({ output }) => output))
      const said = [{ type: 'output_text', text: 'done' }]
      const done = { type: 'message', role: 'assistant', status: 'completed', content: said }
      const asks = { type: 'function_call', callId: 'c1', name, arguments: '{}', status: 'completed' }
      return { usage: new Usage(), output: [results.length > 0 ? done : asks] }
    },
  }
  await new Runner().run(new Agent({ name: 'agent', model, mcpServers: [server] }), 'go')
  return sent[0]
}

test('OpenAI Agents sends the text alone or, with useStructuredContent, the structured content alone', async () => {
  for (const structured of ['both', 'text']) {
    const output = await sentByAgents(structured, false)
    assert.equal(output.text ?? output[0].text, text)
  }
  for (const structured of ['both', 'structured']) {
    const output = await sentByAgents(structured, true)
    assert.equal(output.text ?? output, JSON.stringify({ rows }))
  }
})
