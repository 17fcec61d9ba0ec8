import { EventEmitter, once } from 'node:events'
import { type IncomingMessage, Agent as PlainAgent, request as plain } from 'node:http'
import { Agent as SafeAgent, request as safe } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { idText, isObject, isRequest } from '../../lib/mcp/message.js'
import { Requests } from '../../lib/mcp/requests.js'
import { bodyOf, eventsOf, flat } from './events.js'
import { ByteBuffer, LONGEST, type Overlong } from './lines.js'
import { type LineMessage, messagesOf } from './message.js'
import { EVENTS, JSON_TYPE, startOf, typeOf, unexpected } from './response.js'

type ServerLine = Buffer | Overlong
type Headers = Readonly<Record<string, string>>
/** Takes a line of the server, and returns the line for the client. */
type Receive = (line: ServerLine) => Promise<readonly Buffer[]>

const REDIRECTS = 5
/** Failed attempts to resume a stream, and milliseconds before the first; the wait doubles each
 *  time. */
const TRIES = 5
const RETRY = 1_000
/** Minimum and maximum milliseconds before resuming a stream, whatever the server requests: a
 *  longer timer would fire at once. */
const SOONEST = 100
const LATEST = 2 ** 31 - 1
/** Milliseconds to wait for a message without an answer before sending later messages. */
const PATIENCE = 1_000
const NEWLINE = Buffer.from('\n')

/** A server behind a URL: a message of the client is a POST, and the response is JSON or a stream
 *  of events. */
export class Remote {
  readonly #url: URL
  readonly #given: Headers
  readonly #receive: Receive
  readonly #ask: typeof plain
  readonly #agent: PlainAgent
  readonly #stop = new AbortController()
  readonly #answers = new EventEmitter()
  readonly #open = new Requests<true>()
  /** Session and version from the answer to `initialize`. */
  #told: Headers = {}

  constructor(url: URL, headers: Headers, receive: Receive) {
    this.#url = url
    const isSafe = url.protocol === 'https:'
    this.#ask = isSafe ? safe : plain
    this.#agent = new (isSafe ? SafeAgent : PlainAgent)({ keepAlive: true })
    this.#given = headers
    this.#receive = receive
  }

  /** Aborted once the session is over. */
  get over(): AbortSignal {
    return this.#stop.signal
  }

  /** Sends a line of the client. A request may take long, and a later message may cancel it, so
   *  only an answer with the session id is awaited. A message after one without an answer waits, so
   *  that it does not overtake it. */
  async send(line: Buffer): Promise<void> {
    const { messages } = messagesOf(line)
    const has = (name: string) => messages.some(({ body }) => body['method'] === name)
    for (const { method, params } of messages.map(({ body }) => body))
      if (method === 'notifications/cancelled' && isObject(params))
        this.#answered(idText(params['requestId']))
    const asked = messages.filter((message) => message.id !== undefined && isRequest(message))
    for (const { id } of asked) if (id !== undefined) this.#open.add(id, true)
    const sent = this.#post(line, asked)
    if (has('initialize'))
      await Promise.race([
        sent,
        this.#until(() => !asked.some(({ id }) => id !== undefined && this.#open.has(id))),
      ])
    else if (asked.length === 0) await Promise.race([sent, sleep(PATIENCE, undefined, { ref: false })])
    if (has('notifications/initialized')) void this.#listen().catch(() => {})
  }

  /** Waits for open answers, and ends the session. */
  async close(): Promise<void> {
    await this.#until(() => this.#open.size === 0)
    this.stop(undefined)
    if (!this.#told['mcp-session-id']) return
    const ended = this.#request('DELETE', {}).catch(() => {})
    await Promise.race([ended, sleep(RETRY, undefined, { ref: false })])
    this.#agent.destroy()
  }

  /** Aborts all requests. */
  stop(reason: unknown): void {
    this.#stop.abort(reason)
    this.#agent.destroy()
    this.#answers.emit('answer')
  }

  /** Waits for answers, or for the end of the session. */
  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone() && !this.over.aborted) await once(this.#answers, 'answer')
  }

