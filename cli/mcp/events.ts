import { linesOf, type Overlong } from './lines.js'

/** An event of a stream of a server. Its data is one message, as a line. */
export interface ServerEvent {
  readonly data?: Buffer | Overlong
  readonly id?: string
  /** Milliseconds after which a stream that broke off may be asked for again. */
  readonly retry?: number
}

const BLANK = Buffer.from(' ')

/** Yields the events of a stream. Of data over `most` bytes, only the ends are held. */
export async function* eventsOf(
  stream: AsyncIterable<Buffer> | Iterable<Buffer>,
  most: number,
): AsyncGenerator<ServerEvent> {
  let data: (Buffer | Overlong)[] = []
  let id: string | undefined
  for await (const line of linesOf(stream, most)) {
    const { name, value } = fieldOf(line)
    const text = Buffer.isBuffer(value) ? value.toString().trim() : ''
    if (name === 'data') data.push(value)
    if (name === 'id') id = text
    if (name === 'retry' && /^\d+$/.test(text)) yield { retry: Number(text) }
    if (name !== '') continue
    const message = joined(data)
    const isEmpty = !message || (Buffer.isBuffer(message) && message.length === 0)
    yield { ...(!isEmpty && { data: message }), ...(id !== undefined && { id }) }
    data = []
  }
}

/** Returns the field of a line. An empty line has none, and ends the event; a comment is a field that nobody reads. */
function fieldOf(line: Buffer | Overlong): { name: string; value: Buffer | Overlong } {
  const head = Buffer.isBuffer(line) ? line.toString('latin1', 0, 8) : line.head.slice(0, 8)
  const [all, name = ''] = /^([^:\r\n]*)(?:: ?)?/.exec(head) ?? ['']
  if (name === '' && all !== '') return { name: ':', value: line }
  const value = Buffer.isBuffer(line)
    ? line.subarray(all.length, endOf(line))
    : { ...line, head: line.head.slice(all.length), bytes: line.bytes - all.length }
  return { name, value }
}

function endOf(line: Buffer): number {
  let end = line.length
  while (line[end - 1] === 10 || line[end - 1] === 13) end--
  return end
}

/** Joins the lines of an event's data. Between tokens of JSON a blank is as good as a newline. */
function joined([first, ...others]: readonly (Buffer | Overlong)[]): Buffer | Overlong | undefined {
  if (first && (others.length === 0 || !Buffer.isBuffer(first))) return first
  return first && Buffer.concat([first, ...others.filter(Buffer.isBuffer).flatMap((one) => [BLANK, one])])
}

/** Makes one line of a message, in place: within strings of JSON there is no newline. */
export function flat(message: Buffer): Buffer {
  for (let at = message.length - 1; at >= 0; at--)
    if (message[at] === 10 || message[at] === 13) message[at] = 32
  return message
}
