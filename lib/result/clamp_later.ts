import type { SpillStore } from 'spillway'
import { callNames, hasListeners, type Origin } from '../clamp_event.js'
import type { EnginePolicy } from '../compiled.js'
import { CallSpill } from '../spill/call_spill.js'
import { Rounds } from '../text/rounds.js'

/** Terms of a clamp of a value in hand. */
interface Later<T> {
  readonly given: T
  readonly policy: EnginePolicy
  /** Threads do long work. */
  readonly isLong: boolean
  readonly origin: Origin
  /** Saves the full text of each cut. */
  readonly spill: SpillStore | undefined
}

/** Clamps a value by a function that runs once or twice. The first run is a trial: it finds the
 *  work of threads and the texts that it cuts. The second run names the saved texts in their
 *  notices, and reports to listeners; there is none where nothing was saved or is to report. */
export async function clampLater<T>(
  { given, policy, isLong, origin, spill }: Later<T>,
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
    return spill ? { ...origin, spilling } : origin
  }
  const trial = await ahead.settle(() => {
    spilling = new CallSpill()
    isTold = false
    return clamp(carrying, { ...own(), isTrial: true, onTrial })
  })
  const isSaved = spill !== undefined && (await spilling.save(spill, callNames(origin)))
  // Threads cut data again, whose notices name what was saved.
  if (isSaved && isLong) await ahead.settle(() => clamp(carrying, { ...own(), isTrial: true }))
  // A redaction alone is reported by what it made.
  const isHeard = hasListeners(origin) && (isTold || trial !== given)
  return isSaved || isHeard ? clamp(carrying, own()) : trial
}
