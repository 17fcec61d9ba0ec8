import { SORT, sortsOf, wordsOfName } from './words.js'

/**
 * Reads a limit on one part of a request: "Invalid 'input[3].id': string too long", "tools.0.name:
 * String should have at most 128 characters".
 *
 * The path of the part decides. Only a text of the history can be clamped. A name, an id or a list
 * inside of a message stays as long as it is however short the history gets, so a limit on it is
 * nothing that a smaller history obeys. Messages that are too many are an overflow of the history.
 */
export type LimitedPart = { readonly kind: 'other' } | { readonly kind: 'text'; readonly field?: string }

/** A kind of value, and that it is too much. */
const LIMITED =
  /(?<![\w'-])(?:(string|text|value)|(arrays?|lists?|tuples?)|(property names?|propert(?:y|ies)|objects?|dictionary|dictionaries|dicts?|keys?))(?: (?:is|are|has|have|was))? (?:too (?:long|large|many|big)|(?:should|must|can|may) (?:have|be|contain)(?: at most| no more than| a maximum of| fewer than)|(?:more|longer|larger) than|exceeds?)\b/i
/** Members joined by dots, and indexes. */
const PATH = String.raw`[A-Za-z_]\w*(?:\.\w+|\[\d+\])*`
/** A path right before what it is the path of: quoted, or as a label. */
const BEFORE = new RegExp(String.raw`(?:['"\x60](${PATH})['"\x60]|(?<![\w.\]])(${PATH}))\s*:\s*$`)

/** Reads the first of some texts that states such a limit. `path` is a member of the error. */
export function limitedPart(texts: readonly string[], path: string | undefined): LimitedPart | undefined {
  for (const text of texts) {
    const found = LIMITED.exec(text)
    if (!found) continue
    const [, isText, isList] = found
    const [, quoted, label] = BEFORE.exec(text.slice(0, found.index)) ?? []
    const part = path ?? quoted ?? (label !== undefined && isPath(label) ? label : undefined)
    if (!isText && !isList) return { kind: 'other' }
    if (part === undefined) return isText ? { kind: 'text' } : undefined
    const members = part.split(/[.[]/).filter((member) => !/^\d+\]?$/.test(member))
    if (isList) return isHistory(members[0]) && part === members[0] ? undefined : { kind: 'other' }
    return isHistory(members[0]) && !isName(members.at(-1))
      ? { kind: 'text', field: part }
      : { kind: 'other' }
  }
  return undefined
}

/** Returns true for a label that is the path of a part: several members, or a known one. "Error:" and
 *  "the model:" are labels of other kinds. */
function isPath(label: string): boolean {
  return /[.[]/.test(label) || wordsOfName(label).some((word) => sortsOf(word) & (SORT.prompt | SORT.thing))
}

/** Returns true for the member of a request that holds its messages, or its instructions. */
function isHistory(member = ''): boolean {
  return wordsOfName(member).every((word) => (sortsOf(word) & SORT.prompt) !== 0 || HISTORY.test(word))
}

const HISTORY = /^(?:contents|system|instructions?)$/

/** Returns true for the name or the id of something. */
function isName(member = ''): boolean {
  const last = wordsOfName(member).at(-1) ?? ''
  return last === 'id' || (sortsOf(last) & SORT.thing) !== 0
}
