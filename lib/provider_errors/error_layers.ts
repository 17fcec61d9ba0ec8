import { types } from 'node:util'
import { isFailedTurn } from '../dialect/results.js'
import { get, isList, isObject, tryRead } from '../untrusted.js'
import { eventsIn } from './event_stream.js'
import type { Numbers } from './phrases.js'
import { isLabelled } from './statement.js'
import table from './table.json'

/** The content of one error and its body. Each cause is a layer of its own. */
export class Layer {
  status: number | undefined
  readonly codes: string[] = []
  readonly texts: string[] = []
  /** True if its shape shows that a provider sent it, so that its texts need not look like
   *  errors. */
  isAnswer = false
  /** True if it is an object, so that no person typed it. */
  isThrown = false
  /** The path of the part of the request that is wrong, as a member of its own. */
  path: string | undefined
  /** Numbers of tokens or bytes that are members of their own. */
  readonly numbers: Numbers = {}
}

/** Bounds on reading. An error is small, or is large because it echoes the request. The last two
 *  hold for all texts of an error together: chars that are searched for JSON, and chars that are
 *  classified. */
const LAYERS = 6
const OBJECTS = 200
const DEPTH = 8
const PARSED = 16_384
const HEAD = 2_048
const TAIL = 1_024
const STARTS = 8
const SEARCHED = 65_536
const CLASSIFIED = 16_384

const STATUS = 'status statusCode status_code httpStatusCode code'.split(' ')
const CODES = 'code type name __type error_type errorType status reason'.split(' ')
const TEXTS = 'message Message msg errorMessage error_message error_msg status_msg detail'.split(' ')
/** Members that hold a body. `metadata.raw` is the answer of the provider behind OpenRouter,
 *  `base_resp` is MiniMax's. */
const BODIES = 'error errors data body responseBody response metadata raw base_resp $metadata'.split(' ')
/** Members of a message of a user, a model or a tool. */
const OWNERS = 'role toolCallId tool_call_id tool_use_id toolUseId call_id callId toolName'.split(' ')

/** Reads an error from the outside in. Never throws, in bounded time for any content. */
export function layersOf(error: unknown): Layer[] {
  const reader = new LayerReader()
  const queue: unknown[] = [error]
  const layers: Layer[] = []
  while (queue.length > 0 && layers.length < LAYERS) {
    const next = queue.shift()
    const layer = new Layer()
    layer.isThrown = isObject(next) && !types.isUint8Array(next)
    reader.read(next, layer, DEPTH)
    layers.push(layer)
    if (isObject(next)) queue.push(...reader.causesOf(next))
  }
  return layers
}

class LayerReader {
  readonly #seen = new Set<object>()
  #searched = SEARCHED
  #classified = CLASSIFIED

  read(value: unknown, layer: Layer, depth: number): void {
    if (typeof value === 'string') this.#readText(value, layer, depth)
    else if (isObject(value) && depth > 0 && !this.#seen.has(value) && this.#seen.size < OBJECTS) {
      this.#seen.add(value)
      if (types.isUint8Array(value)) this.#readText(decoded(value), layer, depth)
      else if (isList(value)) this.read(get(value, 0), layer, depth - 1)
      else this.#readObject(value, layer, depth)
    }
  }

  causesOf(value: object): unknown[] {
    if (isMessage(value)) return []
    const list = get(value, 'errors')
    const errors = isList(list) ? Array.from({ length: LAYERS }, (_, at) => get(list, at)) : []
    // Of several attempts, the last one counts most.
    const causes = [get(value, 'cause'), get(value, 'lastError'), get(value, 'error'), ...errors.reverse()]
    return causes.filter((cause) =>
      isObject(cause) ? !this.#seen.has(cause) : typeof cause === 'string' && cause === get(value, 'cause'),
    )
  }

