import { types } from 'node:util'
import type { SpillStore, TextInput } from 'spillway'
import { closest } from './closest.js'
import { POLICY } from './reached_options.js'
import { isList, isObject, isPromise } from './untrusted.js'

const PROMPT = [
  'messages',
  'systemPrompt',
  'prompt',
  'tools',
  'contextTokens',
  'reserveTokens',
  'safetyMargin',
  'countTokens',
  'lastUsage',
  'perResultMaxChars',
  'aggregate',
  'maxRequestBytes',
  'provider',
  'media',
  'prices',
] as const

/** Names of all options, by taker, its own first. */
export const OPTIONS = {
  policy: POLICY,
  media: ['maxBytes', 'maxItems', 'order', 'provider'],
  sideData: ['maxBytes'],
  clean: ['ansi', 'carriageReturns', 'control', 'repeats', 'html'],
  redact: ['kinds', 'patterns'],
  display: ['maxChars', 'maxErrorChars', 'clean', 'redact'],
  messages: ['aggregate', ...POLICY],
  aggregate: ['maxChars', 'order', 'protectNewest', 'minKeepChars'],
  capture: ['streams', 'tool', 'callId', ...POLICY],
  attach: ['graceMs', 'signal'],
  store: ['dir', 'reference', 'secret', 'maxFileBytes', 'maxTotalBytes', 'maxAge', 'minAge'],
  remote: ['storage', 'prefix', 'secret', 'maxFileBytes', 'maxTotalBytes', 'maxAge', 'timeout'],
  save: ['tool', 'callId'],
  read: ['line', 'byte', 'lines', 'maxBytes', 'exact'],
  search: ['regex', 'ignoreCase', 'context', 'max', 'line', 'exact'],
  sweep: ['retain'],
  pairs: ['dialect', 'orphans', 'missing'],
  precheck: PROMPT,
  recovery: [...PROMPT, 'observe', 'send', 'compact', 'truncate', 'maxCompactions', 'onEvent', 'signal'],
  classify: ['patterns'],
  clear: [
    'trigger',
    'keep',
    'clearAtLeast',
    'excludeTools',
    'clearToolInputs',
    'keepUsed',
    'dedupe',
    'prices',
    'requestsToCome',
    'state',
    'spill',
    'placeholder',
    'observe',
  ],
  context: [
    'contextTokens',
    'reserveTokens',
    'safetyMargin',
    'prices',
    'requestsToCome',
    'keep',
    'excludeTools',
    'spill',
    'placeholder',
    'policy',
    'state',
    'observe',
  ],
  guard: ['method', 'transform', 'beforeWrite', 'maxRowBytes', 'inPlace', ...POLICY],
  repair: [
    'aggregate',
    'plan',
    'backup',
    'dryRun',
    'lock',
    'lockTimeout',
    'signal',
    'onProgress',
    'damaged',
    'pairs',
    ...POLICY,
  ],
  inspect: ['signal', 'top', ...POLICY],
} as const

export type Taker = keyof typeof OPTIONS

/** Names that every function accepts, since one object of options may serve all functions of this
 *  package. */
const ALL: ReadonlySet<string> = new Set(Object.values(OPTIONS).flat())

/** Names whose plural or singular is a name too. Each function has one of the two. */
const TWINS: ReadonlySet<string> = new Set([...ALL].filter((name) => ALL.has(twinOf(name))))

function twinOf(name: string): string {
  return name.endsWith('s') ? name.slice(0, -1) : `${name}s`
}

/** Returns true for the plural or the singular of a taker's own name, which is not given. */
function isTwin(name: string, own: readonly string[], given: object): boolean {
  return !own.includes(name) && own.includes(twinOf(name)) && !(twinOf(name) in given)
}

/** Makes an error for an invalid option: a TypeError if its type is wrong, a RangeError if its
 *  value is. */
export function optionError(
  Kind: typeof TypeError | typeof RangeError,
  field: string,
  rule: string,
  value: unknown,
): Error {
  return coded(new Kind(`${field} must be ${rule}, got ${show(value)}`))
}

/** Makes an error for a value that has none of the methods that it needs. `hint`: what may be
 *  meant. */
