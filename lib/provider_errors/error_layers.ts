import { types } from 'node:util'
import { isFailedTurn } from '../dialect/results.js'
import { get, isList, isObject, tryRead } from '../untrusted.js'
import { eventsIn } from './event_stream.js'
import { leadLength } from './lead.js'
import type { Numbers } from './phrases.js'
import table from './table.json'

/** The content of one error and its body. Each cause is a layer of its own. */
export class Layer {
  status: number | undefined
  /** In lower case. */
  readonly codes: string[] = []
  readonly texts: string[] = []
  /** True if its shape shows that a provider sent it, so that its texts need not look like errors. */
  isAnswer = false
  /** Numbers of tokens or bytes that are members of their own. */
  readonly numbers: Numbers = {}
}

/** Bounds on reading. An error is small, or is large because it echoes the request. */
const LAYERS = 6
const OBJECTS = 200
const DEPTH = 8
const PARSED = 16_384
const HEAD = 2_048
const TAIL = 1_024

const STATUS = 'status statusCode status_code httpStatusCode code'.split(' ')
const CODES = 'code type name __type error_type errorType status reason'.split(' ')
const TEXTS = 'message Message msg errorMessage error_message error_msg status_msg detail'.split(' ')
/** Members that hold a body. `metadata.raw` is the answer of the provider behind OpenRouter, `base_resp` is
 *  MiniMax's. */
const BODIES = 'error errors data body responseBody response metadata raw base_resp $metadata'.split(' ')
/** Members of a message of a user, a model or a tool. */
const OWNERS = 'role toolCallId tool_call_id tool_use_id toolUseId call_id callId toolName'.split(' ')

/** Reads an error from the outside in. Never throws, in bounded time for any content. */
export function layersOf(error: unknown): Layer[] {
  const reader = new Reader()
  const queue: unknown[] = [error]
  const layers: Layer[] = []
  while (queue.length > 0 && layers.length < LAYERS) {
    const next = queue.shift()
    const layer = new Layer()
    reader.read(next, layer, DEPTH)
    layers.push(layer)
    if (isObject(next)) queue.push(...reader.causesOf(next))
  }
  return layers
}

class Reader {
  readonly #seen = new Set<object>()

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
    const errors = tryRead(() => (isList(list) ? Array.from<unknown>(list).slice(0, LAYERS) : [])) ?? []
    // Of several attempts, the last one counts most.
    const causes = [get(value, 'cause'), get(value, 'lastError'), get(value, 'error'), ...errors.reverse()]
    return causes.filter((cause) =>
      isObject(cause) ? !this.#seen.has(cause) : cause === get(value, 'cause'),
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
      if (typeof code === 'string' && code.length < 100) layer.codes.push(code.toLowerCase())
    }
    if (get(value, 'type') === 'error') layer.isAnswer = true
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
    layer.status ??= leadingStatus(text)
    const json = jsonIn(text)
    if (json) {
      this.read(json, layer, depth - 1)
      return
    }
    if (this.#readStream(text, layer, depth)) return
    const shown = window(text)
    const title = PAGE.exec(shown)?.[1]
    layer.status ??= leadingStatus(title ?? '')
    layer.texts.push(title ?? shown)
  }

  /** Reads the events of a stream that are JSON objects, as all events of providers are, and events named "error". */
  #readStream(text: string, layer: Layer, depth: number): boolean {
    let isStream = false
    for (const { name, data } of depth > 0 ? eventsIn(text) : []) {
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
}

/** The title of a proxy's error page. */
const PAGE = /^[^<]{0,120}<(?:!doctype|html|head|title|center)\b[\s\S]*?<(?:title|h1)[^>]*>([^<]{0,200})/i

/** A status followed by the end of a clause, its name, or a body. After an article it is only mentioned. */
const STATUS_IN_TEXT =
  /(?<![\w.#-]|(?<!status|code)=|\b(?:an?|the|this|your) )([45]\d\d)\b(?=[\s\W]*(?:$|[:{<[(-]|rate limit|[45]\d\d\b|status|bad request|unauthori[sz]ed|payment|forbidden|not found|request (?:timeout|entity|too|body|header)|payload|content too|unprocessable|too many|internal|bad gateway|service unavailable|gateway|(?:event|data):))/i

function leadingStatus(text: string): number | undefined {
  const start = text.slice(0, 200)
  const found = STATUS_IN_TEXT.exec(start)
  return found && found.index <= leadLength(start) ? statusOf(found[1]) : undefined
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

/** Parses the JSON of a body after words that introduce an error. Text after it is ignored. */
function jsonIn(text: string): object | undefined {
  const start = text.slice(0, 300).search(/[{[]\s*["{[]/)
  if (start < 0 || text.length - start > PARSED || leadLength(text.slice(0, start)) < start) return undefined
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1
  return objectIn(text.slice(start, end))
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
