import { types } from 'node:util'
import { PathNode } from '../dialect/paths.js'
import { type CallPlace, callPlaces, isAnswer, type Result } from '../dialect/results.js'
import { jsonOf } from '../json.js'
import { readMedium, type Tokens, UNREAD, wordsIn } from '../media/medium.js'
import { lengthOf, resultsIn, withTexts } from '../result/message_results.js'
import type { Original } from '../text/earlier.js'
import { elementAt, get, indexesOf, isList, isObject, tryRead } from '../untrusted.js'
import { bodyBytes } from './body_bytes.js'
import { ARGUMENTS, isEncoded, kindsOf, MADE, MEDIUM, PAYLOAD, SILENT } from './members.js'
import { isCurrent, type Snapshot, snapshotOf } from './snapshot.js'
import type { Counter } from './token_counter.js'

/** Tokens beside the text: the delimiters and role of a message, and the delimiters of a block and
 *  a call. */
export const MESSAGE = 4
const BLOCK = 3
const CALL = 12

/** Texts and their tokens. */
interface Share {
  /** Texts to count. Released afterwards, since some are copies. */
  texts: readonly string[]
  tokens: number
  /** Tokens of images, audio and files, for each provider. */
  readonly media?: Tokens | undefined
}

/** A tool result and its share of the tokens of a message. */
export interface ResultShare extends Share {
  readonly result: Result
  readonly chars: number
  /** The figures of its notices, once looked up. */
  original?: Original | undefined
}

/** A message of a prompt. */
export interface MessageShares {
  /** The share of everything but its tool results, and those of the results. */
  readonly all: readonly Share[]
  readonly results: readonly ResultShare[]
  readonly isAnswer: boolean
  /** True if it says something beside its tool results. */
  readonly hasWords: boolean
  /** Tokens of payloads, by the objects that hold them. */
  readonly media: ReadonlyMap<object, Tokens>
  /** Bytes in the body of a request, once measured. */
  bytes?: number
  /** Tool calls of the model, once read. */
  calls?: readonly CallPlace[]
}

/** Messages with their counts. An agent checks before every request, and most of its history stays
 *  the same. */
const remembered = new WeakMap<object, { shares: MessageShares; snapshot: Snapshot }>()

/** Reads messages. Counts of a caller's counter are not remembered, since they may change at any
 *  time. */
export function readShares(messages: readonly unknown[], counter: Counter): MessageShares[] {
  return messages.map((message) => {
    if (!counter.isOwn || !isObject(message)) return read(message)
    const known = remembered.get(message)
    if (known && isCurrent(known.snapshot)) return known.shares
    const shares = read(message)
    const snapshot = snapshotOf(message)
    if (snapshot) remembered.set(message, { shares, snapshot })
    return shares
  })
}

/** Returns the tokens of messages together, as `tokensOfEach`. */
export function tokensOf(messages: readonly MessageShares[], counter: Counter, provider: number): number {
  return tokensOfEach(messages, counter, provider).reduce((sum, tokens) => sum + tokens, 0)
}

/** Returns the tokens of each message. One call counts all texts without a count. `provider`: its
 *  place among the tokens of an image. */
export function tokensOfEach(
  messages: readonly MessageShares[],
  counter: Counter,
  provider: number,
): number[] {
  const texts: string[] = []
  const owners: Share[] = []
  for (const { all } of messages)
    for (const share of all) {
      for (const text of share.texts) {
        texts.push(text)
        owners.push(share)
      }
      // Taken, since an object may occur in a history twice.
      share.texts = NONE
    }
  const counts = texts.length > 0 ? counter.each(texts) : NONE
  for (let at = 0; at < owners.length; at++) (owners[at] as Share).tokens += counts[at] as number
  return messages.map(({ all }) =>
    all.reduce((sum, { tokens, media }) => sum + tokens + (media?.[provider] ?? 0), 0),
  )
}

