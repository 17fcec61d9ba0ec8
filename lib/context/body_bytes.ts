import { jsonBytes } from '../json.js'
import { bytesOf } from '../media/medium.js'
import { elementAt, get, isList, isObject, isPlain, tryRead } from '../untrusted.js'
import { isEncoded, isSilent } from './members.js'

/** Depth and number of values up to which a message is measured. What is beyond is measured by its
 *  JSON. */
const DEPTH = 40

/** Returns the bytes that a value takes in the body of a request, as JSON, without data that is not
 *  sent. Errs on the high side, since a framework may send less than it holds. */
export function bodyBytes(value: unknown, depth = 0): number {
  // Base64 has no escapes, and one byte a char.
  if (typeof value === 'string') return isEncoded(value) ? value.length + 2 : jsonBytes(value)
  if (!isObject(value)) return jsonBytes(value)
  const bytes = tryRead(() => bytesOf(value))
  if (bytes) return Math.ceil(bytes.length / 3) * 4 + 2
  if (depth > DEPTH) return jsonBytes(value)
  return tryRead(() => sumOf(value, depth)) ?? jsonBytes(value)
}

function sumOf(value: object, depth: number): number {
  let sum = 2
  if (isList(value)) {
    for (let at = 0; at < value.length; at++) sum += bodyBytes(elementAt(value, at), depth + 1) + 1
    return sum
  }
  if (!isPlain(value) && typeof get(value, 'toJSON') === 'function') return jsonBytes(value)
  for (const name of Object.keys(value)) {
    const member = get(value, name)
    if (member === undefined || typeof member === 'function') continue
    // Side data is an object; words such as an id or a signature are sent.
    if (isObject(member) && isSilent(name)) continue
    sum += name.length + 4 + bodyBytes(member, depth + 1)
  }
  return sum
}