  #readObject(value: object, layer: Layer, depth: number): void {
    if (isMessage(value)) {
      if (!tryRead(() => isFailedTurn(value))) return
      layer.isAnswer = true
    }
    for (const key of STATUS) {
      const status = statusOf(get(value, key))
      if (status === undefined) continue
      layer.status ??= status
      layer.isAnswer = true
    }
    for (const key of CODES) {
      const code = get(value, key)
      if (typeof code === 'string' && code.length < 100) layer.codes.push(code)
    }
    if (get(value, 'type') === 'error') layer.isAnswer = true
    layer.path ??= pathOf(get(value, 'param')) ?? pathOf(get(value, 'loc'))
    for (const name of ['actual', 'limit'] as const)
      for (const key of table.numbers[name]) {
        const number = get(value, key)
        if (Number.isSafeInteger(number) && (number as number) >= 0) layer.numbers[name] = number as number
      }
    for (const key of TEXTS) this.read(get(value, key), layer, depth - 1)
    for (const key of BODIES) {
      const member = get(value, key)
      const body = isList(member) ? get(member as unknown[], 0) : member
      if (key === 'error' && isObject(body) && typeof get(body, 'message') === 'string' && !isError(body))
        layer.isAnswer = true
      // An error within an error is its cause, and a layer of its own.
      if (!(isObject(body) && isError(body))) this.read(body, layer, depth - 1)
    }
  }

  #readText(text: string, layer: Layer, depth: number): void {
    if (this.#classified <= 0) return
    layer.status ??= leadingStatus(text)
    if (this.#readStream(text, layer, depth)) return
    const json = this.#jsonIn(text, layer.isThrown)
    if (json) {
      this.read(json, layer, depth - 1)
      return
    }
    const shown = window(text)
    this.#classified -= shown.length
    const title = PAGE.exec(shown)?.[1]
    layer.status ??= leadingStatus(title ?? '')
    // Of a page, its title, and the words of its body.
    if (title === undefined) layer.texts.push(shown)
    else layer.texts.push(title, shown.replace(/<[^>]{0,300}>/g, '\n'))
  }

  /** Reads the events of a stream that are JSON objects, as all events of providers are, and events
   *  named "error". */
  #readStream(text: string, layer: Layer, depth: number): boolean {
    // A stream that carries no error carries the words of a model.
    let isStream = STREAM.test(text)
    const events = depth > 0 && this.#searched > 0 ? eventsIn(text) : []
    if (events.length > 0) this.#searched -= Math.min(text.length, PARSED)
    for (const { name, data } of events) {
      const isError = name === 'error'
      const bodies = data.flatMap((body) => objectIn(body) ?? [])
      if (bodies.length === 0 && !isError) continue
      isStream = true
      layer.isAnswer ||= isError
      for (const body of bodies) this.read(body, layer, depth - 1)
      if (bodies.length === 0) this.#readText(data[0] ?? '', layer, depth - 1)
    }
    return isStream
  }

  /** Parses the first JSON object in a text that introduces it. In an Error any words may; in a
   *  string a person may have quoted it. Text after it is ignored. */
  #jsonIn(text: string, isThrown: boolean): object | undefined {
    let starts = 0
    for (const { index } of text.slice(0, HEAD).matchAll(/[{[]\s*["{[]/g)) {
      if (!isThrown && !isLabelled(text.slice(0, index))) return undefined
      const end = jsonEnd(text, index, Math.min(PARSED, this.#searched))
      this.#searched -= end - index
      const json = objectIn(text.slice(index, end))
      if (json) return json
      if (++starts === STARTS || this.#searched <= 0) return undefined
    }
    return undefined
  }
}

/** A text that begins with a field of an event. */
const STREAM = /^\s*(?:event|data|id|retry):/

/** The title of a proxy's error page. */
const PAGE = /^[^<]{0,120}<(?:!doctype|html|head|title|center)\b[\s\S]*?<(?:title|h1)[^>]*>([^<]{0,200})/i

/** A status followed by the end of a clause, its name, or a body. After an article it is only
 *  mentioned. */
const STATUS_IN_TEXT =
  /(?<![\w.,#-]|(?<!status|code)=|\b(?:an?|the|this|your) )([45]\d\d)\b(?![,._]\d)(?=[\s\W]*(?:$|[:{<[(-]|rate limit|[45]\d\d\b|status|bad request|unauthori[sz]ed|payment|forbidden|not found|request (?:timeout|entity|too|body|header)|payload|content too|unprocessable|too many|internal|bad gateway|service unavailable|gateway|(?:event|data):))/i

function leadingStatus(text: string): number | undefined {
  const found = STATUS_IN_TEXT.exec(text.slice(0, 240))
  return found && found.index < 200 && isLabelled(text.slice(0, found.index)) ? statusOf(found[1]) : undefined
}

/** Returns a path that a provider gives as a text, or as a list of its members. */
function pathOf(value: unknown): string | undefined {
  if (typeof value === 'string') return /^[\w.[\]]{1,200}$/.test(value) ? value : undefined
  if (!isList(value)) return undefined
  const members = Array.from({ length: DEPTH }, (_, at) => get(value, at))
  const known = members.filter((one) => typeof one === 'string' || typeof one === 'number')
  // Servers say that the request's body is wrong.
  return known.length > 0 ? known.join('.').replace(/^body\./, '') : undefined
}

function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^[45]\d\d$/.test(value) ? Number(value) : value
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) < 600
    ? (status as number)
    : undefined
}

/** Returns true for a message of a user, a model or a tool. */
function isMessage(value: object): boolean {
  return OWNERS.some((key) => typeof get(value, key) === 'string')
}

function isError(value: object): boolean {
  return types.isNativeError(value) || typeof get(value, 'stack') === 'string'
}

/** Returns the end of the JSON that begins at an index, by its brackets and strings, or of as many
 *  chars as may be read. */
function jsonEnd(text: string, start: number, chars: number): number {
  const most = Math.min(text.length, start + chars)
  let depth = 0
  for (let at = start; at < most; at++) {
    const sign = text[at]
    if (sign === '{' || sign === '[') depth += 1
    else if ((sign === '}' || sign === ']') && --depth === 0) return at + 1
    else if (sign === '"') while (++at < most && text[at] !== '"') if (text[at] === '\\') at += 1
  }
  return most
}

function objectIn(text: string): object | undefined {
  const json = tryRead(() => JSON.parse(text) as unknown)
  return isObject(json) ? json : undefined
}

/** Returns the start and the end of a text. */
function window(text: string): string {
  return text.length <= HEAD + TAIL ? text : `${text.slice(0, HEAD)}\n${text.slice(-TAIL)}`
}

function decoded(bytes: Uint8Array): string {
  const decoder = new TextDecoder()
  if (bytes.length <= PARSED) return decoder.decode(bytes)
  return `${decoder.decode(bytes.subarray(0, PARSED))}\n${decoder.decode(bytes.subarray(-TAIL))}`
}