/** Returns the bytes of messages in the body of a request. `shares`: those of the same messages. */
export function bodyBytesOf(messages: readonly unknown[], shares: readonly MessageShares[]): number {
  return shares.reduce((sum, share, at) => {
    share.bytes ??= share.all.length === 0 ? 0 : bodyBytes(messages[at]) + 1
    return sum + share.bytes
  }, 0)
}

/** Returns the tool calls in a message. */
export function callsOf(message: unknown, shares: MessageShares): readonly CallPlace[] {
  shares.calls ??= (isObject(message) && tryRead(() => callPlaces(message))) || NONE
  return shares.calls
}

const NONE: readonly never[] = []
const NO_MEDIA: MessageShares['media'] = new Map()

function read(message: unknown): MessageShares {
  if (!isObject(message)) {
    const own =
      typeof message === 'string' ? { texts: [message], tokens: MESSAGE } : { texts: NONE, tokens: 0 }
    return { all: [own], results: NONE, isAnswer: false, hasWords: own.tokens > 0, media: NO_MEDIA }
  }
  const root = new PathNode(message)
  const answers = tryRead(() => isAnswer(message, root)) ?? false
  if (root.read('excludeFromContext') === true)
    return { all: NONE, results: NONE, isAnswer: answers, hasWords: false, media: NO_MEDIA }
  const results = resultsIn(message, undefined, root)
  const each = withTexts(results).map(([{ result, texts }]) => ({
    result,
    chars: lengthOf(texts),
    texts,
    tokens: 0,
  }))
  const reader = new ContentReader(results)
  reader.read(message, false, 0)
  const tokens = reader.tokens + MESSAGE + results.length * CALL
  // All but the texts of its results.
  const own = { texts: reader.texts, tokens, media: reader.media }
  const { hasWords, holders = NO_MEDIA } = reader
  return { all: [own, ...each], results: each, isAnswer: answers, hasWords, media: holders }
}

const MEDIA_TYPE = /^(?:input_)?(?:image|audio|video|file|media|document)(?:[-_]|$)|^base64$/
const MIME_TYPES = ['mimeType', 'mediaType', 'media_type']

/** Depth and number of values up to which a message is read. */
const DEPTH = 40
const MOST = 100_000

/** Reads the content of a message that a model gets, without the texts of its tool results. */
class ContentReader {
  readonly texts: string[] = []
  /** Tokens of everything but text. */
  tokens = 0
  /** Tokens of images, audio and files, for each provider. */
  media: Tokens | undefined
  /** The same by the objects that hold them. */
  holders: Map<object, Tokens> | undefined
  /** True if something was read outside of the results. */
  hasWords = false
  readonly #results: ReadonlySet<object>
  /** Results around what is read. */
  #inside = 0
  /** Keys of the texts of results, by object. */
  #resultKeys: Map<object, Set<string | number>> | undefined
  #calls: Set<string> | undefined
  #seen = 0

  constructor(results: readonly Result[]) {
    this.#results = new Set(results.map(({ place }) => place.value))
    for (const { slots } of results)
      for (const { holder, key } of slots) {
        this.#resultKeys ??= new Map()
        const keys = this.#resultKeys.get(holder.value)
        if (keys) keys.add(key)
        else this.#resultKeys.set(holder.value, new Set([key]))
      }
  }

  /** `isMedia`: it is part of an image or other media. */
  read(value: object, isMedia: boolean, depth: number): void {
    if (depth > DEPTH || this.#seen > MOST) return
    const inside = this.#results.has(value) ? 1 : 0
    this.#inside += inside
    try {
      if (isList(value)) this.#list(value, isMedia, depth)
      else this.#object(value, isMedia, depth)
    } catch {
      // A proxy that hides its members has no JSON either.
    }
    this.#inside -= inside
  }

  #list(list: readonly unknown[], isMedia: boolean, depth: number): void {
    const held = this.#resultKeys?.get(list)
    for (const at of indexesOf(list)) {
      const element = elementAt(list, at)
      this.#seen += 1
      if (isObject(element)) this.tokens += BLOCK
      if (held?.has(at)) continue
      if (isBytes(element) || (isMedia && isEncoded(element))) this.#pay(list, [element])
      else if (isObject(element)) this.read(element, isMedia, depth + 1)
      else this.#say(element)
    }
  }

