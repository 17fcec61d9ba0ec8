import { types } from 'node:util'
import { closest } from './closest.js'
import { isList, isObject, isPromise } from './untrusted.js'

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

/** Gives an error the code of wrong options. */
export function coded(error: Error): Error {
  return Object.assign(error, { code: 'ERR_SPILLWAY_OPTION' })
}

/** Rejects values other than objects. */
export function checkOptions<T extends object>(field: string, value: T): T {
  if (typeof value === 'object' && value !== null) return value
  throw optionError(TypeError, field, 'an object', value)
}

/** Rejects values other than objects, and members other than some. */
export function checkMembers<T extends object>(field: string, value: T, own: readonly string[]): T {
  checkHolder(field, checkOptions(field, value))
  for (const name in value)
    if (!own.includes(name) && !isEverywhere(name))
      throw coded(new TypeError(unknownName('option', name, own, [], `${field}.`)))
  return value
}

/** Returns true if other code has added a name to all objects. */
export function isEverywhere(name: string): boolean {
  return name in Object.prototype
}

/** Reports an unknown name with the most similar known name, or with all if none is similar.
 *  `own`: the names that are accepted; `others`: further ones that may be meant. */
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
export function checkHolder(field: string, value: object): void {
  const isOther = isList(value) || isPromise(value) || types.isMap(value) || types.isSet(value)
  if (isOther) throw optionError(TypeError, field, 'an object', value)
}

/** Rejects a promise, whose result was meant. */
export function checkAwaited<T>(field: string, value: T): T {
  if (!isPromise(value)) return value
  throw optionError(TypeError, field, 'awaited', value)
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
export function checkText(text: string | Uint8Array, field = 'text'): string | Uint8Array {
  if (typeof text === 'string') return text
  if (types.isUint8Array(text)) return text.length === 0 ? '' : text
  throw optionError(TypeError, field, 'a string or a Uint8Array', text)
}

/** Rejects values other than strings. */
export function checkString(text: string): string {
  if (typeof text === 'string') return text
  throw optionError(TypeError, 'text', 'a string', text)
}
