import type { ClampEvent, Cut, DialectName, Keep, Policy, SpillStore, TextSize, WrapPolicy } from 'spillway'
import { type Cleaning, checkClean } from './cleaning.js'
import { dialectNames } from './dialect/dialect.js'
import { checkNotice, KINDS } from './notice.js'
import { bound, callback, checkOptions, choice, flag, share, store, text, texts } from './option.js'
import { isObject } from './reading.js'

/** A policy as the engine takes it. */
export interface Compiled {
  /** In the order that src/bindings/policy.rs reads. */
  readonly numbers: readonly number[]
  /** The words of a template. */
  readonly notice: string
  readonly source: string
  /**
   * The source where the engine words it, else nothing: a string costs to hand over. What is known of a saved whole
   * follows.
   */
  readonly said: string
  /** Path or id of the saved whole. */
  readonly saved: string | undefined
  /** A notice that the caller words. */
  readonly words: ((cut: Cut) => string) | undefined
  /** The kind of notice that such words make. */
  readonly spoken: number
  /** Chars up to which any well-formed text fits. */
  readonly gate: number
  /** Chars up to which the size of a text can tell that it fits. */
  readonly bySize: number
  /** Chars at the start and at the end that no cut can go beyond; Infinity where only a pass can tell. */
  readonly reach: { head: number; tail: number }
  readonly limits: { bytes: number; lines: number; chars: number; tokens: number; lineBytes: number }
  /** The notice names bytes or lines, which take a pass over the text. */
  readonly countsAll: boolean
  readonly keep: Keep
  readonly needles: string[]
  readonly isError: boolean
  /** Every block of a result has the limits to itself. */
  readonly each: boolean
  readonly dialect: DialectName | undefined
  readonly sideData: 'keep' | 'cap' | 'drop'
  readonly maxSideBytes: number
  readonly clean: Cleaning | undefined
  readonly method: string | undefined
  readonly onClamp: ((event: ClampEvent) => void) | undefined
  readonly spill: SpillStore | undefined
}

const KEEPS = ['auto', 'head', 'tail', 'ends', 'findings'] as const
const SHARES = ['fair', 'order', 'each'] as const

const OPTIONS = [
  'maxBytes',
  'maxLines',
  'maxChars',
  'maxTokens',
  'maxLineBytes',
  'keep',
  'headShare',
  'needles',
  'isError',
  'snap',
  'notice',
  'source',
  'share',
  'dialect',
  'sideData',
  'maxSideBytes',
  'clean',
  'method',
  'onClamp',
  'spill',
] as const satisfies (keyof WrapPolicy)[]

/** Options without the limits that hold where none are given. */
export const UNLIMITED = {
  maxBytes: Number.POSITIVE_INFINITY,
  maxLines: Number.POSITIVE_INFINITY,
} satisfies WrapPolicy

/** Kinds of notices that name the source. */
const NAMING: readonly unknown[] = [KINDS.count, KINDS.template, KINDS.gluedTemplate]

/** Places among the numbers, and what may have become of a whole. */
const CHARS = 2
const KEEP = 5
const KIND = 8
const IS_ERROR = 9
const SHARE = 10
const SAVED = 11
const SAVED_AT = 12
const SAVED_HOW = { whole: 1, part: 2, failed: 3 } as const
const STAY = SHARES.length

/** What definePolicy returns. The private field marks it as checked: a copy of it is plain options again. */
class CheckedPolicy {
  readonly #compiled: Compiled

  constructor(options: WrapPolicy, compiled: Compiled) {
    const { needles, clean } = options
    Object.assign(this, options, { maxBytes: compiled.limits.bytes, maxLines: compiled.limits.lines })
    if (needles) Object.assign(this, { needles: Object.freeze([...needles]) })
    if (isObject(clean)) Object.assign(this, { clean: Object.freeze({ ...clean }) })
    this.#compiled = compiled
    Object.freeze(this)
  }

