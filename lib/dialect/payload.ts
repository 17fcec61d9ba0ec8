import { escaped } from '../json.js'
import { isList, isObject, tryRead } from '../untrusted.js'

type Members = Record<string, unknown>

/** Members that name the type of an object's bytes, most reliable first. As in src/slots/payload_name.rs. */
const NAMES = ['mimeType', 'mime_type', 'mediaType', 'media_type', 'format', 'type']
/** A media type or a format, which a notice may repeat. */
const NAME = /^[\w.+-]{1,60}(?:\/[\w.+-]{1,60})?$/
/** Formats, and tags of blocks, that hold bytes. */
const MEDIA =
  /^(?:aac|flac|gif|jpe?g|m4a|mp[34]|ogg|opus|pcm(?:16)?|pdf|png|wav|web[mp]|(?:input_)?(?:image|audio|video|media))$/

/** Returns the type of the bytes in an object by its members: a media type other than text, a format, or a tag. */
export function mediumOf(data: Members): string | undefined {
  for (const name of NAMES) {
    const value = data[name]
    if (typeof value === 'string' && isMedium(value)) return value
  }
  return undefined
}

function isMedium(text: string): boolean {
  return text.includes('/') ? NAME.test(text) && !text.startsWith('text/') : MEDIA.test(text)
}

/** Least chars of a payload, alone and beside a member that names its type. Shorter strings may be words. */
const LONG = 1_024
const LONG_BESIDE = 64
/** Chars from the start of a data URL that are searched for its type. */
const PREFIX = 256

/**
 * Returns replacements for a payload that is too large, longest first, or undefined for other text. A payload is a
 * base64 data URL, or only base64 or base64url of a valid length. Alone, it has at least 1,024 chars, with upper and
 * lower case. Beside a member that names its type, it has at least 64 chars, and is not a hex number.
 */
export function omitted(text: string, medium?: string): string[] | undefined {
  const [, said] = DATA_URL.exec(text.slice(0, PREFIX)) ?? []
  if (said === undefined && !isBase64(text, medium)) return undefined
  const type = said ?? medium ?? ''
  const size = `[... ${decodedBytes(text).toLocaleString('en-US')} bytes`
  return [...(NAME.test(type) ? [`${size} of ${type} omitted]`] : []), `${size} omitted]`, '']
}

const DATA_URL = /^data:([^,;]*)(?:;[^,]*)?;base64,/

const BASE64 = /^(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)(={0,2})$/

function isBase64(text: string, medium: string | undefined): boolean {
  if (text.length < (medium === undefined ? LONG : LONG_BESIDE)) return false
  const padding = BASE64.exec(text)?.[1]
  if (padding === undefined || (padding ? text.length % 4 !== 0 : text.length % 4 === 1)) return false
  return medium === undefined
    ? /[A-Z]/.test(text) && /[a-z]/.test(text)
    : !/\d/.test(text) || /[^\da-f]/i.test(text)
}

/** Start of a payload in JSON. Few other texts have it. */
const MAYBE = /"(?:data:|[\w+/\\-]{64})/

/**
 * Returns JSON with its payloads replaced by their sizes, or undefined if it has none. No cut can then split a payload.
 */
export function withNames(json: string): string | undefined {
  if (!MAYBE.test(json)) return undefined
  const media = new Map<unknown, string | undefined>()
  let isNamed = false
  function name(this: unknown, _: string, value: unknown): unknown {
    const medium = media.get(this)
    if (isObject(value)) media.set(value, (isList(value) ? undefined : mediumOf(value as Members)) ?? medium)
    const said = typeof value === 'string' ? noteFor(value, medium) : undefined
    isNamed ||= said !== undefined
    return said ?? value
  }
  const left = tryRead(() => escaped(JSON.stringify(JSON.parse(json), name)))
  return isNamed ? left : undefined
}

/** Returns a replacement for a payload that is shorter than it, undefined if there is none. */
export function noteFor(text: string, medium: string | undefined): string | undefined {
  return omitted(text, medium)?.find((words) => words !== '' && words.length < text.length)
}

/** Returns the number of bytes that base64 or a data URL decodes to. */
export function decodedBytes(payload: string): number {
  const start = payload.startsWith('data:') ? payload.indexOf(',') + 1 : 0
  const isPlain = start > 0 && !payload.slice(0, start).includes(';base64')
  return Buffer.byteLength(payload.slice(start), isPlain ? 'utf8' : 'base64')
}
