import type { Compiled } from '../compiled.js'
import { roomAfter } from '../json.js'
import { cleaned } from '../text/clean.js'
import type { Slot } from './dialect.js'
import type { Edit } from './draft.js'
import { withNames } from './payload.js'
import { REST } from './rest.js'

/** Tells by a walk of a result that it fits as it is. */
export function isLight(value: object, policy: Compiled): boolean {
  return roomAfter(value, lightRoom(policy)) >= 0
}

/** Room that a value may take in JSON and needs no cut, whatever it is. Below 0 where only reading it can tell. */
export function lightRoom({ clean, light, sideData, maxSideBytes }: Compiled): number {
  if (clean || sideData === 'drop') return -1
  return sideData === 'cap' ? Math.min(light, maxSideBytes) : light
}

/** Tells without a call that the texts of a result fit as they are. */
export function surelyFit(slots: readonly Slot[], policy: Compiled): boolean {
  if (policy.clean) return false
  let length = 0
  for (const { text } of slots) length += text.length
  if (length > policy.gate) return false
  for (const slot of slots) if (isData(slot) ? hasLone(slot.text) : !slot.text.isWellFormed()) return false
  return true
}

/** The text of a slot; JSON has nothing to clean. */
export function textOf({ text, json }: Slot, policy: Compiled): string {
  return json ? text : cleaned(text, policy)
}

/** The text of a slot that is to be cut, with its payloads named where it is JSON; nothing where it holds none. */
export function named({ json }: Slot, text: string): string | undefined {
  // The rest is cut as data, and names them itself.
  return json && json.as !== REST ? withNames(text) : undefined
}

/** Whether the text of a slot is JSON of data, not a string that the model is sent as it is. */
function isData({ json }: Slot): boolean {
  return json !== undefined && (json.as === REST || typeof json.value !== 'string')
}

/** The slots that change. */
export function edits(texts: Iterable<readonly [Slot, string | null]>): Map<Slot, Edit> {
  const changed = new Map<Slot, Edit>()
  for (const [slot, text] of texts) {
    if (text !== slot.text) changed.set(slot, text)
    else if (isData(slot)) {
      const value = wellFormed(slot.text)
      if (value !== undefined) changed.set(slot, { value })
    }
  }
  return changed
}

/** The value of JSON with its lone surrogates repaired; nothing where it has none. */
export function wellFormed(text: string): unknown {
  if (!hasLone(text)) return undefined
  const repaired = text.replace(ESCAPED, '$1\ufffd')
  return repaired === text ? undefined : JSON.parse(repaired)
}

/** JSON has lone surrogates, and them alone, as escapes, so that its text is well-formed whatever it holds. */
function hasLone(json: string): boolean {
  // Looking for a string is faster than the expression, which few texts need.
  return json.includes('\\ud') && LONE.test(json)
}

const LONE = /\\ud[89a-f]/
/** The same after an even number of backslashes, which stand for themselves. */
const ESCAPED = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g
