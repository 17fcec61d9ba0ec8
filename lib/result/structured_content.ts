import { emitClamp, type Figures, type Origin } from '../clamp_event.js'
import { type EnginePolicy, failed, handleOf, measures } from '../compiled.js'
import type { Draft } from '../dialect/edit.js'
import type { End } from '../dialect/paths.js'
import type { Result } from '../dialect/results.js'
import { parseWellFormed } from '../dialect/slots.js'
import { native } from '../engine.js'
import { jsonOf } from '../json.js'
import { rewritten } from '../text/shape.js'
import { sizeOf } from '../text/size.js'
import { isList, tryRead } from '../untrusted.js'
import {
  type Amounts,
  amountsOf,
  amountsOfJson,
  isQuarter,
  isWithinLimits,
  leftOf,
  limitsBeside,
} from './allowance.js'
import { repeatsIn } from './sent_once.js'

/** The rest of a result beside its structured content. */
export interface Remainder {
  readonly end: End
  /** The policy for its texts. */
  readonly policy: EnginePolicy
  readonly isCut: boolean
}

/** Room of a notice at most, unless it names a long path. */
const NOTICE: Amounts = { bytes: 384, lines: 1, chars: 384, tokens: 192 }

const INFINITE = Number.POSITIVE_INFINITY
export const UNLIMITED = {
  bytes: INFINITE,
  lines: INFINITE,
  chars: INFINITE,
  tokens: INFINITE,
  lineBytes: INFINITE,
}

/** Returns true if the structured content of a result is cut as JSON. */
export function shapesContent({ json, sideData, relayed }: EnginePolicy): boolean {
  return relayed !== undefined || (json === 'keep-shape' && sideData === 'cap')
}

/**
 * Cuts the structured content of an MCP result as JSON, as far as the schema of the policy allows.
 * A last block of text says what is missing and where all of it was saved. If it cannot shrink
 * within the schema, or the limits leave no room for it, words replace it and the result is an
 * error: clients refuse a result without the structured content that its schema promises. Returns
 * undefined if the result has none.
 */
export function shapeContent(
  result: Result,
  policy: EnginePolicy,
  draft: Draft,
  origin: Origin,
): Remainder | undefined {
  const { place, slots, side } = result
  const end = side.find(({ holder, key }) => holder === place && key === 'structuredContent')
  // A message, which has a role, is sent without its structured content.
  if (!end || !shapesContent(policy) || place.read('role') !== undefined) return undefined
  const { limits, relayed, maxSideBytes } = policy
  const given = jsonOf(end.value)
  if (given === undefined) return undefined
  const texts = slots.map(({ text }) => text)
  const room = relayed ? limitsBeside(limits, texts) : { ...UNLIMITED, bytes: maxSideBytes }
  const beside = (json: string) =>
    relayed ? within(policy, leftOf(limits, amountsOfJson(json, limits))) : policy
  if (isWithinLimits(amountsOfJson(given, room), room)) return { end, policy: beside(given), isCut: false }
  const isTold = (policy.notice.kind !== 'none' || policy.words !== undefined) && isQuarter(NOTICE, limits)
  const spared = isTold && relayed ? leftOf(room, NOTICE) : room
  const asked = isList(policy.query) ? undefined : origin.ask?.(result)
  const limited = { ...spared, lines: INFINITE, lineBytes: INFINITE }
  const json = relayed?.spelled(end.value) ?? given
  const made = rewritten(json, within(policy, limited), asked)
  if (made && !made.isLess) return { end, policy: beside(made.json), isCut: false }

  const isLeft = made !== null && made.json !== '' && (policy.schema === undefined || made.validates)
  const { spilling } = origin
  const number = spilling?.next() ?? 0
  spilling?.cut(number, [saidWhole(end.value, given, result, texts)], made ? [made.json] : [])
  const advice = native.advice(handleOf(spilling?.policyOf(number, policy) ?? policy))
  const words = isLeft
    ? noticeOf({ ...made, total: Buffer.byteLength(json) }, advice)
    : wordsFor(json, policy.schema !== undefined, advice)
  const content = place.read('content')
  const taken = amountsOf(words, limits)
  const isSaid = isTold && isQuarter(taken, limits) && (content === undefined || isList(content))
  relayed?.take(isLeft ? made.json : undefined, words, isSaid)

  const kept = isLeft ? parseWellFormed(made.json) : undefined
  if (isLeft) draft.set(place, end.key, kept)
  else {
    draft.remove(place, end.key)
    draft.set(place, 'isError', true)
  }
  const block = { type: 'text', text: words }
  if (isSaid && isList(content)) draft.set(place.child(content, 'content'), content.length, block)
  else if (isSaid) draft.set(place, 'content', [block])
  emitClamp(origin, () => figuresOf(given, isLeft ? made.json : ''), result)
  const rest = beside(isLeft ? made.json : '')
  const own = isLeft ? rest : failed(rest)
  return { end, policy: isSaid ? within(own, leftOf(own.limits, taken)) : own, isCut: true }
}

function within(policy: EnginePolicy, limits: EnginePolicy['limits']): EnginePolicy {
  return { ...policy, ...measures(limits, policy.keep) }
}

/** Returns the figures of shortened JSON. */
export function figuresOf(given: string, left: string): Figures {
  return { total: sizeOf(given), kept: sizeOf(left), exceeded: ['bytes'] }
}

/** Returns the text by which structured content is saved: that of the blocks if they repeat it,
 *  which would be saved too, or lines that can be paged. */
function saidWhole(content: unknown, json: string, { place }: Result, texts: readonly string[]): string {
  if (tryRead(() => repeatsIn(place)?.includes(true))) return texts.join('\n')
  return tryRead(() => JSON.stringify(content, null, 2)) ?? json
}

interface Missing {
  readonly json: string
  readonly total: number
  readonly elements: number
  readonly members: number
  readonly strings: number
}

/** Returns the notice of structured content that was cut. */
function noticeOf({ json, total, elements, members, strings }: Missing, advice: string): string {
  const missing = [
    [elements, 'element', 'omitted'],
    [members, 'member', 'omitted'],
    [strings, 'string', 'shortened'],
  ] as const
  const counts = missing
    .filter(([count]) => count > 0)
    .map(([count, noun, verb]) => `${grouped(count)} ${noun}${count > 1 ? 's' : ''} ${verb}`)
  const sizes = `${grouped(Buffer.byteLength(json))} of ${grouped(total)} bytes kept`
  return `[structured content truncated: ${[sizes, ...counts].join(', ')}; ${advice}]`
}

/** Returns the words in the place of structured content that cannot be cut. */
function wordsFor(json: string, hasSchema: boolean, advice: string): string {
  const why = hasSchema ? 'less of it would not match its schema' : 'the limits leave no room for it'
  return `[structured content of ${grouped(Buffer.byteLength(json))} bytes left out: ${why}; ${advice}]`
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}
