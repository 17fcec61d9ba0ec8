import type { TextSize } from 'spillway'
import { PENDING } from '../ahead.js'
import type { Figures } from '../clamp_event.js'
import { type EnginePolicy, handleOf, headOf, silent, tightened, worded } from '../compiled.js'
import type { Edit } from '../dialect/edit.js'
import { clampEncoded } from '../dialect/nested_json.js'
import { edits, isRest, named, textOf } from '../dialect/slots.js'
import type { Slot } from '../dialect/walk.js'
import { type Cut as NativeCut, native } from '../engine.js'
import { linesOf } from '../policy.js'
import { StringInput } from '../text/input.js'
import { type Ask, askedOf, exceededBy, type Measurements } from '../text/limits.js'
import { NoticeCut, settle, speak, truncate } from '../text/notice_function.js'
import { pieceAt, SEARCHED, windows } from '../text/pieces.js'
import { parted, prepared, prepares } from '../text/prepare.js'
import { searchOf } from '../text/search.js'
import { isWithin, sizeOf, sum } from '../text/size.js'
import { clampPrepared, fits } from '../text/text.js'
import { type KeptParts, keptBy, keptLines, type Truncation, untouched } from '../text/truncation.js'
import { editOf, keepShape, mayShape, roomOf } from './slot_json.js'

/** The outcome of clamping the texts of one result. */
export interface SlotsOutcome {
  readonly edits: ReadonlyMap<Slot, Edit>
  /** Undefined if nothing is omitted. */
  readonly figures: (() => Figures) | undefined
}

/** Prepares and clamps a text of a tool. */
export function clampString(text: string, policy: EnginePolicy, ask?: Ask): string {
  return clampPrepared(text, policy, SEARCHED, ask)
}

/** Like `clampString`, with figures. `name`: replaces payloads by their sizes. */
export function clampWithFigures(text: string, policy: EnginePolicy, name = nothing, ask?: Ask): SlotOutcome {
  return fits(text, policy) && !prepares(policy)
    ? { text, figures: undefined }
    : clampOf(text, prepared(text, policy), policy, name, ask)
}

interface SlotOutcome {
  readonly text: string
  /** True if the text is JSON that was cut and still parses. */
  readonly isJson?: boolean
  readonly figures: SlotsOutcome['figures']
}

/** Replaces the payloads in a text that will be truncated. */
type Name = (text: string) => string | undefined

const nothing: Name = () => undefined

/** Clamps the texts of one result. `counts`: the figures will be read. */
export function clampSlots(
  slots: readonly Slot[],
  policy: EnginePolicy,
  counts: boolean,
  ask?: Ask,
): SlotsOutcome {
  const [slot] = slots
  if (slots.length === 1 && slot) return clampSlot(slot, policy, ask)
  return policy.share === 'stay'
    ? clampJoined(slots, policy, counts, ask)
    : clampTogether(slots, policy, counts, ask)
}

function clampSlot(slot: Slot, policy: EnginePolicy, ask: Ask | undefined): SlotsOutcome {
  if (isRest(slot)) return clampRest(slot, policy, ask)
  const name = (text: string) => named(slot, text)
  const isEncoded = slot.json?.as === 'encoded'
  if (!isEncoded || policy.json !== 'text') {
    const { text, isJson, figures } = clampOf(slot.text, textOf(slot, policy), policy, name, ask)
    if (isJson) return { edits: new Map([[slot, editOf(slot, text)]]), figures }
    if (!isEncoded) return { edits: edits([[slot, showing(text, slot.text, policy)]]), figures }
  }
  const { figures } = clampWithFigures(slot.text, policy, nothing, ask)
  const clampOne = (text: string, policy: EnginePolicy) => clampString(text, policy, ask)
  return { edits: edits([[slot, clampEncoded(slot.text, policy, clampOne)]]), figures }
}

/** Shortens data that no path reads. It is dropped if not even an empty value fits. */
function clampRest(slot: Slot, policy: EnginePolicy, ask: Ask | undefined): SlotsOutcome {
  const { text } = slot
  if (!cutOf(text, headOf(policy), undefined).truncated)
    return { edits: edits([[slot, text]]), figures: undefined }
  const asked = () => ask && askedOf(new StringInput(text), text.length, policy, ask)
  const shaped = keepShape(named(slot, text) ?? text, policy, asked, true)
  const figures = () => ({
    total: sizeOf(text),
    kept: sizeOf(shaped?.json ?? ''),
    exceeded: exceededBy(new StringInput(text), policy),
  })
  return { edits: new Map([[slot, shaped ? editOf(slot, shaped.json) : null]]), figures }
}

