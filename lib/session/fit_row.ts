import { emitClamp, hasListeners, type Origin } from '../clamp_event.js'
import { type Compiled, failed, shortened } from '../compiled.js'
import { Draft } from '../dialect/edit.js'
import { type Result, readResults } from '../dialect/results.js'
import { capSide, shrunk } from '../dialect/side_data.js'
import { jsonBytes, plain, stringified } from '../json.js'
import { once } from '../query.js'
import { clampKnown } from '../result/clamp_result.js'
import { type Clamped, clampSlots } from '../result/clamp_slots.js'
import { get } from '../untrusted.js'
import { isPayload, type Part, putInto, shapeOf } from './message_shape.js'

/** Limit and policy of a row. */
export interface RowRules {
  readonly maxBytes: number
  readonly policy: Compiled
  readonly origin: Origin
}

/**
 * Limits a message with tool results to `maxBytes` of JSON, without the payloads of its images, audio and files. This
 * is the last line of defence, for content that no text limit covers. Any other message, and one that fits, is returned
 * as it is.
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
  const made = shrink(clampKnown(data, policy, { ...origin, isTrial: true }) ?? data, rules)
  return jsonBytes(made) <= jsonBytes(kept) ? made : kept
}

/** Returns the bytes of a message with tool results, undefined for any other message. */
function rowBytes(message: object, { dialect }: Compiled): number | undefined {
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

interface Row {
  readonly message: object
  readonly results: readonly Result[]
  /** Bytes over the limit. */
  readonly over: number
  readonly rules: RowRules
}

type Step = (row: Row) => object

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
function editing(edit: (row: Row, draft: Draft) => void): Step {
  return (row) => {
    const draft = new Draft()
    edit(row, draft)
    return draft.done(row.message)
  }
}

const shrinkSide = editing((row, draft) => {
  const sides = row.results.flatMap(({ side }) => side)
  const parts = sides.map(({ value, holder, key }) => ({ value, isBlock: false, put: putInto(holder, key) }))
  shareRoom(row, draft, parts, capSide)
})

/** Makes a step that shrinks unknown parts. `least`: bytes that the members of an object keep; `leastOfBlock`: bytes
 *  that each of so many blocks keeps. */
function shrinkUnknown(
  where: 'inside' | 'outside',
  least: number,
  leastOfBlock: (blocks: number) => number,
): Step {
  return editing((row, draft) => {
    const parts = shapeOf(row.results).unknown(where, least)
    shareRoom(row, draft, parts, shrunk, least, leastOfBlock(parts.length))
  })
}

/** Shortens parts by the excess: small ones stay whole, large ones share the rest. `least`: bytes that each may keep in
 *  any case. */
function shareRoom(
  { over }: Row,
  draft: Draft,
  parts: readonly Part[],
  cap: (value: unknown, bytes: number) => unknown,
  least = 0,
  leastOfBlock = 0,
): void {
  const sized = parts
    .map((part) => ({ part, bytes: jsonBytes(part.value) }))
    .sort((a, b) => a.bytes - b.bytes)
  let left = sized.reduce((sum, { bytes }) => sum + bytes, 0) - over
  for (const [at, { part, bytes }] of sized.entries()) {
    const share = Math.max(0, Math.floor(left / (sized.length - at)))
    const room = Math.max(part.isBlock ? leastOfBlock : least, share)
    const kept = bytes <= room ? part.value : room === 0 ? undefined : cap(part.value, room)
    left -= kept === undefined ? 0 : Math.min(bytes, jsonBytes(kept))
    if (kept !== part.value) part.put(part.isBlock && isEmpty(kept) ? undefined : kept, draft)
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0
}

/** Attempts to find a limit that fits: a truncated text has other escapes than the whole. */
const TRIES = 8

/** Truncates texts until they fit as JSON, in which a char can take six bytes. */
const shrinkTexts: Step = ({ message, results, over, rules }) => {
  const { policy, origin, maxBytes } = rules
  const all = results.flatMap(({ slots }) => slots)
  let bytes = all.reduce((sum, { text }) => sum + jsonBytes(text), 0)
  let missing = over
  let share = 1
  for (let tries = 1; ; tries++) {
    share = tries < TRIES ? share * Math.max(0, (bytes - missing) / bytes) : 0
    const draft = new Draft()
    const cuts = new Map<Result, Clamped>()
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

/** Drops blocks from the end of each list, and appends a note with their number. */
const trimLists = editing(({ results, over }, draft) => {
  const size = sizerFor(results)
  let left = over
  for (const list of shapeOf(results).lists()) {
    const blocks = list.value as readonly unknown[]
    if (left <= 0 || blocks.length === 0) break
    left += NOTE
    let at = blocks.length
    for (; at > 0 && left > 0; at--) left -= size(blocks[at - 1]) + 1
    for (let gone = at + 1; gone < blocks.length; gone++) draft.remove(list, gone)
    draft.set(list, at, noteFor(blocks, blocks.length - at))
  }
})

/** Bytes of that note. */
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

/** Reduces results to the members that make them results: tags, id, name and texts. */
const strip = editing(({ results }, draft) => {
  const shape = shapeOf(results)
  for (const { put } of [...shape.unknown('inside', 0), ...shape.unknown('outside', 0)]) put(undefined, draft)
  for (const { value, put } of shape.words()) if (jsonBytes(value) > WORD) put(shrunk(value, WORD), draft)
})

/** Bytes that unknown members keep, and that content beside the results keeps until their texts are cut. */
const LONG = 1_024
const BESIDE = 16_384

/** Bytes that each of a few unknown blocks keeps, enough to show its kind, and bytes that many blocks share. */
const STUB = 128
const STUBS = 8_192

const STEPS: readonly Step[] = [
  shrinkSide,
  shrinkUnknown('inside', LONG, (blocks) => Math.min(STUB, Math.floor(STUBS / blocks))),
  shrinkUnknown('outside', BESIDE, () => BESIDE),
  shrinkTexts,
  shrinkUnknown('outside', LONG, () => 0),
  trimLists,
  strip,
]
