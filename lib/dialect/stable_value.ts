import { types } from 'node:util'
import { hasGetter, jsonOf, MOST, plain } from '../json.js'
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
} from '../untrusted.js'
import { copy } from './shallow_copy.js'

/**
 * Returns a value that answers alike whenever it is read: what was measured is what is sent. In
 * plain data, accessors are replaced by what they return, a `toJSON` by one that returns what it
 * wrote, and proxies by copies. Data that shares its parts so often that its JSON would be far
 * larger than it is described. Returns the same value if there is none of that. The code of a class
 * is trusted. `beside`: names of members of the value that stay as they are.
 */
export function stableValue<T>(value: T, beside: ReadonlySet<string> = NONE): T {
  if (!isObject(value) || isSteady(value, beside)) return value
  return (tryRead(() => new Settler().of(value, 0, beside).value) ?? plain(value)) as T
}

const NONE: ReadonlySet<string> = new Set()

/** Returns true if a look at a value, which runs none of its code, shows that it is stable and not
 *  too large. */
export function isSteady(value: object, beside: ReadonlySet<string> = NONE): boolean {
  return roomIn(value, QUICK, 0, beside) >= 0
}

/** Places of a value that are looked at without remembering them. */
const QUICK = MOST
/** Depth to which a value is read. */
const DEPTH = 1_000
/** Depth to which values are read that code of the caller makes. */
const DEEP = 200

const { getOwnPropertyDescriptor } = Object

/** Returns the number of places that are left of `room`, negative if there are too many or one may
 *  answer in another way. */
function roomIn(value: unknown, room: number, depth: number, beside = NONE): number {
  if (!isObject(value) || ArrayBuffer.isView(value)) return room - 1
  if (types.isProxy(value) || 'toJSON' in value || depth > DEPTH) return -1
  let left = room - 1
  if (isBoxedText(value)) return left
  if (Array.isArray(value)) {
    if (value.length > left || hasVastHoles(value)) return -1
    for (let at = 0; at < value.length && left >= 0; at++)
      left = hasGetter(value, at) ? -1 : roomIn(value[at], left - 1, depth + 1)
    return left
  }
  for (const name in value) {
    if (beside.has(name)) continue
    if (hasGetter(value, name)) return -1
    left = roomIn((value as Record<string, unknown>)[name], left - 1, depth + 1)
    if (left < 0) return -1
  }
  return left
}

function isBytes(value: object): boolean {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)
}

interface Steady {
  readonly value: unknown
  /** Places of the value, with those of shared parts each time. */
  readonly places: number
}

class Settler {
  /** Objects that were read. One that is being read stands for itself, as in a cycle. */
  readonly #known = new Map<object, Steady>()
  /** Values that code of the caller may still make. It may do so without end. As members they count
   *  as two places each, and so what they come to is written without a look at which of its parts
   *  are shared. */
  #fresh = 0.4 * MOST
  /** Places that were read, each once. */
  #own = 0

  of(value: unknown, depth: number, beside = NONE, isFresh = false): Steady {
    if (isFresh && (--this.#fresh < 0 || depth > DEEP)) return { value: '[too large]', places: 1 }
    const isOther = types.isNativeError(value) || depth > DEPTH
    if (!isObject(value) || isBytes(value) || isOther) return { value, places: 1 }
    const known = this.#known.get(value)
    if (known) return known
    this.#known.set(value, { value, places: 1 })
    const made =
      isList(value) && hasVastHoles(value)
        ? { value: plain(value), places: 1 }
        : types.isProxy(value)
          ? this.#proxy(value, depth)
          : this.#object(value, depth, beside, isFresh)
    const isVast = made.places > 2 * this.#own + MOST && (isList(value) || isPlain(value))
    const steady = isVast ? { value: plain(made.value), places: 1 } : made
    this.#known.set(value, steady)
    return steady
  }

  #object(value: object, depth: number, beside: ReadonlySet<string>, isFresh: boolean): Steady {
    const changes = new Map<string | number, unknown>()
    let places = 1
    const isData = isList(value) || isPlain(value)
    const take = (key: string | number, given: unknown, isMade = false) => {
      const isNew = isFresh || isMade
      // Most are plain data, and their number may be large.
      const steady = isNew || isObject(given) ? this.of(given, depth + 1, NONE, isNew) : undefined
      places += 1 + (steady?.places ?? 1)
      if (isMade || (steady && steady.value !== given)) changes.set(key, steady?.value)
    }
    const look = (key: string | number) => {
      const member = getOwnPropertyDescriptor(value, key)
      if (member?.get && !isData) return
      const read = member?.get
        ? tryRead(() => [(value as Record<PropertyKey, unknown>)[key]])
        : [member?.value]
      // An accessor that throws shows nothing.
      if (!read) return
      if (member) this.#own += 2
      take(key, read[0], member?.get !== undefined)
    }
    if (isList(value))
      for (const at of indexesOf(value)) {
        if (hasGetter(value, at)) look(at)
        else {
          // A hole is a place without a value.
          if (at in value) this.#own += 2
          take(at, value[at])
        }
      }
    else for (const name of Object.keys(value)) if (!beside.has(name)) look(name)
    if (isData && typeof getOwnPropertyDescriptor(value, 'toJSON')?.value === 'function') {
      const json = jsonOf(value)
      const written: unknown = json === undefined ? undefined : JSON.parse(json)
      changes.set('toJSON', () => written)
    }
    return { value: changes.size > 0 ? copy(value, changes) : value, places }
  }

  /** Copies what a proxy shows. What cannot be read is left out. */
  #proxy(value: object, depth: number): Steady {
    let places = 1
    const look = (member: unknown) => {
      this.#own += 2
      const steady = this.of(member, depth + 1, NONE, true)
      places += 1 + steady.places
      return steady.value
    }
    if (isList(value)) {
      const elements: unknown[] = []
      const { length } = value
      while (elements.length < length && this.#fresh > 0)
        elements.push(look(elementAt(value, elements.length)))
      return { value: elements, places }
    }
    const prototype = tryRead(() => Object.getPrototypeOf(value) as object | null)
    const names = tryRead(() => Reflect.ownKeys(value))
    // Nothing can be read of a proxy that was revoked.
    if (prototype === undefined && !names) return { value, places }
    const made = Object.create(prototype === undefined ? Object.prototype : prototype) as object
    for (const name of names ?? []) {
      const enumerable = tryRead(() => getOwnPropertyDescriptor(value, name)?.enumerable) ?? true
      const member = { value: look(get(value, name)), enumerable, writable: true, configurable: true }
      Object.defineProperty(made, name, member)
    }
    return { value: made, places }
  }
}
