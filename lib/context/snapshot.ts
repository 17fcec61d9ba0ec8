import { elementAt, get, isList, isObject, isPlain, tryRead } from '../untrusted.js'

/** Entries above which a snapshot is not worth its memory. */
const MOST = 60_000

/** Depth up to which a value is read. Bounds the stack, and cycles. */
const DEPTH = 200

/** Everything that a value held at one time. For each object: itself, the number of its members,
 *  their names unless it is a list, and their values. */
export type Snapshot = readonly unknown[]

/** Returns undefined for a value that holds too much, or anything but plain data, whose state
 *  cannot be seen. */
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
  const count = countOf(value)
  const names = isList(value) ? undefined : Object.keys(value)
  const size = names ? names.length : count
  if (depth === 0 || taken.length + size > MOST) return false
  taken.push(value, count, names)
  const from = taken.length
  if (names) for (const name of names) taken.push(get(value, name))
  else for (let at = 0; at < size; at++) taken.push(elementAt(value as unknown[], at))
  for (let at = from; at < from + size; at++) {
    const member = taken[at]
    if (typeof member === 'function') return false
    if (!isObject(member)) continue
    if (!(isList(member) || isPlain(member)) || !take(member, taken, depth - 1)) return false
  }
  return true
}

function holds(snapshot: Snapshot): boolean {
  for (let at = 0; at < snapshot.length; ) {
    const [object, count, names] = [snapshot[at], snapshot[at + 1], snapshot[at + 2]]
    if (countOf(object as object) !== count) return false
    at += 3
    if (names) {
      for (const name of names as string[])
        if ((object as Record<string, unknown>)[name] !== snapshot[at++]) return false
    } else for (const member of object as unknown[]) if (member !== snapshot[at++]) return false
  }
  return true
}

function countOf(object: object): number {
  if (isList(object)) return object.length
  let count = 0
  // Includes inherited names, which is consistent between calls and faster than a list of own
  // names.
  for (const _ in object) count += 1
  return count
}
