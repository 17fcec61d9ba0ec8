import type { Figures } from '../clamp_event.js'
import type { EnginePolicy } from '../compiled.js'
import type { Edit } from '../dialect/edit.js'
import { editOf, edits, isData, isRest, textOf } from '../dialect/slots.js'
import type { Slot } from '../dialect/walk.js'
import { clampTexts, DATA, ENCODED, PLAIN, type TextGiven, UNREAD } from '../text/clamp_texts.js'
import type { Ask } from '../text/limits.js'
import { SEARCHED } from '../text/pieces.js'
import { prepared, prepares } from '../text/prepare.js'
import { isWithin, sizeOf, sum } from '../text/size.js'
import { clampPrepared, fits } from '../text/text.js'

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

/** The outcome of clamping one text. */
export interface TextOutcome {
  readonly text: string
  /** True if the text is JSON that was cut and still parses. */
  readonly isJson?: boolean
  readonly figures: SlotsOutcome['figures']
}

/** Like `clampString`, with figures, which are read if `counts`. `isData`: the text is the JSON of
 *  data, in which sizes replace payloads. */
export function clampWithFigures(
  text: string,
  policy: EnginePolicy,
  counts: boolean,
  isData = false,
  ask?: Ask,
): TextOutcome {
  if (fits(text, policy) && !prepares(policy)) return { text, figures: undefined }
  const given = [{ text: prepared(text, policy), kind: isData ? DATA : PLAIN }]
  const { made, figures } = clampAll([text], given, policy, counts, ask)
  const edit = made[0]
  if (typeof edit === 'object' && edit !== null) return { text: edit.json, isJson: true, figures }
  return { text: edit ?? given[0]?.text.toWellFormed() ?? '', figures }
}

/** Clamps the texts of one result. `counts`: the figures will be read. */
export function clampSlots(
  slots: readonly Slot[],
  policy: EnginePolicy,
  counts: boolean,
  ask?: Ask,
): SlotsOutcome {
  if (slots.length === 0) return { edits: new Map(), figures: undefined }
  const given = slots.map((slot) => ({ text: textOf(slot, policy), kind: kindOf(slot) }))
  const texts = slots.map(({ text }) => text)
  const { made, figures } = clampAll(texts, given, policy, counts, ask)
  const changed = new Map<Slot, Edit>()
  const left: [Slot, string | null][] = []
  for (const [at, slot] of slots.entries()) {
    const edit = made[at]
    if (typeof edit === 'object' && edit !== null) changed.set(slot, editOf(slot, edit.json))
    else left.push([slot, edit === undefined ? wholeOf(slot, given[at] as TextGiven) : edit])
  }
  return { edits: new Map([...edits(left), ...changed]), figures }
}

/** Returns a text that stays. That of data escapes its lone surrogates. */
function wholeOf(slot: Slot, { text }: TextGiven): string {
  return isData(slot) ? text : text.toWellFormed()
}

function kindOf(slot: Slot): number {
  if (isRest(slot)) return UNREAD
  if (!slot.json) return PLAIN
  return slot.json.as === 'encoded' ? ENCODED : DATA
}

/** Clamps texts together. `given`: as the engine takes them. */
function clampAll(
  texts: readonly string[],
  given: readonly TextGiven[],
  policy: EnginePolicy,
  counts: boolean,
  ask: Ask | undefined,
) {
  const [one] = given
  // Most texts that are measured fit.
  if (given.length === 1 && one && isWithin(one.text, policy))
    return { made: [undefined], figures: undefined }
  const { edits: made, truncated, figures: counted } = clampTexts(given, policy, counts, ask)
  const figures = () => {
    const read = counted ?? clampTexts(given, policy, true, ask).figures
    return { total: sum(texts.map(sizeOf)), kept: NONE, exceeded: [], ...read }
  }
  return { made, figures: truncated ? figures : undefined }
}

const NONE = { bytes: 0, chars: 0, lines: 0 }
