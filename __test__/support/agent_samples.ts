/** Sessions as the writers of the agents lay them out, written from their sources, around the text
 *  of one result. */
export interface AgentSample {
  /** The format as reports name it. */
  readonly format: string
  readonly agent: string
  /** Rows of JSON, or the JSON of one document. */
  readonly make: (big: string) => readonly object[] | string
  /** Texts that a model is sent, and copies that it is not sent. */
  readonly sent: (all: readonly Any[]) => string[]
  readonly shown?: (all: readonly Any[]) => string[]
}

// biome-ignore lint/suspicious/noExplicitAny: rows of several formats
type Any = any

const time = '2026-01-02T03:04:05.678Z'
const uuid = (at: number) => `00000000-0000-4000-8000-${`${at}`.padStart(12, '0')}`

const codex = (type: string, payload: object) => ({ timestamp: time, type, payload })

const copilot = (at: number, type: string, data: object) => ({
  type,
  data,
  id: uuid(at),
  timestamp: time,
  parentId: at === 0 ? null : uuid(at - 1),
})

const geminiResult = (big: string) => ({
  functionResponse: { id: 'run_1', name: 'run_shell_command', response: { output: big } },
})
const gemini = (big: string) => ({
  id: uuid(2),
  timestamp: time,
  type: 'gemini',
  content: '',
  thoughts: [],
  tokens: { input: 1, output: 1, cached: 0, thoughts: 0, tool: 0, total: 2 },
  model: 'gemini-2.5-pro',
  toolCalls: [
    {
      id: 'run_1',
      name: 'run_shell_command',
      args: { command: 'make' },
      result: [geminiResult(big)],
      status: 'success',
      timestamp: time,
      resultDisplay: big,
      displayName: 'Shell',
      description: 'Runs a command.',
      renderOutputAsMarkdown: false,
    },
  ],
})
const geminiUser = { id: uuid(1), timestamp: time, type: 'user', content: [{ text: 'build it' }] }
/** The turn that a model is sent, which repeats the results of the record before it. */
const geminiSent = (big: string) => ({
  id: uuid(3),
  timestamp: time,
  type: 'user',
  content: [geminiResult(big)],
})
const geminiText = ({ toolCalls }: Any) => toolCalls[0].result[0].functionResponse.response.output

const messages = (big: string) => [
  { role: 'user', content: [{ type: 'text', text: 'build it' }] },
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'execute_command', input: { command: 'make' } }],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: big }] },
  { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
]
const blockText = ({ content }: Any) => content[0].content

const opencodePart = (big: string) => ({
  id: 'prt_1',
  sessionID: 'ses_1',
  messageID: 'msg_2',
  type: 'tool',
  callID: 'toolu_1',
  tool: 'bash',
  state: {
    status: 'completed',
    input: { command: 'make', description: 'Builds' },
    output: big,
    title: 'make',
    metadata: { output: big, exit: 0, description: 'Builds' },
    time: { start: 1, end: 2 },
  },
})

const qwen = (at: number, type: string, rest: object) => ({
  uuid: uuid(at),
  parentUuid: at === 0 ? null : uuid(at - 1),
  sessionId: uuid(0),
  timestamp: time,
  type,
  provenance: type === 'user' ? 'real_user' : type,
  cwd: '/w',
  version: '0.24.4',
  gitBranch: 'main',
  ...rest,
})
const qwenCall = {
  functionCall: { id: 'run_1', name: 'run_shell_command', args: { command: 'make', is_background: false } },
}

const kimiCode = (event: object) => ({ type: 'context.append_loop_event', agentId: 'main', event, time: 1 })

const continueCall = {
  id: 'c1',
  type: 'function',
  function: { name: 'Bash', arguments: '{"command":"make"}' },
}