export function methodError(field: string, methods: readonly string[], value: unknown, hint = ''): Error {
  const [rule, missing] =
    methods.length === 1
      ? [`the method ${methods[0]}`, 'it']
      : [`one of the methods ${methods.join(', ')}`, 'any of them']
  const got = Object(value) === value ? `${show(value)} without ${missing}` : show(value)
  return coded(new TypeError(`${field} must be an object with ${rule}, got ${got}${hint}`))
}

/** Makes an error for options or arguments that are valid alone, but not together or not now. */
export function conflictError(message: string): Error {
  return coded(new TypeError(message))
}

/** Makes an error for an option that has no effect with the given `keep`. */
export function uselessError(option: string, keeps: readonly string[], keep: string): Error {
  const names = keeps.map(show).join(', ')
  return conflictError(
    `${option} has no effect with keep ${show(keep)}: set keep to ${keeps.length > 1 ? 'one of ' : ''}${names}, or leave ${option} out`,
  )
}

function coded(error: Error): Error {
  return Object.assign(error, { code: 'ERR_SPILLWAY_OPTION' })
}

/** Rejects values other than objects. */
export function checkOptions<T extends object>(field: string, value: T): T {
  if (typeof value === 'object' && value !== null) return value
  throw optionError(TypeError, field, 'an object', value)
}

/** Rejects values other than objects, and unknown names. Inherited names and undefined values
 *  count: they are misspelt all the same. */
export function checkNames<T extends object>(taker: Taker, field: string, value: T): T {
  let isEmpty = true
  for (const name in checkOptions(field, value)) {
    isEmpty = false
    if (!ALL.has(name) || (TWINS.has(name) && isTwin(name, OPTIONS[taker], value)))
      refuse(taker, field, value, name)
  }
  if (isEmpty) checkHolder(field, value)
  return value
}

/** Like `checkNames`, for the options within another option, which do not serve other functions. */
export function checkNamesWithin<T extends object>(
  taker: 'clean' | 'redact' | 'aggregate' | 'media' | 'sideData',
  value: T,
): T {
  return checkMembers(taker, value, OPTIONS[taker])
}

/** Rejects values other than objects, and members other than some. */
export function checkMembers<T extends object>(field: string, value: T, own: readonly string[]): T {
  checkHolder(field, checkOptions(field, value))
  for (const name in value)
    if (!own.includes(name) && !isEverywhere(name)) throw misspelt(name, own, [], `${field}.`)
  return value
}

function refuse(taker: Taker, field: string, value: object, name: string): void {
  if (isEverywhere(name)) return
  checkHolder(field, value)
  throw misspelt(name, OPTIONS[taker], [...ALL])
}

/** Returns true if other code has added a name to all objects. */
function isEverywhere(name: string): boolean {
  return name in Object.prototype
}

/** Makes an error for an unknown name. `own`: the names that are accepted; `others`: further ones
 *  that may be meant. */
function misspelt(name: string, own: readonly string[], others: readonly string[], within = ''): Error {
  return coded(new TypeError(unknownName('option', name, own, others, within)))
}

/** Reports an unknown name with the most similar known name, or with all if none is similar. */
export function unknownName(
  kind: 'argument' | 'option',
  name: string,
  own: readonly string[],
  others: readonly string[] = [],
  within = '',
): string {
  const meant = closest(name, own) ?? closest(name, others)
  const hint = meant === undefined ? `expected one of ${own.join(', ')}` : `did you mean \`${meant}\`?`
  return `unknown ${kind} \`${within}${show(name).slice(1, -1)}\`; ${hint}`
}

/** Rejects objects whose contents are not named members. */
function checkHolder(field: string, value: object): void {
  const isOther = isList(value) || isPromise(value) || types.isMap(value) || types.isSet(value)
  if (isOther) throw optionError(TypeError, field, 'an object', value)
}

/** Rejects a promise, whose result was meant. */
export function checkAwaited<T>(field: string, value: T): T {
  if (!isPromise(value)) return value
  throw optionError(TypeError, field, 'awaited', value)
}

