import { isLabelled } from './statement.js'

/** An event of a response body in the format of server-sent events. */
export interface StreamEvent {
  /** "" if the stream does not name the event. */
  readonly name: string
  /** The data as a whole, and its single lines, since some servers omit the blank line between two
   *  events. */
  readonly data: readonly string[]
}

/** Chars read at either end of a stream. An error is the only event, or one of the last. */
const END = 8_192

/** A field, or a comment, which a stream may begin with to keep the connection open. */
const START = /(?:^\s*:|(?<![^\s"'(])(?:event|data|id|retry):)/
const FIELD = /^(event|data): ?(.*)$/

/** Returns the events of a text that is an event stream, possibly after words that introduce an
 *  error, the last event first. Returns an empty list for any other text. */
export function eventsIn(text: string): StreamEvent[] {
  const start = text.slice(0, 300).search(START)
  if (start < 0 || !isLabelled(text.slice(0, start))) return []
  const body = text.slice(start)
  return (body.length > 2 * END ? `${body.slice(0, END)}\n\n${body.slice(-END)}` : body)
    .replace(/\r\n?/g, '\n')
    .split(/\n{2,}/)
    .map(eventOf)
    .filter(({ data }) => data.length > 0)
    .reverse()
}

function eventOf(block: string): StreamEvent {
  let name = ''
  const lines: string[] = []
  for (const line of block.split('\n')) {
    const [, field, value = ''] = FIELD.exec(line) ?? []
    if (field === 'event') name = value.trim()
    else if (field === 'data') lines.push(value)
  }
  return { name, data: lines.length > 1 ? [lines.join('\n'), ...lines] : lines }
}
