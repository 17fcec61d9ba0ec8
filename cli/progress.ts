import { barOf, nameOf } from './table.js'
import { err } from './terminal.js'

/** Columns of the name, at least and at most, of the bar, and between what stands in the line. */
const SHORTEST = 8
const NAME = 24
const BAR = 24
const GAPS = 3

/** A shorter bar shows nothing. */
const SHORTEST_BAR = 4

/** A line that is drawn again as work goes on, on a terminal alone. */
export class Progress {
  readonly #name: string
  #isShown = false

  constructor(name: string) {
    this.#name = name
  }

  show(share: number, note: string): void {
    if (!err.moves) return
    const end = `${`${Math.floor(share * 100)}%`.padStart(4)}  ${note}`
    // A line that wraps would not be drawn over by the next.
    const room = err.columns - 1 - GAPS - end.length
    const name = nameOf(this.#name, Math.min(NAME, Math.max(SHORTEST, room - BAR)))
    const width = Math.min(BAR, room - name.length)
    const bar = width < SHORTEST_BAR ? '' : `${err.paint('cyan', barOf(share, width).padEnd(width))} `
    this.#draw(`\r${name}  ${bar}${end}\x1b[K`)
    this.#isShown = true
  }

  /** Takes the line away. */
  clear(): void {
    if (this.#isShown) this.#draw('\r\x1b[K')
    this.#isShown = false
  }

  #draw(text: string): void {
    void err.tell(text)
  }
}
