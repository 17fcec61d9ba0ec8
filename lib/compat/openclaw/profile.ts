import type { ProviderErrorKind } from 'spillway'
import type { LiveCapParams, ProfileOptions } from 'spillway/openclaw'
import { allResultsChars, tierChars } from '../../context/budget_options.js'
import { limit, oneOf } from '../../kinds.js'
import { option, Table } from '../../option_table.js'
import type { Aggregate } from '../../plan.js'
import { checkOptions } from '../../validate.js'
import {
  DEFAULT_MAX_LIVE_TOOL_RESULT_CHARS,
  ESTIMATED_CHARS_PER_TOKEN,
  MAX_TOOL_RESULT_CONTEXT_SHARE,
} from './constants.js'
import { weightOf } from './weight.js'

/** Differences between releases of OpenClaw. */
export interface Profile {
  /** Chars of one result, by the tokens of the window. */
  readonly cap: (tokens: number) => number
  /** Chars of all results, by the window and the cap of one. */
  readonly aggregate: (tokens: number, cap: number) => number
  readonly order: Aggregate['order']
  /** Returns the chars of a text, as caps and budgets count them. */
  readonly measure: (text: string) => number
  /** The notice, as a template. */
  readonly notice: string
  /** Scale of token estimates. */
  readonly scale: 'pi' | 'pressure'
  /** Tokens that can be reserved, by the tokens of the window. */
  readonly mostReserved: (tokens: number) => number
  /** Kinds of errors that count as an overflow. */
  readonly overflows: readonly ProviderErrorKind[]
  /** True if prechecks report the source of their estimate. */
  readonly explains: boolean
  /** True if calls without a result get one before a message with further calls is stored. */
  readonly flushesBetweenCalls: boolean
  /** True if results that are cut name the file of their output, and say where nothing is left of
   *  them. */
  readonly elides: boolean
  /** With a projection, results that the budget spares: those that end the history, or all since
   *  the last answer. */
  readonly protects: 'batch' | 'since answer'
  /** True if the budget may cut results again that were sent before. */
  readonly thaws: boolean
  /** True if large `details` are stored in OpenClaw's shape. */
  readonly shapesDetails: boolean
  /** True if a history without a budget of its own gets that of all results. */
  readonly budgetsMessages: boolean
  /** Members that a stored result gets if it lacks them. */
  readonly missingMembers: Readonly<Record<string, unknown>>
  /** True if a stored result that names its call under `toolUseId` gets it as `toolCallId` as
   *  well. */
  readonly namesCalls: boolean
  /** True if the context guard counts the `details` of results. */
  readonly countsDetails: boolean
  /** True if the context guard throws where all messages are too much for the window. */
  readonly throwsOverflow: boolean
  /** True if what is shown and stored loses its secrets. */
  readonly redacts: boolean
}

export const april: Profile = {
  cap: () => DEFAULT_MAX_LIVE_TOOL_RESULT_CHARS,
  aggregate: (_, cap) => cap,
  order: 'newest',
  measure: (text) => text.length,
  notice: '[... {omittedChars} more characters truncated]',
  scale: 'pi',
  mostReserved: () => Number.POSITIVE_INFINITY,
  overflows: ['context_overflow', 'payload_too_large'],
  explains: false,
  flushesBetweenCalls: true,
  elides: false,
  protects: 'batch',
  thaws: true,
  shapesDetails: false,
  budgetsMessages: false,
  missingMembers: {},
  namesCalls: false,
  countsDetails: true,
  throwsOverflow: true,
  redacts: false,
}

const july: Profile = {
  // The tiers and shares of this package, which the constants above name.
  cap: tierChars,
  aggregate: allResultsChars,
  order: 'oldest',
  measure: (text) => text.length,
  notice: '[... {omittedChars} more characters truncated; rerun with narrower args if needed]',
  scale: 'pressure',
  // Half the window or 8,000 tokens, whichever is less, is left for the prompt.
  mostReserved: (tokens) => tokens - Math.min(8_000, Math.max(1, Math.floor(tokens / 2))),
  overflows: ['context_overflow', 'payload_too_large', 'request_exceeds_rate_limit'],
  explains: true,
  flushesBetweenCalls: false,
  elides: true,
  protects: 'batch',
  thaws: true,
  shapesDetails: true,
  budgetsMessages: true,
  missingMembers: { toolName: 'unknown' },
  namesCalls: false,
  countsDetails: false,
  throwsOverflow: true,
  redacts: true,
}

const september: Profile = {
  ...july,
  measure: (text) => weightOf(text),
  mostReserved: (tokens) => Math.floor(tokens / 4),
  protects: 'since answer',
  thaws: false,
  missingMembers: { toolName: 'unknown', isError: false },
  namesCalls: true,
  // A precheck within the turn does that instead.
  throwsOverflow: false,
}

const PROFILES: Record<NonNullable<ProfileOptions['profile']>, Profile> = {
  '2026.4': april,
  '2026.7': july,
  '2026.9': september,
  april,
  latest: september,
}
const NAMES = Object.keys(PROFILES) as (keyof typeof PROFILES)[]
const OPTIONS = new Table({ profile: option(oneOf(...NAMES), 'april') })

export function profileOf(options: ProfileOptions | undefined): Profile {
  if (options === undefined) return april
  return PROFILES[OPTIONS.values(checkOptions('options', options)).profile]
}

export function calculateMaxToolResultChars(contextWindowTokens: number, options?: ProfileOptions): number {
  const tokens = limit('contextWindowTokens', contextWindowTokens)
  return calculateMaxToolResultCharsWithCap(tokens, profileOf(options).cap(tokens))
}

/** Returns 30 % of the window at 4 chars a token, at most `hardCapChars`. */
export function calculateMaxToolResultCharsWithCap(
  contextWindowTokens: number,
  hardCapChars: number,
): number {
  const tokens = limit('contextWindowTokens', contextWindowTokens)
  const most = Math.max(1, limit('hardCapChars', hardCapChars))
  return Math.min(Math.floor(tokens * MAX_TOOL_RESULT_CONTEXT_SHARE) * ESTIMATED_CHARS_PER_TOKEN, most)
}

/** Returns the cap of one result from 2026.7 on. */
export function resolveAutoLiveToolResultMaxChars(contextWindowTokens: number): number {
  return july.cap(limit('contextWindowTokens', contextWindowTokens))
}

export function resolveLiveToolResultMaxChars(params: LiveCapParams): number {
  const { contextWindowTokens, cfg, agentId } = checkOptions('params', params)
  const agent = cfg?.agents?.list?.find(({ id }) => id === agentId)
  const configured = (agent?.contextLimits ?? cfg?.agents?.defaults?.contextLimits)?.toolResultMaxChars
  const most = configured ?? resolveAutoLiveToolResultMaxChars(contextWindowTokens)
  return calculateMaxToolResultCharsWithCap(contextWindowTokens, most)
}

export function resolveLiveToolResultAggregateMaxChars(params: {
  contextWindowTokens: number
  perResultMaxChars?: number | undefined
}): number {
  const { contextWindowTokens: tokens, perResultMaxChars } = checkOptions('params', params)
  const preset = resolveLiveToolResultMaxChars({ contextWindowTokens: tokens })
  return july.aggregate(
    limit('contextWindowTokens', tokens),
    perResultMaxChars === undefined ? preset : limit('perResultMaxChars', perResultMaxChars),
  )
}
