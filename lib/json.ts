import { types } from 'node:util'
import { elementAt, get, isPlain, quietly } from './reading.js'

/** JSON of a value as JSON.stringify writes it. What that refuses comes described; what has no JSON gives nothing. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return JSON.stringify(plain(value))
  }
}

/** Control characters that JSON need not escape. As escapes they are no dirt when the JSON has become a text. */
const CONTROLS = /[\x7f-\x9f]/g

/** The JSON with all its control characters as escapes, as `escaped` in src/json/write.rs has it. */
export function escaped(json: string): string {
  return json.replace(CONTROLS, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)
}

/** Bytes of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(jsonOf(value) ?? '')
}

/** Bytes of a char as an escape, and of a number, or a word such as `false`. */
const MOST_PER_CHAR = 6
const LONGEST_SCALAR = 25
/** What a member takes: a colon and a comma, and for the time of the walk more, for where many are, JSON tells sooner. */
const WALKED = 32

/**
 * The room that is surely left after the JSON of a value. Below 0 where there may be none, where only JSON can tell, and
 * where a text is not well-formed. Runs no accessor.
 */
export function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string')
    return value.length <= room && value.isWellFormed() ? room - value.length * MOST_PER_CHAR - 2 : -1
  if (typeof value !== 'object' || value === null)
    return typeof value === 'bigint' ? -1 : room - LONGEST_SCALAR
  if (types.isProxy(value) || 'toJSON' in value) return -1
  if (Array.isArray(value)) return roomAfterList(value, room)
  return isPlain(value) ? roomAfterMembers(value, room) : -1
}

function roomAfterList(list: readonly unknown[], room: number): number {
  let left = room - 2
  for (let at = 0; at < list.length && left >= 0; at++) {
    left = roomAfter(elementAt(list, at), left - 1)
    // Elements are alike most often: the first tells of a long list that the walk would come to nothing.
    if (at === 0 && (room - left) * list.length > room) return -1
  }
  return left
}

function roomAfterMembers(value: object, room: number): number {
  let left = room - 2
  // What is inherited counts for nothing in JSON, but of plain data nothing is: this is the fastest way to the names.
  for (const name in value) {
    left -= name.length * MOST_PER_CHAR + WALKED
    if (left < 0 || !name.isWellFormed()) return -1
    const member = Object.getOwnPropertyDescriptor(value, name)
    // An accessor is run once, by whoever reads the value.
    if (member?.get !== undefined || member?.set !== undefined) return -1
    left = roomAfter(member?.value, left)
  }
  return left
}

/** How deep values are read; a stack has its end. */
const DEPTH = 200

/**
 * Copies a value to plain data that has a JSON: cycles, BigInt, functions, maps, sets and bytes come described, as does what
 * throws when it is read.
 */
export function plain(value: unknown, above: readonly object[] = [], seen = new Set<object>()): unknown {
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value)
  if (typeof value === 'function') return '[function]'
  if (typeof value !== 'object' || value === null) return value
  if (above.includes(value)) return '[circular]'
  if (above.length >= DEPTH) return '[too deep]'
  // Each way to the same object would be walked again, and there are more ways than objects.
  if (seen.has(value)) return '[seen above]'
  seen.add(value)
  return quietly(() => described(value) ?? members(value, [...above, value], seen)) ?? '[unreadable]'
}

/** A word for an object that is no data of members. */
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
