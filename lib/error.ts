import type { Policy, PolicyOptions } from 'spillway'
import { type Compiled, compile, failed } from './policy.js'
import { clampValue } from './result.js'
import { clamp, fits } from './text.js'

export function clampError<E>(error: E, policy?: PolicyOptions | Policy): E {
  return clampThrown(error, failed(compile(policy)))
}

/** How far causes are followed. */
const DEPTH = 5
const FRAMES = 20
/** A frame names a function and a file; what is longer is no frame of the engine's. */
const FRAME_CHARS = 1_000

/** Clamps whatever was thrown, with a policy for failures. */
export function clampThrown<E>(error: E, policy: Compiled): E {
  return shorten(error, policy, DEPTH, new Set()) as E
}

function shorten(thrown: unknown, policy: Compiled, depth: number, seen: Set<object>): unknown {
  if (typeof thrown === 'string') return clamp(thrown, policy)
  if (typeof thrown !== 'object' || thrown === null || seen.has(thrown)) return thrown
  seen.add(thrown)
  const message = read(thrown, 'message')
  if (typeof message !== 'string') return clampValue(thrown, policy)
  const changes: Record<string, unknown> = {}
  const text = clamp(message, policy)
  if (text !== message) changes['message'] = text
  const stack = read(thrown, 'stack')
  const short = typeof stack === 'string' ? shortStack(stack, message, text, policy) : stack
  if (short !== stack) changes['stack'] = short
  if (depth > 0) {
    const cause = read(thrown, 'cause')
    const shortCause = shorten(cause, policy, depth - 1, seen)
    if (shortCause !== cause) changes['cause'] = shortCause
    const errors = read(thrown, 'errors')
    if (Array.isArray(errors)) {
      const shortErrors = errors.map((one: unknown) => shorten(one, policy, depth - 1, seen))
      if (shortErrors.some((one, at) => one !== errors[at])) changes['errors'] = shortErrors
    }
  }
  return change(thrown, changes)
}

/** A stack of the shortened message and the frames nearest to the throw; the very same where it is short enough. */
function shortStack(stack: string, message: string, text: string, policy: Compiled): string {
  // V8 writes the message into the stack when it is first read, so either form may stand there.
  const written = [message, text].find((form) => form !== '' && stack.includes(form))
  const start = written === undefined ? -1 : stack.indexOf(written)
  const header = start < 0 ? '' : stack.slice(0, start)
  const frames = (start < 0 ? stack : stack.slice(start + (written ?? '').length)).match(/^\s+at .*/gm) ?? []
  const few = frames.length <= FRAMES && frames.every((frame) => frame.length <= FRAME_CHARS)
  if (few && (message === text || written === text) && (start >= 0 || fits(stack, policy))) return stack
  const kept = frames.slice(0, FRAMES).map((frame) => frame.slice(0, FRAME_CHARS).toWellFormed())
  return [`${clamp(header, policy)}${text}`, ...kept].join('\n')
}

/** Changes an error in place; where it refuses, the changes go to a new one of the same prototype. */
function change(error: object, changes: Record<string, unknown>): object {
  const keys = Object.keys(changes)
  const all = keys.every((key) => set(error, key, changes[key]))
  return all ? error : rebuilt(error, changes)
}

function set(error: object, key: string, value: unknown): boolean {
  try {
    const own = Object.getOwnPropertyDescriptor(error, key)
    const enumerable = own?.enumerable ?? false
    return (
      Reflect.defineProperty(error, key, { value, enumerable, writable: true, configurable: true }) &&
      read(error, key) === value
    )
  } catch {
    return false
  }
}

function rebuilt(error: object, changes: Record<string, unknown>): object {
  const message = changes['message'] ?? read(error, 'message')
  const fresh = new Error(String(message))
  try {
    Object.setPrototypeOf(fresh, Object.getPrototypeOf(error) as object | null)
    for (const key of Reflect.ownKeys(error)) {
      if (typeof key === 'string' && key in changes) continue
      const value = (error as Record<string | symbol, unknown>)[key]
      const enumerable = Object.getOwnPropertyDescriptor(error, key)?.enumerable ?? false
      Object.defineProperty(fresh, key, { value, enumerable, writable: true, configurable: true })
    }
  } catch {
    // A proxy that refuses to be looked at: the message and the stack are what there is.
  }
  for (const [key, value] of Object.entries(changes)) set(fresh, key, value)
  return fresh
}

function read(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}
