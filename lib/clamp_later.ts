import type { SpillStore } from 'spillway'
import { callNames, hasListeners, type Origin } from './clamp_event.js'
import type { EnginePolicy } from './compiled.js'
import { CallSpill } from './spill/call_spill.js'
import { Rounds } from './text/rounds.js'

/** Terms of a clamp of a value in hand. */
interface Later<T> {
  readonly given: T
  readonly policy: EnginePolicy
  /** Threads do long work. */
  readonly isLong: boolean
  readonly origin: Origin
  /** Makes the store that saves the full text of each cut, once there is a cut. */
  readonly storing: (() => SpillStore) | undefined
}

/** Clamps a value by a function that may run several times. The first run is a trial: it finds the
 *  work of threads and the texts that it cuts. Another names the saved texts in their notices, if
 *  any were saved, and the last one reports to listeners, if there is something to report. */
export async function clampLater<T>(
  { given, policy, isLong, origin, storing }: Later<T>,
  clamp: (policy: EnginePolicy, origin: Origin) => T,
): Promise<T> {
  const ahead = new Rounds()
  const carrying = isLong ? { ...policy, ahead } : policy
  let spilling = new CallSpill()
  let isTold = false
  const onTrial = () => {
    isTold = true
  }
  const own = (): Origin => {
    spilling.restart()
    return storing ? { ...origin, spilling } : origin
  }
  const trial = await ahead.settle(() => {
    spilling = new CallSpill()
    isTold = false
    return clamp(carrying, { ...own(), isTrial: true, onTrial })
  })
  const isSaved = storing !== undefined && (await spilling.save(storing, callNames(origin)))
  // A trial reports no redaction, but its value differs from the given one.
  const isHeard = hasListeners(origin) && (isTold || trial !== given)
  // Data with saved names in its notices is cut again: on threads, if it is long.
  const isAgain = isSaved && (isLong || !isHeard)
  const kept = isAgain ? await ahead.settle(() => clamp(carrying, { ...own(), isTrial: true })) : trial
  return isHeard ? clamp(carrying, own()) : kept
}
