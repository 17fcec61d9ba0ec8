import { parseArgs } from 'node:util'
import { UsageError } from './usage_error.js'

/** A flag and its help. A flag without a `value` is a switch. */
export interface Flag {
  readonly value?: string
  readonly short?: string
  /** Values that a shell offers. */
  readonly choices?: readonly string[]
  /** True if each of several values counts. */
  readonly repeats?: boolean
  readonly help: string
}
export type Flags = Readonly<Record<string, Flag>>

export interface Command {
  /** One line for the list of commands. */
  readonly summary: string
  /** Ways to call the command. */
  readonly usage: readonly string[]
  readonly about: string
  /** Arguments that a shell offers. */
  readonly names?: 'file' | 'command' | readonly string[]
  readonly examples: readonly Example[]
  readonly flags: Flags
  /** Returns the exit code of the process. */
  run(args: Args, commands: Commands): Promise<number>
}
export type Commands = Readonly<Record<string, Command>>

/** A command line, and one line above it that says what it is for. */
export type Example = readonly [purpose: string, line: string]

/** Factors of the suffixes of sizes. */
const UNITS: Record<string, number> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }

/** Returns the values that a shell offers for a flag: words, or a kind of file. */
export function valuesOf({ value, choices }: Flag): readonly string[] | 'dir' | 'file' | 'text' {
  if (choices) return choices
  return value === 'DIR' ? 'dir' : value === 'FILE' || value === 'MODULE' ? 'file' : 'text'
}

/** The arguments of a command, checked against its flags. */
export class Args {
  /** Arguments other than flags. */
  readonly names: readonly string[]
  /** Arguments after "--", which are also the last ones of `names`. */
  readonly rest: readonly string[]
  readonly #values: ReadonlyMap<string, readonly string[]>

  constructor(
    names: readonly string[],
    rest: readonly string[],
    values: ReadonlyMap<string, readonly string[]>,
  ) {
    this.names = names
    this.rest = rest
    this.#values = values
  }

  has(flag: string): boolean {
    return this.#values.has(flag)
  }

  text(flag: string): string | undefined {
    return this.texts(flag)?.at(-1)
  }

  /** Returns all values of a flag, in order. */
  texts(flag: string): readonly string[] | undefined {
    return this.#values.get(flag)
  }

  /** Returns a whole number or Infinity. The option that it is for checks its range. */
  number(flag: string): number | undefined {
    const value = this.text(flag)
    if (value === undefined) return undefined
    if (/^(?:\d+|Infinity)$/.test(value)) return Number(value)
    throw new UsageError(`--${flag} takes a whole number or Infinity, not ${JSON.stringify(value)}`)
  }

  /** Returns a size in bytes or chars, such as 51200, 10K or 2M, or Infinity. */
  size(flag: string): number | undefined {
    const value = this.text(flag)
    if (value === undefined) return undefined
    if (value === 'Infinity') return Number.POSITIVE_INFINITY
    const [, digits, unit = ''] = /^(\d+)([KMG]?)$/i.exec(value) ?? []
    const factor = UNITS[unit.toUpperCase()]
    if (digits !== undefined && factor !== undefined) return Number(digits) * factor
    throw new UsageError(
      `--${flag} takes a size such as 51200, 10K or 2M, or Infinity, not ${JSON.stringify(value)}`,
    )
  }
}

/** Returns the options that are defined. */
export function defined<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T
}

/** Rejects names beyond those that the command uses. */
export function checkNames(args: Args, most: number, usage: string): void {
  const extra = args.names[most]
  if (extra !== undefined)
    throw new UsageError(`unexpected argument ${JSON.stringify(extra)}; usage: ${usage}`)
}

/** Reads the arguments of a command. Arguments after "--" are not flags. */
export async function readArgs(command: string, flags: Flags, argv: readonly string[]): Promise<Args> {
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, option(flag)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const names: string[] = []
  const end = tokens.find(({ kind }) => kind === 'option-terminator')?.index ?? argv.length
  const values = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind === 'positional') names.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (!flag) {
      const meant = await meantBy(name, Object.keys(flags))
      const hint = meant === undefined ? '; see' : `; did you mean --${meant}? See`
      throw new UsageError(
        `unknown flag ${rawName} for ${command}${hint} \`spillway ${command} --help\`, or put -- before other arguments`,
      )
    }
    if (flag.value === undefined && value !== undefined)
      throw new UsageError(`${rawName} takes no value; leave out ${JSON.stringify(value)}`)
    // A value that looks like a flag was meant as a flag. A negative number is a value, to be
    // rejected as one.
    const isFlag = !inlineValue && /^-(?!\d)/.test(value ?? '')
    if (flag.value !== undefined && (value === undefined || isFlag))
      throw new UsageError(`${rawName} needs a value: --${name}=${flag.value}`)
    values.set(name, [...(values.get(name) ?? []), ...(value === undefined ? [] : [value])])
  }
  return new Args(names, argv.slice(end + 1), values)
}

/** Returns the name that was meant by a misspelt one, if one is similar. What finds it shares a
 *  file with the engine, so it is loaded only after a mistake, and no name is returned where the
 *  engine cannot be loaded. */
export async function meantBy(misspelt: string, names: readonly string[]): Promise<string | undefined> {
  try {
    const { closest } = await import('../../lib/wings/closest.js')
    return closest(misspelt, names)
  } catch {
    return undefined
  }
}

function option({ value, short }: Flag) {
  return { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short && { short }) }
}
