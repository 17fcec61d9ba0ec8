import { emitClamp, type Origin } from '../clamp_event.js'
import { type EnginePolicy, handleOf, measures } from '../compiled.js'
import type { Draft } from '../dialect/edit.js'
import type { End } from '../dialect/paths.js'
import type { Result } from '../dialect/results.js'
import { capSide } from '../dialect/side_data.js'
import { parseWellFormed } from '../dialect/slots.js'
import { native } from '../engine.js'
import { jsonOf } from '../json.js'
import { isList } from '../untrusted.js'
import { clampWithFigures, type SlotsOutcome } from './clamp_slots.js'
import { figuresOf, UNLIMITED } from './structured_content.js'

/** Writes the last two parts of a result into a draft: its clamped texts, then its side data.
 *  Returns false if nothing changes. `done`: side data that is written already. */
export function writeResult(
  result: Result,
  clamped: SlotsOutcome | undefined,
  policy: EnginePolicy,
  draft: Draft,
  origin: Origin,
  done?: End,
): boolean {
  const isCut = clamped !== undefined && clamped.edits.size > 0
  if (isCut) draft.edit(result, clamped.edits)
  if (clamped?.figures) emitClamp(origin, clamped.figures, result)
  const isCapped = policy.sideData !== 'whole' && clampSide(result, policy, draft, origin, done)
  return isCut || isCapped
}

/** Caps or drops the side data of a result. Returns false if nothing changes. */
export function clampSide(
  result: Result,
  policy: EnginePolicy,
  draft: Draft,
  origin: Origin,
  done?: End,
): boolean {
  const { sideData, maxSideBytes } = policy
  let isChanged = false
  for (const end of result.side) {
    if (end === done) continue
    const { value, holder, key } = end
    const isShaped = sideData === 'cap' && policy.json === 'keep-shape' && key === 'structuredContent'
    const cap = isShaped ? capShape : capSide
    const kept = sideData === 'drop' ? undefined : cap(value, maxSideBytes, policy)
    if (Object.is(kept, value)) continue
    // Within JSON that keeps its shape, nothing tells of the cut.
    if (isShaped) emitClamp(origin, () => figuresOf(jsonOf(value) ?? '', jsonOf(kept) ?? ''), result)
    isChanged = true
    if (kept === undefined) draft.remove(holder, key)
    else draft.set(holder, key, kept)
    if (sideData === 'drop' && key === 'structuredContent') sayInText(value, result, policy, draft)
  }
  return isChanged
}

/** Adds a text with the structured content that an MCP result loses, if the result has no other
 *  text. */
function sayInText(value: unknown, { slots, place }: Result, policy: EnginePolicy, draft: Draft): void {
  const json = slots.length === 0 ? jsonOf(value) : undefined
  if (json === undefined) return
  const content = place.read('content')
  const blocks = isList(content) ? (content as unknown[]) : []
  // A text of words, which may carry a notice.
  const { text } = clampWithFigures(json, { ...policy, json: 'text' }, false, true)
  draft.set(place, 'content', [...blocks, { type: 'text', text }])
}

/** Cuts structured content to bytes of JSON, undefined if not even an empty value fits. */
function capShape(value: unknown, maxBytes: number, policy: EnginePolicy): unknown {
  const json = jsonOf(value)
  if (json === undefined || Buffer.byteLength(json) <= maxBytes) return value
  const bytes = { ...UNLIMITED, bytes: maxBytes }
  const made = native.shapeJson(handleOf({ ...policy, ...measures(bytes, policy.keep) }), json)
  return made && made.json !== '' ? parseWellFormed(made.json) : undefined
}
