import { inspect, types } from 'node:util'
import type { Compiled } from '../compiled.js'
import { plain } from '../json.js'
import { get, isPlain, quietly } from '../reading.js'
import { described } from './rebuilt.js'
import { HEAD } from './stack.js'

/** The JSON of an error and what util.inspect shows of it come to at most so many times the limit of a text. */
export const TIMES = 4

/** One thing that an error holds besides its name, message and stack. */
export interface Member {
  readonly key: PropertyKey
  value: unknown
  /** Of data, made once: getters run meanwhile. */
  json?: Json
  cost?: number
}

/** The JSON of a value, and its size where it is made for a scale. */
export interface Json {
  readonly text: string | undefined
  readonly size: number
}

/** Errors that an error stands for, which no listing of its members need show. */
export const CAUSES: readonly PropertyKey[] = ['cause', 'errors']

/** The properties that `shortHead` sees to: an object without a message has none. */
export function headOf(error: object): readonly PropertyKey[] {
  return typeof get(error, 'message') === 'string' ? HEAD : []
}

/** What an error holds that JSON or util.inspect tell of, each read once. */
export function membersOf(error: object): Member[] {
  const keys = new Set([...(quietly(() => Reflect.ownKeys(error)) ?? []), ...CAUSES])
  const members: Member[] = []
  const head = headOf(error)
  for (const key of keys) {
    if (head.includes(key)) continue
    const own = described(error, key)
    if (!(own?.enumerable || CAUSES.includes(key))) continue
    const value: unknown = own && 'value' in own ? own.value : get(error, key)
    if (own || value !== undefined) members.push({ key, value })
  }
  return members
}

/** Tells whether a value is an error, of any realm. */
export function isError(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (types.isNativeError(value)) return true
  return typeof get(value, 'message') === 'string' && typeof get(value, 'stack') === 'string'
}

/** The elements of a list. */
export function elementsOf(value: unknown): unknown[] | undefined {
  return quietly(() => (Array.isArray(value) ? Array.from<unknown>(value) : undefined))
}

/** Tells whether a copy of a value is as good as the value: it is data, or no more than a holder of some. */
export function isData(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (types.isNativeError(value)) return false
  return (
    isPlain(value) ||
    quietly(() => Array.isArray(value)) === true ||
    types.isMap(value) ||
    types.isSet(value) ||
    types.isBoxedPrimitive(value) ||
    ArrayBuffer.isView(value) ||
    types.isAnyArrayBuffer(value)
  )
}

/** Sizes in the unit of the tightest limit, so that several limits are one. */
export class Scale {
  readonly cap: number
  readonly #byte: number
  readonly #char: number

  constructor({ limits }: Compiled) {
    this.cap = Math.min(limits.bytes, limits.chars)
    this.#byte = this.cap / limits.bytes
    this.#char = this.cap / limits.chars
  }

  size(text = ''): number {
    return Math.max(text.length * this.#char, Buffer.byteLength(text) * this.#byte)
  }

  /** JSON of data, with what errors, maps and sets in it hold, and its size. What has none takes nothing. */
  json(value: unknown, most = MOST_CHARS): Json {
    const vast = { text: undefined, size: Number.POSITIVE_INFINITY }
    if (ArrayBuffer.isView(value) && value.byteLength > this.cap * TIMES) return vast
    try {
      const text = JSON.stringify(value, telling(most)) as string | undefined
      return { text, size: this.size(text) }
    } catch (error) {
      return error === VAST ? vast : { text: undefined, size: 0 }
    }
  }

  /** Size of the JSON that an object has of its own making. */
  own(value: unknown): number {
    const isMade = typeof value === 'object' && value !== null && get(value, 'toJSON') !== undefined
    return isMade ? this.json(value, this.cap * TIMES * CHARS_EACH).size : 0
  }

  /** Size of what util.inspect shows. What it cannot show takes nothing. */
  shown(value: unknown, depth?: number): number {
    return this.size(quietly(() => (depth === undefined ? inspect(value) : inspect(value, { depth }))))
  }

  /** Tells whether a value is put in few enough words: by util.inspect, as a string, and by a toJSON of its own. */
  isBrief(value: unknown, times: number): boolean {
    const room = this.cap * TIMES
    const json = this.own(value)
    const text = quietly(() => String(value))
    return this.shown(value) <= room && this.size(text) <= room && json * times <= room
  }
}

/** Thrown where JSON comes to more chars than there may be: a toJSON may lead to another without end. */
const VAST = Symbol('vast')
const MOST_CHARS = 16 << 20
/** What a value that is no text counts: it takes as long as so many chars. */
const CHARS_EACH = 16

/** Has JSON tell of what it says nothing of, though util.inspect does. */
function telling(most: number): (key: string, value: unknown) => unknown {
  let room = most
  // One for each, or no end would be found to what leads back to itself.
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

/** Plain data that says as much as a value does. */
export function dataOf(value: unknown, { text }: Pick<Json, 'text'>): unknown {
  if (text === undefined) return plain(value)
  return typeof value === 'string' ? value : JSON.parse(text)
}
