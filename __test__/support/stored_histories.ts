// biome-ignore-all lint/suspicious/noExplicitAny: rows of several agents
import { png } from './images.js'
import { type Dialect, dialects, type One, type Step } from './pair_histories.js'
import { refusal } from './provider_rules.js'

/** How an agent lays a history out in a file, and which messages of a file its model is sent. */
export interface Stored {
  readonly name: string
  readonly dialect: Dialect
  /** The file is one JSON value. */
  readonly isDocument: boolean
  readonly write: (messages: readonly object[]) => string
  /** Returns the messages of the rows that are sent. */
  readonly sent: (rows: readonly any[]) => any[]
  /** Returns why the host or its provider would reject the messages. */
  readonly refusal: (messages: readonly any[]) => string | undefined
  /** The part of calls and results that a repair mends: the host mends the rest itself. */
  readonly pairs: 'all' | 'calls' | 'none'
  /** Returns true unless the host leaves rows out, and looks for calls and results in these by
   *  itself. */
  readonly sendsAll: (rows: readonly any[]) => boolean
  /** Calls and results are laid out anew as live ones are: messages of a turn may stand apart. */
  readonly isHosted: boolean
}

const time = '2026-01-02T03:04:05.678Z'
const uuid = (at: number) => `00000000-0000-4000-8000-${`${at}`.padStart(12, '0')}`
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const dialectOf = (name: string) => dialects.find((dialect) => dialect.name === name) as Dialect
const IMAGE = png(4, 4).toString('base64')

