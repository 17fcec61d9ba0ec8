import type { SessionReport } from 'spillway'
import { budgetFor, limitsOf, MEDIA_PROVIDERS, type MediaProvider, REASONS } from '../media_options.js'
import { judged, refusalOf } from './media.js'

/** A payload that the next request of a session carries, as src/session/inspect.rs lists it. */
export type SentPayload = readonly [
  row: number,
  bytes: number,
  width: number,
  height: number,
  kind: number,
  fromUser: number,
]

/** Returns the payloads that a provider, or any of them, rejects, in the order of their rows. */
export function refusedIn(
  sent: readonly SentPayload[],
  only: MediaProvider | undefined,
): NonNullable<SessionReport['refused']> {
  const items = sent.map(([, bytes, width, height, kind, fromUser]) => {
    return { bytes, width, height, kind, fromUser: fromUser === 1 }
  })
  const refused = MEDIA_PROVIDERS.filter((name) => only === undefined || name === only).flatMap(
    (provider) => {
      const [reasons = []] = judged([items], budgetFor(limitsOf(provider))) ?? []
      return items.flatMap((item, at) => {
        const reason = REASONS[reasons[at] ?? 0]
        const row = sent[at]?.[0] ?? 0
        return reason === undefined ? [] : [{ row, provider, ...refusalOf(item, reason) }]
      })
    },
  )
  return refused.sort((a, b) => a.row - b.row)
}
