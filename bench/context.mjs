// The check of a prompt before it is sent, beside the JSON that is sent.
import { precheck } from 'spillway'
import { shouldPreemptivelyCompactBeforePrompt } from 'spillway/openclaw'
import { session } from './texts.mjs'

const check = (messages, contextTokens = 2e9) => precheck({ messages, contextTokens, reserveTokens: 16_384 })
/** The same messages as new ones, of which nothing is remembered. */
const renewed = (messages) => messages.map((message) => ({ ...message }))

/** Rows as in run.mjs. */
export function contextRows() {
  const messages = session(1_000)
  const openclaw = (profile) =>
    shouldPreemptivelyCompactBeforePrompt({
      messages,
      prompt: 'go',
      contextTokenBudget: 2e9,
      reserveTokens: 16_384,
      profile,
    })
  const texts = messages.flatMap(({ content }) => content).filter(({ text }) => text !== undefined)
  const pass = () => texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  return [
    ['precheck, 1,000 messages, as before each request', () => check(messages)],
    ['precheck, 1,000 messages, for the first time', () => check(renewed(messages))],
    ['precheck, 1,000 messages, five times the window', () => check(messages, 140_000)],
    ["spillway/openclaw's precheck, 1,000 messages", () => openclaw('april')],
    ["spillway/openclaw's precheck, 1,000 messages, 'latest'", () => openclaw('latest')],
  ].map(([name, ours]) => ({
    name,
    ours,
    peer: ['JSON.stringify', () => JSON.stringify(messages)],
    floor: ['a pass', pass],
  }))
}

/** Calls that are timed, of ever longer histories. */
export function contextGrowth() {
  return [100, 1_000, 10_000].map((size) => {
    const messages = session(size)
    return {
      messages: size,
      runs: [() => JSON.stringify(messages), () => check(messages), () => check(renewed(messages))],
    }
  })
}
