import type { TextInput } from 'spillway'
import { native } from '../engine.js'
import { checkText } from '../validate.js'
import { plain } from './input.js'
import { pieces } from './pieces.js'

export function redactText(text: TextInput): string {
  const given = checkText(text)
  return redactString(
    typeof given === 'string'
      ? given
      : new TextDecoder('utf-8', { ignoreBOM: true }).decode(plain(given, false)),
  )
}

/** Replaces the secrets in a string by marks. Returns the same string if there are none. */
export function redactString(text: string): string {
  const redaction = native.startRedacting()
  const parts: string[] = []
  for (const piece of pieces(text)) parts.push(native.redactPiece(redaction, piece))
  parts.push(native.finishRedacting(redaction))
  const redacted = parts.join('')
  return redacted === text.toWellFormed() ? text : redacted
}
