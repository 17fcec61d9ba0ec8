import { partsIn } from './answer.js'
import type { Exchange } from './exchange.js'
import { idText, isObject, type Members } from './message.js'

/** Takes a message, and what a transport says of it. */
export type Receive = (message: unknown, ...rest: unknown[]) => void

/** The members of a transport that are replaced. */
export interface Transport {
  send(message: unknown, ...rest: unknown[]): Promise<void>
  onmessage?: Receive | undefined
}

/** Id of our own requests for the tools of a server, before their number. */
const OURS = 'spillway/tools/'

/** The messages of a connection, in both directions. */
export class Wire {
  /** Takes the messages of the client. */
  receive: Receive | undefined
  readonly #transport: Transport
  readonly #exchange: Exchange
  /** Settles once all messages before are sent: messages keep their order. */
  #sent: Promise<unknown> = Promise.resolve()
  /** Settles once all messages before are taken; undefined if none waits. */
  #taken: Promise<void> | undefined
  /** Requests of our own, by their ids. */
  readonly #asked = new Map<unknown, (answer: Members) => void>()
  /** Number of our own requests. */
  #count = 0

  constructor(transport: Transport, exchange: Exchange) {
    this.#transport = transport
    this.#exchange = exchange
    this.receive = transport.onmessage
  }

  readonly send = async (message: unknown, ...rest: unknown[]): Promise<void> => {
    const ours = isObject(message) && !('method' in message) && this.#asked.get(message['id'])
    if (ours) return ours(message)
    const [before, bounding] = [this.#sent, this.#bounded(message)]
    const sending = before.then(async () => this.#transport.send(await bounding, ...rest))
    // A send that fails does not hold up the next one.
    this.#sent = sending.catch(() => {})
    return sending
  }

  /** Takes a message of the client. A server that answers each request with a new connection has
   *  not seen its client list the tools, whose names and schemas a call needs. */
  readonly take = (message: unknown, ...rest: unknown[]): void => {
    const isCall = isObject(message) && message['method'] === 'tools/call'
    if (this.#taken === undefined && (!isCall || this.#exchange.hasListed || this.#count > 0))
      this.#pass(message, rest)
    else {
      const taken = (this.#taken ?? this.#list(rest)).then(() => this.#pass(message, rest))
      this.#taken = taken
      void taken.then(() => {
        if (this.#taken === taken) this.#taken = undefined
      })
    }
  }

  #pass(message: unknown, rest: readonly unknown[]): void {
    const own = isObject(message) ? { id: idText(message['id']), body: message } : undefined
    if (own && this.#exchange.isOwn(own)) {
      const answer = async () =>
        this.send({ jsonrpc: '2.0', id: own.body['id'], ...(await this.#exchange.read(own)) })
      // A client that has left needs no answer.
      void answer().catch(() => {})
      return
    }
    if (own) this.#exchange.note(own)
    this.receive?.(message, ...rest)
  }

  /** Asks the server for its tools. Never rejects. */
  async #list(rest: readonly unknown[]): Promise<void> {
    let cursor: unknown
    do {
      const isFirst = cursor === undefined
      const result = this.#exchange.toolsIn(await this.#ask(isFirst ? {} : { cursor }, rest))
      if (!result) return
      this.#exchange.list(result, isFirst)
      cursor = result['nextCursor'] ?? undefined
    } while (cursor !== undefined)
  }

  #ask(params: Members, rest: readonly unknown[]): Promise<Members> {
    const id = `${OURS}${++this.#count}`
    return new Promise((resolve) => {
      this.#asked.set(id, (answer) => {
        this.#asked.delete(id)
        resolve(answer)
      })
      this.receive?.({ jsonrpc: '2.0', id, method: 'tools/list', params }, ...rest)
    })
  }

  /** Never rejects. */
  async #bounded(message: unknown): Promise<unknown> {
    if (!isObject(message)) return message
    const id = idText(message['id'])
    try {
      const source = (...names: readonly string[]) =>
        JSON.stringify(names.reduce(memberOf, message as unknown)) ?? 'null'
      const sent = await this.#exchange.bound({ id, body: message }, source, partsIn(message))
      // Content that was cut holds JSON that spells numbers as they came; clients take objects.
      return sent === message ? message : JSON.parse(JSON.stringify(sent))
    } catch (error) {
      return { jsonrpc: '2.0', id: message['id'], error: this.#exchange.errorOf(id ?? 'null', error) }
    }
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}
