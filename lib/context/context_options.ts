import type { ContextOptions, SpillStore } from 'spillway'
import type { EnginePolicy } from '../compiled.js'
import { doorMode, type Mode } from '../mode.js'
import { type OptionsOf, optionsOf } from '../read_options.js'
import { get, isList, isObject } from '../untrusted.js'
import { optionError } from '../validate.js'
import { cutPolicy } from './apply_plan.js'
import { type BudgetOptions, budgetOf } from './budget_options.js'
import { type CachePrices, pricesOf } from './cache_prices.js'
import { checkResults, isRehearsal } from './clear_options.js'
import { Wording } from './cleared.js'
import { type Learned, NOTHING } from './learned.js'
import { redactingStore } from './redaction.js'

/** The checked options of a context. */
export interface ContextSettings extends Pick<OptionsOf<'context'>, 'requestsToCome' | 'keep'> {
  readonly budget: BudgetOptions
  readonly prices: CachePrices
  readonly excludeTools: ReadonlySet<string>
  readonly wording: Wording
  readonly mode: Mode
  /** Undefined also if nothing is taken away that could be read again. */
  readonly spill: SpillStore | undefined
  /** Redacts results, and cuts those that do not fit otherwise. */
  readonly policy: EnginePolicy
  readonly state: Learned
}

export function checkContext(options: ContextOptions): ContextSettings {
  const given = optionsOf('context', 'options', options)
  const { contextTokens, reserveTokens, safetyMargin, spill, state } = given
  const mode = doorMode(given.observe)
  const policy = cutPolicy(given.policy)
  return {
    ...given,
    budget: budgetOf(optionsOf('precheck', 'options', { contextTokens, reserveTokens, safetyMargin })),
    prices: pricesOf(given.prices),
    excludeTools: new Set(given.excludeTools),
    wording: new Wording(given.placeholder),
    mode,
    spill: mode === 'on' && spill ? redactingStore(spill, policy) : undefined,
    policy,
    state: isRehearsal(state, mode) ? NOTHING : checkState(state),
  }
}

function checkState(given: unknown): Learned {
  if (given === undefined) return NOTHING
  const member = (name: string) => (isObject(given) ? get(given, name) : undefined)
  const isNumber = (value: unknown) => Number.isFinite(value)
  const isOptional = (value: unknown) => value === undefined || isNumber(value)
  const cuts = member('cuts')
  const needs = member('needs')
  const last = member('last')
  const media = member('media')
  const isCut = (cut: unknown) =>
    isObject(cut) &&
    typeof get(cut, 'hash') === 'string' &&
    isOptional(get(cut, 'maxChars')) &&
    isOptional(get(cut, 'media'))
  const isSound =
    checkResults(member('results')) &&
    isObject(cuts) &&
    Object.values(cuts).every(isCut) &&
    isObject(needs) &&
    ['uses', 'answers', 'missed', 'expected'].every((name) => isNumber(get(needs, name))) &&
    (last === undefined ||
      (isObject(last) && isNumber(get(last, 'tokens')) && isNumber(get(last, 'bytes')))) &&
    isOptional(member('maxTokens')) &&
    isOptional(member('maxBytes')) &&
    ['string', 'undefined'].includes(typeof member('omitted')) &&
    (media === undefined || isList(media))
  if (isSound) return given as Learned
  throw optionError(TypeError, 'state', 'the `state` of a context', given)
}
