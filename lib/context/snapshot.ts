import { get, isPlain, tryRead } from '../untrusted.js'

/** Members above which a value is not worth a snapshot. */
const MOST = 30_000

/** Depth up to which a value is read. Bounds the stack, and cycles. */
const DEPTH = 200

/** In place of a key: the number of members of an object. */
const COUNT = Symbol('count')

/** Everything that a value held at one time: object, key and value of each member, in a row. */
export type Snapshot = readonly unknown[]

/** Returns undefined for a value that holds too much, or anything but plain data, whose state cannot be seen. */
export function snapshotOf(value: object): Snapshot | undefined {
  const taken: unknown[] = []
  return tryRead(() => take(value, taken, DEPTH)) ? taken : undefined
}

/** Returns false once anything in the value has changed. */
export function isCurrent(snapshot: Snapshot): boolean {
  return tryRead(() => holds(snapshot)) ?? false
}

/** Returns false if not everything can be recorded. */
function take(value: object, taken: unknown[], depth: number): boolean {
  const keys = Object.keys(value)
  taken.push(value, COUNT, countOf(value))
  if (depth === 0 || taken.length + keys.length * 3 > MOST * 3) return false
  return keys.every((key) => {
    const member = get(value, key)
    taken.push(value, key, member)
    if (typeof member !== 'object' || member === null) return typeof member !== 'function'
    return (Array.isArray(member) || isPlain(member)) && take(member, taken, depth - 1)
  })
}

function holds(snapshot: Snapshot): boolean {
  for (let at = 0; at < snapshot.length; at += 3) {
    const object = snapshot[at] as Record<PropertyKey, unknown>
    const key = snapshot[at + 1] as PropertyKey
    if ((key === COUNT ? countOf(object) : object[key]) !== snapshot[at + 2]) return false
  }
  return true
}

function countOf(object: object): number {
  if (Array.isArray(object)) return object.length
  let count = 0
  // Includes inherited names, which is consistent between calls and faster than a list of own names.
  for (const _ in object) count += 1
  return count
}
