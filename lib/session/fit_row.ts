import { emitClamp, hasListeners, type Origin } from '../clamp_event.js'
import { type EnginePolicy, failed, shortened } from '../compiled.js'
import { Draft } from '../dialect/edit.js'
import type { PathNode } from '../dialect/paths.js'
import { type Result, readResults } from '../dialect/results.js'
import { capSide, shrunk } from '../dialect/side_data.js'
import { jsonBytes, plain, stringified } from '../json.js'
import { once } from '../query.js'
import { clampIfResult } from '../result/clamp_result.js'
import { clampSlots, type SlotsOutcome } from '../result/clamp_slots.js'
import { get } from '../untrusted.js'
import { isPayload, type MessagePart, putInto, shapeOf } from './message_shape.js'

/** Limit and policy of a row. */
export interface RowRules {
  readonly maxBytes: number
  readonly policy: EnginePolicy
  readonly origin: Origin
}

/**
 * Limits a message with tool results to `maxBytes` of JSON, without the payloads of its images,
 * audio and files. This is the last line of defence, for content that no text limit covers. Any
 * other message, and one that fits, is returned as it is.
 */
export function fitRow(message: object, rules: RowRules): object {
  const { policy, maxBytes, origin } = rules
  const bytes = rowBytes(message, policy)
  if (bytes === undefined || bytes <= maxBytes) return message
  const kept = shrink(message, rules)
  if ((rowBytes(kept, policy) ?? 0) <= maxBytes) return kept
  // The JSON of a class instance may differ from its members.
  const data = plain(message)
  if (typeof data !== 'object' || data === null) return kept
  if (readResults(data, policy.dialect).length === 0) return capSide(data, maxBytes) as object
  const made = shrink(clampIfResult(data, policy, { ...origin, isTrial: true }) ?? data, rules)
  return jsonBytes(made) <= jsonBytes(kept) ? made : kept
}

/** Returns the bytes of a message with tool results, undefined for any other message. */
function rowBytes(message: object, { dialect }: EnginePolicy): number | undefined {
  const results = readResults(message, dialect)
  return results.length === 0 ? undefined : sizerFor(results)(message)
}

/** Makes a function that measures parts of a message as JSON, without payloads. */
function sizerFor(results: readonly Result[]): (value: unknown) => number {
  const payloads = new Map<object, Set<string>>()
  for (const { holder, key } of results.flatMap(({ media }) => media).filter(isPayload)) {
    const keys = payloads.get(holder.value) ?? new Set()
    payloads.set(holder.value, keys.add(String(key)))
  }
  const withoutPayloads = function (this: object, key: string, value: unknown) {
    return payloads.get(this)?.has(key) ? '' : value
  }
  return (value) => {
    try {
      return Buffer.byteLength(stringified(value, payloads.size > 0 ? withoutPayloads : undefined) ?? '')
    } catch {
      return jsonBytes(value)
    }
  }
}

interface RowExcess {
  readonly message: object
  readonly results: readonly Result[]
  /** Bytes over the limit. */
  readonly over: number
  readonly rules: RowRules
}

type RowCut = (row: RowExcess) => object

/** Applies one step after the other until the row fits. */
function shrink(message: object, rules: RowRules): object {
  let kept = message
  for (const step of STEPS) {
    const results = readResults(kept, rules.policy.dialect)
    const over = sizerFor(results)(kept) - rules.maxBytes
    if (over <= 0 || results.length === 0) break
    kept = step({ message: kept, results, over, rules })
  }
  return kept
}

/** Makes a step of edits. */
function editing(edit: (row: RowExcess, draft: Draft) => void): RowCut {
  return (row) => {
    const draft = new Draft()
    edit(row, draft)
    return draft.done(row.message)
  }
}

/** Bytes of unknown members that an object keeps in any case, such as the type of an image. */
const FEW = 1_024
/** Unknown parts in results together keep this share of a row while there are texts to cut, and so
 *  do those around. */
const SHARE = 1 / 16

/** Shrinks side data, then what no dialect knows in the results, then what stands around them. */
const shrinkData = editing(({ results, over, rules }, draft) => {
  const shape = shapeOf(results)
  const sides = results.flatMap(({ side }) => side)
  const parts = sides.map(({ value, holder, key }) => ({ value, put: putInto(holder, key) }))
  const least = rules.maxBytes * SHARE
  const besideSide = shareRoom(draft, parts, over, capSide)
  const around = shareRoom(draft, shape.unknown('inside', FEW), besideSide, shrunk, least)
  shareRoom(draft, shape.unknown('outside', FEW), around, shrunk, least)
})

