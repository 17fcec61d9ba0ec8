import { types } from 'node:util'
import { isList, isObject, isPlain } from '../untrusted.js'

/** Members that are remembered of one message. A message with more counts as changed. */
const MOST = 1_024

/** The members of a message and of all data in it, to tell whether a hook changed any of them. */
export class Snapshot {
  private constructor(
    private readonly root: object,
    private readonly members: ReadonlyMap<object, Members>,
  ) {}

  /** Returns undefined for values whose members do not tell what they are: proxies, classes,
   *  accessors, large data. */
  static of(root: unknown): Snapshot | undefined {
    if (!isObject(root)) return undefined
    const all = new Map<object, Members>()
    const open: object[] = [root]
    let left = MOST
    for (let value = open.pop(); value; value = open.pop()) {
      if (all.has(value)) continue
      const members = membersOf(value)
      left -= members?.length ?? Number.POSITIVE_INFINITY
      if (!members || left < 0) return undefined
      all.set(value, members)
      for (const [, member] of members) if (isObject(member)) open.push(member)
    }
    return new Snapshot(root, all)
  }

  /** Returns true if a value is that message, and nothing in it has changed. */
  isOf(value: unknown): boolean {
    return (
      value === this.root && [...this.members].every(([object, before]) => isSame(membersOf(object), before))
    )
  }
}

type Members = readonly (readonly [PropertyKey, unknown])[]

/** Returns the members of data, undefined for any other object. */
function membersOf(value: object): Members | undefined {
  if (types.isProxy(value) || !(isList(value) || isPlain(value)) || 'toJSON' in value) return undefined
  if (isList(value) && value.length > MOST) return undefined
  const members: [PropertyKey, unknown][] = []
  for (const key of Reflect.ownKeys(value)) {
    const member = Object.getOwnPropertyDescriptor(value, key)
    if (!member || !('value' in member)) return undefined
    members.push([key, member.value])
  }
  return members
}

function isSame(now: Members | undefined, before: Members): boolean {
  if (now?.length !== before.length) return false
  return now.every(([key, value], at) => key === before[at]?.[0] && Object.is(value, before[at][1]))
}
