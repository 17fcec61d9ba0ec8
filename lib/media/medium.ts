import { types } from 'node:util'
import { native } from '../engine.js'
import { tryRead } from '../untrusted.js'

/** A payload: the bytes of an image, a sound or a file, as base64, a data URL or bytes. */
export interface Medium {
  /** Bytes of the payload, decoded. */
  readonly bytes: number
  readonly width: number
  readonly height: number
  /** Its class, as in src/media/item.rs. */
  readonly kind: number
  /** Bytes that it takes in a request. */
  readonly sent: number
  /** The words that replace it: its size, its type and, for an image, its dimensions. */
  readonly words: string
  /** Tokens for each of PROVIDERS, then the most of these. */
  readonly tokens: Tokens
}

export type Tokens = readonly number[]

/** The providers whose image pricing is known, in the order of src/media/pixels.rs. */
export const PROVIDERS = ['anthropic', 'openai', 'gemini'] as const

/** Tokens of a payload whose dimensions cannot be read. */
export const UNREAD: Tokens = [...PROVIDERS, 'any'].map(() => 2_000)

/** Chars read from the start of a payload to find its dimensions: for most files, and for photos. A
 *  header that goes on is read in steps, each so many times as long as all before. */
const [HEAD, PHOTO, STEP] = [4_096, 262_144, 8]

/** Dimensions of an image or 0, the class of the payload, its tokens for each provider, and 1 if
 *  its header goes on. */
const numbers = new Float64Array(4 + PROVIDERS.length)

/** Reads a payload by its first bytes. Returns undefined for anything else, such as the URL of an
 *  image. `said`: the type that its holder declares. */
export function readMedium(value: unknown, said?: string): Medium | undefined {
  if (typeof value === 'string') return ofBase64(value, said)
  const bytes = tryRead(() => bytesOf(value))
  if (!bytes) return undefined
  const { length } = bytes
  const describe = (head: number) => native.describeMedia(bytes.subarray(0, head), length, said, numbers)
  return described(describe, length, Math.ceil(length / 3) * 4)
}

/** Returns the bytes of a view or a buffer, undefined for anything else. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (types.isUint8Array(value)) return value
  if (types.isAnyArrayBuffer(value)) return new Uint8Array(value)
  return ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : undefined
}

const DATA_URL = /^data:([^,;]*)[^,]*;base64,/
const BASE64 = /^[\w+/-]{4,64}={0,2}$/

/** The class of an image whose bytes are not of the type that it claims. */
const BROKEN = 3

function ofBase64(value: string, given: string | undefined): Medium | undefined {
  if (value === '') {
    const found = described(() => native.describeMedia('', 0, given, numbers), 0, 0)
    return found?.kind === BROKEN ? found : undefined
  }
  const [prefix = '', type = ''] = DATA_URL.exec(value.slice(0, 256)) ?? []
  const start = prefix.length
  if (start === 0 && !BASE64.test(value.slice(0, 64))) return undefined
  const said = type === '' ? given : type
  const padding = value.endsWith('==') ? 2 : Number(value.endsWith('='))
  const bytes = Math.floor(((value.length - start - padding) * 3) / 4)
  const describe = (head: number) =>
    native.describeMedia(value.slice(start, start + head), bytes, said, numbers)
  return described(describe, bytes, value.length)
}

/** Returns the words about a payload that a text file contains instead of it. */
export function wordsIn(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 256 || !value.startsWith('Wy4uLi')) return undefined
  const words = Buffer.from(value, 'base64').toString()
  return words.endsWith(' omitted]') ? words : undefined
}

function described(
  describe: (head: number) => string | null,
  bytes: number,
  sent: number,
): Medium | undefined {
  for (let head = HEAD; ; head = head < PHOTO ? PHOTO : head * STEP) {
    const words = describe(head)
    if (words === null) return undefined
    const [width = 0, height = 0, kind = 0] = numbers
    const each = numbers.subarray(3, -1)
    const isRead = width !== 0
    if (!isRead && sent > head && (head < PHOTO || numbers.at(-1) === 1)) continue
    const tokens = isRead ? [...each, Math.max(...each)] : UNREAD
    return { bytes, width, height, kind, sent, words, tokens }
  }
}
