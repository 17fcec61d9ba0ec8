import type { RedactOptions } from 'spillway'
import { type Ahead, PENDING } from '../ahead.js'
import { native } from '../engine.js'
import { optionsOf } from '../read_options.js'
import { type Redaction, redactionOf } from '../redact_options.js'
import { countMarks } from '../redactions.js'
import { checkText } from '../validate.js'
import { fromUtf8, plain } from './input.js'
import { isLatin1 } from './latin1.js'

export function redactText(text: string | Uint8Array, options: RedactOptions = {}): string {
  const redaction = redactionOf(optionsOf('redact', 'options', options))
  const given = redacted(checkText(text), { redact: redaction })
  return typeof given === 'string' ? given : fromUtf8(given)
}

/** Redacts a text if the policy says so. Returns the same text if it has no secret. */
export function redacted<T extends string | Uint8Array>(
  text: T,
  policy: { readonly redact: Redaction | undefined; readonly ahead?: Ahead },
): T {
  const { redact, ahead } = policy
  if (!redact) return text
  const made =
    typeof text === 'string'
      ? redactString(text, redact, ahead)
      : native.redactText(redact, plain(text, false), false)
  return (made ?? text) as T
}

/** Returns a string without its secrets, null if it has none. */
export function redactString(text: string, redaction: Redaction, ahead?: Ahead): string | null {
  const answer = ahead?.answer(text, redaction, (held) => native.redactHeld(held, redaction))
  if (answer === PENDING) return null
  const made = answer ? answer.value : (native.redactText(redaction, text, isLatin1(text)) as string | null)
  if (made !== null) countMarks(text, made)
  return made
}
