import { type Kind, listOf, STRING } from './kinds.js'
import { elementAt, get, ignoreRejection, isList, isObject, isPlain, tryRead } from './untrusted.js'

/** A caller's function of the arguments of a call. */
type Asker = (args: readonly unknown[]) => unknown

/** Texts that say what was asked, or a function that returns them. Undefined if each function has
 *  its own default. */
export type Query = string[] | Asker | undefined

const RULE = 'a string, an array of strings, false or a function'
const TEXTS = listOf(RULE, STRING)

/** The question of a policy. Empty texts ask nothing. */
export const QUERY: Kind<Query> = {
  rule: RULE,
  take(field, query) {
    if (typeof query === 'function') return query as Asker
    const texts = query === false ? [] : typeof query === 'string' ? [query] : TEXTS.take(field, query)
    return texts.filter((text) => text !== '').map((text) => text.toWellFormed())
  },
}

/**
 * Returns what a call asked: the texts of the caller's function, or those in its arguments. A
 * function that throws asks nothing. `asked`: the arguments that a model wrote, if others stand
 * beside them.
 */
export function askedBy(query: Query, args: readonly unknown[], asked = args): string[] {
  if (typeof query !== 'function') return stringsIn(asked.map(decoded))
  const answer = tryRead(() => query(args))
  ignoreRejection(answer)
  return stringsIn([answer])
}

/** Makes a function that asks only once, however often a text is cut until its notice fits. */
export function once(ask: () => string[]): () => string[] {
  let asked: string[] | undefined
  return () => {
    asked ??= ask()
    return asked
  }
}

/** Returns arguments that are the text of JSON as data. */
export function decoded(args: unknown): unknown {
  const isJson = typeof args === 'string' && /^\s*[[{]/.test(args)
  return (isJson ? tryRead(() => JSON.parse(args) as unknown) : undefined) ?? args
}

/** Bounds on what is read, as in src/session/question.rs: chars of all texts, values, and the depth
 *  of these. */
const CHARS = 4_096
const VALUES = 1_000
const DEPTH = 16

/** Returns the strings in plain data, in order. */
export function stringsIn(values: readonly unknown[]): string[] {
  const found: string[] = []
  let [chars, left] = [CHARS, VALUES]
  const take = (value: unknown, depth: number): void => {
    left -= 1
    if (typeof value === 'string') {
      const text = value.slice(0, chars).toWellFormed()
      chars -= text.length
      if (text !== '') found.push(text)
    } else if (isObject(value) && depth < DEPTH) tryRead(() => takeAll(value, depth + 1))
  }
  const takeAll = (holder: object, depth: number): void => {
    const list = isList(holder) ? holder : undefined
    const names = list ?? (isPlain(holder) ? Object.keys(holder) : [])
    for (let at = 0; at < names.length && left > 0 && chars > 0; at++)
      take(list ? elementAt(list, at) : get(holder, names[at] as string), depth)
  }
  takeAll(values, 0)
  return found
}
