import { types } from 'node:util'
import { elementAt, get, isPlain, tryRead } from './untrusted.js'

/** Returns the JSON of a value. If JSON.stringify throws, values without JSON are described instead. Returns undefined
 *  for a value that has no JSON, such as a function. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return JSON.stringify(plain(value))
  }
}

/** Control characters that JSON may leave unescaped. Escaped, they survive cleaning once the JSON is a text. */
const CONTROLS = /[\x7f-\x9f]/g

/** Escapes all control characters of a JSON text, like `escaped` in src/json/write.rs. */
export function escaped(json: string): string {
  return json.replace(CONTROLS, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)
}

/** Returns the bytes of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(jsonOf(value) ?? '')
}

const { isProxy } = types
const { getOwnPropertyDescriptor } = Object

/** Bytes of a char at most, as an escape. */
const MOST_PER_CHAR = 6
/** Bytes of a number or a word such as `false`, at most. */
const LONGEST_SCALAR = 25
/** Bytes charged for a member. More than it takes, because with many members JSON.stringify is faster than the walk. */
const WALKED = 32

/**
 * Returns a lower bound of the room left after the JSON of a value. Negative if there may be no room, if only its JSON
 * can show it, or if a text is not well-formed. Does not run accessors.
 */
export function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string')
    return value.length <= room && value.isWellFormed() ? room - value.length * MOST_PER_CHAR - 2 : -1
  if (typeof value !== 'object' || value === null)
    return typeof value === 'bigint' ? -1 : room - LONGEST_SCALAR
  if (isProxy(value) || 'toJSON' in value) return -1
  if (Array.isArray(value)) return roomAfterList(value, room)
  return isPlain(value) ? roomAfterMembers(value, room) : -1
}

function roomAfterList(list: readonly unknown[], room: number): number {
  let left = room - 2
  for (let at = 0; at < list.length && left >= 0; at++) {
    left = roomAfter(elementAt(list, at), left - 1)
    // Elements are usually alike, so the first one shows if the walk of a long list would fail.
    if (at === 0 && (room - left) * list.length > room) return -1
  }
  return left
}

function roomAfterMembers(value: object, room: number): number {
  let left = room - 2
  // The fastest loop over names. Includes inherited ones, but plain data has none.
  for (const name in value) {
    left -= name.length * MOST_PER_CHAR + WALKED
    if (left < 0 || !name.isWellFormed()) return -1
    const member = getOwnPropertyDescriptor(value, name)
    // An accessor may run only once, when the value is read.
    if (member?.get !== undefined || member?.set !== undefined) return -1
    left = roomAfter(member?.value, left)
  }
  return left
}

/** Depth up to which values are read. Bounds the stack. */
const DEPTH = 200

/**
 * Copies a value to plain data that has JSON. Cycles, BigInt, functions, maps, sets, bytes and members that throw are
 * replaced by a description.
 */
export function plain(value: unknown, above: readonly object[] = [], seen = new Set<object>()): unknown {
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value)
  if (typeof value === 'function') return '[function]'
  if (typeof value !== 'object' || value === null) return value
  if (above.includes(value)) return '[circular]'
  if (above.length >= DEPTH) return '[too deep]'
  // Shared objects are walked once: there can be exponentially more paths than objects.
  if (seen.has(value)) return '[seen above]'
  seen.add(value)
  return tryRead(() => described(value) ?? members(value, [...above, value], seen)) ?? '[unreadable]'
}

/** Describes an object that is not plain data. */
function described(value: object): string | undefined {
  if (types.isMap(value)) return `[Map of ${sizeOf(Map.prototype, value)} entries]`
  if (types.isSet(value)) return `[Set of ${sizeOf(Set.prototype, value)} values]`
  if (ArrayBuffer.isView(value))
    return `[${types.isUint8Array(value) ? 'Uint8Array' : 'view'} of ${value.byteLength} bytes]`
  if (types.isAnyArrayBuffer(value)) return `[ArrayBuffer of ${value.byteLength} bytes]`
  return undefined
}

function sizeOf(prototype: object, value: object): unknown {
  return Reflect.get(prototype, 'size', value)
}

function members(value: object, above: readonly object[], seen: Set<object>): unknown {
  const toJSON = get(value, 'toJSON')
  if (typeof toJSON === 'function') {
    const json: unknown = (toJSON as (key: string) => unknown).call(value, '')
    return json === value ? '[circular]' : plain(json, above, seen)
  }
  if (Array.isArray(value)) return Array.from(value, (_, at) => plain(get(value, at), above, seen) ?? null)
  const names = types.isNativeError(value) ? ['name', 'message', ...Object.keys(value)] : Object.keys(value)
  return Object.fromEntries(names.map((name) => [name, read(value, name, above, seen)]))
}

function read(value: object, name: string, above: readonly object[], seen: Set<object>): unknown {
  try {
    return plain((value as Record<string, unknown>)[name], above, seen)
  } catch {
    return '[unreadable]'
  }
}
