import type { ProfileOptions } from 'spillway/openclaw'
import { jsonOf } from '../../json.js'
import { elementsOf, get, isObject, tryRead } from '../../untrusted.js'
import { CHARS_PER_TOKEN_ESTIMATE, TOOL_RESULT_CHARS_PER_TOKEN_ESTIMATE } from './constants.js'
import { profileOf } from './profile.js'
import { membersOf } from './prompt_tokens.js'

/** Chars of an image. */
export const IMAGE_CHARS = 8_000
/** Chars of the words that OpenClaw puts around the text of other messages than those of a user, a
 *  model or a tool. */
const OTHER_CHARS = 256
/** Chars of arguments without JSON. */
const UNKNOWN_CHARS = 128

/** Times a char of a tool result counts: two are a token, and four of any other text. */
export const RESULT_WEIGHT: number = CHARS_PER_TOKEN_ESTIMATE / TOOL_RESULT_CHARS_PER_TOKEN_ESTIMATE

/** Chars of messages by object, as they were estimated. */
type Estimates = WeakMap<object, number>

/** Returns true for the tool results of all forms that OpenClaw has had. */
export function isToolResultMessage(message: unknown): message is object {
  if (!isObject(message)) return false
  const role = get(message, 'role')
  return role === 'toolResult' || role === 'tool' || get(message, 'type') === 'toolResult'
}

/** Estimates a message in chars, 4 of them a token. Tool results count twice, an image 8,000. */
export function estimateMessageCharsCached(
  message: unknown,
  cache: Estimates,
  options?: ProfileOptions,
): number {
  if (!isObject(message)) return 0
  const known = cache.get(message)
  if (known !== undefined) return known
  const chars = tryRead(() => charsOf(message, profileOf(options).countsDetails)) ?? OTHER_CHARS
  cache.set(message, chars)
  return chars
}

export function estimateContextChars(
  messages: readonly unknown[],
  cache: Estimates,
  options?: ProfileOptions,
): number {
  return sum(elementsOf(messages), (message) => estimateMessageCharsCached(message, cache, options))
}

function charsOf(message: object, countsDetails: boolean): number {
  if (get(message, 'excludeFromContext') === true) return 0
  const content = contentOf(message)
  if (isToolResultMessage(message)) {
    const details = countsDetails ? charsOfJson(get(message, 'details')) : 0
    return Math.ceil((sum(content, blockChars) + details) * RESULT_WEIGHT)
  }
  const role = get(message, 'role')
  if (role === 'assistant') return sum(content, saidChars)
  const held = sum(content, blockChars) + sum(membersOf(message), charsOfText)
  return role === 'user' || role === 'custom' ? held : OTHER_CHARS + held
}

/** Chars of a block. Those of tool results then count twice. */
export function blockChars(block: unknown): number {
  if (isImage(block)) return IMAGE_CHARS
  const [text] = textOf(block)
  return text?.length ?? charsOfJson(block)
}

function saidChars(block: unknown): number {
  const type = isObject(block) ? get(block, 'type') : undefined
  if (type === 'toolCall') return charsOfJson(get(block as object, 'arguments') ?? {})
  const thought = type === 'thinking' ? get(block as object, 'thinking') : undefined
  return typeof thought === 'string' ? thought.length : blockChars(block)
}

function charsOfJson(value: unknown): number {
  return value === undefined ? 0 : (jsonOf(value)?.length ?? UNKNOWN_CHARS)
}

export function isImage(block: unknown): boolean {
  return isObject(block) && get(block, 'type') === 'image'
}

/** Returns the text of a block in a list, an empty list for any other block. */
export function textOf(block: unknown): string[] {
  if (typeof block === 'string') return [block]
  const text = isObject(block) && get(block, 'type') === 'text' ? get(block, 'text') : undefined
  return typeof text === 'string' ? [text] : []
}

function charsOfText(value: unknown): number {
  return typeof value === 'string' ? value.length : 0
}

/** Returns the blocks of a message. Content that is a string is one block. */
function contentOf(message: object): unknown[] {
  const content = get(message, 'content')
  if (typeof content === 'string') return [content]
  return Array.isArray(content) ? elementsOf(content) : []
}

function sum<T>(values: readonly T[], size: (value: T) => number): number {
  return values.reduce((total, value) => total + size(value), 0)
}
