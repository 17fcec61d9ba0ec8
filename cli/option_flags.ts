import { COUNT, FLAG, STRINGS, WHOLE } from '../lib/kinds.js'
import type { Option, Rows, Table } from '../lib/option_table.js'
import { QUERY } from '../lib/query.js'
import type { Args, Flag, Flags } from './term/args.js'
import { flagNameOf } from './term/usage_error.js'

/** The help of options that have flags, with what differs from the flag that their row makes. */
type Help = { readonly [option: string]: string | (Partial<Flag> & Pick<Flag, 'help'>) }

/** Returns the function of `Args` that reads a flag. Only bytes and chars are given as sizes. */
function readingOf({ kind, unit }: Option<unknown>): 'has' | 'size' | 'number' | 'texts' | 'text' {
  if (kind === FLAG) return 'has'
  if (kind === WHOLE || kind === COUNT) return unit === 'bytes' || unit === 'chars' ? 'size' : 'number'
  return kind === STRINGS || kind === QUERY ? 'texts' : 'text'
}

const FLAGS = {
  has: {},
  size: { value: 'SIZE' },
  number: { value: 'N' },
  texts: { value: 'TEXT', repeats: true },
  text: { value: 'TEXT' },
} as const

/** Makes flags of options. Each is called like its option, and its help ends in the default, which
 *  may be that of a command. */
export function flagsOf(
  { rows }: Table<Rows>,
  help: Help,
  presets: { readonly [option: string]: unknown } = {},
): Flags {
  const flags = Object.entries(help).map(([name, said]) => {
    const row = rows[name] as Option<unknown>
    const own = typeof said === 'string' ? { help: said } : said
    const { choices } = row.kind
    const preset = presets[name] ?? row.preset
    const isTold = typeof preset === 'string' || typeof preset === 'number'
    const flag = choices ? { value: 'WHAT', choices } : FLAGS[readingOf(row)]
    return [flagNameOf(name), { ...flag, ...own, help: own.help + (isTold ? ` (${preset})` : '') }]
  })
  return Object.fromEntries(flags)
}

/** Returns the options that flags give, which the library checks. */
export function optionsIn(args: Args, { rows }: Table<Rows>, names: readonly string[]): object {
  const all = names.map((name) => {
    const value = args[readingOf(rows[name] as Option<unknown>)](flagNameOf(name))
    return [name, value === false ? undefined : value] as const
  })
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}
