import { inspect, types } from 'node:util'
import type { Compiled } from '../compiled.js'
import { lightRoom } from '../dialect/slots.js'
import { roomAfter } from '../json.js'
import { isObject, quietly } from '../reading.js'
import { AROUND, CAUSES, DEPTH } from './held.js'
import { HEAD, isShort } from './stack.js'

/**
 * Returns true if a walk of a thrown value shows that it needs no cut: it consists of errors, plain data, strings and
 * numbers, and is so small that quotes, escapes and indents cannot fill its room. Returns false if only its words can
 * tell. Runs no accessor of its members.
 */
export function isSurelyBrief(thrown: unknown, policy: Compiled): boolean {
  const { bytes, chars } = policy.limits
  const left = quietly(() =>
    types.isNativeError(thrown)
      ? afterError(thrown, policy.clean ? -1 : Math.min(bytes, chars), policy, 0)
      : isObject(thrown) && !('stack' in thrown)
        ? after(thrown, lightRoom(policy), policy, 0)
        : -1,
  )
  return left !== undefined && left >= 0
}

/** Returns the room left after a value, below 0 if there may be none. */
function after(value: unknown, room: number, policy: Compiled, depth: number): number {
  if (!isObject(value))
    return typeof value === 'function' || typeof value === 'symbol' ? -1 : roomAfter(value, room)
  if (depth > DEPTH || types.isProxy(value)) return -1
  if (types.isNativeError(value)) return afterError(value, room, policy, depth)
  return isBare(value) ? afterMembers(value, room - AROUND, policy, depth) : -1
}

function afterError(error: unknown, room: number, policy: Compiled, depth: number): number {
  if (!isPlainError(error) || !isShort(error, policy)) return -1
  let left = room
  for (const key of HEAD) left = roomAfter(error[key as 'message'], left)
  // An inherited member is an accessor, or shared.
  for (const key of CAUSES) if (key in error && !Object.hasOwn(error, key)) return -1
  return afterMembers(error, left, policy, depth, HEAD)
}

function afterMembers(
  holder: object,
  room: number,
  policy: Compiled,
  depth: number,
  head: readonly PropertyKey[] = Array.isArray(holder) ? LENGTH : NONE,
): number {
  let left = room
  for (const key of Reflect.ownKeys(holder)) {
    if (left < 0) return left
    if (head.length > 0 && head.includes(key)) continue
    const member = Object.getOwnPropertyDescriptor(holder, key)
    // Hidden members may format their holder.
    if (typeof key === 'symbol' || !member || !('value' in member)) return -1
    if (!member.enumerable && !CAUSES.includes(key)) return -1
    left = after(member.value, roomAfter(key, left) - AROUND, policy, depth + 1)
  }
  return left
}

const NONE: readonly PropertyKey[] = []
const LENGTH: readonly PropertyKey[] = ['length']

/** Returns true if JSON, util.inspect and `String` show only the stack, the name and the members of an error. */
function isPlainError(value: unknown): value is Error {
  return (
    types.isNativeError(value) &&
    !VOICES.some((key) => key in value) &&
    value.toString === Error.prototype.toString &&
    value.constructor.name.length <= LONGEST_NAME
  )
}

/** Members by which a class formats itself. */
const VOICES = ['toJSON', inspect.custom, Symbol.toPrimitive, Symbol.toStringTag]
const LONGEST_NAME = 200

/** Returns true if a value is a plain object or a plain array. */
function isBare(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as unknown
  return (
    prototype === Object.prototype ||
    prototype === null ||
    (prototype === Array.prototype && Array.isArray(value))
  )
}
