import { types } from 'node:util'
import type { Policy, PolicyOptions } from 'spillway'
import { type Compiled, failed } from '../compiled.js'
import { capSide } from '../dialect/side.js'
import type { Origin } from '../event.js'
import { compile } from '../policy.js'
import { get, isPlain, quietly } from '../reading.js'
import { alone } from '../text/own.js'
import { truncateUtf16Safe } from '../text/slice.js'
import { fits } from '../text/text.js'
import { clampString } from './blocks.js'
import { clampValue, told } from './result.js'

export function clampError<E>(error: E, policy?: PolicyOptions | Policy): E {
  // Cleaning is no field of its policy.
  return clampThrown(error, { ...failed(compile(policy)), clean: undefined })
}

/** How far causes are followed. */
const DEPTH = 5

/** Clamps whatever was thrown, with a policy for failures; the event is of its message. */
export function clampThrown<E>(error: E, policy: Compiled, origin: Origin = ERROR): E {
  return capped(shorten(error, policy, DEPTH, new Map(), origin), policy) as E
}

/** Plain data that was thrown goes to the model as JSON: what it holds besides a message counts too. */
function capped(thrown: unknown, { limits }: Compiled): unknown {
  if (typeof thrown !== 'object' || thrown === null || !isPlain(thrown)) return thrown
  const cap = Math.min(limits.bytes, limits.chars)
  return cap === Number.POSITIVE_INFINITY ? thrown : (quietly(() => capSide(thrown, cap)) ?? thrown)
}

const ERROR: Origin = { phase: 'error' }

/** The text of what was thrown. */
export function messageOf(thrown: unknown): string | undefined {
  const text = typeof thrown === 'object' && thrown !== null ? get(thrown, 'message') : thrown
  return typeof text === 'string' ? text : undefined
}

/** Shortens an error and what it holds; `seen` leads from each error on the way to what stands for it. */
function shorten(
  thrown: unknown,
  policy: Compiled,
  depth: number,
  seen: Map<object, object>,
  origin?: Origin,
): unknown {
  const clamp = (text: string) => (origin ? told(text, policy, origin) : clampString(text, policy))
  if (typeof thrown === 'string') return clamp(thrown)
  if (typeof thrown !== 'object' || thrown === null) return thrown
  const known = seen.get(thrown)
  if (known) return known
  const message = get(thrown, 'message')
  if (typeof message !== 'string') return clampValue(thrown, policy, origin)
  const text = clamp(message)
  const stack = get(thrown, 'stack')
  const short = typeof stack === 'string' ? shortStack(thrown, stack, message, text, policy) : stack
  const own = change(thrown, {
    ...(text !== message && { message: text }),
    ...(short !== stack && { stack: short }),
  })
  seen.set(thrown, own)
  if (depth === 0) return own
  const inner = (one: unknown) => shorten(one, policy, depth - 1, seen)
  const cause = get(thrown, 'cause')
  const shortCause = inner(cause)
  const list = get(thrown, 'errors')
  const errors = quietly(() => (Array.isArray(list) ? Array.from<unknown>(list) : undefined))
  const shortErrors = errors?.map(inner)
  const held = change(own, {
    ...(shortCause !== cause && { cause: shortCause }),
    ...(shortErrors?.some((one, at) => one !== errors?.[at]) && { errors: shortErrors }),
  })
  seen.set(thrown, held)
  return held
}

/** A stack is its header, the message and frames; nothing else of it is kept. */
const FRAMES = 20
/** A frame names a function and a file; what is longer is no frame of the engine's. */
const FRAME_CHARS = 1_000
const HEADER_CHARS = 200

/** The stack of a shortened message; the very same where it fits and has few frames. */
function shortStack(error: object, stack: string, message: string, text: string, policy: Compiled): string {
  // V8 writes the message into the stack when that is first read, so either form may stand there.
  const written = [message, text].find((form) => form !== '' && inHeader(stack, form) >= 0)
  const start = written === undefined ? 0 : inHeader(stack, written) + written.length
  const frames = framesFrom(stack, start)
  if (
    message === text &&
    frames.length <= FRAMES &&
    stack.isWellFormed() &&
    withinPolicy(stack, frames, text, policy)
  ) {
    return stack
  }
  const name = get(error, 'name')
  const named = typeof name === 'string' ? `${truncateUtf16Safe(name, HEADER_CHARS)}: ` : ''
  const header = written === undefined ? named : stack.slice(0, start - written.length)
  const title = text === '' ? header.replace(/: $/, '') : header
  const kept = frames.slice(0, FRAMES).map((frame) => truncateUtf16Safe(frame, FRAME_CHARS))
  return alone([title + text, ...kept].join('\n').toWellFormed())
}

/** Where a message stands near the start of a stack. */
function inHeader(stack: string, form: string): number {
  return stack.slice(0, HEADER_CHARS + form.length).indexOf(form)
}

/** Up to one frame more than are kept. */
function framesFrom(stack: string, start: number): string[] {
  const frames: string[] = []
  for (let at = stack.indexOf('\n', start); at >= 0 && frames.length <= FRAMES; ) {
    const end = stack.indexOf('\n', at + 1)
    const line = stack.slice(at + 1, end < 0 ? undefined : Math.min(end, at + 1 + FRAME_CHARS + 1))
    if (/^[ \t]+at /.test(line)) frames.push(line)
    at = end
  }
  return frames
}

/** Whether a stack is no longer than its parts may be, or than the text may be. */
function withinPolicy(stack: string, frames: string[], text: string, policy: Compiled): boolean {
  if (frames.some((frame) => frame.length > FRAME_CHARS)) return false
  const parts = text.length + frames.reduce((sum, frame) => sum + frame.length + 1, 0)
  return stack.length <= parts + HEADER_CHARS || fits(stack, policy)
}

/** Changes an error in place; where it refuses, the changes go to a new one that passes for it. */
function change(error: object, changes: Record<string, unknown>): object {
  const all = Object.keys(changes).every((key) => set(error, key, changes[key], error))
  return all ? error : rebuilt(error, changes)
}

/** Defines a property as enumerable as it is on `like`. */
function set(error: object, key: string, value: unknown, like: object): boolean {
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

function described(error: object, key: string): PropertyDescriptor | undefined {
  return quietly(() => Object.getOwnPropertyDescriptor(error, key))
}

/** A new error of the same prototype, name and code. What a class keeps in private fields stays behind. */
export function rebuilt(error: object, changes: Record<string, unknown>): object {
  // The frames of a new one hold functions, and those what they work on: all goes with the stack.
  const fresh: object = types.isNativeError(error) ? Object.assign(new Error(), { stack: '' }) : {}
  quietly(() => Object.setPrototypeOf(fresh, Object.getPrototypeOf(error) as object | null))
  const members = quietly(() => Object.getOwnPropertyDescriptors(error)) ?? {}
  for (const [key, { enumerable, ...member }] of Object.entries(members)) {
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
  for (const [key, value] of Object.entries(changes)) set(fresh, key, value, error)
  return fresh
}