/**
 * Shortens parts by the excess: small ones stay whole, large ones share the rest. `least`: bytes
 * that they keep together in any case. Returns the excess that is left.
 */
function shareRoom(
  draft: Draft,
  parts: readonly MessagePart[],
  over: number,
  cap: (value: unknown, bytes: number) => unknown,
  least = 0,
): number {
  const sized = parts
    .map((part) => ({ part, bytes: jsonBytes(part.value) }))
    .sort((a, b) => a.bytes - b.bytes)
  let left = sized.reduce((sum, { bytes }) => sum + bytes, 0) - over
  for (const [at, { part, bytes }] of sized.entries()) {
    const room = Math.floor(Math.max(0, left / (sized.length - at), least / sized.length))
    const kept = bytes <= room ? part.value : room === 0 ? undefined : cap(part.value, room)
    left -= kept === undefined ? 0 : Math.min(bytes, jsonBytes(kept))
    if (kept !== part.value) part.put(isEmpty(kept) ? undefined : kept, draft)
  }
  return -left
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** Attempts to find a limit that fits: a truncated text has other escapes than the whole. */
const TRIES = 8

/** Truncates texts until they fit as JSON, in which a char can take six bytes. */
const shrinkTexts: RowCut = ({ message, results, over, rules }) => {
  const { policy, origin, maxBytes } = rules
  const all = results.flatMap(({ slots }) => slots)
  let bytes = all.reduce((sum, { text }) => sum + jsonBytes(text), 0)
  let missing = over
  let share = 1
  for (let tries = 1; ; tries++) {
    share = tries < TRIES ? share * Math.max(0, (bytes - missing) / bytes) : 0
    const draft = new Draft()
    const cuts = new Map<Result, SlotsOutcome>()
    for (const result of results) {
      const chars = result.slots.reduce((sum, { text }) => sum + text.length, 0)
      const own = shortened(result.isError ? failed(policy) : policy, Math.floor(chars * share))
      const ask = origin.ask && once(() => origin.ask?.(result) ?? [])
      const clamped = clampSlots(result.slots, own, hasListeners(origin), ask)
      cuts.set(result, clamped)
      draft.edit(result, clamped.edits)
    }
    const made = draft.done(message)
    const left = readResults(made, policy.dialect)
    missing = sizerFor(left)(made) - maxBytes
    if (missing <= 0 || share === 0) {
      for (const [result, { figures }] of cuts) if (figures) emitClamp(origin, figures, result)
      return made
    }
    bytes = left.flatMap(({ slots }) => slots).reduce((sum, { text }) => sum + jsonBytes(text), 0)
  }
}

/**
 * Drops blocks from the end of each list, and appends a note with their number. If that is not
 * enough, reduces results to the members that make them results: tags, id, name and texts.
 */
const strip = editing(({ results, over }, draft) => {
  const [shape, size] = [shapeOf(results), sizerFor(results)]
  const ends: [list: PathNode, at: number][] = []
  let left = over
  for (const list of shape.lists()) {
    const blocks = list.value as readonly unknown[]
    if (left <= 0) break
    if (blocks.length === 0) continue
    left += NOTE
    let at = blocks.length
    for (; at > 0 && left > 0; at--) left -= size(blocks[at - 1]) + 1
    ends.push([list, at])
  }
  if (left > 0) {
    for (const { put } of [...shape.unknown('inside', 0), ...shape.unknown('outside', 0)])
      put(undefined, draft)
    for (const { value, put } of shape.words()) if (jsonBytes(value) > WORD) put(shrunk(value, WORD), draft)
  }
  for (const [list, at] of ends) {
    const blocks = list.value as readonly unknown[]
    for (let gone = at + 1; gone < blocks.length; gone++) draft.remove(list, gone)
    draft.set(list, at, noteFor(blocks, blocks.length - at))
  }
})

/** Bytes of the note. */
const NOTE = 80

/** Makes a text block like the others of the list. */
function noteFor(blocks: readonly unknown[], count: number): object {
  const text = `[... ${count} blocks omitted]`
  const like = blocks.find(
    (block): block is object =>
      typeof block === 'object' && block !== null && typeof get(block, 'text') === 'string',
  )
  if (!like) return { type: 'text', text }
  const type = get(like, 'type')
  return typeof type === 'string' && type.length < 20 ? { type, text } : { text }
}

/** Bytes of an id or a name. */
const WORD = 256

const STEPS: readonly RowCut[] = [shrinkData, shrinkTexts, strip]
