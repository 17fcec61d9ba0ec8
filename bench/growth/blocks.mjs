// Growth with the blocks, results or members of one value: 1 to 10,000.
import {
  applyPlan,
  clampError,
  clampMessages,
  clampResult,
  guardSession,
  precheck,
  repairToolPairs,
  sanitizeForDisplay,
  wrapTool,
  wrapTools,
} from 'spillway'
import * as daycare from 'spillway/daycare'
import * as openclaw from 'spillway/openclaw'

const text = 'a line of output that says something\n'.repeat(10)
const some = { maxChars: 8_000 }
const everything = { maxBytes: Infinity, maxLines: Infinity }
const narrow = { contextTokens: 8_000, reserveTokens: 0 }
const png = 'iVBORw0KGgoAAAANSUhEUgAABQAAAALQCAYAAADPfd1W'
const stringify = { 'JSON.stringify': (value) => JSON.stringify(value) }

const times = (count, make) => Array.from({ length: count }, (_, at) => make(at))
const record = (count) => Object.fromEntries(times(count, (at) => [`k${at}`, text]))
const listOf = (make) => (count) => ({ content: times(count, make) })
const texts = listOf((at) => ({ type: 'text', text: `${at} ${text}` }))
const images = listOf(() => ({ type: 'image', data: png, mimeType: 'image/png' }))
const unknown = listOf((at) => ({ type: 'widget', at, text: text.repeat(4) }))
const jsonTexts = listOf((at) => ({ type: 'text', text: JSON.stringify({ at, text }) }))

/** So many calls and their results in two messages, each of an id of its own. */
const pair = (count, more, id = (at) => `t${at}`) => [
  {
    role: 'assistant',
    content: times(count, (at) => ({ type: 'tool_use', id: id(at), name: 'bash', input: { at } })),
  },
  {
    role: 'user',
    content: times(count, (at) => ({
      type: 'tool_result',
      tool_use_id: id(at),
      content: `${at} ${text}`,
      ...more,
    })),
  },
]
const calls = (count) => pair(count)
const marked = (count) => pair(count, { cache_control: { type: 'ephemeral' } })
const oneId = (count) => pair(count, {}, () => 't')
const alone = (count) => [pair(count)[0]]
const planned = (messages) => ({ messages, plan: precheck({ messages, ...narrow }).plan })
const tool = (result) => wrapTool({ execute: () => result }, some)
const guarded = (message, options) => {
  const manager = { appendMessage() {} }
  guardSession(manager, { ...some, inPlace: false, ...options })
  manager.appendMessage(message)
}

