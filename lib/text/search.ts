import { PENDING } from '../ahead.js'
import { type EnginePolicy, handleOf, searches } from '../compiled.js'
import { native } from '../engine.js'

type Search = Awaited<ReturnType<typeof native.searchHeld>>

/** Returns the search of a long text that a thread has done for a policy, PENDING in a trial, and
 *  null if the cut has to search. `most`: chars that are searched. */
export function searchOf(
  text: string,
  policy: EnginePolicy,
  most: number,
  query: string[] | undefined,
): Search | typeof PENDING | null {
  const { ahead, keep, limits, needles, reach } = policy
  // A text that the limits reach is read whole, and searched then.
  if (!ahead || !searches(policy) || text.length <= Math.max(reach.head, reach.tail)) return null
  const terms = JSON.stringify([keep, policy.isError, limits, needles, query ?? policy.query, most])
  const answer = ahead.answer(
    text,
    terms,
    (held) => native.searchHeld(held, handleOf(policy), text.length, most, query),
    () => native.unsearched(handleOf(policy), text.length, most) as [number, number],
  )
  return answer === PENDING ? PENDING : (answer?.value ?? null)
}