  static compiled(options: object): Compiled | undefined {
    return #compiled in options ? options.#compiled : undefined
  }
}

/** Checks options once. */
export function definePolicy(options: WrapPolicy = {}): Policy {
  const given = isObject(options) ? givenOptions(options) : options
  const compiled = check(given)
  return new CheckedPolicy(given, compiled) as unknown as Policy
}

/** What stands right behind a cut text: a text as it is, a template, or a caller's words. */
export type Suffix = string | { template: string } | ((cut: Cut) => string)

/** A checked policy with a suffix instead of a notice, and no separator of ours. `stay`: first come, first served, and
 *  no block goes. */
export function withSuffix(options: WrapPolicy, suffix: Suffix, stay = false): Policy {
  const words = typeof suffix === 'function' ? suffix : undefined
  const template = typeof suffix === 'object' ? suffix.template : undefined
  const base = check({ ...options, notice: words ?? template ?? 'hint' })
  const kind = template === undefined ? KINDS.gluedLiteral : KINDS.gluedTemplate
  const numbers = base.numbers.with(KIND, kind).with(SHARE, stay ? STAY : (base.numbers[SHARE] ?? 0))
  const notice = typeof suffix === 'string' ? suffix.toWellFormed() : base.notice
  const compiled = { ...base, numbers, notice, spoken: KINDS.gluedLiteral }
  return new CheckedPolicy(options, compiled) as unknown as Policy
}

