import { types } from 'node:util'
import type { Result } from '../dialect/dialect.js'
import { jsonOf } from '../json.js'
import { elementAt, get, isObject } from '../reading.js'
import type { Watch } from './watch.js'

/** Tokens beside the text: the delimiters and role of a message, the delimiters of a block and a call, and an image, of
 *  any payload size. Providers charge images by pixels, and scale down larger ones. */
export const MESSAGE = 4
const BLOCK = 3
const CALL = 12
const MEDIA = 2_000

/** The content of a message that a model reads, without its tool results. */
export interface Weight {
  readonly texts: readonly string[]
  /** Tokens of everything but text. */
  readonly fixed: number
}

/** Members that are not sent to a model, or take only a token or two. */
const SILENT = new Set(
  [
    'id type role status state phase index format is_error isError errorMessage',
    'toolCallId tool_call_id tool_use_id toolUseId call_id callId responseId item_id approvalId server_label',
    'signature textSignature thinkingSignature thoughtSignature encrypted_content redacted',
    'timestamp createdAt created_at usage usage_metadata usageMetadata cost api provider model modelId',
    'stopReason stop_reason finishReason finish_reason response_metadata additional_kwargs metadata logprobs',
    'providerMetadata providerOptions providerData callProviderMetadata cache_control cachePoint annotations',
    'details artifact structuredContent _meta lc_kwargs lc_namespace lc invalid_tool_calls experimental_providerMetadata',
  ].flatMap((names) => names.split(' ')),
)

/** Arguments of a tool call. */
const ARGUMENTS = new Set(['arguments', 'args', 'input'])

/** Members with the bytes of an image, a sound or a file, or with a reference to them. */
const PAYLOADS = new Set(
  'data blob bytes base64 image image_url audio file file_data file_id fileUri uri url'.split(' '),
)
/** Members with an image that a model generated. */
const MADE = new Set(['result', 'output'])
const MEDIA_NAMES = new Set('image images image_url inlineData fileData audio input_audio video'.split(' '))
const MEDIA_TYPE = /^(?:input_)?(?:image|audio|video|file|media|document)(?:[-_]|$)|^base64$/
const LONG_PAYLOAD = /^[\w+/-]{200}/

/** Depth and number of values up to which a message is read. */
const DEPTH = 40
const MOST = 100_000

/** Weighs a message without the texts of its tool results. */
export function weigh(message: unknown, results: readonly Result[], watch: Watch): Weight {
  if (typeof message === 'string') return { texts: [message], fixed: MESSAGE }
  if (!isObject(message)) return NOTHING
  const scale = new Scale(results, watch)
  scale.walk(message, false, 0)
  return { texts: scale.texts, fixed: scale.fixed + MESSAGE + results.length * CALL }
}

const NOTHING: Weight = { texts: [], fixed: 0 }

class Scale {
  readonly texts: string[] = []
  fixed = 0
  readonly #watch: Watch
  /** Keys of the texts of results, by object. */
  readonly #taken = new Map<object, (string | number)[]>()
  readonly #calls = new Set<unknown>()
  #seen = 0

  constructor(results: readonly Result[], watch: Watch) {
    this.#watch = watch
    for (const { slots } of results)
      for (const { holder, key } of slots) {
        const keys = this.#taken.get(holder.value)
        if (keys) keys.push(key)
        else this.#taken.set(holder.value, [key])
      }
  }

