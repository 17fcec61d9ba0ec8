import type { Policy, SpillStore, WrapPolicy } from 'spillway'
import { clampResult, definePolicy, spillTool, wrapTool } from '../../index.js'
import { digest, record } from '../../lib/stats/record.js'
import { quoted } from '../escape.js'
import type { Overlong } from './lines.js'
import { idOf, isObject, lineOf, type Message, messagesOf } from './message.js'
import { beside, cutStructured, holding, isSchema, noticeOf, savedIn, spelled } from './structured.js'

/** Bytes of a message that is held. */
export const LONGEST = 64 * 1024 * 1024

const UNLIMITED = { maxBytes: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY }

/** A request whose answer is looked at. */
type Asked =
  | { readonly list: true; readonly isFirst: boolean }
  | { readonly tool: string; readonly args: unknown }

/** A result as a client gets it. */
type Answer = Record<string, unknown>

/** Stands between a client and a server: takes their lines, and returns those that are sent on. */
export class Relay {
  readonly #policy: Policy
  readonly #store: SpillStore | undefined
  readonly #tell: (text: string) => void
  /** Requests without an answer, by id. 1 and "1" are two ids. */
  readonly #asked = new Map<string, Asked>()
  readonly #counts: boolean
  readonly #session = digest(process.pid, Date.now())
  /** Output schemas of the tools that were listed, undefined for those without one. */
  readonly #schemas = new Map<string, unknown>()
  readonly #reader: ReturnType<typeof spillTool> | undefined
  /** Name of the tool that reads saved outputs, once the client was told of it. */
  #offered: string | undefined

  constructor(
    policy: WrapPolicy,
    store: SpillStore | undefined,
    tell: (text: string) => void,
    counts: boolean,
  ) {
    this.#counts = counts
    this.#policy = definePolicy(policy)
    this.#store = store
    this.#reader = store && spillTool(store)
    this.#tell = tell
  }

