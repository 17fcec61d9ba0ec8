// biome-ignore-all lint/suspicious/noExplicitAny: the shapes of thirteen frameworks

/** A history as a framework has it: words of the user, a call, and its result, which comes last. */
export interface Sample {
  name: string
  make: (words: string, asked: string, big: string) => object[]
}

const args = (asked: string) => ({ path: { of: [asked] }, limit: 5 })
const json = (asked: string) => JSON.stringify(args(asked))
const user = (text: string) => ({ role: 'user', content: text })
const blocks = (text: string) => [{ type: 'text', text }]
const output = (text: string) => ({ type: 'text', value: text })
const v4 = (asked: string, result: string) => ({
  state: 'result',
  toolCallId: 'c',
  toolName: 't',
  args: args(asked),
  result,
})

export const histories: Sample[] = [
  {
    name: 'pi',
    make: (words, asked, big) => [
      { role: 'user', content: blocks(words) },
      { role: 'assistant', content: [{ type: 'toolCall', id: 'c', name: 't', arguments: args(asked) }] },
      { role: 'toolResult', toolCallId: 'c', toolName: 't', content: blocks(big), isError: false },
    ],
  },
  ...(['input', 'args'] as const).map((name) => ({
    name: `ai-sdk with ${name}`,
    make: (words: string, asked: string, big: string) => [
      { role: 'user', content: blocks(words) },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c', toolName: 't', [name]: args(asked) }],
      },
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'c', toolName: 't', output: output(big) }],
      },
    ],
  })),
  ...['tool-t', 'dynamic-tool'].map((type) => ({
    name: `ai-sdk-ui ${type}`,
    make: (words: string, asked: string, big: string) => [
      { role: 'user', parts: blocks(words) },
      {
        role: 'assistant',
        parts: [{ type, toolCallId: 'c', state: 'output-available', input: args(asked), output: big }],
      },
    ],
  })),
  {
    name: 'ai-sdk-ui of version 4',
    make: (words, asked, big) => [
      { role: 'user', content: words, parts: blocks(words) },
      { role: 'assistant', content: '', toolInvocations: [v4(asked, big)] },
    ],
  },
  {
    name: 'langchain',
    make: (words, asked, big) => [
      { type: 'human', content: words },
      { type: 'ai', content: '', tool_calls: [{ id: 'c', name: 't', args: args(asked) }] },
      { type: 'tool', tool_call_id: 'c', name: 't', content: big },
    ],
  },
  {
    name: 'langchain, stored',
    make: (words, asked, big) => [
      { type: 'human', data: { content: blocks(words) } },
      { type: 'ai', data: { content: '', tool_calls: [{ id: 'c', name: 't', args: args(asked) }] } },
      { type: 'tool', data: { tool_call_id: 'c', name: 't', content: big } },
    ],
  },
  {
    name: 'gemini without ids',
    make: (words, asked, big) => [
      { role: 'user', parts: [{ text: words }] },
      { role: 'model', parts: [{ functionCall: { name: 'other', args: args('wrong') } }] },
      { role: 'model', parts: [{ functionCall: { name: 't', args: args(asked) } }] },
      { role: 'user', parts: [{ functionResponse: { name: 't', response: { output: big } } }] },
    ],
  },
  {
    name: 'gemini, its own code',
    make: (words, asked, big) => [
      { role: 'user', parts: [{ text: words }] },
      {
        role: 'model',
        parts: [
          { executableCode: { id: 'c', language: 'PYTHON', code: asked } },
          { codeExecutionResult: { id: 'c', outcome: 'OUTCOME_OK', output: big } },
        ],
      },
    ],
  },
  ...['tool_use', 'server_tool_use', 'mcp_tool_use'].map((type) => ({
    name: `anthropic ${type}`,
    make: (words: string, asked: string, big: string) => [
      { role: 'user', content: blocks(words) },
      { role: 'assistant', content: [{ type, id: 'c', name: 't', input: args(asked) }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: big }] },
    ],
  })),
  {
    name: 'bedrock',
    make: (words, asked, big) => [
      { role: 'user', content: [{ text: words }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'c', name: 't', input: args(asked) } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'c', content: [{ text: big }] } }] },
    ],
  },
  {
    name: 'openai-chat',
    make: (words, asked, big) => [
      user(words),
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 't', arguments: json(asked) } }],
      },
      { role: 'tool', tool_call_id: 'c', content: big },
    ],
  },
  {
    name: 'openai-chat, one function',
    make: (words, asked, big) => [
      user(words),
      { role: 'assistant', content: null, function_call: { name: 't', arguments: json(asked) } },
      { role: 'function', name: 't', content: big },
    ],
  },
  ...(
    [
      [{ type: 'function_call', arguments: 'json' }, 'function_call_output'],
      [{ type: 'custom_tool_call', input: 'text' }, 'custom_tool_call_output'],
      [{ type: 'shell_call', action: 'data' }, 'shell_call_output'],
      [{ type: 'apply_patch_call', operation: 'data' }, 'apply_patch_call_output'],
    ] as Record<string, string>[][]
  ).map(([call = {}, result]) => ({
    name: `openai-responses ${call['type']}`,
    make: (words: string, asked: string, big: string) => {
      const made = Object.fromEntries(
        Object.entries(call).map(([name, as]) => [
          name,
          as === 'json' ? json(asked) : as === 'text' ? asked : as === 'data' ? args(asked) : as,
        ]),
      )
      return [
        { role: 'user', content: [{ type: 'input_text', text: words }] },
        { ...made, id: 'x', call_id: 'c', name: 't' },
        {
          type: result as unknown as string,
          call_id: 'c',
          output: call['type'] === 'shell_call' ? [{ stdout: big, stderr: '' }] : big,
        },
      ]
    },
  })),
  ...(
    [
      [{ type: 'mcp_call', arguments: 'ASKED' }, { output: 'BIG' }],
      [{ type: 'code_interpreter_call', code: 'ASKED' }, { outputs: [{ type: 'logs', logs: 'BIG' }] }],
      [{ type: 'file_search_call', queries: ['ASKED'] }, { results: [{ text: 'BIG' }] }],
    ] as any[][]
  ).map(([call, result]) => ({
    name: `openai-responses ${call.type}`,
    make: (words: string, asked: string, big: string) => [
      user(words),
      JSON.parse(JSON.stringify({ ...call, id: 'c', ...result }), (_, value) =>
        value === 'ASKED' ? asked : value === 'BIG' ? big : value,
      ),
    ],
  })),
  {
    name: 'openai-agents',
    make: (words, asked, big) => [
      user(words),
      { type: 'function_call', callId: 'c', name: 't', arguments: json(asked) },
      { type: 'function_call_result', callId: 'c', name: 't', output: { type: 'text', text: big } },
    ],
  },
  {
    name: 'openai-agents, hosted',
    make: (words, asked, big) => [
      user(words),
      {
        type: 'hosted_tool_call',
        id: 'c',
        name: 'file_search_call',
        output: big,
        providerData: { type: 'file_search_call', queries: [asked] },
      },
    ],
  },
  {
    name: 'mastra',
    make: (words, asked, big) => [
      { role: 'user', content: { format: 2, parts: blocks(words), content: words } },
      {
        role: 'assistant',
        content: { format: 2, parts: [{ type: 'tool-invocation', toolInvocation: v4(asked, big) }] },
      },
    ],
  },
]