  /** `isMedia`: it is part of an image or other media. */
  walk(value: object, isMedia: boolean, depth: number): void {
    if (depth > DEPTH || this.#seen > MOST) return
    try {
      this.#members(value, isMedia, depth)
    } catch {
      // A proxy that hides its members has no JSON either.
      this.#watch.lose()
    }
  }

  #members(value: object, isMedia: boolean, depth: number): void {
    this.#watch.members(value)
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at++) this.#element(value, at, isMedia, depth)
      return
    }
    const names = Object.keys(value)
    if (names.some((name) => ARGUMENTS.has(name)) && this.#isKnownCall(value)) return
    const media = isMedia || isMediaBlock(value)
    let payloads = 0
    for (const name of names) {
      const member = get(value, name)
      this.#noted(value, name, member)
      if (SILENT.has(name)) continue
      const isOne = PAYLOADS.has(name) ? isPayload(value, member, media) : media && isMade(name, member)
      if (isBytes(member) || isOne) payloads += 1
      else this.#member(value, name, member, media || MEDIA_NAMES.has(name), depth)
    }
    // Bytes and a URL of the same media count once.
    if (payloads > 0) this.fixed += MEDIA
  }

  #element(list: readonly unknown[], at: number, isMedia: boolean, depth: number): void {
    const element = elementAt(list, at)
    this.#noted(list, at, element)
    if (isObject(element)) this.fixed += BLOCK
    if (this.#taken.get(list)?.includes(at)) this.#watch.json(element)
    else if (isBytes(element) || (isMedia && isEncoded(element))) this.fixed += MEDIA
    else if (isObject(element)) this.walk(element, isMedia, depth + 1)
    else this.#say(element)
  }

  #member(value: object, name: string, member: unknown, isMedia: boolean, depth: number): void {
    if (this.#taken.get(value)?.includes(name)) this.#watch.json(member)
    else if (ARGUMENTS.has(name)) this.#call(member)
    else if (isObject(member)) this.walk(member, isMedia, depth + 1)
    // Some frameworks store the text of all parts a second time.
    else if (name !== 'content' || !Array.isArray(get(value, 'parts'))) this.#say(member)
  }

  #say(text: unknown): void {
    if (typeof text === 'string' && text !== '') this.texts.push(text)
  }

  #call(input: unknown): void {
    this.fixed += CALL
    this.#watch.json(input)
    this.#say(typeof input === 'string' ? input : jsonOf(input))
  }

  /** Returns true if a call was counted before: some frameworks store it in two places. */
  #isKnownCall(value: object): boolean {
    const id = get(value, 'toolCallId') ?? get(value, 'id')
    if (typeof id !== 'string') return false
    if (this.#calls.has(id)) return true
    this.#calls.add(id)
    return false
  }

  /** Records a read. The value of a number does not matter, since it is not in any text. */
  #noted(value: object, name: PropertyKey, member: unknown): void {
    this.#seen += 1
    if (typeof member === 'number') this.#watch.number(value, name)
    else this.#watch.note(value, name, member)
  }
}

/** Returns true if an object is an image or other media by its type. A media type alone does not count beside a text,
 *  or in a link. */
function isMediaBlock(value: object): boolean {
  const kind = get(value, 'type')
  // The name of a call that a server ran names its result.
  const type = kind === 'hosted_tool_call' ? get(value, 'name') : kind
  if (typeof type === 'string') {
    if (MEDIA_TYPE.test(type)) return true
    if (type === 'resource_link') return false
  }
  if (typeof get(value, 'text') === 'string') return false
  return MIME_TYPES.some((name) => typeof get(value, name) === 'string')
}

const MIME_TYPES = ['mimeType', 'mediaType', 'media_type']

/** Returns true if a value is the payload of an image or a reference to one, rather than a text. */
function isPayload(holder: object, value: unknown, isMedia: boolean): boolean {
  if (isObject(value)) return isMedia && typeof get(value, 'href') === 'string'
  if (typeof value !== 'string' || get(holder, 'type') === 'text') return false
  return isMedia || isEncoded(value)
}

function isMade(name: string, value: unknown): boolean {
  return MADE.has(name) && isEncoded(value)
}

function isEncoded(value: unknown): boolean {
  return typeof value === 'string' && (value.startsWith('data:') || LONG_PAYLOAD.test(value))
}

function isBytes(value: unknown): boolean {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)
}
