import type { ClearOptions, ClearState, SpillStore } from 'spillway'
import { doorMode, type Mode } from '../mode.js'
import { get, isList, isObject } from '../untrusted.js'
import {
  bound,
  checkMembers,
  checkNames,
  choice,
  flag,
  optionError,
  positive,
  store,
  texts,
} from '../validate.js'
import { type CachePrices, checkPrices } from './cache_prices.js'
import { Wording } from './cleared.js'

/** The checked options of a clearing. */
export interface Clearing {
  readonly trigger: { readonly type: 'input_tokens' | 'tool_uses'; readonly value: number }
  readonly keep: { readonly type: 'input_tokens' | 'tool_uses'; readonly value: number }
  readonly clearAtLeast: number
  readonly excludeTools: ReadonlySet<string>
  /** Returns true if the arguments of the calls of a tool are cleared with its results. */
  readonly clearsInputs: (tool: string | undefined) => boolean
  /** True if results stay that a later call used by name. */
  readonly keepUsed: boolean
  readonly dedupe: 'exact' | 'near' | false
  readonly prices: CachePrices
  /** Undefined: any may be the last. */
  readonly requestsToCome: number | undefined
  readonly state: ClearState
  /** Saves the results that a line replaces. */
  readonly spill: SpillStore | undefined
  readonly wording: Wording
  readonly mode: Mode
}

export function checkClearing(options: ClearOptions & { spill?: SpillStore }): Clearing {
  const {
    trigger,
    keep,
    clearAtLeast,
    excludeTools,
    clearToolInputs,
    keepUsed,
    dedupe,
    prices,
    requestsToCome,
    state,
    spill,
    placeholder,
    observe,
  } = checkNames('clear', 'options', options)
  const mode = doorMode(flag('observe', observe, false))
  return {
    trigger: amount('trigger', trigger, ['input_tokens', 'tool_uses'], 100_000),
    keep: amount('keep', keep, ['tool_uses', 'input_tokens'], 3),
    clearAtLeast: amount('clearAtLeast', clearAtLeast, ['input_tokens'], 0).value,
    excludeTools: new Set(texts('excludeTools', excludeTools)),
    clearsInputs: checkInputs(clearToolInputs),
    keepUsed: flag('keepUsed', keepUsed, false),
    dedupe: checkDedupe(dedupe),
    prices: checkPrices(prices),
    requestsToCome: requestsToCome === undefined ? undefined : positive('requestsToCome', requestsToCome, 1),
    state: checkState(state, mode),
    spill: store('spill', spill),
    wording: checkWording(placeholder),
    mode,
  }
}

export function checkWording(given: ClearOptions['placeholder']): Wording {
  if (typeof given === 'string' || given === undefined || typeof given === 'function')
    return new Wording(given)
  throw optionError(TypeError, 'placeholder', 'a string or a function', given)
}

/** Checks an amount with its unit, as Anthropic writes it. */
export function amount<T extends string>(
  field: string,
  given: unknown,
  units: readonly [T, ...T[]],
  preset: number,
): { type: T; value: number } {
  if (given === undefined) return { type: units[0], value: preset }
  const { type, value } = checkMembers(field, given as { type?: unknown; value?: unknown }, ['type', 'value'])
  return {
    type: choice(`${field}.type`, type, units, units[0]),
    value: bound(`${field}.value`, value, preset),
  }
}

function checkInputs(given: unknown): Clearing['clearsInputs'] {
  if (!isList(given)) {
    const all = flag('clearToolInputs', given, false)
    return () => all
  }
  const tools = new Set(texts('clearToolInputs', given))
  return (tool) => tool !== undefined && tools.has(tool)
}

function checkDedupe(given: unknown): Clearing['dedupe'] {
  if (given === undefined || given === false) return false
  return choice<'exact' | 'near'>('dedupe', given, ['exact', 'near'], 'exact')
}

/** Returns true for the state of a run that observed, where one acts now: its decisions never
 *  reached a prompt, and nothing of it was saved. */
export function isRehearsal(state: unknown, mode: Mode): boolean {
  return mode === 'on' && isObject(state) && get(state, 'observed') === true
}

const EMPTY: ClearState = { results: {} }

/** Returns true for entries by the names of results. */
export function checkResults(given: unknown): given is ClearState['results'] {
  const isText = (value: unknown) => ['string', 'undefined'].includes(typeof value)
  const isKnown = (entry: unknown) =>
    isObject(entry) &&
    typeof get(entry, 'hash') === 'string' &&
    isText(get(entry, 'text')) &&
    isText(get(entry, 'inputText')) &&
    (get(entry, 'saved') === undefined || Number.isFinite(get(entry, 'saved')))
  return isObject(given) && Object.values(given).every(isKnown)
}

function checkState(given: unknown, mode: Mode): ClearState {
  if (given === undefined || isRehearsal(given, mode)) return EMPTY
  const balance = isObject(given) ? get(given, 'balance') : undefined
  const isNumber = (value: unknown) => Number.isFinite(value)
  const isBalance =
    balance === undefined ||
    (isObject(balance) && isNumber(get(balance, 'answers')) && isNumber(get(balance, 'price')))
  if (isBalance && isObject(given) && checkResults(get(given, 'results'))) return given as ClearState
  throw optionError(TypeError, 'state', 'the `state` that clearToolResults returned', given)
}
