import { types } from 'node:util'
import {
  elementAt,
  get,
  hasVastHoles,
  indexesOf,
  isBoxedText,
  isList,
  isObject,
  isPlain,
  tryRead,
} from './untrusted.js'

/** Returns the JSON of a value. If JSON.stringify throws or would write far more than the value
 *  holds, parts of it are described instead. Returns undefined for a value that has no JSON, such
 *  as a function. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return stringified(value)
  } catch {
    return JSON.stringify(plain(value))
  }
}

const { isProxy } = types
const { getOwnPropertyDescriptor } = Object

const { __lookupGetter__: lookup } = Object.prototype as unknown as {
  __lookupGetter__: (key: number | string) => unknown
}

/** Returns true if an accessor answers for an element or a member. Four times as fast as its
 *  descriptor. */
export function hasGetter(value: object, key: number | string): boolean {
  return lookup.call(value, key) !== undefined
}

/** Replaces a value before it is written, as the second argument of JSON.stringify does. */
// biome-ignore lint/suspicious/noExplicitAny: it is called on the holder of the value
type Replacer = (this: any, key: string, value: unknown) => unknown

/**
 * Writes JSON as JSON.stringify does, but throws for a value whose JSON would be far larger than
 * it. A value that is shared is written at each of its places, which can be exponentially more than
 * there are values.
 */
export function stringified(value: unknown, replace?: Replacer): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value, replace)
  const weight = weightOf(value, MOST, 0)
  if (Number.isNaN(weight)) return JSON.stringify(value, counting(MOST, replace))
  if (weight > MOST && isShared(value, MOST)) throw VAST
  return JSON.stringify(value, replace)
}

/** Thrown for a value of too many places. */
export const VAST = new RangeError('too many places')

/** Places that a value may have without a look at which of them it shares. */
export const MOST = 1_000_000
/** Chars of a text that count as a place. */
const CHARS_EACH = 64
/** Depth to which places are counted before the value is written. */
const COUNTED = 1_000

/** Returns the places of a value, at least: values, members and elements, and parts of texts. Stops
 *  over `most`. Returns NaN if only its JSON can tell, since code of the caller writes it. */
function weightOf(value: unknown, most: number, depth: number): number {
  if (!isObject(value) || ArrayBuffer.isView(value)) return shellOf(value)
  if (isProxy(value) || depth > COUNTED) return Number.NaN
  if (isBoxedText(value)) return shellOf(value)
  if ('toJSON' in value) return isTime(value) ? 1 : Number.NaN
  if (Array.isArray(value)) return weightOfList(value, most, depth)
  let weight = 1
  for (const name in value) {
    if (hasGetter(value, name)) return Number.NaN
    weight += 1 + weightOf((value as Record<string, unknown>)[name], most - weight, depth + 1)
    // Also stops at NaN.
    if (!(weight <= most)) break
  }
  return weight
}

function isTime(value: object): boolean {
  return types.isDate(value) && !Object.hasOwn(value, 'toJSON')
}

function weightOfList(list: readonly unknown[], most: number, depth: number): number {
  let weight = 1
  for (let at = 0; at < list.length && weight <= most; at++)
    weight += weightOf(elementAt(list, at), most - weight, depth + 1)
  return weight
}

/** Returns true if a value has over `most` places more than values: for what it shares, and for
 *  holes. Looks at each value once. */
export function isShared(value: unknown, most: number): boolean {
  if (!(weightOf(value, most, 0) > most)) return false
  const weights = new Map<unknown, number>()
  let own = 0
  const weigh = (one: unknown): number => {
    const shell = shellOf(one)
    const isLarge = isObject(one) || shell >= 2
    const known = isLarge ? weights.get(one) : undefined
    if (known !== undefined) return known
    if (one !== undefined) own += shell
    if (isLarge) weights.set(one, shell)
    if (!isObject(one) || ArrayBuffer.isView(one) || isBoxedText(one)) return shell
    if (isList(one) && one.length > LONGEST) return Number.POSITIVE_INFINITY
    let weight = shell
    if (isList(one)) for (let at = 0; at < one.length; at++) weight += weigh(elementAt(one, at))
    else for (const name of Object.keys(one)) weight += 1 + weigh(getOwnPropertyDescriptor(one, name)?.value)
    weights.set(one, weight)
    return weight
  }
  return weigh(value) > 2 * own + most
}

