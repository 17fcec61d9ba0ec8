import type { RedactOptions } from 'spillway'
import { closest } from './closest.js'
import { native } from './engine.js'
import { isList } from './untrusted.js'
import { checkMembers, checkNamesWithin, optionError, texts } from './validate.js'

/** Kinds of secrets to redact, as the engine keeps them. */
export type Redaction = ReturnType<typeof native.redaction>

let all: Redaction | undefined

/** Checks the `redact` option of a policy. Returns undefined if it does not redact. */
export function checkRedact(redact: boolean | RedactOptions | undefined): Redaction | undefined {
  if (redact === undefined || redact === false) return undefined
  if (redact === true) return everything()
  if (typeof redact !== 'object' || redact === null)
    throw optionError(TypeError, 'redact', 'true, false or an object', redact)
  return checkRedaction(checkNamesWithin('redact', redact), 'redact.')
}

/** Checks what is to be redacted. `within`: the option that contains it, if any, and a dot. */
export function checkRedaction(options: RedactOptions, within = ''): Redaction {
  const { kinds, patterns } = options
  if (kinds === undefined && patterns === undefined) return everything()
  const redaction = native.redaction(kinds === undefined ? native.secretKinds() : checkKinds(kinds, within))
  if (patterns !== undefined) addPatterns(redaction, patterns, `${within}patterns`)
  return redaction
}

function everything(): Redaction {
  all ??= native.redaction(native.secretKinds())
  return all
}

function checkKinds(kinds: unknown, within: string): string[] {
  const known = native.secretKinds()
  const given = texts(`${within}kinds`, kinds)
  for (const [at, kind] of given.entries()) {
    if (known.includes(kind)) continue
    const meant = closest(kind, known)
    const hint = meant === undefined ? '' : ` such as '${meant}'`
    throw optionError(RangeError, `${within}kinds[${at}]`, `a kind of docs/redact.md${hint}`, kind)
  }
  return given
}

const MEMBERS = ['kind', 'pattern'] as const

/** Letters, digits, blanks, "_" and "-": no format finds a text of these alone. */
const NAME = /^[\w -]{1,64}$/

function addPatterns(redaction: Redaction, patterns: unknown, field: string): void {
  if (!isList(patterns)) throw optionError(TypeError, field, 'an array of objects', patterns)
  for (const [at, given] of patterns.entries()) {
    const name = `${field}[${at}]`
    const { kind, pattern } = checkMembers(name, given as { kind?: unknown; pattern?: unknown }, MEMBERS)
    if (typeof kind !== 'string') throw optionError(TypeError, `${name}.kind`, 'a string', kind)
    if (!NAME.test(kind))
      throw optionError(RangeError, `${name}.kind`, 'up to 64 letters, digits, blanks, _ and -', kind)
    if (typeof pattern !== 'string') throw optionError(TypeError, `${name}.pattern`, 'a string', pattern)
    const reason = native.addSecret(redaction, kind, pattern.toWellFormed())
    if (reason !== null)
      throw optionError(RangeError, `${name}.pattern`, `a regular expression (${reason})`, pattern)
  }
}
