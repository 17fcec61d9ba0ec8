import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { StructuredTool } from '@langchain/core/tools'
import { Command, interrupt, MemorySaver } from '@langchain/langgraph'
import { createAgent, createMiddleware, fakeModel, tool } from 'langchain'
import { clampMessages, wrapTool, wrapTools } from 'spillway'
import { z } from 'zod'
import { bytes, DECISIVE, documented, FAILURE, IMAGE, LIMIT, largest, ROWS, size, TEXT } from './scenario.mjs'

const schema = z.object({})
const PICTURE = { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE}` } }

/** Fresh ones, since wrapping changes class instances. */
const makeTools = () => [
  tool(async () => TEXT, { name: 'big', schema }),
  tool(async () => ({ rows: ROWS }), { name: 'object', schema }),
  tool(async () => [{ type: 'text', text: TEXT }, PICTURE], { name: 'shot', schema }),
  tool(async () => [TEXT, { raw: TEXT.slice(0, 300_000) }], {
    name: 'pair',
    schema,
    responseFormat: 'content_and_artifact',
  }),
  tool(
    async (_input, { toolCall }) => {
      const message = new ToolMessage({ content: TEXT, tool_call_id: toolCall.id, name: 'command' })
      return new Command({ update: { messages: [message] } })
    },
    { name: 'command', schema },
  ),
  tool(
    async () => {
      throw Object.assign(new Error(FAILURE), { code: 'EBIG' })
    },
    { name: 'boom', schema },
  ),
]

const names = makeTools().map(({ name }) => name)

function kept(entries) {
  if (entries instanceof Uint8Array) return entries.length
  if (typeof entries !== 'object' || entries === null) return 0
  return Object.values(entries).reduce((sum, entry) => sum + kept(entry), 0)
}

const resultsIn = (messages) => messages.filter((message) => ToolMessage.isInstance(message))
const textOf = ({ content }) => {
  if (typeof content === 'string') return content
  return content.map(({ text = '' }) => text).join('')
}

async function turn({ tools = makeTools(), middleware = [] } = {}) {
  const model = fakeModel()
    .respondWithTools(tools.map(({ name }) => ({ name, args: {}, id: `call ${name}` })))
    .respond(new AIMessage('done'))
  const checkpointer = new MemorySaver()
  const agent = createAgent({ model, tools, middleware, checkpointer })
  const config = { configurable: { thread_id: '1' } }
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'go' }] }, config)
  const shown = resultsIn(messages)
  const stored = kept(checkpointer.storage) + kept(checkpointer.writes)
  return { sent: resultsIn(model.calls.at(-1).messages), stored, shown }
}

/** Words that LangChain puts around the message of an error, after any clamp of the tool. */
const WORDS = /^Error: |\n Please fix your mistakes\.$/g

/** A middleware must answer what a tool throws, or the run ends. */
function answer({ toolCall }, { message }) {
  return new ToolMessage({
    content: message,
    name: toolCall.name,
    tool_call_id: toolCall.id,
    status: 'error',
  })
}

/** Hooks of LangChain, as docs/frameworks.md lists them. */
const hooks = {
  none: () => turn(),
  wrapTools: () => {
    const tools = makeTools()
    const clamped = wrapTools(tools)
    return turn({ tools: clamped })
  },
  "wrapTools, sideData: 'cap'": () => turn({ tools: wrapTools(makeTools(), { sideData: 'cap' }) }),
  wrapToolCall: () => {
    const clamp = createMiddleware({
      name: 'clamp',
      wrapToolCall: wrapTool((request, handler) => handler(request).catch((error) => answer(request, error))),
    })
    return turn({ middleware: [clamp] })
  },
  wrapModelCall: () => {
    const clamp = createMiddleware({
      name: 'clamp',
      wrapModelCall: (request, handler) =>
        handler({ ...request, messages: clampMessages(request.messages).messages }),
    })
    return turn({ middleware: [clamp] })
  },
}

const turns = new Map()

function hooked(name) {
  if (!turns.has(name)) turns.set(name, hooks[name]())
  return turns.get(name)
}

for (const name of Object.keys(hooks)) {
  test(`${name}: what the model was sent, the checkpoints hold and the state shows`, async () => {
    const { sent, stored, shown } = await hooked(name)
    const measured = [largest(sent.map(textOf)), stored, largest(shown.map(textOf))].map(size)
    assert.deepEqual(measured, documented('LangChain and LangGraph')[name])
  })
}

test('without a clamp megabytes go everywhere', async () => {
  const { sent, stored } = await hooked('none')
  assert.deepEqual(sent.map(({ name }) => name).sort(), [...names].sort())
  for (const message of sent) assert.ok(bytes(textOf(message)) > 2_000_000, message.name)
  assert.ok(stored > 50_000_000)
})

for (const name of ['wrapTools', 'wrapToolCall']) {
  test(`${name}: every result is within the limits, whole in kind, and so are the checkpoints`, async () => {
    const { sent, stored, shown } = await hooked(name)
    assert.deepEqual(sent.map(({ name }) => name).sort(), [...names].sort())
    for (const message of [...sent, ...shown]) {
      assert.ok(bytes(textOf(message).replace(WORDS, '')) <= LIMIT, message.name)
      assert.ok(bytes(textOf(message)) > LIMIT / 2, message.name)
      assert.ok(message instanceof ToolMessage)
      assert.equal(message.tool_call_id, `call ${message.name}`)
      assert.ok(bytes(message.toJSON()) <= LIMIT * 1.2 + (message.artifact ? 320_000 : 0), message.name)
      assert.ok(bytes(message.lc_kwargs.content) <= LIMIT * 1.1, message.name)
      assert.equal(message.status === 'error', message.name === 'boom', message.name)
    }
    const byName = Object.fromEntries(sent.map((message) => [message.name, message]))
    assert.deepEqual(byName.shot.content[1], PICTURE)
    assert.equal(byName.pair.artifact.raw.length, 300_000)
    assert.ok(textOf(byName.boom).includes(DECISIVE))
    assert.ok(textOf(byName.object).startsWith('{"rows":["line of tool'))
    // Six results in each of four checkpoints, six pending writes, and the artifact in all of
    // those.
    assert.ok(stored <= 4_000_000, String(stored))
  })
}

test('an artifact is dropped or capped as sideData says', async () => {
  const { sent, stored } = await hooked("wrapTools, sideData: 'cap'")
  const pair = sent.find(({ name }) => name === 'pair')
  assert.ok(bytes(pair.artifact) <= 8_192)
  assert.ok(bytes(pair.lc_kwargs.artifact) <= 8_192)
  assert.ok(stored <= 2_500_000, String(stored))
})

test('a tool that asks a person is interrupted, and answers once it is resumed', async () => {
  const ask = tool(async () => `${TEXT}${interrupt('may I?')}`, { name: 'ask', schema })
  const model = fakeModel()
    .respondWithTools([{ name: 'ask', args: {}, id: '1' }])
    .respond(new AIMessage('done'))
  const agent = createAgent({ model, tools: [wrapTool(ask)], checkpointer: new MemorySaver() })
  const config = { configurable: { thread_id: '1' } }
  const stopped = await agent.invoke({ messages: [{ role: 'user', content: 'go' }] }, config)
  assert.equal(stopped.__interrupt__[0].value, 'may I?')
  const { messages } = await agent.invoke(new Command({ resume: 'yes' }), config)
  const [result] = resultsIn(messages)
  assert.ok(bytes(result.content) <= LIMIT && bytes(result.content) > LIMIT / 2)
})

test('a call by hand gives content, and a pair its message', async () => {
  const [big, , , pair] = wrapTools(makeTools())
  const content = await big.invoke({})
  assert.ok(typeof content === 'string' && bytes(content) <= LIMIT)
  const message = await pair.invoke({ type: 'tool_call', name: 'pair', args: {}, id: '1' })
  assert.ok(message instanceof ToolMessage)
  assert.ok(bytes(message.content) <= LIMIT)
  assert.equal(message.artifact.raw.length, 300_000)
})

test('callbacks and tracers see what a tool returned inside of `invoke`, unless `func` is wrapped', async () => {
  const traced = async (given) => {
    const outputs = []
    for await (const { event, data } of given.streamEvents({}, { version: 'v2' })) {
      if (event === 'on_tool_end') outputs.push(data.output)
    }
    return largest(outputs)
  }
  const [big] = makeTools()
  assert.equal(await traced(wrapTool(big)), bytes(TEXT))
  const [other, object, , pair] = wrapTools(makeTools(), { method: 'func' })
  for (const given of [other, object]) assert.ok((await traced(given)) <= LIMIT)
  const message = await pair.invoke({ type: 'tool_call', name: 'pair', args: {}, id: '1' })
  assert.ok(bytes(message.content) <= LIMIT)
  assert.equal(message.artifact.raw.length, 300_000)
})

test('a class with private fields', async () => {
  class Private extends StructuredTool {
    name = 'private'
    description = 'private'
    schema = schema
    #text = TEXT

    async _call() {
      return this.#text
    }
  }
  const { sent } = await turn({ tools: [wrapTool(new Private())] })
  assert.ok(bytes(sent[0].content) <= LIMIT)
  assert.ok(sent[0].content.startsWith('line of tool output'))
})

test('stored messages come back in their class', async () => {
  const { shown } = await hooked('none')
  const before = shown.map(textOf)
  const { messages, clamped } = clampMessages(shown)
  assert.equal(clamped, 6)
  for (const [at, message] of messages.entries()) {
    assert.ok(message instanceof ToolMessage)
    assert.equal(message.id, shown[at].id)
    assert.ok(bytes(message.toJSON()) <= LIMIT * 1.2 + (message.artifact ? 320_000 : 0))
  }
  assert.deepEqual(shown.map(textOf), before)
})

test('an abort arrives at the tool', async () => {
  const controller = new AbortController()
  const aborted = []
  const wait = tool(
    async (_input, { signal }) => {
      const abort = new Promise((resolve) => signal.addEventListener('abort', resolve))
      controller.abort()
      await abort
      aborted.push(signal.aborted)
      return TEXT
    },
    { name: 'wait', schema },
  )
  wrapTool(wait)
  await assert.rejects(wait.invoke({}, { signal: controller.signal }), /abort/i)
  assert.deepEqual(aborted, [true])
})
