// The entries for LangChain, Mastra and OpenAI Agents: agents whose model takes half of what they
// were told, tools that fail, and saved outputs that are read back.
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Agent as MastraAgent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { Agent, tool as agentsTool, Runner, setTracingDisabled, Usage } from '@openai/agents'
import { MockLanguageModelV2 } from 'ai5/test'
import { AIMessage, createAgent, fakeModel, tool as langchainTool, ToolMessage } from 'langchain'
import { createContext, createSpillStore, spillTool, wrapTools } from 'spillway'
import * as langchain from 'spillway/langchain'
import { spillwayProcessor } from 'spillway/mastra'
import { readOutputTool, withContext } from 'spillway/openai-agents'
import { z } from 'zod'

const TOLD = 30_000
const LIMIT = 15_000
const LINE = 'src/cart.ts:7 - error: no such name'
const LOG = `${'compiled one more file\n'.repeat(20_000)}${LINE}\n`
const BUILDS = 8

const tokensIn = (prompt) => Math.ceil(JSON.stringify(prompt).length / 4)
const idIn = (prompt) => /saved as ([0-9a-f]{16})/.exec(JSON.stringify(prompt))?.[1]
const stored = () => createSpillStore({ dir: mkdtempSync(join(tmpdir(), 'spillway-')), reference: 'id' })

/** A model that builds, reads an output back, and ends. It takes half of what its agent was
 *  told. */
class Script {
  refused = 0
  asked = 0

  /** Returns the next step for a prompt. */
  next(prompt) {
    const tokens = tokensIn(prompt)
    if (tokens > LIMIT) {
      this.refused += 1
      throw Object.assign(new Error(`prompt is too long: ${tokens} tokens > ${LIMIT} maximum`), {
        status: 400,
        statusCode: 400,
      })
    }
    this.asked += 1
    if (this.asked <= BUILDS) return { name: 'build', args: { n: this.asked } }
    return this.asked === BUILDS + 1
      ? { name: 'read_output', args: { id: idIn(prompt), pattern: 'error' } }
      : undefined
  }
}

test('Mastra: an agent learns the window of its model, and reads a saved output back', async () => {
  const script = new Script()
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
  const model = new MockLanguageModelV2({
    doGenerate: async ({ prompt }) => {
      const step = script.next(prompt)
      const content = step
        ? {
            type: 'tool-call',
            toolCallId: `c${script.asked}`,
            toolName: step.name,
            input: JSON.stringify(step.args),
          }
        : { type: 'text', text: 'done' }
      return { content: [content], finishReason: step ? 'tool-calls' : 'stop', usage, warnings: [] }
    },
  })
  const spill = stored()
  const build = createTool({
    id: 'build',
    description: 'Builds',
    inputSchema: z.object({ n: z.number() }),
    execute: async ({ n }) => `build ${n}\n${LOG}`,
  })
  const processor = spillwayProcessor(createContext({ contextTokens: TOLD, reserveTokens: 1_000, spill }))
  const agent = new MastraAgent({
    id: 'builder',
    name: 'builder',
    instructions: 'Build.',
    model,
    tools: {
      ...wrapTools({ build }, { maxTokens: 3_000, spill }),
      read_output: createTool({ id: 'read_output', ...spillTool(spill) }),
    },
    inputProcessors: [processor],
    errorProcessors: [processor],
  })
  const { text, toolResults } = await agent.generate('Build it', { maxSteps: 20 })
  assert.equal(text, 'done')
  assert.ok(script.refused <= 1, `${script.refused} refusals`)
  assert.match(JSON.stringify(toolResults.at(-1).payload.result), new RegExp(LINE))
})

for (const isStream of [false, true])
  test(`OpenAI Agents, ${isStream ? 'streamed' : 'whole'}: an agent learns the window of its model, and reads a saved output back`, async () => {
    setTracingDisabled(true)
    const script = new Script()
    const outputOf = (input) => {
      const step = script.next(input)
      const head = { status: 'completed' }
      return step
        ? {
            ...head,
            type: 'function_call',
            callId: `c${script.asked}`,
            name: step.name,
            arguments: JSON.stringify(step.args),
          }
        : { ...head, type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] }
    }
    class Model {
      #usage = new Usage()
      async getResponse({ input }) {
        return { usage: this.#usage, output: [outputOf(input)] }
      }
      async *getStreamedResponse({ input }) {
        const output = [outputOf(input)]
        yield { type: 'response_started' }
        yield {
          type: 'response_done',
          response: {
            id: `r${script.asked}`,
            usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
            output,
          },
        }
      }
    }
    const spill = stored()
    const build = agentsTool({
      name: 'build',
      description: 'Builds',
      parameters: z.object({ n: z.number() }),
      execute: async ({ n }) => `build ${n}\n${LOG}`,
    })
    const context = createContext({ contextTokens: TOLD, reserveTokens: 1_000, spill })
    const agent = new Agent({
      name: 'builder',
      model: withContext(Object.freeze(new Model()), () => context),
      tools: [...wrapTools([build], { maxTokens: 3_000, spill }), readOutputTool(spill)],
    })
    const result = await new Runner().run(agent, 'Build it', { maxTurns: 20, stream: isStream })
    await result.completed
    assert.equal(result.finalOutput, 'done')
    assert.ok(script.refused <= 1, `${script.refused} refusals`)
    const outputs = result.newItems.filter(({ type }) => type === 'tool_call_output_item')
    assert.match(JSON.stringify(outputs.at(-1).output), new RegExp(LINE))
  })

