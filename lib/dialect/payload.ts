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

/** Start of a payload in JSON. Few other texts have it. */
const MAYBE = /"(?:data:|[\w+/\\-]{64})/

/**
 * Returns JSON with its payloads replaced by their sizes, or undefined if it has none. No cut can
 * then split a payload.
 */
export function withNames(json: string): string | undefined {
  return MAYBE.test(json) ? (native.withPayloadNames(json) ?? undefined) : undefined
}

/** Returns the number of bytes that base64 or a data URL decodes to. */
export function decodedBytes(payload: string): number {
  const start = payload.startsWith('data:') ? payload.indexOf(',') + 1 : 0
  const isPlain = start > 0 && !payload.slice(0, start).includes(';base64')
  return Buffer.byteLength(payload.slice(start), isPlain ? 'utf8' : 'base64')
}
