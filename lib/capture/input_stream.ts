import { Writable } from 'node:stream'
import { get } from '../untrusted.js'

/** Consumer of the chunks of one stream, in order. If `take` returns a promise, the next chunk has
 *  to wait for it. */
export interface Sink {
  take(bytes: Uint8Array, isText: boolean): Promise<void> | undefined
  end(): void
}

/** Bytes that are buffered while earlier ones are saved. */
const WAITING = 256 * 1024

type Done = (error?: Error | null) => void

/** A Writable for one stream of a process. */
export class Intake extends Writable {
  readonly #sink: Sink
  /** A high surrogate at the end of a string, waiting for the next chunk. */
  #half = ''

  constructor(sink: Sink) {
    super({ decodeStrings: false, highWaterMark: WAITING })
    this.#sink = sink
  }

  /** Writes a chunk. Copies it if it has to wait, since its owner may reuse the memory. */
  override write(chunk: unknown, ...rest: unknown[]): boolean {
    const waits = this.writableLength > 0 || this.writableCorked > 0
    return super.write(
      ArrayBuffer.isView(chunk) ? ownOptionsOf(chunk, waits) : chunk,
      ...(rest as [BufferEncoding, Done]),
    )
  }

  override _write(chunk: Uint8Array | string, encoding: BufferEncoding, done: Done): void {
    // Only a chunk with a length may wait: `write` sees by that length that the next one must wait
    // too.
    const wait = chunk.length === 0 ? undefined : this.#take(chunk, encoding)
    if (wait) wait.then(() => done(), done)
    else done()
  }

  override _final(done: Done): void {
    const wait = this.#half === '' ? undefined : this.#sink.take(this.#after('', 'utf8'), true)
    this.#sink.end()
    if (wait) wait.then(() => done(), done)
    else done()
  }

  #take(chunk: Uint8Array | string, encoding: BufferEncoding): Promise<void> | undefined {
    const isText = typeof chunk === 'string' && /^utf-?8$/i.test(encoding)
    const bytes = isText ? this.#encoded(chunk) : this.#after(chunk, encoding)
    return this.#sink.take(bytes, isText)
  }

  #encoded(text: string): Buffer {
    const whole = this.#half + text
    const isHalf = (whole.charCodeAt(whole.length - 1) & 0xfc00) === 0xd800
    this.#half = isHalf ? whole.slice(-1) : ''
    return Buffer.from(isHalf ? whole.slice(0, -1) : whole)
  }

  /** Returns the bytes of a chunk, after a pending surrogate that remains unpaired. */
  #after(chunk: Uint8Array | string, encoding: BufferEncoding): Uint8Array {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
    if (this.#half === '') return bytes
    const half = Buffer.from(this.#half)
    this.#half = ''
    return Buffer.concat([half, bytes])
  }
}

/** Returns a chunk that may wait. An empty chunk is replaced: its buffer may be detached, and a
 *  stream throws on that. */
function ownOptionsOf(chunk: ArrayBufferView, waits: boolean): ArrayBufferView {
  // Reading the length of a detached DataView throws.
  const length = get(chunk, 'byteLength')
  if (!length) return Buffer.alloc(0)
  return waits ? Buffer.from(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)) : chunk
}
