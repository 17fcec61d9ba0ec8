import { optionError } from './validate.js'

/** Texts that say what was asked. Undefined if the caller leaves it to the function. */
export type Query = string[] | undefined

/** Checks the question of a policy. Empty texts ask nothing. */
export function checkQuery(query: unknown): Query {
  if (query === undefined) return undefined
  const texts: unknown = typeof query === 'string' ? [query] : query
  if (!Array.isArray(texts)) throw optionError(TypeError, 'query', 'a string or an array of strings', query)
  return Array.from(texts, (text: unknown, at) => {
    if (typeof text !== 'string') throw optionError(TypeError, `query[${at}]`, 'a string', text)
    return text.toWellFormed()
  }).filter((text) => text !== '')
}
