import { types } from 'node:util'
import { native } from '../engine.js'
import { CHUNK } from '../spill/chunks.js'
import type { SpillMeta } from '../spill/spill_writer.js'
import { optionError } from '../validate.js'
import { type Engine, refusal } from './engine.js'
import { decode, encode, type Keys, type OutputRecord } from './record.js'

/** The longest duration of a save, in milliseconds. Sweeps keep younger chunks without a record. */
export const LONGEST_SAVE = 24 * 60 * 60 * 1000

/** Counts the lines of bytes that arrive in pieces. */
class Lines {
  newlines = 0
  #isOpen = false

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.newlines += native.newlinesIn(bytes)
    this.#isOpen = bytes[bytes.length - 1] !== 10
  }

  get count(): number {
    return this.newlines + Number(this.#isOpen)
  }
}

/** An output under construction. A chunk is stored while the next one is filled; the record is
 *  stored last. */
export class Upload {
  readonly #engine: Engine
  readonly #keys: Keys
  readonly #limits: { maxFileBytes: number; maxAge: number }
  readonly #identity: ReturnType<typeof native.startIdentity>
  readonly #name: { readonly save: string; readonly started: number }
  #chunk = new Uint8Array(0)
  #filled = 0
  /** Bytes and lines of the output, and of its stored part. */
  #bytes = 0
  #size = 0
  readonly #all = new Lines()
  readonly #kept = new Lines()
  readonly #firstLines = [1]
  readonly #digests: string[] = []
  readonly #names: string[] = []
  /** The key of the record, once that is being stored, or 'again' if it replaces another: whose
   *  chunks it names is then unknown after a failure. */
  #recorded: string | undefined
  /** The chunk being stored. Resolves to its failure. */
  #storing: Promise<{ error: unknown } | undefined> | undefined

  constructor(
    engine: Engine,
    keys: Keys,
    identity: ReturnType<typeof native.startIdentity>,
    started: number,
    limits: { maxFileBytes: number; maxAge: number },
  ) {
    this.#engine = engine
    this.#keys = keys
    this.#identity = identity
    this.#name = { save: native.randomName(), started }
    this.#limits = limits
  }

  /** Copies bytes, and stores the chunks that they fill. Bytes beyond the quota are only
   *  counted. */
  async write(bytes: Uint8Array): Promise<void> {
    if (!types.isUint8Array(bytes)) throw optionError(TypeError, 'text', 'chunks of bytes', bytes)
    this.#bytes += bytes.length
    this.#all.add(bytes)
    const room = this.#limits.maxFileBytes - this.#size - this.#filled
    for (let rest = bytes.subarray(0, room); rest.length > 0; ) {
      if (this.#filled === 0) this.#chunk = new Uint8Array(CHUNK)
      const part = rest.subarray(0, CHUNK - this.#filled)
      this.#chunk.set(part, this.#filled)
      this.#filled += part.length
      rest = rest.subarray(part.length)
      if (this.#filled === CHUNK) await this.#store()
    }
  }

  /** Begins to store the filled bytes, once the chunk before them is stored. */
  async #store(): Promise<void> {
    const bytes = this.#filled < CHUNK ? this.#chunk.slice(0, this.#filled) : this.#chunk
    this.#filled = 0
    this.#size += bytes.length
    this.#kept.add(bytes)
    this.#firstLines.push(this.#kept.newlines + 1)
    this.#digests.push(native.digestOf(bytes))
    native.addToIdentity(this.#identity, bytes)
    await this.#settle()
    const key = this.#keys.chunk(this.#name, this.#names.length)
    this.#names.push(key)
    const stored = this.#engine.set(key, bytes, this.#limits.maxAge + LONGEST_SAVE)
    this.#storing = stored.then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
  }

  async #settle(): Promise<void> {
    const failed = await this.#storing
    if (failed) throw failed.error
  }

  /**
   * Stores the rest, and then the record: without its record, an output does not exist. If another
   * save has stored the same output, its chunks stay while they are young, and else are replaced.
   */
  async finish({ tool, callId }: SpillMeta): Promise<{ id: string; stored: OutputRecord }> {
    if (this.#filled > 0) await this.#store()
    await this.#settle()
    const created = Date.now()
    if (created - this.#name.started >= LONGEST_SAVE)
      throw refusal('the output took longer than a day, so that a sweep may have removed its beginning')
    const stored: OutputRecord = {
      bytes: this.#bytes,
      lines: this.#all.count,
      complete: this.#size === this.#bytes,
      ...(tool !== undefined && { tool }),
      ...(callId !== undefined && { callId }),
      created,
      ...this.#name,
      size: this.#size,
      sizeLines: this.#kept.count,
      chunk: CHUNK,
      firstLines: this.#firstLines,
      digests: this.#digests,
    }
    const id = native.identityOf(this.#identity, stored.bytes, stored.lines)
    const before = await this.#storedBefore(id)
    if (before && created - before.created < this.#limits.maxAge / 2) {
      await this.#removeChunks()
      return { id, stored: before }
    }
    // A record whose request failed may still arrive. It is then valid, since all chunks are
    // stored.
    this.#recorded = before ? 'again' : this.#keys.record(id)
    await this.#engine.set(this.#keys.record(id), encode(id, stored), this.#limits.maxAge)
    if (before) await this.#engine.remove(this.#keys.chunks(before)).catch(() => {})
    return { id, stored }
  }

  /** Returns the record of the same output, if all of it is there. */
  async #storedBefore(id: string): Promise<OutputRecord | undefined> {
    const bytes = await this.#engine.get(this.#keys.record(id))
    const before = bytes && decode(id, bytes)
    const last = before && this.#keys.chunks(before).at(-1)
    if (last === undefined) return before
    return (await this.#engine.get(last)) === undefined ? undefined : before
  }

  #removeChunks(): Promise<void> {
    return this.#engine.remove(this.#names)
  }

  /** Removes what was stored. */
  async discard(): Promise<void> {
    await this.#storing
    if (this.#recorded === 'again') return
    if (this.#recorded !== undefined) await this.#engine.remove([this.#recorded])
    await this.#removeChunks()
  }
}
