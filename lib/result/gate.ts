import { emitClamp, hasListeners, type Origin, UNMEASURED } from '../clamp_event.js'
import type { EnginePolicy } from '../compiled.js'
import { type Mode, sayMode } from '../mode.js'
import { countingMarks } from '../redactions.js'
import { ORIGIN, resultsIn } from './message_results.js'

type Terms = Pick<EnginePolicy, 'mode' | 'redact'>

/** Hands back what a door made of a value, or the value as it came if the door only observes, or is
 *  off. `make` gets the origin of the events that it sends. */
export function handBack<T>(terms: Terms, origin: Origin, given: T, make: (origin: Origin) => T): T {
  const { mode } = terms
  if (mode === 'on') return tellingRedacted(terms, origin, given, () => make(origin))
  sayMode()
  if (mode === 'off') return given
  const observed = { ...origin, isObserved: true }
  const made = tellingRedacted(terms, observed, given, () => make(observed))
  return mode === 'observe' ? given : made
}

/** Returns the origin of events of a history. */
export function originIn(mode: Mode): Origin {
  return mode === 'on' ? ORIGIN : { ...ORIGIN, isObserved: true }
}

/** Runs work on a value, and tells listeners of the secrets that it replaces. */
export function tellingRedacted<T>({ redact }: Terms, origin: Origin, value: unknown, work: () => T): T {
  if (!redact || !hasListeners(origin)) return work()
  const { made, kinds } = countingMarks(work)
  if (kinds.size === 0) return made
  const redacted = Object.fromEntries(kinds)
  const [result, ...others] = resultsIn(value)
  const figures = () => ({ ...UNMEASURED, action: 'redacted' as const, reason: 'secret' as const, redacted })
  emitClamp(origin, figures, others.length === 0 ? result : undefined)
  return made
}
