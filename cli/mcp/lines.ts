/** A message that is too long to be held: its ends, and its size with the newline. */
export interface Overlong {
  readonly head: string
  readonly tail: string
  readonly bytes: number
}

/** Bytes of each end of a message that is too long. A message has its id at one of them. */
const END = 1_024

/** Yields each line with its newline, as it came. The last one may have none. Of a line of over
 *  `most` bytes, only the ends are held. */
export async function* linesOf(
  stream: AsyncIterable<Buffer> | Iterable<Buffer>,
  most: number,
): AsyncGenerator<Buffer | Overlong> {
  let line = new ByteBuffer(most)
  for await (const chunk of stream) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      line.add(chunk.subarray(from, at + 1))
      yield line.done()
      line = new ByteBuffer(most)
      from = at + 1
    }
    if (from < chunk.length) line.add(chunk.subarray(from))
  }
  if (line.bytes > 0) yield line.done()
}

/** Bytes that come in parts. The parts are copied into one buffer, since a buffer for each takes a
 *  hundred bytes beside its own; a single part is not copied. Of more than `most` bytes, only the
 *  ends are held. */
export class ByteBuffer {
  bytes = 0
  #held: Buffer = Buffer.alloc(0)
  #filled = 0
  #head: Buffer | undefined
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  add(part: Buffer): void {
    this.bytes += part.length
    if (this.bytes <= this.#most) this.#keep(part)
    else {
      this.#head ??= Buffer.concat([this.#all().subarray(0, END), part.subarray(0, END)]).subarray(0, END)
      this.#held = Buffer.concat([this.#all().subarray(-END), part.subarray(-END)])
      this.#filled = this.#held.length
    }
  }

  done(): Buffer | Overlong {
    const held = this.#all()
    if (!this.#head) return held
    return { head: this.#head.toString(), tail: held.subarray(-END).toString(), bytes: this.bytes }
  }

  #keep(part: Buffer): void {
    if (this.#filled === 0) this.#held = part
    else {
      if (this.bytes > this.#held.length) {
        const grown = Buffer.allocUnsafe(Math.min(2 * this.bytes, this.#most))
        this.#all().copy(grown)
        this.#held = grown
      }
      part.copy(this.#held, this.#filled)
    }
    this.#filled = this.bytes
  }

  #all(): Buffer {
    return this.#held.subarray(0, this.#filled)
  }
}