/** The options that are given, each read once. */
function givenOptions(options: WrapPolicy): WrapPolicy {
  const all = OPTIONS.map((name) => [name, options[name]] as const)
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

/** Returns the checked form of a policy, of options, or of nothing. */
export function compile(policy: WrapPolicy | Policy | undefined): Compiled {
  if (policy === undefined) return preset
  return (isObject(policy) ? CheckedPolicy.compiled(policy) : undefined) ?? check(policy)
}

/** The same for a function with defaults of its own. */
export function compileWith(defaults: WrapPolicy, policy: WrapPolicy | Policy | undefined): Compiled {
  return check(
    policy === undefined ? defaults : isObject(policy) ? { ...defaults, ...givenOptions(policy) } : policy,
  )
}

function check(options: WrapPolicy): Compiled {
  checkOptions('policy', options)
  const limits = {
    bytes: bound('maxBytes', options.maxBytes, 51_200),
    lines: bound('maxLines', options.maxLines, 2_000),
    chars: bound('maxChars', options.maxChars, Number.POSITIVE_INFINITY),
    tokens: bound('maxTokens', options.maxTokens, Number.POSITIVE_INFINITY),
    lineBytes: bound('maxLineBytes', options.maxLineBytes, Number.POSITIVE_INFINITY),
  }
  const keep = choice('keep', options.keep, KEEPS, 'auto')
  const notice = checkNotice(options.notice)
  const isError = flag('isError', options.isError, false)
  const source = text('source', options.source, 'output').toWellFormed()
  const numbers = [
    limits.bytes,
    limits.lines,
    limits.chars,
    limits.tokens,
    limits.lineBytes,
    KEEPS.indexOf(keep),
    share('headShare', options.headShare, 0.5),
    Number(choice('snap', options.snap, ['line', 'char'], 'line') === 'line'),
    notice.kind,
    0,
    SHARES.indexOf(choice('share', options.share, SHARES, 'fair')),
    0,
    0,
  ]
  const method = options.method === undefined ? undefined : text('method', options.method, '')
  const dialect = options.dialect
  if (dialect !== undefined) choice('dialect', dialect, dialectNames, 'text')
  return {
    numbers,
    notice: notice.template,
    words: notice.words,
    spoken: KINDS.literal,
    source,
    said: NAMING.includes(notice.kind) ? source : '',
    saved: undefined,
    ...measures(limits, keep),
    countsAll: /\{\w*(?:Bytes|Lines)/.test(notice.template),
    keep,
    needles: texts('needles', options.needles),
    isError,
    each: options.share === 'each',
    clean: checkClean(options.clean),
    dialect,
    sideData: choice('sideData', options.sideData, ['keep', 'cap', 'drop'], 'keep'),
    maxSideBytes: bound('maxSideBytes', options.maxSideBytes, 8_192),
    method,
    onClamp: callback('onClamp', options.onClamp),
    spill: store('spill', options.spill),
  }
}

/** The same policy for values of one dialect. */
export function speaking(policy: Compiled, dialect: DialectName): Compiled {
  return { ...policy, dialect }
}

/** What limits say of a length alone. */
function measures(limits: Compiled['limits'], keep: Keep) {
  const counted = limits.tokens === Number.POSITIVE_INFINITY && limits.lineBytes === Number.POSITIVE_INFINITY
  const reach = Math.min(limits.bytes, limits.chars) + 2
  return {
    limits,
    // A char is at most three bytes, one line, three tokens (`MOST_PER_CHAR` in src/text/tokens.rs).
    gate: Math.min(limits.bytes / 3, limits.lines, limits.chars, limits.tokens / 3, limits.lineBytes / 3),
    bySize: counted ? Math.min(limits.bytes, limits.chars) : 0,
    reach: { head: keep === 'tail' ? 0 : reach, tail: keep === 'head' ? 0 : reach },
  }
}

/** The same policy with a tighter limit in chars, which all blocks of a result share. */
export function shortened(policy: Compiled, maxChars: number): Compiled {
  const chars = Math.min(policy.limits.chars, maxChars)
  const numbers = policy.numbers
    .with(CHARS, chars)
    .with(SHARE, policy.each ? 0 : (policy.numbers[SHARE] ?? 0))
  return { ...policy, numbers, each: false, ...measures({ ...policy.limits, chars }, policy.keep) }
}

/** The same policy with this much less room, where any is named. */
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

/** The same policy for a text that is called by this name. */
export function named(policy: Compiled, source: string): Compiled {
  return { ...policy, source, said: NAMING.includes(policy.numbers[KIND]) ? source : '' }
}

/** The same policy for what comes from a failure. */
export function failed(policy: Compiled): Compiled {
  return policy.isError ? policy : { ...policy, isError: true }
}

/** The same policy of which only the limit of a line holds. */
export function linesOf(policy: Compiled): Compiled {
  const { lineBytes } = policy.limits
  return compileWith({}, { ...UNLIMITED, maxLineBytes: lineBytes, notice: false })
}

/** The same policy for a text of which the whole, or its part, was saved under a name, or could not be for a reason. */
export function saved(policy: Compiled, how: keyof typeof SAVED_HOW, named: string): Compiled {
  const { said } = policy
  const name = named.toWellFormed()
  const numbers = policy.numbers.with(SAVED, SAVED_HOW[how]).with(SAVED_AT, Buffer.byteLength(said))
  return { ...policy, numbers, said: said + name, saved: how === 'failed' ? undefined : name }
}

/** The same policy for the head alone, without a notice. */
export function headOf(policy: Compiled): Compiled {
  const numbers = policy.numbers.with(KEEP, KEEPS.indexOf('head')).with(KIND, KINDS.none)
  return { ...policy, keep: 'head', numbers, words: undefined }
}

/** Whether findings are looked for. */
export function searches({ keep, isError }: Compiled): boolean {
  return keep === 'findings' || (keep === 'auto' && isError)
}

/** One array for all calls: the engine reads it before anything else runs, and a new one costs more than a cut. */
const packed = new Float64Array(13)

/** Packs a policy for the engine, with another kind of notice where one is given. */
export function pack(policy: Compiled, kind?: number): Float64Array {
  packed.set(policy.numbers)
  packed[IS_ERROR] = Number(policy.isError)
  if (kind !== undefined) packed[KIND] = kind
  return packed
}

const preset = check({})
