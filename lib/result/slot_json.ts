import { type EnginePolicy, handleOf, measures } from '../compiled.js'
import type { Edit } from '../dialect/edit.js'
import { isData, parseWellFormed } from '../dialect/slots.js'
import type { Slot } from '../dialect/walk.js'
import { native } from '../engine.js'
import { jsonOf } from '../json.js'
import { estimateTokens } from '../text/text.js'

/** JSON after a cut. */
export interface ShapedText {
  readonly json: string
  /** False if nothing but white space is missing. */
  readonly isLess: boolean
}

/** A text that may be the JSON of a list or an object. */
const CONTAINER = /^[ \t\r\n]*[[{]/

/** Cuts a text to the limits of a policy that keeps the shape of JSON, if it is a list or an
 *  object. Like `keep_shape` in src/slots/slot_json.rs. `asked`: what was asked of the text,
 *  gathered only if it is needed. `isRest`: the text is data that no path reads, which always keeps
 *  its shape. */
export function keepShape(
  text: string,
  policy: EnginePolicy,
  asked: () => string[] | undefined,
  isRest = false,
): ShapedText | undefined {
  if (!isRest && !(policy.keepsShape && CONTAINER.test(text))) return undefined
  const made = native.shapeJson(handleOf(policy), text, asked(), isRest)
  return made && made.json !== '' ? { json: made.json, isLess: made.isLess } : undefined
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
