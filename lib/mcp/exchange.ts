// The exchange between an MCP client and its server, message by message: requests are noted, so
// that each answer is bounded as the method of its request asks, and the tool that reads saved
// outputs is offered beside the tools of the server. `spillway mcp` relays lines through it, and
// `wrapServer` the messages of a transport.

import type { SpillStore, WrapPolicy } from 'spillway'
import { clampText, definePolicy, spillTool } from '../index.js'
import { doorMode, type Mode } from '../mode.js'
import { isList } from '../untrusted.js'
import { INTERNAL, nests, type Source } from './answer.js'
import { boundAsResult, isDressed } from './dressed.js'
import { idText, isObject, isRequest, type Members, type Message } from './message.js'
import { Requests } from './requests.js'
import { type McpCall, Results } from './results.js'
import { Schemas } from './schemas.js'
import type { Watcher } from './watcher.js'

/** Maximum tasks with a known tool. */
const TASKS = 1_000
/** JSON-RPC's code of a method that is not there. */
const NO_METHOD = -32601
/** Levels of arguments that are read for the question. */
const LEVELS = 64
const UNKNOWN: McpCall = { tool: '', args: undefined }

/** A request whose answer is awaited. Answers to other methods pass unchanged. */
type PendingRequest =
  | { readonly call: McpCall }
  | { readonly dressed: string; readonly call: McpCall }
  | { readonly list: true; readonly isFirst: boolean }
  | { readonly other: true }

export class Exchange {
  /** Requests of the client without an answer. */
  readonly open = new Requests<PendingRequest>()
  readonly #policy: WrapPolicy
  readonly #mode: Mode
  readonly #watcher: Watcher
  readonly #schemas = new Schemas()
  readonly #results: Results
  /** Calls by the tasks that they became. */
  readonly #tasks = new Map<unknown, McpCall>()
  readonly #reader: ReturnType<typeof spillTool> | undefined
  /** Name of the tool that reads saved outputs, once the client has it in a list. */
  #offered: string | undefined

  constructor(policy: WrapPolicy, store: SpillStore | undefined, watcher: Watcher) {
    const checked = definePolicy(policy)
    this.#policy = checked
    this.#mode = doorMode(checked.observe)
    const own = this.acts ? store : undefined
    this.#watcher = this.acts ? watcher : observing(watcher)
    this.#reader = own && spillTool(own)
    this.#results = new Results(checked, own, this.#schemas, this.#watcher)
  }

  /** True unless each message passes as it came. */
  get acts(): boolean {
    return this.#mode === 'on'
  }

  /** Returns true if nothing in a JSON text can be over the limits, or be a secret to redact. */
  surelyFits(json: string): boolean {
    return this.#results.surelyFits(json)
  }

