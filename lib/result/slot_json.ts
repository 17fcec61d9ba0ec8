import { PENDING } from '../ahead.js'
import { type EnginePolicy, handleOf, measures, silent, worded } from '../compiled.js'
import type { Edit } from '../dialect/edit.js'
import { isData, parseWellFormed } from '../dialect/slots.js'
import type { Slot } from '../dialect/walk.js'
import { native, type ShapedJson } from '../engine.js'
import { jsonOf, mayBeContainer } from '../json.js'
import { StringInput } from '../text/input.js'
import { NoticeCut, speak } from '../text/notice_function.js'
import { sizeOf } from '../text/size.js'
import { estimateTokens } from '../text/text.js'
import type { KeptParts } from '../text/truncation.js'

/** JSON after a cut. */
export interface ShapedText {
  readonly json: string
  /** False if nothing but white space is missing. */
  readonly isLess: boolean
}

/** Returns true if a text may be JSON that a policy leaves JSON. */
export function mayShape(text: string, { json }: EnginePolicy): boolean {
  return json !== 'text' && mayBeContainer(text)
}

/** Cuts a text to the limits of a policy that leaves JSON JSON, if it is a list or an object. Like
 *  `keep_shape` in src/slots/slot_json.rs. `asked`: what was asked of the text, gathered only if it
 *  is needed. `isRest`: the text is data that no path reads, which always keeps its shape. */
export function keepShape(
  text: string,
  policy: EnginePolicy,
  asked: () => string[] | undefined,
  isRest = false,
): ShapedText | undefined {
  if (!isRest && !mayShape(text, policy)) return undefined
  const tells = !isRest && policy.json !== 'keep-shape'
  const made = tells ? tellJson(text, policy, asked()) : rewritten(text, policy, asked(), { isRest })
  return made && made.json !== '' ? { json: made.json, isLess: made.isLess } : undefined
}

/** Rewrites JSON, or has a thread do so if it is long. `tells`: says inside what is missing. */
export function rewritten(
  text: string,
  policy: EnginePolicy,
  query: string[] | undefined,
  { tells = false, isRest = false } = {},
): ShapedJson | null {
  const { ahead, limits, keep, needles, isError, saved, notice, words } = policy
  const terms = () =>
    JSON.stringify([limits, keep, needles, isError, saved, notice, words !== undefined, query, tells, isRest])
  const answer = ahead?.answer(text, terms(), (held) =>
    native.shapeHeld(held, handleOf(policy), query, tells, isRest),
  )
  if (answer === PENDING) return LATER
  if (answer) return answer.value
  return tells
    ? native.tellJson(handleOf(policy), text, query)
    : native.shapeJson(handleOf(policy), text, query, isRest)
}

/** Stands for the JSON that a thread is asked for. */
const LATER: ShapedJson = { json: '{}', isLess: true, elements: 0, strings: 0, members: 0, validates: true }

/** Cuts JSON that says inside what is missing. A notice function words a cut without a notice. */
function tellJson(text: string, policy: EnginePolicy, query: string[] | undefined) {
  const tell = (own: EnginePolicy) => rewritten(text, own, query, { tells: true })
  const { words } = policy
  const made = tell(words ? silent(policy) : policy)
  if (!words || !made?.isLess || made === LATER) return made
  const { bytes, chars } = sizeOf(made.json)
  const kept: KeptParts = { keep: 'head', bytes, chars, ranges: [], lines: [] }
  const said = speak(words, new NoticeCut(new StringInput(text), kept, policy))
  return tell(worded(policy, said)) ?? made
}

/** Returns the policy for JSON in the room that a text takes, under the limits that there are. Like
 *  `room_of` in src/slots/slot_json.rs. */
export function roomOf(text: string, policy: EnginePolicy): EnginePolicy {
  const { limits, keep } = policy
  const of = (limit: number, size: () => number) => (limit === INFINITE ? limit : size())
  const room = {
    ...limits,
    bytes: of(limits.bytes, () => Buffer.byteLength(text)),
    chars: of(limits.chars, () => text.length),
    tokens: of(limits.tokens, () => estimateTokens(text)),
  }
  return { ...policy, ...measures(room, keep) }
}

/** Returns the edit that puts JSON in the place of a slot's text or data. */
export function editOf(slot: Slot, json: string): Edit {
  if (!isData(slot)) return json
  const value = parseWellFormed(json)
  return { value, text: jsonOf(value) }
}

/** Cuts structured content to bytes of JSON, undefined if not even an empty value fits. */
export function capShape(value: unknown, maxBytes: number, policy: EnginePolicy): unknown {
  const json = jsonOf(value)
  if (json === undefined || Buffer.byteLength(json) <= maxBytes) return value
  const bytes = { ...UNLIMITED, bytes: maxBytes }
  const made = native.shapeJson(handleOf({ ...policy, ...measures(bytes, policy.keep) }), json)
  return made && made.json !== '' ? parseWellFormed(made.json) : undefined
}

const INFINITE = Number.POSITIVE_INFINITY
const UNLIMITED = { bytes: INFINITE, lines: INFINITE, chars: INFINITE, tokens: INFINITE, lineBytes: INFINITE }
