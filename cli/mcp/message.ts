import { type Message as Answerable, idText, isObject } from '../../lib/mcp/message.js'
import type { Overlong } from './lines.js'
import { type JsonPlace, partsOf, skipped, valueEnd } from './parts.js'

/** A message of a line. */
export interface LineMessage extends Answerable {
  /** Its place in the text of the line. */
  readonly start: number
}

/** The messages of a line. */
export interface LineMessages {
  readonly text: string
  /** The value of the line. Undefined if the line is not JSON or is too long to keep. */
  readonly value: unknown
  /** Without a value, a body has the recognizable members: their names, and values that are
   *  scalars. */
  readonly messages: readonly LineMessage[]
}

/** Maximum messages that are read of a line. */
export const MOST = 10_000
/** Matches the start of a line, before a message. Readers differ in the chars that end a line, in
 *  those that they trim, and in comments. */
const BEGINS =
  /(?:^|(?!\t)[\p{Cc}\u2028\u2029])[\p{Zs}\t\ufeff]*(?:\/\*[^*\p{Cc}\u2028\u2029]*\*\/[\p{Zs}\t\ufeff]*)?(?=[[{])/gu
/** Chars that some readers trim from a line. */
const BLANK = /[\s\p{Cc}\ufeff]/u
const OPENING = /[[{]/y
/** Matches the scalars at the end of an object. No quote within a string is unescaped, and one
 *  brace closes the outermost object, so no text of a result looks like that. */
const LAST = /((?:,\s*"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[-+.\w]+)\s*)+)\}\s*$/

/** Reads a line, which is a message or a batch. Blanks of any kind around it are skipped, as some
 *  readers skip them. A batch of more messages than are read has no value. */
export function messagesOf(line: Buffer | Overlong): LineMessages {
  if (!Buffer.isBuffer(line)) return { text: '', value: undefined, messages: outlineOfEnds(line) }
  const text = trimmed(line.toString())
  if (text[0] === '[' && partsOf(text, 0, MOST + 1).length > MOST)
    return { text, value: undefined, messages: [] }
  try {
    const value: unknown = JSON.parse(text)
    return { text, value, messages: bodiesOf(text, value) }
  } catch {
    return { text, value: undefined, messages: outlineOf(text) }
  }
}

function trimmed(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && BLANK.test(text[start] as string)) start++
  while (end > start && BLANK.test(text[end - 1] as string)) end--
  return text.slice(start, end)
}

/** Returns true if some readers may accept a text that is not JSON as a message. */
export function mayBeMessage(text: string): boolean {
  return beginning(text, 0) >= 0
}

function beginning(text: string, from: number): number {
  BEGINS.lastIndex = from
  return BEGINS.exec(text) ? BEGINS.lastIndex : -1
}

function bodiesOf(text: string, value: unknown): LineMessage[] {
  const start = skipped(text, 0)
  const places = Array.isArray(value) ? partsOf(text, start) : [{ start }]
  const bodies: unknown[] = Array.isArray(value) ? value : [value]
  return bodies.flatMap((body, at) => {
    const start = places[at]?.start ?? 0
    return isObject(body) ? { body, start, id: idOf(text, start, body['id']) } : []
  })
}

/** JavaScript rounds a number beyond 2^53. */
function idOf(text: string, start: number, id: unknown): string | undefined {
  if (typeof id !== 'number' || Number.isSafeInteger(id)) return idText(id)
  const part = partsOf(text, start).findLast(({ name }) => name === 'id')
  return part && text.slice(part.start, part.end)
}

/** Reads the recognizable messages of a text that is not JSON, or none of too many. */
function outlineOf(text: string): LineMessage[] {
  const found: LineMessage[] = []
  for (let at = beginning(text, 0); at >= 0; ) {
    const places = text[at] === '[' ? partsOf(text, at, MOST + 1).map(({ start }) => start) : [at]
    for (const place of places)
      if (text[place] === '{') found.push(outline(text, place, partsOf(text, place)))
    if (found.length > MOST) return []
    const end = valueEnd(text, at)
    OPENING.lastIndex = skipped(text, end)
    at = OPENING.test(text) ? OPENING.lastIndex - 1 : beginning(text, end)
  }
  return found
}

function outline(text: string, start: number, parts: readonly JsonPlace[]): LineMessage {
  const body = Object.fromEntries(parts.map(({ name, start, end }) => [name, scalar(text, start, end)]))
  const id = parts.findLast(({ name }) => name === 'id')
  const isScalar = id && body['id'] !== undefined
  return { body, start, id: isScalar ? text.slice(id.start, id.end) : undefined }
}

/** Returns the value of a scalar, unless it may be torn. */
function scalar(text: string, start: number, end: number): unknown {
  if (end === text.length || '{['.includes(text[start] as string)) return undefined
  try {
    return JSON.parse(text.slice(start, end))
  } catch {
    return undefined
  }
}

/** Reads a long message by its ends, which say nothing about a batch. */
function outlineOfEnds({ head, tail }: Overlong): LineMessage[] {
  const start = skipped(head, 0)
  if (head[start] !== '{') return []
  const last = `{${LAST.exec(tail)?.[1]?.slice(1) ?? ''}}`
  const [first, second] = [outline(head, start, partsOf(head, start)), outline(last, 0, partsOf(last, 0))]
  return [{ start, id: second.id ?? first.id, body: { ...first.body, ...second.body } }]
}
