// The repair of calls and their results, beside what a program writes by hand for the messages of
// Pi alone.
import { repairToolPairs } from 'spillway'
import { session } from './texts.mjs'

/** Drops results without a call, moves late ones, and puts in missing ones. Returns the same array
 *  if nothing changes. */
export function byHand(messages) {
  const results = new Map()
  for (const message of messages)
    if (message.role === 'toolResult' && !results.has(message.toolCallId))
      results.set(message.toolCallId, message)
  const made = []
  let changed = false
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at]
    if (message.role === 'toolResult') continue
    made.push(message)
    if (message.role !== 'assistant') continue
    for (const { type, id, name } of message.content) {
      if (type !== 'toolCall') continue
      const content = [{ type: 'text', text: 'no result' }]
      made.push(
        results.get(id) ?? { role: 'toolResult', toolCallId: id, toolName: name, content, isError: true },
      )
    }
  }
  for (let at = 0; at < messages.length && !changed; at++) changed = made[at] !== messages[at]
  return changed || made.length !== messages.length ? made : messages
}

/** A session in which a result is missing, one came late, and the first has lost its call. */
function broken() {
  const messages = session(1_000).toSpliced(701, 1)
  messages.splice(801, 0, ...messages.splice(301, 1))
  return messages.slice(1)
}

/** Rows as in run.mjs. */
export function pairRows() {
  return Object.entries({ sound: () => session(1_000), broken }).map(([name, input]) => ({
    name: `repairToolPairs, 1,000 messages, ${name}`,
    input,
    ours: (messages) => repairToolPairs(messages),
    peer: ['by hand, for Pi alone', byHand],
    floor: ['a pass', (messages) => messages.filter(({ role }) => role === 'toolResult')],
  }))
}
