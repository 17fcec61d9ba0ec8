import { emitClamp } from '../clamp_event.js'
import type { Compiled } from '../compiled.js'
import { Draft } from '../dialect/edit.js'
import { excess, ResultMedia } from '../media/media.js'
import { tryRead } from '../untrusted.js'
import { elementsOf, resultsIn, withDrafts } from './message_results.js'
import { removeCopies } from './sent_once.js'

/** Removes what results carry twice, and replaces the payloads of a history over the budget of all results together.
 *  `changed`: the numbers of the results that lose some. */
export function lightHistory(given: readonly unknown[], policy: Compiled) {
  const { media, dialect } = policy
  const changed = new Set<number>()
  const messages = sentOnceEach(given, policy, changed)
  if (!media) return { messages, changed }
  const all = elementsOf(messages).flatMap((message, at) =>
    resultsIn(message, dialect).map((result) => ({ at, result, media: new ResultMedia(result) })),
  )
  const gone = excess(
    all.map(({ media }) => media),
    media,
  )
  const drafts = new Map<number, Draft>()
  for (const [nth, { at, result, media }] of all.entries()) {
    const own = gone?.[nth] ?? []
    if (!own.includes(true)) continue
    const draft = drafts.get(at) ?? new Draft()
    drafts.set(at, draft)
    emitClamp({ phase: 'result' }, media.drop(own, draft), result)
    changed.add(nth)
  }
  return { messages: withDrafts(messages, drafts), changed }
}

function sentOnceEach(
  messages: readonly unknown[],
  { structured, dialect }: Compiled,
  changed: Set<number>,
): readonly unknown[] {
  if (structured === 'both') return messages
  const drafts = new Map<number, Draft>()
  const all = elementsOf(messages).flatMap((message, at) => {
    const draft = new Draft()
    return resultsIn(message, dialect).map((result) => ({ at, result, draft }))
  })
  for (const [nth, { at, result, draft }] of all.entries()) {
    if (!tryRead(() => removeCopies(result, structured, draft))) continue
    drafts.set(at, draft)
    changed.add(nth)
  }
  return withDrafts(messages, drafts)
}
