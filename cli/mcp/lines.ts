/** A message that is too long to keep: its ends, and its size with the newline. */
export interface Overlong {
  readonly head: string
  readonly tail: string
  readonly bytes: number
}

/** Maximum bytes of a message to keep. */
export const LONGEST = 64 * 1024 * 1024

/** Bytes of each end of a message that is too long. The id of a message is at one of its ends. */
const END = 1_024

/** Yields each line unchanged, with its newline, which the last line may lack. Keeps only the ends
 *  of a line over `most` bytes. */
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

/** Bytes that arrive in parts. Several parts are copied into one buffer, since each buffer takes a
 *  hundred bytes besides its own. Keeps only the ends of more than `most` bytes. */
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
