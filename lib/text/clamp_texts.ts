import type { ClampEvent, TextSize } from 'spillway'
import { PENDING } from '../ahead.js'
import { asks, type EnginePolicy, handleOf } from '../compiled.js'
import { native } from '../engine.js'
import { CUT, Items, JSON_TEXT, LONG, REMOVED, readersOf, TEXT } from './items.js'
import { isNarrow } from './latin1.js'
import { type Ask, limitsIn } from './limits.js'
import { wordsOf } from './notice_function.js'
import { SEARCHED } from './pieces.js'
import { searchOf } from './search.js'
import { shaperOf } from './shape.js'

/** Kinds of texts, as in bindings/src/slots.rs. */
export const PLAIN = 0
/** A string that contains JSON, and must remain valid. */
export const ENCODED = 1
/** The JSON of data. */
export const DATA = 2
/** The JSON of data that no path reads. */
export const UNREAD = 3

/** A text as the engine takes it: cleaned and redacted, unless it is JSON. */
export interface TextGiven {
  readonly text: string
  readonly kind: number
}

/** The change of a text: what is left of it, JSON in the place of JSON, or null for nothing.
 *  Undefined if it stays. */
export type TextEdit = string | { readonly json: string } | null | undefined

/** Outcome of clamping the texts of one result. */
export interface TextsCut {
  readonly edits: readonly TextEdit[]
  readonly truncated: boolean
  /** Undefined if they were not counted. */
  readonly figures: { readonly kept: TextSize; readonly exceeded: ClampEvent['exceeded'] } | undefined
}

/** Clamps the texts of one result together. `counts`: figures are read. `ask`: returns what was
 *  asked, once. */
export function clampTexts(
  given: readonly TextGiven[],
  policy: EnginePolicy,
  counts: boolean,
  ask: Ask | undefined,
): TextsCut {
  const long = given.filter(({ text }) => text.length > LONG)
  const strings = long.map(({ text }) => text)
  const asked = asks(policy) ? ask : undefined
  const found = policy.ahead ? searches(long, policy, asked) : []
  // A trial of long work: the texts are whole.
  if (!found) return { edits: given.map(() => undefined), truncated: false, figures: undefined }
  const blob = given.map(({ text }) => (text.length > LONG ? '' : text)).join('')
  const made = native.clampTexts(
    handleOf(policy),
    policy.clean && [...policy.clean],
    Uint8Array.from(given, ({ kind }) => kind),
    Int32Array.from(given, ({ text: { length } }) => (length > LONG ? -1 : length)),
    blob,
    isNarrow(blob),
    ...readersOf(strings),
    counts,
    asked,
    wordsOf(policy),
    found,
    shaperOf(policy, asked),
  )
  const items = new Items(made, strings)
  const edits = given.map(() => editIn(items))
  const truncated = items.number() === 1
  return { edits, truncated, figures: counts ? figuresIn(items) : undefined }
}

/** Returns the searches that threads have done of long strings. Returns undefined in a trial that
 *  finds one to do. */
function searches(long: readonly TextGiven[], policy: EnginePolicy, ask: Ask | undefined) {
  const { head, tail } = policy.reach
  // Only a text that no limit reaches is searched by threads, and it will be cut.
  const isOver = ({ text }: TextGiven) => text.length > Math.max(head, tail)
  const query = long.some(isOver) ? ask?.() : undefined
  const found = long.map(({ text, kind }) =>
    kind === UNREAD ? null : searchOf(text, policy, SEARCHED, query),
  )
  const done = found.filter((search) => search !== PENDING)
  return done.length < found.length ? undefined : done
}

function editIn(items: Items): TextEdit {
  const kind = items.number()
  if (kind === TEXT) return items.text()
  if (kind === JSON_TEXT) return { json: items.text() }
  if (kind === CUT) return items.cut()
  return kind === REMOVED ? null : undefined
}

/** Reads the sizes of the kept parts, and the limits that were exceeded. */
function figuresIn(items: Items) {
  return { kept: sizeIn(items), exceeded: limitsIn(items.number()) }
}

function sizeIn(items: Items): TextSize {
  const [bytes, chars, lines] = [items.number(), items.number(), items.number()]
  return { bytes, chars, lines }
}
