import { leadsTo } from './phrases.js'

/** An event of a body that is streamed as server-sent events. */
export interface StreamEvent {
  /** Empty where the stream does not name it. */
  readonly name: string
  /** Each as it may be read: the data as a whole, and its lines, since some servers leave out the blank line between two
   *  events. */
  readonly data: readonly string[]
}

/** What is read of a stream at either end: an error is its only event, or one of the last. */
const END = 8_192

/** A field, or the comment that a stream may begin with to hold the connection. */
const START = /(?:^\s*:|(?<![^\s"'(])(?:event|data|id|retry):)/
const FIELD = /^(event|data): ?(.*)$/

/** The events in a text that is a stream, maybe behind words that lead an error, the last first; none in any other text. */
export function eventsIn(text: string, lead: RegExp): StreamEvent[] {
  const start = text.slice(0, 300).search(START)
  if (start < 0 || leadsTo(lead, text.slice(0, start)) < start) return []
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
