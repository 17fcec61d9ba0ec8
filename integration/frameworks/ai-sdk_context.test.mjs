// The middleware of spillway/ai-sdk in three versions of the AI SDK: agents whose model takes half
// of what they were told, and refusals that come as a part of a stream.
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
import { createContext, createSpillStore, spillTool, wrapTools } from 'spillway'
import { spillwayMiddleware } from 'spillway/ai-sdk'
import { z } from 'zod'

const TOLD = 30_000
const LIMIT = 15_000
const usage5 = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
const usage6 = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const VERSIONS = {
  5: { ai: ai5, Mock: mocks5.MockLanguageModelV2, usage: usage5, reason: (name) => name },
  6: { ai: ai6, Mock: mocks6.MockLanguageModelV3, usage: usage6, reason: (raw) => ({ unified: raw, raw }) },
  7: { ai: ai7, Mock: mocks7.MockLanguageModelV4, usage: usage6, reason: (raw) => ({ unified: raw, raw }) },
}

const tokensIn = (prompt) => Math.ceil(JSON.stringify(prompt).length / 4)
const refusal = (prompt) =>
  Object.assign(new Error(`prompt is too long: ${tokensIn(prompt)} tokens > ${LIMIT} maximum`), {
    statusCode: 400,
  })
const LOG = `${'compiled one more file\n'.repeat(20_000)}src/cart.ts:7 - error: no such name\n`

async function all(stream) {
  const parts = []
  for await (const part of stream) parts.push(part)
  return parts
}

/** A prompt of three results of 12,000 tokens each. */
const prompt = () => [
  { role: 'user', content: 'Read' },
  ...[1, 2, 3].flatMap((n) => [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: `c${n}`, toolName: 'read', input: { n } }],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: `c${n}`,
          toolName: 'read',
          output: { type: 'text', value: `a line of file ${n}\n`.repeat(2_600) },
        },
      ],
    },
  ]),
]

for (const [version, { ai, Mock, usage, reason }] of Object.entries(VERSIONS)) {
  const says = (content, name) => ({ content, finishReason: reason(name), usage, warnings: [] })
  const calls = (toolCallId, toolName, input) =>
    says([{ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) }], 'tool-calls')

  test(`AI SDK ${version}: an agent learns the window of its model, and reads a saved output back`, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
    const store = createSpillStore({ dir, reference: 'id' })
    const sent = []
    let refused = 0
    const model = new Mock({
      doGenerate: async ({ prompt }) => {
        if (tokensIn(prompt) > LIMIT) {
          refused += 1
          throw refusal(prompt)
        }
        sent.push(tokensIn(prompt))
        const at = sent.length
        if (at <= 8) return calls(`c${at}`, 'build', { n: at })
        const id = /saved as ([0-9a-f]{16})/.exec(JSON.stringify(prompt))?.[1]
        if (at === 9) return calls('r', 'read_output', { id, pattern: 'error' })
        return says([{ type: 'text', text: 'done' }], 'stop')
      },
    })
    const build = ai.tool({
      description: 'Builds',
      inputSchema: z.object({ n: z.number() }),
      execute: async ({ n }) => `build ${n}\n${LOG}`,
    })
    const context = createContext({ contextTokens: TOLD, reserveTokens: 1_000, spill: store })
    const { description, parameters, execute } = spillTool(store)
    // AI SDK 5 takes a JSON schema of its own alone.
    const read =
      version === '5'
        ? ai.tool({ description, inputSchema: ai.jsonSchema(parameters), execute })
        : spillTool(store)
    const { steps, text } = await ai.generateText({
      model: ai.wrapLanguageModel({ model, middleware: spillwayMiddleware(context) }),
      tools: { ...wrapTools({ build }, { maxTokens: 3_000, spill: store }), read_output: read },
      prompt: 'Build it',
      stopWhen: ai.stepCountIs(20),
      maxRetries: 0,
    })
    assert.equal(text, 'done')
    assert.ok(refused <= 1, `${refused} refusals`)
    assert.match(JSON.stringify(steps.at(-2).toolResults[0].output), /error: no such name/)
  })

  test(`AI SDK ${version}: a refusal within a stream is a refusal, and another error stays a part`, async () => {
    let streams = 0
    let failure
    const parts = ['1']
      .flatMap((id) => [
        { type: 'text-start', id },
        { type: 'text-delta', id, delta: 'answered' },
        { type: 'text-end', id },
      ])
      .concat({ type: 'finish', finishReason: reason('stop'), usage })
    const model = new Mock({
      doStream: async ({ prompt }) => {
        streams += 1
        const error = failure ?? (tokensIn(prompt) > LIMIT ? refusal(prompt) : undefined)
        const rest = error ? [{ type: 'error', error }] : parts
        return {
          stream: ai.simulateReadableStream({ chunks: [{ type: 'stream-start', warnings: [] }, ...rest] }),
        }
      },
    })
    const context = createContext({ contextTokens: 128_000, reserveTokens: 1_000 })
    const contexts = { a: context }
    const asked = (conversation) => {
      const errors = []
      const { textStream } = ai.streamText({
        model: ai.wrapLanguageModel({
          model,
          middleware: spillwayMiddleware(
            ({ providerOptions }) => contexts[providerOptions?.spillway?.conversation],
          ),
        }),
        messages: prompt(),
        providerOptions: { spillway: { conversation } },
        onError: ({ error }) => errors.push(error),
        maxRetries: 0,
      })
      return { errors, text: (async () => (await all(textStream)).join(''))() }
    }
    const known = asked('a')
    assert.equal(await known.text, 'answered')
    assert.deepEqual([streams, known.errors.length], [2, 0])
    // A call without a context passes unchanged.
    const unknown = asked('b')
    await unknown.text.catch(() => {})
    assert.deepEqual([streams, unknown.errors.length], [3, 1])
    failure = Object.assign(new Error('overloaded'), { statusCode: 529 })
    const failed = asked('a')
    await failed.text.catch(() => {})
    assert.deepEqual([streams, failed.errors.length], [4, 1])
    assert.equal(failed.errors[0].message, 'overloaded')
  })
}