export const blocks = {
  what: 'one result',
  unit: '',
  sizes: [1, 10, 100, 1_000, 10_000],
  floor: {
    'adding up lengths': (given) => {
      let sum = 0
      const { content } = Array.isArray(given) ? given.at(-1) : given
      for (const block of content ?? []) sum += (block.text ?? block.content)?.length ?? 0
      return sum
    },
  },
  drawn: [
    ['clampResult, all fit', texts, (value) => clampResult(value, everything), stringify],
    ['clampResult, over the limits', texts, (value) => clampResult(value, some), stringify],
    ['clampResult, a limit of 0', texts, (value) => clampResult(value, { maxChars: 0 }), stringify],
    ['clampResult, images', images, (value) => clampResult(value, { media: { maxItems: 1 } }), stringify],
    ['sanitizeForDisplay', texts, (value) => sanitizeForDisplay(value, { maxChars: 100 }), stringify],
    ['clampMessages, one message', calls, (all) => clampMessages(all, { maxChars: 100 }), stringify],
    [
      'precheck, one message',
      calls,
      (messages) => precheck({ messages, ...narrow }),
      stringify,
      undefined,
      (all) => all.map((message) => ({ ...message })),
    ],
    ['precheck, cache marks', marked, (messages) => precheck({ messages, ...narrow }), stringify],
    ['repairToolPairs, one message', calls, (messages) => repairToolPairs(messages), stringify],
  ],
  listed: [
    [
      'clampResult, one char a block',
      texts,
      (value) => clampResult(value, { maxChars: value.content.length }),
    ],
    ["clampResult, share 'order'", texts, (value) => clampResult(value, { ...some, share: 'order' })],
    ["clampResult, share 'each'", texts, (value) => clampResult(value, { maxChars: 100, share: 'each' })],
    [
      'clampResult, over by a little',
      texts,
      (value) => clampResult(value, { ...everything, maxChars: 370 * value.content.length }),
    ],
    [
      'clampResult, keep-shape',
      jsonTexts,
      (value) => clampResult(value, { maxChars: 80 * value.content.length, json: 'keep-shape' }),
    ],
    ['clampResult, unknown blocks', unknown, (value) => clampResult(value, some)],
    ['clampResult, cleaned', texts, (value) => clampResult(value, { ...everything, clean: true })],
    ['clampResult, redacted', texts, (value) => clampResult(value, { ...everything, redact: true })],
    [
      "clampResult, structured 'text'",
      (count) => ({
        content: times(count, (at) => ({ type: 'text', text: `{"at":${at}}` })),
        structuredContent: { result: times(count, (at) => ({ at })) },
      }),
      (value) => clampResult(value, { structured: 'text' }),
    ],
    [
      'clampResult, members of side data',
      (count) => ({ role: 'toolResult', content: [{ type: 'text', text: 'ok' }], details: record(count) }),
      (value) => clampResult(value, { sideData: 'cap' }),
    ],
    ['precheck, results of one id', oneId, (messages) => precheck({ messages, ...narrow })],
    [
      'applyPlan, one message',
      (count) => planned(calls(count)),
      ({ messages, plan }) => applyPlan(messages, plan),
      {},
      {},
    ],
    [
      'applyPlan, results of one id',
      (count) => planned(oneId(count)),
      ({ messages, plan }) => applyPlan(messages, plan),
      {},
      {},
    ],
    ['repairToolPairs, calls alone', alone, (messages) => repairToolPairs(messages)],
    ['repairToolPairs, cache marks', marked, (messages) => repairToolPairs(messages)],
    ['repairToolPairs, one id', oneId, (messages) => repairToolPairs(messages)],
    ['guardSession, blocks', texts, (value) => guarded({ role: 'toolResult', toolCallId: 't', ...value })],
    [
      'guardSession, results',
      calls,
      ([, message]) => guarded(message, { maxChars: 100, maxRowBytes: 1_024 }),
    ],
    [
      'clampError, AggregateError',
      (count) => times(count, () => new Error(text)),
      (all) => clampError(new AggregateError(all)),
    ],
    ['clampError, members', record, (members) => clampError(Object.assign(new Error('no'), members))],
    [
      'clampError, causes',
      (count) => count,
      (count) =>
        clampError(times(count, () => text).reduce((cause, text) => new Error(text, { cause }), undefined)),
    ],
    ['wrapTool, blocks', (count) => tool(texts(count)), (tool) => tool.execute('id', { path: 'x' })],
    [
      'wrapTools',
      (count) => times(count, (at) => ({ name: `t${at}`, execute: () => 'x' })),
      (tools) => wrapTools(tools),
    ],
    [
      'spillway/daycare toolResultTruncate',
      texts,
      (toolMessage) => daycare.toolResultTruncate({ toolMessage }),
    ],
    [
      'spillway/openclaw truncateToolResultMessage',
      texts,
      (value) => openclaw.truncateToolResultMessage({ role: 'toolResult', ...value }, 8_000),
    ],
    ['spillway/openclaw hardTruncateToolPayload', texts, (value) => openclaw.hardTruncateToolPayload(value)],
    ['spillway/openclaw sanitizeToolResult', texts, (value) => openclaw.sanitizeToolResult(value)],
  ],
}
