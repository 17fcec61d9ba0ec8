import { finished, type Readable, Writable } from 'node:stream'
import { native } from '../engine.js'
import type { Intake } from './intake.js'

type Chunk = Uint8Array | string

/**
 * What a stream is piped to. Node holds a stream back until each Writable that it is piped to is ready; what a listener
 * has paused, any other consumer lets go on.
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

/** Brings what a child prints to one stream into a capture. */
export class Pipe {
  /** Bytes that came so far, or chars where the stream decodes. */
  came = 0
  readonly #from: Readable
  readonly #to: Intake
  readonly #inlet = new Inlet((chunk) => this.#write(chunk))
  /** Nobody else sees the chunks. Who is seen to listen now may have kept one and be gone when the next comes. */
  #isAlone: boolean
  /** Bytes that waited in the stream at first, and those that had been taken from it: what was put back is somebody's. */
  readonly #waited: number
  readonly #taken: number
  /** The stream is held back until the capture is ready. */
  #isHeld = false
  #ended: (() => void) | undefined
  readonly #forget: () => void

  /** `ended` is called once nothing more is to come: the stream has ended, or broke, or was closed. */
  constructor(from: Readable, to: Intake, ended: () => void) {
    this.#from = from
    this.#to = to
    this.#ended = ended
    // The chunks of another stream may be somebody's own buffers.
    this.#isAlone = isSocket(from) && SHOWN.every((event) => from.listenerCount(event) === 0)
    this.#waited = from.readableLength
    this.#taken = bytesRead(from) - this.#waited
    from.pipe(this.#inlet, { end: false })
    from.on('newListener', this.#heard)
    to.on('drain', this.#goOn).on('close', this.#goOn)
    // A stream that breaks after it was left must not end the process.
    from.on('error', ignore)
    this.#forget = finished(from, { writable: false }, () => this.#end())
  }

  /** Whether the disk is behind. */
  get isSlow(): boolean {
    return this.#to.writable && this.#to.writableLength > 0
  }

  /** Whether others that read the stream hold it back. */
  get isWaiting(): boolean {
    return this.#from.readableLength > 0 && !this.#from.destroyed
  }

  #write(chunk: Chunk): boolean {
    this.came += chunk.length
    // Its owner may have ended it, and not the child.
    if (!this.#to.writable) return true
    const ours = typeof chunk !== 'string' && this.#isOurs(chunk.length) ? chunk : undefined
    this.#isHeld = !this.#to.write(chunk)
    if (ours) release(ours)
    return !this.#isHeld
  }

  /** Tells whether nobody else can have the chunk that has come: it was read for us, and by us. */
  #isOurs(length: number): boolean {
    // More is here than was read, so that somebody has put it into the stream.
    if (this.#isAlone && this.#taken + this.came + this.#from.readableLength > bytesRead(this.#from))
      this.#isAlone = false
    // While it is held, only somebody else can have had the stream go on.
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

  /** Lets go of the stream. Whoever still prints there goes on; that is thrown away, and keeps no process running. */
  leave(): void {
    this.#let()
    this.#from.resume()
    if ('unref' in this.#from && typeof this.#from.unref === 'function') this.#from.unref()
  }

  /** Lets go of the stream, and closes it. */
  close(): void {
    this.#let()
    this.#from.destroy()
  }

  #let(): void {
    this.#ended = undefined
    this.#forget()
    // Others that it is piped to must not wait for this one.
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

/** Tells a socket without loading what makes them. */
function isSocket(stream: object): boolean {
  return 'connecting' in stream && 'address' in stream
}

/** Bytes that a socket has read for its stream. */
function bytesRead(stream: Readable): number {
  return 'bytesRead' in stream ? Number(stream.bytesRead) : 0
}

/** Events whose listeners see the chunks of a stream. */
const SHOWN: readonly (string | symbol)[] = ['data', 'readable']

/**
 * Gives the memory of a chunk back that is ours alone and has been copied. The collector comes only once some 32 MB of
 * them have gathered.
 */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) native.releaseChunk(buffer)
}
