import { emitClamp, type Figures, hasListeners, type Origin } from '../clamp_event.js'
import { type Compiled, failed } from '../compiled.js'
import { Draft } from '../dialect/edit.js'
import { withNames } from '../dialect/payload.js'
import { type Result, readResults } from '../dialect/results.js'
import { capSide } from '../dialect/side_data.js'
import { isLight, surelyFit } from '../dialect/slots.js'
import { jsonOf } from '../json.js'
import { lightened, lightText } from '../media/media.js'
import { once } from '../query.js'
import { sizeOf } from '../text/size.js'
import { isList } from '../untrusted.js'
import { type Clamped, clampSlots, clampWithFigures } from './clamp_slots.js'
import { sentOnce } from './sent_once.js'
import { capShape } from './slot_json.js'
import { steadyResult } from './steady_result.js'

export const RESULT: Origin = { phase: 'result' }

/** Clamps a value of any dialect with a compiled policy. */
export function clampValue<T>(value: T, policy: Compiled, origin = RESULT): T {
  return clampKnown(value, policy, origin) ?? value
}

/** Like `clampValue`, but returns undefined for a value of no dialect. */
export function clampKnown<T>(value: T, policy: Compiled, origin: Origin): T | undefined {
  if (typeof value === 'string')
    return clampAndReport(lightText(value, policy.media, tellOf(origin)), policy, origin) as T
  if (typeof value !== 'object' || value === null) return undefined
  try {
    if (isLight(value, policy)) return value
    const steady = steadyResult(value)
    const results = readResults(steady, policy.dialect)
    return results.length === 0 ? undefined : clampResults(steady, results, policy, origin)
  } catch {
    // Code of the caller threw, such as a proxy trap.
    return undefined
  }
}

/** Tells listeners of payloads that went. */
export function tellOf(origin: Origin) {
  return (figures: () => Figures, result?: Result) => emitClamp(origin, figures, result)
}

/** Clamps a text and reports the cut. `name`: replaces payloads in a text that will be truncated. */
export function clampAndReport(
  text: string,
  policy: Compiled,
  origin: Origin,
  name?: (text: string) => string | undefined,
): string {
  const { spilling } = origin
  const number = spilling?.next() ?? 0
  const own = spilling?.policyOf(number, policy) ?? policy
  const clamped = clampWithFigures(text, own, name, origin.ask)
  if (clamped.figures) {
    spilling?.cut(number, text)
    emitClamp(origin, clamped.figures)
  }
  return clamped.text
}

/** Clamps the results that were read from a value: first what they carry twice, then their payloads and their texts. */
export function clampResults<T extends object>(
  given: T,
  read: readonly Result[],
  policy: Compiled,
  origin: Origin,
): T {
  let value = given
  let results = read
  const take = (made: T) => {
    if (made !== value) results = readResults(made, policy.dialect)
    value = made
  }
  take(sentOnce(value, results, policy.structured))
  take(lightened(value, results, policy.media, tellOf(origin)))
  let draft: Draft | undefined
  for (const result of results) {
    if (!surelyFit(result.slots, policy)) {
      const { edits, figures } = clampTexts(result, policy, origin)
      if (edits.size > 0) {
        draft ??= new Draft()
        draft.edit(result, edits)
      }
      if (figures) emitClamp(origin, figures, result)
    }
    if (policy.sideData === 'keep') continue
    const side = draft ?? new Draft()
    if (clampSide(result, policy, side, origin)) draft = side
  }
  return draft ? draft.done(value) : value
}

function clampTexts(result: Result, policy: Compiled, origin: Origin): Clamped {
  const { slots, isError } = result
  const { spilling } = origin
  const number = spilling?.next() ?? 0
  const own = isError ? failed(policy) : policy
  const saved = spilling?.policyOf(number, own) ?? own
  const ask = origin.ask && once(() => origin.ask?.(result) ?? [])
  const clamped = clampSlots(slots, saved, hasListeners(origin), ask)
  if (clamped.figures) spilling?.cut(number, slots.map(({ text }) => text).join('\n'))
  return clamped
}

/** Caps or drops the side data of a result. Returns false if nothing changes. */
export function clampSide(result: Result, policy: Compiled, draft: Draft, origin: Origin): boolean {
  const { sideData, maxSideBytes } = policy
  let isChanged = false
  for (const { value, holder, key } of result.side) {
    const isShaped = sideData === 'cap' && policy.keepsShape && key === 'structuredContent'
    const cap = isShaped ? capShape : capSide
    const kept = sideData === 'drop' ? undefined : cap(value, maxSideBytes, policy)
    if (Object.is(kept, value)) continue
    // Within JSON that keeps its shape, nothing tells of the cut.
    if (isShaped) emitClamp(origin, () => figuresOf(value, kept), result)
    isChanged = true
    if (kept === undefined) draft.remove(holder, key)
    else draft.set(holder, key, kept)
    if (sideData === 'drop' && key === 'structuredContent') sayInText(value, result, policy, draft)
  }
  return isChanged
}

function figuresOf(value: unknown, kept: unknown): Figures {
  const sizeIn = (data: unknown) => sizeOf(jsonOf(data) ?? '')
  return { total: sizeIn(value), kept: sizeIn(kept), exceeded: ['bytes'] }
}

/** Adds a text with the structured content that an MCP result loses, if the result has no other text. */
function sayInText(value: unknown, { slots, place }: Result, policy: Compiled, draft: Draft): void {
  const json = slots.length === 0 ? jsonOf(value) : undefined
  if (json === undefined) return
  const content = place.read('content')
  const blocks = isList(content) ? (content as unknown[]) : []
  // A text of words, which may carry a notice.
  const { text } = clampWithFigures(json, { ...policy, keepsShape: false }, withNames)
  draft.set(place, 'content', [...blocks, { type: 'text', text }])
}
