import type { Policy, SpillStore, WrapPolicy } from 'spillway'
import { clampResult, wrapTool } from '../../index.js'
import { quoted } from '../escape.js'
import {
  charsOf,
  flattened,
  INTERNAL,
  nests,
  repeats,
  restOf,
  type Source,
  textsOf,
  UNLIMITED,
} from './answer.js'
import { isObject, type Members } from './message.js'
import { Raw } from './parts.js'
import { beside, fits, left, leftBy, limitsOf, surelyFits, withoutNotice } from './room.js'
import type { Schemas } from './schemas.js'
import { cutStructured, holding, noticeOf, savedIn, savedText, wordsFor } from './structured.js'

/** A call of a tool. That of a call that is not known has no name. */
export interface Call {
  readonly tool: string
  readonly args: unknown
}

/** Chars that a host shows of a result, before and after. */
export type Count = (call: Call, shown: number, sent: number, isCut: boolean) => void

/** Bytes that may stand beside what the limits count, as in lib/dialect/walk.ts. */
const LITTLE = 1_024
/** Levels to which an answer is read. One that is nested deeper becomes a text. */
const DEEPEST = 256

/** Holds answers to the limits: a result or an error of any type, and all that stands beside it. */
export class Results {
  readonly #policy: Policy
  readonly #store: SpillStore | undefined
  readonly #schemas: Schemas
  readonly #tell: (text: string) => void
  readonly #count: Count

  constructor(
    policy: Policy,
    store: SpillStore | undefined,
    schemas: Schemas,
    tell: (text: string) => void,
    count: Count,
  ) {
    this.#policy = policy
    this.#store = store
    this.#schemas = schemas
    this.#tell = tell
    this.#count = count
  }