/** Returns `value` if it is one of `choices`, and the default if it is undefined. */
export function choice<T extends string>(field: string, value: unknown, choices: readonly T[], preset: T): T {
  if (value === undefined) return preset
  if (choices.includes(value as T)) return value as T
  const kind = typeof value === 'string' ? RangeError : TypeError
  throw optionError(kind, field, `one of ${choices.map((name) => `'${name}'`).join(', ')}`, value)
}

/** Returns a bound, which is a whole number or Infinity. */
export function bound(field: string, value: unknown, preset: number, least = 0): number {
  if (value === undefined) return preset
  if (value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && (value as number) >= least))
    return Number(value)
  const kind = typeof value === 'number' ? RangeError : TypeError
  throw optionError(kind, field, `a whole number from ${least} up, or Infinity`, value)
}

/** Returns a bound without a default. */
export function limit(field: string, value: unknown): number {
  if (value !== undefined) return bound(field, value, 0)
  throw optionError(TypeError, field, 'a whole number from 0 up, or Infinity', value)
}

/** Returns a count, which is a whole number from 1 up, or Infinity. */
export function positive(field: string, value: unknown, preset: number): number {
  return bound(field, value, preset, 1)
}

/** Returns a share from 0 to 1. */
export function share(field: string, value: unknown, preset: number): number {
  if (value === undefined) return preset
  if (typeof value === 'number' && value >= 0 && value <= 1) return value
  throw optionError(typeof value === 'number' ? RangeError : TypeError, field, 'a number from 0 to 1', value)
}

export function flag(field: string, value: unknown, preset: boolean): boolean {
  if (value === undefined) return preset
  if (typeof value === 'boolean') return value
  throw optionError(TypeError, field, 'true or false', value)
}

export function callback<T>(field: string, value: T): T {
  if (value === undefined || typeof value === 'function') return value
  throw optionError(TypeError, field, 'a function', value)
}

/** Returns a store, which may be the caller's own. */
export function store(field: string, value: SpillStore | undefined): SpillStore | undefined {
  if (value === undefined || typeof (value as { save?: unknown } | null)?.save === 'function') return value
  throw optionError(TypeError, field, 'a store of saved outputs', value)
}

/** Returns an AbortSignal of any realm. */
export function abortSignal(field: string, value: unknown): AbortSignal | undefined {
  if (value === undefined || isSignal(value)) return value
  throw optionError(TypeError, field, 'an AbortSignal', value)
}

function isSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener, throwIfAborted } = isObject(value) ? (value as Partial<AbortSignal>) : {}
  return (
    typeof aborted === 'boolean' &&
    typeof addEventListener === 'function' &&
    typeof throwIfAborted === 'function'
  )
}

export function text(field: string, value: unknown, preset: string): string {
  if (value === undefined) return preset
  if (typeof value === 'string') return value
  throw optionError(TypeError, field, 'a string', value)
}

/** Returns non-empty strings, made well-formed. */
export function texts(field: string, value: unknown): string[] {
  if (value === undefined) return []
  if (!isList(value)) throw optionError(TypeError, field, 'an array of strings', value)
  return Array.from(value, (item: unknown, at) => {
    const name = `${field}[${at}]`
    if (item === '') throw optionError(RangeError, name, 'a non-empty string', item)
    if (typeof item !== 'string') throw optionError(TypeError, name, 'a string', item)
    return item.toWellFormed()
  })
}

const SHOWN = 60

/** Describes a value for an error message. */
export function show(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}...` : value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return types.isAsyncFunction(value) ? 'an async function' : 'a function'
  if (!isObject(value)) return String(value)
  if (isList(value)) return 'an array'
  if (isPromise(value)) return 'a promise'
  return types.isMap(value) ? 'a Map' : types.isSet(value) ? 'a Set' : 'an object'
}

/** Rejects values other than texts. Zero bytes become "": their buffer may be detached, and then
 *  cannot be read. */
export function checkText(text: TextInput, field = 'text'): TextInput {
  if (typeof text === 'string') return text
  if (types.isUint8Array(text)) return text.length === 0 ? '' : text
  throw optionError(TypeError, field, 'a string or a Uint8Array', text)
}

/** Rejects values other than strings. */
export function checkString(text: string): string {
  if (typeof text === 'string') return text
  throw optionError(TypeError, 'text', 'a string', text)
}
