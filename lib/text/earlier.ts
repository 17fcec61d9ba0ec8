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

/** Returns what the notices in the texts of each result tell. All are read in one call. Like
 *  `Original::and` in src/truncate/figures.rs. */
export function originalsOf(results: readonly (readonly string[])[]): Original[] {
  const texts = results.flat()
  const both = texts.flatMap((text) => windows(text, GLANCE))
  const told = native.originals(
    both,
    Float64Array.from(texts, ({ length }) => length),
  )
  let at = 0
  return results.map((own) => {
    let [chars, named] = [0, 0]
    for (const _ of own) {
      chars += told[at++] as number
      named = Math.max(named, told[at++] as number)
    }
    return { chars, named }
  })
}

/** Returns the chars that texts had before they were first cut. */
export function originalChars(texts: readonly string[]): number {
  return originalsOf([texts])[0]?.chars as number
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
  if (!mayName(head) && !mayName(tail)) return undefined
  const [name, advice = '', part] = native.savedOutput(head, tail, text.length) ?? []
  return name === undefined ? undefined : { name, advice, isPart: part !== undefined }
}

/** Returns the texts of data that were cut before and name a saved output, with the bytes of the
 *  JSON beside all texts that were cut. Undefined for data without, and for other texts. */
export function cutTextsIn(text: string): { texts: string[]; beside: number } | undefined {
  return (mayName(text) && mayBeContainer(text) && native.cutTextsOf(text)) || undefined
}

function mayName(text: string): boolean {
  return NAMES.some((words) => text.includes(words))
}

/** The words before the name of a saved output. */
const NAMES = ['saved as ', '[Full output: ']

/** Returns the saved output that the notices in the texts of a result name, undefined if they name
 *  none or several. */
export function earlierSave(texts: readonly string[]): EarlierSave | undefined {
  const [one, ...others] = earlierSaves(texts)
  return others.length === 0 ? one : undefined
}
