import { native } from '../engine.js'

type Members = Record<string, unknown>

/** Members that name the type of an object's bytes, most reliable first. As in
 *  src/slots/payload_name.rs. */
const NAMES = ['mimeType', 'mime_type', 'mediaType', 'media_type', 'format', 'type']
/** A media type or a format, which a notice may repeat. */
const NAME = /^[\w.+-]{1,60}(?:\/[\w.+-]{1,60})?$/
/** Formats, and tags of blocks, that hold bytes. */
const MEDIA =
  /^(?:aac|flac|gif|jpe?g|m4a|mp[34]|ogg|opus|pcm(?:16)?|pdf|png|wav|web[mp]|(?:input_)?(?:image|audio|video|media))$/

/** Returns the type of the bytes in an object by its members: a media type other than text, a
 *  format, or a tag. */
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

/** Chars of base64 with which a payload begins, at least. */
const LEAST = 64
/** Chars of base64, of JSON's escapes, and of URLs in them. */
const IN_PAYLOAD = Uint8Array.from({ length: 256 }, (_, code) =>
  /[\w+/\\-]/.test(String.fromCharCode(code)) && code < 128 ? 1 : 0,
)

/** Returns true if a string in JSON begins like a payload, which few do. Looks at one char in 64:
 *  so long a run has one of them. */
function mayHavePayload(json: string): boolean {
  if (json.includes('"data:')) return true
  const isIn = (at: number) => IN_PAYLOAD[json.charCodeAt(at)] === 1
  for (let at = LEAST; at < json.length; at += LEAST) {
    if (!isIn(at)) continue
    let [start, end] = [at, at + 1]
    while (start > 0 && isIn(start - 1)) start--
    while (end < json.length && isIn(end)) end++
    if (end - start >= LEAST && json[start - 1] === '"') return true
    // The next run begins after this one.
    at += Math.floor((end - at) / LEAST) * LEAST
  }
  return false
}

/**
 * Returns JSON with its payloads replaced by their sizes, or undefined if it has none. No cut can
 * then split a payload.
 */
export function withNames(json: string): string | undefined {
  return mayHavePayload(json) ? (native.withPayloadNames(json) ?? undefined) : undefined
}

/** Returns the number of bytes that base64 or a data URL decodes to. */
export function decodedBytes(payload: string): number {
  const start = payload.startsWith('data:') ? payload.indexOf(',') + 1 : 0
  const isPlain = start > 0 && !payload.slice(0, start).includes(';base64')
  return Buffer.byteLength(payload.slice(start), isPlain ? 'utf8' : 'base64')
}
