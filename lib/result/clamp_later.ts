import type { SpillStore } from 'spillway'
import { callNames, hasListeners, type Origin } from '../clamp_event.js'
import type { EnginePolicy } from '../compiled.js'
import { CallSpill } from '../spill/call_spill.js'
import { Rounds } from '../text/rounds.js'

/** Terms of a clamp of a value in hand. */
interface Later {
  readonly policy: EnginePolicy
  /** Threads do long work. */
  readonly isLong: boolean
  readonly origin: Origin
  /** Saves the full text of each cut. */
  readonly spill: SpillStore | undefined
}

/** Clamps a value by a function that runs once or twice. The first run is a trial: it finds the
 *  work of threads and the texts that it cuts. The second run names the saved texts in their
 *  notices, and reports the changes to listeners. */
export async function clampLater<T>(
  { policy, isLong, origin, spill }: Later,
  clamp: (policy: EnginePolicy, origin: Origin) => T,
): Promise<T> {
  const ahead = new Rounds()
  const carrying = isLong ? { ...policy, ahead } : policy
  let spilling = new CallSpill()
  const own = (): Origin => (spill ? { ...origin, spilling } : origin)
  const trial = await ahead.settle(() => {
    spilling = new CallSpill()
    return clamp(carrying, { ...own(), isTrial: true })
  })
  const isSaved = spill !== undefined && (await spilling.save(spill, callNames(origin)))
  return isSaved || hasListeners(origin) ? clamp(carrying, own()) : trial
}
