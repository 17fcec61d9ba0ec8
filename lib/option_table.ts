// Options as rows of tables: a name, the kind of its values, its default, the options that it needs
// to have an effect, and the functions that it reaches. A function reads all of its options by one
// call, so that none is read twice or left unchecked. lib/options.ts has the rows; docs/options.md
// shows them.
import type { Kind } from './kinds.js'
import { isList } from './untrusted.js'
import { checkMembers, checkOptions, conflictError, show } from './validate.js'

/** Facts about an option for its user. */
interface About {
  readonly unit?: 'bytes' | 'lines' | 'chars' | 'tokens' | 'ms'
  /** The functions that cut, of those that the option reaches. */
  readonly reaches?: readonly string[]
  /** Values of other options that let this one have an effect. */
  readonly needs?: { readonly [option: string]: readonly unknown[] }
}

/** An option whose value is used as a `T`. */
export interface Option<T> extends About {
  readonly kind: Kind<unknown>
  readonly preset: T
  readonly isRequired: boolean
}

/** Makes an option with a default, by default undefined. */
export function option<T>(kind: Kind<T>, preset?: undefined, about?: About): Option<T | undefined>
export function option<T>(kind: Kind<T>, preset: NoInfer<T>, about?: About): Option<T>
export function option<T>(kind: Kind<T>, preset: T, about?: About): Option<T> {
  return { kind, preset, isRequired: false, ...about }
}

/** Makes an option that must be given. */
export function required<T>(kind: Kind<T>, about?: About): Option<T> {
  return { kind, preset: undefined as T, isRequired: true, ...about }
}

// biome-ignore lint/suspicious/noExplicitAny: each row has a type of its own
export type Rows = { readonly [name: string]: Option<any> }

/** The values of options, as they are used. */
export type Values<R extends Rows> = {
  readonly [N in keyof R]: R[N] extends Option<infer T> ? T : never
}

/** Options in the order of their rows, those with needs, and an object of all defaults. */
function readingOf(rows: Rows) {
  const list = Object.keys(rows).map((name) => ({ name, row: rows[name] as Option<unknown> }))
  // A copy of a literal stays an object that V8 copies fast, however many members it has.
  const presets: Record<string, unknown> = { ...rows }
  for (const { name, row } of list) presets[name] = row.preset
  return { list, needy: list.filter(({ row }) => row.needs), presets }
}

/** The options of one function, or within one option. */
export class Table<R extends Rows = Rows> {
  readonly rows: R
  readonly names: readonly string[]
  /** Made when a function first reads its options. */
  #reading: ReturnType<typeof readingOf> | undefined

  constructor(rows: R) {
    this.rows = rows
    this.names = Object.keys(rows)
  }

  /** Returns all values, defaults included. Each option is read once, inherited ones too. `within`:
   *  the option that holds these, and a dot; `filled`: a copy of the defaults, with more members. */
  values(given: object, within = '', filled?: Record<string, unknown>): Values<R> {
    this.#reading ??= readingOf(this.rows)
    const values = filled ?? { ...this.#reading.presets }
    for (const { name, row } of this.#reading.list) {
      const value = (given as Record<string, unknown>)[name]
      if (value !== undefined || row.isRequired) values[name] = row.kind.take(within + name, value)
    }
    return values as Values<R>
  }

  /** Rejects values that ask for what other values rule out. The default and an empty list ask for
   *  nothing. */
  checkNeeds(values: { readonly [N in keyof R]?: unknown }): void {
    this.#reading ??= readingOf(this.rows)
    for (const { name, row } of this.#reading.needy) {
      const value: unknown = values[name]
      if (value === row.preset || (isList(value) && value.length === 0)) continue
      for (const [other, able] of Object.entries(row.needs ?? {})) {
        const got: unknown = values[other]
        if (!able.includes(got)) throw uselessError(name, other, able, got)
      }
    }
  }
}

function uselessError(name: string, other: string, able: readonly unknown[], got: unknown): Error {
  const values = `${able.length > 1 ? 'one of ' : ''}${able.map(show).join(', ')}`
  return conflictError(
    `${name} has no effect with ${other} ${show(got)}: set ${other} to ${values}, or leave ${name} out`,
  )
}

/** Makes a kind of objects with options of their own, which serve no other function. */
export function objectOf<R extends Rows>(table: Table<R>): Kind<Values<R>> {
  const take = (field: string, value: unknown) =>
    table.values(checkMembers(field, value as object, table.names), `${field}.`)
  return { rule: `{ ${table.names.join(', ')} }`, take }
}

/** Like `objectOf`, for objects of others, which have more members. */
export function partsOf<R extends Rows>(table: Table<R>): Kind<Values<R>> {
  const take = (field: string, value: unknown) =>
    table.values(checkOptions(field, value as object), `${field}.`)
  return { ...objectOf(table), take }
}
