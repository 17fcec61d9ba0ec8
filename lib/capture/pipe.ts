import { finished, type Readable, Writable } from 'node:stream'
import { native } from '../engine.js'
import type { Intake } from './input_stream.js'

type Chunk = Uint8Array | string

/**
 * A Writable to pipe a stream into. Node pauses a stream until every Writable that it is piped into
 * is ready, while any other consumer can resume a stream that a listener has paused.
 */
class Inlet extends Writable {
  readonly #take: (chunk: Chunk) => boolean

  constructor(take: (chunk: Chunk) => boolean) {
    super()
    this.#take = take
  }

  override write(chunk: unknown): boolean {
    return this.#take(chunk as Chunk)
  }
}

/** Reads one stream of a child into a capture. */
export class Pipe {
  /** Bytes received so far, or chars if the stream decodes. */
  came = 0
  readonly #from: Readable
  readonly #to: Intake
  readonly #inlet = new Inlet((chunk) => this.#write(chunk))
  /** True if no one else sees the chunks. Never true again: a listener may keep a chunk and then be
   *  removed. */
  #isAlone: boolean
  /** Bytes buffered in the stream at first, which someone may have put back. */
  readonly #waited: number
  /** Bytes taken from the stream before. */
  readonly #taken: number
  /** True while the stream is paused until the capture is ready. */
  #isHeld = false
  #ended: (() => void) | undefined
  readonly #forget: () => void

  /** `ended` is called once the stream has ended, failed or been closed. */
  constructor(from: Readable, to: Intake, ended: () => void) {
    this.#from = from
    this.#to = to
    this.#ended = ended
    // The chunks of a stream other than a socket may be buffers in use elsewhere.
    this.#isAlone = isSocket(from) && SHOWN.every((event) => from.listenerCount(event) === 0)
    this.#waited = from.readableLength
    this.#taken = bytesRead(from) - this.#waited
    from.pipe(this.#inlet, { end: false })
    from.on('newListener', this.#heard)
    to.on('drain', this.#goOn).on('close', this.#goOn)
    // A stream that fails after `leave` must not end the process.
    from.on('error', ignore)
    this.#forget = finished(from, { writable: false }, () => this.#end())
  }

  /** True if the disk is slower than the stream. */
  get isSlow(): boolean {
    return this.#to.writable && this.#to.writableLength > 0
  }

  /** True if other readers hold the stream back. */
  get isWaiting(): boolean {
    return this.#from.readableLength > 0 && !this.#from.destroyed
  }

  #write(chunk: Chunk): boolean {
    this.came += chunk.length
    // The caller may have ended this Writable before the child did.
    if (!this.#to.writable) return true
    const ours = typeof chunk !== 'string' && this.#isOurs(chunk.length) ? chunk : undefined
    this.#isHeld = !this.#to.write(chunk)
    if (ours) release(ours)
    return !this.#isHeld
  }

  /** Returns true if no one else can hold the last chunk: it was read for us and by us. */
  #isOurs(length: number): boolean {
    // More bytes than were read: someone has put some into the stream.
    if (this.#isAlone && this.#taken + this.came + this.#from.readableLength > bytesRead(this.#from))
      this.#isAlone = false
    // While we hold the stream, only someone else can have resumed it.
    return this.#isAlone && !this.#isHeld && this.came - length >= this.#waited
  }

  readonly #heard = (event: string | symbol): void => {
    if (SHOWN.includes(event)) this.#isAlone = false
  }

  readonly #goOn = (): void => {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#inlet.emit('drain')
  }

  /** Stops capturing the stream. Further output is discarded, and does not keep this process
   *  running. */
  leave(): void {
    this.#let()
    this.#from.resume()
    if ('unref' in this.#from && typeof this.#from.unref === 'function') this.#from.unref()
  }

  /** Stops capturing the stream, and closes it. */
  close(): void {
    this.#let()
    this.#from.destroy()
  }

  #let(): void {
    this.#ended = undefined
    this.#forget()
    // Other destinations of the stream must not wait for this one.
    this.#goOn()
    this.#from.unpipe(this.#inlet)
    this.#from.off('newListener', this.#heard)
    this.#to.off('drain', this.#goOn).off('close', this.#goOn)
  }

  #end(): void {
    const ended = this.#ended
    this.#let()
    ended?.()
  }
}

function ignore(): void {}

/** Returns true for a socket, without loading node:net. */
function isSocket(stream: object): boolean {
  return 'connecting' in stream && 'address' in stream
}

/** Returns the bytes that a socket has read. */
function bytesRead(stream: Readable): number {
  return 'bytesRead' in stream ? Number(stream.bytesRead) : 0
}

/** Events whose listeners receive the chunks of a stream. */
const SHOWN: readonly (string | symbol)[] = ['data', 'readable']

/**
 * Frees the memory of a copied chunk that no one else holds. The garbage collector runs only after
 * some 32 MB of them.
 */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) native.releaseChunk(buffer)
}
