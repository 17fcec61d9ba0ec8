// biome-ignore-all lint/suspicious/noExplicitAny: the messages of eleven dialects
import * as fc from 'fast-check'
import type { DialectName } from 'spillway'

export interface One {
  id: string
  name: string
}
/** One turn of the model and what follows it. */
export interface Step {
  words: string
  calls: One[]
  /** The order in which the results came. */
  order: number[]
  /** Results in one message or each in its own, where a dialect has both. */
  apart: boolean
  /** Words of the user after the results, in the same message where a dialect has that. */
  after: string | undefined
}
/** How a dialect writes down a step. */
export interface Dialect {
  dialect: DialectName
  name: string
  user: (text: string) => object
  step: (step: Step) => object[]
}

const args = { path: 'src/a.ts' }
const json = JSON.stringify(args)
const said = (one: One) => `what ${one.name} ${one.id} returned`
const inOrder = ({ calls, order }: Step) =>
  calls
    .map((one, at) => [order[at] ?? 0, one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one)

/** Messages of the model with calls, then each result as a message. */
const messages =
  (model: (step: Step) => object, result: (one: One) => object, user: (text: string) => object) =>
  (step: Step): object[] => [
    model(step),
    ...inOrder(step).map(result),
    ...(step.after === undefined ? [] : [user(step.after)]),
  ]

/** Messages of the model with calls, then results as blocks of the user's message. */
const blocks =
  (
    list: string,
    model: string,
    text: (words: string) => object,
    call: (one: One) => object,
    result: (one: One) => object,
  ) =>
  (step: Step): object[] => {
    const results = inOrder(step).map(result)
    const after = step.after === undefined ? [] : [text(step.after)]
    const content = [...results, ...after]
    return [
      { role: model, [list]: [text(step.words), ...step.calls.map(call)] },
      ...(content.length > 0 ? [{ role: 'user', [list]: content }] : []),
    ]
  }

const items =
  (
    id: string,
    call: (one: One, at: number) => object,
    result: (one: One, at: number) => object,
    user: (text: string) => object,
  ) =>
  (step: Step): object[] => [
    { type: 'reasoning', id: 'rs', summary: [] },
    ...step.calls.map((one, at) => ({ ...call(one, at), [id]: one.id })),
    ...step.calls
      .map((one, at) => [step.order[at] ?? 0, { ...result(one, at), [id]: one.id }] as const)
      .toSorted(([a], [b]) => a - b)
      .map(([, item]) => item),
    { role: 'assistant', content: step.words },
    ...(step.after === undefined ? [] : [user(step.after)]),
  ]

const chatUser = (content: string) => ({ role: 'user', content })
const textBlock = (text: string) => ({ type: 'text', text })

const state = (
  step: Step,
  make: (one: One) => object,
  wrap: (parts: object[]) => object,
  user: (text: string) => object,
) => [
  wrap([textBlock(step.words), ...step.calls.map(make)]),
  ...(step.after === undefined ? [] : [user(step.after)]),
]

const langchain = {
  live: (type: string, rest: object) => ({ type, ...rest }),
  stored: (type: string, data: object) => ({ type, data }),
  serialized: (type: string, kwargs: object) => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', { ai: 'AIMessage', tool: 'ToolMessage', human: 'HumanMessage' }[type]],
    kwargs,
  }),
}

