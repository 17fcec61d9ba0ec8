// Large data anywhere in what a tool returns, through the real conversions: what the model is sent
// stays bounded.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent } from '@earendil-works/pi-agent-core'
import {
  fauxAssistantMessage,
  fauxToolCall,
  getModels,
  registerFauxProvider,
  streamSimple,
} from '@earendil-works/pi-ai'
import { convertToLlm } from '@earendil-works/pi-coding-agent'
import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { convertToModelMessages, generateText, stepCountIs, tool } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { tool as langchainTool } from 'langchain'
import { clampMessages, wrapTool } from 'spillway'
import { z } from 'zod'
import { makeTool } from './pi.mjs'

const LIMIT = 4_000
/** Members that no dialect knows stay up to 1 KiB; tags, ids and quotes stand around it. */
const BOUND = LIMIT + 2_048
const RUNS = 40
const policy = { maxBytes: LIMIT, sideData: 'drop' }

const large = [
  () => 'word '.repeat(6_000),
  () => Array.from({ length: 6_000 }, (_, at) => at),
  () => Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`member ${at}`, `value of ${at}`])),
  () => ({ content: [{ type: 'text', text: 'small' }], rows: 'beside '.repeat(4_000) }),
  () => Buffer.alloc(9_000, 7),
  () => ({ toJSON: () => Array(4_000).fill('written') }),
]
const TAGS = new Set(['type', 'role', 'isError'])

/** Small numbers that are the same in every run. */
function seeded(seed) {
  let state = seed * 2_654_435_761
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 13)) >>> 0) % below
  }
}

function holdersIn(value) {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return []
  return [value, ...Object.values(value).flatMap(holdersIn)]
}

/** The results of a tool, each with large data added or in the place of a member. */
function* changed(make) {
  for (let seed = 1; seed <= RUNS; seed++) {
    const next = seeded(seed)
    const value = make()
    for (let count = 1 + next(2); count > 0; count--) {
      const holders = holdersIn(value)
      const holder = holders[next(holders.length)]
      const names = Object.keys(holder).filter((name) => !TAGS.has(name))
      const data = large[next(large.length)]()
      if (next(2) === 0 && names.length > 0) holder[names[next(names.length)]] = data
      else if (Array.isArray(holder)) holder.push(data)
      else holder[['rows', 'extra', 'body'][next(3)]] = data
    }
    yield [seed, value]
  }
}

const block = (text) => ({ type: 'text', text })
const makeData = () => ({ rows: ['a', { b: 1 }], total: 1 })
const makeResult = () => ({ content: [block('a text'), block('another')] })

/** Bytes that a model is sent of a value: a text as it is, anything else as JSON without the
 *  escapes of its texts. */
function sentOf(value) {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2
  if (typeof value !== 'object' || value === null) return String(value).length
  const each = Object.entries(value).map(
    ([name, member]) => (Array.isArray(value) ? 1 : name.length + 4) + sentOf(member),
  )
  return each.reduce((sum, size) => sum + size, 2)
}

const json = (value) => JSON.parse(JSON.stringify(value))

function assertBounded(seed, sent, count = 1) {
  assert.ok(sentOf(json(sent)) <= count * BOUND, `seed ${seed}: ${sentOf(json(sent))} bytes`)
}

