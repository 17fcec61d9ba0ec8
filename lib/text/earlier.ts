import { native } from '../engine.js'
import { mayBeContainer } from '../json.js'
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

/** A saved output that notices of earlier cuts name. `isPart`: only the start of it was saved. */
export interface EarlierSave {
  readonly name: string
  readonly isPart: boolean
  /** Words on how to read it. */
  readonly advice: string
}

/** Returns the saved outputs that the notices in the texts of a result name, each once. Where data
 *  names none as a whole, those that its texts name. */
export function earlierSaves(texts: readonly string[]): EarlierSave[] {
  const found = new Map<string, EarlierSave>()
  for (const text of texts) {
    const own = saveIn(text)
    const saves = own ? [own] : (cutTextsIn(text)?.texts.flatMap((part) => saveIn(part) ?? []) ?? [])
    for (const save of saves) if (!found.get(save.name)?.isPart) found.set(save.name, save)
  }
  return [...found.values()]
}

/** Returns the saved output that the notices in a text name. */
export function saveIn(text: string): EarlierSave | undefined {
  const [head, tail] = windows(text, GLANCE)
  const [name, part] = native.savedName(head, tail, text.length) ?? []
  if (name === undefined) return undefined
  const advice = native.savedAdvice(head, tail, text.length) ?? ''
  return { name, isPart: part !== undefined, advice }
}

/** Returns the texts of data that were cut before and name a saved output, with the bytes of the
 *  JSON beside all texts that were cut. Undefined for data without, and for other texts. */
export function cutTextsIn(text: string): { texts: string[]; beside: number } | undefined {
  const mayName = NAMES.some((words) => text.includes(words)) && mayBeContainer(text)
  return (mayName && native.cutTextsOf(text)) || undefined
}

/** The words before the name of a saved output. */
const NAMES = ['saved as ', '[Full output: ']

/** Returns the saved output that the notices in the texts of a result name, undefined if they name
 *  none or several. */
export function earlierSave(texts: readonly string[]): EarlierSave | undefined {
  const [one, ...others] = earlierSaves(texts)
  return others.length === 0 ? one : undefined
}
