import type { Overlong } from './lines.js'

/** A message of JSON-RPC. Its members are those of another program, of any type. */
export interface Message {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
  readonly result?: unknown
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the messages of a line, which is one or a batch. A line of anything else has none. */
export function messagesOf(line: Buffer): Message[] {
  let value: unknown
  try {
    value = JSON.parse(line.toString())
  } catch {
    return []
  }
  const messages: unknown[] = Array.isArray(value) ? value : [value]
  return messages.every(isObject) ? messages : []
}

/** Writes the messages of a line anew, as a batch if the line is one. */
export function lineOf(line: Buffer, messages: readonly Message[]): Buffer {
  const isBatch = line.toString('latin1', 0, 64).trimStart().startsWith('[')
  return Buffer.from(`${JSON.stringify(isBatch ? messages : messages[0])}\n`)
}

/** Returns the id of an answer that is too long to be held, if it stands first or last in it. No quote within a string
 *  is unescaped, and one brace closes the outermost object, so no text of a result looks like that. */
export function idOf({ head, tail }: Overlong): unknown {
  const value = '("(?:[^"\\\\]|\\\\.)*"|-?\\d+)'
  const first = new RegExp(`^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2\\.0"\\s*,\\s*)?"id"\\s*:\\s*${value}\\s*,`)
  const last = new RegExp(`,\\s*"id"\\s*:\\s*${value}\\s*(?:,\\s*"jsonrpc"\\s*:\\s*"2\\.0"\\s*)?\\}\\s*$`)
  const found = first.exec(head)?.[1] ?? last.exec(tail)?.[1]
  return found === undefined ? undefined : JSON.parse(found)
}
