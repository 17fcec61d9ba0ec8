import type { Policy, WrapPolicy } from 'spillway'
import type { HardTruncateLimits, ProfileOptions, ToolResultTruncationOptions } from 'spillway/openclaw'
import { readResults } from '../../dialect/results.js'
import { bound, limit, text as textOption } from '../../kinds.js'
import { compile, UNLIMITED, withSuffix } from '../../policy.js'
import { clampError } from '../../result/clamp_error.js'
import { clampValue } from '../../result/clamp_result.js'
import { redrawn } from '../../result/display.js'
import { redactValue } from '../../result/redact_value.js'
import { wrapTool } from '../../result/wrap_tool.js'
import { sizeOf } from '../../text/size.js'
import { clampPrepared, clampText } from '../../text/text.js'
import { get, isObject, tryRead } from '../../untrusted.js'
import { checkOptions, checkString, optionError } from '../../validate.js'
import { asTexts, throughTexts } from './codex_blocks.js'
import { DEFAULT_TOOL_OUTPUT_HARD_LIMITS, HARD_TRUNCATE_SUFFIX, MIN_KEEP_CHARS } from './constants.js'
import { profileOf } from './profile.js'
import { fitted } from './weight.js'

export function truncateToolResultText(
  text: string,
  maxChars: number,
  options: ToolResultTruncationOptions = {},
): string {
  const cut = (chars: number) => clampText(checkString(text), policyFor(text.length, chars, options))
  return fitted(maxChars, cut, profileOf(options).measure)
}

export function truncateToolResultMessage<M>(
  message: M,
  maxChars: number,
  options: ToolResultTruncationOptions = {},
): M {
  return resultCutter(maxChars, options)(message)
}

/** Makes a function that truncates tool results. Its policy is checked once, unless the notice is a
 *  function. */
export function resultCutter(maxChars: number, options: ToolResultTruncationOptions): <M>(message: M) => M {
  const { measure } = profileOf(options)
  const preset =
    typeof options.suffix === 'function' ? undefined : policyFor(Number.POSITIVE_INFINITY, maxChars, options)
  return (message) => {
    const policyOf = (most: number) =>
      preset && most === maxChars ? preset : policyFor(getToolResultTextLength(message), most, options)
    const cut = (most: number) => {
      const policy = policyOf(most)
      return isToolResult(message)
        ? throughTexts(message, (texts) => clampValue(texts, compile(policy)))
        : message
    }
    return fitted(maxChars, cut, (made) => measuredChars(made, measure))
  }
}

export function capToolResultSize<M>(message: M, maxChars?: number, options: ProfileOptions = {}): M {
  return truncateToolResultMessage(message, limit('maxChars', maxChars ?? profileOf(options).cap(0)), options)
}

/** Returns the chars of all texts of a tool result, 0 for anything else. */
export function getToolResultTextLength(message: unknown): number {
  return measuredChars(message, (text) => text.length)
}

/** Returns the chars of all texts of a tool result, as a profile counts them. */
export function measuredChars(message: unknown, measure: (text: string) => number): number {
  return isToolResult(message) ? textsOf(message).reduce((sum, text) => sum + measure(text), 0) : 0
}

export function isToolResult(message: unknown): message is object {
  return isObject(message) && get(message, 'role') === 'toolResult'
}

/** Returns the texts of a tool result, in order. */
export function textsOf(message: object): string[] {
  const results = tryRead(() => readResults(asTexts(message), 'pi')) ?? []
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
  const said = chars > most ? tryRead(() => words(chars - most)) : ''
  const room = most - (typeof said === 'string' ? said.length : 0)
  const rules = room > PARTS * minKeep ? ({ keep: 'headOrEnds' } as const) : {}
  const base: WrapPolicy = { ...UNLIMITED, maxChars: most, keep: 'head', dialect: 'pi', ...more }
  if (typeof suffix === 'function') return withSuffix(base, (cut) => words(cut.omittedChars) as string, rules)
  return withSuffix(base, suffix ?? { template: notice }, rules)
}

export function countBytesUtf8(text: string): number {
  return Buffer.byteLength(checkString(text))
}

export function countLines(text: string): number {
  return sizeOf(checkString(text)).lines
}

export function truncateTextByLinesAndBytesUtf8(text: string, limits?: HardTruncateLimits): string {
  return clampText(checkString(text), hardPolicy(limits))
}

export function hardTruncateToolPayload<T>(payload: T, limits?: HardTruncateLimits): T {
  return clampValue(payload, compile(hardPolicy(limits)))
}

export function hardTruncateToolError<E>(error: E, limits?: HardTruncateLimits): E {
  return clampError(error, hardPolicy(limits))
}

export function wrapToolWithHardOutputTruncate<T extends object>(tool: T, limits?: HardTruncateLimits): T {
  return wrapTool(tool, hardPolicy(limits))
}

function hardPolicy(limits: HardTruncateLimits | undefined): Policy {
  return limits === undefined ? preset : checked(limits)
}

function checked(limits: HardTruncateLimits): Policy {
  checkOptions('limits', limits)
  const preset = DEFAULT_TOOL_OUTPUT_HARD_LIMITS
  const maxBytes = bound('maxBytesUtf8', limits.maxBytesUtf8, preset.maxBytesUtf8)
  const maxLines = bound('maxLines', limits.maxLines, preset.maxLines)
  const suffix = textOption('suffix', limits.suffix, HARD_TRUNCATE_SUFFIX)
  return withSuffix({ maxBytes, maxLines, keep: 'head', snap: 'char', dialect: 'pi' }, suffix, {
    share: 'stay',
  })
}

const preset = checked({})

const redacting = compile({ redact: true })

const sanitized = compile(
  withSuffix({ ...UNLIMITED, maxChars: 8_000, keep: 'head', snap: 'char' }, '\n\u2026(truncated)\u2026'),
)

export function sanitizeToolResult(result: unknown, options?: ProfileOptions): unknown {
  const shorten = (text: string) => clampPrepared(text, sanitized)
  // `map` passes an index.
  const { redacts } = profileOf(isObject(options) ? options : undefined)
  const open = redacts ? redactValue(result, redacting) : result
  if (typeof open === 'string') return shorten(open)
  return (isObject(open) && tryRead(() => redrawn(open, 'pi', shorten))) || open
}
