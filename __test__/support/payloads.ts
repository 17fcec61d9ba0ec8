// biome-ignore-all lint/suspicious/noExplicitAny: messages of thirteen frameworks
import { createHash } from 'node:crypto'

/** Random bytes of a seed as base64. */
export function payload(seed: string, bytes: number): string {
  return createHash('shake256', { outputLength: bytes }).update(seed).digest('base64')
}

/** Blocks around a payload. */
const BLOCKS: readonly ((data: string) => object)[] = [
  (data) => ({ type: 'audio', data, mimeType: 'audio/wav' }),
  (data) => ({ type: 'hologram', data }),
  (data) => ({ type: 'odd', source: { url: `data:audio/wav;base64,${data}` } }),
  (data) => ({ type: 'odd', one: [{ two: { media_type: 'video/mp4', bytes: data } }] }),
  (data) => ({ type: 'audio', audio: { format: 'mp3', source: { data } }, id: 'a1' }),
]

/** Puts a payload among the blocks of a message, beside them, or into data, which is at the paths
 *  `json`. Gives it back. */
export function planted(message: object, data: string, at: number, json: readonly string[] = []): string {
  const block = (BLOCKS[at % BLOCKS.length] as (typeof BLOCKS)[number])(data)
  const places = [message, ...placesIn(message, json)]
  const place: any = places[Math.floor(at / BLOCKS.length) % places.length]
  if (Array.isArray(place)) place.push(block)
  else place[`extra${at}`] = block
  return data
}

/** Lists, what holds them, and data. */
function* placesIn(value: unknown, json: readonly string[], path = ''): Generator<object> {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return
  if (Array.isArray(value) || Object.values(value).some(Array.isArray) || json.includes(path)) yield value
  for (const [name, part] of Object.entries(value))
    yield* placesIn(part, json, path === '' ? name : `${path}.${name}`)
}

/** Payloads that a text contains in part. */
export function fragmentsOf(payloads: readonly string[], text: string): string[] {
  const rest = payloads.reduce((text, data) => text.replaceAll(data, ''), text)
  const chunks = (data: string) => data.match(/.{32}/g) ?? []
  return payloads.filter((data) => chunks(data).some((chunk) => rest.includes(chunk)))
}
