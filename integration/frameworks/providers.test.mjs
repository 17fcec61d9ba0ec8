// The raw clients of the providers against a server of our own, which keeps what they send.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import OpenAI from 'openai'
import { clampMessages } from 'spillway'
import { bytes, DECISIVE, documented, FAILURE, IMAGE, LIMIT, ROWS, size, TEXT } from './scenario.mjs'

const ANSWERS = {
  '/v1/messages': {
    type: 'message',
    role: 'assistant',
    content: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  '/v1/chat/completions': { object: 'chat.completion', choices: [] },
  '/v1/responses': { object: 'response', output: [] },
  '/v1beta/models/gemini:generateContent': { candidates: [] },
  '/model/bedrock/converse': {
    output: { message: { role: 'assistant', content: [] } },
    stopReason: 'end_turn',
  },
}

let sent = []
let baseURL = ''
const server = createServer(async (request, response) => {
  const chunks = await request.toArray()
  sent.push(JSON.parse(Buffer.concat(chunks)))
  response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWERS[request.url]))
})

before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  baseURL = `http://127.0.0.1:${server.address().port}`
})
beforeEach(() => {
  sent = []
})
after(() => server.close().closeAllConnections())

const apiKey = 'none'
const CACHED = { type: 'ephemeral' }

/** Sends a history as it is, then clamped, and returns the second body. */
async function both(provider, history, send) {
  const before = JSON.stringify(history)
  await send(history)
  const { messages } = clampMessages(history)
  await send(messages)
  assert.equal(JSON.stringify(history), before)
  assert.ok(bytes(sent[0]) > 10_000_000)
  const measured = sent.map(bytes).map(size)
  assert.deepEqual(measured, documented('OpenAI, Anthropic, Gemini and Bedrock')[provider])
  return sent[1]
}

function within(...texts) {
  for (const text of texts) {
    assert.equal(typeof text, 'string')
    assert.ok(bytes(text) <= LIMIT && bytes(text) > LIMIT / 2, String(bytes(text)))
    assert.match(text, /more characters truncated\]/)
  }
}

test('Anthropic Messages', async () => {
  const anthropic = new Anthropic({ apiKey, baseURL })
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } }
  const calls = ['1', '2', '3'].map((id) => ({ type: 'tool_use', id, name: 'tool', input: {} }))
  const results = [
    { type: 'tool_result', tool_use_id: '1', content: TEXT },
    { type: 'tool_result', tool_use_id: '2', content: FAILURE, is_error: true, cache_control: CACHED },
    { type: 'tool_result', tool_use_id: '3', content: [{ type: 'text', text: TEXT }, image] },
  ]
  const history = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: calls },
    { role: 'user', content: [...results, { type: 'text', text: 'and now?' }] },
  ]
  const { messages } = await both('Anthropic Messages', history, (messages) =>
    anthropic.messages.create({ model: 'claude', max_tokens: 1, messages }),
  )
  assert.deepEqual(messages.slice(0, 2), history.slice(0, 2))
  const [big, boom, shot, asked] = messages[2].content
  within(big.content, boom.content, shot.content[0].text)
  assert.ok(boom.content.includes(DECISIVE))
  assert.deepEqual({ ...boom, content: null }, { ...results[1], content: null })
  assert.deepEqual(shot.content[1], image)
  assert.deepEqual(asked, { type: 'text', text: 'and now?' })
})

test('OpenAI Chat', async () => {
  const openai = new OpenAI({ apiKey, baseURL: `${baseURL}/v1` })
  const calls = ['1', '2'].map((id) => ({
    id,
    type: 'function',
    function: { name: 'tool', arguments: '{}' },
  }))
  const history = [
    { role: 'user', content: 'go' },
    { role: 'assistant', tool_calls: calls },
    { role: 'tool', tool_call_id: '1', content: TEXT },
    { role: 'tool', tool_call_id: '2', content: [{ type: 'text', text: TEXT }] },
  ]
  const { messages } = await both('OpenAI Chat', history, (messages) =>
    openai.chat.completions.create({ model: 'gpt', messages }),
  )
  assert.deepEqual(messages.slice(0, 2), history.slice(0, 2))
  within(messages[2].content, messages[3].content[0].text)
  assert.deepEqual([messages[2].tool_call_id, messages[3].tool_call_id], ['1', '2'])
})