/** Returns the places of a value without those of its members. */
function shellOf(value: unknown): number {
  if (typeof value === 'string' || value instanceof String) return 1 + value.length / CHARS_EACH
  return ArrayBuffer.isView(value) ? value.byteLength : 1
}

/** Most elements of a list that are counted. */
const LONGEST = 16 * MOST

/** Makes a replacer that throws beyond a number of places. */
function counting(most: number, replace?: Replacer): Replacer {
  let left = most
  return function (this: unknown, key, value) {
    left -= ArrayBuffer.isView(value) ? 1 : shellOf(value)
    if (left < 0) throw VAST
    return replace ? replace.call(this, key, value) : value
  }
}

/** Control characters that JSON may leave unescaped. Escaped, they survive cleaning once the JSON
 *  is a text. */
const CONTROLS = /[\x7f-\x9f]/g

/** Escapes all control characters of a JSON text, like `escaped` in src/json/escape.rs. */
export function escaped(json: string): string {
  return json.replace(CONTROLS, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)
}

const CONTAINER = /^[ \t\r\n]*[[{]/

/** Returns true if a text may be the JSON of a list or an object, by its ends. */
export function mayBeContainer(text: string): boolean {
  if (!CONTAINER.test(text)) return false
  const end = text.trimEnd().at(-1)
  return end === ']' || end === '}'
}

/** Returns the bytes of a value as JSON. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(jsonOf(value) ?? '')
}

/** Bytes of a char at most, as an escape. */
export const MOST_PER_CHAR = 6
/** Bytes of a number at most, and of one of 32 bits without a fraction. */
const LONGEST_NUMBER = 25
const LONGEST_INTEGER = 11
/** Bytes of a word such as `false`, at most. */
const LONGEST_WORD = 5
/** Bytes of the quotes, the colon and the comma of a member. */
const PER_MEMBER = 4

/**
 * Returns a lower bound of the room left after the JSON of a value. Negative if there may be no
 * room, if only its JSON can show it, or if a text is not well-formed. Does not run accessors.
 */
export function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string')
    return value.length <= room && value.isWellFormed() ? room - value.length * MOST_PER_CHAR - 2 : -1
  if (typeof value === 'number') return room - ((value | 0) === value ? LONGEST_INTEGER : LONGEST_NUMBER)
  if (!isObject(value)) return typeof value === 'bigint' ? -1 : room - LONGEST_WORD
  if (isProxy(value) || 'toJSON' in value) return -1
  if (Array.isArray(value)) return roomAfterList(value, room)
  return isPlain(value) ? roomAfterMembers(value, room) : -1
}

function roomAfterList(list: readonly unknown[], room: number): number {
  let left = room - 2
  for (let at = 0; at < list.length && left >= 0; at++) {
    if (hasGetter(list, at)) return -1
    left = roomAfter(list[at], left - 1)
    // Elements are usually alike, so the first one shows if the walk of a long list would fail.
    if (at === 0 && (room - left) * list.length > room) return -1
  }
  return left
}

function roomAfterMembers(value: object, room: number): number {
  let left = room - 2
  // The fastest loop over names. Includes inherited ones, but plain data has none.
  for (const name in value) {
    left -= name.length * MOST_PER_CHAR + PER_MEMBER
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
 * Copies a value to plain data that has JSON. Cycles, BigInt, functions, maps, sets, bytes, members
 * that throw, what occurs a second time, and what is beyond a number of places are replaced by a
 * description.
 */
export function plain(value: unknown): unknown {
  return new Copy().of(value)
}

class Copy {
  readonly #seen = new Set<object>()
  /** Objects that hold the value that is being read. */
  readonly #above = new Set<object>()
  /** Places that are left. A getter or a `toJSON` may make new values without end. */
  #left = MOST

  of(value: unknown): unknown {
    this.#left -= 1
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'bigint' || typeof value === 'symbol') return String(value)
    if (typeof value === 'function') return '[function]'
    if (typeof value !== 'object' || value === null) return value
    if (this.#above.has(value)) return '[circular]'
    if (this.#above.size >= DEPTH) return '[too deep]'
    if (this.#left < 0) return '[too large]'
    // Shared objects are walked once: there can be exponentially more paths than objects.
    if (this.#seen.has(value)) return '[seen above]'
    this.#seen.add(value)
    this.#above.add(value)
    const read = tryRead(() => described(value) ?? this.#members(value))
    this.#above.delete(value)
    return read ?? '[unreadable]'
  }

  #text(text: string): string {
    this.#left -= text.length / CHARS_EACH
    return this.#left < 0 ? `[text of ${text.length} chars]` : text
  }

  #members(value: object): unknown {
    const toJSON = get(value, 'toJSON')
    if (typeof toJSON === 'function') {
      const json: unknown = (toJSON as (key: string) => unknown).call(value, '')
      return json === value ? '[circular]' : this.of(json)
    }
    if (isList(value)) return this.#elements(value)
    const names = types.isNativeError(value) ? ['name', 'message', ...Object.keys(value)] : Object.keys(value)
    return Object.fromEntries(this.#first(names).map((name) => [name, this.#member(value, name)]))
  }

  #elements(list: readonly unknown[]): unknown[] {
    const elements: unknown[] = []
    const { length } = list
    let next = 0
    for (const at of indexesOf(list)) {
      if (this.#left <= 0) break
      if (at > next) elements.push(`[... ${at - next} empty items]`)
      elements.push(this.of(elementAt(list, at)) ?? null)
      next = at + 1
    }
    if (next < length) elements.push(`[... ${length - next} more items]`)
    return elements
  }

  /** Returns as many names as there are places left. */
  #first(names: string[]): string[] {
    return names.length > this.#left ? names.slice(0, Math.max(0, this.#left)) : names
  }

  #member(value: object, name: string): unknown {
    try {
      return this.of((value as Record<string, unknown>)[name])
    } catch {
      return '[unreadable]'
    }
  }
}

/**
 * Returns a copy of a value in which a function has changed each text. Parts that nothing changes
 * are shared, and so are parts that the value shares, which are read once. What holds itself, is
 * deeper than values are read, is not plain data, or throws, stays as it is.
 */
export function mapped(value: unknown, change: (text: string) => string): unknown {
  const made = new Map<object, unknown>()
  const copyOf = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return change(value)
    if (!isObject(value) || depth > DEPTH || made.size > MOST) return value
    if (made.has(value)) return made.get(value)
    made.set(value, value)
    const copy = tryRead(() => changed(value, (member) => copyOf(member, depth + 1))) ?? value
    made.set(value, copy)
    return copy
  }
  return copyOf(value, 0)
}

/** Returns a copy of a list or of plain data with other members, or the value if none differ. */
function changed(value: object, of: (member: unknown) => unknown): unknown {
  const list = isList(value)
  if (list ? hasVastHoles(value) : !isPlain(value)) return value
  const entries: [string, unknown][] = list
    ? Array.from(value, (member, at) => [String(at), of(member)])
    : Object.keys(value).map((name) => [name, of((value as Record<string, unknown>)[name])])
  if (entries.every(([name, member]) => member === (value as Record<string, unknown>)[name])) return value
  return list ? entries.map(([, member]) => member) : Object.fromEntries(entries)
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
