// Wrapped tools in AI SDK 5, 6 and 7: what a tool returns keeps its type, and what the model is
// sent is bounded. AI SDK 7 asks for Node 22; what is used here of it runs on Node 20, too.
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as ai6 from 'ai'
import * as mocks6 from 'ai/test'
import * as ai5 from 'ai5'
import * as mocks5 from 'ai5/test'
import * as ai7 from 'ai7'
import * as mocks7 from 'ai7/test'
import { createSpillStore, wrapTools } from 'spillway'
import { z } from 'zod'
import { bytes, IMAGE, LIMIT, ROWS, TEXT } from './scenario.mjs'

const nested = {
  usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
  reason: (raw) => ({ unified: raw, raw }),
}
const SDKS = [
  {
    name: 'AI SDK 5',
    sdk: ai5,
    Mock: mocks5.MockLanguageModelV2,
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    reason: (raw) => raw,
  },
  { name: 'AI SDK 6', sdk: ai6, Mock: mocks6.MockLanguageModelV3, ...nested },
  { name: 'AI SDK 7', sdk: ai7, Mock: mocks7.MockLanguageModelV4, ...nested },
]

const SMALL = { rows: ['one', 'two'] }
const LARGE = { rows: ROWS, toolCallId: 'of the rows', output: 5 }
/** Results of tools: the first is small, the others are over the limits. */
const OUTPUTS = {
  small: SMALL,
  object: LARGE,
  list: ROWS,
  none: undefined,
  text: TEXT,
  result: {
    content: [
      { type: 'text', text: TEXT },
      { type: 'image', data: IMAGE, mimeType: 'image/png' },
    ],
  },
  both: { content: [{ type: 'text', text: 'short' }], structuredContent: { rows: ROWS } },
}
const TYPES = {
  small: 'json',
  object: 'json',
  list: 'json',
  none: 'json',
  text: 'text',
  result: 'json',
  both: 'json',
  steps: 'json',
}

const toolsOf = ({ tool }) => {
  const inputSchema = z.object({})
  const made = Object.entries(OUTPUTS).map(([name, output]) => [
    name,
    tool({ inputSchema, execute: async () => output }),
  ])
  const steps = tool({
    inputSchema,
    async *execute() {
      yield SMALL
      yield LARGE
    },
  })
  return { ...Object.fromEntries(made), steps }
}

const resultsIn = (messages) =>
  messages
    .flatMap(({ role, content }) => (role === 'tool' ? content : []))
    .filter(({ type }) => type === 'tool-result')

/** A model that calls every tool at first, and then is done. */
function modelOf({ sdk, Mock, usage, reason }, names, sent) {
  const calls = names.map((name) => ({
    type: 'tool-call',
    toolCallId: `call ${name}`,
    toolName: name,
    input: '{}',
  }))
  const answer = ({ prompt }) => {
    const results = resultsIn(prompt)
    sent.push(...results)
    return results.length > 0
  }
  return new Mock({
    doGenerate: async (options) =>
      answer(options)
        ? { content: [{ type: 'text', text: 'done' }], finishReason: reason('stop'), usage, warnings: [] }
        : { content: calls, finishReason: reason('tool-calls'), usage, warnings: [] },
    doStream: async (options) => {
      const isDone = answer(options)
      const finish = { type: 'finish', finishReason: reason(isDone ? 'stop' : 'tool-calls'), usage }
      const chunks = [{ type: 'stream-start', warnings: [] }, ...(isDone ? [] : calls), finish]
      return { stream: sdk.simulateReadableStream({ chunks }) }
    },
  })
}

const sizeOf = ({ output: { value } }) => bytes(value)
/** JSON puts quotes around a text and its escapes within, on top of the limits; side data has 8
 *  KiB. */
const MOST = LIMIT * 1.1 + 8_192

function assertBounded(sent) {
  assert.deepEqual(Object.fromEntries(sent.map(({ toolName, output }) => [toolName, output.type])), TYPES)
  for (const result of sent)
    assert.ok(sizeOf(result) <= (result.output.type === 'text' ? LIMIT : MOST), result.toolName)
  assert.deepEqual(sent.find(({ toolName }) => toolName === 'small').output.value, SMALL)
}

function assertTyped(outputs) {
  assert.equal(outputs.small, SMALL)
  assert.equal(outputs.object, LARGE)
  assert.equal(outputs.list, ROWS)
  assert.ok(bytes(outputs.text) <= LIMIT)
  assert.ok(bytes(outputs.result.content[0].text) <= LIMIT)
  assert.equal(outputs.both.structuredContent.rows, ROWS)
}

for (const one of SDKS) {
  const { name, sdk } = one
  const stopWhen = sdk.stepCountIs(3)

  test(`${name}: the model is sent what fits, and callbacks get what the type says`, async () => {
    const told = []
    const tools = wrapTools(toolsOf(sdk), { onClamp: ({ tool, phase }) => told.push(`${tool} ${phase}`) })
    const sent = []
    const finished = []
    const model = modelOf(one, Object.keys(tools), sent)
    const onStepFinish = ({ toolResults }) => finished.push(...toolResults)
    await sdk.generateText({ model, tools, stopWhen, prompt: 'go', onStepFinish })
    assertBounded(sent)
    const outputs = Object.fromEntries(finished.map(({ toolName, output }) => [toolName, output]))
    assertTyped(outputs)
    assert.equal(outputs.steps, LARGE)
    // A cut is reported once, when the tool returns.
    assert.deepEqual(told.sort(), [
      'list result',
      'object result',
      'result result',
      'steps update',
      'text result',
    ])
  })

  test(`${name}: a stream hands on what the type says, and a stored chat is sent bounded`, async () => {
    const sent = []
    const tools = wrapTools(toolsOf(sdk))
    const model = modelOf(one, Object.keys(tools), sent)
    const stream = sdk.streamText({ model, tools, stopWhen, prompt: 'go' })
    let kept = []
    const shown = stream.toUIMessageStream({
      onFinish: ({ messages }) => {
        kept = messages
      },
    })
    for await (const _ of shown);
    assertBounded(sent)
    const parts = kept.flatMap(({ parts }) => parts).filter(({ type }) => type.startsWith('tool-'))
    const outputs = Object.fromEntries(parts.map(({ type, output }) => [type.replace('tool-', ''), output]))
    assertTyped(outputs)
    assert.deepEqual(outputs.steps, LARGE)
    const stored = JSON.parse(JSON.stringify(kept))
    const messages = await sdk.convertToModelMessages(stored, { tools })
    const again = resultsIn(messages)
    // A part without an output is a call without a result in some versions.
    for (const result of again) assert.ok(sizeOf(result) <= MOST, result.toolName)
    for (const name of ['object', 'list', 'steps'])
      assert.deepEqual(
        again.find(({ toolName }) => toolName === name).output,
        sent.find(({ toolName }) => toolName === name).output,
      )
  })

  test(`${name}: the whole is saved once, and the notice names it`, async () => {
    const store = createSpillStore({ dir: mkdtempSync(join(tmpdir(), 'ai-sdk-')), reference: 'id' })
    const { object } = toolsOf(sdk)
    const tools = wrapTools({ object }, { spill: store })
    const sent = []
    await sdk.generateText({ model: modelOf(one, ['object'], sent), tools, stopWhen, prompt: 'go' })
    const saved = await store.list()
    assert.equal(saved.length, 1)
    assert.equal(saved[0].bytes, bytes(LARGE))
    assert.ok(JSON.stringify(sent[0].output.value).includes(`full output saved as ${saved[0].id}`))
  })
}
