import { clampResult } from '../index.js'
import { isList } from '../untrusted.js'
import { isObject, type Members } from './message.js'
import { Raw } from './raw_json.js'

/** Returns the JSON text of a member of an answer. */
export type Source = (...names: readonly string[]) => string

const UNLIMITED = { maxBytes: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY }
/** Members and elements of an answer that are read. An answer with more becomes a text. */
export const WIDEST = 100_000
/** The code of JSON-RPC for an internal error. */
export const INTERNAL = -32_603

/** Returns true if a value has more than a number of levels. */
export function nests(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((part) => nests(part, levels - 1))
}

/** Returns the number of members and elements of a value, or more than `most`. */
export function partsIn(value: unknown, most = WIDEST): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  for (const part of Object.values(value)) {
    count += 1 + partsIn(part, most - count - 1)
    if (count > most) break
  }
  return count
}

/** Returns an answer with the JSON of its result or error as a text. */
export function flattened({ id, result, error }: Members, source: Source): Members {
  const head = { jsonrpc: '2.0', ...(typeof id !== 'object' && { id }) }
  if (error !== undefined && error !== null)
    return { ...head, error: { code: INTERNAL, message: source('error') } }
  if (result === undefined) return head
  const isError = isObject(result) && ('structuredContent' in result || result['isError'] === true)
  return {
    ...head,
    result: { content: [{ type: 'text', text: source('result') }], ...(isError && { isError }) },
  }
}

/** Returns true if a text of a result repeats its structured content. */
export function repeats(result: Members): boolean {
  if (result['structuredContent'] === undefined) return false
  return !('structuredContent' in clampResult(result, { ...UNLIMITED, structured: 'text' }))
}

function blocksOf({ content }: Members): unknown[] {
  return isList(content) ? content : []
}

export function textsOf(result: Members): string[] {
  return blocksOf(result).flatMap((block) => {
    const { type, text, resource } = isObject(block) ? block : {}
    const said =
      type === 'text' ? text : type === 'resource' && isObject(resource) ? resource['text'] : undefined
    return typeof said === 'string' ? said : []
  })
}

/** Returns the members of a result besides texts, payloads and structured content, which have
 *  limits of their own. */
export function restOf({ structuredContent: _, content, ...others }: Members): unknown {
  const blocks = typeof content === 'string' ? '' : content
  return { ...others, content: isList(blocks) ? blocks.map(restOfBlock) : blocks }
}

function restOfBlock(block: unknown): unknown {
  if (!isObject(block)) return block
  const { type, resource } = block
  const without = (value: Members, ...names: string[]) =>
    Object.fromEntries(
      Object.entries(value).filter(([name, part]) => !(names.includes(name) && typeof part === 'string')),
    )
  if (type === 'text') return without(block, 'text')
  if (type === 'image' || type === 'audio') return without(block, 'data')
  if (type !== 'resource' || !isObject(resource)) return block
  return { ...block, resource: without(resource, 'text', 'blob') }
}

/** Returns the chars that a client gets: of the texts and of the structured content, copies counted
 *  once. */
export function charsOf(result: Members, isTwin: boolean): number {
  const { structuredContent } = result
  const texts = textsOf(result).reduce((sum, text) => sum + text.length, 0)
  const json =
    structuredContent instanceof Raw ? structuredContent.json : (JSON.stringify(structuredContent) ?? '')
  return isTwin ? Math.max(texts, json.length) : texts + json.length
}