export const agentSamples: readonly AgentSample[] = [
  {
    format: 'codex',
    agent: 'Codex CLI',
    make: (big) => [
      codex('session_meta', {
        id: uuid(0),
        timestamp: time,
        cwd: '/w',
        originator: 'codex_cli_rs',
        cli_version: '0.101.0',
        instructions: null,
        source: 'cli',
      }),
      codex('response_item', {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'build it' }],
      }),
      codex('event_msg', { type: 'user_message', message: 'build it', kind: 'plain' }),
      codex('turn_context', { cwd: '/w', approval_policy: 'never', model: 'gpt-5-codex', summary: 'auto' }),
      codex('response_item', { type: 'reasoning', summary: [], content: null, encrypted_content: 'gAAA' }),
      codex('response_item', {
        type: 'function_call',
        name: 'shell',
        arguments: '{"command":["make"]}',
        call_id: 'call_1',
      }),
      codex('event_msg', {
        type: 'exec_command_end',
        call_id: 'call_1',
        stdout: big,
        stderr: '',
        aggregated_output: big,
        exit_code: 0,
        duration: { secs: 1, nanos: 0 },
        formatted_output: big,
      }),
      codex('event_msg', {
        type: 'item_completed',
        thread_id: uuid(0),
        turn_id: uuid(1),
        item: {
          type: 'CommandExecution',
          id: 'call_1',
          command: ['make'],
          aggregated_output: big,
          exit_code: 0,
        },
      }),
      codex('response_item', { type: 'function_call_output', call_id: 'call_1', output: big }),
      codex('compacted', {
        message: 'the story so far',
        replacement_history: [{ type: 'function_call_output', call_id: 'call_1', output: big }],
      }),
      codex('event_msg', { type: 'token_count', info: null, rate_limits: null }),
    ],
    sent: (rows) => [rows[8].payload.output, rows[9].payload.replacement_history[0].output],
    shown: (rows) => [
      rows[6].payload.stdout,
      rows[6].payload.aggregated_output,
      rows[6].payload.formatted_output,
      rows[7].payload.item.aggregated_output,
    ],
  },
  {
    format: 'copilot',
    agent: 'Copilot CLI',
    make: (big) => [
      copilot(0, 'session.start', {
        sessionId: uuid(0),
        version: 1,
        producer: 'copilot-agent',
        copilotVersion: '0.0.420',
        startTime: time,
        context: { cwd: '/w' },
      }),
      copilot(1, 'user.message', { content: 'build it', transformedContent: 'build it', attachments: [] }),
      copilot(2, 'assistant.message', {
        messageId: 'm1',
        content: '',
        toolRequests: [
          { toolCallId: 'toolu_1', name: 'bash', arguments: { command: 'make' }, type: 'function' },
        ],
      }),
      copilot(3, 'tool.execution_start', {
        toolCallId: 'toolu_1',
        toolName: 'bash',
        arguments: { command: 'make' },
      }),
      copilot(4, 'tool.execution_complete', {
        toolCallId: 'toolu_1',
        success: true,
        result: {
          content: big,
          detailedContent: big,
          contents: [{ type: 'terminal', text: big, exitCode: 0 }],
        },
        toolTelemetry: {},
      }),
      copilot(5, 'assistant.message', { messageId: 'm2', content: 'done', toolRequests: [] }),
    ],
    sent: (rows) => [rows[4].data.result.content],
    shown: (rows) => [rows[4].data.result.detailedContent, rows[4].data.result.contents[0].text],
  },
  {
    format: 'gemini-cli',
    agent: 'Gemini CLI',
    make: (big) => [
      { sessionId: uuid(0), projectHash: 'f00', startTime: time, lastUpdated: time, kind: 'main' },
      geminiUser,
      { $set: { lastUpdated: time } },
      gemini(big),
      geminiSent(big),
      { $set: { messages: [geminiUser, gemini(big)], lastUpdated: time } },
    ],
    sent: (rows) => [
      geminiText(rows[3]),
      rows[4].content[0].functionResponse.response.output,
      geminiText(rows[5].$set.messages[1]),
    ],
    shown: (rows) => [
      rows[3].toolCalls[0].resultDisplay,
      rows[5].$set.messages[1].toolCalls[0].resultDisplay,
    ],
  },
  {
    format: 'gemini-cli',
    agent: 'Gemini CLI up to 0.38',
    make: (big) =>
      JSON.stringify(
        {
          sessionId: uuid(0),
          projectHash: 'f00',
          startTime: time,
          lastUpdated: time,
          messages: [geminiUser, gemini(big)],
        },
        null,
        2,
      ),
    sent: ([{ messages }]) => [geminiText(messages[1])],
    shown: ([{ messages }]) => [messages[1].toolCalls[0].resultDisplay],
  },
  {
    format: 'qwen',
    agent: 'Qwen Code',
    make: (big) => [
      qwen(0, 'system', { subtype: 'session_start', systemPayload: { cwd: '/w' } }),
      qwen(1, 'user', { message: { role: 'user', parts: [{ text: 'build it' }] } }),
      qwen(2, 'assistant', { model: 'm', message: { role: 'model', parts: [qwenCall] } }),
      qwen(3, 'system', {
        subtype: 'ui_telemetry',
        systemPayload: { uiEvent: { 'event.name': 'tool_call' } },
      }),
      qwen(4, 'tool_result', {
        message: { role: 'user', parts: [geminiResult(big)] },
        toolCallResult: { callId: 'run_1', status: 'success', resultDisplay: big },
      }),
      qwen(5, 'assistant', { model: 'm', message: { role: 'model', parts: [{ text: 'done' }] } }),
      qwen(6, 'system', {
        subtype: 'chat_compression',
        systemPayload: {
          compressedHistory: [
            { role: 'model', parts: [qwenCall] },
            { role: 'user', parts: [geminiResult(big)] },
          ],
        },
      }),
    ],
    sent: (rows) => [
      rows[4].message.parts[0].functionResponse.response.output,
      rows[6].systemPayload.compressedHistory[1].parts[0].functionResponse.response.output,
    ],
    shown: (rows) => [rows[4].toolCallResult.resultDisplay],
  },
  {
    format: 'kimi',
    agent: 'Kimi CLI',
    make: (big) => [
      { role: '_system_prompt', content: 'You build.' },
      { role: '_checkpoint', id: 0 },
      { role: 'user', content: [{ type: 'text', text: 'build it' }] },
      {
        role: 'assistant',
        content: [{ type: 'think', think: 'hm' }],
        tool_calls: [{ type: 'function', id: 'c1', function: { name: 'Shell', arguments: '{}' } }],
      },
      { role: '_usage', token_count: 12 },
      {
        role: 'tool',
        content: [
          { type: 'text', text: '<system>Command executed successfully.</system>' },
          { type: 'text', text: big },
        ],
        tool_call_id: 'c1',
      },
    ],
    sent: (rows) => [rows[5].content[1].text],
  },
  {
    format: 'kimi-code',
    agent: 'Kimi Code',
    make: (big) => [
      { type: 'metadata', protocol_version: '1.1', created_at: 1 },
      {
        type: 'context.append_message',
        message: { role: 'user', content: [{ type: 'text', text: 'build it' }], toolCalls: [] },
        time: 1,
      },
      kimiCode({ type: 'step.begin', uuid: uuid(1), turnId: '0', step: 1 }),
      kimiCode({
        type: 'tool.call',
        uuid: uuid(2),
        turnId: '0',
        step: 1,
        stepUuid: uuid(1),
        toolCallId: 'c1',
        name: 'Bash',
        args: { command: 'make' },
      }),
      kimiCode({
        type: 'tool.result',
        parentUuid: uuid(2),
        toolCallId: 'c1',
        result: { output: big, durationMs: 16 },
      }),
      kimiCode({ type: 'step.end', uuid: uuid(1), turnId: '0', step: 1, finishReason: 'tool_calls' }),
    ],
    sent: (rows) => [rows[4].event.result.output],
  },
  {
    format: 'continue',
    agent: 'Continue CLI',
    make: (big) =>
      JSON.stringify(
        {
          sessionId: uuid(0),
          title: 'Untitled Session',
          workspaceDirectory: '/w',
          history: [
            { message: { role: 'user', content: 'build it' }, contextItems: [] },
            {
              message: { role: 'assistant', content: '', toolCalls: [continueCall] },
              contextItems: [],
              toolCallStates: [
                {
                  toolCallId: 'c1',
                  toolCall: continueCall,
                  status: 'done',
                  parsedArgs: { command: 'make' },
                  output: [{ content: big, name: 'Tool Result', description: 'Tool execution result' }],
                },
              ],
            },
            { message: { role: 'assistant', content: 'done' }, contextItems: [] },
          ],
          usage: { totalCost: 0, promptTokens: 1, completionTokens: 1 },
        },
        null,
        2,
      ),
    sent: ([{ history }]) => [history[1].toolCallStates[0].output[0].content],
  },
  {
    format: 'cline',
    agent: 'Cline CLI with lists of results',
    make: (big) =>
      JSON.stringify({
        version: 1,
        updated_at: time,
        agent: 'lead',
        sessionId: 's',
        messages: [
          { id: 'm1', role: 'user', content: [{ type: 'text', text: 'build it' }], ts: 1 },
          {
            id: 'm2',
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'c1', name: 'run_commands', input: { commands: ['make'] } }],
            ts: 2,
          },
          {
            id: 'm3',
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'c1',
                name: 'run_commands',
                content: [{ query: 'make', result: big, success: true }],
              },
            ],
            ts: 3,
          },
        ],
      }),
    sent: ([{ messages }]) => [messages[2].content[0].content[0].result],
  },
  {
    format: 'cline',
    agent: 'Cline and Roo Code',
    make: (big) =>
      JSON.stringify(messages(big).map((message, at) => ({ ...message, ts: 1_767_323_045_000 + at }))),
    sent: ([all]) => [blockText(all[2])],
  },
  {
    format: 'messages',
    agent: 'Cline before it dated its messages',
    make: (big) => JSON.stringify(messages(big)),
    sent: ([all]) => [blockText(all[2])],
  },
  {
    format: 'cline',
    agent: 'Cline CLI',
    make: (big) =>
      `${JSON.stringify({ version: 1, updated_at: time, agent: 'lead', sessionId: 's', messages: messages(big) }, null, 2)}\n`,
    sent: ([{ messages }]) => [blockText(messages[2])],
  },
  {
    format: 'cline',
    agent: 'Roo Code with messages of the AI SDK',
    make: (big) =>
      JSON.stringify({
        version: 2,
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'read_file', input: {} }],
            ts: 1,
          },
          {
            role: 'tool',
            content: [
              {
                type: 'tool-result',
                toolCallId: 'c1',
                toolName: 'read_file',
                output: { type: 'text', value: big },
              },
            ],
            ts: 2,
          },
        ],
      }),
    sent: ([{ messages }]) => [messages[1].content[0].output.value],
  },
  {
    format: 'opencode',
    agent: 'OpenCode',
    make: (big) => JSON.stringify(opencodePart(big), null, 2),
    sent: ([{ state }]) => [state.output],
    shown: ([{ state }]) => [state.metadata.output],
  },
  {
    format: 'opencode',
    agent: 'OpenCode, exported',
    make: (big) =>
      JSON.stringify(
        {
          info: {
            id: 'ses_1',
            version: '1.2.0',
            projectID: 'p',
            directory: '/w',
            title: 't',
            time: { created: 1, updated: 2 },
          },
          messages: [
            {
              info: { id: 'msg_1', sessionID: 'ses_1', role: 'user', time: { created: 1 } },
              parts: [
                { id: 'prt_0', sessionID: 'ses_1', messageID: 'msg_1', type: 'text', text: 'build it' },
              ],
            },
            {
              info: { id: 'msg_2', sessionID: 'ses_1', role: 'assistant', time: { created: 2 } },
              parts: [
                { id: 'prt_9', sessionID: 'ses_1', messageID: 'msg_2', type: 'step-start' },
                opencodePart(big),
              ],
            },
          ],
        },
        null,
        2,
      ),
    sent: ([{ messages }]) => [messages[1].parts[1].state.output],
    shown: ([{ messages }]) => [messages[1].parts[1].state.metadata.output],
  },
]

/** The bytes of a sample. */
export function fileOf({ make }: AgentSample, big: string): string {
  const made = make(big)
  return typeof made === 'string' ? made : made.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/** The values of a file: its rows, or the one document that it is. */
export function valuesOf(text: string): Any[] {
  try {
    return [JSON.parse(text)]
  } catch {
    return text
      .split('\n')
      .filter((row) => row !== '')
      .map((row) => JSON.parse(row))
  }
}