function clampOf(
  given: string,
  text: string,
  policy: EnginePolicy,
  name: Name,
  ask: Ask | undefined,
): SlotOutcome {
  const isOver = mayShape(text, policy) && cutOf(text, headOf(policy), undefined).truncated
  const lean = isOver ? name(text) : undefined
  const asked = () => ask && askedOf(new StringInput(text), text.length, policy, ask)
  const shaped = isOver ? keepShape(lean ?? text, policy, asked) : undefined
  if (shaped) {
    const { json, isLess } = shaped
    const figures = () => ({
      total: sizeOf(given),
      kept: sizeOf(json),
      exceeded: exceededBy(new StringInput(text), policy),
    })
    return { text: json, isJson: true, figures: isLess || lean !== undefined ? figures : undefined }
  }
  const whole = cutOf(text, policy, ask)
  if (!whole.truncated) return { text: whole.text, figures: undefined }
  const named = lean ?? name(text)
  const made = named === undefined ? whole : cutOf(named, policy, ask)
  const figures = () => ({
    total: sizeOf(given),
    kept: less(sizesOf(made.kept()), made.joined ?? made.text, made.text),
    exceeded: exceededBy(new StringInput(text), policy),
  })
  return { text: made.text, figures }
}

function cutOf(text: string, policy: EnginePolicy, ask: Ask | undefined): Truncation {
  return isWithin(text, policy)
    ? untouched(text, () => sizeOf(text))
    : truncate(new StringInput(text, SEARCHED, ask), policy)
}

/**
 * Returns a clamped text. If nothing of it is visible, returns the start of the text instead: a
 * result keeps a visible text.
 */
function showing(clamped: string, text: string, policy: EnginePolicy): string {
  if (clamped.trim() !== '' || text.trim() === '') return clamped
  return clampString(text.trimStart(), headOf(policy))
}

/** Returns a size without the lines that were dropped from `text`. */
function less(size: TextSize, text: string, left: string): TextSize {
  if (left === text) return size
  const [from, to] = [sizeOf(text), sizeOf(left)]
  return {
    bytes: size.bytes - from.bytes + to.bytes,
    chars: size.chars - from.chars + to.chars,
    lines: size.lines - from.lines + to.lines,
  }
}

function sizesOf(kept: KeptParts): TextSize {
  return { bytes: kept.bytes, chars: kept.chars, lines: keptLines(kept) }
}

/** Columns for each block, and outcomes, as in bindings/src/truncate.rs. */
const COLUMNS = 2
const WHOLE = 0
const CUT = 1
const GONE = 2
const LINED = 4
/** The code of JSON of data, which the engine is given. */
const DATA = 5

/** Clamps blocks that all stay, and that a reader joins by newlines. */
function clampJoined(
  slots: readonly Slot[],
  policy: EnginePolicy,
  counts: boolean,
  ask: Ask | undefined,
): SlotsOutcome {
  const { bytes, chars, lines } = policy.limits
  const joints = slots.length - 1
  const clampIn = (more: number) => {
    const room = { bytes: Math.min(joints, bytes, chars), chars: Math.min(joints, bytes, chars) }
    return clampTogether(slots, tightened(policy, { ...room, lines: Math.min(more, lines) }), counts, ask)
  }
  // A joint is a line of its own only after a block that is empty or ends a line, which a cut may
  // bring about.
  const more = slots.slice(0, -1).filter(({ text }) => text === '' || text.endsWith('\n')).length
  const clamped = clampIn(more)
  const left = slots.map((slot) => {
    const edit = clamped.edits.get(slot)
    return edit === undefined ? slot.text : typeof edit === 'string' ? edit : (edit?.text ?? '')
  })
  return more === joints || sizeOf(left.join('\n')).lines <= lines ? clamped : clampIn(joints)
}

