import type { RedactOptions } from 'spillway'
import { closest } from './closest.js'
import { native } from './engine.js'
import { isList } from './untrusted.js'
import { optionError } from './validate.js'

/** Kinds of secrets to redact, as the engine keeps them. */
export type Redaction = Exclude<ReturnType<typeof native.redaction>, [number, string]>

let all: Redaction | undefined

/** Makes a redaction of checked options. `within`: the option that holds these, and a dot. */
export function redactionOf({ kinds, patterns }: RedactOptions, within = ''): Redaction {
  if (kinds === undefined && patterns === undefined) {
    all ??= native.redaction(native.secretKinds(), []) as Redaction
    return all
  }
  const known = native.secretKinds()
  for (const [at, kind] of (kinds ?? []).entries()) {
    if (known.includes(kind)) continue
    const meant = closest(kind, known)
    const rule = `a kind of docs/redact.md${meant === undefined ? '' : ` such as '${meant}'`}`
    throw optionError(RangeError, `${within}kinds[${at}]`, rule, kind)
  }
  const own = (patterns ?? []).map(({ kind, pattern }): [string, string] => [kind, pattern.toWellFormed()])
  const made = native.redaction(kinds ? [...kinds] : known, own)
  if (!isList(made)) return made
  const [at, reason] = made as [number, string]
  const rule = `a regular expression (${reason})`
  throw optionError(RangeError, `${within}patterns[${at}].pattern`, rule, patterns?.[at]?.pattern)
}
