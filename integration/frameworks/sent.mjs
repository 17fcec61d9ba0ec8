// Runs the real frameworks: messages of each, and the requests that reach a provider.
import assert from 'node:assert/strict'
import { fauxAssistantMessage, getModels, streamSimple } from '@earendil-works/pi-ai'
import { AIMessage, BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { OpenAIChatCompletionsModel, OpenAIResponsesModel } from '@openai/agents'
import { MockLanguageModelV3 } from 'ai/test'

/** Calls and results in the body of a request to any provider. */
export function pairsIn(body) {
  if (Array.isArray(body)) return body.flatMap(pairsIn)
  if (typeof body !== 'object' || body === null) return []
  const { type, role, id, call_id } = body
  if (type === 'tool_use' || (type === 'function' && body.function)) return [`+${id}`]
  if (type === 'tool_result') return [`-${body.tool_use_id}`]
  if (type === 'function_call') return [`+${call_id}`]
  if (type === 'function_call_output') return [`-${call_id}`]
  if (type === 'tool-call') return [`+${body.toolCallId}`]
  if (type === 'tool-result') return [`-${body.toolCallId}`]
  if (role === 'tool' && body.tool_call_id) return [`-${body.tool_call_id}`]
  if (body.functionCall) return [`+${body.functionCall.name}`]
  if (body.functionResponse) return [`-${body.functionResponse.name}`]
  if (body.toolUse) return [`+${body.toolUse.toolUseId}`]
  if (body.toolResult) return [`-${body.toolResult.toolUseId}`]
  return Object.values(body).flatMap(pairsIn)
}

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }

/** A model of the AI SDK that keeps what it is sent. */
export function makeModel() {
  const sent = []
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      sent.push(...pairsIn(prompt))
      const finishReason = { unified: 'stop', raw: 'stop' }
      return { content: [{ type: 'text', text: 'done' }], finishReason, usage, warnings: [] }
    },
  })
  return { model, sent }
}

/** Messages of the AI SDK. Tools are named like their calls. */
export const sdk = {
  user: (content) => ({ role: 'user', content }),
  calls: (...ids) => [
    {
      role: 'assistant',
      content: ids.map((id) => ({ type: 'tool-call', toolCallId: id, toolName: id, input: {} })),
    },
  ],
  result: (id, text = `of ${id}`) => ({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: id, toolName: id, output: { type: 'text', value: text } }],
  }),
}

/** Messages of Pi. */
export const pi = {
  user: (content) => ({ role: 'user', content, timestamp: 1 }),
  calls: (...ids) => [
    fauxAssistantMessage(
      ids.map((id) => ({ type: 'toolCall', id, name: id, arguments: {} })),
      { stopReason: 'toolUse' },
    ),
  ],
  result: (id, text = `of ${id}`) => ({
    role: 'toolResult',
    toolCallId: id,
    toolName: id,
    content: [{ type: 'text', text }],
    isError: false,
    timestamp: 2,
  }),
}

/** Messages of LangChain. */
export const langChain = {
  user: (content) => new HumanMessage(content),
  calls: (...ids) => [
    new AIMessage({
      content: '',
      tool_calls: ids.map((id) => ({ id, name: id, args: {}, type: 'tool_call' })),
    }),
  ],
  result: (id, text = `of ${id}`) => new ToolMessage({ content: text, tool_call_id: id, name: id }),
}

/** Items of OpenAI Agents. */
export const agents = {
  user: (content) => ({ role: 'user', content }),
  calls: (...ids) =>
    ids.map((id) => ({ type: 'function_call', callId: id, name: id, arguments: '{}', status: 'completed' })),
  result: (id, text = `of ${id}`) => ({
    type: 'function_call_result',
    callId: id,
    name: id,
    status: 'completed',
    output: { type: 'text', text },
  }),
}

/** The body of the request that Pi makes of messages. */
export async function requestOf(provider, messages) {
  let body
  const onPayload = (payload) => {
    body = payload
    throw new Error('nothing is sent')
  }
  const [model] = getModels(provider)
  await streamSimple(model, { messages }, { apiKey: 'key', onPayload }).result()
  return body
}

/** Calls and results that a model of LangChain was sent, all of them in their classes. */
export const pairsOf = (messages) =>
  messages.flatMap((message) => {
    assert.ok(BaseMessage.isInstance(message))
    if (ToolMessage.isInstance(message)) return `-${message.tool_call_id}`
    return (message.tool_calls ?? []).map(({ id }) => `+${id}`)
  })

/** Clients that keep the body of a request, with the models that use them. */
export const clients = {
  Responses: (keep) =>
    new OpenAIResponsesModel(
      {
        responses: {
          create: (body) => {
            keep(body.input)
            const content = [{ type: 'output_text', text: 'done', annotations: [] }]
            const message = { type: 'message', id: 'm', role: 'assistant', status: 'completed', content }
            const made = Promise.resolve({ id: 'r', output: [message], usage: {} })
            return Object.assign(made, { withResponse: async () => ({ data: await made, response: {} }) })
          },
        },
      },
      'gpt',
    ),
  Chat: (keep) =>
    new OpenAIChatCompletionsModel(
      {
        baseURL: 'http://localhost',
        chat: {
          completions: {
            create: async (body) => {
              keep(body.messages)
              return { id: 'r', choices: [{ message: { role: 'assistant', content: 'done' } }] }
            },
          },
        },
      },
      'gpt',
    ),
}
