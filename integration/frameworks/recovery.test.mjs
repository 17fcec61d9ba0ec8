// Agents whose provider takes less than they were told: real loops, and each provider's own words
// for an overflow.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent } from '@earendil-works/pi-agent-core'
import {
  fauxAssistantMessage,
  fauxToolCall,
  registerFauxProvider,
  streamSimple,
  Type,
} from '@earendil-works/pi-ai'
import { APICallError, generateText, stepCountIs, streamText, tool, wrapLanguageModel } from 'ai'
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'
import { applyPlan, ContextOverflowError, runWithRecovery } from 'spillway'
import { z } from 'zod'

const LINE = `${'a line of what the tool says '.repeat(3)}\n`
/** Six of these are some 24,000 tokens; one is within the limit of a result. */
const OUTPUT = LINE.repeat(175)
const NAMES = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth']
/** Tokens of the window that agents assume, and of the provider's window. */
const TOLD = 128_000
const LIMIT = 16_000

/** An honest count that spillway did not make. */
const countedIn = (value) => Math.ceil(JSON.stringify(value).length / 4)

/** Status and words of each provider; those that take arguments tell the numbers. */
const WORDINGS = {
  Anthropic: [400, (n, m) => `prompt is too long: ${n} tokens > ${m} maximum`],
  'OpenAI Chat': [
    400,
    (n, m) =>
      `This model's maximum context length is ${m} tokens. However, your messages resulted in ${n} tokens. Please reduce the length of the messages.`,
  ],
  'OpenAI Responses': [
    400,
    () => 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  ],
  Google: [
    400,
    (n, m) => `The input token count (${n}) exceeds the maximum number of tokens allowed (${m}).`,
  ],
  xAI: [400, (n, m) => `This model's maximum prompt length is ${m} but the request contains ${n} tokens.`],
  Groq: [400, () => 'Please reduce the length of the messages or completion.'],
  OpenRouter: [
    400,
    (n, m) =>
      `This endpoint's maximum context length is ${m} tokens. However, you requested about ${n} tokens (${n} of text input).`,
  ],
  'llama.cpp': [
    400,
    (n, m) => `request (${n} tokens) exceeds the available context size (${m} tokens), try increasing it`,
  ],
  'LM Studio': [
    400,
    () => 'The number of tokens to keep from the initial prompt is greater than the context length.',
  ],
  Copilot: [400, (n, m) => `prompt token count of ${n} exceeds the limit of ${m}`],
  MiniMax: [400, () => 'invalid params, context window exceeds limit (2013)'],
  Kimi: [400, (n, m) => `Invalid request: Your request exceeded model token limit: ${m} (requested: ${n})`],
  Mistral: [
    400,
    (n, m) =>
      `Prompt contains ${n} tokens and 0 draft tokens, too large for model with ${m} maximum context length`,
  ],
  Bedrock: [400, () => 'ValidationException: Input is too long for requested model.'],
  Ollama: [400, () => 'prompt too long; exceeded max context length by 500 tokens'],
  'a proxy': [413, () => '<html><body><h1>413 Request Entity Too Large</h1></body></html>'],
}

/** The outcome: the requests, the results in the answered request, and the stored results. */
function told({ requests, sent, stored }) {
  const chars = (texts) => texts.reduce((sum, text) => sum + text.length, 0)
  const whole = NAMES.length * OUTPUT.length
  assert.equal(sent.length, NAMES.length)
  assert.equal(stored.length, NAMES.length)
  const lengths = sent.map(({ length }) => length)
  return {
    requests,
    cut: chars(sent) < whole,
    kept: chars(stored) === whole,
    // A cut ends at a line and tells its size in digits: two lengths of an equal share differ by
    // less than two lines.
    alike: Math.max(...lengths) - Math.min(...lengths) < 2 * LINE.length,
  }
}

/** All six are of one turn, so each keeps an equal part in what is sent; the session is as it
 *  was. */
const RECOVERED = { requests: 3, cut: true, kept: true, alike: true }

// Pi

const textsOf = (messages) =>
  messages.flatMap(({ role, content }) => (role === 'toolResult' ? content.map(({ text }) => text) : []))

function piModel(contextWindow, refuse) {
  const faux = registerFauxProvider({ models: [{ id: 'faux-1', contextWindow }], tokensPerSecond: 0 })
  const seen = { requests: 0, sent: [] }
  const answer = ({ messages }) => {
    seen.requests += 1
    seen.sent = textsOf(messages)
    if (seen.sent.length === 0)
      return fauxAssistantMessage(
        NAMES.map((name) => fauxToolCall(name, {})),
        { stopReason: 'toolUse' },
      )
    const tokens = countedIn(messages)
    if (tokens <= LIMIT) return fauxAssistantMessage('done')
    return fauxAssistantMessage([], { stopReason: 'error', errorMessage: refuse(tokens, LIMIT) })
  }
  faux.setResponses(Array.from({ length: 12 }, () => answer))
  return { model: faux.getModel(), seen }
}

