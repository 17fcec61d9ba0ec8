import { Writable } from 'node:stream'
import { get } from '../reading.js'

/** What takes the chunks of one stream, in order. A promise tells to wait. */
export interface Sink {
  take(bytes: Uint8Array, isText: boolean): Promise<void> | undefined
  end(): void
}

/** Bytes that may wait here while those before them are saved. */
const WAITING = 256 * 1024

type Done = (error?: Error | null) => void

/** A Writable for one stream of a process. */
export class Intake extends Writable {
  readonly #sink: Sink
  /** The first half of a pair that a string ended in. */
  #half = ''

  constructor(sink: Sink) {
    super({ decodeStrings: false, highWaterMark: WAITING })
    this.#sink = sink
  }

  /** Takes a chunk, or a copy where it has to wait: its owner may use the memory again. */
  override write(chunk: unknown, ...rest: unknown[]): boolean {
    const waits = this.writableLength > 0 || this.writableCorked > 0
    return super.write(
      ArrayBuffer.isView(chunk) ? ownOf(chunk, waits) : chunk,
      ...(rest as [BufferEncoding, Done]),
    )
  }

  override _write(chunk: Uint8Array | string, encoding: BufferEncoding, done: Done): void {
    // What waits must have a length: by that the next is known to have to wait.
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

  /** Bytes, with a half before them that stays one. */
  #after(chunk: Uint8Array | string, encoding: BufferEncoding): Uint8Array {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
    if (this.#half === '') return bytes
    const half = Buffer.from(this.#half)
    this.#half = ''
    return Buffer.concat([half, bytes])
  }
}

/** A chunk that may wait. No bytes are as good as any: their buffer may be gone, which a stream would throw at. */
function ownOf(chunk: ArrayBufferView, waits: boolean): ArrayBufferView {
  // Of a DataView even to ask its length throws then.
  const length = get(chunk, 'byteLength')
  if (!length) return Buffer.alloc(0)
  return waits ? Buffer.from(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)) : chunk
}
