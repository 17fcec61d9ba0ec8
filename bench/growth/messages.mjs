// Growth with the messages of a history: 10 to 100,000.
import { applyPlan, clampMessages, guardSession, precheck, repairToolPairs, runWithRecovery } from 'spillway'
import * as openclaw from 'spillway/openclaw'
import { byHand } from '../pairs.mjs'
import { session } from '../texts.mjs'

const fits = { contextTokens: 2e9, reserveTokens: 16_384 }
/** A window that holds the calls and little of the results. */
const narrow = ({ length }) => ({ contextTokens: length * 80, reserveTokens: 0 })
const short = (count) => session(count, 1_000)
/** A history that was checked before. */
const checked = (count) => {
  const messages = short(count)
  precheck({ messages, ...fits })
  return messages
}
const without = (role) => (count) => short(count * 2).filter((message) => message.role !== role)
const stringify = { 'JSON.stringify': (messages) => JSON.stringify(messages) }
const hand = { 'by hand, for Pi alone': byHand }

/** A result is missing, another came late, and the first has lost its call. */
const broken = (count) => {
  const messages = short(count).toSpliced(1 + (count >> 1), 1)
  messages.splice(2 + count * 0.8, 0, ...messages.splice(1 + count * 0.3, 1))
  return messages.slice(1)
}
const planned = (messages) => ({
  content: messages,
  plan: precheck({ messages, ...narrow(messages) }).plan,
})
/** Results that nothing tells apart. */
const equal = (count) =>
  Array.from({ length: count }, () => ({
    role: 'toolResult',
    toolCallId: 'c',
    content: [{ type: 'text', text: 'x'.repeat(1_000) }],
  }))
const oneId = (count) =>
  short(count).map((message) => JSON.parse(JSON.stringify(message).replace(/toolu_\d+/g, 'toolu_0')))
const decided = (messages, profile, contextTokenBudget) =>
  openclaw.shouldPreemptivelyCompactBeforePrompt({
    messages,
    prompt: 'go',
    contextTokenBudget,
    reserveTokens: 16_384,
    profile,
  })
const guarded = (messages) => {
  const manager = { appendMessage() {} }
  guardSession(manager, { maxChars: 500, inPlace: false })
  for (const message of messages) manager.appendMessage(message)
}

export const messages = {
  what: 'a history',
  unit: '',
  sizes: [10, 100, 1_000, 10_000, 100_000],
  floor: {
    'adding up lengths': (given) => {
      let sum = 0
      for (const { content } of given.content ?? given)
        for (const { text } of content) sum += text?.length ?? 0
      return sum
    },
  },
  drawn: [
    [
      'precheck, the first time',
      short,
      (messages) => precheck({ messages, ...fits }),
      stringify,
      undefined,
      (messages) => messages.map((message) => ({ ...message })),
    ],
    ['precheck, as before each request', checked, (messages) => precheck({ messages, ...fits }), stringify],
    [
      'precheck, over the window',
      short,
      (messages) => precheck({ messages, ...narrow(messages) }),
      stringify,
    ],
    ['applyPlan', (count) => planned(short(count)), ({ content, plan }) => applyPlan(content, plan)],
    ['clampMessages, all fit', short, (messages) => clampMessages(messages), stringify],
    ['clampMessages, all are cut', short, (messages) => clampMessages(messages, { maxChars: 500 })],
    [
      'clampMessages, aggregate',
      short,
      (messages) => clampMessages(messages, { aggregate: { maxChars: 100_000 } }),
    ],
    ['repairToolPairs, sound', short, (messages) => repairToolPairs(messages), hand],
    ['repairToolPairs, broken', broken, (messages) => repairToolPairs(messages), hand],
  ],
  listed: [
    ['precheck, results of one id', equal, (messages) => precheck({ messages, ...narrow(messages) })],
    [
      'applyPlan, results of one id',
      (count) => planned(equal(count)),
      ({ content, plan }) => applyPlan(content, plan),
    ],
    ['repairToolPairs, calls alone', without('toolResult'), (messages) => repairToolPairs(messages)],
    ['repairToolPairs, results alone', without('assistant'), (messages) => repairToolPairs(messages)],
    ['repairToolPairs, one id', oneId, (messages) => repairToolPairs(messages)],
    [
      'runWithRecovery',
      short,
      (messages) =>
        runWithRecovery({ messages: () => messages, send: async () => 'sent', ...narrow(messages) }),
    ],
    ['guardSession', short, guarded],
    ["spillway/openclaw, before a prompt, 'april'", short, (messages) => decided(messages, 'april', 2e9)],
    ["spillway/openclaw, before a prompt, 'latest'", short, (messages) => decided(messages, 'latest', 2e9)],
    [
      'spillway/openclaw truncateOversizedToolResultsInMessages',
      short,
      (messages) => openclaw.truncateOversizedToolResultsInMessages(messages, 100_000, 500, 100_000),
    ],
  ],
}
