// Histories that broke, in the real frameworks: what they make of them as they are, and repaired.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent as PiAgent } from '@earendil-works/pi-agent-core'
import { fauxAssistantMessage, registerFauxProvider } from '@earendil-works/pi-ai'
import { convertToLlm } from '@earendil-works/pi-coding-agent'
import { AIMessage, filterMessages, HumanMessage, ToolMessage, trimMessages } from '@langchain/core/messages'
import { Agent, Runner, setTracingDisabled } from '@openai/agents'
import { convertToModelMessages, generateText } from 'ai'
import { createAgent, createMiddleware, fakeModel } from 'langchain'
import { repairToolPairs } from 'spillway'
import { agents, clients, langChain, makeModel, pairsIn, pairsOf, pi, requestOf, sdk } from './sent.mjs'

setTracingDisabled(true)

/**
 * A turn with two calls and one result that came late, after words of the user and twice; a result
 * without a call; and a call without a result. Tools are named like their calls, since Gemini may
 * leave out ids.
 */
const broken = ({ user, calls, result }) => [
  user('Fix it.'),
  ...calls('a', 'b'),
  result('b'),
  user('Wait.'),
  result('a'),
  result('a'),
  result('lost'),
  ...calls('c'),
  user('And now?'),
]
/** Calls (+) and results (-) in their order, once the history is repaired. */
const WHOLE = ['+a', '+b', '-b', '-a', '+c', '-c']

const ofSdk = broken(sdk)

test('AI SDK: a broken history is refused by the SDK itself, a repaired one is sent', async () => {
  const { model, sent } = makeModel()
  await assert.rejects(generateText({ model, messages: ofSdk }), { name: 'AI_MissingToolResultsError' })
  const { text } = await generateText({ model, messages: repairToolPairs(ofSdk).messages })
  assert.equal(text, 'done')
  assert.deepEqual(sent, WHOLE)
})

test('AI SDK: the same in every step, by prepareStep', async () => {
  const { model, sent } = makeModel()
  await generateText({ model, messages: ofSdk, prepareStep: ({ messages }) => repairToolPairs(messages) })
  assert.deepEqual(sent, WHOLE)
})

test('AI SDK: a chat that was left while a tool ran', async () => {
  const open = { type: 'tool-a', toolCallId: 'a', state: 'input-available', input: {} }
  const done = { ...open, type: 'tool-b', toolCallId: 'b', state: 'output-available', output: 'of b' }
  const chat = [
    { id: '1', role: 'user', parts: [{ type: 'text', text: 'Fix it.' }] },
    { id: '2', role: 'assistant', parts: [open, done] },
    { id: '3', role: 'user', parts: [{ type: 'text', text: 'And now?' }] },
  ]
  const { model, sent } = makeModel()
  const run = async (kept) => generateText({ model, messages: await convertToModelMessages(kept) })
  await assert.rejects(run(chat), { name: 'AI_MissingToolResultsError' })
  await run(repairToolPairs(chat).messages)
  assert.deepEqual(sent, ['+a', '+b', '-a', '-b'])
})

const ofPi = broken(pi)

for (const provider of ['anthropic', 'openai', 'google', 'xai', 'amazon-bedrock'])
  test(`Pi, a request to ${provider}: a result without a call is sent on, a repaired history is whole`, async () => {
    const left = pairsIn(await requestOf(provider, ofPi))
    assert.ok(left.includes('-lost'), String(left))
    const { messages } = repairToolPairs(ofPi)
    const pairs = pairsIn(await requestOf(provider, messages))
    assert.deepEqual(pairs, WHOLE)
  })

