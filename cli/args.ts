import { parseArgs } from 'node:util'
import { Mistake } from './mistake.js'

/** A flag as help shows it. One without a `value` takes none. */
export interface Flag {
  readonly value?: string
  readonly short?: string
  readonly help: string
}
export type Flags = Readonly<Record<string, Flag>>

export interface Command {
  /** What it does, in a few words. */
  readonly summary: string
  /** Ways to call it. */
  readonly usage: readonly string[]
  readonly about: string
  readonly flags: Flags
  /** Returns what the process exits with. */
  run(args: Args): Promise<number>
}

/** What was given to a command, of which every flag is one of its own. */
export class Args {
  /** What is no flag, and of it what follows "--". */
  readonly names: readonly string[]
  readonly rest: readonly string[]
  readonly #values: ReadonlyMap<string, string | true>

  constructor(names: readonly string[], rest: readonly string[], values: ReadonlyMap<string, string | true>) {
    this.names = names
    this.rest = rest
    this.#values = values
  }

  has(flag: string): boolean {
    return this.#values.has(flag)
  }

  text(flag: string): string | undefined {
    const value = this.#values.get(flag)
    return value === true ? undefined : value
  }

  /** A whole number, or Infinity; what is out of range is told by what takes it. */
  number(flag: string): number | undefined {
    const value = this.text(flag)
    if (value === undefined) return undefined
    if (/^(?:\d+|Infinity)$/.test(value)) return Number(value)
    throw new Mistake(`--${flag} takes a whole number or Infinity, not ${JSON.stringify(value)}`)
  }
}

/** Refuses names that nothing is done with. */
export function checkNames(args: Args, most: number, usage: string): void {
  const extra = args.names[most]
  if (extra !== undefined) throw new Mistake(`${JSON.stringify(extra)} is one argument too many: ${usage}`)
}

/** Reads the arguments of a command. What follows "--" is no flag. */
export function readArgs(command: string, flags: Flags, given: readonly string[]): Args {
  const { tokens } = parseArgs({
    args: [...given],
    options: Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, option(flag)])),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const names: string[] = []
  const end = tokens.find(({ kind }) => kind === 'option-terminator')?.index ?? given.length
  const values = new Map<string, string | true>()
  for (const token of tokens) {
    if (token.kind === 'positional') names.push(token.value)
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (!flag)
      throw new Mistake(
        `${rawName} is no flag of ${command}: see \`spillway ${command} --help\`, or put -- before what is no flag`,
      )
    if (flag.value === undefined && value !== undefined)
      throw new Mistake(`${rawName} takes no value; leave out ${JSON.stringify(value)}`)
    // What looks like a flag was meant as one, but a number below zero as a value, of which to say that it is wrong.
    const isFlag = !inlineValue && /^-(?!\d)/.test(value ?? '')
    if (flag.value !== undefined && (value === undefined || isFlag))
      throw new Mistake(`${rawName} needs a value: --${name}=${flag.value}`)
    values.set(name, value ?? true)
  }
  return new Args(names, given.slice(end + 1), values)
}

function option({ value, short }: Flag) {
  return { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short && { short }) }
}