  #answered(id: string | undefined): void {
    this.#open.take(id)
    this.#answers.emit('answer')
  }

  async #post(line: Buffer, asked: readonly LineMessage[]): Promise<void> {
    const isOpen = ({ id }: LineMessage) => id !== undefined && this.#open.has(id)
    try {
      const accept = `application/json, ${EVENTS}`
      const response = await this.#request('POST', { accept, 'content-type': 'application/json' }, line)
      const session = response.headers['mcp-session-id']
      if (typeof session === 'string') this.#told = { ...this.#told, 'mcp-session-id': session }
      const type = typeOf(response)
      if (!asked.some(isOpen)) response.resume()
      else if (type === EVENTS) await this.#follow(response, () => !asked.some(isOpen))
      else if (JSON_TYPE.test(type)) await this.#whole(response)
      else throw unexpected(response)
      if (asked.some(isOpen)) throw new Error('sent no answer')
    } catch (error) {
      const message = `${this.#url.origin} ${error instanceof Error ? error.message : error}`
      for (const { id } of asked.filter(isOpen))
        await this.#got(
          Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code: -32_000, message })}}`),
        )
    }
  }

  /** Reads messages that the server sends on its own. A server need not offer that. */
  async #listen(): Promise<void> {
    await this.#follow(await this.#events({}))
  }

  /** Requests a stream of events. */
  async #events(headers: Headers): Promise<IncomingMessage> {
    const response = await this.#request('GET', { ...headers, accept: EVENTS })
    if (typeOf(response) !== EVENTS) throw unexpected(response)
    return response
  }

  async #whole(response: IncomingMessage): Promise<void> {
    const body = new ByteBuffer(LONGEST)
    for await (const chunk of bodyOf(response)) body.add(flat(chunk))
    if (body.bytes > 0) await this.#got(body.done())
  }

  /** Reads a stream of events to its end, and resumes it where it breaks. Resuming an answer takes
   *  the id of an event before it. */
  async #follow(stream: IncomingMessage, isDone?: () => boolean): Promise<void> {
    let last: string | undefined
    let wait = RETRY
    for (let next: IncomingMessage | undefined = stream, failed = 0; ; ) {
      try {
        for await (const { data, id, retry } of eventsOf(next ?? [], LONGEST)) {
          last = id ?? last
          wait = retry ?? wait
          if (data) await this.#got(data)
        }
      } catch {
        // Requests the remaining messages of a broken stream, or the next messages of an ended one.
      }
      if (isDone?.()) return
      if ((!last && isDone) || failed === TRIES) throw new Error('ended its stream without an answer')
      const pause = Math.min(Math.max(wait, SOONEST) * 2 ** failed, LATEST)
      await sleep(pause, undefined, { signal: this.over })
      // A header is written as Latin-1, one byte for each char.
      const headers: Headers = last ? { 'last-event-id': Buffer.from(last).toString('latin1') } : {}
      next = await this.#events(headers).catch(() => undefined)
      failed = next ? 0 : failed + 1
    }
  }

  async #got(line: ServerLine): Promise<void> {
    const sent = await this.#receive(Buffer.isBuffer(line) ? Buffer.concat([line, NEWLINE]) : line)
    // The messages for the client show which requests have their answer.
    for (const message of sent.flatMap((row) => messagesOf(row).messages)) {
      const { result } = message.body
      const version = isObject(result) ? result['protocolVersion'] : undefined
      if (!this.#told['mcp-protocol-version'] && typeof version === 'string')
        this.#told = { ...this.#told, 'mcp-protocol-version': version }
      if (!isRequest(message)) this.#answered(message.id)
    }
  }

  /** Sends a request to the server. Rejects unless the server accepts it. Follows redirections to
   *  the same origin only, since headers are meant for that origin. */
  async #request(method: string, headers: Headers, body?: Buffer): Promise<IncomingMessage> {
    let url = this.#url
    for (let nth = 0; ; nth++) {
      // Without that header a server may send any encoding.
      const all = { ...this.#given, ...this.#told, ...headers, 'accept-encoding': 'identity' }
      const asked = this.#ask(url, { method, headers: all, agent: this.#agent })
      asked.end(body)
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      const { statusCode = 0, statusMessage } = response
      // The reader of the response reports a connection that breaks.
      asked.on('error', () => {})
      response.on('error', () => {})
      if (statusCode >= 200 && statusCode < 300) return response
      const { location } = response.headers
      const to =
        [307, 308].includes(statusCode) && location !== undefined ? new URL(location, url) : undefined
      if (to?.origin === url.origin && nth < REDIRECTS) {
        response.resume()
        url = to
        continue
      }
      const told = to ? `to ${to.href}` : await startOf(response)
      const isLost = statusCode === 404 && method === 'POST' && this.#told['mcp-session-id'] !== undefined
      // After the answers: with the session the client's server is gone.
      if (isLost) setImmediate(() => this.stop(new Error('the server has ended the session')))
      throw new Error(`answered ${[statusCode, statusMessage, told].filter(Boolean).join(' ')}`)
    }
  }
}