test('OpenAI Responses', async () => {
  const openai = new OpenAI({ apiKey, baseURL: `${baseURL}/v1` })
  const image = { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${IMAGE}` }
  const history = [
    { role: 'user', content: 'go' },
    { type: 'function_call', call_id: '1', name: 'tool', arguments: '{}' },
    { type: 'function_call', call_id: '2', name: 'tool', arguments: '{}' },
    { type: 'function_call_output', call_id: '1', output: TEXT },
    { type: 'function_call_output', call_id: '2', output: [{ type: 'input_text', text: TEXT }, image] },
  ]
  const { input } = await both('OpenAI Responses', history, (input) =>
    openai.responses.create({ model: 'gpt', input }),
  )
  assert.deepEqual(input.slice(0, 3), history.slice(0, 3))
  within(input[3].output, input[4].output[0].text)
  assert.deepEqual(input[4].output[1], image)
  assert.deepEqual([input[3].call_id, input[4].call_id], ['1', '2'])
})

test('Gemini', async () => {
  const gemini = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: baseURL } })
  const parts = [{ inlineData: { mimeType: 'image/png', data: IMAGE } }]
  const results = [
    { functionResponse: { id: '1', name: 'big', response: { output: TEXT }, parts } },
    { functionResponse: { id: '2', name: 'boom', response: { error: FAILURE } } },
    { functionResponse: { id: '3', name: 'rows', response: { rows: ROWS } } },
  ]
  const history = [
    { role: 'user', parts: [{ text: 'go' }] },
    {
      role: 'model',
      parts: results.map(({ functionResponse: { id, name } }) => ({ functionCall: { id, name } })),
    },
    { role: 'user', parts: results },
  ]
  const { contents } = await both('Gemini', history, (contents) =>
    gemini.models.generateContent({ model: 'gemini', contents }),
  )
  assert.deepEqual(contents.slice(0, 2), history.slice(0, 2))
  const [big, boom, rows] = contents[2].parts.map(({ functionResponse }) => functionResponse)
  within(big.response.output, boom.response.error, JSON.stringify(rows.response))
  assert.ok(boom.response.error.includes(DECISIVE))
  assert.deepEqual([big.id, boom.id, rows.id, rows.name], ['1', '2', '3', 'rows'])
  assert.deepEqual(big.parts, parts)
})

test('Bedrock Converse', async () => {
  const credentials = { accessKeyId: 'none', secretAccessKey: 'none' }
  const requestHandler = new NodeHttpHandler()
  const bedrock = new BedrockRuntimeClient({
    region: 'us-east-1',
    endpoint: baseURL,
    credentials,
    requestHandler,
  })
  const image = { image: { format: 'png', source: { bytes: Buffer.from(IMAGE, 'base64') } } }
  const results = [
    { toolResult: { toolUseId: '1', content: [{ text: TEXT }, image] } },
    { toolResult: { toolUseId: '2', content: [{ text: FAILURE }], status: 'error' } },
    { toolResult: { toolUseId: '3', content: [{ json: { rows: ROWS } }] } },
  ]
  const calls = results.map(({ toolResult: { toolUseId } }) => ({
    toolUse: { toolUseId, name: 'tool', input: {} },
  }))
  const history = [
    { role: 'user', content: [{ text: 'go' }] },
    { role: 'assistant', content: calls },
    { role: 'user', content: results },
  ]
  const { messages } = await both('Bedrock Converse', history, (messages) =>
    bedrock.send(new ConverseCommand({ modelId: 'bedrock', messages })),
  )
  assert.deepEqual(messages.slice(0, 2), history.slice(0, 2))
  const [big, boom, rows] = messages[2].content.map(({ toolResult }) => toolResult)
  within(big.content[0].text, boom.content[0].text, JSON.stringify(rows.content[0].json))
  assert.equal(big.content[1].image.source.bytes, IMAGE)
  assert.deepEqual([big.toolUseId, boom.toolUseId, rows.toolUseId, boom.status], ['1', '2', '3', 'error'])
  assert.deepEqual(Object.keys(rows.content[0]), ['json'])
})
