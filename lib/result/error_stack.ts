import type { EnginePolicy } from '../compiled.js'
import { alone } from '../text/flatten.js'
import { truncateUtf16Safe } from '../text/slice.js'
import { fits } from '../text/text.js'
import { get } from '../untrusted.js'

/** Most frames of a stack. It consists of its header, the message and frames, and nothing else is
 *  kept. */
const FRAMES = 20
/** Most chars of a frame, which names a function and a file. */
const FRAME_CHARS = 1_000
/** Most chars of a header, and the least that it keeps under tighter limits. */
const HEADER_CHARS = 200
const LEAST_HEADER = 40

/** Properties of an error that `shortHead` shortens. */
export const HEAD: readonly PropertyKey[] = ['message', 'stack', 'name']

/** Returns the changes of an error's name, message and stack if its message is to be shortened. */
export function shortHead(
  error: object,
  message: string,
  policy: EnginePolicy,
  shorten: (text: string) => string,
): Record<string, string> {
  const text = shorten(message)
  const stack = get(error, 'stack')
  const short = typeof stack === 'string' ? shortStack(error, stack, message, text, policy) : undefined
  const name = get(error, 'name')
  const title = typeof name === 'string' ? heading(name, policy) : undefined
  return {
    ...(text !== message && { message: text }),
    ...(short !== undefined && short !== stack && { stack: short }),
    ...(title !== undefined && title !== name && { name: title }),
  }
}

/** Truncates a name to the most chars of a header. */
function heading(name: string, policy: EnginePolicy): string {
  return truncateUtf16Safe(name, mostOfHeader(policy)).toWellFormed()
}

function mostOfHeader({ limits }: EnginePolicy): number {
  return Math.min(HEADER_CHARS, Math.max(LEAST_HEADER, Math.min(limits.bytes, limits.chars)))
}

/** Returns the stack for a shortened message, the same string if it fits and has few frames. */
function shortStack(
  error: object,
  stack: string,
  message: string,
  text: string,
  policy: EnginePolicy,
): string {
  // V8 writes the message into the stack when the stack is first read, so it may contain either
  // form.
  const written = [message, text].find((form) => form !== '' && inHeader(stack, form) >= 0)
  const start = written === undefined ? 0 : inHeader(stack, written) + written.length
  const frames = framesFrom(stack, start)
  const kept = fitting(frames, policy)
  if (
    message === text &&
    kept.length === frames.length &&
    stack.isWellFormed() &&
    withinPolicy(stack, frames, text, policy)
  ) {
    return stack
  }
  const name = get(error, 'name')
  const named = typeof name === 'string' ? `${heading(name, policy)}: ` : ''
  const header = written === undefined ? named : heading(stack.slice(0, start - written.length), policy)
  const title = text === '' ? header.replace(/: $/, '') : header
  return alone([title + text, ...kept].join('\n').toWellFormed())
}

/** Returns the index of a message near the start of a stack, -1 if it is not there. */
function inHeader(stack: string, form: string): number {
  return stack.slice(0, HEADER_CHARS + form.length).indexOf(form)
}

/** Returns the frames, at most one more than are kept. */
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

/** Returns the first frames that fit. Together they take no more than a message may. */
function fitting(frames: readonly string[], { limits }: EnginePolicy): string[] {
  const kept: string[] = []
  let room = Math.min(limits.bytes, limits.chars)
  for (const frame of frames.slice(0, FRAMES)) {
    const short = truncateUtf16Safe(frame, FRAME_CHARS)
    room -= Buffer.byteLength(short) + 1
    if (room < 0) break
    kept.push(short)
  }
  return kept
}

/** Returns true if a stack is no longer than its parts may be, or fits as a text. */
function withinPolicy(stack: string, frames: string[], text: string, policy: EnginePolicy): boolean {
  if (frames.some((frame) => frame.length > FRAME_CHARS)) return false
  const parts = text.length + frames.reduce((sum, frame) => sum + frame.length + 1, 0)
  return stack.length <= parts + mostOfHeader(policy) || fits(stack, policy)
}
