import { barOf, nameOf } from './table.js'
import { err } from './terminal.js'

/** Columns of the name at least and at most, of the bar, and of all gaps. */
const SHORTEST = 8
const NAME = 24
const BAR = 24
const GAPS = 3

/** Columns below which a bar is not drawn. */
const SHORTEST_BAR = 4

/** A progress line, redrawn during work. Only on a terminal. */
export class ProgressLine {
  readonly #name: string
  #isShown = false

  constructor(name: string) {
    this.#name = name
  }

  show(share: number, note: string): void {
    if (!err.moves) return
    const end = `${`${Math.floor(share * 100)}%`.padStart(4)}  ${note}`
    // A line that wraps would not be overwritten by the next.
    const room = err.columns - 1 - GAPS - end.length
    const name = nameOf(this.#name, Math.min(NAME, Math.max(SHORTEST, room - BAR)))
    const width = Math.min(BAR, room - name.length)
    const bar = width < SHORTEST_BAR ? '' : `${err.paint('cyan', barOf(share, width).padEnd(width))} `
    this.#draw(`\r${name}  ${bar}${end}\x1b[K`)
    this.#isShown = true
  }

  /** Erases the line. */
  clear(): void {
    if (this.#isShown) this.#draw('\r\x1b[K')
    this.#isShown = false
  }

  #draw(text: string): void {
    void err.draw(text)
  }
}
