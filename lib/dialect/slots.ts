import type { Compiled } from '../compiled.js'
import { cleaned } from '../text/clean.js'
import type { Slot } from './dialect.js'
import type { Edit } from './draft.js'

/** Tells without a call that the texts of a result fit as they are. */
export function surelyFit(slots: readonly Slot[], policy: Compiled): boolean {
  if (policy.clean) return false
  let length = 0
  for (const { text } of slots) length += text.length
  if (length > policy.gate) return false
  for (const slot of slots) if (isData(slot) ? LONE.test(slot.text) : !slot.text.isWellFormed()) return false
  return true
}

/** The text of a slot; JSON has nothing to clean. */
export function textOf({ text, json }: Slot, policy: Compiled): string {
  return json ? text : cleaned(text, policy)
}

/** Whether the text of a slot is JSON of data, not a string that the model is sent as it is. */
function isData({ json }: Slot): boolean {
  return json !== undefined && typeof json.value !== 'string'
}

/** The slots that change. */
export function edits(texts: Iterable<readonly [Slot, string | null]>): Map<Slot, Edit> {
  const changed = new Map<Slot, Edit>()
  for (const [slot, text] of texts) {
    if (text !== slot.text) changed.set(slot, text)
    else if (isData(slot)) {
      const value = wellFormed(slot)
      if (value !== undefined) changed.set(slot, { value })
    }
  }
  return changed
}

/** The value of a JSON slot with its lone surrogates repaired; nothing where it has none. */
function wellFormed({ text }: Slot): unknown {
  if (!LONE.test(text)) return undefined
  const repaired = text.replace(ESCAPED, '$1\ufffd')
  return repaired === text ? undefined : JSON.parse(repaired)
}

/** JSON has lone surrogates, and them alone, as escapes, so that its text is well-formed whatever it holds. */
const LONE = /\\ud[89a-f]/
/** The same after an even number of backslashes, which stand for themselves. */
const ESCAPED = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g
