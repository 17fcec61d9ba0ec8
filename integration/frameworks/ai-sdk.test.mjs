import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  convertToModelMessages,
  generateText,
  jsonSchema,
  simulateReadableStream,
  stepCountIs,
  streamText,
  tool,
  wrapLanguageModel,
} from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { clampMessages, wrapTool, wrapTools } from 'spillway'
import { z } from 'zod'
import { bytes, DECISIVE, documented, FAILURE, IMAGE, LIMIT, largest, ROWS, size, TEXT } from './scenario.mjs'

const inputSchema = z.object({})
const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } }
const IMAGE_PART = { type: 'image-data', data: IMAGE, mediaType: 'image/png' }
/** Errors that `boom` threw. */
const failures = []

const tools = {
  big: tool({ inputSchema, execute: () => TEXT }),
  later: tool({ inputSchema, execute: async () => TEXT }),
  object: tool({ inputSchema, execute: async () => ({ rows: ROWS, count: 1 }) }),
  rows: tool({
    inputSchema,
    execute: async () => ({ rows: ROWS }),
    toModelOutput: ({ output }) => ({ type: 'text', value: output.rows.join('\n') }),
  }),
  shot: tool({
    inputSchema,
    execute: async () => ({ text: TEXT, image: IMAGE }),
    toModelOutput: async ({ output }) => ({
      type: 'content',
      value: [
        { type: 'text', text: output.text, providerOptions: CACHED },
        { ...IMAGE_PART, data: output.image },
      ],
    }),
  }),
  boom: tool({
    inputSchema,
    execute: async () => {
      const failure = Object.assign(new Error(FAILURE), { code: 'EBIG' })
      failures.push(failure)
      throw failure
    },
  }),
}

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const finish = (unified) => ({ unified, raw: unified })

const callsOf = (names) =>
  names.map((name) => ({ type: 'tool-call', toolCallId: `call ${name}`, toolName: name, input: '{}' }))
const resultsIn = (messages) =>
  messages
    .flatMap(({ role, content }) => (role === 'tool' ? content : []))
    .filter(({ type }) => type === 'tool-result')

/** A model that calls every tool at first, and then is done. */
function makeModel(names, sent) {
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const results = resultsIn(prompt)
      sent.push(...results)
      if (results.length > 0)
        return {
          content: [{ type: 'text', text: 'done' }],
          finishReason: finish('stop'),
          usage,
          warnings: [],
        }
      return { content: callsOf(names), finishReason: finish('tool-calls'), usage, warnings: [] }
    },
    doStream: async ({ prompt }) => {
      const results = resultsIn(prompt)
      sent.push(...results)
      const said = [
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'done' },
        { type: 'text-end', id: '1' },
      ]
      const chunks = [
        { type: 'stream-start', warnings: [] },
        ...(results.length > 0 ? said : callsOf(names)),
        { type: 'finish', finishReason: finish(results.length > 0 ? 'stop' : 'tool-calls'), usage },
      ]
      return { stream: simulateReadableStream({ chunks }) }
    },
  })
}

const stopWhen = stepCountIs(3)

async function turn({ tools: given = tools, middleware, ...hook } = {}) {
  const sent = []
  const mock = makeModel(Object.keys(given), sent)
  const model = middleware ? wrapLanguageModel({ model: mock, middleware }) : mock
  const { response, steps } = await generateText({ model, tools: given, stopWhen, prompt: 'go', ...hook })
  return { sent, messages: response.messages, steps }
}

/** Hooks of the AI SDK, as docs/frameworks.md lists them. */
const hooks = {
  none: () => turn(),
  wrapTools: () => {
    const clamped = wrapTools(tools)
    return turn({ tools: clamped })
  },
  prepareStep: () => {
    const prepareStep = ({ messages }) => clampMessages(messages)
    return turn({ prepareStep })
  },
  transformParams: () => {
    const middleware = {
      specificationVersion: 'v3',
      transformParams: async ({ params }) => ({ ...params, prompt: clampMessages(params.prompt).messages }),
    }
    return turn({ middleware })
  },
}

const turns = new Map()

function hooked(name) {
  if (!turns.has(name)) turns.set(name, hooks[name]())
  return turns.get(name)
}

