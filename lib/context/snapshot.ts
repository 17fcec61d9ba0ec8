import { elementAt, get, isList, isObject, isPlain, tryRead } from '../untrusted.js'

/** Entries above which a snapshot is not worth its memory. */
const MOST = 60_000

/** Depth up to which a value is read. Bounds the stack, and cycles. */
const DEPTH = 200

/** Everything that a value held at one time. For each object that is not frozen: itself, the number
 *  of its members, their names unless it is a list, and their values. */
export type Snapshot = readonly unknown[]

/** Returns undefined for a value that holds too much, or anything but plain data, whose state
 *  cannot be seen. */
export function snapshotOf(value: object): Snapshot | undefined {
  const taker = new Taker()
  return tryRead(() => taker.take(value, DEPTH)) ? taker.taken : undefined
}

/** Returns false once anything in the value has changed. */
export function isCurrent(snapshot: Snapshot): boolean {
  try {
    return holds(snapshot)
  } catch {
    return false
  }
}

class Taker {
  readonly taken: unknown[] = []
  /** Entries that were read, those of frozen objects too. */
  #seen = 0

  /** Returns false if not everything can be recorded. */
  take(value: object, depth: number): boolean {
    const count = countOf(value)
    const names = isList(value) ? undefined : Object.keys(value)
    const size = names ? names.length : count
    this.#seen += size + 3
    if (depth === 0 || this.#seen > MOST) return false
    const members = names
      ? names.map((name) => get(value, name))
      : Array.from({ length: size }, (_, at) => elementAt(value as unknown[], at))
    if (!isFixed(value)) {
      this.taken.push(value, count, names)
      for (const member of members) this.taken.push(member)
    }
    return members.every((member) => {
      if (!isObject(member)) return typeof member !== 'function'
      return (isList(member) || isPlain(member)) && this.take(member, depth - 1)
    })
  }
}

/** Returns true if the members of an object stay the same: it is frozen, and has no getters. */
function isFixed(value: object): boolean {
  if (!Object.isFrozen(value)) return false
  return Object.values(Object.getOwnPropertyDescriptors(value)).every((one) => 'value' in one)
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
