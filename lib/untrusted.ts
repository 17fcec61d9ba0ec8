import { types } from 'node:util'

/** Runs a function that may run a caller's code (a getter, a trap of a proxy). Returns undefined if
 *  it throws. */
export function tryRead<R>(read: () => R): R | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Calls a caller's listener and ignores its errors, also if it is async. */
export function notify(listen: () => unknown): void {
  ignoreRejection(tryRead(listen))
}

/** Ignores the rejection of a promise that is not awaited, which would otherwise end the
 *  process. */
export function ignoreRejection(answer: unknown): void {
  if (types.isPromise(answer)) tryRead(() => answer.then(undefined, () => {}))
}

/** Reads a property of a caller's object. Returns undefined if that throws. */
export function get(value: object, key: PropertyKey): unknown {
  try {
    return (value as Record<PropertyKey, unknown>)[key]
  } catch {
    return undefined
  }
}

/** Like `get`, for an element. Separate because a call site that sees both names and indexes is
 *  slow. */
export function elementAt(list: readonly unknown[], at: number): unknown {
  try {
    return list[at]
  } catch {
    return undefined
  }
}

/** Holes of a list that count as places, at most. */
const DENSE = 65_536

/** Returns the indexes of a list, of a vast one only those of its elements: its length may be far
 *  above their number. */
export function indexesOf(list: readonly unknown[]): Iterable<number> {
  const length = lengthOf(list)
  if (length <= DENSE) return Array(length).keys()
  return isVast(list, length) ? indexesIn(list) : upTo(length)
}

/** Returns the elements of a list, undefined for those that throw when they are read. Those of a
 *  vast list move together. */
export function elementsOf(list: readonly unknown[]): unknown[] {
  return Array.from(indexesOf(list), (at) => elementAt(list, at))
}

/** Returns true if a list has so many holes that it is walked by its elements. Asks for each place
 *  of a long list, so ask once. */
export function hasVastHoles(list: readonly unknown[]): boolean {
  const length = lengthOf(list)
  return length > DENSE && isVast(list, length)
}

/** Returns the length of a list, which a proxy may make up. */
function lengthOf(list: readonly unknown[]): number {
  return Math.max(0, tryRead(() => Math.trunc(Number(list.length))) || 0)
}

/** Returns true if a list of that length has many holes. A hole has no key, but all keys of a dense
 *  list take a hundred times as long to list as to ask for. Only a plain array answers for
 *  itself. */
function isVast(list: readonly unknown[], length: number): boolean {
  if (types.isProxy(list) || Object.getPrototypeOf(list) !== Array.prototype)
    return length - indexesIn(list).length > DENSE
  let holes = 0
  for (let at = 0; at < length && holes <= DENSE; at++) if (!(at in list)) holes += 1
  return holes > DENSE
}

/** Returns the indexes of the elements of a list. */
function indexesIn(list: readonly unknown[]): number[] {
  const names = tryRead(() => Object.keys(list)) ?? []
  return names.map(Number).filter((at, nth) => String(at >>> 0) === names[nth])
}

function* upTo(length: number): Generator<number> {
  for (let at = 0; at < length; at++) yield at
}

/** Returns true if an object is plain data without a class, in any realm. Returns false for a proxy
 *  that throws. */
export function isPlain(value: object): boolean {
  try {
    const prototype = Object.getPrototypeOf(value) as object | null
    // The commonest first.
    return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
  } catch {
    return false
  }
}

/** Returns true if a value is a thenable, of any realm or class. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && typeof get(value, 'then') === 'function'
}

/** Returns true for a text as an object, whose chars are members of their own. */
export function isBoxedText(value: unknown): boolean {
  return types.isStringObject(value)
}

/** Returns the text of a text as an object, as JSON has it, and any other value as it is. */
export function unboxed(value: unknown): unknown {
  return isBoxedText(value) ? String.prototype.valueOf.call(value) : value
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Returns true if a value is an array. `Array.isArray` throws for a proxy that was revoked. */
export function isList(value: unknown): value is unknown[] {
  try {
    return Array.isArray(value)
  } catch {
    return false
  }
}