/** The ways in which the results of a dialect say nothing, fail, or hold only an image. */
const contents: Record<string, (result: any) => any[]> = {
  pi: (result) => [
    { ...result, content: [] },
    { ...result, content: [{ type: 'image', data: IMAGE, mimeType: 'image/png' }] },
    { ...result, isError: true },
  ],
  anthropic: ({ content, ...rest }) => [
    rest,
    { ...rest, content: [] },
    { ...rest, content: '' },
    {
      ...rest,
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } }],
    },
    { ...rest, content, is_error: true },
    { ...rest, content: [{ query: 'ls', result: content, success: true }] },
  ],
  'openai-chat': (result) => [
    { ...result, content: '' },
    { ...result, content: [] },
    { ...result, content: null },
    { ...result, content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE}` } }] },
  ],
  'openai-responses': (result) => [
    { ...result, output: '' },
    { ...result, output: [] },
    { ...result, output: [{ type: 'input_image', image_url: `data:image/png;base64,${IMAGE}` }] },
  ],
  bedrock: (result) => [
    { ...result, content: [] },
    { ...result, content: [{ json: {} }] },
    { ...result, status: 'error' },
  ],
  gemini: (result) => [
    { ...result, response: {} },
    { ...result, parts: [{ inlineData: { mimeType: 'image/png', data: IMAGE } }] },
  ],
  'ai-sdk': (result) => [
    { ...result, output: { type: 'content', value: [] } },
    { ...result, output: { type: 'text', value: '' } },
    {
      ...result,
      output: { type: 'content', value: [{ type: 'media', data: IMAGE, mediaType: 'image/png' }] },
    },
  ],
  copilot: ({ result: _, ...rest }) => [rest, { ...rest, result: { content: '' } }, { ...rest, result: {} }],
  'gemini-cli': (call) => [{ ...call, result: [] }],
  'kimi-code': ({ result, ...rest }) => [
    { ...rest, result: { ...result, output: '' } },
    { ...rest, result: { ...result, output: [] } },
    { ...rest, result: { ...result, isError: true } },
    {
      ...rest,
      result: {
        ...result,
        output: [{ type: 'image_url', imageUrl: { url: `data:image/png;base64,${IMAGE}` } }],
      },
    },
  ],
  continue: (state) => [
    { ...state, output: [] },
    { ...state, status: 'errored' },
  ],
}

const isResult = (value: any): boolean =>
  value?.role === 'toolResult' ||
  value?.role === 'tool' ||
  value?.toolUseId !== undefined ||
  value?.parsedArgs !== undefined ||
  /^(tool_result|tool-result|tool\.result|function_call_output|custom_tool_call_output)$/.test(
    value?.type ?? '',
  )

/** Returns a history with the results at some places held otherwise. */
export function varied(
  { dialect: { dialect } }: Stored,
  messages: readonly object[],
  by: number[],
): object[] {
  let number = 0
  const vary = contents[dialect]
  const visit = (value: any, key = ''): any => {
    if (typeof value !== 'object' || value === null) return value
    const isOne =
      (isResult(value) && !Array.isArray(value.content?.[0]?.content) && value.toolName !== 'x') ||
      (key === 'functionResponse' && dialect === 'gemini') ||
      (key === 'data' && value.success !== undefined)
    const isHome = value.role === 'tool' && dialect === 'ai-sdk'
    if (vary && isOne && !isHome && key !== 'toolUse') {
      const ways = [value, ...vary(value)]
      return ways[(by[number++ % by.length] as number) % ways.length]
    }
    return Array.isArray(value)
      ? value.map((one) => visit(one))
      : Object.fromEntries(Object.entries(value).map(([name, one]) => [name, visit(one, name)]))
  }
  return messages.map((message) => visit(message))
}

const rowsOf = (name: string, dialect: Dialect, more: Partial<Stored> = {}): Stored => ({
  name,
  dialect,
  isDocument: false,
  write: lines,
  sent: (rows) => [...rows],
  refusal: (messages) => refusal(dialect.dialect, messages),
  pairs: 'all',
  sendsAll: () => true,
  isHosted: false,
  ...more,
})

const documentOf = (
  name: string,
  dialect: Dialect,
  wrap: (messages: readonly object[]) => string,
  unwrap: (root: any) => any[],
  more: Partial<Stored> = {},
): Stored => rowsOf(name, dialect, { isDocument: true, write: wrap, sent: ([root]) => unwrap(root), ...more })

const said = (one: One) => `what ${one.name} ${one.id} returned`
const args = { path: 'src/a.ts' }

/** Returns calls in the order in which their results came. */
const inOrder = (calls: readonly One[], order: readonly number[]) =>
  calls
    .map((one, at) => [order[at] ?? 0, one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one)

const copilot: Dialect = {
  dialect: 'copilot',
  name: 'copilot',
  user: (content) => ({ type: 'user.message', data: { content, transformedContent: content } }),
  step: ({ words, calls, order, after }: Step) => [
    {
      type: 'assistant.message',
      data: {
        messageId: 'm',
        content: words,
        toolRequests: calls.map(({ id, name }) => ({ toolCallId: id, name, arguments: args })),
      },
    },
    ...inOrder(calls, order).map((one) => ({
      type: 'tool.execution_complete',
      data: { toolCallId: one.id, success: true, result: { content: said(one) } },
    })),
    ...(after === undefined ? [] : [copilot.user(after)]),
  ],
}

const geminiCli: Dialect = {
  dialect: 'gemini-cli',
  name: 'gemini-cli',
  user: (text) => ({ type: 'user', content: [{ text }] }),
  step: ({ words, calls, after }: Step) => [
    {
      type: 'gemini',
      content: words,
      toolCalls: calls.map((one) => ({
        ...one,
        args,
        status: 'success',
        result: [{ functionResponse: { ...one, response: { output: said(one) } } }],
      })),
    },
    ...(after === undefined ? [] : [geminiCli.user(after)]),
  ],
}

const openCode: Dialect = {
  dialect: 'opencode',
  name: 'opencode',
  user: (text) => ({ info: { role: 'user' }, parts: [{ type: 'text', text }] }),
  step: ({ words, calls, after }: Step) => [
    {
      info: { role: 'assistant' },
      parts: [
        { type: 'text', text: words },
        ...calls.map((one) => ({
          sessionID: 's',
          messageID: 'm',
          type: 'tool',
          callID: one.id,
          tool: one.name,
          state: { status: 'completed', input: args, output: said(one), time: { start: 1, end: 2 } },
        })),
      ],
    },
    ...(after === undefined ? [] : [openCode.user(after)]),
  ],
}

const kimiCode: Dialect = {
  dialect: 'kimi-code',
  name: 'kimi-code',
  user: (text) => ({ role: 'user', content: [{ type: 'text', text }], toolCalls: [] }),
  step: ({ words, calls, order, after }: Step) => [
    { type: 'step.begin', turnId: '0', step: 1 },
    { type: 'content.part', part: { type: 'text', text: words } },
    ...calls.map(({ id, name }) => ({ type: 'tool.call', turnId: '0', step: 1, toolCallId: id, name, args })),
    ...inOrder(calls, order).map((one) => ({
      type: 'tool.result',
      toolCallId: one.id,
      result: { output: said(one), durationMs: 16 },
    })),
    { type: 'step.end', turnId: '0', step: 1, finishReason: calls.length > 0 ? 'tool_calls' : 'stop' },
    ...(after === undefined ? [] : [kimiCode.user(after)]),
  ],
}

const continueCli: Dialect = {
  dialect: 'continue',
  name: 'continue',
  user: (content) => ({ message: { role: 'user', content }, contextItems: [] }),
  step: ({ words, calls, after }: Step) => {
    const made = calls.map(({ id, name }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }))
    return [
      {
        message: { role: 'assistant', content: words, ...(made.length > 0 && { toolCalls: made }) },
        contextItems: [],
        ...(made.length > 0 && {
          toolCallStates: made.map((toolCall, at) => ({
            toolCallId: toolCall.id,
            toolCall,
            status: 'done',
            parsedArgs: args,
            output: [{ content: said(calls[at] as One), name: 'Tool Result', description: 'of a tool' }],
          })),
        }),
      },
      ...(after === undefined ? [] : [continueCli.user(after)]),
    ]
  },
}

const pi = dialectOf('pi')
const gemini = dialectOf('gemini with ids')
const anthropic = dialectOf('anthropic')
const responses = dialectOf('openai-responses')

/** The rows on the way from the last to a root, or to a row that is not there. */
function branchOf(rows: readonly any[], id = 'id', parent = 'parentId'): any[] {
  const byId = new Map(rows.filter((row) => row[id] !== undefined).map((row) => [row[id], row]))
  const way: any[] = []
  for (let row = rows.findLast((row) => row[id] !== undefined && row.type !== 'session'); row; ) {
    way.unshift(row)
    byId.delete(row[id])
    row = byId.get(row[parent])
  }
  return way
}

const once = (rows: readonly any[]) => {
  const known = new Set()
  return rows.filter(({ uuid }) => !known.has(uuid) && known.add(uuid))
}

/** One of each layout. Plain messages come in each dialect. */
export const layouts: readonly Stored[] = [
  ...dialects.map((dialect) => rowsOf(`messages of ${dialect.name}`, dialect)),
  ...dialects
    .filter(({ user }) => 'role' in user(''))
    .map((dialect) =>
      documentOf(`a list of messages of ${dialect.name}`, dialect, JSON.stringify, (root) => root),
    ),
  rowsOf('pi', pi, {
    isHosted: true,
    write: (messages) =>
      lines([
        { type: 'session', version: 3, id: 's', timestamp: time, cwd: '/w' },
        ...messages.map((message, at) => ({
          type: 'message',
          id: `${at + 1}`.padStart(8, '0'),
          parentId: at === 0 ? null : `${at}`.padStart(8, '0'),
          timestamp: time,
          version: 1,
          message,
        })),
      ]),
    sent: (rows) => branchOf(rows).flatMap(({ type, message }) => (type === 'message' ? message : [])),
  }),
  rowsOf('claude-code', anthropic, {
    isHosted: true,
    write: (messages) =>
      lines(
        messages.map((message: any, at) => ({
          parentUuid: at === 0 ? null : uuid(at - 1),
          isSidechain: false,
          userType: 'external',
          cwd: '/w',
          sessionId: 's',
          version: '2.1.3',
          entrypoint: 'cli',
          type: message.role,
          message,
          uuid: uuid(at),
          timestamp: time,
        })),
      ),
    sent: (rows) => once(rows).flatMap(({ message }) => message ?? []),
  }),
  rowsOf('qwen', gemini, {
    isHosted: true,
    write: (messages) =>
      lines(
        messages.map((message: any, at) => ({
          uuid: uuid(at),
          parentUuid: at === 0 ? null : uuid(at - 1),
          sessionId: 's',
          timestamp: time,
          type: qwenType(message),
          cwd: '/w',
          version: '0.24.4',
          message,
        })),
      ),
    sent: (rows) => branchOf(rows, 'uuid', 'parentUuid').flatMap(({ message }) => message ?? []),
    sendsAll: (rows) => branchOf(rows, 'uuid', 'parentUuid').length === once(rows).length,
    // Its program puts words of the user before all, and joins messages of one role.
    refusal: (messages) => refusal('gemini', joined([gemini.user('The setup.'), ...messages])),
  }),
  rowsOf('kimi-code', kimiCode, {
    isHosted: true,
    pairs: 'none',
    write: (messages) =>
      lines([
        { type: 'metadata', protocol_version: '1.1', created_at: 1 },
        ...messages.map((message) =>
          'role' in message
            ? { type: 'context.append_message', message, time: 1 }
            : { type: 'context.append_loop_event', agentId: 'main', event: message, time: 1 },
        ),
      ]),
    sent: (rows) => rows.flatMap(({ message, event }) => message ?? event ?? []),
    refusal: () => undefined,
  }),
  rowsOf('kimi', dialectOf('openai-chat'), {
    isHosted: true,
    write: (messages) =>
      lines([
        { role: '_system_prompt', content: 'You build.' },
        { role: '_checkpoint', id: 0 },
        ...messages.flatMap((message, at) => [message, { role: '_usage', token_count: at }]),
      ]),
    sent: (rows) => rows.filter(({ role }) => !role?.startsWith('_')),
  }),
  rowsOf('codex', responses, {
    isHosted: true,
    pairs: 'none',
    write: (messages) =>
      lines([
        { timestamp: time, ordinal: 0, type: 'session_meta', payload: { id: 's', cwd: '/w' } },
        ...messages.map((payload: any, at) => ({
          timestamp: time,
          ordinal: at + 1,
          type: 'response_item',
          payload: payload.type ? payload : { ...payload, type: 'message' },
        })),
      ]),
    sent: (rows) => rows.flatMap(({ type, payload }) => (type === 'response_item' ? payload : [])),
  }),
  rowsOf('copilot', copilot, {
    isHosted: true,
    pairs: 'calls',
    write: (messages) =>
      lines(
        [{ type: 'session.start', data: { sessionId: 's', version: 1 } }, ...messages].map((row, at) => ({
          ...row,
          id: uuid(at),
          timestamp: time,
          parentId: at === 0 ? null : uuid(at - 1),
        })),
      ),
    sent: (rows) =>
      rows.filter(({ type }) => /^((user|assistant)\.message|tool\.execution_complete)$/.test(type ?? '')),
    refusal: (events) => {
      const done = new Set(
        events.flatMap(({ type, data }) => (type === 'tool.execution_complete' ? data.toolCallId : [])),
      )
      const calls = events.flatMap(({ data }) => data.toolRequests ?? [])
      const open = calls.find(({ toolCallId }) => !done.has(toolCallId))
      return open && `${open.toolCallId} has no result`
    },
  }),
  rowsOf('gemini-cli', geminiCli, {
    isHosted: true,
    write: (messages) =>
      lines([
        { sessionId: 's', projectHash: 'h', startTime: time, lastUpdated: time },
        ...messages.map((message, at) => ({ id: uuid(at), timestamp: time, ...message })),
      ]),
    sent: (rows) => rows.filter(({ type }) => type === 'user' || type === 'gemini'),
    refusal: (messages) => openIn(messages.flatMap(({ toolCalls = [] }) => toolCalls)),
  }),
  documentOf(
    'gemini-cli, the older document',
    geminiCli,
    (messages) => JSON.stringify({ sessionId: 's', projectHash: 'h', startTime: time, messages }, null, 2),
    ({ messages }) => messages,
    { isHosted: true, refusal: (messages) => openIn(messages.flatMap(({ toolCalls = [] }) => toolCalls)) },
  ),
  documentOf(
    'continue',
    continueCli,
    (history) => JSON.stringify({ sessionId: 's', title: 't', history, usage: { totalCost: 0 } }, null, 2),
    ({ history }) => history,
    { isHosted: true, pairs: 'none', refusal: () => undefined },
  ),
  documentOf(
    'cline',
    anthropic,
    (messages) => JSON.stringify(messages.map((message, at) => ({ ...message, ts: 1_767_323_045_000 + at }))),
    (root) => root.map(({ ts: _, ...message }: any) => message),
    {
      refusal: (messages) => refusal('anthropic', messages),
    },
  ),
  documentOf(
    'cline CLI',
    anthropic,
    (messages) => {
      const tools = new Map<string, string>()
      const named = (block: any) => {
        if (block.type === 'tool_use') tools.set(block.id, block.name)
        return block.type === 'tool_result'
          ? { ...block, name: tools.get(block.tool_use_id) ?? 'read' }
          : block
      }
      const all = messages.map((message: any) => ({
        ...message,
        content: Array.isArray(message.content) ? message.content.map(named) : message.content,
      }))
      return JSON.stringify({ version: 1, updated_at: time, messages: all }, null, 2)
    },
    ({ messages }) => messages,
    {
      refusal: (messages) => {
        const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
        const nameless = blocks.find(({ type, name }) => type === 'tool_result' && typeof name !== 'string')
        if (nameless) return `Invalid input: ${nameless.tool_use_id}`
        // Each message of the model is sent by itself, to providers of any dialect. Its results
        // stand in the messages of the user behind it: the host writes those of parallel calls
        // apart.
        const isOf = (type: string, message: any) =>
          (Array.isArray(message?.content) ? message.content : []).filter((block: any) => block.type === type)
        const at = messages.findIndex((message, at) => {
          const rest = messages.slice(at + 1)
          const end = rest.findIndex(({ role }) => role !== 'user')
          const answered = rest
            .slice(0, end < 0 ? rest.length : end)
            .flatMap((one) => isOf('tool_result', one).map(({ tool_use_id: id }: any) => id))
          return isOf('tool_use', message).some(({ id }: any) => !answered.includes(id))
        })
        return at < 0 ? refusal('anthropic', messages) : `messages.${at}: not answered behind it`
      },
    },
  ),
  documentOf(
    'opencode, exported',
    openCode,
    (messages) => JSON.stringify({ info: { id: 's', version: '1.2.0' }, messages }, null, 2),
    ({ messages }) => messages,
    {
      isHosted: true,
      refusal: (messages) =>
        openIn(messages.flatMap(({ parts }) => parts.map(({ state = {} }: any) => state))),
    },
  ),
]

function qwenType({ role, parts }: any): string {
  if (role === 'model') return 'assistant'
  return parts.some((part: any) => part.functionResponse !== undefined) ? 'tool_result' : 'user'
}

/** Joins messages of Gemini that have one role. */
function joined(messages: readonly any[]): any[] {
  const all: any[] = []
  for (const message of messages)
    if (all.at(-1)?.role === message.role)
      all.push({ ...message, parts: [...all.pop().parts, ...message.parts] })
    else all.push(message)
  return all
}

function openIn(calls: readonly any[]): string | undefined {
  const open = calls.find(({ status }) => /^(executing|scheduled|running|pending)$/.test(status ?? ''))
  return open && 'a call that still runs'
}
