// Every framework's own types pass through unchanged. Checked by `tsc`, never run.

import type { Options as ClaudeOptions, McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk'
import type Anthropic from '@anthropic-ai/sdk'
import type { Message, Tool, ToolResultBlock } from '@aws-sdk/client-bedrock-runtime'
import type { ToolResultMessage } from '@earendil-works/pi-ai'
import type { ExtensionFactory } from '@earendil-works/pi-coding-agent'
import type { Content, FunctionDeclaration, FunctionResponse } from '@google/genai'
import type { BaseMessage, ToolMessage } from '@langchain/core/messages'
import type { ErrorProcessor, InputProcessor } from '@mastra/core/processors'
import { createTool } from '@mastra/core/tools'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { McpServer as McpServer2 } from '@modelcontextprotocol/server'
import {
  Agent,
  type AgentInputItem,
  tool as agentsTool,
  type CallModelInputFilter,
  type Model,
} from '@openai/agents'
import * as otel from '@opentelemetry/api'
import { metrics, trace } from '@opentelemetry/api'
import {
  generateText,
  type JSONSchema7,
  jsonSchema,
  type LanguageModelMiddleware,
  type ModelMessage,
  type ToolSet,
  tool,
  type UIMessage,
} from 'ai'
import type * as ai5 from 'ai5'
import type * as ai7 from 'ai7'
import { type AgentMiddleware, createAgent, createMiddleware, tool as langchainTool } from 'langchain'
import type OpenAI from 'openai'
import {
  type Context,
  clampMessages,
  clampResult,
  createSpillStore,
  runWithRecovery,
  type SpillStore,
  sanitizeForDisplay,
  spillTool,
  wrapTool,
  wrapTools,
} from 'spillway'
import { clampUIMessages, spillwayMiddleware } from 'spillway/ai-sdk'
import { spillwayHooks } from 'spillway/claude-agent'
import { spillwayMiddleware as spillwayLangchain } from 'spillway/langchain'
import { spillwayProcessor } from 'spillway/mastra'
import { wrapServer } from 'spillway/mcp'
import { readOutputTool, withContext } from 'spillway/openai-agents'
import { instrument } from 'spillway/otel'
import { spillwayExtension } from 'spillway/pi-extension'
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
same<UIMessage[]>()(clampUIMessages(some<UIMessage[]>()), true)
same<ai5.UIMessage[]>()(clampUIMessages(some<ai5.UIMessage[]>()), true)
same<ai7.UIMessage[]>()(clampUIMessages(some<ai7.UIMessage[]>()), true)

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
interface Tools {
  read: typeof reader
  agent: typeof agentTool
}
same<Tools>()(wrapTools(some<Tools>()), true)
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

// Recovery, as docs/context.md has it, for each version of the AI SDK

interface Request<M> {
  prompt: M[]
  tools?: unknown
  abortSignal?: AbortSignal | undefined
}
const recovered = <M, P extends Request<M>, R>(params: P & Request<M>, ask: (params: P) => PromiseLike<R>) =>
  runWithRecovery({
    contextTokens: 200_000,
    reserveTokens: 16_384,
    tools: params.tools,
    messages: () => params.prompt,
    send: (prompt) => ask({ ...params, prompt }),
    signal: params.abortSignal,
  })
export const recovering: LanguageModelMiddleware = {
  specificationVersion: 'v3',
  wrapGenerate: ({ model, params }) => recovered(params, (params) => model.doGenerate(params)),
  wrapStream: ({ model, params }) => recovered(params, (params) => model.doStream(params)),
}
export const recovering5: ai5.LanguageModelMiddleware = {
  middlewareVersion: 'v2',
  wrapGenerate: ({ model, params }) => recovered(params, (params) => model.doGenerate(params)),
  wrapStream: ({ model, params }) => recovered(params, (params) => model.doStream(params)),
}
export const recovering7: ai7.LanguageModelMiddleware = {
  specificationVersion: 'v4',
  wrapGenerate: ({ model, params }) => recovered(params, (params) => model.doGenerate(params)),
  wrapStream: ({ model, params }) => recovered(params, (params) => model.doStream(params)),
}

const budget = { contextTokens: 200_000, reserveTokens: 16_384 }
export const answers = (signal: AbortSignal | undefined) => [
  runWithRecovery({
    ...budget,
    messages: () => some<ModelMessage[]>(),
    send: (messages, { signal }) => generateText({ model: 'none', messages, abortSignal: signal }),
    signal,
  }),
  runWithRecovery({
    ...budget,
    messages: () => some<ai5.ModelMessage[]>(),
    send: (messages, { signal }) =>
      some<typeof ai5.generateText>()({ model: 'none', messages, abortSignal: signal }),
    compact: undefined,
    signal,
  }),
  runWithRecovery({
    ...budget,
    messages: () => some<ai7.ModelMessage[]>(),
    send: (messages, { signal }) =>
      some<typeof ai7.generateText>()({ model: 'none', messages, abortSignal: signal }),
    signal,
  }),
  runWithRecovery({
    ...budget,
    systemPrompt: some<string | undefined>(),
    messages: () => some<Anthropic.MessageParam[]>(),
    send: (messages, { signal }) =>
      some<Anthropic>().messages.create({ model: 'none', max_tokens: 5, messages }, { signal }),
    signal,
  }),
  runWithRecovery({
    ...budget,
    messages: () => some<ChatMessages>(),
    send: (messages, { signal }) =>
      some<OpenAI>().chat.completions.create({ model: 'none', messages }, { signal }),
    signal,
  }),
]

// The tool that reads saved outputs, as docs/frameworks.md registers it

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

export const anthropicTool: Anthropic.Tool = { name, description, input_schema: parameters }
export const openaiTool: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: { name, description, parameters },
}
export const responsesTool: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name,
  description,
  parameters,
  strict: false,
}
export const geminiTool: FunctionDeclaration = { name, description, parametersJsonSchema: parameters }
export const bedrockTool: Tool = { toolSpec: { name, description, inputSchema: { json: parameters } } }
export const schema: JSONSchema7 = parameters
export const schemas = [some<typeof ai5.jsonSchema>()(parameters), some<typeof ai7.jsonSchema>()(parameters)]
export const chainReader = langchainTool(execute, { name, description, schema: parameters })

