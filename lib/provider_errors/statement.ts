import type { Token } from './sentences.js'
import { SORT, sortsOf, wordsOfName } from './words.js'

/** Signs that end a label: "Turn failed:", "[SYSTEM_ERROR]", `Some("`. */
const ENDS =
  /[\s"'`]*(?:[:：.;!?。！？；\n|<>=](?=[\s"'`{[<]|$)|[:：。！；{}[\]"“”|]|\s[-–—]+\s|\((?=["'`{]))[\s"'`(]*/gu
/** Longest label that needs no word of failure. */
const SHORT = 3

/**
 * Returns true if a text is a chain of labels, as programs put before a message: "Error: 400:", "An
 * error occurred while calling the model:", "agent:". A label is short or has a word of failure in
 * it. A sentence of a person is neither.
 */
export function isLabelled(text: string): boolean {
  return text.split(ENDS).every((label) => isLabel(label.trim()))
}

function isLabel(label: string): boolean {
  const words = label.match(/\p{sc=Han}{2}|[\p{L}\d_][\p{L}\d_.'’/@-]*/gu) ?? []
  const sorts = words.map((word) => sortsOf(word.toLowerCase()))
  if (sorts.some((one) => one & SORT.person)) return false
  if (words.length <= SHORT) return true
  const isFailure = (word: string) => /(?:Error|Exception|Failure)$|^[45]\d\d$/.test(word)
  return sorts.some((one) => one & SORT.mark) || words.some(isFailure)
}

/** Returns true if a statement begins here: behind labels, with nothing but known words between. */
export function opens(text: string, at: number): boolean {
  const before = text.slice(0, at)
  let cut = 0
  for (const end of before.matchAll(ENDS)) cut = end.index + end[0].length
  return isLabelled(before.slice(0, cut)) && isHead(wordsOfName(before.slice(cut)))
}

/** Returns true for articles and the like, or the name of a program. */
function isHead(words: readonly string[]): boolean {
  const isPlain = (word: string) => /^\d+$/.test(word) || (sortsOf(word) & (SORT.plain | SORT.mark)) !== 0
  return (
    words.every(isPlain) ||
    (words.length === 1 && /^[a-z]+$/.test(words[0] ?? '') && sortsOf(words[0] ?? '') === 0)
  )
}

/** Returns true for the words of a person: a question, or somebody's own doings. */
export function isProse(tokens: readonly Token[]): boolean {
  return tokens.some(({ sorts, text }) => sorts & SORT.person || text === '?' || text === '？')
}

/** Returns true if a sentence ends here, and its words are not a quotation within a longer one. */
export function isEnd(text: string, at: number): boolean {
  return /^(?:["'”]+(?! ?\p{L})|(?![ ]?\p{L}|["'”]))/u.test(text.slice(at, at + 8))
}
