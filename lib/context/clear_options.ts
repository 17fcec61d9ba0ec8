import type { ClearOptions, ClearState, SpillStore } from 'spillway'
import { doorMode, type Mode } from '../mode.js'
import { type OptionsOf, optionsOf } from '../read_options.js'
import { get, isList, isObject } from '../untrusted.js'
import { optionError } from '../validate.js'
import { type CachePrices, pricesOf } from './cache_prices.js'
import { Wording } from './cleared.js'

type Given = OptionsOf<'clear'>

/** The checked options of a clearing. */
export interface Clearing
  extends Pick<Given, 'trigger' | 'keep' | 'keepUsed' | 'dedupe' | 'requestsToCome' | 'spill'> {
  readonly clearAtLeast: number
  readonly excludeTools: ReadonlySet<string>
  /** Returns true if the arguments of the calls of a tool are cleared with its results. */
  readonly clearsInputs: (tool: string | undefined) => boolean
  readonly prices: CachePrices
  readonly state: ClearState
  readonly wording: Wording
  readonly mode: Mode
}

export function checkClearing(options: ClearOptions & { spill?: SpillStore }): Clearing {
  const given = optionsOf('clear', 'options', options)
  const { clearToolInputs: inputs } = given
  const mode = doorMode(given.observe)
  return {
    ...given,
    clearAtLeast: given.clearAtLeast.value,
    excludeTools: new Set(given.excludeTools),
    clearsInputs: (tool) => (isList(inputs) ? tool !== undefined && inputs.includes(tool) : inputs),
    prices: pricesOf(given.prices),
    state: checkState(given.state, mode),
    wording: new Wording(given.placeholder),
    mode,
  }
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