const piTools = NAMES.map((name) => ({
  name,
  label: name,
  description: name,
  parameters: Type.Object({}),
  execute: async () => ({ content: [{ type: 'text', text: OUTPUT }], details: {} }),
}))

/** As docs/context.md has it. */
async function piStream(model, context, options) {
  let stream
  const send = (messages) => {
    stream = streamSimple(model, { ...context, messages }, options)
    return stream.result()
  }
  const { systemPrompt, tools, messages } = context
  const budget = { contextTokens: model.contextWindow, reserveTokens: 16_384 }
  const prompt = { ...budget, systemPrompt, tools, messages: () => messages, send, signal: options.signal }
  await runWithRecovery(prompt).catch((error) => {
    if (!(error instanceof ContextOverflowError)) throw error
  })
  return stream
}

async function piRun(contextWindow, refuse, streamFn = piStream) {
  const { model, seen } = piModel(contextWindow, refuse)
  const agent = new Agent({ initialState: { model, tools: piTools }, getApiKey: () => 'none', streamFn })
  await agent.prompt('go')
  return { agent, seen }
}

const asPi = (status, words) => (actual, limit) => {
  const said = words(actual, limit)
  return said.startsWith('<') ? said : `${status} ${JSON.stringify({ error: { message: said } })}`
}

for (const [provider, [status, words]] of Object.entries(WORDINGS)) {
  test(`Pi, ${provider}: one refusal, then an answer`, async () => {
    const { agent, seen } = await piRun(TOLD, asPi(status, words))
    const { messages } = agent.state
    assert.deepEqual(told({ ...seen, stored: textsOf(messages) }), RECOVERED)
    assert.deepEqual(messages.at(-1).content, [{ type: 'text', text: 'done' }])
    assert.ok(messages.every(({ stopReason }) => stopReason !== 'error'))
  })
}

test('Pi: without recovery the run ends in an error', async () => {
  const { agent, seen } = await piRun(TOLD, WORDINGS.Anthropic[1], streamSimple)
  assert.equal(seen.requests, 2)
  assert.equal(agent.state.messages.at(-1).stopReason, 'error')
})

test('Pi: a window that is known is kept to without a refusal', async () => {
  const { agent, seen } = await piRun(LIMIT, WORDINGS.Anthropic[1])
  assert.deepEqual(told({ ...seen, stored: textsOf(agent.state.messages) }), { ...RECOVERED, requests: 2 })
})

test('Pi: what cannot be saved ends in the words of the provider', async () => {
  const { model, seen } = piModel(TOLD, WORDINGS.Anthropic[1])
  const agent = new Agent({ initialState: { model }, getApiKey: () => 'none', streamFn: piStream })
  agent.state.messages = [
    { role: 'user', content: OUTPUT.repeat(6), timestamp: 1 },
    {
      role: 'toolResult',
      toolCallId: 'a',
      toolName: 'b',
      content: [{ type: 'text', text: 'c' }],
      timestamp: 2,
    },
  ]
  await agent.continue()
  assert.equal(seen.requests, 1)
  const { stopReason, errorMessage } = agent.state.messages.at(-1)
  assert.equal(stopReason, 'error')
  assert.match(errorMessage, /^prompt is too long: \d+ tokens > 16000 maximum$/)
})

test('Pi: a truncation that is stored, around the whole run', async () => {
  const { agent, seen } = await piRun(TOLD, WORDINGS.Kimi[1], streamSimple)
  const { state } = agent
  seen.requests = 0
  const answer = await runWithRecovery({
    contextTokens: TOLD,
    reserveTokens: 16_384,
    messages: () => state.messages,
    send: async () => {
      if (state.messages.at(-1).stopReason === 'error') state.messages = state.messages.slice(0, -1)
      await agent.continue()
      return state.messages.at(-1)
    },
    truncate: async (plan) => {
      state.messages = applyPlan(state.messages, plan)
      return true
    },
  })
  assert.deepEqual(answer.content, [{ type: 'text', text: 'done' }])
  assert.equal(seen.requests, 2)
  assert.deepEqual(textsOf(state.messages), seen.sent)
  assert.ok(countedIn(state.messages) < LIMIT)
})

// AI SDK

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const finish = (unified) => ({ unified, raw: unified })
const resultsIn = (messages) =>
  messages.flatMap(({ role, content }) =>
    role === 'tool'
      ? content.flatMap(({ type, output }) => (type === 'tool-result' ? output.value : []))
      : [],
  )