  /** Returns true if nothing in a JSON text can be over the limits, or be a secret that is to go. */
  surelyFits(json: string): boolean {
    const { redact = false } = this.#policy
    return redact === false && surelyFits(json, limitsOf(this.#policy))
  }

  /** Bounds an answer. The same object comes back if nothing of it changes. */
  async bound(given: Members, call: Call, source: Source): Promise<Members> {
    const isDeep = nests(given, DEEPEST)
    if (isDeep && this.surelyFits(source())) return given
    const body = isDeep ? flattened(given, source) : given
    const { result, error, ...others } = body
    const part = error === undefined || error === null ? 'result' : 'error'
    const rest = part === 'error' && result !== undefined ? { ...others, result } : others
    const isLittle = Buffer.byteLength(JSON.stringify(rest)) <= LITTLE
    if (!isLittle) this.#tell(`${nameOf(call)}: what an answer held beside its ${part} was left out`)
    const sent = part === 'error' ? await this.#error(error, call) : await this.#result(result, call, source)
    if (isLittle && sent === body[part]) return body
    return { ...(isLittle ? body : { jsonrpc: '2.0', id: body['id'] }), [part]: sent }
  }

  async #result(result: unknown, call: Call, source: Source): Promise<unknown> {
    if (isObject(result)) return this.#object(result, call, source)
    if (typeof result === 'string') return this.#wrapped(result, {}, call)
    if (!Array.isArray(result)) return result
    const { content } = await this.#object({ content: result }, call, source)
    return content
  }

  /** Cuts the message of an error as a text, and its data as JSON in what that leaves. */
  async #error(error: unknown, call: Call): Promise<unknown> {
    const { code, message, data } = isObject(error) ? error : { message: error }
    if (this.surelyFits(JSON.stringify(error))) return error
    const limits = limitsOf(this.#policy)
    const text = typeof message === 'string' ? message : JSON.stringify(message ?? null)
    const given = JSON.stringify(data)
    const room = given === undefined ? limits : { ...beside(limits, [given]), maxLines: limits.maxLines }
    const said = await this.#wrapped(text, room, call)
    const cut = given && cutStructured(given, { ...this.#policy, ...left(limits, String(said)) })
    const kept = cut === undefined || cut === '' || cut.text === '' ? {} : { data: new Raw(cut.text) }
    return { code: typeof code === 'number' ? code : INTERNAL, message: said, ...kept }
  }

  async #object(result: Members, call: Call, source: Source): Promise<Members> {
    // A client checks structured content against the schema of the tool, and refuses a result without it.
    const { structured = 'both', redact = false } = this.#policy
    const kept = structured === 'text' && this.#schemas.of(call.tool) ? 'both' : structured
    const once = this.#withMeta(clampResult(result, { ...UNLIMITED, structured: kept, redact }))
    const sent =
      (await this.#reshaped(once, call, () =>
        once['structuredContent'] === result['structuredContent']
          ? source('result', 'structuredContent')
          : JSON.stringify(once['structuredContent']),
      )) ?? (await this.#wrappedObject(once, {}, call))
    const bounded = await this.#withoutRest(sent, call)
    const isTwin = repeats(result)
    this.#count(call, charsOf(result, isTwin), charsOf(bounded, isTwin), bounded !== result)
    return bounded
  }

  /** Cuts what a result says of itself as JSON to limits of its own, since a host does not show it. */
  #withMeta(result: Members): Members {
    const json = JSON.stringify(result['_meta'])
    if (json === undefined || fits(json, limitsOf(this.#policy))) return result
    const { text } = cutStructured(json, this.#policy)
    return { ...result, _meta: JSON.parse(text || '{}') }
  }

  /** Returns an outcome of the same type unless it is data of no dialect, whose text then stands for all of it. */
  async #wrappedObject(result: Members, policy: WrapPolicy, call: Call): Promise<Members> {
    const sent = await this.#wrapped(result, policy, call)
    if (isObject(sent)) return sent
    const content = [{ type: 'text', text: typeof sent === 'string' ? sent : JSON.stringify(sent) }]
    return { content, ...(result['isError'] === true && { isError: true }) }
  }

  #wrapped(result: unknown, policy: WrapPolicy, { tool, args }: Call): Promise<unknown> {
    const own = { ...this.#policy, ...(this.#store && { spill: this.#store }), ...policy }
    const execute = async (_args: unknown) => result
    return wrapTool({ name: tool, execute }, { ...own, structured: 'both' }).execute(args)
  }

  /** Cuts the texts of a result in what its structured content leaves of the limits, and that in what the texts leave:
   *  each gets half at least, since a host shows either or both. Returns undefined without structured content. */
  async #reshaped(result: Members, call: Call, json: () => string): Promise<Members | undefined> {
    const { structuredContent, ...others } = result
    if (structuredContent === undefined) return undefined
    const limits = limitsOf(this.#policy)
    const texts = textsOf(result)
    const room = beside(limits, texts)
    const whole = JSON.stringify(structuredContent)
    if (fits(whole, room)) return this.#wrappedObject(result, leftBy(whole, limits), call)
    const { tool, args } = call
    const schema = this.#schemas.of(tool)
    const isReadable = !schema || !('~standard' in schema)
    const spared = this.#policy.notice === false ? undefined : withoutNotice(room, limits)
    const cut = cutStructured(
      json(),
      { ...this.#policy, ...(spared ?? room) },
      isReadable ? schema : undefined,
      args,
    )
    if (!cut.truncated) return this.#wrappedObject(result, leftBy(cut.text, limits), call)
    const isLeft = isReadable && cut.validates !== false && cut.text !== ''
    const text = savedText(structuredContent, texts, repeats(result))
    const saved = this.#store && (await savedIn(this.#store, text, tool))
    const words = isLeft ? noticeOf(cut, saved) : wordsFor(cut, schema !== undefined, saved)
    const notice = spared ? words : ''
    if (!isLeft || (!spared && this.#policy.notice !== false)) this.#tell(`${nameOf(call)}: ${words}`)
    const spill = this.#store && saved?.record && { spill: holding(this.#store, text, saved.record) }
    const rest = left(leftBy(isLeft ? cut.text : '', limits), notice)
    // A client takes a result without the structured content of its schema only if that is an error.
    const shaped = isLeft
      ? { ...result, structuredContent: JSON.parse(cut.text) }
      : { ...others, isError: true }
    const sent = await this.#wrappedObject(shaped, { ...rest, ...spill }, call)
    const blocks = Array.isArray(sent['content']) ? sent['content'] : []
    return {
      ...sent,
      ...(isLeft && { structuredContent: new Raw(cut.text) }),
      ...(notice !== '' && { content: [...blocks, { type: 'text', text: notice }] }),
    }
  }

  /** Makes a text of a result whose names, addresses and other data beside its texts are over the limits. */
  async #withoutRest(result: Members, call: Call): Promise<Members> {
    const { structuredContent } = result
    const rest = JSON.stringify(restOf(result))
    const limits = limitsOf(this.#policy)
    if (fits(rest, limits, LITTLE)) return result
    const structured =
      structuredContent instanceof Raw ? structuredContent.json : (JSON.stringify(structuredContent) ?? '')
    const words = [...textsOf(result), rest].join('\n')
    const text = await this.#wrapped(words, leftBy(structured, limits), call)
    return {
      content: [{ type: 'text', text }],
      ...(structuredContent !== undefined && { structuredContent }),
      ...(result['isError'] === true && { isError: true }),
    }
  }
}

/** Returns the name of a call's tool, which a model or a server gave, for a terminal. */
export function nameOf({ tool }: Call): string {
  return quoted(tool)
}