test('Pi: an agent goes on from a broken history, by transformContext', async () => {
  const faux = registerFauxProvider({ models: [{ id: 'faux-1' }], tokensPerSecond: 0 })
  let sent
  faux.setResponses([
    ({ messages }) => {
      sent = messages
      return fauxAssistantMessage('done')
    },
  ])
  const agent = new PiAgent({
    initialState: { model: faux.getModel() },
    convertToLlm,
    transformContext: async (messages) => repairToolPairs(messages).messages,
    getApiKey: () => 'key',
  })
  agent.state.messages = ofPi
  await agent.continue()
  faux.unregister()
  assert.equal(agent.state.messages.at(-1).stopReason, 'stop')
  assert.deepEqual(
    sent.flatMap(({ role, content, toolCallId }) =>
      role === 'toolResult'
        ? `-${toolCallId}`
        : [content].flat().flatMap(({ type, id }) => (type === 'toolCall' ? `+${id}` : [])),
    ),
    WHOLE,
  )
})

const ofLangChain = broken(langChain)

test('LangChain: a model is sent whole pairs, by wrapModelCall', async () => {
  const repair = createMiddleware({
    name: 'repair',
    wrapModelCall: (request, handler) =>
      handler({ ...request, messages: repairToolPairs(request.messages).messages }),
  })
  for (const [middleware, whole] of [
    [[], false],
    [[repair], true],
  ]) {
    const model = fakeModel().respond(new AIMessage('done'))
    const agent = createAgent({ model, tools: [], middleware })
    await agent.invoke({ messages: ofLangChain })
    const pairs = pairsOf(model.calls.at(-1).messages)
    if (whole) assert.deepEqual(pairs, WHOLE)
    else assert.ok(pairs.includes('-lost') && !pairs.includes('-c'))
  }
})

test('LangChain: what trimMessages leaves', async () => {
  const [user, calls, result] = ofLangChain
  const whole = [user, calls, result, new ToolMessage({ content: 'of a', tool_call_id: 'a' })]
  const settings = { maxTokens: 3, strategy: 'last', tokenCounter: ({ length }) => length }
  const trimmed = await trimMessages([...whole, new HumanMessage('And now?')], settings)
  assert.deepEqual(pairsOf(trimmed), ['-b', '-a'])
  assert.deepEqual(pairsOf(repairToolPairs(trimmed).messages), [])
})

test('LangChain: its functions take the messages that a repair adds', async () => {
  const calls = (id) =>
    new AIMessage({ content: '', tool_calls: [{ id, name: 'read', args: {}, type: 'tool_call' }] })
  const start = [new HumanMessage('Fix it.')]
  const whole = [calls('a'), new ToolMessage({ content: 'of a', tool_call_id: 'a' })]
  for (const history of [
    [...start, calls('b')],
    [...start, ...whole, calls('b')],
    [...start, new ToolMessage({ content: 'lost', tool_call_id: 'lost' }), calls('b')],
  ]) {
    const { messages } = repairToolPairs(history, { orphans: 'text' })
    const tools = await filterMessages(messages, { includeTypes: ['tool'] })
    assert.ok(tools.at(-1) instanceof ToolMessage)
    assert.equal(tools.at(-1).tool_call_id, 'b')
    const settings = { maxTokens: 10, strategy: 'last', tokenCounter: ({ length }) => length }
    assert.equal((await trimMessages(messages, settings)).length, messages.length)
  }
})

const ofAgents = broken(agents)

for (const [name, makeModel] of Object.entries(clients))
  test(`OpenAI Agents, ${name}: every output has its call, and every call its output`, async () => {
    let sent
    const model = makeModel((body) => {
      sent = pairsIn(body)
    })
    const agent = new Agent({ name: 'agent', model })
    const run = (items) => new Runner().run(agent, items)
    await run(ofAgents)
    assert.ok(sent.includes('-lost') && !sent.includes('-c'), String(sent))
    const { finalOutput } = await run(repairToolPairs(ofAgents).messages)
    assert.equal(finalOutput, 'done')
    assert.deepEqual(sent, ['+a', '+b', '-b', '-a', '+c', '-c'])
  })
