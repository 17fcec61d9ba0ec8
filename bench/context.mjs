// The check of a prompt before it is sent, beside the JSON that is sent.
import { precheck } from 'spillway'
import { shouldPreemptivelyCompactBeforePrompt } from 'spillway/openclaw'
import { session } from './texts.mjs'

const check = (messages, contextTokens = 2e9) => precheck({ messages, contextTokens, reserveTokens: 16_384 })
/** The same messages as new ones, of which nothing is remembered. */
const renewed = (messages) => messages.map((message) => ({ ...message }))

/** As in run.mjs: what is compared, the peer, how many times faster ours has to be, and both. */
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
  return [
    ['precheck, 1,000 messages, as before each request', 5, () => check(messages)],
    ['precheck, 1,000 messages, for the first time', 0, () => check(renewed(messages))],
    ['precheck, 1,000 messages, five times the window', 0, () => check(messages, 140_000)],
    ["spillway/openclaw's precheck, 1,000 messages", 0, () => openclaw('april')],
    ["spillway/openclaw's precheck, 1,000 messages, 'latest'", 0, () => openclaw('latest')],
  ].map(([name, target, run]) => [name, 'JSON.stringify', target, () => JSON.stringify(messages), run])
}

/** What is timed of ever longer histories. */
export function contextGrowth() {
  return [100, 1_000, 10_000].map((size) => {
    const messages = session(size)
    return {
      messages: size,
      runs: [() => JSON.stringify(messages), () => check(messages), () => check(renewed(messages))],
    }
  })
}
