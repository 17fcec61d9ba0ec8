import { jsonBytes, plain, stringified } from '../json.js'
import { truncateUtf16Safe } from '../text/slice.js'
import { isList } from '../untrusted.js'
import { mediumOf, omitted } from './payload.js'
import { settled } from './settled.js'

type Members = Record<string, unknown>

/**
 * Caps the side data of a result to `maxBytes` of JSON. Data that fits is returned as it is. Otherwise returns a copy
 * that states the original size. Small scalars are kept first, long texts are truncated, payloads are replaced by their
 * size, and arrays and objects keep the entries that fit. Values without JSON (cycles, BigInt, maps, bytes) are
 * described. Returns undefined if not even an empty value fits.
 */
export function capSide(value: unknown, maxBytes: number): unknown {
  let data = value
  let json: string | undefined
  try {
    json = stringified(value)
  } catch {
    data = plain(value)
    json = JSON.stringify(data)
  }
  if (json === undefined) return value
  const bytes = Buffer.byteLength(json)
  if (bytes <= maxBytes) return settled(data) === data ? data : JSON.parse(json)
  return shrink(plain(value), maxBytes, { depth: 0, bytes })
}

/** Like `capSide`, without stating the original size, for data that a model is sent. */
export function shrunk(value: unknown, maxBytes: number): unknown {
  return shrink(plain(value), maxBytes, { depth: 0 })
}

/** Bytes of JSON up to which a string is kept like a number: a path, a state, an id. */
const SMALL = 256
/** Depth from which on values are summarised. */
const DEPTH = 4
/** Bytes of room up to which a part of a value shows nothing. */
const LEAST = 40

/** The context of a value in its parents. */
interface Above {
  readonly depth: number
  /** Original size, stated in the copy. */
  readonly bytes?: number
  /** Type of the bytes in it. */
  readonly medium?: string | undefined
}

/** Shrinks plain data to `room` bytes of JSON. Returns undefined if nothing fits. */
function shrink(data: unknown, room: number, above: Above): unknown {
  const { depth, bytes } = above
  if (typeof data === 'string') return shortened(data, room, above)
  if (typeof data !== 'object' || data === null) return jsonBytes(data) <= room ? data : undefined
  if (depth >= DEPTH) {
    const summary = isList(data)
      ? `[array of ${data.length} items]`
      : `[object of ${Object.keys(data).length} members]`
    return jsonBytes(summary) <= room ? summary : undefined
  }
  const mark = bytes === undefined ? undefined : { originalBytes: bytes }
  return isList(data) ? firstItems(data, room, above, mark) : someMembers(data as Members, room, above, mark)
}

/** A budget of bytes. */
class Room {
  constructor(public left: number) {}

  take(bytes: number): boolean {
    if (bytes > this.left) return false
    this.left -= bytes
    return true
  }
}

const BRACKETS = 2
const COMMA = 1
const COLON = 1

function firstItems(
  items: readonly unknown[],
  bytes: number,
  { depth, medium }: Above,
  mark: unknown,
): unknown[] | undefined {
  const room = new Room(bytes)
  if (!room.take(BRACKETS)) return undefined
  const last: unknown[] = []
  const said = mark && { spillway: mark }
  if (said && room.take(jsonBytes(said) + COMMA)) last.push(said)
  const more = (count: number) => `[... ${count} more items]`
  if (!room.take(jsonBytes(more(items.length)) + COMMA)) return last
  const kept: unknown[] = []
  for (const item of items) {
    if (room.take(jsonBytes(item) + COMMA)) {
      kept.push(item)
      continue
    }
    const part = room.left > LEAST ? shrink(item, room.left - COMMA, { depth: depth + 1, medium }) : undefined
    if (part !== undefined) kept.push(part)
    break
  }
  const missing = items.length - kept.length
  return [...kept, ...(missing > 0 ? [more(missing)] : []), ...last]
}

function someMembers(data: Members, bytes: number, above: Above, mark: unknown): Members | undefined {
  const room = new Room(bytes)
  if (!room.take(BRACKETS)) return undefined
  const last: [string, unknown][] = []
  const add = (name: string, value: unknown) => {
    if (room.take(jsonBytes(name) + COLON + jsonBytes(value) + COMMA)) last.push([name, value])
  }
  if (mark !== undefined) add('spillway', mark)
  const below = { depth: above.depth + 1, medium: mediumOf(data) ?? above.medium }
  const all = Object.entries(data).filter(([, value]) => value !== undefined)
  const more = (count: number) => `${count} more members`
  const saysMore = room.take(jsonBytes(MORE) + COLON + jsonBytes(more(all.length)) + COMMA)
  const kept = new Map<string, unknown>()
  const sized = all.map(([name, value]) => ({
    name,
    value,
    size: jsonBytes(value),
    key: jsonBytes(name) + COLON + COMMA,
  }))
  const isSmall = ({ value, size }: { value: unknown; size: number }) =>
    typeof value !== 'object' && size <= SMALL
  for (const one of sized) if (isSmall(one) && room.take(one.key + one.size)) kept.set(one.name, one.value)
  // Smallest first: the rest of their shares goes to the larger ones.
  const large = sized.filter((one) => !isSmall(one)).sort((a, b) => a.size - b.size)
  for (const [at, { name, value, size, key }] of large.entries()) {
    const share = Math.floor(room.left / (large.length - at)) - key
    const part = size <= share ? value : share > LEAST ? shrink(value, share, below) : undefined
    if (part !== undefined && room.take(key + jsonBytes(part))) kept.set(name, part)
  }
  const missing = all.length - kept.size
  if (missing > 0 && saysMore) last.unshift([MORE, more(missing)])
  const inOrder = all.flatMap(([name]): [string, unknown][] =>
    kept.has(name) ? [[name, kept.get(name)]] : [],
  )
  return Object.fromEntries([...inOrder, ...last])
}

/** Name of the member that counts the omitted ones. */
const MORE = '[...]'

/**
 * Returns the start of a text that fits as JSON, and the number of omitted chars. A payload is replaced by its size.
 */
function shortened(text: string, room: number, { bytes, medium }: Above): string | undefined {
  if (jsonBytes(text) <= room) return text
  const said = omitted(text, medium)
  if (said) return said.find((words) => jsonBytes(words) <= room)
  const note = (kept: number) =>
    `[... ${text.length - kept} more characters truncated${bytes === undefined ? '' : ` of ${bytes} bytes`}]`
  for (let length = room; ; ) {
    const head = truncateUtf16Safe(text, length).toWellFormed()
    const size = jsonBytes(head + note(head.length))
    if (size <= room) return head + note(head.length)
    if (length === 0) return room >= BRACKETS ? '' : undefined
    // An escape takes up to six bytes, so at least a sixth of the excess must be removed.
    length = Math.max(0, length - Math.max(1, Math.ceil((size - room) / 6)))
  }
}
