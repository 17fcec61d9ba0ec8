// biome-ignore-all lint/suspicious/noExplicitAny: the shapes of thirteen frameworks are read by path
import type { DialectName } from 'spillway'

/** A tool result as a framework has it, around a given text. */
export interface Sample {
  dialect: DialectName
  name: string
  make: (big: string) => object
  /** Texts of each result that a model is sent. */
  texts: (value: any) => string[][]
  ids?: string[]
  error?: boolean
  /** Its data says so by a member of its own. */
  saysFailed?: boolean
  /** Paths of values that are JSON and may become text, with what becomes of their tag. */
  json?: string[]
  /** Copies that no model is sent. */
  side?: string[]
}

const png = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }

/** The text of a value that may have been JSON. */
const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

const aiSdk = (output: object, rest: object = {}) => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 't', output, ...rest }],
})

const outputText = ({ type, value, reason }: any): string[] => {
  if (type === 'execution-denied') return [reason]
  if (type !== 'content') return [asText(value)]
  return value.flatMap((block: any) => (block.type === 'text' ? block.text : (block.data?.text ?? [])))
}

const aiSdkTexts = ({ content }: any): string[][] =>
  content
    .filter(({ type }: any) => type === 'tool-result')
    .map((part: any) => (part.output ? outputText(part.output) : [asText(part.result)]))

const blockTexts = (content: any): string[] =>
  typeof content === 'string'
    ? [content]
    : content.flatMap((block: any) => block.text ?? block.resource?.text ?? [])

const anthropicTexts = (content: any): string[] =>
  typeof content === 'string'
    ? [content]
    : content.flatMap((block: any) => {
        if (block.type === 'text') return block.text
        if (block.type === 'search_result') return anthropicTexts(block.content)
        if (block.type !== 'document') return []
        return block.source.type === 'text' ? block.source.data : anthropicTexts(block.source.content)
      })

