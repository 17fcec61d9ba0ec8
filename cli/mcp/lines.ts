/** A message that is too long to be held: its ends, and its size with the newline. */
export interface Overlong {
  readonly head: string
  readonly tail: string
  readonly bytes: number
}

/** Bytes of each end of a message that is too long. A message has its id at one of them. */
const END = 1_024

/** Yields each line with its newline, as it came. The last one may have none. Of a line of over `most` bytes, only the
 *  ends are held. */
export async function* linesOf(
  stream: AsyncIterable<Buffer> | Iterable<Buffer>,
  most: number,
): AsyncGenerator<Buffer | Overlong> {
  let line = new Line(most)
  for await (const chunk of stream) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      line.add(chunk.subarray(from, at + 1))
      yield line.done()
      line = new Line(most)
      from = at + 1
    }
    if (from < chunk.length) line.add(chunk.subarray(from))
  }
  if (line.bytes > 0) yield line.done()
}

class Line {
  bytes = 0
  #parts: Buffer[] = []
  #head: Buffer | undefined
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  add(part: Buffer): void {
    this.bytes += part.length
    this.#parts.push(part)
    if (this.bytes <= this.#most) return
    const held = Buffer.concat(this.#parts)
    this.#head ??= Buffer.from(held.subarray(0, END))
    this.#parts = [Buffer.from(held.subarray(-END))]
  }

  done(): Buffer | Overlong {
    const held = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts)
    if (!this.#head) return held
    return { head: this.#head.toString(), tail: held.toString(), bytes: this.bytes }
  }
}
