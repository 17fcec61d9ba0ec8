// Images as providers look at them: by their bytes.
import { crc32, deflateSync } from 'node:zlib'

/** Pixels of a side over which Anthropic rejects an image. */
const MOST_PIXELS = 8_000

const chunk = (type, data) => {
  const body = Buffer.concat([Buffer.from(type), data])
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  size.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([size, body, sum])
}
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/** Makes a PNG of stripes, which every reader takes. */
export function png(width, height) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8)
  const row = Buffer.alloc(1 + 3 * width, 99)
  row[0] = 0
  const rows = Buffer.concat(Array.from({ length: height }, () => row))
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([SIGNATURE, ...parts])
}

/** First bytes of a file of each type. A WebP has them behind the name of its container. */
const STARTS = {
  'image/png': [SIGNATURE],
  'image/jpeg': [Buffer.from([0xff, 0xd8, 0xff])],
  'image/gif': ['GIF87a', 'GIF89a'],
  'image/webp': ['WEBP'],
  'application/pdf': ['%PDF-'],
}
const AT = { 'image/webp': 8 }

/** Reads `data:TYPE;base64,DATA`. */
export function ofDataUrl(url) {
  const [, type, data] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? []
  return { type, data: data ?? url }
}

/** Returns the reason for which the provider of a dialect rejects an image or a file. */
export function faultOf({ type, data }, dialect) {
  const starts = STARTS[type]
  if (!starts) return `media of the type ${type}`
  if (!data || data.length % 4 > 0 || /[^A-Za-z0-9+/=]/.test(data)) return `${type}: base64 is not valid`
  const bytes = Buffer.from(data, 'base64')
  if (!starts.some((start) => bytes.indexOf(start) === (AT[type] ?? 0)))
    return `bytes are not those of ${type}`
  if (type !== 'image/png' || dialect !== 'anthropic') return undefined
  const sides = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  return sides.some((side) => side === 0 || side > MOST_PIXELS) ? `an image of ${sides} pixels` : undefined
}
