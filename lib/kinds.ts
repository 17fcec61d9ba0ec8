import { types } from 'node:util'
import type { ClearOptions, SpillStore } from 'spillway'
import type { RemoteSpillOptions } from 'spillway/remote'
import { get, isList, isObject } from './untrusted.js'
import { optionError } from './validate.js'

const NONE = Number.POSITIVE_INFINITY

/** A kind of values that an option takes. */
export interface Kind<T> {
  /** The values in words, for errors and docs/options.md. */
  readonly rule: string
  /** Words that are values, which a shell offers. */
  readonly choices?: readonly string[]
  /** Checks a value and returns it in the form that functions use, or throws. */
  readonly take: (field: string, value: unknown) => T
}

/** Makes a kind of values of one type. A value of another type is a TypeError, any other wrong one
 *  a RangeError. */
export function kind<T>(
  rule: string,
  type: 'number' | 'string' | 'boolean' | 'function' | 'any',
  isRight: (value: T) => boolean = () => true,
): Kind<T> {
  const take = (field: string, value: unknown): T => {
    const isType = typeof value === type
    if ((isType || type === 'any') && isRight(value as T)) return value as T
    throw optionError(isType ? RangeError : TypeError, field, rule, value)
  }
  return { rule, take }
}

/** Makes a kind of some values of another. */
export function some<T>(from: Kind<T>, rule: string, isRight: (value: T) => boolean): Kind<T> {
  const take = (field: string, value: unknown): T => {
    if (isRight(from.take(field, value))) return value as T
    throw optionError(RangeError, field, rule, value)
  }
  return { ...from, rule, take }
}

/** Makes a kind whose values are used in another form. */
export function mapped<T, U>(from: Kind<T>, form: (value: T, field: string) => U): Kind<U> {
  return { ...from, take: (field, value) => form(from.take(field, value), field) }
}

/** Makes a kind of values of several types, which are of one kind each. */
export function byType<T>(
  rule: string,
  kinds: { readonly [type in 'string' | 'boolean' | 'function' | 'object']?: Kind<T> },
): Kind<T> {
  const take = (field: string, value: unknown): T => {
    const own = value === null ? undefined : kinds[typeof value as keyof typeof kinds]
    if (!own) throw optionError(TypeError, field, rule, value)
    return own.take(field, value)
  }
  const { choices } = kinds.string ?? {}
  return { rule, take, ...(choices && { choices }) }
}

/** Makes a kind of lists of values of one kind. */
export function listOf<T>(rule: string, element: Kind<T>): Kind<T[]> {
  const take = (field: string, value: unknown): T[] => {
    if (!isList(value)) throw optionError(TypeError, field, rule, value)
    return Array.from(value, (item: unknown, at) => element.take(`${field}[${at}]`, item))
  }
  return { rule, take }
}

/** Makes a kind of some words. */
export function oneOf<T extends string>(...choices: readonly T[]): Kind<T> {
  const rule = `one of ${choices.map((name) => `'${name}'`).join(', ')}`
  return { ...kind<T>(rule, 'string', (value) => choices.includes(value)), choices }
}

function whole(least: number): Kind<number> {
  return kind(
    `a whole number from ${least} up, or Infinity`,
    'number',
    (value) => value === NONE || (Number.isSafeInteger(value) && value >= least),
  )
}