interface BlocksOutcome {
  truncated: boolean
  notice: string
  table: Float64Array
  cuts: (NativeCut | null | undefined)[]
  /** The text of each cut, without what the cut brought together. */
  left: (string | undefined)[]
}

function clampTogether(
  slots: readonly Slot[],
  policy: EnginePolicy,
  counts: boolean,
  ask: Ask | undefined,
): SlotsOutcome {
  const given = slots.map((slot) => textOf(slot, policy))
  let texts = given
  const areRest = slots.map(isRest)
  let shared = shareOf(texts, areRest, policy, counts, ask)
  const outcome = (at: number) => shared.table[at * COLUMNS + 1] ?? WHOLE
  const isLess = (at: number) => outcome(at) === GONE || isCut(outcome(at))
  // If replaced payloads make one text shorter, another may need no cut.
  for (;;) {
    const lean = texts.map((text, at) => {
      const slot = isLess(at) ? slots[at] : undefined
      return (slot && named(slot, text)) ?? text
    })
    if (lean.every((text, at) => text === texts[at])) break
    texts = lean
    shared = shareOf(texts, areRest, policy, counts, ask)
  }
  const shapes = policy.json !== 'text' || areRest.includes(true)
  const query = ask && shapes ? askedOfAll(texts, policy, ask) : undefined
  const shaped = texts.map((text, at) => {
    const cut = shared.left[at]
    if (cut === undefined || !isCut(outcome(at))) return undefined
    return keepShape(text, roomOf(cut, policy), () => query, areRest[at])?.json
  })
  const left = (at: number): string | null => {
    const text = texts[at] ?? ''
    if (isLess(at)) return (areRest[at] ? undefined : shared.left[at]) ?? null
    return outcome(at) === WHOLE ? text : text.toWellFormed()
  }
  const cut = texts.some((text, at) => text !== given[at] || isLess(at))
  return {
    edits: new Map<Slot, Edit>([
      ...edits(slots.map((slot, at) => [slot, left(at)] as const)),
      ...slots.flatMap((slot, at): [Slot, Edit][] => {
        const json = shaped[at]
        return json === undefined ? [] : [[slot, editOf(slot, json)]]
      }),
    ]),
    figures: cut ? () => figuresOf(slots, given, texts, shared, shaped, policy) : undefined,
  }
}

/** Shares the limits among texts, with the notice of the policy, which may be a function. */
function shareOf(
  texts: readonly string[],
  areRest: readonly boolean[],
  policy: EnginePolicy,
  counts: boolean,
  ask: Ask | undefined,
): BlocksOutcome {
  const made = shareWithNotice(texts, areRest, policy, counts, ask)
  return { ...made, left: made.cuts.map((cut) => cut?.text && parted(cut.text, policy)) }
}

function shareWithNotice(
  texts: readonly string[],
  areRest: readonly boolean[],
  policy: EnginePolicy,
  counts: boolean,
  ask: Ask | undefined,
): Omit<BlocksOutcome, 'left'> {
  const { words } = policy
  if (!words) return share(texts, areRest, policy, counts, ask)
  return settle(
    share(texts, areRest, silent(policy), true, ask),
    (made) => speak(words, noticeCut(texts, made, policy)),
    (text, spare) => share(texts, areRest, worded(tightened(policy, spare), text), true, ask),
    (a, b) => JSON.stringify(a.cuts.map(partOf)) === JSON.stringify(b.cuts.map(partOf)),
  )
}

function isCut(outcome: number): boolean {
  return outcome === CUT || outcome === LINED
}

function figuresOf(
  slots: readonly Slot[],
  given: readonly string[],
  texts: readonly string[],
  shared: BlocksOutcome,
  shaped: readonly (string | undefined)[],
  policy: EnginePolicy,
): Figures {
  const kept = texts.map((text, at): TextSize => {
    const outcome = shared.table[at * COLUMNS + 1] ?? WHOLE
    const cut = shared.cuts[at]
    const json = shaped[at]
    if (json !== undefined) return sizeOf(json)
    if (outcome === GONE) return { bytes: 0, chars: 0, lines: 0 }
    if (outcome === CUT && cut) return less(sizesOf(keptBy(cut)), cut.text, shared.left[at] ?? '')
    return outcome === LINED ? sizesOf(truncate(new StringInput(text), linesOf(policy)).kept()) : sizeOf(text)
  })
  const judged = policy.share === 'each' ? given.map((text) => new Together([text])) : [new Together(given)]
  const exceeded = new Set(judged.flatMap((texts) => exceededBy(texts, policy)))
  const total = new Together(slots.map(({ text }) => text)).total()
  return { total, kept: sum(kept), exceeded: [...exceeded] }
}

