// Histories whose old results are cleared, in the real frameworks: each sends them on, every call
// with its result.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { Agent, Runner, setTracingDisabled } from '@openai/agents'
import { generateText } from 'ai'
import { createAgent, createMiddleware, fakeModel } from 'langchain'
import { clearToolResults } from 'spillway'
import { agents, clients, langChain, makeModel, pairsIn, pairsOf, pi, requestOf, sdk } from './sent.mjs'

setTracingDisabled(true)

const IDS = ['a', 'b', 'c', 'd', 'e', 'f']
const WHOLE = IDS.flatMap((id) => [`+${id}`, `-${id}`])
const LINE = '[tool result cleared to save context; call the tool again if you need it]'
const SAME = '[same output as the earlier result of call d]'
const LONG = 'one more line of a log\n'.repeat(200)

/** Six calls with long results. The last result repeats that of d. */
const history = ({ user, calls, result }) => [
  user('Fix it.'),
  ...IDS.flatMap((id) => [...calls(id), result(id, `${id === 'f' ? 'd' : id}: ${LONG}`)]),
]

/** Clears all but the last three results. The cache has expired. */
function cleared(messages) {
  const made = clearToolResults(messages, {
    trigger: { type: 'tool_uses', value: 0 },
    prices: { write: 1, read: 1 },
    dedupe: 'exact',
  })
  assert.equal(made.cleared, 4)
  const again = clearToolResults(messages, { state: made.state })
  assert.deepEqual(again.messages, made.messages)
  return made.messages
}

/** Asserts that a request has three cleared results and a repeated one. */
function assertCleared(body) {
  const text = JSON.stringify(body)
  assert.equal(text.split(LINE).length - 1, 3)
  assert.equal(text.split(SAME).length - 1, 1)
  for (const id of IDS) assert.equal(text.includes(`${id}: one more line`), id === 'd' || id === 'e', id)
}

test('AI SDK: a cleared history is sent, by prepareStep', async () => {
  const { model, sent } = makeModel()
  const prepareStep = ({ messages }) => ({ messages: cleared(messages) })
  const { text } = await generateText({ model, messages: history(sdk), prepareStep })
  assert.equal(text, 'done')
  assert.deepEqual(sent, WHOLE)
  assertCleared(model.doGenerateCalls.at(-1).prompt)
})

for (const provider of ['anthropic', 'openai', 'google', 'xai', 'amazon-bedrock'])
  test(`Pi, a request to ${provider}: a cleared history is whole`, async () => {
    const body = await requestOf(provider, cleared(history(pi)))
    assert.deepEqual(pairsIn(body), WHOLE)
    assertCleared(body)
  })

test('LangChain: a model is sent a cleared history, by wrapModelCall', async () => {
  const clear = createMiddleware({
    name: 'clear',
    wrapModelCall: (request, handler) => handler({ ...request, messages: cleared(request.messages) }),
  })
  const model = fakeModel().respond(new AIMessage('done'))
  await createAgent({ model, tools: [], middleware: [clear] }).invoke({ messages: history(langChain) })
  const { messages } = model.calls.at(-1)
  assert.deepEqual(pairsOf(messages), WHOLE)
  assert.ok(messages[0] instanceof HumanMessage && messages.at(-1) instanceof ToolMessage)
  assertCleared(messages)
})

for (const [name, makeModel] of Object.entries(clients))
  test(`OpenAI Agents, ${name}: a cleared history is sent`, async () => {
    let body
    const model = makeModel((sent) => {
      body = sent
    })
    const { finalOutput } = await new Runner().run(
      new Agent({ name: 'agent', model }),
      cleared(history(agents)),
    )
    assert.equal(finalOutput, 'done')
    assert.deepEqual(pairsIn(body), WHOLE)
    assertCleared(body)
  })
