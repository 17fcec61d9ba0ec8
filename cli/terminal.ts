import type { WriteStream } from 'node:tty'
import { inOrder } from './escape.js'

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan'

const CODES: Record<Style, [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
  cyan: [36, 39],
}

/** Columns where no terminal tells of any, and at least and at most for what we lay out. */
const COLUMNS = 80
const NARROWEST = 40
const WIDEST = 120

/**
 * Where output goes: to a person's terminal, or to a file or another process, which get neither colour nor bars that
 * move.
 */
export class Terminal {
  readonly isTerminal: boolean
  readonly #stream: WriteStream
  readonly #hasColors: boolean

  constructor(stream: WriteStream) {
    this.#stream = stream
    this.isTerminal = stream.isTTY === true
    this.#hasColors = this.isTerminal && !process.env['NO_COLOR'] && stream.hasColors()
    // Told to who wrote; without a listener it would end the process.
    stream.on('error', () => {})
  }

  get columns(): number {
    const columns = (this.isTerminal && this.#stream.columns) || COLUMNS
    return Math.min(Math.max(columns, NARROWEST), WIDEST)
  }

  /** Whether a line can be drawn again. */
  get moves(): boolean {
    return this.isTerminal && process.env['TERM'] !== 'dumb'
  }

  paint(style: Style, text: string): string {
    if (!this.#hasColors || text === '') return text
    const [on, off] = CODES[style]
    return `\x1b[${on}m${text}\x1b[${off}m`
  }

  /** Writes all of a text; rejects with EPIPE where nobody reads on. */
  write(text: string | Uint8Array): Promise<void> {
    if (text.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#stream.write(text, (error) => (error ? reject(error) : resolve()))
    })
  }

  /** Writes what a tool has printed. Of what was cleaned, a terminal shows lines in the order in which they were written. */
  show(text: string, isClean: boolean): Promise<void> {
    return this.write(isClean && this.isTerminal ? inOrder(text) : text)
  }

  /** Writes what changes nothing where nobody can read it. */
  async tell(text: string): Promise<void> {
    await this.write(text).catch(() => {})
  }
}

export const out = new Terminal(process.stdout)
export const err = new Terminal(process.stderr)

/** Whether bars may be drawn with block characters: without a locale nobody knows what a terminal makes of them. */
export const hasBlocks = process.platform === 'win32' || /utf-?8/i.test(locale())

function locale(): string {
  const { LC_ALL, LC_CTYPE, LANG } = process.env
  return LC_ALL || LC_CTYPE || LANG || ''
}
