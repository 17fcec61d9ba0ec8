// Messages of a UI in three versions of the AI SDK: as a stream writes them, stored, loaded again
// and converted for the model.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as ai6 from 'ai'
import * as mocks6 from 'ai/test'
import * as ai5 from 'ai5'
import * as mocks5 from 'ai5/test'
import * as ai7 from 'ai7'
import * as mocks7 from 'ai7/test'
import { wrapTools } from 'spillway'
import { clampUIMessages } from 'spillway/ai-sdk'
import { z } from 'zod'
import { bytes, DECISIVE, FAILURE, LIMIT, ROWS, TEXT } from './scenario.mjs'

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
const NAMES = ['table', 'log', 'boom']

/** Fails for a prompt that a provider would reject: calls without a result, or the reverse. */
function checkPairs(prompt) {
  const ids = (role, type) =>
    prompt
      .filter((message) => message.role === role)
      .flatMap(({ content }) => content)
      .flatMap((part) => (part.type === type ? part.toolCallId : []))
  assert.deepEqual(ids('assistant', 'tool-call').sort(), ids('tool', 'tool-result').sort())
}

for (const [version, { ai, Mock, usage, reason }] of Object.entries(VERSIONS)) {
  test(`AI SDK ${version}: messages of a UI are stored small, in their shape, and make a valid prompt later`, async () => {
    const tool = (execute) => ai.tool({ description: 'A tool', inputSchema: z.object({}), execute })
    const tools = wrapTools({
      table: tool(async () => ({ rows: ROWS, count: ROWS.length })),
      log: tool(async () => TEXT),
      boom: tool(async () => {
        throw new Error(FAILURE)
      }),
    })
    let prompts = 0
    const model = new Mock({
      doStream: async ({ prompt }) => {
        checkPairs(prompt)
        prompts += 1
        const calls = NAMES.map((toolName) => ({
          type: 'tool-call',
          toolCallId: `call ${toolName}`,
          toolName,
          input: '{}',
        }))
        const said = [
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: 'done' },
          { type: 'text-end', id: '1' },
        ]
        const [parts, why] = prompts === 1 ? [calls, 'tool-calls'] : [said, 'stop']
        const chunks = [
          { type: 'stream-start', warnings: [] },
          ...parts,
          { type: 'finish', finishReason: reason(why), usage },
        ]
        return { stream: ai.simulateReadableStream({ chunks }) }
      },
    })
    const asked = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Read it all' }] }
    const finished = await new Promise((resolve, reject) => {
      const result = ai.streamText({
        model,
        tools,
        messages: [{ role: 'user', content: 'Read it all' }],
        stopWhen: ai.stepCountIs(3),
        onError: ({ error }) => reject(error),
      })
      const stream = result.toUIMessageStream({
        originalMessages: [asked],
        generateMessageId: () => 'm1',
        onError: String,
        onFinish: ({ messages }) => resolve(messages),
      })
      stream.pipeTo(new WritableStream()).catch(reject)
    })
    const parts = (messages) => messages.flatMap(({ parts }) => parts).filter(({ toolCallId }) => toolCallId)
    assert.equal(parts(finished).length, 3)
    assert.ok(bytes(finished) > 2_000_000)

    const stored = JSON.parse(JSON.stringify(clampUIMessages(finished)))
    assert.ok(bytes(stored) <= 3 * LIMIT * 1.2, `${bytes(stored)} bytes`)
    const [table, log, boom] = parts(stored)
    assert.ok(Array.isArray(table.output.rows))
    assert.equal(table.output.count, ROWS.length)
    assert.ok(log.output.startsWith(TEXT.slice(0, 100)))
    assert.equal(boom.state, 'output-error')
    assert.ok(boom.errorText.includes(DECISIVE))
    assert.equal(clampUIMessages(stored), stored)

    // A server ended in the middle of a call, and the user asks again.
    const open = { type: 'tool-log', toolCallId: 'c9', state: 'input-available', input: {} }
    const broken = { id: 'm2', role: 'assistant', parts: [{ type: 'step-start' }, open] }
    const again = { id: 'u2', role: 'user', parts: [{ type: 'text', text: 'And now?' }] }
    const waiting = [...stored, asked, broken]
    assert.equal(clampUIMessages(waiting), waiting)
    const loaded = clampUIMessages([...waiting, again])
    assert.equal(loaded.at(-2).parts[1].state, 'output-error')
    const messages = await ai.convertToModelMessages(loaded, { tools })
    const { textStream } = ai.streamText({ model, tools, messages, onError: () => {} })
    let text = ''
    for await (const delta of textStream) text += delta
    assert.equal(text, 'done')
  })
}
