import { joined } from './flatten.js'
import { isNarrow, isStoredWide } from './latin1.js'
import { pieceAt } from './pieces.js'

/** A number or a text of an answer of the engine. */
export type Item = string | number

/** Kinds of changes, as in bindings/src/items.rs. */
export const JSON_TEXT = 1
export const TEXT = 2
export const CUT = 3
export const REMOVED = 4

/** The items of an answer, which are read one after another. */
export class Items {
  #at = 0
  readonly #items: readonly Item[]
  readonly #strings: readonly string[]

  /** `strings`: those that stayed in JavaScript. */
  constructor(items: readonly Item[], strings: readonly string[]) {
    this.#items = items
    this.#strings = strings
  }

  number(): number {
    return this.#items[this.#at++] as number
  }

  text(): string {
    return this.#items[this.#at++] as string
  }

  /** Reads the cut of a string that stayed in JavaScript. */
  cut(): string {
    const text = this.#strings[this.number()] as string
    const middle = this.text()
    const side = () => text.slice(this.number(), this.number())
    const [head, tail] = [side(), side()]
    return this.number() === 1
      ? joined(head.toWellFormed(), middle, tail.toWellFormed())
      : joined(head, middle, tail)
  }
}

/** Chars from which a string stays in JavaScript. A copy of a shorter one takes less than the calls
 *  that would read it. */
export const LONG = 4_096

/** Returns how the engine reads strings that stay in JavaScript. */
export function readersOf(strings: readonly string[]) {
  const textAt = (at: number) => strings[at] as string
  const narrowed = (part: string, narrow: boolean) => (narrow && !isNarrow(part) ? null : part)
  const part = (at: number, start: number, end: number, narrow: boolean) => {
    const text = textAt(at)
    if (narrow && isStoredWide(text)) return null
    return narrowed(start === 0 && end === text.length ? text : text.slice(start, end), narrow)
  }
  const piece = (at: number, start: number, narrow: boolean) => {
    const text = textAt(at)
    return narrow && isStoredWide(text) ? null : narrowed(pieceAt(text, start), narrow)
  }
  const isBroken = (at: number) => !textAt(at).isWellFormed()
  const units = Float64Array.from(strings, ({ length }) => length)
  return [units, part, piece, isBroken] as const
}
