import type { SpillRange, SpillSearch } from 'spillway'
import { ID, isId, kind } from '../kinds.js'
import { optionsOf } from '../read_options.js'
import type { SpillMeta } from './spill_writer.js'

/** Bytes of a page, matches, context lines and chars of a pattern, at most. */
const LONGEST_PAGE = 64 * 1024 * 1024
const MOST_MATCHES = 1_000
const MOST_CONTEXT = 100
const LONGEST_PATTERN = 4_096

/** The end of a path that a notice names. */
const FILE = /(?:^|[\\/])([0-9a-f]{16})\.[\w-]{1,40}\.(?:part|\d+b\.\d+l\.txt)$/

/** Returns the id in the name of a saved output, which is its id or the path of a file. */
export function idIn(name: string): string | undefined {
  return isId(name) ? name : FILE.exec(name)?.[1]
}

const PATTERN = kind<string>(
  `a string of 1 to ${LONGEST_PATTERN} chars without newlines`,
  'string',
  (pattern) => pattern !== '' && pattern.length <= LONGEST_PATTERN && !pattern.includes('\n'),
)

/** Rejects an id or a pattern before it reaches the file system. */
export const checkId = ID.take
export const checkPattern = (pattern: string) => PATTERN.take('pattern', pattern)

/** The call that made an output. */
export function checkMeta(meta: SpillMeta): SpillMeta {
  return originOf(optionsOf('save', 'meta', meta))
}

/** Returns the tool and the id of a call that are known. */
export function originOf({ tool, callId }: Partial<Record<keyof SpillMeta, string | undefined>>): SpillMeta {
  return { ...(tool !== undefined && { tool }), ...(callId !== undefined && { callId }) }
}

/** A page to read, in the engine's order. */
export type PageRange = readonly [start: number, byByte: boolean, lines: number, bytes: number]

export function checkRange(range: SpillRange): PageRange {
  const { line, byte, lines, maxBytes } = optionsOf('read', 'range', range)
  return [byte ?? line, byte !== undefined, lines, Math.min(maxBytes, LONGEST_PAGE)]
}

/** Options of a search, checked. */
export interface SearchSettings {
  readonly line: number
  readonly context: number
  /** In the engine's order. */
  readonly packed: Float64Array
}

export function checkSearch(options: SpillSearch): SearchSettings {
  const { regex, ignoreCase, line, ...most } = optionsOf('search', 'options', options)
  const context = Math.min(most.context, MOST_CONTEXT)
  const max = Math.min(most.max, MOST_MATCHES)
  return { line, context, packed: Float64Array.of(Number(regex), Number(ignoreCase), line, context, max) }
}

let searching: Promise<unknown> = Promise.resolve()

/** Runs searches one at a time: slow ones must not occupy all threads that read files. */
export function alone<T>(search: () => Promise<T>): Promise<T> {
  const result = searching.then(search)
  searching = result.catch(() => {})
  return result
}
