import type { Policy, WrapPolicy } from 'spillway'
import type { ProfileOptions, ToolResultTruncationOptions } from 'spillway/openclaw'
import { readResults } from '../../dialect/dialect.js'
import { bound, checkString, limit, optionError } from '../../option.js'
import { UNLIMITED, withSuffix } from '../../policy.js'
import { get, quietly } from '../../reading.js'
import { clampResult } from '../../result/result.js'
import { clampText } from '../../text/text.js'
import { calculateMaxToolResultChars, MIN_KEEP_CHARS, profileOf } from './profile.js'

export function truncateToolResultText(
  text: string,
  maxChars: number,
  options: ToolResultTruncationOptions = {},
): string {
  return clampText(checkString(text), policyFor(text.length, maxChars, options))
}

export function truncateToolResultMessage<M>(
  message: M,
  maxChars: number,
  options: ToolResultTruncationOptions = {},
): M {
  const policy = policyFor(getToolResultTextLength(message), maxChars, options)
  return isToolResult(message) ? clampResult(message, policy) : message
}

export function capToolResultSize<M>(message: M, maxChars?: number, options: ProfileOptions = {}): M {
  const most = limit('maxChars', maxChars ?? profileOf(options).cap(0))
  return isToolResult(message) ? truncateToolResultMessage(message, most, options) : message
}

export function getToolResultTextLength(message: unknown): number {
  return isToolResult(message) ? textsOf(message).reduce((sum, text) => sum + text.length, 0) : 0
}

export function isOversizedToolResult(
  message: unknown,
  contextWindowTokens: number,
  options?: ProfileOptions,
): boolean {
  return getToolResultTextLength(message) > calculateMaxToolResultChars(contextWindowTokens, options)
}

export function isToolResult(message: unknown): boolean {
  return typeof message === 'object' && message !== null && get(message, 'role') === 'toolResult'
}

/** Returns the texts of a tool result, in order. */
export function textsOf(message: unknown): string[] {
  if (typeof message !== 'object' || message === null) return []
  const results = quietly(() => readResults(message, 'pi')) ?? []
  return results.flatMap(({ slots }) => slots.map(({ text }) => text))
}

/** Multiple of `minKeepChars` above which both ends are kept. */
const PARTS = 2

/** Makes the policy for a text of `chars` chars, Infinity for texts of unknown size. */
export function policyFor(
  chars: number,
  maxChars: number,
  options: ToolResultTruncationOptions,
  more: WrapPolicy = {},
): Policy {
  const most = limit('maxChars', maxChars)
  const { notice } = profileOf(options)
  const minKeep = bound('minKeepChars', options.minKeepChars, MIN_KEEP_CHARS)
  const { suffix } = options
  if (suffix !== undefined && typeof suffix !== 'string' && typeof suffix !== 'function')
    throw optionError(TypeError, 'suffix', 'a string or a function', suffix)
  const words = (omitted: number): unknown =>
    typeof suffix === 'function' ? suffix(Math.max(1, omitted)) : (suffix ?? notice)
  const said = chars > most ? quietly(() => words(chars - most)) : ''
  const room = most - (typeof said === 'string' ? said.length : 0)
  const base: WrapPolicy = {
    ...UNLIMITED,
    maxChars: most,
    keep: room > PARTS * minKeep ? 'auto' : 'head',
    dialect: 'pi',
    ...more,
  }
  if (typeof suffix === 'function') return withSuffix(base, (cut) => words(cut.omittedChars) as string)
  return withSuffix(base, suffix ?? { template: notice })
}
