import type { SpillStore, WrapPolicy } from 'spillway'
import { INTERNAL } from '../../lib/mcp/answer.js'
import { Exchange } from '../../lib/mcp/exchange.js'
import { isRequest, type Members } from '../../lib/mcp/message.js'
import { digest, record } from '../../lib/stats/record.js'
import { quoted } from '../term/escape.js'
import { LONGEST, type Overlong } from './lines.js'
import { type LineMessage, type LineMessages, MOST, mayBeMessage, messagesOf } from './message.js'
import { respelled, skipped, sourceAt } from './parts.js'
import { plainOf } from './plain.js'

/** Maximum ids that stderr names. */
const NAMED = 10

/** Relays between a client and a server: takes their lines, and returns the lines to send. */
export class Relay {
  readonly #tell: (text: string) => void
  readonly #exchange: Exchange

  constructor(
    policy: WrapPolicy,
    store: SpillStore | undefined,
    tell: (text: string) => void,
    counts: boolean,
  ) {
    this.#tell = tell
    const session = digest(process.pid, Date.now())
    this.#exchange = new Exchange(policy, store, {
      tell: (text, call) => tell(call ? `${quoted(call.tool)}: ${text}` : text),
      // A failure to record figures never affects a call.
      count: ({ tool, args }, shown, sent, more) =>
        counts &&
        record({ door: 'mcp', session, tool, call: digest(session, tool, args), shown, sent, ...more }),
    })
  }

  /** Takes a line of the client. Returns the line for the server, and calls of the proxy's own
   *  tool, which the server does not get. Never throws: an answer to an unknown call is bounded
   *  too. */
  fromClient(line: Buffer): { line: Buffer | undefined; own: LineMessage[] } {
    try {
      return this.#taken(line)
    } catch (error) {
      this.#tell(
        `a message of the client could not be read: ${error instanceof Error ? error.message : error}`,
      )
      return { line, own: [] }
    }
  }

  #taken(line: Buffer): { line: Buffer | undefined; own: LineMessage[] } {
    const { text, value, messages } = messagesOf(line)
    const own = value === undefined ? [] : messages.filter((message) => this.#exchange.isOwn(message))
    for (const message of messages) if (!own.includes(message)) this.#exchange.note(message)
    if (own.length === 0) return { line, own }
    const bodies = new Set<unknown>(own.map(({ body }) => body))
    const others = Array.isArray(value) ? value.filter((body) => !bodies.has(body)) : []
    return { line: others.length === 0 ? undefined : lineOf(text, value, others), own }
  }

  /** Takes a line of the server, and returns the line for the client: the same unless an answer in
   *  it changes. Never rejects: an answer that cannot be bounded is replaced by an error. */
  async fromServer(line: Buffer | Overlong): Promise<Buffer[]> {
    const read = messagesOf(line)
    try {
      if (!Buffer.isBuffer(line) || read.value === undefined) return this.#unread(line, read)
      return [await this.#bounded(line, read)]
    } catch (error) {
      if (Buffer.isBuffer(line) && !this.#exchange.acts) return [line]
      const answers = read.messages.filter((message) => !isRequest(message))
      return answers.map(({ id = 'null' }) => answer(id, { error: this.#exchange.errorOf(id, error) }))
    }
  }

  async #bounded(line: Buffer, read: LineMessages): Promise<Buffer> {
    const plain = this.#exchange.surelyFits(read.text) ? undefined : plainOf(read.text)
    const isOdd = plain?.isOdd === true
    const { text, value, messages } = isOdd ? messagesOf(Buffer.from(plain.text)) : read
    const changed = new Map<unknown, Members>()
    for (const message of messages) {
      const source = (...names: readonly string[]) => sourceAt(text, message.start, ...names)
      const sent = await this.#exchange.bound(message, source, plain?.parts ?? 0)
      if (isOdd || sent !== message.body) changed.set(message.body, sent)
    }
    if (changed.size === 0 || !this.#exchange.acts) return line
    const made = (body: unknown) => changed.get(body) ?? body
    return lineOf(text, value, Array.isArray(value) ? value.map(made) : made(value))
  }

  /** Answers a call of the tool that reads saved outputs. */
  async read(call: LineMessage): Promise<Buffer> {
    return answer(call.id ?? 'null', await this.#exchange.read(call))
  }

  /** Takes a line that cannot be read. It passes if nothing in it can be over the limits, or no
   *  client reads it as an answer to a call. Otherwise each call that it may answer gets an error:
   *  those with its ids, or all. */
  #unread(line: Buffer | Overlong, { text, messages }: LineMessages): Buffer[] {
    const isHeld = Buffer.isBuffer(line)
    const said = isHeld
      ? messages.length === 0 && text[0] === '['
        ? `a batch of more than ${MOST} messages, ${line.length} bytes, was dropped; its server should send fewer`
        : `a message of ${line.length} bytes that is not JSON was dropped; its server should write JSON`
      : `a message of ${line.bytes} bytes is over ${LONGEST} and was dropped; ask for less`
    const answers = messages.filter((message) => !isRequest(message))
    const { open } = this.#exchange
    const taken = answers.map(({ id }) => ({ id: open.find(id) ?? id, asked: open.take(id) }))
    const areOthers = taken.every(({ asked }) => asked !== undefined && 'other' in asked)
    const isHarmless = !mayBeMessage(text) || (messages.length > 0 && areOthers)
    if (isHeld && (isHarmless || !this.#exchange.acts || this.#exchange.surelyFits(text))) return [line]
    const isUnclear = messages.length === 0 || taken.some(({ id }) => id === undefined)
    const calls = isUnclear ? open.entries().filter(([, asked]) => 'call' in asked) : []
    for (const [id] of calls) open.take(id)
    const ids = [...new Set([...taken.flatMap(({ id }) => id ?? []), ...calls.map(([id]) => id)])]
    const named = ids.length > NAMED ? `${ids.slice(0, NAMED).join(', ')} and more` : ids.join(', ')
    this.#tell([said, ids.length > 0 && `answered with an error: ${named}`].filter(Boolean).join('; '))
    const error = { code: INTERNAL, message: said }
    return ids.map((id) => answer(id, { error }))
  }
}

/** Writes a line with a changed value. Unchanged parts keep their spelling. */
function lineOf(text: string, was: unknown, is: unknown): Buffer {
  return Buffer.from(`${respelled(text, skipped(text, 0), was, is)}\n`)
}

/** Writes an answer of the proxy itself. `id`: JSON, as the client spelled it. */
function answer(id: string, outcome: object): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},${JSON.stringify(outcome).slice(1)}\n`)
}