/** Text of a result, without its images, which are not cut. */
function textOf({ output: { type, value } }) {
  if (type === 'content') return value.map(({ text = '' }) => text).join('')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

for (const name of Object.keys(hooks)) {
  test(`${name}: what the model was sent, the messages hold and the UI got`, async () => {
    const { sent, messages, steps } = await hooked(name)
    const shown = steps[0].toolResults.map(({ output }) => output)
    const measured = [largest(sent.map(textOf)), bytes(messages), largest(shown)].map(size)
    assert.deepEqual(measured, documented('AI SDK')[name])
  })
}

test('without a clamp megabytes go everywhere', async () => {
  const { sent, messages, steps } = await hooked('none')
  assert.equal(sent.length, 6)
  for (const result of sent) assert.ok(bytes(textOf(result)) > 2_000_000, result.toolName)
  assert.ok(bytes(messages) > 20_000_000)
  assert.equal(steps[0].toolResults.find(({ toolName }) => toolName === 'big').output, TEXT)
})

for (const name of ['wrapTools', 'prepareStep', 'transformParams']) {
  test(`${name}: every result that the model is sent is within the limits, and none is lost`, async () => {
    const { sent } = await hooked(name)
    assert.deepEqual(
      sent.map(({ toolName, output }) => [toolName, output.type]),
      [
        ['big', 'text'],
        ['later', 'text'],
        ['object', 'json'],
        ['rows', 'text'],
        ['shot', 'content'],
        ['boom', 'error-text'],
      ],
    )
    for (const result of sent) assert.ok(bytes(textOf(result)) <= LIMIT, result.toolName)
    const [text, image] = sent[4].output.value
    assert.deepEqual(text.providerOptions, CACHED)
    assert.deepEqual(image, IMAGE_PART)
    assert.ok(textOf(sent[3]).startsWith(ROWS[0]))
    assert.ok(textOf(sent[5]).includes(DECISIVE))
  })
}

test('wrapped tools: messages that apps store are small; objects and what toModelOutput converts stay raw', async () => {
  const { messages, steps } = await hooked('wrapTools')
  for (const result of resultsIn(messages)) assert.ok(bytes(textOf(result)) <= LIMIT, result.toolName)
  assert.ok(bytes(messages) <= 6 * LIMIT + 8_192, String(bytes(messages)))
  const shown = Object.fromEntries(steps[0].toolResults.map(({ toolName, output }) => [toolName, output]))
  for (const name of ['big', 'later']) assert.ok(bytes(shown[name]) <= LIMIT, name)
  assert.deepEqual(shown.object, { rows: ROWS, count: 1 })
  assert.deepEqual(shown.rows, { rows: ROWS })
  assert.deepEqual(shown.shot, { text: TEXT, image: IMAGE })
  const thrown = steps[0].content.find(({ type }) => type === 'tool-error').error
  assert.ok(failures.includes(thrown))
  assert.ok(bytes(thrown.message) <= LIMIT)
})

test('stored messages are clamped and replayed, each call with its result', async () => {
  const { messages } = await hooked('none')
  const stored = JSON.parse(JSON.stringify(messages))
  const clamped = clampMessages(stored).messages
  assert.ok(bytes(clamped) <= 6 * LIMIT + 8_192, String(bytes(clamped)))
  const sent = []
  const prompt = [{ role: 'user', content: 'go' }, ...clamped, { role: 'user', content: 'again' }]
  const { text } = await generateText({ model: makeModel([], sent), messages: prompt })
  assert.equal(text, 'done')
  assert.equal(sent.length, 6)
  for (const result of sent) assert.ok(bytes(textOf(result)) <= LIMIT, result.toolName)
})

/** Messages that a chat keeps of a turn. */
async function uiMessages(given) {
  const model = makeModel(Object.keys(given), [])
  let kept = []
  const stream = streamText({ model, tools: given, stopWhen, prompt: 'go' }).toUIMessageStream({
    onError: (error) => error.message,
    onFinish: ({ messages }) => {
      kept = messages
    },
  })
  for await (const _ of stream);
  return JSON.parse(JSON.stringify(kept))
}

test('a chat: its texts are small, and it replays small where a raw result was kept', async () => {
  const clamped = wrapTools(tools)
  const kept = await uiMessages(clamped)
  for (const part of kept.flatMap(({ parts }) => parts)) {
    const name = part.type.replace('tool-', '')
    if (['rows', 'shot', 'object'].includes(name)) assert.ok(bytes(part.output) > 2_000_000, name)
    else if (name in tools) assert.ok(bytes(part.output ?? part.errorText) <= LIMIT, name)
  }
  const messages = await convertToModelMessages(kept, { tools: clamped })
  assert.equal(resultsIn(messages).length, 6)
  for (const result of resultsIn(messages)) assert.ok(bytes(textOf(result)) <= LIMIT, result.toolName)
})

test('a chat that was kept without a clamp', async () => {
  const { rows: _, shot: __, ...plain } = tools
  const kept = await uiMessages(plain)
  assert.ok(bytes(kept) > 11_000_000)
  const { messages: clamped, clamped: count } = clampMessages(kept)
  assert.equal(count, 4)
  assert.ok(bytes(clamped) <= 4 * LIMIT + 8_192, String(bytes(clamped)))
  const messages = await convertToModelMessages(clamped, { tools: plain })
  assert.equal(resultsIn(messages).length, 4)
  for (const result of resultsIn(messages)) assert.ok(bytes(textOf(result)) <= LIMIT, result.toolName)
})

test('the steps of a generator', async () => {
  const steps = tool({
    inputSchema,
    async *execute() {
      yield TEXT
      yield `${TEXT}final`
    },
  })
  const shown = async (given) => {
    const model = makeModel(['steps'], [])
    const { fullStream } = streamText({ model, tools: given, stopWhen, prompt: 'go' })
    const results = []
    for await (const part of fullStream) if (part.type === 'tool-result') results.push(part)
    return results
  }
  const raw = await shown({ steps })
  assert.deepEqual(
    raw.map(({ preliminary = false, output }) => [preliminary, output.length]),
    [
      [true, TEXT.length],
      [true, TEXT.length + 5],
      [false, TEXT.length + 5],
    ],
  )
  const clamped = await shown(wrapTools({ steps }))
  assert.equal(clamped.length, 3)
  for (const { output } of clamped) assert.ok(bytes(output) <= LIMIT)
})

test('an abort arrives at the tool', async () => {
  const controller = new AbortController()
  const aborted = []
  const wait = tool({
    inputSchema,
    execute: async (_input, { abortSignal }) => {
      const abort = new Promise((resolve) => abortSignal.addEventListener('abort', resolve))
      controller.abort()
      await abort
      aborted.push(abortSignal.aborted)
      return TEXT
    },
  })
  const hook = { tools: wrapTools({ wait }), abortSignal: controller.signal }
  await turn(hook).catch((error) => assert.equal(error.name, 'AbortError'))
  assert.deepEqual(aborted, [true])
})

test('an MCP result that goes to the model as JSON, without its structured content', async () => {
  const remote = tool({
    inputSchema,
    execute: async () => ({ content: [{ type: 'text', text: TEXT }], structuredContent: { rows: ROWS } }),
  })
  const { sent } = await turn({ tools: wrapTools({ remote }, { sideData: 'drop' }) })
  assert.equal(sent[0].output.type, 'json')
  assert.ok(bytes(textOf(sent[0])) <= LIMIT * 1.1)
  assert.ok(sent[0].output.value.content[0].text.startsWith('line of tool output'))
})

test('a cut is reported with the tool and the call', async () => {
  const told = new Map()
  const onClamp = ({ tool, callId, phase }) => told.set(tool, [callId, phase])
  await turn({ tools: wrapTools(tools, { onClamp }) })
  const phase = (name) => (name === 'boom' ? 'error' : 'result')
  assert.deepEqual(
    [...told].sort(),
    Object.keys(tools)
      .sort()
      .map((name) => [name, [`call ${name}`, phase(name)]]),
  )
})

test('a tool that can be asked for a part is to be asked for one, however its parameters are written', () => {
  const execute = () => TEXT
  const advised = (inputSchema) =>
    /chars omitted \([^)]*\); (\w+)/.exec(wrapTool(tool({ inputSchema, execute })).execute())?.[1]
  const number = { type: 'number' }
  assert.equal(advised(z.object({ path: z.string(), offset: z.number().optional() })), 'request')
  assert.equal(advised(jsonSchema({ type: 'object', properties: { limit: number } })), 'request')
  assert.equal(advised(z.object({ path: z.string() })), 'ask')
  assert.equal(advised(jsonSchema({ type: 'object', properties: { path: number } })), 'ask')
})

test('a model is sent no more than the limits of what is thrown, whatever that is', async () => {
  const far = { data: TEXT, headers: { a: 1 } }
  const thrown = {
    list: [TEXT, TEXT],
    data: { reason: TEXT },
    instance: new (class Failed {
      rows = TEXT
    })(),
    bytes: Buffer.from(TEXT),
    map: new Map([['a', TEXT]]),
    named: Object.assign(new Error('m'), { name: TEXT }),
    axios: Object.assign(new Error('m'), { response: far, config: far, stdout: TEXT }),
    cause: new Error(TEXT, { cause: { body: TEXT } }),
    aggregate: new AggregateError([new Error(TEXT), new Error(TEXT)], TEXT),
  }
  const throwing = Object.entries(thrown).map(([name, value]) => [
    name,
    tool({ inputSchema, execute: async () => Promise.reject(value) }),
  ])
  const { sent } = await turn({ tools: wrapTools(Object.fromEntries(throwing)) })
  assert.equal(sent.length, throwing.length)
  for (const result of sent) assert.ok(bytes(textOf(result)) <= LIMIT, result.toolName)
})
