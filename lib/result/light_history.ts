import type { Compiled } from '../compiled.js'
import { Draft } from '../dialect/edit.js'
import { excess, ResultMedia } from '../media/media.js'
import { elementsOf, resultsIn, withDrafts } from './message_results.js'

/** Replaces the payloads of a history over the budget of all results together. `changed`: the numbers of the results
 *  that lose some. */
export function lightHistory(messages: readonly unknown[], { media, dialect }: Compiled) {
  const changed = new Set<number>()
  if (!media) return { messages, changed }
  const all = elementsOf(messages).flatMap((message, at) =>
    resultsIn(message, dialect).map((result) => ({ at, media: new ResultMedia(result) })),
  )
  const gone = excess(
    all.map(({ media }) => media),
    media,
  )
  const drafts = new Map<number, Draft>()
  for (const [nth, { at, media }] of all.entries()) {
    const own = gone?.[nth] ?? []
    if (!own.includes(true)) continue
    const draft = drafts.get(at) ?? new Draft()
    drafts.set(at, draft)
    media.drop(own, draft)
    changed.add(nth)
  }
  return { messages: withDrafts(messages, drafts), changed }
}
