import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { platform } from '../platform.js'
import { inLines, inOrder } from './escape.js'

export type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan'

const CODES: Record<Style, [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
  cyan: [36, 39],
}

/** Rows of a terminal that does not tell. */
const ROWS = 24

/** Columns without a terminal, and the least and the most columns used for layout. */
const COLUMNS = 80
const NARROWEST = 40
const WIDEST = 120

/** An output stream. Only a person's terminal gets colours and moving bars; files and other
 *  processes do not. */
export class Terminal {
  readonly #name: 'stdout' | 'stderr'
  #opened: WriteStream | undefined

  constructor(name: 'stdout' | 'stderr') {
    this.#name = name
  }

  /** Opened when it is used: that takes milliseconds, for which a host of a hook would wait. */
  get #stream(): WriteStream {
    // Errors are passed to the caller of `write`; without a listener they would end the process.
    this.#opened ??= process[this.#name].on('error', () => {})
    return this.#opened
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true
  }

  get #hasColors(): boolean {
    return this.isTerminal && !process.env['NO_COLOR'] && this.#stream.hasColors()
  }

  get columns(): number {
    const columns = (this.isTerminal && this.#stream.columns) || COLUMNS
    return Math.min(Math.max(columns, NARROWEST), WIDEST)
  }

  get rows(): number {
    return (this.isTerminal && this.#stream.rows) || ROWS
  }

  /** True if a line can be redrawn. */
  get moves(): boolean {
    return this.isTerminal && process.env['TERM'] !== 'dumb'
  }

  paint(style: Style, text: string): string {
    if (!this.#hasColors || text === '') return text
    const [on, off] = CODES[style]
    return `\x1b[${on}m${text}\x1b[${off}m`
  }

  /** Writes a text in full. Rejects with EPIPE if the reader has closed the stream. */
  write(text: string | Uint8Array): Promise<void> {
    if (text.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#stream.write(text, (error) => (error ? reject(error) : resolve()))
    })
  }

  /** Writes the output of a tool. On a terminal, chars that change the direction of cleaned text
   *  are escaped, and the last line ends. */
  show(text: string, isClean: boolean): Promise<void> {
    return this.write((isClean && this.isTerminal ? inOrder(text) : text) + this.newlineAfter(text))
  }

  /** Returns the newline without which the prompt of a shell would stand behind a text. */
  newlineAfter(text: string): string {
    return this.isTerminal && text !== '' && !text.endsWith('\n') ? '\n' : ''
  }

  /** Writes a message. Names and texts of others in it cannot act on a terminal. Errors are
   *  ignored: nothing depends on its being read. */
  tell(text: string): Promise<void> {
    return this.draw(inLines(text))
  }

  /** Writes a text that moves the cursor or has colors, as `tell` does. */
  async draw(text: string): Promise<void> {
    await this.write(text).catch(() => {})
  }
}

export const out = new Terminal('stdout')
export const err = new Terminal('stderr')

/** True if bars may be drawn with block characters. Without a UTF-8 locale a terminal may not show
 *  them. */
export const hasBlocks = platform.showsBlocks || /utf-?8/i.test(locale())

function locale(): string {
  const { LC_ALL, LC_CTYPE, LANG } = process.env
  return LC_ALL || LC_CTYPE || LANG || ''
}

/** Writes to a stream, and waits if its buffer is full. */
export async function write(stream: Writable, chunk: string | Uint8Array): Promise<void> {
  if (!stream.write(chunk)) await once(stream, 'drain')
}