  /** Returns true for a call of the tool that reads saved outputs, which the server does not
   *  get. */
  isOwn({ id, body: { method, params } }: Message): boolean {
    if (this.#offered === undefined || id === undefined || method !== 'tools/call') return false
    return isObject(params) && params['name'] === this.#offered
  }

  /** Notes a message of the client. */
  note({ id, body: { method, params } }: Message): void {
    const { name, arguments: args, cursor, taskId, requestId } = isObject(params) ? params : {}
    if (method === 'notifications/cancelled') this.open.take(idText(requestId))
    if (id === undefined || typeof method !== 'string') return
    if (method === 'tools/call') this.open.add(id, { call: callOf(name, args) })
    else if (method === 'tasks/result') this.open.add(id, { call: this.#tasks.get(taskId) ?? UNKNOWN })
    else if (isDressed(method)) this.open.add(id, { dressed: method, call: callOf(method, params) })
    else if (method === 'tools/list')
      this.open.add(id, { list: true, isFirst: (cursor ?? undefined) === undefined })
    else this.open.add(id, { other: true })
  }

  /** Returns a message of the server for the client: the same object unless something in it
   *  changes. An answer without an open request is bounded too, since the client may match it to a call.
   *  Never rejects: an answer that cannot be bounded is replaced by an error. `parts`: the members
   *  and elements of the message. */
  async bound(message: Message, source: Source, parts: number): Promise<Members> {
    const { body, id } = message
    const asked = isRequest(message) ? undefined : (this.open.take(id) ?? { call: UNKNOWN })
    const made = this.#mode === 'off' ? body : await this.#made(message, asked, source, parts)
    return this.acts ? made : body
  }

  async #made(
    { body, id }: Message,
    asked: PendingRequest | undefined,
    source: Source,
    parts: number,
  ): Promise<Members> {
    try {
      if (!asked) return this.#progress(body)
      if ('other' in asked) return body
      if ('list' in asked) return this.#listed(body, asked.isFirst)
      const bound = (body: Members) => this.#results.bound(body, asked.call, source, parts)
      if ('dressed' in asked) return await boundAsResult(asked.dressed, body, bound)
      this.#noteTask(body['result'], asked.call)
      return await bound(body)
    } catch (error) {
      return { jsonrpc: '2.0', id: body['id'], error: this.errorOf(id ?? 'null', error) }
    }
  }

  /** Runs a call of the tool that reads saved outputs. Returns the outcome of its answer. */
  async read({ id = 'null', body: { params } }: Message): Promise<Members> {
    const input = isObject(params) ? params['arguments'] : undefined
    try {
      const text = (await this.#reader?.execute(input)) ?? ''
      this.#watcher.count(callOf('read_output', input), text.length, text.length, { back: true })
      return { result: { content: [{ type: 'text', text }] } }
    } catch (error) {
      return { error: this.errorOf(id, error) }
    }
  }

  /** Returns the error of a call whose answer is lost. */
  errorOf(id: string, error: unknown): { code: number; message: string } {
    const message = `the answer to call ${id} could not be bounded: ${error instanceof Error ? error.message : error}`
    this.#watcher.tell(message)
    return { code: INTERNAL, message: `spillway mcp: ${message}` }
  }

  /** Bounds the words of a progress notification, which hosts show. */
  #progress(body: Members): Members {
    const { method, params } = body
    const said = method === 'notifications/progress' && isObject(params) ? params['message'] : undefined
    if (typeof said !== 'string') return body
    const message = clampText(said, this.#policy)
    return message === said ? body : { ...body, params: { ...(params as Members), message } }
  }

  #noteTask(result: unknown, call: McpCall): void {
    const task = isObject(result) ? result['task'] : undefined
    const id = isObject(task) ? task['taskId'] : undefined
    if (typeof id !== 'string') return
    this.#tasks.set(id, call)
    for (const oldest of this.#tasks.keys()) if (this.#tasks.size > TASKS) this.#tasks.delete(oldest)
  }

  #listed(body: Members, isFirst: boolean): Members {
    const tools = this.toolsIn(body)
    if (!tools) return body
    return { jsonrpc: '2.0', id: body['id'], result: this.list(tools, isFirst) }
  }

  /** Returns the result of an answer to `tools/list`. An SDK has no such method before a tool is
   *  registered: the server then has none, and read_output is its only tool. */
  toolsIn({ result, error }: Members): Members | undefined {
    if (isObject(result)) return result
    const isNone = this.#reader && isObject(error) && error['code'] === NO_METHOD
    return isNone ? { tools: [] } : undefined
  }

  /** True once the tools of the server are known. */
  get hasListed(): boolean {
    return this.#mode === 'off' || this.#schemas.isComplete
  }

  /** Records the tools of a page of a list, and adds read_output to the last page. */
  list(result: Members, isFirst: boolean): Members {
    const { tools, nextCursor } = result
    if (!isList(tools)) return result
    const isLast = (nextCursor ?? undefined) === undefined
    this.#schemas.add(tools, { isFirst, isLast })
    if (!this.#reader || !isLast) return result
    const { name, description, parameters } = this.#reader
    let own: string = name
    for (let nth = 2; this.#schemas.has(own); nth++) own = `${name}_${nth}`
    this.#offered = own
    const called = own === name ? '' : ` Notices call it ${name}.`
    const offer = { name: own, description: description + called, inputSchema: parameters }
    return { ...result, tools: [...tools, offer] }
  }
}

/** Returns a watcher of answers that pass as they came. */
function observing({ count }: Watcher): Watcher {
  return {
    tell: () => {},
    count: (call, shown, sent, more) => count(call, shown, sent, { ...more, observed: true }),
  }
}

function callOf(name: unknown, args: unknown): McpCall {
  return { tool: typeof name === 'string' ? name : '', args: nests(args, LEVELS) ? undefined : args }
}
