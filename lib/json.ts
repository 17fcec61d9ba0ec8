import { types } from 'node:util'
import { get, quietly } from './reading.js'

/** JSON of a value as JSON.stringify writes it. What that refuses comes described; what has no JSON gives nothing. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return JSON.stringify(plain(value))
  }
}

/** Bytes of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(jsonOf(value) ?? '')
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
