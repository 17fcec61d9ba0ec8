import type { Cut, DialectName, Keep, Policy, WrapPolicy } from 'spillway'
import { type Cleaning, checkClean } from './cleaning.js'
import { dialectNames } from './dialect.js'
import { bound, choice, flag, optionError, share, text, texts } from './option.js'

/** A policy as the engine takes it. */
export interface Compiled {
  /** In the order that src/bindings/policy.rs reads. */
  readonly numbers: readonly number[]
  /** The words of a template. */
  readonly notice: string
  readonly source: string
  /** The source where the engine words it, else nothing: a string costs to hand over. */
  readonly said: string
  /** A notice that the caller words. */
  readonly words: ((cut: Cut) => string) | undefined
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
  readonly clean: Cleaning | undefined
  readonly method: string | undefined
}

const KEEPS = ['auto', 'head', 'tail', 'ends', 'findings'] as const
const SHARES = ['fair', 'order', 'each'] as const
const NOTICES = ['hint', 'pi', 'count'] as const

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
  'clean',
  'method',
] as const satisfies (keyof WrapPolicy)[]

/** Places among the numbers, and the kinds of notices. */
const KEEP = 5
const KIND = 8
export const KINDS = { none: 0, hint: 1, pi: 2, count: 3, template: 4, literal: 5 } as const

/** What definePolicy returns. The private field marks it as checked: a copy of it is plain options again. */
class CheckedPolicy {
  readonly #compiled: Compiled

  constructor(options: WrapPolicy, compiled: Compiled) {
    Object.assign(this, options, { maxBytes: compiled.limits.bytes, maxLines: compiled.limits.lines })
    this.#compiled = compiled
    Object.freeze(this)
  }

  static compiled(options: object): Compiled | undefined {
    return #compiled in options ? options.#compiled : undefined
  }
}

/** Checks options once. */
export function definePolicy(options: WrapPolicy = {}): Policy {
  const given = isObject(options) ? taken(options) : options
  const compiled = check(given)
  return new CheckedPolicy(given, compiled) as unknown as Policy
}

/** The options that are given, each read once. */
function taken(options: WrapPolicy): WrapPolicy {
  const all = OPTIONS.map((name) => [name, options[name]] as const)
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

/** Returns the checked form of a policy, of options, or of nothing. */
export function compile(policy: WrapPolicy | Policy | undefined): Compiled {
  if (policy === undefined) return preset
  return (isObject(policy) ? CheckedPolicy.compiled(policy) : undefined) ?? check(policy)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function check(options: WrapPolicy): Compiled {
  if (!isObject(options)) throw optionError(TypeError, 'policy', 'an object', options)
  const limits = {
    bytes: bound('maxBytes', options.maxBytes, 51_200),
    lines: bound('maxLines', options.maxLines, 2_000),
    chars: bound('maxChars', options.maxChars, Number.POSITIVE_INFINITY),
    tokens: bound('maxTokens', options.maxTokens, Number.POSITIVE_INFINITY),
    lineBytes: bound('maxLineBytes', options.maxLineBytes, Number.POSITIVE_INFINITY),
  }
  const counted = limits.tokens === Number.POSITIVE_INFINITY && limits.lineBytes === Number.POSITIVE_INFINITY
  const reach = Math.min(limits.bytes, limits.chars) + 2
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
  ]
  const method = options.method === undefined ? undefined : text('method', options.method, '')
  const dialect = options.dialect
  if (dialect !== undefined) choice('dialect', dialect, dialectNames, 'text')
  return {
    numbers,
    notice: notice.template,
    words: notice.words,
    source,
    said: notice.kind === KINDS.count || notice.kind === KINDS.template ? source : '',
    // A char is at most three bytes, one line, three tokens (`MOST_PER_CHAR` in src/text/tokens.rs).
    gate: Math.min(limits.bytes / 3, limits.lines, limits.chars, limits.tokens / 3, limits.lineBytes / 3),
    bySize: counted ? Math.min(limits.bytes, limits.chars) : 0,
    reach: { head: keep === 'tail' ? 0 : reach, tail: keep === 'head' ? 0 : reach },
    limits,
    countsAll: /\{\w*(?:Bytes|Lines)/.test(notice.template),
    keep,
    needles: texts('needles', options.needles),
    isError,
    each: options.share === 'each',
    clean: checkClean(options.clean),
    dialect,
    method,
  }
}

/** The same policy for what comes from a failure. */
export function failed(policy: Compiled): Compiled {
  return policy.isError ? policy : { ...policy, isError: true }
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
const packed = new Float64Array(11)
const IS_ERROR = 9

/** Packs a policy for the engine, with another kind of notice where one is given. */
export function pack(policy: Compiled, kind?: number): Float64Array {
  packed.set(policy.numbers)
  packed[IS_ERROR] = Number(policy.isError)
  if (kind !== undefined) packed[KIND] = kind
  return packed
}

const AMOUNTS = ['omittedChars', 'totalChars', 'omittedBytes', 'totalBytes', 'omittedLines', 'totalLines']
const WORDS = ['keptLines', 'source', 'saved', 'limits']

function checkNotice(notice: unknown): { kind: number; template: string; words: Compiled['words'] } {
  const plain = { template: '', words: undefined }
  if (notice === undefined) return { ...plain, kind: KINDS.hint }
  if (notice === false) return { ...plain, kind: KINDS.none }
  if (typeof notice === 'function')
    return { ...plain, kind: KINDS.literal, words: notice as (cut: Cut) => string }
  if (typeof notice !== 'string') {
    throw optionError(TypeError, 'notice', "'hint', 'pi', 'count', false, a template or a function", notice)
  }
  const named = NOTICES.find((name) => name === notice)
  if (named) return { ...plain, kind: KINDS[named] }
  const fields = [...notice.matchAll(/\{([A-Za-z]\w*)(:[^{}]*)?\}/g)]
  const known = ([, name, format]: string[]) =>
    format === undefined
      ? [...AMOUNTS, ...WORDS].includes(name ?? '')
      : format === ':,' && AMOUNTS.includes(name ?? '')
  const unknown = fields.find((field) => !known(field as string[]))
  const rule = `'hint', 'pi', 'count', or a template with fields of {${[...AMOUNTS, ...WORDS].join('} {')}}`
  if (unknown) throw optionError(RangeError, 'notice', rule, unknown[0])
  if (fields.length === 0) throw optionError(RangeError, 'notice', rule, notice)
  return { kind: KINDS.template, template: notice.toWellFormed(), words: undefined }
}

const preset = check({})
