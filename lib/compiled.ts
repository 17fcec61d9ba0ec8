import type { ClampEvent, Cut, DialectName, Keep, SpillStore, TextSize, WrapPolicy } from 'spillway'
import type { Cleaning } from './cleaning.js'
import { KINDS } from './notice.js'

/** A policy as the engine takes it. */
export interface Compiled {
  /** In the order that src/bindings/policy.rs reads. */
  readonly numbers: readonly number[]
  /** The template of a notice. */
  readonly notice: string
  readonly source: string
  /** The source if the notice names it, else "", since handing over a string has a cost; then the path, id or error
   *  code of the saved output. */
  readonly said: string
  /** Path or id of the saved output. */
  readonly saved: string | undefined
  /** The caller's notice function. */
  readonly words: ((cut: Cut) => string) | undefined
  /** Kind of notice that the text of `words` has. */
  readonly spoken: number
  /** Chars up to which any well-formed text fits. */
  readonly gate: number
  /** Bytes of JSON up to which any well-formed result fits, of any shape. */
  readonly light: number
  /** Chars up to which a text's size alone may show that it fits. */
  readonly bySize: number
  /** Chars at the start and at the end beyond which no cut keeps anything; Infinity if only a pass can tell. */
  readonly reach: { head: number; tail: number }
  readonly limits: { bytes: number; lines: number; chars: number; tokens: number; lineBytes: number }
  /** True if the notice names bytes or lines, which take a pass over the text. */
  readonly countsAll: boolean
  /** True if the notice names the limits that were exceeded. */
  readonly namesLimits: boolean
  readonly keep: Keep
  readonly needles: string[]
  readonly isError: boolean
  /** True if every block of a result has the limits to itself. */
  readonly each: boolean
  readonly dialect: DialectName | undefined
  readonly sideData: 'keep' | 'cap' | 'drop'
  readonly maxSideBytes: number
  readonly clean: Cleaning | undefined
  readonly method: string | undefined
  readonly onClamp: ((event: ClampEvent) => void) | undefined
  readonly spill: SpillStore | undefined
  /** The options that were given, without defaults. */
  readonly given: WrapPolicy
  /** Checks other options for the same kind of notice. */
  readonly remake: (options: WrapPolicy) => Compiled
  /** The last of the policies that were combined into this one. */
  readonly latest?: Compiled
}

/** Values of `keep`, as src/bindings/policy.rs numbers them. */
export const KEEPS = ['auto', 'head', 'tail', 'ends', 'findings'] as const

/** Indexes into `numbers`. */
const CHARS = 2
const KEEP = 5
export const KIND = 8
const IS_ERROR = 9
export const SHARE = 10
const SAVED = 11
const SAVED_AT = 12
const PAGES = 13
const EXCEEDED = 14
const SAVED_HOW = { whole: 1, part: 2, wholeById: 3, partById: 4, failed: 5 } as const

/** Outcomes of saving a full output: all or part of it under a path or an id, or a failure. */
export type SavedHow = keyof typeof SAVED_HOW

/** Kinds of notices that name the source. */
const NAMING: readonly unknown[] = [KINDS.count, KINDS.template, KINDS.gluedTemplate]

/** Returns the source if a notice of this kind names it. */
export function saidOf(source: string, kind: unknown): string {
  return NAMING.includes(kind) ? source : ''
}

/** Derives bounds on lengths from limits. */
export function measures(limits: Compiled['limits'], keep: Keep) {
  const counted = limits.tokens === Number.POSITIVE_INFINITY && limits.lineBytes === Number.POSITIVE_INFINITY
  const reach = Math.min(limits.bytes, limits.chars) + 2
  // A char is at most three bytes, one line, three tokens (`MOST_PER_CHAR` in src/text/tokens.rs).
  const gate = Math.min(limits.bytes / 3, limits.lines, limits.chars, limits.tokens / 3, limits.lineBytes / 3)
  return {
    limits,
    gate,
    light: Math.min(gate * 6, limits.bytes, limits.chars, limits.tokens / 3, limits.lineBytes),
    bySize: counted ? Math.min(limits.bytes, limits.chars) : 0,
    reach: { head: keep === 'tail' ? 0 : reach, tail: keep === 'head' ? 0 : reach },
  }
}