export const dialects: Dialect[] = [
  {
    dialect: 'pi',
    name: 'pi',
    user: (text) => ({ role: 'user', content: [textBlock(text)], timestamp: 1 }),
    step: messages(
      ({ words, calls }) => ({
        role: 'assistant',
        content: [
          textBlock(words),
          ...calls.map(({ id, name }) => ({ type: 'toolCall', id, name, arguments: args })),
        ],
        stopReason: 'toolUse',
        timestamp: 2,
      }),
      (one) => ({
        role: 'toolResult',
        toolCallId: one.id,
        toolName: one.name,
        content: [textBlock(said(one))],
        isError: false,
        timestamp: 3,
      }),
      (text) => ({ role: 'user', content: text, timestamp: 4 }),
    ),
  },
  {
    dialect: 'ai-sdk',
    name: 'ai-sdk',
    user: chatUser,
    step: (step) => {
      const results = inOrder(step).map((one) => ({
        type: 'tool-result',
        toolCallId: one.id,
        toolName: one.name,
        output: { type: 'text', value: said(one) },
      }))
      const groups = step.apart ? results.map((result) => [result]) : results.length > 0 ? [results] : []
      return [
        {
          role: 'assistant',
          content: [
            textBlock(step.words),
            ...step.calls.map(({ id, name }) => ({
              type: 'tool-call',
              toolCallId: id,
              toolName: name,
              input: args,
            })),
          ],
        },
        ...groups.map((content) => ({ role: 'tool', content })),
        ...(step.after === undefined ? [] : [chatUser(step.after)]),
      ]
    },
  },
  ...Object.entries(langchain).map(
    ([name, make]): Dialect => ({
      dialect: 'langchain',
      name: `langchain, ${name}`,
      user: (content) => make('human', { content }),
      step: messages(
        ({ words, calls }) =>
          make('ai', {
            content: words,
            tool_calls: calls.map(({ id, name }) => ({ id, name, args, type: 'tool_call' })),
          }),
        (one) => make('tool', { tool_call_id: one.id, name: one.name, content: said(one) }),
        (content) => make('human', { content }),
      ),
    }),
  ),
  {
    dialect: 'openai-chat',
    name: 'openai-chat',
    user: chatUser,
    step: messages(
      ({ words, calls }) => ({
        role: 'assistant',
        content: words,
        ...(calls.length > 0 && {
          tool_calls: calls.map(({ id, name }) => ({
            id,
            type: 'function',
            function: { name, arguments: json },
          })),
        }),
      }),
      (one) => ({ role: 'tool', tool_call_id: one.id, content: said(one) }),
      chatUser,
    ),
  },
  {
    dialect: 'openai-responses',
    name: 'openai-responses',
    user: chatUser,
    step: items(
      'call_id',
      ({ name }, at) =>
        [
          { type: 'function_call', name, arguments: json },
          { type: 'custom_tool_call', name, input: 'x' },
          { type: 'shell_call', action: { commands: ['ls'] } },
          { type: 'apply_patch_call', operation: { type: 'delete_file', path: 'a' } },
        ][at % 4] as object,
      (one, at) =>
        [
          { type: 'function_call_output', output: said(one) },
          { type: 'custom_tool_call_output', output: said(one) },
          {
            type: 'shell_call_output',
            output: [{ stdout: said(one), stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
          },
          { type: 'apply_patch_call_output', status: 'completed', output: said(one) },
        ][at % 4] as object,
      chatUser,
    ),
  },
  {
    dialect: 'openai-agents',
    name: 'openai-agents',
    user: chatUser,
    step: items(
      'callId',
      ({ name }, at) =>
        at % 2 === 0
          ? { type: 'function_call', name, arguments: json, status: 'completed' }
          : { type: 'shell_call', action: { commands: ['ls'] } },
      (one, at) =>
        at % 2 === 0
          ? {
              type: 'function_call_result',
              name: one.name,
              status: 'completed',
              output: textBlock(said(one)),
            }
          : {
              type: 'shell_call_output',
              output: [{ stdout: said(one), stderr: '', outcome: { type: 'exit', exitCode: 0 } }],
            },
      chatUser,
    ),
  },
  {
    dialect: 'anthropic',
    name: 'anthropic',
    user: chatUser,
    step: blocks(
      'content',
      'assistant',
      textBlock,
      ({ id, name }) => ({ type: 'tool_use', id, name, input: args }),
      (one) => ({ type: 'tool_result', tool_use_id: one.id, content: said(one) }),
    ),
  },
  {
    dialect: 'anthropic',
    name: 'anthropic, with a search of the server',
    user: chatUser,
    step: (step) => {
      const found = { type: 'web_search_tool_result', tool_use_id: `s${step.calls[0]?.id}`, content: [] }
      const search = {
        type: 'server_tool_use',
        id: found.tool_use_id,
        name: 'web_search',
        input: { query: 'x' },
      }
      const [model, ...rest] = (dialects.find(({ name }) => name === 'anthropic') as Dialect).step(
        step,
      ) as any[]
      if (step.calls.length === 0 || step.calls.some(({ id }) => !/^call_\d+$/.test(id)))
        return [model, ...rest]
      return [{ ...model, content: [search, found, ...model.content] }, ...rest]
    },
  },
  {
    dialect: 'bedrock',
    name: 'bedrock',
    user: (text) => ({ role: 'user', content: [{ text }] }),
    step: blocks(
      'content',
      'assistant',
      (text) => ({ text }),
      ({ id, name }) => ({ toolUse: { toolUseId: id, name, input: args } }),
      (one) => ({ toolResult: { toolUseId: one.id, content: [{ text: said(one) }] } }),
    ),
  },
  ...['with ids', 'without ids'].map(
    (name): Dialect => ({
      dialect: 'gemini',
      name: `gemini ${name}`,
      user: (text) => ({ role: 'user', parts: [{ text }] }),
      step: blocks(
        'parts',
        'model',
        (text) => ({ text }),
        ({ id, name: tool }) => ({ functionCall: { ...(name === 'with ids' && { id }), name: tool, args } }),
        (one) => ({
          functionResponse: {
            ...(name === 'with ids' && { id: one.id }),
            name: one.name,
            response: { output: said(one) },
          },
        }),
      ),
    }),
  ),
  {
    dialect: 'ai-sdk-ui',
    name: 'ai-sdk-ui',
    user: (text) => ({ id: 'u', role: 'user', parts: [textBlock(text)] }),
    step: (step) =>
      state(
        step,
        (one) => ({
          type: `tool-${one.name}`,
          toolCallId: one.id,
          state: 'output-available',
          input: args,
          output: said(one),
        }),
        (parts) => ({ id: 'a', role: 'assistant', parts }),
        (text) => ({ id: 'u', role: 'user', parts: [textBlock(text)] }),
      ),
  },
  {
    dialect: 'mastra',
    name: 'mastra',
    user: (text) => ({ role: 'user', content: { format: 2, parts: [textBlock(text)] } }),
    step: (step) =>
      state(
        step,
        (one) => ({
          type: 'tool-invocation',
          toolInvocation: {
            state: 'result',
            toolCallId: one.id,
            toolName: one.name,
            args,
            result: said(one),
          },
        }),
        (parts) => ({ role: 'assistant', content: { format: 2, parts } }),
        (text) => ({ role: 'user', content: { format: 2, parts: [textBlock(text)] } }),
      ),
  },
]

/** A sound history: each id once, and words of the user between the turns of the model. */
const steps = fc.array(
  fc.record({
    words: fc.constantFrom('I look.', 'Then this.'),
    names: fc.array(fc.constantFrom('read', 'grep'), { maxLength: 3 }),
    order: fc.tuple(fc.nat(9), fc.nat(9), fc.nat(9)),
    apart: fc.boolean(),
    after: fc.option(fc.constantFrom('And now?', 'Go on.'), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 6 },
)

export const soundHistories = ({ user, step }: Dialect): fc.Arbitrary<object[]> =>
  steps.map((all) => {
    let number = 0
    const made = all.map(({ names, after, ...rest }, at): Step => {
      const calls = names.map((name) => ({ id: `call_${number++}`, name }))
      // Between two turns of the model without calls stand words of the user.
      const needed = calls.length === 0 && at < all.length - 1 ? 'Go on.' : after
      return { ...rest, calls, after: needed }
    })
    return [user('Fix it.'), ...made.flatMap(step)]
  })

/** One way in which a history breaks. */
export type Fault =
  | { kind: 'drop' | 'double' | 'steer' | 'orphan'; at: number }
  | { kind: 'move'; at: number; to: number }
  | { kind: 'cut'; at: number; block: number }
  | { kind: 'rename'; at: number; id: string; both: boolean }
  | { kind: 'open'; at: number }

const at = fc.nat(40)
export const faults: fc.Arbitrary<Fault[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom<'drop' | 'double' | 'steer' | 'orphan'>('drop', 'double', 'steer', 'orphan'),
      at,
    }),
    fc.record({ kind: fc.constant<'move'>('move'), at, to: at }),
    fc.record({ kind: fc.constant<'cut'>('cut'), at, block: fc.nat(5) }),
    fc.record({
      kind: fc.constant<'rename'>('rename'),
      at,
      id: fc.constantFrom('call_0', 'x'.repeat(80), `${'x'.repeat(79)}y`, 'a b|c#d', 'ä漢', ''),
      both: fc.boolean(),
    }),
    fc.record({ kind: fc.constant<'open'>('open'), at }),
  ),
  { maxLength: 5 },
)

const listIn = (message: any): any[] | undefined =>
  [message.content, message.parts, message.content?.parts].find(Array.isArray)

const ID = /^(id|toolCallId|tool_call_id|tool_use_id|toolUseId|call_id|callId)$/

/** Breaks a history after its first message. Returns the index of the first message that
 *  changed. */
export function broken(
  { user, step }: Dialect,
  sound: readonly object[],
  all: readonly Fault[],
): { messages: object[]; first: number } {
  const messages = structuredClone(sound) as any[]
  let first = messages.length
  for (const fault of all) {
    const index = 1 + (fault.at % Math.max(1, messages.length))
    const message = messages[index]
    first = Math.min(first, index)
    if (fault.kind === 'steer') messages.splice(index, 0, user('Wait, one more thing.'))
    else if (fault.kind === 'orphan') {
      const one = { id: 'call_lost', name: 'read' }
      const [, ...rest] = step({ words: 'x', calls: [one], order: [0], apart: true, after: undefined })
      const result = rest.find((message) => JSON.stringify(message).includes('returned'))
      if (result) messages.splice(index, 0, result)
    } else if (!message) continue
    else if (fault.kind === 'drop') messages.splice(index, 1)
    else if (fault.kind === 'double') messages.splice(index, 0, structuredClone(message))
    else if (fault.kind === 'move') {
      messages.splice(index, 1)
      const to = 1 + (fault.to % messages.length)
      messages.splice(to, 0, message)
      first = Math.min(first, to)
    } else if (fault.kind === 'cut') {
      const list = listIn(message)
      list?.splice(fault.block % list.length, 1)
      if (list?.length === 0) messages.splice(index, 1)
    } else if (fault.kind === 'rename') {
      const known = JSON.stringify(message).match(/"s?call_\w+"/g)?.[0]
      const from = known && JSON.parse(known)
      const renamed = (value: any) =>
        JSON.parse(JSON.stringify(value), (key, id) => (ID.test(key) && id === from ? fault.id : id))
      for (const at of messages.keys())
        if (from !== undefined && at >= 1 && (fault.both || at === index)) {
          const next = renamed(messages[at])
          if (JSON.stringify(next) === JSON.stringify(messages[at])) continue
          messages[at] = next
          first = Math.min(first, at)
        }
    } else
      for (const part of listIn(message) ?? []) {
        const call = part.toolInvocation ?? part
        if (call.state === 'output-available')
          Object.assign(call, { state: 'input-available', output: undefined })
        if (call.state === 'result') Object.assign(call, { state: 'call', result: undefined })
      }
  }
  return { messages, first }
}