test('LangChain: results and errors are bounded, an agent learns the window of its model, and reads a saved output back', async () => {
  const spill = stored()
  const build = langchainTool(async ({ n }) => `build ${n}\n${LOG}`, {
    name: 'build',
    description: 'Builds',
    schema: z.object({ n: z.number() }),
  })
  const fails = langchainTool(
    async () => {
      throw new Error(LOG)
    },
    { name: 'fails', description: 'Fails', schema: z.object({}) },
  )
  const calls = (name, args, id) =>
    new AIMessage({ content: '', tool_calls: [{ name, args, id, type: 'tool_call' }] })
  const script = [
    ...Array.from({ length: BUILDS }, (_, n) => calls('build', { n }, `c${n}`)),
    calls('fails', {}, 'f'),
    calls('read_output', { id: 'ID', pattern: 'error' }, 'r'),
    new AIMessage('done'),
  ]
  let model = fakeModel()
  for (const message of script) model = model.respond(message)
  const context = createContext({ contextTokens: TOLD, reserveTokens: 1_000, spill })
  const middleware = langchain.spillwayMiddleware({ context, spill, maxTokens: 3_000 })
  let [refused, id] = [0, '']
  // Stands between the middleware and the model, which takes half of what we were told.
  const strict = {
    name: 'strict',
    wrapModelCall: async (request, handler) => {
      const tokens = tokensIn(request.messages.map(({ content }) => content))
      if (tokens > LIMIT) {
        refused += 1
        throw Object.assign(new Error(`prompt is too long: ${tokens} tokens > ${LIMIT} maximum`), {
          status: 400,
        })
      }
      id = idIn(request.messages.map(({ content }) => content)) ?? id
      const answer = await handler(request)
      for (const call of answer.tool_calls ?? []) if (call.args.id === 'ID') call.args.id = id
      return answer
    },
  }
  const agent = createAgent({ model, tools: [build, fails], middleware: [middleware, strict] })
  const { messages } = await agent.invoke(
    { messages: [{ role: 'user', content: 'Build it' }] },
    { recursionLimit: 60 },
  )
  assert.equal(messages.at(-1).content, 'done')
  assert.ok(refused <= 1, `${refused} refusals`)
  const results = messages.filter((message) => ToolMessage.isInstance(message))
  assert.equal(results.length, BUILDS + 2)
  for (const { content } of results) assert.ok(content.length <= 16_000, `${content.length} chars`)
  const [failed, read] = results.slice(-2)
  assert.equal(failed.status, 'error')
  assert.match(failed.content, new RegExp(LINE))
  assert.match(read.content, new RegExp(LINE))
})

test('LangChain: a page that was read back stays whole under smaller limits', async () => {
  const spill = stored()
  const { wrapModelCall } = langchain.spillwayMiddleware({ maxChars: 1_000, spill })
  const page = new ToolMessage({ content: 'x'.repeat(20_000), tool_call_id: 'c1', name: 'read_output' })
  const other = new ToolMessage({ content: LOG, tool_call_id: 'c2', name: 'build' })
  const sent = await wrapModelCall({ messages: [other, page, other] }, async ({ messages }) => messages)
  assert.equal(sent[1], page)
  for (const { content } of [sent[0], sent[2]]) assert.ok(content.length <= 1_000)
})

test('LangChain: an interrupt of LangGraph passes, and a result that came another way is cut in the request', async () => {
  const { wrapToolCall, wrapModelCall, tools } = langchain.spillwayMiddleware({ maxChars: 4_000 })
  assert.deepEqual(tools, [])
  const interrupt = Object.assign(new Error('asks a human'), { is_bubble_up: true })
  const request = { toolCall: { name: 'ask', args: {} } }
  await assert.rejects(
    async () =>
      wrapToolCall(request, () => {
        throw interrupt
      }),
    (error) => error === interrupt,
  )
  const stored = new ToolMessage({ content: LOG, tool_call_id: 'c1' })
  const [sent] = await wrapModelCall({ messages: [stored] }, async ({ messages }) => messages)
  assert.ok(ToolMessage.isInstance(sent))
  assert.ok(sent.content.length <= 4_000)
  assert.ok(stored.content.length > 400_000)
})
