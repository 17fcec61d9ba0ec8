import { types } from 'node:util'

/** Runs what may run a caller's code: a getter, a trap of a proxy. What throws gives nothing. */
export function quietly<R>(read: () => R): R | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Tells a caller's listener. What it throws is passed over, also where it is async. */
export function tell(listen: () => unknown): void {
  forget(quietly(listen))
}

/** Lets a promise that nobody waits for fail without ending the process. */
export function forget(answer: unknown): void {
  if (types.isPromise(answer)) quietly(() => answer.then(undefined, () => {}))
}

/** Reads a property of a caller's object. One that throws is not there. */
export function get(value: object, key: PropertyKey): unknown {
  try {
    return (value as Record<PropertyKey, unknown>)[key]
  } catch {
    return undefined
  }
}

/** The same of an element: apart, since names and indexes in one place are slow to tell apart. */
export function elementAt(list: readonly unknown[], at: number): unknown {
  try {
    return list[at]
  } catch {
    return undefined
  }
}

/** Whether a value is data of members and of no class, in any realm. A proxy that does not tell is not. */
export function isPlain(value: object): boolean {
  try {
    const prototype = Object.getPrototypeOf(value) as object | null
    // The commonest first.
    return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null
  } catch {
    return false
  }
}

/** Whether a value can be waited for, be it of another realm or of no class at all. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && typeof get(value, 'then') === 'function'
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
