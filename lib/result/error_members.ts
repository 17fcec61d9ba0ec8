import { inspect, types } from 'node:util'
import type { EnginePolicy } from '../compiled.js'
import { isShared, plain } from '../json.js'
import { elementsOf, get, isList, isPlain, tryRead } from '../untrusted.js'
import { HEAD } from './error_stack.js'
import { described } from './rebuild_error.js'

/** The JSON of an error, and its text by util.inspect, are at most this multiple of the limit of a
 *  text. */
export const TIMES = 4

/** A member of an error other than its name, message and stack. */
export interface Member {
  readonly key: PropertyKey
  value: unknown
  /** JSON of data, made once because it runs getters. */
  json?: Json
  cost?: number
}

/** The JSON of a value, and its size on a scale. */
export interface Json {
  readonly text: string | undefined
  readonly size: number
}

/** Depth to which errors are shortened as errors rather than as data, and to which brief ones are
 *  walked. */
export const DEPTH = 5
/** Room for quotes, a comma, and the blanks that util.inspect puts before a member and between
 *  columns. */
export const AROUND = 16

/** Members with other errors, which count even if they are not enumerable. */
export const CAUSES: readonly PropertyKey[] = ['cause', 'errors']

/** Returns the properties that `shortHead` shortens. An object without a message has none. */
export function errorHead(error: object): readonly PropertyKey[] {
  return typeof get(error, 'message') === 'string' ? HEAD : []
}

/** Returns the members of an error that JSON or util.inspect show, each read once. */
export function membersOf(error: object): Member[] {
  const keys = new Set([...(tryRead(() => Reflect.ownKeys(error)) ?? []), ...CAUSES])
  const members: Member[] = []
  const head = errorHead(error)
  for (const key of keys) {
    if (head.includes(key)) continue
    const own = described(error, key)
    if (!(own?.enumerable || CAUSES.includes(key))) continue
    const value: unknown = own && 'value' in own ? own.value : get(error, key)
    if (own || value !== undefined) members.push({ key, value })
  }
  return members
}

/** Returns true if a value is an error, of any realm. */
export function isError(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (types.isNativeError(value)) return true
  return typeof get(value, 'message') === 'string' && typeof get(value, 'stack') === 'string'
}

/** Returns the elements of an array, undefined for another value. */
export function listed(value: unknown): unknown[] | undefined {
  return isList(value) ? elementsOf(value) : undefined
}

/** Returns true if a copy can replace a value: data, or a container of data. */
export function isData(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (types.isNativeError(value)) return false
  return (
    isPlain(value) ||
    isList(value) ||
    types.isMap(value) ||
    types.isSet(value) ||
    types.isBoxedPrimitive(value) ||
    ArrayBuffer.isView(value) ||
    types.isAnyArrayBuffer(value)
  )
}

/** Sizes in the unit of the tightest limit, in which several limits are one. */
export class Scale {
  readonly cap: number
  readonly #byte: number
  readonly #char: number

  constructor({ limits }: EnginePolicy) {
    this.cap = Math.min(limits.bytes, limits.chars)
    this.#byte = this.cap / limits.bytes
    this.#char = this.cap / limits.chars
  }

  size(text = ''): number {
    return Math.max(text.length * this.#char, Buffer.byteLength(text) * this.#byte)
  }

  /**
   * Returns the JSON of data, including the contents of errors, maps and sets, and its size.
   * Without JSON the size is 0.
   */
  json(value: unknown, most = MOST_CHARS): Json {
    const vast = { text: undefined, size: Number.POSITIVE_INFINITY }
    if (ArrayBuffer.isView(value) && value.byteLength > this.cap * TIMES) return vast
    if (tryRead(() => isShared(value, SHARED))) return vast
    try {
      const text = JSON.stringify(value, telling(most)) as string | undefined
      return { text, size: this.size(text) }
    } catch (error) {
      return error === VAST ? vast : { text: undefined, size: 0 }
    }
  }

  /** Returns the size of the JSON that an object makes by a `toJSON`, 0 if it has none. */
  own(value: unknown): number {
    const isMade = typeof value === 'object' && value !== null && get(value, 'toJSON') !== undefined
    return isMade ? this.json(value, this.cap * TIMES * CHARS_EACH).size : 0
  }

  /** Returns the size of the text by util.inspect, 0 if that throws. */
  shown(value: unknown, depth?: number): number {
    return this.size(tryRead(() => (depth === undefined ? inspect(value) : inspect(value, { depth }))))
  }

  /** Returns true if a value takes few enough words: by util.inspect, as a string, and by its own
   *  `toJSON`. */
  isBrief(value: unknown, times: number): boolean {
    const room = this.cap * TIMES
    const json = this.own(value)
    const text = tryRead(() => String(value))
    return this.shown(value) <= room && this.size(text) <= room && json * times <= room
  }
}

/** Thrown if JSON takes more chars than allowed. A toJSON may lead to another without end. */
const VAST = Symbol('vast')
const MOST_CHARS = 16 << 20
/** Places beyond those of its values from which data is described. */
const SHARED = 65_536
/** Chars that a value other than text counts for. It takes as long as that many. */
const CHARS_EACH = 16

/** Returns a replacer that adds contents to JSON that only util.inspect would show. */
function telling(most: number): (key: string, value: unknown) => unknown {
  let room = most
  // Each error has one copy, since cycles could not be detected among new ones.
  const told = new Map<object, object>()
  return (_key, value) => {
    const isText = typeof value === 'string' || types.isStringObject(value)
    room -= isText ? value.length : CHARS_EACH
    if (room < 0) throw VAST
    if (types.isMap(value) || types.isSet(value)) return plain(value)
    if (!types.isNativeError(value)) return value
    const { name, message, cause } = value
    const data = told.get(value) ?? { name, message, cause, ...(value as object) }
    told.set(value, data)
    return data
  }
}

/** Returns plain data with the content of a value. */
export function dataOf(value: unknown, { text }: Pick<Json, 'text'>): unknown {
  if (text === undefined) return plain(value)
  return typeof value === 'string' ? value : JSON.parse(text)
}
