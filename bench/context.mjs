// The check of a prompt before it is sent, beside the JSON that is sent.
import { precheck } from 'spillway'
import { shouldPreemptivelyCompactBeforePrompt } from 'spillway/openclaw'
import { session } from './texts.mjs'

const check = (messages, contextTokens = 2e9) => precheck({ messages, contextTokens, reserveTokens: 16_384 })
/** Copies of the messages, without remembered counts. */
const renewed = (messages) => messages.map((message) => ({ ...message }))

const times = (count, make) => Array.from({ length: count }, (_, at) => make(at))
/** A turn of so many calls, all of whose results stand in one message. */
const turn = (count, more) => [
  {
    role: 'assistant',
    content: times(count, (at) => ({ type: 'tool_use', id: `t${at}`, name: 'bash', input: { at } })),
  },
  {
    role: 'user',
    content: times(count, (at) => ({
      ...{ type: 'tool_result', tool_use_id: `t${at}`, content: `${at} a line of output\n`.repeat(20) },
      ...more,
    })),
  },
]

/** Rows as in run.mjs. */
export function contextRows() {
  const openclaw = (profile) => (messages) =>
    shouldPreemptivelyCompactBeforePrompt({
      messages,
      prompt: 'go',
      contextTokenBudget: 2e9,
      reserveTokens: 16_384,
      profile,
    })
  const ofSession = [
    ['precheck, 1,000 messages, as before each request', check],
    ['precheck, 1,000 messages, for the first time', check, renewed],
    ['precheck, 1,000 messages, five times the window', (messages) => check(messages, 140_000)],
    ["spillway/openclaw's precheck, 1,000 messages", openclaw('april')],
    ["spillway/openclaw's precheck, 1,000 messages, 'latest'", openclaw('latest')],
  ].map((row) => [() => session(1_000), ...row])
  const pass = (messages) => {
    let sum = 0
    for (const { content } of messages)
      for (const { text, content: own } of content) sum += Buffer.byteLength(text ?? own ?? '')
    return sum
  }
  return [
    ...ofSession,
    [() => turn(20_000), 'precheck, 20,000 results of one message', (messages) => check(messages, 140_000)],
    [
      () => turn(10_000, { cache_control: { type: 'ephemeral' } }),
      'precheck, 10,000 blocks with cache marks',
      (messages) => check(messages, 140_000),
    ],
  ].map(([input, name, ours, fresh]) => ({
    ...{ name, input, ours, fresh },
    peer: ['JSON.stringify', (messages) => JSON.stringify(messages)],
    floor: ['a pass', pass],
  }))
}
