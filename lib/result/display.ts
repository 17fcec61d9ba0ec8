import { types } from 'node:util'
import type { sanitizeForDisplay as Declared, DialectName } from 'spillway'
import type { EnginePolicy } from '../compiled.js'
import { Draft } from '../dialect/edit.js'
import { decodedBytes } from '../dialect/payload.js'
import { type Result, readResults } from '../dialect/results.js'
import { named } from '../dialect/slots.js'
import type { Slot } from '../dialect/walk.js'
import { compile, UNLIMITED } from '../policy.js'
import { optionsOf } from '../read_options.js'
import { cleaned } from '../text/clean.js'
import { alone } from '../text/flatten.js'
import { truncateUtf16Safe } from '../text/slice.js'
import { get, tryRead } from '../untrusted.js'
import { checkAwaited } from '../validate.js'
import { clampString } from './clamp_slots.js'
import { rebuilt } from './rebuild_error.js'
import { redactValue } from './redact_value.js'
import { steadyResult } from './steady_result.js'

interface Display {
  /** Limits of each text block. */
  readonly policy: EnginePolicy
  readonly maxErrorChars: number
}

export function sanitizeForDisplay<T>(result: T, options: Parameters<typeof Declared>[1] = {}): T {
  const { maxErrorChars, ...given } = optionsOf('display', 'options', options)
  const display = { policy: compile({ ...UNLIMITED, ...given, notice: 'pi' }), maxErrorChars }
  checkAwaited('result', result)
  const open = redactValue(steadyResult(result), display.policy)
  if (typeof open === 'string') return clampString(open, display.policy) as T
  if (typeof open !== 'object' || open === null) return open
  const made = tryRead(() => (types.isNativeError(open) ? errorFor(open, display) : resultFor(open, display)))
  return (made ?? open) as T
}

/** Returns a copy of an error for a person to read, without its frames and causes. */
function errorFor(error: Error, { policy, maxErrorChars }: Display): object {
  const message = firstLine(cleaned(String(get(error, 'message') ?? ''), policy), maxErrorChars)
  const dropped = ['cause', 'errors'].filter((name) => get(error, name) !== undefined)
  return rebuilt(error, {
    message,
    stack: `${String(get(error, 'name') ?? 'Error')}: ${message}`,
    ...Object.fromEntries(dropped.map((name) => [name, undefined])),
  })
}

function resultFor(value: object, { policy, maxErrorChars }: Display): object {
  return redrawn(value, undefined, (text, { isError }) =>
    isError ? firstLine(cleaned(text, policy), maxErrorChars) : clampString(text, policy),
  )
}

/** Returns a copy of a result with each text shortened, and sizes in place of images. */
export function redrawn(
  value: object,
  dialect: DialectName | undefined,
  shorten: (text: string, result: Result) => string,
): object {
  const draft = new Draft()
  for (const result of readResults(value, dialect)) {
    const shortened = (slot: Slot) => {
      const text = shorten(slot.text, result)
      const lean = text === slot.text ? undefined : named(slot, slot.text)
      return lean === undefined ? text : shorten(lean, result)
    }
    const texts = result.slots.map((slot) => [slot, shortened(slot)] as const)
    draft.edit(result, new Map(texts.filter(([slot, text]) => text !== slot.text)))
    omitMedia(result, draft)
  }
  return draft.done(value)
}

/** Replaces the bytes of images, audio and files by their size. */
function omitMedia(result: Result, draft: Draft): void {
  for (const { value, holder, key } of result.media) {
    const bytes = bytesOf(value)
    if (bytes === undefined) continue
    draft.remove(holder, key)
    draft.set(holder, 'bytes', bytes)
    draft.set(holder, 'omitted', true)
  }
}

/** Returns the size of a payload, undefined for a reference such as a web address. */
function bytesOf(payload: unknown): number | undefined {
  if (typeof payload === 'string')
    return /^(?!data:)[a-z][a-z+.-]*:/i.test(payload) ? undefined : decodedBytes(payload)
  return ArrayBuffer.isView(payload) ? payload.byteLength : undefined
}

/** Returns the first line that is not blank, truncated to `maxChars`. */
function firstLine(text: string, maxChars: number): string {
  const start = text.search(/\S/)
  if (start < 0) return ''
  const window = text.slice(start, start + maxChars + 1)
  const line = /^[^\r\n]*/.exec(window)?.[0].trimEnd() ?? ''
  const whole = alone(line.toWellFormed())
  return whole.length <= maxChars
    ? whole
    : `${truncateUtf16Safe(whole, Math.max(0, maxChars - 1))}…`.slice(0, maxChars)
}
