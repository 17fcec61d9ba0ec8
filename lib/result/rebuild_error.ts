import { types } from 'node:util'
import { GONE } from '../dialect/shallow_copy.js'
import { get, tryRead } from '../untrusted.js'

export type Changes = Record<PropertyKey, unknown>

/** Changes an error in place. If it refuses, returns a new error with the changes that passes for
 *  it. */
export function change(error: object, changes: Changes): object {
  const all = Reflect.ownKeys(changes).every((key) => set(error, key, changes[key], error))
  return all ? error : rebuilt(error, changes)
}

/** Defines a property as enumerable as it is on `like`, or removes it. */
function set(error: object, key: PropertyKey, value: unknown, like: object): boolean {
  if (value === GONE) return tryRead(() => Reflect.deleteProperty(error, key)) === true
  const enumerable = described(like, key)?.enumerable ?? false
  // In a sealed error, only the value of a property can change.
  const configurable = described(error, key)?.configurable ?? true
  const property = { value, enumerable, writable: true, configurable }
  // From V8 12 on, a stack that is redefined stays in memory, and a stack that is assigned does
  // not.
  if (key === 'stack') tryRead(() => Reflect.set(error, key, value))
  // From V8 12 on, the stack of a sealed error cannot be redefined, but it was assigned above.
  tryRead(() => Reflect.defineProperty(error, key, property))
  return get(error, key) === value
}

export function described(error: object, key: PropertyKey): PropertyDescriptor | undefined {
  return tryRead(() => Object.getOwnPropertyDescriptor(error, key))
}

/** Makes a new error with the prototype, name and code of another. Private fields of its class are
 *  not copied. */
export function rebuilt(error: object, changes: Changes): object {
  // The frames of a new error keep functions and their data in memory until its stack is replaced.
  const fresh: object = types.isNativeError(error) ? Object.assign(new Error(), { stack: '' }) : {}
  tryRead(() => Object.setPrototypeOf(fresh, Object.getPrototypeOf(error) as object | null))
  for (const key of tryRead(() => Reflect.ownKeys(error)) ?? []) {
    const found = described(error, key)
    if (!found || changes[key] === GONE) continue
    const { enumerable, ...member } = found
    // A large value is never set on the new error, which might keep it in memory.
    const kept = Object.hasOwn(changes, key) ? { value: changes[key], writable: true } : member
    tryRead(() =>
      Object.defineProperty(fresh, key, { ...kept, enumerable: enumerable === true, configurable: true }),
    )
  }
  for (const key of ['name', 'code', 'message', 'stack']) {
    if (Object.hasOwn(changes, key)) continue
    const value = get(error, key)
    if (value !== undefined && get(fresh, key) !== value) set(fresh, key, value, error)
  }
  for (const key of Reflect.ownKeys(changes)) {
    if (changes[key] !== GONE) set(fresh, key, changes[key], error)
  }
  return fresh
}
