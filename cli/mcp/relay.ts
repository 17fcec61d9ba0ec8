import type { SpillStore, WrapPolicy } from 'spillway'
import { definePolicy, spillTool } from '../../lib/index.js'
import { digest, record } from '../../lib/stats/record.js'
import { INTERNAL, nests } from './answer.js'
import { LONGEST, type Overlong } from './lines.js'
import {
  idText,
  isObject,
  isRequest,
  type Members,
  type Message,
  type Messages,
  MOST,
  mayBeMessage,
  messagesOf,
} from './message.js'
import { respelled, skipped, sourceAt } from './parts.js'
import { plainOf } from './plain.js'
import { Requests } from './requests.js'
import { type McpCall, Results } from './results.js'
import { Schemas } from './schemas.js'

/** Maximum ids that stderr names. */
const NAMED = 10
/** Maximum tasks with a known tool. */
const TASKS = 1_000
/** Levels of arguments that are read for the question. */
const LEVELS = 64
const UNKNOWN: McpCall = { tool: '', args: undefined }

/** A request whose answer is awaited. Answers to other methods pass unchanged. */
type PendingRequest =
  | { readonly call: McpCall }
  | { readonly list: true; readonly isFirst: boolean }
  | { readonly other: true }

/** Relays between a client and a server: takes their lines, and returns the lines to send. */
export class Relay {
  readonly #tell: (text: string) => void
  readonly #asked = new Requests<PendingRequest>()
  readonly #counts: boolean
  readonly #session = digest(process.pid, Date.now())
  readonly #schemas = new Schemas()
  readonly #results: Results
  /** Calls by the tasks that they became. */
  readonly #tasks = new Map<unknown, McpCall>()
  readonly #reader: ReturnType<typeof spillTool> | undefined
  /** Name of the tool that reads saved outputs, once the client has it in a list. */
  #offered: string | undefined

  constructor(
    policy: WrapPolicy,
    store: SpillStore | undefined,
    tell: (text: string) => void,
    counts: boolean,
  ) {
    this.#counts = counts
    this.#reader = store && spillTool(store)
    this.#tell = tell
    const count = ({ tool, args }: McpCall, shown: number, sent: number, isCut: boolean) =>
      this.#count(tool, args, shown, sent, isCut && { cut: true })
    this.#results = new Results(definePolicy(policy), store, this.#schemas, tell, count)
  }

