import type { Policy, SpillStore, WrapPolicy } from 'spillway'
import { clampJson, wrapTool } from '../index.js'
import { rehearsed } from '../policy.js'
import { isList } from '../untrusted.js'
import {
  charsOf,
  flattened,
  INTERNAL,
  nests,
  repeats,
  restOf,
  type Source,
  textsOf,
  WIDEST,
} from './answer.js'
import { isObject, type Members } from './message.js'
import { Raw } from './raw_json.js'
import { fits, leftBy, limitsOf, surelyFits } from './room.js'
import type { Schemas } from './schemas.js'
import { Structured } from './structured.js'
import type { Watcher } from './watcher.js'

/** A call of a tool. An unknown call has no name. */
export interface McpCall {
  readonly tool: string
  readonly args: unknown
}

/** Bytes that are allowed beside the counted texts, as in lib/dialect/walk.ts. */
const LITTLE = 1_024
/** Levels of an answer that are read. An answer with more becomes a text. */
const DEEPEST = 256

/** Bounds answers: a result or an error of any type, and all members beside it. */
export class Results {
  readonly #policy: Policy
  readonly #store: SpillStore | undefined
  readonly #schemas: Schemas
  readonly #watcher: Watcher

  constructor(policy: Policy, store: SpillStore | undefined, schemas: Schemas, watcher: Watcher) {
    this.#policy = policy
    this.#store = store
    this.#schemas = schemas
    this.#watcher = watcher
  }

  /** Returns true if nothing in a JSON text can be over the limits, or be a secret to redact. */
  surelyFits(json: string): boolean {
    const { redact = false } = this.#policy
    return redact === false && surelyFits(json, this.#limits)
  }

  /** Bounds an answer. Returns the same object if nothing changes. `parts`: its members and
   *  elements. */
  async bound(given: Members, call: McpCall, source: Source, parts: number): Promise<Members> {
    const isOdd = parts > WIDEST || nests(given, DEEPEST)
    if (isOdd && this.surelyFits(source())) return given
    const body = isOdd ? flattened(given, source) : given
    const { result, error, ...others } = body
    const part = error === undefined || error === null ? 'result' : 'error'
    const rest = part === 'error' && result !== undefined ? { ...others, result } : others
    const isLittle = Buffer.byteLength(JSON.stringify(rest)) <= LITTLE
    if (!isLittle) this.#watcher.tell(`what an answer held beside its ${part} was left out`, call)
    const sent =
      part === 'error' ? await this.#error(error, call, source) : await this.#result(result, call, source)
    if (isLittle && sent === body[part]) return body
    return { ...(isLittle ? body : { jsonrpc: '2.0', id: body['id'] }), [part]: sent }
  }

  async #result(result: unknown, call: McpCall, source: Source): Promise<unknown> {
    if (isObject(result)) return this.#object(result, call, source)
    if (typeof result === 'string') return this.#wrapped(result, call)
    if (!isList(result)) return result
    const { content } = await this.#object({ content: result }, call, source)
    return content
  }

  /** Cuts the message of an error as the text of a result, and its data as structured content
   *  without a schema. */
  async #error(error: unknown, call: McpCall, source: Source): Promise<unknown> {
    const { code, message, data } = isObject(error) ? error : { message: error }
    if (this.surelyFits(JSON.stringify(error))) return error
    const text = typeof message === 'string' ? message : JSON.stringify(message ?? null)
    const given = {
      content: [{ type: 'text', text }],
      ...(data !== undefined && { structuredContent: data }),
    }
    const structured = new Structured(data, () => source('error', 'data'))
    const sent = await this.#shown(given, call, structured)
    const texts = textsOf(sent)
    const kept = sent['structuredContent'] === undefined ? {} : { data: sent['structuredContent'] }
    const said = (structured.isSaid ? texts.slice(0, -1) : texts).join('\n')
    return { code: typeof code === 'number' ? code : INTERNAL, message: said, ...kept }
  }

  async #object(given: Members, call: McpCall, source: Source): Promise<Members> {
    const result = this.#withMeta(given)
    const structured = new Structured(given['structuredContent'], () => source('result', 'structuredContent'))
    const { structured: copies = 'both' } = this.#policy
    const schema = this.#schemas.of(call.tool)
    const own = {
      // A client checks structured content against the schema of the tool, and rejects a result
      // without it.
      ...(copies === 'text' && schema && { structured: 'both' as const }),
      ...(schema && { schema }),
    }
    const sent = await this.#withoutRest(await this.#shown(result, call, structured, own), call)
    if (structured.words !== '' && (structured.left === undefined || !structured.isSaid))
      if (this.#policy.notice !== false || structured.left === undefined)
        this.#watcher.tell(structured.words, call)
    const isTwin = repeats(given)
    this.#watcher.count(call, charsOf(given, isTwin), charsOf(sent, isTwin), sent !== given && { cut: true })
    return sent
  }

  /** Cuts the metadata of a result as JSON to limits of its own, since a host does not show it. */
  #withMeta(result: Members): Members {
    const json = JSON.stringify(result['_meta'])
    if (json === undefined || fits(json, this.#limits)) return result
    const { maxBytes, maxChars, maxTokens } = this.#limits
    const { redact = false } = this.#policy
    return {
      ...result,
      _meta: JSON.parse(clampJson(json, { maxBytes, maxChars, maxTokens, redact }) || '{}'),
    }
  }

  /** Clamps the content of a result that a host shows. Data of no dialect becomes one text, which
   *  replaces all of it. */
  async #shown(
    result: Members,
    call: McpCall,
    structured: Structured,
    own: WrapPolicy = {},
  ): Promise<Members> {
    const sent = await this.#wrapped(result, call, own, structured)
    if (!isObject(sent)) {
      const content = [{ type: 'text', text: typeof sent === 'string' ? sent : JSON.stringify(sent) }]
      return { content, ...(result['isError'] === true && { isError: true }) }
    }
    const { left } = structured
    return left === undefined || !('structuredContent' in sent)
      ? sent
      : { ...sent, structuredContent: new Raw(left) }
  }

  /** Clamps a value like a wrapped tool. */
  #wrapped(
    value: unknown,
    { tool, args }: McpCall,
    own: WrapPolicy = {},
    relayed?: Structured,
  ): Promise<unknown> {
    const policy = { ...this.#policy, ...(this.#store && { spill: this.#store }), ...own }
    const execute = async (_args: unknown) => value
    return wrapTool({ name: tool, execute }, rehearsed(policy, relayed)).execute(args)
  }

  /** Converts a result to a text if names, addresses and other data beside its texts are over the
   *  limits. */
  async #withoutRest(result: Members, call: McpCall): Promise<Members> {
    const { structuredContent } = result
    const rest = JSON.stringify(restOf(result))
    const limits = this.#limits
    if (fits(rest, limits, LITTLE)) return result
    const structured =
      structuredContent instanceof Raw ? structuredContent.json : (JSON.stringify(structuredContent) ?? '')
    const words = [...textsOf(result), rest].join('\n')
    const text = await this.#wrapped(words, call, leftBy(structured, limits))
    return {
      content: [{ type: 'text', text }],
      ...(structuredContent !== undefined && { structuredContent }),
      ...(result['isError'] === true && { isError: true }),
    }
  }

  get #limits() {
    return limitsOf(this.#policy)
  }
}
