import lexicon from './words.json'

/** A class of words. What a refusal says is read from the classes of its words, so that a
 *  provider's own wording needs no entry: words.json lists the words of each class. */
export type Sort = keyof typeof lexicon

/** Bit of each class. */
export const SORT = Object.fromEntries(Object.keys(lexicon).map((name, at) => [name, 1 << at])) as Readonly<
  Record<Sort, number>
>

let sorts: Map<string, number> | undefined
let longest = 0

/** Returns the classes of a word in lower case, as bits; 0 for an unknown word. */
export function sortsOf(word: string): number {
  // Read on first use, since most runs never see an error.
  sorts ??= read()
  return sorts.get(word) ?? 0
}

function read(): Map<string, number> {
  const all = new Map<string, number>()
  for (const [name, words] of Object.entries(lexicon))
    for (const word of words.split(' ')) {
      all.set(word, (all.get(word) ?? 0) | SORT[name as Sort])
      longest = Math.max(longest, HAN.test(word) ? word.length : 0)
    }
  return all
}

/** Finds whatever can be measured, of which a refusal for size names one. */
let measured: RegExp | undefined

/** Returns false for a text without a word of what is measured. Most errors are about something
 *  else. */
export function measures(text: string): boolean {
  const { prompt, context, request, token, media } = lexicon
  measured ??= new RegExp([prompt, context, request, token, media].join(' ').replaceAll(' ', '|'), 'i')
  return measured.test(text)
}

const HAN = /\p{sc=Han}/u

/** Splits a run of Chinese characters, which has no blanks, into the longest known words from the
 *  left, and single characters where none is known. */
export function hanWords(run: string): string[] {
  sortsOf('')
  const words: string[] = []
  for (let at = 0; at < run.length; ) {
    let length = Math.min(longest, run.length - at)
    while (length > 1 && sortsOf(run.slice(at, at + length)) === 0) length -= 1
    words.push(run.slice(at, at + length))
    at += length
  }
  return words
}

/** Splits an identifier into its words in lower case: context_length_exceeded, InputTooLong,
 *  maxTokens. */
export function wordsOfName(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3 $2')
    .toLowerCase()
    .split(/[^\p{L}\d']+/u)
    .filter((word) => word !== '')
}
