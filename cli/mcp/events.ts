import { ByteBuffer, type Overlong } from './lines.js'

/** An event in a stream of a server, or its `retry`. The data is one message on one line. */
export interface ServerEvent {
  readonly data?: Buffer | Overlong
  /** The last event id; empty if the server has reset it. */
  readonly id?: string
  /** Milliseconds to wait before resuming a broken stream. */
  readonly retry?: number
}

type ResponseBody = AsyncIterable<Buffer> | Iterable<Buffer>

const BLANK = Buffer.from(' ')
const MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Bytes of a line that identify its field: the longest known name, a colon and a blank. */
const LEAD = 'event: '.length
/** Bytes of a value that is not data. A longer one is ignored. */
const VALUE = 8_192

/**
 * Yields the events of a stream, as the HTML standard reads them: lines end with LF, CR or both,
 * and an event without its empty line is incomplete. Events of a type other than `message`, which
 * is the default, are not messages. Only the ends of data over `most` bytes are kept, regardless of
 * its lines.
 */
export async function* eventsOf(stream: ResponseBody, most: number): AsyncGenerator<ServerEvent> {
  let data = new ByteBuffer(most)
  let type = ''
  let id: string | undefined
  let line = new Field(data)
  let isAfterReturn = false
  for await (const chunk of bodyOf(stream)) {
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const isNewline = chunk[at] === 10
      if (!isNewline && chunk[at] !== 13) {
        isAfterReturn = false
        continue
      }
      const isSecond = isNewline && isAfterReturn
      isAfterReturn = !isNewline
      const rest = chunk.subarray(from, at)
      from = at + 1
      // The second byte of CR LF does not end another line.
      if (isSecond) continue
      line.add(rest)
      const { name, value } = line.done()
      if (name === 'event') type = value
      if (name === 'id' && !value.includes('\0')) id = value
      if (name === 'retry' && /^\d+$/.test(value)) yield { retry: Number(value) }
      if (name === '') {
        const isMessage = data.bytes > 0 && (type === '' || type === 'message')
        yield { ...(isMessage && { data: data.done() }), ...(id !== undefined && { id }) }
        data = new ByteBuffer(most)
        type = ''
      }
      line = new Field(data)
    }
    line.add(chunk.subarray(from))
  }
}

/** A line of a stream, in parts. Data is added to that of the event; other lines keep only a value
 *  that is needed. */
class Field {
  readonly #data: ByteBuffer
  #name: string | undefined
  #lead: Buffer = Buffer.alloc(0)
  #value: ByteBuffer | undefined

  constructor(data: ByteBuffer) {
    this.#data = data
  }

  add(part: Buffer): void {
    if (this.#name !== undefined) this.#value?.add(part)
    else {
      this.#lead = this.#lead.length === 0 ? part : Buffer.concat([this.#lead, part])
      if (this.#lead.length >= LEAD) this.#begin()
    }
  }

  /** Returns the field of a whole line: '' for an empty line, which ends the event. Does not return
   *  data. */
  done(): { name: string; value: string } {
    if (this.#name === undefined) this.#begin()
    const value = this.#name === 'data' ? undefined : this.#value?.done()
    const isIgnored = value !== undefined && !Buffer.isBuffer(value)
    return { name: isIgnored ? ':' : (this.#name ?? ''), value: value === undefined ? '' : String(value) }
  }

  #begin(): void {
    const [all = '', name = ''] = /^([^:]*)(?:: ?)?/.exec(this.#lead.toString('latin1', 0, LEAD)) ?? []
    // A comment is a field that nobody reads.
    this.#name = name === '' && all !== '' ? ':' : name
    if (name === 'data') {
      this.#value = this.#data
      // Between tokens of JSON a blank is as good as a newline.
      if (this.#value.bytes > 0) this.#value.add(BLANK)
    } else if (name === 'event' || name === 'id' || name === 'retry') this.#value = new ByteBuffer(VALUE)
    this.#value?.add(this.#lead.subarray(all.length))
  }
}

/** Yields a body without the byte order mark that may begin it. */
export async function* bodyOf(stream: ResponseBody): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of stream) {
    if (start === undefined) {
      yield chunk
      continue
    }
    start = Buffer.concat([start, chunk])
    if (start.length < MARK.length && MARK.indexOf(start) === 0) continue
    yield start.indexOf(MARK) === 0 ? start.subarray(MARK.length) : start
    start = undefined
  }
  if (start) yield start
}

/** Puts a message on one line, in place: strings of JSON contain no raw newline. */
export function flat(message: Buffer): Buffer {
  for (let at = message.length - 1; at >= 0; at--)
    if (message[at] === 10 || message[at] === 13) message[at] = 32
  return message
}
