import { jsonBytes } from '../json.js'
import { bytesOf } from '../media/medium.js'
import { elementAt, get, hasVastHoles, isList, isObject, isPlain, tryRead } from '../untrusted.js'
import { isEncoded, isSilent } from './members.js'

/** Depth up to which a message is measured. What is beyond is measured by its JSON. */
const DEPTH = 40
/** Bytes of a value that holds itself, which no body can. */
const CIRCULAR = 12

/** Returns the bytes that a value takes in the body of a request, as JSON, without data that is not
 *  sent. Errs on the high side, since a framework may send less than it holds. A part that is
 *  shared is measured once, and counts at each of its places. */
export function bodyBytes(value: unknown): number {
  const known = new Map<object, number>()
  const bytesIn = (value: unknown, depth: number): number => {
    // Base64 has no escapes, and one byte a char.
    if (typeof value === 'string') return isEncoded(value) ? value.length + 2 : jsonBytes(value)
    if (!isObject(value)) return jsonBytes(value)
    const measured = known.get(value)
    if (measured !== undefined) return measured
    known.set(value, CIRCULAR)
    const sum = measure(value, depth)
    known.set(value, sum)
    return sum
  }
  const measure = (value: object, depth: number): number => {
    const bytes = tryRead(() => bytesOf(value))
    if (bytes) return Math.ceil(bytes.length / 3) * 4 + 2
    if (depth > DEPTH) return jsonBytes(value)
    return tryRead(() => sumOf(value, (member) => bytesIn(member, depth + 1))) ?? jsonBytes(value)
  }
  return bytesIn(value, 0)
}

/** Returns the bytes of an object with those of its members. */
function sumOf(value: object, of: (member: unknown) => number): number {
  let sum = 2
  if (isList(value)) {
    if (hasVastHoles(value)) return jsonBytes(value)
    for (let at = 0; at < value.length; at++) sum += of(elementAt(value, at)) + 1
    return sum
  }
  if (!isPlain(value) && typeof get(value, 'toJSON') === 'function') return jsonBytes(value)
  for (const name of Object.keys(value)) {
    const member = get(value, name)
    if (member === undefined || typeof member === 'function') continue
    // Side data is an object; words such as an id or a signature are sent.
    if (isObject(member) && isSilent(name)) continue
    sum += name.length + 4 + of(member)
  }
  return sum
}
