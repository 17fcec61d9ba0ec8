import type { ChildProcess } from 'node:child_process'
import { OutputCapture } from '../../lib/index.js'
import { truncateUtf16Safe } from '../../lib/text/slice.js'
import { inOrder } from './escape.js'
import { counted, size } from './table.js'
import { out } from './terminal.js'

/** Lines of output at most. */
const LINES = 10

/** Bytes of one row of a terminal at most, with room for marks and wide chars. */
const ROW_BYTES = 4 * 120

/** Milliseconds between two drawings. */
const PACE = 100

/** Sequences that end and begin the wrapping of long lines. A line that wraps would not be erased
 *  as a whole. */
const UNWRAPPED = '\x1b[?7l'
const WRAPPED = '\x1b[?7h'

/** The latest lines of a command's output, redrawn in place while it goes on. Only on a
 *  terminal. */
export class LiveTail {
  readonly #capture: InstanceType<typeof OutputCapture>
  #timer: NodeJS.Timeout | undefined
  /** Rows on the screen. */
  #rows = 0
  #drawn = ''

  constructor(redact: boolean) {
    this.#capture = new OutputCapture({
      keep: 'tail',
      maxLines: LINES,
      maxLineBytes: ROW_BYTES,
      maxBytes: LINES * ROW_BYTES,
      notice: false,
      redact,
    })
  }

  /** Follows a command that was just started. */
  follow(child: ChildProcess): ChildProcess {
    if (!out.moves) return child
    child.stdout?.pipe(this.#capture.stdout, { end: false })
    child.stderr?.pipe(this.#capture.stderr, { end: false })
    this.#timer = setInterval(() => this.#draw(), PACE)
    return child
  }

  /** Erases what was drawn, for what the policy keeps. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    if (this.#rows > 0) await out.draw(this.#erased())
    this.#rows = 0
  }

  #draw(): void {
    const { text, total } = this.#capture.snapshot()
    if (total.bytes === 0) return
    const last = text
      .trimEnd()
      .split('\n')
      .slice(-Math.max(1, Math.min(LINES, out.rows - 2)))
    const note = `[running: ${counted(total.lines, 'line')}, ${size(total.bytes)} so far]`
    const lines = last.map((line) => truncateUtf16Safe(inOrder(line), out.columns))
    const drawn = [...lines, out.paint('dim', note), ''].join('\r\n')
    if (drawn === this.#drawn) return
    const before = this.#erased()
    this.#drawn = drawn
    this.#rows = lines.length + 1
    void out.draw(before + UNWRAPPED + drawn + WRAPPED)
  }

  #erased(): string {
    return this.#rows === 0 ? '' : `\x1b[${this.#rows}A\r\x1b[J`
  }
}
