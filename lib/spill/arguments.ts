import type { SpillRange, SpillSearch } from 'spillway'
import { isList } from '../untrusted.js'
import { bound, checkNames, flag, optionError, positive, text } from '../validate.js'
import type { SpillMeta } from './spill_writer.js'

/** Bytes of a page by default, and at most. */
const PAGE = 40_960
const LONGEST_PAGE = 64 * 1024 * 1024

/** Matches by default and at most, context lines at most, chars of a pattern at most. */
const MATCHES = 100
const MOST_MATCHES = 1_000
const MOST_CONTEXT = 100
const LONGEST_PATTERN = 4_096

/** An id: no text of a model becomes anything else. */
export const ID = /^[0-9a-f]{16}$/

/** The end of a path that a notice names. */
const FILE = /(?:^|[\\/])([0-9a-f]{16})\.[\w-]{1,40}\.(?:part|\d+b\.\d+l\.txt)$/

/** Returns the id in the name of a saved output, which is its id or the path of a file. */
export function idIn(name: string): string | undefined {
  return ID.test(name) ? name : FILE.exec(name)?.[1]
}

/** Rejects anything other than an id, before it reaches the file system. */
export function checkId(field: string, id: unknown): string {
  if (typeof id === 'string' && ID.test(id)) return id
  const kind = typeof id === 'string' ? RangeError : TypeError
  throw optionError(kind, field, 'the id of a saved output, 16 hexadecimal digits', id)
}

export function checkPattern(pattern: string): string {
  const rule = `a string of 1 to ${LONGEST_PATTERN} chars without newlines`
  if (typeof pattern !== 'string') throw optionError(TypeError, 'pattern', rule, pattern)
  if (pattern === '' || pattern.length > LONGEST_PATTERN || pattern.includes('\n'))
    throw optionError(RangeError, 'pattern', rule, pattern)
  return pattern
}

/** Chars of the shortest secret. */
const SHORTEST_SECRET = 16

/** Checks the secret that keys the ids of a store. */
export function checkSecret(secret: unknown): string | undefined {
  if (secret === undefined) return undefined
  const rule = `a string of at least ${SHORTEST_SECRET} chars`
  // The error does not show the value.
  if (typeof secret !== 'string') throw optionError(TypeError, 'secret', rule, typeof secret)
  if (secret.length < SHORTEST_SECRET) throw optionError(RangeError, 'secret', rule, `${secret.length} chars`)
  return secret.toWellFormed()
}

export function checkMeta(meta: SpillMeta): SpillMeta {
  const { tool, callId } = checkNames('save', 'meta', meta)
  return {
    ...(tool === undefined ? {} : { tool: text('tool', tool, '') }),
    ...(callId === undefined ? {} : { callId: text('callId', callId, '') }),
  }
}

/** A page to read, in the engine's order. */
export type PageRange = readonly [start: number, byByte: boolean, lines: number, bytes: number]

export function checkRange(range: SpillRange): PageRange {
  checkNames('read', 'range', range)
  flag('exact', range.exact, false)
  const line = positive('line', range.line, 1)
  const byte = bound('byte', range.byte, 0)
  const lines = positive('lines', range.lines, Number.POSITIVE_INFINITY)
  const bytes = Math.min(positive('maxBytes', range.maxBytes, PAGE), LONGEST_PAGE)
  const byByte = range.byte !== undefined
  return [byByte ? byte : line, byByte, lines, bytes]
}

/** Options of a search, checked. */
export interface SearchSettings {
  readonly line: number
  readonly context: number
  /** In the engine's order. */
  readonly packed: Float64Array
}

export function checkSearch(options: SpillSearch): SearchSettings {
  checkNames('search', 'options', options)
  flag('exact', options.exact, false)
  const regex = flag('regex', options.regex, false)
  const ignoreCase = flag('ignoreCase', options.ignoreCase, false)
  const line = positive('line', options.line, 1)
  const context = Math.min(bound('context', options.context, 0), MOST_CONTEXT)
  const max = Math.min(positive('max', options.max, MATCHES), MOST_MATCHES)
  return { line, context, packed: Float64Array.of(Number(regex), Number(ignoreCase), line, context, max) }
}

/** Returns the ids that a sweep keeps. */
export function checkRetained(options: { retain?: readonly string[] | undefined }): string[] {
  const { retain = [] } = checkNames('sweep', 'options', options)
  if (!isList(retain)) throw optionError(TypeError, 'retain', 'an array of ids', retain)
  return Array.from(retain, (id: unknown, at) => checkId(`retain[${at}]`, id))
}

let searching: Promise<unknown> = Promise.resolve()

/** Runs searches one at a time: slow ones must not occupy all threads that read files. */
export function alone<T>(search: () => Promise<T>): Promise<T> {
  const result = searching.then(search)
  searching = result.catch(() => {})
  return result
}