  /** Takes a line of the client. Returns the line for the server, and calls of the proxy's own
   *  tool, which the server does not get. Never throws: an answer to an unknown call is bounded
   *  too. */
  fromClient(line: Buffer): { line: Buffer | undefined; own: Message[] } {
    try {
      return this.#taken(line)
    } catch (error) {
      this.#tell(
        `a message of the client could not be read: ${error instanceof Error ? error.message : error}`,
      )
      return { line, own: [] }
    }
  }

  #taken(line: Buffer): { line: Buffer | undefined; own: Message[] } {
    const { text, value, messages } = messagesOf(line)
    const own = value === undefined ? [] : messages.filter((message) => this.#isOwn(message))
    for (const message of messages) if (!own.includes(message)) this.#note(message)
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
      const answers = read.messages.filter((message) => !isRequest(message))
      return answers.map(({ id = 'null' }) => this.#failed(id, error))
    }
  }

  async #bounded(line: Buffer, read: Messages): Promise<Buffer> {
    const plain = this.#results.surelyFits(read.text) ? undefined : plainOf(read.text)
    const isOdd = plain?.isOdd === true
    const { text, value, messages } = isOdd ? messagesOf(Buffer.from(plain.text)) : read
    const changed = new Map<unknown, Members>()
    for (const message of messages) {
      const sent = await this.#answered(message, text, plain?.parts ?? 0)
      if (sent && (isOdd || sent !== message.body)) changed.set(message.body, sent)
    }
    if (changed.size === 0) return line
    const made = (body: unknown) => changed.get(body) ?? body
    return lineOf(text, value, Array.isArray(value) ? value.map(made) : made(value))
  }

  /** Answers a call of the tool that reads saved outputs. */
  async read({ id = 'null', body }: Message): Promise<Buffer> {
    const { params } = body
    const input = isObject(params) ? params['arguments'] : undefined
    try {
      const text = (await this.#reader?.execute(input)) ?? ''
      this.#count('read_output', input, text.length, text.length, { back: true })
      return answer(id, { result: { content: [{ type: 'text', text }] } })
    } catch (error) {
      return this.#failed(id, error)
    }
  }

  /** A failure to record figures never affects a call. */
  #count(tool: string, args: unknown, shown: number, sent: number, more: object | false): void {
    if (!this.#counts) return
    const call = digest(this.#session, tool, nests(args, LEVELS) ? undefined : args)
    record({ door: 'mcp', session: this.#session, tool, call, shown, sent, ...more })
  }

  #isOwn({ id, body: { method, params } }: Message): boolean {
    if (this.#offered === undefined || id === undefined || method !== 'tools/call') return false
    return isObject(params) && params['name'] === this.#offered
  }

  /** Records a request. A line that is not JSON may hold a call too, which its server may read. */
  #note({ id, body: { method, params } }: Message): void {
    const { name, arguments: args, cursor, taskId, requestId } = isObject(params) ? params : {}
    if (method === 'notifications/cancelled') this.#asked.take(idText(requestId))
    if (id === undefined || typeof method !== 'string') return
    const tool = typeof name === 'string' ? name : ''
    const call = { tool, args: nests(args, LEVELS) ? undefined : args }
    if (method === 'tools/call') this.#asked.add(id, { call })
    else if (method === 'tasks/result') this.#asked.add(id, { call: this.#tasks.get(taskId) ?? UNKNOWN })
    else if (method === 'tools/list')
      this.#asked.add(id, { list: true, isFirst: (cursor ?? undefined) === undefined })
    else this.#asked.add(id, { other: true })
  }

  /** Returns the answer for the client, or undefined for a message that passes unchanged. An answer
   *  without an open request is bounded too, since the client may match it to a call. */
  async #answered(message: Message, text: string, parts: number): Promise<Members | undefined> {
    const { body, id, start } = message
    if (isRequest(message)) return undefined
    const asked = this.#asked.take(id) ?? { call: UNKNOWN }
    const { result } = body
    if ('other' in asked) return undefined
    try {
      if ('list' in asked) return isObject(result) ? this.#listed(body, result, asked.isFirst) : body
      this.#noteTask(result, asked.call)
      const source = (...names: readonly string[]) => sourceAt(text, start, ...names)
      return await this.#results.bound(body, asked.call, source, parts)
    } catch (error) {
      return { jsonrpc: '2.0', id: body['id'], error: this.#errorOf(id ?? 'null', error) }
    }
  }

  #noteTask(result: unknown, call: McpCall): void {
    const task = isObject(result) ? result['task'] : undefined
    const id = isObject(task) ? task['taskId'] : undefined
    if (typeof id !== 'string') return
    this.#tasks.set(id, call)
    for (const oldest of this.#tasks.keys()) if (this.#tasks.size > TASKS) this.#tasks.delete(oldest)
  }

  /** Takes a line that cannot be read. It passes if nothing in it can be over the limits, or no
   *  client reads it as an answer to a call. Otherwise each call that it may answer gets an error:
   *  those with its ids, or all. */
  #unread(line: Buffer | Overlong, { text, messages }: Messages): Buffer[] {
    const isHeld = Buffer.isBuffer(line)
    const said = isHeld
      ? messages.length === 0 && text[0] === '['
        ? `a batch of more than ${MOST} messages, ${line.length} bytes, was dropped; its server should send fewer`
        : `a message of ${line.length} bytes that is not JSON was dropped; its server should write JSON`
      : `a message of ${line.bytes} bytes is over ${LONGEST} and was dropped; ask for less`
    const answers = messages.filter((message) => !isRequest(message))
    const taken = answers.map(({ id }) => ({ id: this.#asked.find(id) ?? id, asked: this.#asked.take(id) }))
    const areOthers = taken.every(({ asked }) => asked !== undefined && 'other' in asked)
    const isHarmless = !mayBeMessage(text) || (messages.length > 0 && areOthers)
    if (isHeld && (isHarmless || this.#results.surelyFits(text))) return [line]
    const isUnclear = messages.length === 0 || taken.some(({ id }) => id === undefined)
    const open = isUnclear ? this.#asked.entries().filter(([, asked]) => 'call' in asked) : []
    for (const [id] of open) this.#asked.take(id)
    const ids = [...new Set([...taken.flatMap(({ id }) => id ?? []), ...open.map(([id]) => id)])]
    const named = ids.length > NAMED ? `${ids.slice(0, NAMED).join(', ')} and more` : ids.join(', ')
    this.#tell([said, ids.length > 0 && `answered with an error: ${named}`].filter(Boolean).join('; '))
    const error = { code: INTERNAL, message: said }
    return ids.map((id) => answer(id, { error }))
  }

  #failed(id: string, error: unknown): Buffer {
    return answer(id, { error: this.#errorOf(id, error) })
  }

  #errorOf(id: string, error: unknown): { code: number; message: string } {
    const message = `the answer to call ${id} could not be bounded: ${error instanceof Error ? error.message : error}`
    this.#tell(message)
    return { code: INTERNAL, message: `spillway mcp: ${message}` }
  }

  /** Records the tools of a list, and adds read_output to its last page. */
  #listed(body: Members, result: Members, isFirst: boolean): Members {
    const { tools, nextCursor } = result
    if (!Array.isArray(tools)) return body
    const isLast = (nextCursor ?? undefined) === undefined
    this.#schemas.add(tools, { isFirst, isLast })
    if (!this.#reader || !isLast) return body
    const { name, description, parameters } = this.#reader
    let own: string = name
    for (let nth = 2; this.#schemas.has(own); nth++) own = `${name}_${nth}`
    this.#offered = own
    const called = own === name ? '' : ` Notices call it ${name}.`
    const offer = { name: own, description: description + called, inputSchema: parameters }
    return { ...body, result: { ...result, tools: [...tools, offer] } }
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
