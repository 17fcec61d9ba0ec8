import { barOf, nameOf } from './table.js'
import { err } from './terminal.js'

const NAME = 24
const BAR = 24

/** A line that is drawn again as work goes on, on a terminal alone. */
export class Progress {
  readonly #name: string
  #isShown = false

  constructor(name: string) {
    this.#name = nameOf(name, NAME)
  }

  show(share: number, note: string): void {
    if (!err.moves) return
    const percent = `${Math.floor(share * 100)}%`.padStart(4)
    const line = `${this.#name}  ${err.paint('cyan', barOf(share, BAR).padEnd(BAR))} ${percent}  ${note}`
    this.#draw(`\r${line}\x1b[K`)
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
