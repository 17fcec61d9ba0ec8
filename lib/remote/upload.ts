import { types } from 'node:util'
import { native } from '../engine.js'
import { CHUNK } from '../spill/chunks.js'
import type { SpillMeta } from '../spill/spill_writer.js'
import { io } from '../text/size.js'
import { optionError } from '../validate.js'
import { type Engine, each, refusal } from './engine.js'
import { decode, encode, type Keys, type OutputRecord } from './record.js'

/** The longest duration of a save, in milliseconds. Sweeps keep younger chunks without a record. */
export const LONGEST_SAVE = 24 * 60 * 60 * 1000

/** Share of the longest age up to which chunks are young, so that another save of their output may
 *  use them. They are kept for longer by that. */
const YOUNG = 1 / 2

/** Counts the lines of bytes that arrive in pieces. */
class Lines {
  newlines = 0
  #isOpen = false

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    const size = io.fill(0)
    native.measure(bytes, false, size)
    this.newlines += size[2] as number
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
  /** The record, once it is being stored. */
  #record: { readonly id: string; readonly bytes: Uint8Array; readonly replaces: boolean } | undefined
  #isStored = false
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
    const stored = this.#engine.set(key, bytes, this.#limits.maxAge * (1 + YOUNG) + LONGEST_SAVE)
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
   * Its age begins anew in both cases.
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
    const key = this.#keys.record(id)
    if (before && created - before.started < this.#limits.maxAge * YOUNG && (await this.#areThere(before))) {
      // Later than before, so that its own save knows that another one relies on it.
      const renewed = { ...before, created: Math.max(created, before.created + 1) }
      await this.#engine.set(key, encode(id, renewed), this.#limits.maxAge)
      await this.#removeChunks()
      return { id, stored: renewed }
    }
    // A record whose request failed may still arrive. It is then valid, since all chunks are
    // stored.
    this.#record = { id, bytes: encode(id, stored), replaces: before !== undefined }
    await this.#engine.set(key, this.#record.bytes, this.#limits.maxAge)
    this.#isStored = true
    if (before) await this.#engine.remove(this.#keys.chunks(before)).catch(() => {})
    return { id, stored }
  }

  async #storedBefore(id: string): Promise<OutputRecord | undefined> {
    const bytes = await this.#engine.get(this.#keys.record(id))
    return bytes && decode(id, bytes)
  }

  /** Resolves to true if all chunks of the same output are as they were stored. */
  async #areThere(before: OutputRecord): Promise<boolean> {
    const found = await each(this.#keys.chunks(before), async (key) => {
      const bytes = await this.#engine.get(key)
      return bytes && native.digestOf(bytes)
    })
    return found.every((digest, at) => digest === before.digests[at])
  }

  #removeChunks(): Promise<void> {
    return this.#engine.remove(this.#names)
  }

  /**
   * Removes what was stored. An output whose record is stored stays, since another save may rely on
   * it; so do the chunks of a record that may have replaced another. If it is unknown whether the
   * record is stored, it is read back: another save of the same output may have written it.
   */
  async discard(): Promise<void> {
    await this.#storing
    if (this.#isStored || this.#record?.replaces) return
    if (this.#record && !(await this.#removeRecord(this.#record))) return
    await this.#removeChunks()
  }

  /** Removes our record. Resolves to false if another save relies on our chunks. */
  async #removeRecord({ id, bytes }: { readonly id: string; readonly bytes: Uint8Array }): Promise<boolean> {
    const key = this.#keys.record(id)
    const there = await this.#engine.get(key)
    if (!there) return true
    const isOurs = Buffer.compare(there, bytes) === 0
    if (isOurs) await this.#engine.remove([key])
    return isOurs || decode(id, there)?.save !== this.#name.save
  }
}
