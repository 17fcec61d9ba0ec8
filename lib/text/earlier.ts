import { native } from '../engine.js'
import { windows } from './pieces.js'

/** Looks only at both ends of a text, where most notices are. */
const GLANCE = { reach: { head: 0, tail: 0 } }

/** Chars of a text before it was first cut, and those by which a notice is longer that names its
 *  saved output. */
export interface Original {
  readonly chars: number
  readonly named: number
}

/** Returns what the notices in the texts of a result tell. Like `Original::and` in
 *  src/truncate/figures.rs. */
export function originalOf(texts: readonly string[]): Original {
  let [chars, named] = [0, 0]
  for (const text of texts) {
    const [head, tail] = windows(text, GLANCE)
    const [ownChars = 0, ownNamed = 0] = native.original(head, tail, text.length)
    chars += ownChars
    named = Math.max(named, ownNamed)
  }
  return { chars, named }
}

/** Returns the advice on the saved output that the notices in a text name. */
export function savedAdvice(text: string): string | undefined {
  const [head, tail] = windows(text, GLANCE)
  return native.savedAdvice(head, tail, text.length) ?? undefined
}

/** The saved output that notices of earlier cuts name. `isPart`: only the start of it was saved. */
export interface EarlierSave {
  readonly name: string
  readonly isPart: boolean
}

/** Returns the saved output that the notices in the texts of a result name, undefined if they name
 *  none or several. */
export function earlierSave(texts: readonly string[]): EarlierSave | undefined {
  let found: EarlierSave | undefined
  for (const text of texts) {
    const [head, tail] = windows(text, GLANCE)
    const [name, part] = native.savedName(head, tail, text.length) ?? []
    if (name === undefined) continue
    if (found && found.name !== name) return undefined
    found = { name, isPart: part !== undefined || found?.isPart === true }
  }
  return found
}
