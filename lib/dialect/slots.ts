import type { EnginePolicy } from '../compiled.js'
import { jsonOf, roomAfter } from '../json.js'
import { prepared, prepares } from '../text/prepare.js'
import type { Edit } from './edit.js'
import { withNames } from './payload.js'
import { REST, type Slot } from './walk.js'

/** Returns true if a walk of a result shows that it fits unchanged. */
export function isLight(value: object, policy: EnginePolicy): boolean {
  return roomAfter(value, lightRoom(policy)) >= 0
}

/** Returns the room in JSON within which any value fits unchanged, -1 if only its results can tell.
 *  `most`: without the options that tell of more than texts. */
export function lightRoom(policy: EnginePolicy, most = policy.light): number {
  const { media, sideData, maxSideBytes, structured } = policy
  if (prepares(policy) || media || sideData === 'drop' || structured !== 'both') return -1
  return sideData === 'cap' ? Math.min(most, maxSideBytes) : most
}

/** Returns true if the texts of a result fit unchanged by their length, without a native call. */
export function surelyFit(slots: readonly Slot[], policy: EnginePolicy): boolean {
  if (prepares(policy)) return false
  // Blocks that all stay are joined by newlines.
  let length = policy.share === 'stay' ? slots.length - 1 : 0
  for (const { text } of slots) length += text.length
  if (length > policy.gate) return false
  for (const slot of slots) if (isData(slot) ? hasLone(slot.text) : !slot.text.isWellFormed()) return false
  return true
}

/** Returns the text of a slot, prepared unless it is JSON. */
export function textOf({ text, json }: Slot, policy: EnginePolicy): string {
  return json ? text : prepared(text, policy)
}

/** Returns the text of a JSON slot with its payloads replaced by their sizes, undefined if it has
 *  none. */
export function named({ json }: Slot, text: string): string | undefined {
  return json && withNames(text)
}

/** Returns true for data that no path reads. */
export function isRest({ json }: Slot): boolean {
  return json?.as === REST
}

/** Returns true if the text of a slot is the JSON of data, not a string that the model is sent as
 *  it is. */
export function isData({ json }: Slot): boolean {
  return json !== undefined && (json.as === REST || typeof json.value !== 'string')
}

/** Returns an edit for each slot that changes. */
export function edits(texts: Iterable<readonly [Slot, string | null]>): Map<Slot, Edit> {
  const changed = new Map<Slot, Edit>()
  for (const [slot, text] of texts) {
    if (text !== slot.text)
      changed.set(slot, isRest(slot) && text !== null ? { value: parseWellFormed(text), text } : text)
    else if (isData(slot)) {
      const value = wellFormed(slot.text)
      if (value !== undefined) changed.set(slot, { value })
    }
  }
  return changed
}

/** Returns the edit that puts JSON in the place of a slot's text or data. */
export function editOf(slot: Slot, json: string): Edit {
  if (!isData(slot)) return json
  const value = parseWellFormed(json)
  return { value, text: jsonOf(value) }
}

/** Returns the value of JSON with its lone surrogates repaired, undefined if it has none. */
export function wellFormed(text: string): unknown {
  if (!hasLone(text)) return undefined
  const repaired = text.replace(ESCAPED, '$1\ufffd')
  return repaired === text ? undefined : JSON.parse(repaired)
}

/** Returns the value of JSON, its lone surrogates repaired. */
export function parseWellFormed(json: string): unknown {
  return wellFormed(json) ?? JSON.parse(json)
}

/** Returns true if JSON has lone surrogates. It escapes these alone, so the text itself is always
 *  well-formed. */
function hasLone(json: string): boolean {
  // A string search is faster than the regex, which few texts need.
  return json.includes('\\ud') && LONE.test(json)
}

const LONE = /\\ud[89a-f]/
/** Like `LONE`, after an even number of backslashes, which stand for themselves. */
const ESCAPED = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g
