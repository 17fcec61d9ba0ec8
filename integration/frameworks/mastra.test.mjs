import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent } from '@mastra/core/agent'
import { MockMemory } from '@mastra/core/memory'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { tool as aiTool } from 'ai5'
import { clampMessages, wrapTools } from 'spillway'
import { z } from 'zod'
import { bytes, DECISIVE, documented, FAILURE, IMAGE, LIMIT, largest, ROWS, size, TEXT } from './scenario.mjs'

const inputSchema = z.object({})

/** Fresh ones, since wrapping changes class instances. */
const makeTools = () => ({
  big: createTool({ id: 'big', description: 'big', inputSchema, execute: async () => TEXT }),
  object: createTool({
    id: 'object',
    description: 'object',
    inputSchema,
    execute: async () => ({ rows: ROWS }),
  }),
  boom: createTool({
    id: 'boom',
    description: 'boom',
    inputSchema,
    execute: async () => {
      throw new Error(FAILURE)
    },
  }),
})

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }

/** A model that calls every tool at first, and then is done. */
function makeModel(names, sent) {
  const answer = (prompt) => {
    const results = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []))
    sent.push(...results)
    if (results.length > 0) return { content: [{ type: 'text', text: 'done' }], finishReason: 'stop' }
    const calls = names.map((name) => ({
      type: 'tool-call',
      toolCallId: `call ${name}`,
      toolName: name,
      input: '{}',
    }))
    return { content: calls, finishReason: 'tool-calls' }
  }
  return {
    specificationVersion: 'v2',
    provider: 'script',
    modelId: 'script',
    supportedUrls: {},
    doGenerate: async ({ prompt }) => ({ ...answer(prompt), usage, warnings: [] }),
    doStream: async ({ prompt }) => {
      const { content, finishReason } = answer(prompt)
      const said = [
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'done' },
        { type: 'text-end', id: '1' },
      ]
      const chunks = finishReason === 'stop' ? said : content
      const parts = [
        { type: 'stream-start', warnings: [] },
        ...chunks,
        { type: 'finish', finishReason, usage },
      ]
      return { stream: ReadableStream.from(parts) }
    },
  }
}

function textOf({ output: { type, value } }) {
  if (type === 'content') return value.map(({ text = '' }) => text).join('')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

async function turn({ tools = makeTools(), inputProcessors } = {}) {
  const sent = []
  const memory = new MockMemory({ storage: new InMemoryStore() })
  const agent = new Agent({
    id: 'agent',
    name: 'agent',
    instructions: 'go',
    model: makeModel(Object.keys(tools), sent),
    tools,
    memory,
    ...(inputProcessors && { inputProcessors }),
  })
  const result = await agent.generate('go', { memory: { thread: '1', resource: 'user' }, maxSteps: 3 })
  const { messages } = await memory.recall({ threadId: '1', resourceId: 'user' })
  return { sent, stored: messages, shown: result.toolResults }
}

/** Hooks of Mastra, as docs/frameworks.md lists them. */
const hooks = {
  none: () => turn(),
  wrapTools: () => {
    const tools = makeTools()
    const clamped = wrapTools(tools)
    return turn({ tools: clamped })
  },
  processInputStep: () => {
    const clamp = { id: 'clamp', processInputStep: ({ messages }) => clampMessages(messages) }
    return turn({ inputProcessors: [clamp] })
  },
}

const turns = new Map()

function hooked(name) {
  if (!turns.has(name)) turns.set(name, hooks[name]())
  return turns.get(name)
}

for (const name of Object.keys(hooks)) {
  test(`${name}: what the model was sent, the memory holds and the caller got`, async () => {
    const { sent, stored, shown } = await hooked(name)
    const results = shown.map(({ payload }) => payload.result)
    const measured = [largest(sent.map(textOf)), bytes(stored), largest(results)].map(size)
    assert.deepEqual(measured, documented('Mastra')[name])
  })
}

test('without a clamp megabytes go everywhere', async () => {
  const { sent, stored } = await hooked('none')
  assert.equal(sent.length, 3)
  for (const result of sent) assert.ok(bytes(textOf(result)) > 2_000_000, result.toolName)
  assert.ok(bytes(stored) > 11_000_000)
})

test('wrapped tools: every result is within the limits, and so is the memory', async () => {
  const { sent, stored, shown } = await hooked('wrapTools')
  assert.deepEqual(
    sent.map(({ toolName, output }) => [toolName, output.type]),
    [
      ['big', 'text'],
      ['object', 'json'],
      ['boom', 'error-text'],
    ],
  )
  for (const result of sent) {
    assert.ok(bytes(textOf(result)) <= LIMIT, result.toolName)
    assert.ok(bytes(textOf(result)) > LIMIT / 2, result.toolName)
  }
  assert.ok(textOf(sent[2]).includes(DECISIVE))
  for (const { payload } of shown) assert.ok(bytes(payload.result) <= LIMIT * 1.1)
  assert.ok(bytes(stored) <= 3 * LIMIT * 1.1 + 8_192, String(bytes(stored)))
})

test('a tool of the AI SDK keeps its object, and the model is sent 50 KB', async () => {
  const object = aiTool({ inputSchema, execute: async () => ({ rows: ROWS }) })
  const { sent, shown } = await turn({ tools: wrapTools({ object }) })
  assert.equal(sent.length, 1)
  assert.ok(bytes(textOf(sent[0])) <= LIMIT)
  assert.deepEqual(shown[0].payload.result, { rows: ROWS })
})

test('a tool with toModelOutput keeps its raw result, an image goes to the model beside 50 KB', async () => {
  const shot = createTool({
    id: 'shot',
    description: 'shot',
    inputSchema,
    execute: async () => ({ text: TEXT, image: IMAGE }),
    toModelOutput: ({ text, image }) => ({
      type: 'content',
      value: [
        { type: 'text', text },
        { type: 'media', data: image, mediaType: 'image/png' },
      ],
    }),
  })
  const { sent, shown } = await turn({ tools: wrapTools({ shot }) })
  assert.ok(bytes(textOf(sent[0])) <= LIMIT)
  assert.equal(sent[0].output.value[1].data, IMAGE)
  assert.deepEqual(shown[0].payload.result, { text: TEXT, image: IMAGE })
})

test('messages that were stored are clamped, each call with its result', async () => {
  const { stored } = await hooked('none')
  const { messages, clamped } = clampMessages(stored)
  assert.equal(clamped, 3)
  assert.ok(bytes(messages) <= 3 * LIMIT * 1.1 + 8_192, String(bytes(messages)))
  assert.deepEqual(
    messages.map(({ id, createdAt }) => [id, createdAt]),
    stored.map(({ id, createdAt }) => [id, createdAt]),
  )
})

test('a cut is reported with the tool and the call', async () => {
  const told = new Map()
  const onClamp = ({ tool, callId, phase }) => told.set(tool, [callId, phase])
  await turn({ tools: wrapTools(makeTools(), { onClamp }) })
  const phase = (name) => (name === 'boom' ? 'error' : 'result')
  assert.deepEqual(
    [...told].sort(),
    Object.keys(makeTools())
      .sort()
      .map((name) => [name, [`call ${name}`, phase(name)]]),
  )
})
