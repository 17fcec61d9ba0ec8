import { types } from 'node:util'
import { GONE } from '../dialect/copy.js'
import { get, quietly } from '../reading.js'

export type Changes = Record<PropertyKey, unknown>

/** Changes an error in place; where it refuses, the changes go to a new one that passes for it. */
export function change(error: object, changes: Changes): object {
  const all = Reflect.ownKeys(changes).every((key) => set(error, key, changes[key], error))
  return all ? error : rebuilt(error, changes)
}

/** Defines a property as enumerable as it is on `like`, or removes it. */
function set(error: object, key: PropertyKey, value: unknown, like: object): boolean {
  if (value === GONE) return quietly(() => Reflect.deleteProperty(error, key)) === true
  const enumerable = described(like, key)?.enumerable ?? false
  // One of a sealed error stays as it is but for its value.
  const configurable = described(error, key)?.configurable ?? true
  const property = { value, enumerable, writable: true, configurable }
  // A stack that is only defined anew stays in memory behind it, in V8 from 12 on; one that is assigned goes.
  if (key === 'stack') quietly(() => Reflect.set(error, key, value))
  // The stack of a sealed error cannot be defined from V8 12 on, but was assigned.
  quietly(() => Reflect.defineProperty(error, key, property))
  return get(error, key) === value
}

export function described(error: object, key: PropertyKey): PropertyDescriptor | undefined {
  return quietly(() => Object.getOwnPropertyDescriptor(error, key))
}

/** A new error of the same prototype, name and code. What a class keeps in private fields stays behind. */
export function rebuilt(error: object, changes: Changes): object {
  // The frames of a new one hold functions, and those what they work on: all goes with the stack.
  const fresh: object = types.isNativeError(error) ? Object.assign(new Error(), { stack: '' }) : {}
  quietly(() => Object.setPrototypeOf(fresh, Object.getPrototypeOf(error) as object | null))
  for (const key of quietly(() => Reflect.ownKeys(error)) ?? []) {
    const found = described(error, key)
    if (!found || changes[key] === GONE) continue
    const { enumerable, ...member } = found
    // What is large never comes near the new one, where it might stay behind.
    const kept = Object.hasOwn(changes, key) ? { value: changes[key], writable: true } : member
    quietly(() =>
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