export const samples: Sample[] = [
  {
    dialect: 'pi',
    name: 'message',
    make: (big) => ({
      role: 'toolResult',
      toolCallId: 'c1',
      toolName: 'bash',
      content: [{ type: 'text', text: big, textSignature: 's' }, png],
      details: { truncation: { content: big } },
      isError: false,
      timestamp: 1,
    }),
    texts: ({ content }) => [blockTexts(content)],
    ids: ['c1'],
    side: ['details'],
  },
  {
    dialect: 'pi',
    name: 'result',
    make: (big) => ({
      content: [png, { type: 'text', text: big }],
      details: undefined,
      usage: { n: 1 },
    }),
    texts: ({ content }) => [blockTexts(content)],
  },
  {
    dialect: 'mcp',
    name: 'result',
    make: (big) => ({
      content: [
        { type: 'text', text: big, annotations: { audience: ['assistant'] }, _meta: { k: 1 } },
        { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text: big } },
        { type: 'resource', resource: { uri: 'file:///b', blob: 'aGk=' } },
        png,
        { type: 'resource_link', uri: 'file:///c', name: 'c' },
      ],
      structuredContent: { rows: [big] },
      isError: false,
      _meta: { k: 1 },
    }),
    texts: ({ content }) => [blockTexts(content)],
    side: ['structuredContent'],
  },
  ...(['text', 'error-text'] as const).map(
    (type): Sample => ({
      dialect: 'ai-sdk',
      name: `message with ${type}`,
      make: (big) =>
        aiSdk(
          { type, value: big, providerOptions: { x: { y: 1 } } },
          { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
        ),
      texts: aiSdkTexts,
      ids: ['c1'],
      error: type === 'error-text',
    }),
  ),
  ...(['json', 'error-json'] as const).map(
    (type): Sample => ({
      dialect: 'ai-sdk',
      name: `message with ${type}`,
      make: (big) => aiSdk({ type, value: { rows: [big] } }),
      texts: aiSdkTexts,
      ids: ['c1'],
      error: type === 'error-json',
      json: ['content.0.output.value', 'content.0.output.type'],
    }),
  ),
  {
    dialect: 'ai-sdk',
    name: 'message with content',
    make: (big) =>
      aiSdk({
        type: 'content',
        value: [
          { type: 'text', text: big },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } },
          { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: big } },
          { type: 'image-data', data: 'iVBORw0KGgo=', mediaType: 'image/png' },
        ],
      }),
    texts: aiSdkTexts,
    ids: ['c1'],
  },
  {
    dialect: 'ai-sdk',
    name: 'assistant message with results of the provider, and a denied call',
    make: (big) => ({
      role: 'assistant',
      content: [
        { type: 'text', text: 'the answer of the model stays' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 't', input: {}, providerExecuted: true },
        { type: 'tool-result', toolCallId: 'c1', toolName: 't', output: { type: 'text', value: big } },
        {
          type: 'tool-result',
          toolCallId: 'c2',
          toolName: 't',
          output: { type: 'execution-denied', reason: big },
        },
        { type: 'tool-result', toolCallId: 'c3', toolName: 't', result: big },
      ],
    }),
    texts: aiSdkTexts,
    ids: ['c1', 'c2', 'c3'],
  },
  {
    dialect: 'ai-sdk',
    name: 'part',
    make: (big) => aiSdk({ type: 'text', value: big }).content[0] as object,
    texts: (part) => aiSdkTexts({ content: [part] }),
    ids: ['c1'],
  },
  {
    dialect: 'ai-sdk',
    name: 'output',
    make: (big) => ({ type: 'content', value: [{ type: 'text', text: big }] }),
    texts: (output) => [outputText(output)],
  },
  {
    dialect: 'ai-sdk-ui',
    name: 'message',
    make: (big) => ({
      id: 'm1',
      role: 'assistant',
      parts: [
        { type: 'text', text: 'the answer of the model stays' },
        { type: 'tool-t', toolCallId: 'c1', state: 'output-available', input: {}, output: big },
        {
          type: 'dynamic-tool',
          toolName: 'd',
          toolCallId: 'c2',
          state: 'output-error',
          input: {},
          errorText: big,
        },
        { type: 'tool-u', toolCallId: 'c3', state: 'input-available', input: { a: 1 } },
      ],
    }),
    texts: ({ parts }) =>
      parts.flatMap((part: any) =>
        (part.output ?? part.errorText) ? [[part.output ?? part.errorText]] : [],
      ),
    ids: ['c1', 'c2'],
  },
  {
    dialect: 'ai-sdk-ui',
    name: 'part with data',
    make: (big) => ({
      type: 'tool-result',
      toolCallId: 'c1',
      state: 'output-available',
      input: {},
      output: { rows: [big], total: 1 },
      callProviderMetadata: { x: { y: 1 } },
    }),
    texts: ({ output }) => [[asText(output)]],
    ids: ['c1'],
    json: ['output'],
  },
  {
    dialect: 'langchain',
    name: 'stored message',
    make: (big) => ({
      type: 'tool',
      data: {
        content: big,
        tool_call_id: 'c1',
        name: 'n',
        id: '1',
        artifact: { raw: big },
        status: 'success',
        additional_kwargs: {},
        response_metadata: {},
      },
    }),
    texts: ({ data }) => [[data.content]],
    ids: ['c1'],
    side: ['data.artifact'],
  },
  {
    dialect: 'langchain',
    name: 'message without an id',
    make: (big) => ({ type: 'tool', content: big }),
    texts: ({ content }) => [[content]],
  },
  {
    dialect: 'langchain',
    name: 'stored message without an id',
    make: (big) => ({ type: 'tool', data: { content: [{ type: 'text', text: big }] } }),
    texts: ({ data }) => [blockTexts(data.content)],
  },
  {
    dialect: 'langchain',
    name: 'constructor',
    make: (big) => ({
      lc: 1,
      type: 'constructor',
      id: ['langchain_core', 'messages', 'ToolMessage'],
      kwargs: {
        content: [{ type: 'text', text: big }],
        tool_call_id: 'c1',
        name: 'n',
        id: '1',
        status: 'error',
      },
    }),
    texts: ({ kwargs }) => [blockTexts(kwargs.content)],
    ids: ['c1'],
    error: true,
  },
  {
    dialect: 'openai-chat',
    name: 'message',
    make: (big) => ({ role: 'tool', tool_call_id: 'c1', content: big }),
    texts: ({ content }) => [[content]],
    ids: ['c1'],
  },
  {
    dialect: 'openai-chat',
    name: 'message with parts',
    make: (big) => ({ role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: big }] }),
    texts: ({ content }) => [blockTexts(content)],
    ids: ['c1'],
  },
  ...['function_call_output', 'custom_tool_call_output', 'apply_patch_call_output'].map(
    (type): Sample => ({
      dialect: 'openai-responses',
      name: type,
      make: (big) => ({ type, call_id: 'c1', output: big, status: 'completed' }),
      texts: ({ output }) => [[output]],
      ids: ['c1'],
    }),
  ),
  {
    dialect: 'openai-responses',
    name: 'parts',
    make: (big) => ({
      type: 'function_call_output',
      call_id: 'c1',
      output: [
        { type: 'input_text', text: big },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
      ],
    }),
    texts: ({ output }) => [blockTexts(output)],
    ids: ['c1'],
  },
  {
    dialect: 'openai-responses',
    name: 'shell call',
    make: (big) => ({
      type: 'shell_call_output',
      call_id: 'c1',
      max_output_length: 9_000_000,
      output: [
        { stdout: big, stderr: '', outcome: { type: 'exit', exit_code: 1 } },
        { stdout: '', stderr: big, outcome: { type: 'exit', exit_code: 0 } },
      ],
    }),
    texts: ({ output }) => [
      output.flatMap(({ stdout, stderr }: any) => [stdout, stderr].filter((text) => text !== '')),
    ],
    ids: ['c1'],
    error: true,
  },
  {
    dialect: 'openai-responses',
    name: 'local shell call, JSON as a string',
    make: (big) => ({
      type: 'local_shell_call_output',
      id: 'c1',
      output: JSON.stringify({ stdout: big, exit_code: 1 }),
    }),
    texts: ({ output }) => [[output]],
    ids: ['c1'],
    saysFailed: true,
  },
  {
    dialect: 'openai-responses',
    name: 'call of a hosted MCP server',
    make: (big) => ({
      type: 'mcp_call',
      id: 'c1',
      server_label: 's',
      name: 't',
      arguments: '{}',
      output: big,
      error: null,
    }),
    texts: ({ output }) => [[output]],
    ids: ['c1'],
  },
  {
    dialect: 'openai-agents',
    name: 'item',
    make: (big) => ({
      type: 'function_call_result',
      name: 't',
      callId: 'c1',
      status: 'completed',
      output: { type: 'text', text: big },
    }),
    texts: ({ output }) => [[output.text]],
    ids: ['c1'],
  },
  {
    dialect: 'openai-agents',
    name: 'list',
    make: (big) => [
      { type: 'input_text', text: big },
      { type: 'input_image', image: 'data:,' },
    ],
    texts: (list) => [blockTexts(list)],
  },
  {
    dialect: 'anthropic',
    name: 'message',
    make: (big) => ({
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          content: big,
          is_error: true,
          cache_control: { type: 'ephemeral' },
        },
        {
          type: 'tool_result',
          tool_use_id: 'c2',
          content: [
            { type: 'text', text: big, cache_control: { type: 'ephemeral' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: big } },
            { type: 'document', source: { type: 'content', content: [{ type: 'text', text: big }] } },
            { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: big }] },
          ],
        },
        { type: 'text', text: 'a question of the user stays' },
      ],
    }),
    texts: ({ content }) =>
      content
        .filter(({ type }: any) => type === 'tool_result')
        .map((block: any) => anthropicTexts(block.content)),
    ids: ['c1', 'c2'],
    error: true,
  },
  {
    dialect: 'anthropic',
    name: 'block',
    make: (big) => ({ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: big }] }),
    texts: ({ content }) => [blockTexts(content)],
    ids: ['c1'],
  },
  {
    dialect: 'gemini',
    name: 'message',
    make: (big) => ({
      role: 'user',
      parts: [
        { functionResponse: { id: 'c1', name: 't', response: { output: big } } },
        { functionResponse: { id: 'c2', name: 't', response: { error: big } } },
        {
          functionResponse: {
            id: 'c3',
            name: 't',
            response: { stdout: big, exitCode: 0 },
            parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }],
          },
        },
        { text: 'a question of the user stays' },
      ],
    }),
    texts: ({ parts }) =>
      parts.flatMap(({ functionResponse }: any) => {
        if (!functionResponse) return []
        const { response } = functionResponse
        return [[response.output ?? response.error ?? JSON.stringify(response)]]
      }),
    ids: ['c1', 'c2', 'c3'],
    json: ['parts.2.functionResponse.response'],
  },
  {
    dialect: 'bedrock',
    name: 'message',
    make: (big) => ({
      role: 'user',
      content: [
        {
          toolResult: {
            toolUseId: 'c1',
            status: 'success',
            content: [
              { text: big },
              { json: { a: big } },
              { image: { format: 'png', source: { bytes: new Uint8Array([1, 2, 3]) } } },
            ],
          },
        },
        { text: 'a question of the user stays' },
      ],
    }),
    texts: ({ content }) => [
      content[0].toolResult.content.flatMap(
        ({ text, json }: any) => text ?? (json ? JSON.stringify(json) : []),
      ),
    ],
    ids: ['c1'],
    json: ['content.0.toolResult.content.1'],
  },
  {
    dialect: 'mastra',
    name: 'stored message',
    make: (big) => ({
      id: 'm',
      role: 'assistant',
      createdAt: new Date(0),
      content: {
        format: 2,
        parts: [
          {
            type: 'tool-invocation',
            toolInvocation: {
              state: 'result',
              toolCallId: 'c1',
              toolName: 't',
              args: {},
              result: { rows: [big] },
            },
            providerMetadata: { mastra: { modelOutput: { type: 'text', value: big } } },
          },
          {
            type: 'tool-invocation',
            toolInvocation: {
              state: 'output-error',
              toolCallId: 'c2',
              toolName: 't',
              args: {},
              errorText: big,
            },
          },
          { type: 'text', text: 'the answer of the model stays' },
        ],
      },
    }),
    texts: ({ content }) =>
      content.parts
        .filter(({ type }: any) => type === 'tool-invocation')
        .map(({ toolInvocation: { result, errorText }, providerMetadata }: any) => [
          errorText ?? asText(result),
          ...(providerMetadata ? [providerMetadata.mastra.modelOutput.value] : []),
        ]),
    ids: ['c1', 'c2'],
    json: ['content.parts.0.toolInvocation.result'],
  },
  {
    dialect: 'ai-sdk-ui',
    name: 'message of version 4',
    make: (big) => ({
      id: 'm1',
      role: 'assistant',
      content: 'the answer of the model stays',
      toolInvocations: [
        { state: 'result', toolCallId: 'c1', toolName: 't', args: { a: 1 }, result: big },
        { state: 'call', toolCallId: 'c2', toolName: 't', args: {} },
      ],
    }),
    texts: ({ toolInvocations: [{ result }] }) => [[result]],
    ids: ['c1'],
  },
  {
    dialect: 'ai-sdk-ui',
    name: 'part with an MCP result',
    make: (big) => ({
      type: 'dynamic-tool',
      toolName: 't',
      toolCallId: 'c1',
      state: 'output-available',
      input: {},
      output: {
        content: [{ type: 'text', text: big }, png, { type: 'resource', resource: { uri: 'a:', text: big } }],
      },
    }),
    texts: ({ output }) => [blockTexts(output.content)],
    ids: ['c1'],
  },
  {
    dialect: 'openai-responses',
    name: 'call of a hosted interpreter',
    make: (big) => ({
      type: 'code_interpreter_call',
      id: 'c1',
      status: 'completed',
      code: 'print(1)',
      container_id: 'k',
      outputs: [
        { type: 'logs', logs: big },
        { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' },
      ],
    }),
    texts: ({ outputs }) => [[outputs[0].logs]],
    ids: ['c1'],
  },
  {
    dialect: 'openai-responses',
    name: 'call of a hosted search',
    make: (big) => ({
      type: 'file_search_call',
      id: 'c1',
      status: 'completed',
      queries: ['q'],
      results: [{ file_id: 'f', filename: 'a.md', score: 0.5, text: big }],
    }),
    texts: ({ results }) => [[results[0].text]],
    ids: ['c1'],
  },
  {
    dialect: 'openai-responses',
    name: 'call of a hosted MCP server that failed',
    make: (big) => ({
      type: 'mcp_call',
      id: 'c1',
      name: 't',
      error: { type: 'mcp_tool_error', message: big },
    }),
    texts: ({ error }) => [[error.message]],
    ids: ['c1'],
  },
  {
    dialect: 'openai-agents',
    name: 'call of a hosted tool',
    make: (big) => ({
      type: 'hosted_tool_call',
      id: 'c1',
      name: 'code_interpreter_call',
      status: 'completed',
      output: big,
      providerData: {
        type: 'code_interpreter_call',
        code: 'print(1)',
        outputs: [{ type: 'logs', logs: big }],
      },
    }),
    texts: ({ output, providerData }) => [[output, ...providerData.outputs.map(({ logs }: any) => logs)]],
    ids: ['c1'],
  },
  {
    dialect: 'anthropic',
    name: 'message with results of server tools',
    make: (big) => ({
      role: 'assistant',
      content: [
        { type: 'text', text: 'the answer of the model stays' },
        {
          type: 'mcp_tool_result',
          tool_use_id: 'c1',
          is_error: false,
          content: [{ type: 'text', text: big }],
        },
        {
          type: 'web_fetch_tool_result',
          tool_use_id: 'c2',
          content: {
            type: 'web_fetch_result',
            url: 'https://example.com',
            content: { type: 'document', source: { type: 'text', media_type: 'text/plain', data: big } },
          },
        },
        {
          type: 'bash_code_execution_tool_result',
          tool_use_id: 'c3',
          content: {
            type: 'bash_code_execution_result',
            stdout: big,
            stderr: '!',
            return_code: 0,
            content: [],
          },
        },
        {
          type: 'text_editor_code_execution_tool_result',
          tool_use_id: 'c4',
          content: { type: 'text_editor_code_execution_view_result', file_type: 'text', content: big },
        },
      ],
    }),
    texts: ({ content: [, mcp, fetched, bash, view] }) => [
      blockTexts(mcp.content),
      [fetched.content.content.source.data],
      [bash.content.stdout],
      [view.content.content],
    ],
    ids: ['c1', 'c2', 'c3', 'c4'],
  },
  {
    dialect: 'gemini',
    name: 'message with code that Gemini ran',
    make: (big) => ({
      role: 'model',
      parts: [
        { executableCode: { id: 'c1', language: 'PYTHON', code: 'print(1)' } },
        { codeExecutionResult: { id: 'c1', outcome: 'OUTCOME_FAILED', output: big } },
      ],
    }),
    texts: ({ parts }) => [[parts[1].codeExecutionResult.output]],
    ids: ['c1'],
    error: true,
  },
  {
    dialect: 'gemini-cli',
    name: 'record of a message with its calls',
    make: (big) => ({
      id: 'm1',
      timestamp: '2026-01-02T03:04:05.000Z',
      type: 'gemini',
      content: 'the answer of the model stays',
      toolCalls: [
        {
          id: 'c1',
          name: 't',
          args: { path: 'a' },
          result: [{ functionResponse: { id: 'c1', name: 't', response: { output: big } } }],
          status: 'success',
          resultDisplay: { fileDiff: big, fileName: 'a' },
        },
        { id: 'c2', name: 't', args: {}, result: big, status: 'error' },
      ],
    }),
    texts: ({ toolCalls: [first, second] }) => [
      [first.result[0].functionResponse.response.output],
      [second.result],
    ],
    ids: ['c1', 'c2'],
    side: ['toolCalls.0.resultDisplay'],
  },
  {
    dialect: 'gemini-cli',
    name: 'record of the results that a model is sent',
    make: (big) => ({
      id: 'm2',
      timestamp: '2026-01-02T03:04:05.000Z',
      type: 'user',
      content: [
        { functionResponse: { id: 'c1', name: 't', response: { output: big } } },
        { functionResponse: { id: 'c2', name: 't', response: { error: big } } },
      ],
    }),
    texts: ({ content: [first, second] }) => [
      [first.functionResponse.response.output],
      [second.functionResponse.response.error],
    ],
    ids: ['c1', 'c2'],
  },
  {
    dialect: 'copilot',
    name: 'event at the end of a call',
    make: (big) => ({
      type: 'tool.execution_complete',
      data: {
        toolCallId: 'c1',
        success: true,
        result: { content: big, detailedContent: big },
        toolTelemetry: {},
      },
      id: 'e1',
      timestamp: '2026-01-02T03:04:05.000Z',
      parentId: 'e0',
    }),
    texts: ({ data }) => [[data.result.content]],
    ids: ['c1'],
  },
  {
    dialect: 'opencode',
    name: 'part of a call',
    make: (big) => ({
      id: 'prt_1',
      sessionID: 'ses_1',
      messageID: 'msg_1',
      type: 'tool',
      callID: 'c1',
      tool: 'bash',
      state: {
        status: 'completed',
        input: { command: 'ls' },
        output: big,
        title: 'ls',
        metadata: { output: big, exit: 0 },
        time: { start: 1, end: 2 },
      },
    }),
    texts: ({ state }) => [[state.output]],
    ids: ['c1'],
    side: ['state.metadata'],
  },
  {
    dialect: 'kimi-code',
    name: 'event at the end of a call',
    make: (big) => ({
      type: 'tool.result',
      parentUuid: 'u1',
      toolCallId: 'c1',
      result: { output: big, isError: false, durationMs: 16 },
    }),
    texts: ({ result }) => [[result.output]],
    ids: ['c1'],
  },
  {
    dialect: 'kimi-code',
    name: 'event with blocks',
    make: (big) => ({
      type: 'tool.result',
      parentUuid: 'u1',
      toolCallId: 'c1',
      result: {
        output: [
          { type: 'text', text: big },
          { type: 'image_url', imageUrl: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
        ],
        isError: true,
      },
    }),
    texts: ({ result }) => [[result.output[0].text]],
    ids: ['c1'],
    error: true,
  },
  {
    dialect: 'continue',
    name: 'states of calls',
    make: (big) => ({
      message: {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'c1', type: 'function', function: { name: 'Bash', arguments: '{}' } }],
      },
      contextItems: [],
      toolCallStates: [
        {
          toolCallId: 'c1',
          toolCall: { id: 'c1', type: 'function', function: { name: 'Bash', arguments: '{}' } },
          status: 'errored',
          parsedArgs: {},
          output: [{ content: big, name: 'Tool Result', description: 'Tool execution result' }],
        },
      ],
    }),
    texts: ({ toolCallStates }) => [[toolCallStates[0].output[0].content]],
    ids: ['c1'],
    error: true,
  },
]

/** The value at a path such as `content.0.text`. */
export function valueAt(value: any, path: string): any {
  return path.split('.').reduce((value, name) => value?.[name], value)
}
