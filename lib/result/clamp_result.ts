import { emitClamp, type Figures, hasListeners, type Origin, savedFor } from '../clamp_event.js'
import { type EnginePolicy, failed } from '../compiled.js'
import type { Draft } from '../dialect/edit.js'
import { type Result, readResults } from '../dialect/results.js'
import { isLight, surelyFit } from '../dialect/slots.js'
import { lightText } from '../media/media.js'
import { once } from '../query.js'
import { Batch, lighten, sendOnce } from './batch.js'
import { clampSlots, clampWithFigures, type SlotsOutcome } from './clamp_slots.js'
import { redactResult } from './redact_value.js'
import { steadyResult } from './steady_result.js'
import { shapeContent } from './structured_content.js'
import { writeResult } from './write_result.js'

export const RESULT: Origin = { phase: 'result' }

/** Clamps a value of any dialect with a compiled policy. */
export function clampValue<T>(value: T, policy: EnginePolicy, origin = RESULT): T {
  return clampIfResult(value, policy, origin) ?? value
}

/** Redacts and clamps a text or a result. Returns undefined for a value of no dialect. */
export function clampIfResult<T>(value: T, policy: EnginePolicy, origin: Origin): T | undefined {
  if (typeof value === 'string')
    return clampAndReport(
      lightText(redactResult(value, policy), policy.media, tellOf(origin)),
      policy,
      origin,
    ) as T
  if (typeof value !== 'object' || value === null) return undefined
  try {
    if (isLight(value, policy)) return value
    const steady = steadyResult(redactResult(value, policy))
    const results = readResults(steady, policy.dialect)
    return results.length === 0 ? undefined : clampResults(steady, results, policy, origin)
  } catch {
    // Code of the caller threw, such as a proxy trap.
    return undefined
  }
}

/** Reports omitted payloads to listeners. */
export function tellOf(origin: Origin) {
  return (figures: () => Figures, result?: Result) => emitClamp(origin, figures, result)
}

/** Clamps a text and reports the cut. `isData`: it is the JSON of data. */
export function clampAndReport(text: string, policy: EnginePolicy, origin: Origin, isData = false): string {
  const { spilling } = origin
  const number = spilling?.next() ?? 0
  const own = spilling?.policyOf(number, policy) ?? policy
  const clamped = clampWithFigures(text, own, hasListeners(origin), isData, origin.ask)
  const { figures } = clamped
  if (figures) {
    spilling?.cut(number, [text], [clamped.text])
    emitClamp(origin, () => ({ ...figures(), ...savedFor([text], own) }))
  }
  return clamped.text
}

/** Clamps the results that were read from a redacted value: what limits do not count goes, and each
 *  result is cut. */
export function clampResults<T extends object>(
  given: T,
  read: readonly Result[],
  policy: EnginePolicy,
  origin: Origin,
): T {
  const batch = Batch.of(given, read, policy)
  lighten(batch, policy, origin)
  const isCut = batch.apply((result, draft) => clampParts(result, policy, draft, origin))
  // Cuts may leave two parts that are alike.
  if (isCut) sendOnce(batch, policy.structured)
  return batch.values[0] as T
}

/** Clamps the structured content of a result, its texts within what that leaves, and its other side
 *  data. */
function clampParts(result: Result, policy: EnginePolicy, draft: Draft, origin: Origin): boolean {
  const content = shapeContent(result, policy, draft, origin)
  const own = content?.policy ?? policy
  const clamped = surelyFit(result.slots, own) ? undefined : clampTexts(result, own, origin)
  const isWritten = writeResult(result, clamped, policy, draft, origin, content?.end)
  return isWritten || content?.isCut === true
}

/** Returns the texts that took the place of others. */
function textsLeft({ edits }: SlotsOutcome): string[] {
  return [...edits.values()].flatMap((edit) => (typeof edit === 'string' ? edit : (edit?.text ?? [])))
}

function clampTexts(result: Result, policy: EnginePolicy, origin: Origin): SlotsOutcome {
  const { slots, isError } = result
  const { spilling } = origin
  const number = spilling?.next() ?? 0
  const own = isError ? failed(policy) : policy
  const saved = spilling?.policyOf(number, own) ?? own
  const ask = origin.ask && once(() => origin.ask?.(result) ?? [])
  const clamped = clampSlots(slots, saved, hasListeners(origin), ask)
  const { figures } = clamped
  if (!figures) return clamped
  const texts = slots.map(({ text }) => text)
  spilling?.cut(number, texts, textsLeft(clamped))
  return { ...clamped, figures: () => ({ ...figures(), ...savedFor(texts, saved) }) }
}
