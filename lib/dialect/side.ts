import { jsonBytes, plain } from '../json.js'
import { truncateUtf16Safe } from '../text/slice.js'
import { mediumOf, omitted } from './payload.js'

type Members = Record<string, unknown>

/**
 * Caps what a result holds besides its text to `maxBytes` of JSON. The same value where it fits; else a copy that says how
 * large it was: small scalars stay first, long texts are shortened, payloads named with their size, arrays and objects keep
 * what fits of them, and what has no JSON (cycles, BigInt, maps, bytes) is described. Nothing where not even an empty one
 * fits.
 */
export function capSide(value: unknown, maxBytes: number): unknown {
  let data = value
  let json: string | undefined
  try {
    json = JSON.stringify(value)
  } catch {
    data = plain(value)
    json = JSON.stringify(data)
  }
  if (json === undefined) return value
  const bytes = Buffer.byteLength(json)
  return bytes <= maxBytes ? data : shrink(plain(value), maxBytes, { depth: 0, bytes })
}

/** The same without a word about it, where that would stand among what a model is sent. */
export function shrunk(value: unknown, maxBytes: number): unknown {
  return shrink(plain(value), maxBytes, { depth: 0 })
}

/** Strings up to so many bytes are as good as numbers: a path, a state, an id. */
const SMALL = 256
/** Values below this depth are summed up. */
const DEPTH = 4
/** Less room than this shows nothing of a value. */
const LEAST = 40

/** What is known of a value from above it. */
interface Above {
  readonly depth: number
  /** What it took in the beginning, said inside. */
  readonly bytes?: number
  /** What the bytes in it are. */
  readonly medium?: string | undefined
}

/** Shrinks plain data to so many bytes of JSON. */
function shrink(data: unknown, room: number, above: Above): unknown {
  const { depth, bytes } = above
  if (typeof data === 'string') return shortened(data, room, above)
  if (typeof data !== 'object' || data === null) return jsonBytes(data) <= room ? data : undefined
  if (depth >= DEPTH) {
    const summary = Array.isArray(data)
      ? `[array of ${data.length} items]`
      : `[object of ${Object.keys(data).length} members]`
    return jsonBytes(summary) <= room ? summary : undefined
  }
  const mark = bytes === undefined ? undefined : { originalBytes: bytes }
  return Array.isArray(data)
    ? firstItems(data, room, above, mark)
    : someMembers(data as Members, room, above, mark)
}

/** Takes what fits of the room, piece by piece. */
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
  // The smallest first, so that what they leave of their shares goes to the larger ones.
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

/** Name of the member that tells how many are missing. */
const MORE = '[...]'

/** The start of a text that fits as JSON, and what is missing; of a payload only its size. */
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
    // An escape takes up to six bytes: what is too much is never more than six times what has to go.
    length = Math.max(0, length - Math.max(1, Math.ceil((size - room) / 6)))
  }
}
