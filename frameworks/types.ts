// What goes in comes out: every framework's own types pass through unchanged. Checked by `tsc`, never run.

import type Anthropic from '@anthropic-ai/sdk'
import type { Message, ToolResultBlock } from '@aws-sdk/client-bedrock-runtime'
import type { ToolResultMessage } from '@earendil-works/pi-ai'
import type { ExtensionFactory } from '@earendil-works/pi-coding-agent'
import type { Content, FunctionResponse } from '@google/genai'
import type { BaseMessage, ToolMessage } from '@langchain/core/messages'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { type AgentInputItem, tool as agentsTool, type CallModelInputFilter } from '@openai/agents'
import {
  generateText,
  jsonSchema,
  type LanguageModelMiddleware,
  type ModelMessage,
  tool,
  type UIMessage,
} from 'ai'
import { createMiddleware, tool as langchainTool } from 'langchain'
import type OpenAI from 'openai'
import {
  clampMessages,
  clampResult,
  createSpillStore,
  sanitizeForDisplay,
  spillTool,
  wrapTool,
  wrapTools,
} from 'spillway'
import { z } from 'zod'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function same<Expected>() {
  return <Actual>(_value: Actual, _check: Same<Actual, Expected>): void => {}
}
declare function some<T>(): T

// Results and messages

same<Anthropic.ToolResultBlockParam>()(clampResult(some<Anthropic.ToolResultBlockParam>()), true)
same<Anthropic.MessageParam[]>()(clampMessages(some<Anthropic.MessageParam[]>()).messages, true)

type ChatMessages = OpenAI.ChatCompletionMessageParam[]
same<OpenAI.ChatCompletionToolMessageParam>()(
  clampResult(some<OpenAI.ChatCompletionToolMessageParam>()),
  true,
)
same<ChatMessages>()(clampMessages(some<ChatMessages>()).messages, true)

type ResponseOutput = OpenAI.Responses.ResponseInputItem.FunctionCallOutput
same<ResponseOutput>()(clampResult(some<ResponseOutput>()), true)
same<OpenAI.Responses.ResponseInput>()(clampMessages(some<OpenAI.Responses.ResponseInput>()).messages, true)

same<FunctionResponse>()(clampResult(some<FunctionResponse>()), true)
same<Content[]>()(clampMessages(some<Content[]>()).messages, true)

same<ToolResultBlock>()(clampResult(some<ToolResultBlock>()), true)
same<Message[]>()(clampMessages(some<Message[]>()).messages, true)

same<ToolResultMessage>()(clampResult(some<ToolResultMessage>()), true)
same<CallToolResult>()(clampResult(some<CallToolResult>()), true)
same<CallToolResult>()(sanitizeForDisplay(some<CallToolResult>()), true)
same<ToolMessage>()(clampResult(some<ToolMessage>()), true)
same<readonly BaseMessage[]>()(clampMessages(some<readonly BaseMessage[]>()).messages, true)
same<AgentInputItem[]>()(clampMessages(some<AgentInputItem[]>()).messages, true)
same<ModelMessage[]>()(clampMessages(some<ModelMessage[]>()).messages, true)
same<UIMessage[]>()(clampMessages(some<UIMessage[]>()).messages, true)

// Tools

const inputSchema = z.object({ path: z.string() })
const reader = tool({ inputSchema, execute: async ({ path }) => ({ rows: [path] }) })
const agentTool = agentsTool({
  name: 'read',
  description: '',
  parameters: inputSchema,
  execute: async () => '',
})
const chainTool = langchainTool(async ({ path }: { path: string }) => path, {
  name: 'read',
  schema: inputSchema,
})

same<typeof reader>()(wrapTool(reader), true)
same<typeof agentTool>()(wrapTool(agentTool, { keep: 'head' }), true)
same<typeof chainTool>()(wrapTool(chainTool), true)
same<{ read: typeof reader }>()(wrapTools({ read: reader }), true)
same<Client>()(wrapTool(some<Client>(), { method: 'callTool', sideData: 'drop' }), true)

// Hooks

export const extension: ExtensionFactory = (pi) => {
  pi.on('tool_result', (event) => clampResult(event, { dialect: 'pi' }))
  pi.on('context', ({ messages }) => clampMessages(messages))
}
export const middleware: LanguageModelMiddleware = {
  specificationVersion: 'v3',
  transformParams: async ({ params }) => ({ ...params, prompt: clampMessages(params.prompt).messages }),
}
export const prepared = generateText({
  model: 'none',
  prompt: '',
  prepareStep: ({ messages }) => clampMessages(messages),
})
export const callModelInputFilter: CallModelInputFilter = ({ modelData }) => ({
  ...modelData,
  input: clampMessages(modelData.input).messages,
})
export const clamp = createMiddleware({
  name: 'clamp',
  wrapToolCall: wrapTool((request, handler) => handler(request)),
  wrapModelCall: (request, handler) =>
    handler({ ...request, messages: clampMessages(request.messages).messages }),
})

// What reads saved outputs, as docs/spill.md registers it

const { name, description, parameters, execute } = spillTool(createSpillStore({ dir: 'outputs' }))
export const readOutput = tool({ description, inputSchema: jsonSchema(parameters), execute })
export const reads: ExtensionFactory = (pi) => {
  pi.registerTool({
    name,
    label: 'Read output',
    description,
    parameters,
    execute: async (_callId, input) => ({
      content: [{ type: 'text', text: await execute(input) }],
      details: {},
    }),
  })
}
some<McpServer>().registerTool(
  name,
  { description, inputSchema: z.fromJSONSchema(parameters) },
  async (input) => ({ content: [{ type: 'text', text: await execute(input) }] }),
)
