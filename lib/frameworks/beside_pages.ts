import type { MessagesPolicy } from 'spillway'
import { clampMessages } from '../index.js'

/** Clamps the results of a history, but for pages of saved outputs: these are bounded, and limits
 *  below a page would cut what was read back. Returns the same list if nothing changes. */
export function clampBesidePages<M>(
  messages: M[],
  policy: MessagesPolicy,
  isPage: (message: M) => boolean,
): M[] {
  const others = messages.filter((message) => !isPage(message))
  const { messages: kept, clamped } = clampMessages(others, policy)
  if (clamped === 0) return messages
  let next = 0
  return messages.map((message) => (isPage(message) ? message : (kept[next++] as M)))
}
