import { finished, type Readable } from 'node:stream'
import { native } from './engine.js'
import type { Intake } from './intake.js'

/** Brings what a child prints to one stream into a capture. */
export class Pipe {
  /** Bytes that came so far, or chars where the stream decodes. */
  came = 0
  readonly #from: Readable
  readonly #to: Intake
  #ended: (() => void) | undefined

  /** `ended` is called once nothing more is to come: the stream has ended, or broke, or was closed. */
  constructor(from: Readable, to: Intake, ended: () => void) {
    this.#from = from
    this.#to = to
    this.#ended = ended
    from.on('data', this.#take)
    finished(from, { writable: false }, () => this.#end())
  }

  /** Whether the disk is behind. */
  get isSlow(): boolean {
    return this.#to.writableLength > 0
  }

  readonly #take = (chunk: Uint8Array | string): void => {
    this.came += chunk.length
    // Its owner may have ended it, and not the child.
    if (!this.#to.writable) return
    const goesOn = this.#to.write(chunk)
    if (typeof chunk !== 'string' && this.#from.listenerCount('data') === 1) release(chunk)
    if (!goesOn) {
      this.#from.pause()
      this.#to.once('drain', this.#resume)
    }
  }

  readonly #resume = (): void => {
    this.#from.resume()
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
    this.#from.off('data', this.#take)
    this.#to.off('drain', this.#resume)
  }

  #end(): void {
    const ended = this.#ended
    this.#let()
    ended?.()
  }
}

/**
 * Gives the memory of a chunk back that is ours alone and has been copied. The collector comes only once some 32 MB of
 * them have gathered.
 */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) native.releaseChunk(buffer)
}