// The middleware of spillway/ai-sdk, the tool that reads saved outputs, and steps of a context.
declare const held: Context
export const middleware5: ai5.LanguageModelMiddleware = spillwayMiddleware(held)
export const middleware6: LanguageModelMiddleware = spillwayMiddleware(() => held)
export const middleware7: ai7.LanguageModelMiddleware = spillwayMiddleware(held)
export const readers: [ToolSet, ai7.ToolSet] = [
  { read_output: spillTool(some<SpillStore>()) },
  { read_output: spillTool(some<SpillStore>()) },
]
export const heldStep7: ai7.PrepareStepFunction<ai7.ToolSet> = ({ messages }) => held.prepare(messages)
export const servers: [McpServer, McpServer2] = [
  wrapServer(some<McpServer>()),
  wrapServer(some<McpServer2>()),
]

// Pi's extension.
export const bounding: ExtensionFactory = spillwayExtension({ context: () => held, redact: true })

// The hook and the server of the Claude Agent SDK.
export const claudeOptions: ClaudeOptions = { hooks: spillwayHooks({ redact: true }) }
export const claudeServer = wrapServer(some<McpSdkServerConfigWithInstance>().instance)

// The entries over a context, by the types of their frameworks.
export const agentMiddleware: AgentMiddleware = spillwayLangchain({ context: held, maxBytes: 8_000 })
createAgent({ model: 'none', tools: [], middleware: [spillwayLangchain({ context: () => held })] })
export const processors: [InputProcessor[], ErrorProcessor[]] = [
  [spillwayProcessor(held)],
  [spillwayProcessor(() => held)],
]
export const agentsModel: Model = withContext(some<Model>(), held)
new Agent({
  name: 'builder',
  model: withContext(some<Model>(), held),
  tools: [readOutputTool(some<SpillStore>())],
})
createTool({ id: 'read_output', ...spillTool(some<SpillStore>()) })

// OpenTelemetry's own API, whole or in part.

export const stops = [instrument({ trace, metrics }), instrument({ metrics }), instrument(otel)]