  /** Takes a line of the client. Returns what the server gets, and calls of our own tool, which it does not get. */
  fromClient(line: Buffer): { line: Buffer | undefined; own: Message[] } {
    const messages = messagesOf(line)
    const own = messages.filter((message) => this.#isOwn(message))
    const others = own.length === 0 ? messages : messages.filter((message) => !own.includes(message))
    for (const message of others) this.#note(message)
    if (own.length === 0) return { line, own }
    return { line: others.length === 0 ? undefined : lineOf(line, others), own }
  }

  /** Takes a line of the server, and returns what the client gets: the same line unless a result in it changes. */
  async fromServer(line: Buffer): Promise<Buffer> {
    if (this.#asked.size === 0) return line
    const messages = messagesOf(line)
    const sent: Message[] = []
    for (const message of messages) sent.push(await this.#answered(message))
    return messages.every((message, at) => message === sent[at]) ? line : lineOf(line, sent)
  }

  /** Returns the answer to a call whose result is too long to be held. */
  tooLong(line: Overlong): Buffer | undefined {
    const id = idOf(line)
    const key = JSON.stringify(id)
    const isAsked = id !== undefined && this.#asked.delete(key)
    const said = `a message of ${line.bytes} bytes is over ${LONGEST} and was dropped`
    this.#tell(said)
    return isAsked ? answer(id, `[${said}; ask for less]`, true) : undefined
  }

  /** Answers a call of the tool that reads saved outputs. */
  async read({ id, params }: Message): Promise<Buffer> {
    const input = isObject(params) ? params['arguments'] : undefined
    const text = (await this.#reader?.execute(input)) ?? ''
    this.#count('read_output', input, text.length, text.length, { back: true })
    return answer(id, text)
  }

  #count(tool: string, args: unknown, shown: number, sent: number, more: object | false): void {
    const call = digest(this.#session, tool, args)
    if (this.#counts) record({ door: 'mcp', session: this.#session, tool, call, shown, sent, ...more })
  }

  #isOwn({ id, method, params }: Message): boolean {
    if (this.#offered === undefined || id === undefined || method !== 'tools/call') return false
    return isObject(params) && params['name'] === this.#offered
  }

  #note({ id, method, params }: Message): void {
    const { name, arguments: args, cursor, requestId } = isObject(params) ? params : {}
    const key = JSON.stringify(id) as string | undefined
    if (method === 'notifications/cancelled') this.#asked.delete(JSON.stringify(requestId))
    if (key === undefined) return
    if (method === 'tools/call') this.#asked.set(key, { tool: String(name), args })
    if (method === 'tools/list') this.#asked.set(key, { list: true, isFirst: cursor === undefined })
  }

  async #answered(message: Message): Promise<Message> {
    const { id, method, result } = message
    const key = JSON.stringify(id)
    const asked = method === undefined ? this.#asked.get(key) : undefined
    if (!asked) return message
    this.#asked.delete(key)
    if (!isObject(result)) return message
    const sent =
      'list' in asked
        ? this.#listed(result, asked.isFirst)
        : await this.#clamped(result, asked.tool, asked.args)
    return sent === result ? message : { ...message, result: sent }
  }

  async #clamped(result: Answer, tool: string, args: unknown): Promise<Answer> {
    // A client checks structured content against the schema of the tool, and refuses a result without it.
    const { structured = 'both', redact = false } = this.#policy
    const kept = structured === 'text' && this.#schemas.get(tool) !== undefined ? 'both' : structured
    const once = clampResult(result, { ...UNLIMITED, structured: kept, redact })
    const sent = (await this.#reshaped(once, tool, args)) ?? (await this.#wrapped(once, {}, tool, args))
    this.#count(tool, args, charsOf(result), charsOf(sent), sent !== result && { cut: true })
    return sent
  }

  #wrapped(result: Answer, policy: WrapPolicy, tool: string, args: unknown): Promise<Answer> {
    const own = { ...this.#policy, ...(this.#store && { spill: this.#store }), ...policy }
    const execute = async (_args: unknown) => result
    return wrapTool({ name: tool, execute }, { ...own, structured: 'both' }).execute(args)
  }

  /** Cuts a result whose structured content is over the limits, and tells in a text what of it is missing. Returns
   *  undefined if that content fits, or nothing of it that fits would pass the client's check. */
  async #reshaped(result: Answer, tool: string, args: unknown): Promise<Answer | undefined> {
    const { structuredContent, content } = result
    if (structuredContent === undefined) return undefined
    const schema = this.#schemas.get(tool)
    const isRead = isSchema(schema)
    const cut = cutStructured(structuredContent, this.#policy, isRead ? schema : undefined, args)
    if (!cut.truncated) return undefined
    const leave = (why: string) => {
      const bytes = `structured content of ${cut.total.bytes} bytes is over the limit`
      this.#tell(`${quoted(tool)}: ${bytes} and was left as it is: ${why}`)
      return undefined
    }
    if (!this.#schemas.has(tool)) return leave('the client has not listed the tool')
    if (schema !== undefined && !(isRead && cut.validates))
      return leave('less of it would not match its schema')
    const text = spelled(structuredContent, content)
    const saved = this.#store && (await savedIn(this.#store, text, tool))
    const notice = this.#policy.notice === false ? '' : noticeOf(cut, saved)
    const limits = beside(notice, this.#policy)
    if (!limits) return leave('the limits leave no room for a notice')
    const spill = this.#store && saved?.record && { spill: holding(this.#store, text, saved.record) }
    const shaped = { ...result, structuredContent: JSON.parse(cut.text) as unknown }
    const sent = await this.#wrapped(shaped, { ...limits, ...spill }, tool, args)
    const blocks = Array.isArray(sent['content']) ? sent['content'] : []
    return notice === '' ? sent : { ...sent, content: [...blocks, { type: 'text', text: notice }] }
  }

  /** Notes the tools of a list, and adds ours to its last page. */
  #listed(result: Record<string, unknown>, isFirst: boolean): Record<string, unknown> {
    const { tools, nextCursor } = result
    if (!Array.isArray(tools)) return result
    if (isFirst) this.#schemas.clear()
    for (const { name, outputSchema } of tools.filter(isObject)) this.#schemas.set(String(name), outputSchema)
    if (!this.#reader || nextCursor !== undefined) return result
    const { name, description, parameters } = this.#reader
    let own: string = name
    for (let nth = 2; this.#schemas.has(own); nth++) own = `${name}_${nth}`
    this.#offered = own
    const called = own === name ? '' : ` Notices call it ${name}.`
    return {
      ...result,
      tools: [...tools, { name: own, description: description + called, inputSchema: parameters }],
    }
  }
}

/** Returns the chars of the texts and of the structured content that a client gets. */
function charsOf({ content, structuredContent }: Record<string, unknown>): number {
  const texts = Array.isArray(content) ? content.filter(isObject) : []
  const structured = structuredContent === undefined ? '' : JSON.stringify(structuredContent)
  return texts.reduce(
    (sum, { text }) => sum + (typeof text === 'string' ? text.length : 0),
    structured.length,
  )
}

function answer(id: unknown, text: string, isError = false): Buffer {
  const result = { content: [{ type: 'text', text }], ...(isError && { isError }) }
  return Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}
