import type { Cut, Policy, WrapPolicy } from 'spillway'
import { checkClean } from './clean_options.js'
import { type EnginePolicy, measures, type Relayed } from './compiled.js'
import { dialectNames } from './dialects.js'
import { checkMedia } from './media_options.js'
import { modeOf } from './mode.js'
import { checkNotice } from './notice.js'
import { checkQuery } from './query.js'
import { checkRedact } from './redact_options.js'
import { checkSchema } from './schema.js'
import { checkSideData } from './side_data_options.js'
import { isList, isObject } from './untrusted.js'
import {
  bound,
  callback,
  checkNames,
  choice,
  flag,
  OPTIONS,
  share,
  store,
  type Taker,
  text,
  texts,
  uselessError,
} from './validate.js'

const KEEPS = ['auto', 'head', 'tail', 'ends', 'findings', 'relevant'] as const
const SHARES = ['fair', 'order', 'each'] as const
const HEAD_SHARE = 0.5

/**
 * Options that ask for something, and the strategies that can do it. An option that states a fact,
 * such as `isError` or `source`, asks for nothing.
 */
const WISHES: readonly {
  option: keyof WrapPolicy
  isAsked: (policy: EnginePolicy) => boolean
  keeps: readonly string[]
}[] = [
  {
    option: 'query',
    isAsked: ({ query = [] }) => typeof query === 'function' || query.length > 0,
    keeps: ['auto', 'findings', 'relevant'],
  },
  { option: 'headShare', isAsked: ({ headShare }) => headShare !== HEAD_SHARE, keeps: ['ends'] },
]

/** Options that lift the default limits. */
export const UNLIMITED = {
  maxBytes: Number.POSITIVE_INFINITY,
  maxLines: Number.POSITIVE_INFINITY,
} satisfies WrapPolicy

/** The result of definePolicy. The private field marks it as checked: a copy of it is plain options
 *  again. */
class CheckedPolicy {
  readonly #compiled: EnginePolicy

  constructor(options: WrapPolicy, compiled: EnginePolicy) {
    const { needles, query, clean, media, redact, sideData } = options
    Object.assign(this, options, { maxBytes: compiled.limits.bytes, maxLines: compiled.limits.lines })
    if (needles) Object.assign(this, { needles: Object.freeze([...needles]) })
    if (isList(query)) Object.assign(this, { query: Object.freeze([...query]) })
    if (media) Object.assign(this, { media: Object.freeze({ ...media }) })
    if (isObject(clean)) Object.assign(this, { clean: Object.freeze({ ...clean }) })
    if (isObject(redact)) Object.assign(this, { redact: Object.freeze({ ...redact }) })
    if (isObject(sideData)) Object.assign(this, { sideData: Object.freeze({ ...sideData }) })
    this.#compiled = compiled
    Object.freeze(this)
  }

  static compiled(options: object): EnginePolicy | undefined {
    return #compiled in options ? options.#compiled : undefined
  }
}

export function definePolicy(options: WrapPolicy = {}): Policy {
  const given = givenOptions(checkNames('policy', 'policy', options))
  const compiled = effective(check(given))
  return new CheckedPolicy(given, compiled) as unknown as Policy
}

/** Rules of other packages. 'stay': blocks share first come, first served, and none is dropped.
 *  'headOrEnds': the head, or both ends if the last of the text looks important. */
type HostRules = { share?: 'stay'; keep?: 'headOrEnds' }

/** Text appended to a truncated text without a separator: a literal, a template, or a caller's
 *  function. */
export type Suffix = string | { template: string } | ((cut: Cut) => string)

/** Makes a checked policy with a suffix instead of a notice, and with rules that no option
 *  names. */
export function withSuffix(options: WrapPolicy, suffix: Suffix, rules: HostRules = {}): Policy {
  return new CheckedPolicy(options, suffixed(options, suffix, rules)) as unknown as Policy
}

function suffixed(options: WrapPolicy, suffix: Suffix, rules: HostRules): EnginePolicy {
  const words = typeof suffix === 'function' ? suffix : undefined
  const template = typeof suffix === 'object' ? suffix.template : undefined
  const base = check({ json: 'text', ...options, notice: words ?? template ?? 'hint' })
  const literal = { kind: 'literal', text: typeof suffix === 'string' ? suffix.toWellFormed() : '' } as const
  const notice = template === undefined ? literal : base.notice
  const remake = (changed: WrapPolicy) => suffixed(changed, suffix, rules)
  return { ...base, notice: { ...notice, glued: true }, ...rules, remake }
}