  #object(value: object, isMedia: boolean, depth: number): void {
    const names = Object.keys(value)
    const held = this.#resultKeys?.get(value)
    if (names.some((name) => kindsOf(name) & ARGUMENTS) && this.#isKnownCall(value)) return
    const media = isMedia || isMediaBlock(value)
    let payloads: unknown[] | undefined
    for (const name of names) {
      this.#seen += 1
      const said = kindsOf(name)
      if (said & SILENT) continue
      const member = get(value, name)
      const isOne =
        said & PAYLOAD ? isPayload(value, member, media) : media && said & MADE && isEncoded(member)
      if (isBytes(member) || isOne) {
        payloads ??= []
        payloads.push(member)
      } else if (!held?.has(name)) this.#member(value, name, member, said, media, depth)
    }
    // Bytes and a URL of the same media count once.
    if (payloads) this.#pay(value, payloads)
  }

  /** Counts one image, sound or file, by the payload that tells its size. */
  #pay(holder: object, payloads: readonly unknown[]): void {
    const words = wordsIn(payloads[0])
    if (words !== undefined) {
      this.#say(words)
      return
    }
    this.#note()
    const read = payloads.map((payload) => readMedium(payload)?.tokens).find((tokens) => tokens !== undefined)
    this.media = sumOf(this.media, read ?? UNREAD)
    this.holders ??= new Map()
    this.holders.set(holder, read ?? UNREAD)
  }

  #member(value: object, name: string, member: unknown, said: number, isMedia: boolean, depth: number): void {
    if (said & ARGUMENTS) {
      this.tokens += CALL
      this.#note()
      this.#say(typeof member === 'string' ? member : jsonOf(member))
    } else if (isObject(member)) this.read(member, isMedia || (said & MEDIUM) !== 0, depth + 1)
    // Some frameworks store the text of all parts a second time.
    else if (name !== 'content' || !isList(get(value, 'parts'))) this.#say(member)
  }

  #say(text: unknown): void {
    if (typeof text !== 'string' || text === '') return
    this.#note()
    this.texts.push(text)
  }

  #note(): void {
    if (this.#inside === 0) this.hasWords = true
  }

  /** Returns true if a call was counted before: some frameworks store it in two places. */
  #isKnownCall(value: object): boolean {
    const id = get(value, 'toolCallId') ?? get(value, 'id')
    if (typeof id !== 'string') return false
    this.#calls ??= new Set()
    const isKnown = this.#calls.has(id)
    this.#calls.add(id)
    return isKnown
  }
}

/** Returns true if an object is an image or other media by its type. A media type alone does not
 *  count beside a text, or in a link. */
function isMediaBlock(value: object): boolean {
  const kind = get(value, 'type')
  // The name of a call that a server ran names its result.
  const type = kind === 'hosted_tool_call' ? get(value, 'name') : kind
  if (typeof type === 'string' && MEDIA_TYPE.test(type)) return true
  if (type === 'resource_link' || typeof get(value, 'text') === 'string') return false
  return MIME_TYPES.some((name) => typeof get(value, name) === 'string')
}

/** Returns true if a value is the payload of an image or a reference to one, rather than a text. */
function isPayload(holder: object, value: unknown, isMedia: boolean): boolean {
  if (isObject(value)) return isMedia && typeof get(value, 'href') === 'string'
  if (typeof value !== 'string' || get(holder, 'type') === 'text') return false
  return isMedia || isEncoded(value)
}

function sumOf(a: Tokens | undefined, b: Tokens): Tokens {
  return a ? a.map((tokens, at) => tokens + (b[at] ?? 0)) : b
}

function isBytes(value: unknown): boolean {
  return isObject(value) && (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value))
}