/** Clamps the texts of one result under one budget, in the engine. */
function share(
  texts: readonly string[],
  areRest: readonly boolean[],
  policy: EnginePolicy,
  figures: boolean,
  ask: Ask | undefined,
): Omit<BlocksOutcome, 'left'> {
  const query = ask && askedOfAll(texts, policy, ask)
  const table = new Float64Array(texts.length * COLUMNS)
  for (const [at, text] of texts.entries()) table.set([text.length, areRest[at] ? DATA : 0], at * COLUMNS)
  const ofData = headOf(policy)
  const parts = texts.flatMap((text, at) => windows(text, areRest[at] ? ofData : policy))
  const read = (block: number, start: number) => pieceAt(texts[block] ?? '', start)
  const found = texts.map((text, at) => searchOf(text, areRest[at] ? ofData : policy, SEARCHED, query))
  const done = found.filter((search) => search !== PENDING)
  // A trial of long work: the texts are whole.
  if (done.length < texts.length)
    return { truncated: false, notice: '', table: new Float64Array(table.length), cuts: [] }
  const handle = handleOf(policy)
  const cuts = native.truncateBlocks(handle, parts, read, SEARCHED, figures, query, done, table)
  const last = carrierOf(table)
  const { text } = policy.notice
  const notice = text !== '' && cuts[last]?.text.includes(text) ? text : ''
  return { truncated: last >= 0, notice, table, cuts }
}

/** Returns what was asked, if the texts are over the limits that they share or, with 'each', one of
 *  them is. */
function askedOfAll(texts: readonly string[], policy: EnginePolicy, ask: Ask): string[] | undefined {
  const judged = policy.share === 'each' ? texts.map((text) => [text]) : [texts]
  for (const some of judged) {
    const chars = some.reduce((sum, { length }) => sum + length, 0)
    const query = askedOf(new Together(some), chars, policy, ask)
    if (query) return query
  }
  return undefined
}

/** Returns the kept part of a block. A block that is whole or dropped has none. */
function partOf(cut: NativeCut | null | undefined) {
  return cut && [cut.ranges, cut.bytes]
}

/** Returns the block with the notice: the last truncated block, or if there is none, the last
 *  dropped one, or -1. */
function carrierOf(table: Float64Array): number {
  const last = (outcome: number) => {
    let at = table.length / COLUMNS - 1
    while (at >= 0 && table[at * COLUMNS + 1] !== outcome) at -= 1
    return at
  }
  const cut = last(CUT)
  return cut < 0 ? last(GONE) : cut
}

/** Returns the cut for the notice, which counts the text of the block that carries it and the
 *  dropped blocks. */
function noticeCut(texts: readonly string[], shared: Omit<BlocksOutcome, 'left'>, policy: EnginePolicy) {
  const carrier = carrierOf(shared.table)
  const missing = texts.filter((_, at) => at === carrier || shared.table[at * COLUMNS + 1] === GONE)
  const cut = shared.cuts[carrier]
  const kept: KeptParts = cut ? keptBy(cut) : { keep: 'head', bytes: 0, chars: 0, ranges: [], lines: [] }
  const judged = policy.share === 'each' ? [texts[carrier] ?? ''] : texts
  return new NoticeCut(new Together(missing), kept, policy, new Together(judged))
}

/** Several texts, measured as one. */
class Together implements Measurements {
  readonly #inputs: StringInput[]

  constructor(texts: readonly string[]) {
    this.#inputs = texts.map((text) => new StringInput(text))
  }

  total(): TextSize {
    return sum(this.#inputs.map((input) => input.total()))
  }

  bytesOut(): number {
    return this.total().bytes
  }

  tokens(): number {
    return this.#inputs.reduce((sum, input) => sum + input.tokens(), 0)
  }

  hasLongLine(maxBytes: number): boolean {
    return this.#inputs.some((input) => input.hasLongLine(maxBytes))
  }
}