/** Returns the policy for values of one dialect. */
export function speaking(policy: Compiled, dialect: DialectName): Compiled {
  return { ...policy, dialect }
}

/** Returns the policy with a tighter limit in chars, which all blocks of a result share. */
export function shortened(policy: Compiled, maxChars: number): Compiled {
  const chars = Math.min(policy.limits.chars, maxChars)
  const numbers = policy.numbers
    .with(CHARS, chars)
    .with(SHARE, policy.each ? 0 : (policy.numbers[SHARE] ?? 0))
  return { ...policy, numbers, each: false, ...measures({ ...policy.limits, chars }, policy.keep) }
}

/** Returns the policy with its limits reduced by `by`. */
export function tightened(policy: Compiled, by: TextSize | undefined): Compiled {
  if (!by) return policy
  const { limits } = policy
  const less = {
    ...limits,
    bytes: limits.bytes - by.bytes,
    lines: limits.lines - by.lines,
    chars: limits.chars - by.chars,
  }
  const numbers = [less.bytes, less.lines, less.chars, ...policy.numbers.slice(CHARS + 1)]
  return { ...policy, numbers, ...measures(less, policy.keep) }
}

/** Returns the policy with another name of the text. */
export function named(policy: Compiled, source: string): Compiled {
  return { ...policy, source, said: saidOf(source, policy.numbers[KIND]) }
}

/** Returns the policy for the output of a failure. */
export function failed(policy: Compiled): Compiled {
  return policy.isError ? policy : { ...policy, isError: true }
}

/** Returns the policy for a text that was saved under a name, or could not be. `named`: path, id or error code. */
export function saved(policy: Compiled, how: SavedHow, named: string): Compiled {
  const { said } = policy
  const name = named.toWellFormed()
  const numbers = policy.numbers.with(SAVED, SAVED_HOW[how]).with(SAVED_AT, Buffer.byteLength(said))
  return { ...policy, numbers, said: said + name, saved: how === 'failed' ? undefined : name }
}

/** Policies for tools with paging parameters. Equal input gives the same object, so that wrapping twice can be
 *  recognised. */
const paging = new WeakMap<Compiled, Compiled>()

/** Returns the policy for a tool with paging parameters (`offset`, `limit`). */
export function paged(policy: Compiled): Compiled {
  const made = paging.get(policy) ?? { ...policy, numbers: policy.numbers.with(PAGES, 1) }
  paging.set(policy, made)
  return made
}

export function isPaged({ numbers }: Compiled): boolean {
  return numbers[PAGES] === 1
}

/** Returns the policy for the head alone, without a notice. */
export function headOf(policy: Compiled): Compiled {
  const numbers = policy.numbers.with(KEEP, KEEPS.indexOf('head')).with(KIND, KINDS.none)
  return { ...policy, keep: 'head', numbers, words: undefined }
}

/** Returns true if the policy searches for findings. */
export function searches({ keep, isError }: Compiled): boolean {
  return keep === 'findings' || (keep === 'auto' && isError)
}

/** Shared by all calls: the engine reads it before anything else runs, and a new array costs more than a cut. */
const packed = new Float64Array(15)

/** Packs a policy for the engine. `kind`: another kind of notice. `exceeded`: the limits exceeded by a text that the
 *  engine sees only in part, as `brokenBy` returns them. */
export function pack(policy: Compiled, kind?: number, exceeded = 0): Float64Array {
  packed.set(policy.numbers)
  packed[IS_ERROR] = Number(policy.isError)
  packed[EXCEEDED] = exceeded
  if (kind !== undefined) packed[KIND] = kind
  return packed
}