function sdkModel(refuse) {
  const seen = { requests: 0, sent: [] }
  const answered = ({ prompt }) => {
    seen.requests += 1
    seen.sent = resultsIn(prompt)
    if (seen.sent.length === 0)
      return NAMES.map((name) => ({
        type: 'tool-call',
        toolCallId: `call ${name}`,
        toolName: name,
        input: '{}',
      }))
    const tokens = countedIn(prompt)
    if (tokens > LIMIT) throw refuse(tokens, LIMIT)
    return [{ type: 'text', text: 'done' }]
  }
  const reason = ([{ type }]) => finish(type === 'text' ? 'stop' : 'tool-calls')
  const model = new MockLanguageModelV3({
    doGenerate: async (options) => {
      const content = answered(options)
      return { content, finishReason: reason(content), usage, warnings: [] }
    },
    doStream: async (options) => {
      const content = answered(options)
      const said = content.flatMap((part) =>
        part.type === 'text'
          ? [
              { type: 'text-start', id: '1' },
              { type: 'text-delta', id: '1', delta: part.text },
              { type: 'text-end', id: '1' },
            ]
          : part,
      )
      const end = { type: 'finish', finishReason: reason(content), usage }
      const chunks = [{ type: 'stream-start', warnings: [] }, ...said, end]
      return { stream: simulateReadableStream({ chunks }) }
    },
  })
  return { model, seen }
}

const sdkTools = Object.fromEntries(
  NAMES.map((name) => [name, tool({ inputSchema: z.object({}), execute: async () => OUTPUT })]),
)

/** As docs/context.md has it. */
function recovering(contextTokens) {
  const recovered = (params, ask) =>
    runWithRecovery({
      contextTokens,
      reserveTokens: 16_384,
      tools: params.tools,
      messages: () => params.prompt,
      send: (prompt) => ask({ ...params, prompt }),
      signal: params.abortSignal,
    })
  const middleware = {
    specificationVersion: 'v3',
    wrapGenerate: ({ model, params }) => recovered(params, (params) => model.doGenerate(params)),
    wrapStream: ({ model, params }) => recovered(params, (params) => model.doStream(params)),
  }
  return middleware
}

const asSdk = (status, words) => (actual, limit) => {
  const said = words(actual, limit)
  return new APICallError({
    message: said.startsWith('<') ? 'Request Entity Too Large' : said,
    url: 'https://api.example.com/v1/chat',
    requestBodyValues: {},
    statusCode: status,
    responseBody: said.startsWith('<') ? said : JSON.stringify({ error: { message: said } }),
    isRetryable: false,
  })
}

async function sdkRun(contextTokens, refuse) {
  const { model: mock, seen } = sdkModel(refuse)
  const model = wrapLanguageModel({ model: mock, middleware: recovering(contextTokens) })
  const { text, response } = await generateText({
    model,
    tools: sdkTools,
    stopWhen: stepCountIs(3),
    prompt: 'go',
  })
  assert.equal(text, 'done')
  return { ...seen, stored: resultsIn(response.messages) }
}

for (const [provider, [status, words]] of Object.entries(WORDINGS)) {
  test(`AI SDK, ${provider}: one refusal, then an answer`, async () => {
    assert.deepEqual(told(await sdkRun(TOLD, asSdk(status, words))), RECOVERED)
  })
}

test('AI SDK: without recovery the run fails', async () => {
  const { model, seen } = sdkModel(asSdk(...WORDINGS.Anthropic))
  const run = generateText({ model, tools: sdkTools, stopWhen: stepCountIs(3), prompt: 'go' })
  await assert.rejects(run, { name: 'AI_APICallError' })
  assert.equal(seen.requests, 2)
})

test('AI SDK: a window that is known is kept to without a refusal', async () => {
  assert.deepEqual(told(await sdkRun(LIMIT, asSdk(...WORDINGS.Anthropic))), { ...RECOVERED, requests: 2 })
})

test('AI SDK: a stream', async () => {
  const { model: mock, seen } = sdkModel(asSdk(...WORDINGS.Google))
  const model = wrapLanguageModel({ model: mock, middleware: recovering(TOLD) })
  const run = streamText({ model, tools: sdkTools, stopWhen: stepCountIs(3), prompt: 'go' })
  assert.equal(await run.text, 'done')
  const { messages } = await run.response
  assert.deepEqual(told({ ...seen, stored: resultsIn(messages) }), RECOVERED)
})

test('AI SDK: what cannot be saved rejects with the trail', async () => {
  const { model: mock, seen } = sdkModel(asSdk(...WORDINGS.Anthropic))
  const model = wrapLanguageModel({ model: mock, middleware: recovering(TOLD) })
  const call = { type: 'tool-call', toolCallId: 'a', toolName: 'first', input: {} }
  const output = { type: 'text', value: 'c' }
  const messages = [
    { role: 'user', content: OUTPUT.repeat(6) },
    { role: 'assistant', content: [call] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'first', output }] },
  ]
  await assert.rejects(generateText({ model, tools: sdkTools, messages }), (error) => {
    assert.ok(error instanceof ContextOverflowError, String(error))
    assert.deepEqual(
      error.attempts.map(({ type }) => type),
      ['precheck', 'send', 'overflow', 'precheck', 'give_up'],
    )
    assert.ok(APICallError.isInstance(error.cause))
    return true
  })
  assert.equal(seen.requests, 1)
})