/** Makes the policy of a proxy or a hook, which hands results back by itself. `relayed`: structured
 *  content counts within the limits. */
export function rehearsed(options: WrapPolicy, relayed?: Relayed): Policy {
  const given = givenOptions(options)
  const compiled = check(given)
  const mode = compiled.mode === 'on' ? 'on' : 'rehearse'
  return new CheckedPolicy(given, { ...compiled, mode, ...(relayed && { relayed }) }) as unknown as Policy
}

/** Returns the options that are given, each read once. */
function givenOptions(options: WrapPolicy): WrapPolicy {
  const all = OPTIONS.policy.map((name) => [name, options[name]] as const)
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

/** The policy without options, made when it is first needed. */
let preset: EnginePolicy | undefined

/** Returns the checked form of a policy, of options, or of nothing. */
export function compile(policy: WrapPolicy | undefined): EnginePolicy {
  if (policy === undefined) {
    preset ??= check({})
    return preset
  }
  return compiledIn(policy) ?? effective(check(checkNames('policy', 'policy', policy)))
}

/** Like `compile`, for a function with defaults of its own and the further options of `taker`. */
export function compileWith(
  defaults: WrapPolicy,
  policy: WrapPolicy | undefined,
  taker: Taker = 'policy',
): EnginePolicy {
  if (policy === undefined) return check(defaults)
  const isChecked = compiledIn(policy) !== undefined
  if (!isChecked) checkNames(taker, 'policy', policy)
  const compiled = check({ ...defaults, ...givenOptions(policy) })
  return isChecked ? compiled : effective(compiled)
}

/** Like `compile`, but copies options, which the caller may change later. */
export function compileOnce(policy: WrapPolicy | undefined): EnginePolicy {
  return compile(policy === undefined || compiledIn(policy) ? policy : definePolicy(policy))
}

function compiledIn(policy: unknown): EnginePolicy | undefined {
  return isObject(policy) ? CheckedPolicy.compiled(policy) : undefined
}

/** Rejects a checked policy with an option that asks for what its `keep` cannot do. */
function effective(policy: EnginePolicy): EnginePolicy {
  for (const { option, isAsked, keeps } of WISHES)
    if (isAsked(policy) && !keeps.includes(policy.keep)) throw uselessError(option, keeps, policy.keep)
  return policy
}

function check(options: WrapPolicy): EnginePolicy {
  const limits = {
    bytes: bound('maxBytes', options.maxBytes, 51_200),
    lines: bound('maxLines', options.maxLines, 2_000),
    chars: bound('maxChars', options.maxChars, Number.POSITIVE_INFINITY),
    tokens: bound('maxTokens', options.maxTokens, Number.POSITIVE_INFINITY),
    lineBytes: bound('maxLineBytes', options.maxLineBytes, Number.POSITIVE_INFINITY),
  }
  const keep = choice('keep', options.keep, KEEPS, 'auto')
  const method = options.method === undefined ? undefined : text('method', options.method, '')
  const side = checkSideData(options.sideData)
  const mode = modeOf(flag('observe', options.observe, false))
  const spill = store('spill', options.spill)
  const dialect = options.dialect
  if (dialect !== undefined) choice('dialect', dialect, dialectNames(), 'text')
  return {
    keep,
    notice: checkNotice(options.notice),
    words: typeof options.notice === 'function' ? options.notice : undefined,
    isError: flag('isError', options.isError, false),
    source: text('source', options.source, 'output').toWellFormed(),
    headShare: share('headShare', options.headShare, HEAD_SHARE),
    snap: choice('snap', options.snap, ['line', 'char'], 'line') === 'line',
    share: choice('share', options.share, SHARES, 'fair'),
    saved: undefined,
    pages: false,
    needles: texts('needles', options.needles),
    query: checkQuery(options.query),
    clean: checkClean(options.clean),
    media: checkMedia(options.media),
    redact: checkRedact(options.redact),
    dialect,
    structured: choice('structured', options.structured, ['both', 'text', 'structured'], 'both'),
    json: choice('json', options.json, ['data', 'text', 'keep-shape'], 'data'),
    explains: flag('explain', options.explain, false),
    schema: checkSchema(options.schema),
    ...side,
    method,
    onClamp: callback('onClamp', options.onClamp),
    mode,
    spill: mode === 'on' ? spill : undefined,
    given: options,
    remake: check,
    // Last: V8 is slow to add many members after a spread.
    ...measures(limits, keep),
  }
}