/** A bound. */
export const WHOLE = whole(0)
/** A count or a first place. */
export const COUNT = whole(1)
export const SHARE = kind<number>('a number from 0 to 1', 'number', (value) => value >= 0 && value <= 1)
export const FLAG = kind<boolean>('true or false', 'boolean')
export const STRING = kind<string>('a string', 'string')
/** Strings that are not empty, made well-formed. */
export const STRINGS = listOf(
  'an array of strings',
  mapped(
    some(STRING, 'a non-empty string', (value) => value !== ''),
    (value) => value.toWellFormed(),
  ),
)
// biome-ignore lint/suspicious/noExplicitAny: the type of each option says which function it takes
export const FUNCTION = kind<any>('a function', 'function')
/** A value that its function checks. */
// biome-ignore lint/suspicious/noExplicitAny: as any value
export const ANY: Kind<any> = { rule: 'any value', take: (_, value) => value }
/** Returns true for the id of a saved output: no text of a model becomes anything else. */
export const isId = (id: string) => /^[0-9a-f]{16}$/.test(id)
export const ID = kind<string>('the id of a saved output, 16 hexadecimal digits', 'string', isId)
/** Makes a kind of objects with some methods. */
export function withMethods<T>(rule: string, ...methods: readonly string[]): Kind<T> {
  const hasMethod = (value: object, name: string) => typeof get(value, name) === 'function'
  return kind(rule, 'any', (value) => isObject(value) && methods.every((name) => hasMethod(value, name)))
}

/** A store, which may be the caller's own. */
export const STORE = withMethods<SpillStore>('a store of saved outputs', 'save')
/** An AbortSignal of any realm. */
export const SIGNAL = kind<AbortSignal>(
  'an AbortSignal',
  'any',
  (value) =>
    isObject(value) &&
    typeof get(value, 'aborted') === 'boolean' &&
    typeof get(value, 'addEventListener') === 'function' &&
    typeof get(value, 'throwIfAborted') === 'function',
)

/** The key of the ids of a store. The error does not show the value. */
export const SECRET: Kind<string> = {
  rule: 'a string of at least 16 chars',
  take(field, value) {
    if (typeof value !== 'string') throw optionError(TypeError, field, this.rule, typeof value)
    if (value.length < 16) throw optionError(RangeError, field, this.rule, `${value.length} chars`)
    return value.toWellFormed()
  },
}
/** A text, made well-formed. */
export const TEXT = mapped(STRING, (text) => text.toWellFormed())
/** Names joined by ":". */
export const PREFIX = kind<string>('names joined by ":"', 'string', (prefix) =>
  /^(?:[\w-][\w.-]*(?::[\w-][\w.-]*)*)?$/.test(prefix),
)
const METHODS = ['getItemRaw', 'setItemRaw', 'removeItem', 'getKeys']
export const STORAGE = withMethods<RemoteSpillOptions['storage']>(
  `an object with ${METHODS.join(', ')}`,
  ...METHODS,
)
export const PATH = kind<string>(
  'the path of a directory',
  'string',
  (path) => path !== '' && !path.includes('\0'),
)
export const PRICE = kind<number>('a number from 0 up', 'number', (value) => value >= 0 && value < NONE)
export const FACTOR = kind<number>('a number over 0', 'number', (value) => value > 0 && value < NONE)
export const WORDS = kind<string>('a text with words', 'string', (text) => text.trim() !== '')
export const SYNC = 'a function that answers at once'
/** A hook whose answer is needed at once: a message is written where it is appended. */
// biome-ignore lint/suspicious/noExplicitAny: the type of each option says which function it takes
export const HOOK = kind<any>(
  SYNC,
  'any',
  (value) => typeof value === 'function' && !types.isAsyncFunction(value),
)
export const PLACEHOLDER = byType<ClearOptions['placeholder']>('a string or a function', {
  string: STRING,
  function: FUNCTION,
})

/** Makes a check of values of a kind, with the value in place of undefined. */
const withPreset =
  <T>({ take }: Kind<T>) =>
  <P extends T | undefined>(field: string, value: unknown, preset: P): T | P =>
    value === undefined ? preset : take(field, value)

export const bound = withPreset(WHOLE)
export const flag = withPreset(FLAG)
export const text = withPreset(STRING)
export const { take: limit } = WHOLE

/** Returns a function, or undefined if none is given. */
export function callback<T>(field: string, value: T): T {
  return value === undefined ? value : FUNCTION.take(field, value)
}
