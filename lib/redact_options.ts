import type { RedactOptions } from 'spillway'
import { closest } from './closest.js'
import { native } from './engine.js'
import { optionError } from './validate.js'

/** Kinds of secrets to redact, as the engine keeps them. */
export type Redaction = ReturnType<typeof native.redaction>

let all: Redaction | undefined

/** Makes a redaction of checked options. `within`: the option that holds these, and a dot. */
export function redactionOf({ kinds, patterns }: RedactOptions, within = ''): Redaction {
  if (kinds === undefined && patterns === undefined) {
    all ??= native.redaction(native.secretKinds())
    return all
  }
  const known = native.secretKinds()
  for (const [at, kind] of (kinds ?? []).entries()) {
    if (known.includes(kind)) continue
    const meant = closest(kind, known)
    const rule = `a kind of docs/redact.md${meant === undefined ? '' : ` such as '${meant}'`}`
    throw optionError(RangeError, `${within}kinds[${at}]`, rule, kind)
  }
  const redaction = native.redaction(kinds ? [...kinds] : known)
  for (const [at, { kind, pattern }] of (patterns ?? []).entries()) {
    const reason = native.addSecret(redaction, kind, pattern.toWellFormed())
    const rule = `a regular expression (${reason})`
    if (reason !== null) throw optionError(RangeError, `${within}patterns[${at}].pattern`, rule, pattern)
  }
  return redaction
}
