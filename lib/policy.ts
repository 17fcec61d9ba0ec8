import type { Cut, Policy, WrapPolicy } from 'spillway'
import { type EnginePolicy, measures, type Relayed } from './compiled.js'
import { modeOf } from './mode.js'
import { POLICY } from './options.js'
import { checkNames, type Taker } from './read_options.js'
import { redactionOf } from './redact_options.js'
import { isList, isObject } from './untrusted.js'

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
    for (const [name, held] of Object.entries({ needles, query, clean, media, redact, sideData }))
      if (isObject(held))
        Object.assign(this, { [name]: Object.freeze(isList(held) ? [...held] : { ...held }) })
    this.#compiled = compiled
    Object.freeze(this)
  }

  static compiled(options: object): EnginePolicy | undefined {
    return #compiled in options ? options.#compiled : undefined
  }
}

export function definePolicy(options: WrapPolicy = {}): Policy {
  const given = givenOptions(checkNames('policy', 'policy', options))
  const compiled = checkDirect(given)
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
  const all = POLICY.names.map((name) => [name, options[name as keyof WrapPolicy]] as const)
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
  return compiledIn(policy) ?? checkDirect(checkNames('policy', 'policy', policy))
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
  const given = { ...defaults, ...givenOptions(policy) }
  return isChecked ? check(given) : checkDirect(given)
}

/** Like `compile`, but copies options, which the caller may change later. */
export function compileOnce(policy: WrapPolicy | undefined): EnginePolicy {
  return compile(policy === undefined || compiledIn(policy) ? policy : definePolicy(policy))
}

function compiledIn(policy: unknown): EnginePolicy | undefined {
  return isObject(policy) ? CheckedPolicy.compiled(policy) : undefined
}

/** Checks options, and rejects those without an effect. */
function checkDirect(options: WrapPolicy): EnginePolicy {
  const policy = check(options)
  POLICY.checkNeeds(policy)
  return policy
}

type Draft = { -readonly [N in keyof EnginePolicy]: EnginePolicy[N] }

/** A policy with all members, since V8 is slow to add many to a copy. Each is set again. */
const BLANK = {
  ...POLICY.values({}),
  limits: { bytes: 0, lines: 0, chars: 0, tokens: 0, lineBytes: 0 },
  gate: 0,
  light: 0,
  flat: 0,
  bySize: 0,
  reach: { head: 0, tail: 0 },
  maxSideBytes: 0,
  words: undefined,
  saved: undefined,
  pages: false,
  mode: 'on',
  given: {},
  remake: check,
}

function check(given: WrapPolicy): EnginePolicy {
  const values = POLICY.values(given, '', { ...BLANK })
  const policy = values as unknown as Draft
  const {
    maxBytes: bytes,
    maxLines: lines,
    maxChars: chars,
    maxTokens: tokens,
    maxLineBytes: lineBytes,
    sideData: side,
  } = values
  const bounds = measures({ bytes, lines, chars, tokens, lineBytes }, values.keep)
  policy.limits = bounds.limits
  policy.gate = bounds.gate
  policy.light = bounds.light
  policy.flat = bounds.flat
  policy.bySize = bounds.bySize
  policy.reach = bounds.reach
  policy.sideData = side.sideData
  policy.maxSideBytes = side.maxSideBytes
  policy.redact = values.redact && redactionOf(values.redact, 'redact.')
  policy.words = typeof given.notice === 'function' ? given.notice : undefined
  policy.mode = modeOf(values.observe)
  if (policy.mode !== 'on') policy.spill = undefined
  policy.given = given
  return policy
}
