import type { SpillStore, WrapPolicy } from 'spillway'
import { spillTool, wrapTool } from '../../index.js'
import { digest, record } from '../../lib/stats/record.js'
import type { Overlong } from './lines.js'
import { idOf, isObject, lineOf, type Message, messagesOf } from './message.js'

/** Bytes of a message that is held. */
export const LONGEST = 64 * 1024 * 1024

/** A request whose answer is looked at. */
type Asked =
  | { readonly list: true; readonly isFirst: boolean }
  | { readonly tool: string; readonly args: unknown }

/** Stands between a client and a server: takes their lines, and returns those that are sent on. */
export class Relay {
  readonly #policy: WrapPolicy
  readonly #tell: (text: string) => void
  /** Requests without an answer, by id. 1 and "1" are two ids. */
  readonly #asked = new Map<string, Asked>()
  readonly #counts: boolean
  readonly #session = digest(process.pid, Date.now())
  readonly #tools = new Map<string, { hasSchema: boolean }>()
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
    this.#policy = store ? { ...policy, spill: store } : policy
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

  async #clamped(
    result: Record<string, unknown>,
    tool: string,
    args: unknown,
  ): Promise<Record<string, unknown>> {
    // A client checks structured content against the schema of the tool, and refuses a result without it.
    const needsBoth = this.#policy.structured === 'text' && this.#tools.get(tool)?.hasSchema
    const policy = { ...this.#policy, ...(needsBoth && { structured: 'both' as const }) }
    const sent = await wrapTool({ name: tool, execute: async (_args: unknown) => result }, policy).execute(
      args,
    )
    this.#count(tool, args, charsOf(result), charsOf(sent), sent !== result && { cut: true })
    const left = sent['structuredContent']
    const bytes = left === undefined ? 0 : Buffer.byteLength(JSON.stringify(left))
    if (bytes > (policy.maxBytes ?? 51_200))
      this.#tell(
        `${JSON.stringify(tool)}: structured content of ${bytes} bytes is over the limit and was left as it is`,
      )
    return sent
  }

  /** Notes the tools of a list, and adds ours to its last page. */
  #listed(result: Record<string, unknown>, isFirst: boolean): Record<string, unknown> {
    const { tools, nextCursor } = result
    if (!Array.isArray(tools)) return result
    if (isFirst) this.#tools.clear()
    for (const { name, outputSchema } of tools.filter(isObject))
      this.#tools.set(String(name), { hasSchema: outputSchema !== undefined })
    if (!this.#reader || nextCursor !== undefined) return result
    const { name, description, parameters } = this.#reader
    let own: string = name
    for (let nth = 2; this.#tools.has(own); nth++) own = `${name}_${nth}`
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
