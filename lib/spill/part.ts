import type { SpillStore } from 'spillway'
import type { CleanSteps } from '../clean_options.js'
import { cleanString } from '../text/clean.js'
import {
  cutTextsIn,
  type EarlierSave,
  earlierSave,
  earlierSaves,
  originalChars,
  saveIn,
} from '../text/earlier.js'
import { idIn } from './arguments.js'

/*
 * A text may end in the notice of a cut that some other text quotes, such as the log of a session.
 * Saving nothing then loses the text, and names another output as its own. Saving what is a part
 * of a saved output names a part as the whole. So a text is taken for a part only if the store has
 * the output, the sizes agree, and both ends of the text occur in the output.
 *
 * They are compared as a reader sees them: cleaned, and without blanks, since a saved output has
 * the bytes of its command. Most cuts keep an end of the output, so its ends are read first. The
 * streams of a command that were captured apart, and long heads, take a search.
 *
 * Of data, those texts are compared that were cut before. The rest of it has to be small, since it
 * is saved nowhere.
 */

/** Chars that a tool may have added around a text of an earlier cut. */
const ADDED = 1_024
/** Bytes of a saved output that is looked through for notices. */
const LOOKED_THROUGH = 256 * 1024
/** Bytes at each end of a saved output that are read. */
const PAGE = 65_536
/** Chars at each end of a text that have to occur in the output in part. */
const END = ADDED + 2_048
/** Chars of a piece that has to occur, and different ones among them if any piece has as many. */
const PIECE = 40
const VARIED = 8
/** Lines to search for, and their chars. */
const LINES = 6
const SHORTEST = 12
const LONGEST = 80

/** Returns true if the notices in the texts of a result name outputs that the store has and that
 *  they are parts of. `left`: what a cut leaves of the texts, which has to name each of several. */
export async function isPartIn(
  store: SpillStore,
  texts: readonly string[],
  left?: readonly string[],
): Promise<boolean> {
  const data = texts.map(cutTextsIn)
  const beside = texts.reduce((sum, text, at) => sum + (data[at]?.beside ?? text.length), 0)
  const cut = data.flatMap((one) => one?.texts ?? [])
  if (cut.length === 0 || beside > ADDED) return areOf(store, earlierSave(texts), texts)
  const saves = earlierSaves(cut)
  if (saves.length === 0) return areOf(store, earlierSave(texts), texts)
  for (const save of saves) {
    const own = saves.length === 1 ? cut : cut.filter((text) => saveIn(text)?.name === save.name)
    const isLeft = saves.length === 1 || (left?.some((text) => text.includes(save.name)) ?? true)
    if (!isLeft || !(await areOf(store, save, own))) return false
  }
  return true
}

/** Returns true if texts are parts of a saved output that the store has. */
async function areOf(
  store: SpillStore,
  earlier: EarlierSave | undefined,
  texts: readonly string[],
): Promise<boolean> {
  const id = earlier && idIn(earlier.name)
  if (id === undefined) return false
  try {
    const { text: head, totalBytes } = await store.read(id, { byte: 0, maxBytes: PAGE })
    if (!earlier?.isPart && !(await isAsLong(store, id, texts, totalBytes))) return false
    const text = texts.join('\n')
    if (text.length <= ADDED) return true
    const from = totalBytes - PAGE
    const tail = from > 0 ? (await store.read(id, { byte: from, maxBytes: PAGE })).text : ''
    const page = `${seen(head)}\n${seen(tail)}`
    const has = async (end: string) =>
      piecesOf(seen(end)).some((piece) => page.includes(piece)) || finds(store, id, end)
    // Of an output that was not saved whole, a tail that was kept may be missing.
    if (earlier?.isPart) return text.slice(0, END).includes(earlier.name) || has(text.slice(0, END))
    return (await has(text.slice(0, END))) && has(text.slice(-END))
  } catch {
    return false
  }
}

/** Returns true if a saved output is as large as the original of some texts, or was itself cut from
 *  that. A larger text only quotes its notice. */
async function isAsLong(
  store: SpillStore,
  id: string,
  texts: readonly string[],
  totalBytes: number,
): Promise<boolean> {
  const chars = originalChars(texts)
  if (chars <= totalBytes + ADDED) return true
  if (totalBytes > LOOKED_THROUGH) return false
  const { text } = await store.read(id, { byte: 0, maxBytes: LOOKED_THROUGH })
  return chars <= originalChars([text]) + ADDED
}

const STEPS: CleanSteps = [true, true, true, false, false]

function seen(text: string): string {
  return cleanString(text, STEPS).replace(/\s+/g, '')
}

/** Returns the pieces of a text, or those that are varied, since they tell more. */
function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let at = 0; at === 0 || at + PIECE <= text.length; at += PIECE) pieces.push(text.slice(at, at + PIECE))
  const varied = pieces.filter((piece) => new Set(piece).size >= VARIED)
  return varied.length > 0 ? varied : pieces
}

/** Searches an output for the words of some whole lines, between which it may have colors. */
async function finds(store: SpillStore, id: string, text: string): Promise<boolean> {
  const lines = cleanString(text, STEPS)
    .split('\n')
    .slice(1, -1)
    .map((line) => line.slice(0, LONGEST).trim())
    .filter(({ length }) => length >= SHORTEST)
  const step = Math.max(1, Math.floor(lines.length / LINES))
  const some = lines.filter((_, at) => at % step === 0).slice(0, LINES)
  if (some.length === 0) return false
  const pattern = some.map((line) => line.split(/\s+/).map(escapedWord).join('.{1,16}')).join('|')
  return (await store.search(id, pattern, { regex: true, max: 1 })).length > 0
}

function escapedWord(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