for (const [name, make] of Object.entries({ data: makeData, result: makeResult })) {
  test(`AI SDK, generateText: a tool that returns ${name}`, async () => {
    for (const [seed, value] of changed(make)) {
      let sent
      const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
      const model = new MockLanguageModelV3({
        doGenerate: async ({ prompt }) => {
          sent = prompt.filter(({ role }) => role === 'tool')
          const reason = sent.length > 0 ? 'stop' : 'tool-calls'
          const call = { type: 'tool-call', toolCallId: 'c', toolName: 't', input: '{}' }
          const content = sent.length > 0 ? [block('done')] : [call]
          return { content, finishReason: { unified: reason, raw: reason }, usage, warnings: [] }
        },
      })
      const t = wrapTool(tool({ inputSchema: z.object({}), execute: async () => value }), policy)
      await generateText({ model, tools: { t }, stopWhen: stepCountIs(2), prompt: 'go' })
      assert.equal(sent.length, 1)
      assertBounded(seed, sent)
    }
  })

  test(`AI SDK, convertToModelMessages: a chat that kept ${name}`, async () => {
    for (const [seed, output] of changed(make)) {
      const part = { type: 'tool-t', toolCallId: 'c', state: 'output-available', input: {}, output }
      const kept = [{ id: 'm', role: 'assistant', parts: [part] }]
      const { messages } = clampMessages(kept, policy)
      const sent = (await convertToModelMessages(messages)).filter(({ role }) => role === 'tool')
      assert.equal(sent.length, 1)
      assertBounded(seed, sent)
    }
  })

  test(`LangChain, ToolNode: a tool that returns ${name}`, async () => {
    for (const [seed, value] of changed(make)) {
      const t = wrapTool(
        langchainTool(async () => value, { name: 't', schema: z.object({}) }),
        policy,
      )
      const call = {
        role: 'assistant',
        content: '',
        tool_calls: [{ name: 't', args: {}, id: 'c', type: 'tool_call' }],
      }
      const { messages } = await new ToolNode([t]).invoke({ messages: [new AIMessage(call)] })
      assert.ok(ToolMessage.isInstance(messages[0]))
      assertBounded(seed, messages[0].content)
    }
  })
}

test('MCP: what a client is sent', async () => {
  let value
  const server = new McpServer({ name: 's', version: '1.0.0' })
  server.registerTool('t', { inputSchema: {} }, async () => value)
  const client = new Client({ name: 'c', version: '1.0.0' })
  const [here, there] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(here), client.connect(there)])
  wrapTool(client, { ...policy, method: 'callTool' })
  let taken = 0
  for (const [seed, changedValue] of changed(makeResult)) {
    value = changedValue
    // A client refuses what is not a content block.
    const sent = await client.callTool({ name: 't', arguments: {} }).catch(() => undefined)
    if (sent === undefined) continue
    taken += 1
    assertBounded(seed, sent)
  }
  assert.ok(taken > RUNS / 8, String(taken))
  await client.close()
})

/** The request that Pi makes of a turn in which a tool returns a value; nothing where Pi cannot
 *  read that. */
async function requestOf(provider, value) {
  const faux = registerFauxProvider({ models: [{ id: 'faux-1' }], tokensPerSecond: 0 })
  faux.setResponses([fauxAssistantMessage([fauxToolCall('t', {})], { stopReason: 'toolUse' })])
  let request
  const onPayload = (payload) => {
    request = payload
    throw new Error('nothing is sent')
  }
  const streamFn = (model, context, options) =>
    context.messages.some(({ role }) => role === 'toolResult')
      ? streamSimple(getModels(provider)[0], context, { ...options, onPayload })
      : streamSimple(model, context, options)
  const tools = [
    wrapTool(
      makeTool('t', async () => value),
      policy,
    ),
  ]
  const initialState = { model: faux.getModel(), tools }
  const agent = new Agent({ initialState, convertToLlm, streamFn, getApiKey: () => 'key' })
  await agent.prompt('go')
  faux.unregister()
  return request
}

const makePi = () => ({ ...makeResult(), details: { raw: 'a detail' } })

for (const provider of ['anthropic', 'openai', 'google', 'mistral', 'xai', 'amazon-bedrock']) {
  test(`Pi, a request to ${provider}: a tool that returns a result`, async () => {
    let taken = 0
    for (const [seed, value] of changed(makePi)) {
      const request = await requestOf(provider, value)
      if (request === undefined) continue
      taken += 1
      assertBounded(seed, request)
    }
    assert.ok(taken > RUNS / 2, String(taken))
  })
}
