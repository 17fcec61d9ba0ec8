import { channel } from 'node:diagnostics_channel'
import type { SpillEvent, SpillRecord } from 'spillway'
import { native, type SpillFailure } from '../engine.js'
import { failureOf } from '../system_error.js'
import { optionError } from '../validate.js'

/** The origin of an output. */
export type SpillMeta = { tool?: string; callId?: string }

/** Buffered bytes above which the caller has to wait. */
const WAITING = 1024 * 1024

const events = channel('spillway:spill')

/** A file under construction: bytes in order, then the end. Written off this thread, one batch after another. */
export class SpillWriter {
  readonly #saving: ReturnType<typeof native.startSaving>
  readonly #dir: string
  readonly #meta: SpillMeta
  /** The batch in progress. Never rejects. */
  #batch: Promise<void> | undefined
  /** True if bytes have arrived since the batch was taken. */
  #more = false
  #ended = false
  /** Error that saving failed with, as soon as it is known. */
  failure: Error | undefined
  /** Work to do before the first batch. */
  #before: (() => Promise<void>) | undefined

  constructor(
    store: { dir: string; maxFileBytes: number },
    id: string,
    meta: SpillMeta,
    before: () => Promise<void>,
  ) {
    this.#saving = native.startSaving(store.dir, id, meta.tool ?? '', store.maxFileBytes)
    this.#dir = store.dir
    this.#meta = meta
    this.#before = before
  }

  /** Copies the bytes. Returns a promise if the caller has to wait for the disk; it rejects if saving failed. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.failure) return Promise.reject(this.failure)
    const waiting = native.saveBytes(this.#saving, bytes)
    if (waiting === 0) return undefined
    this.#more = true
    this.#batch ??= this.#flush()
    return waiting < WAITING ? undefined : this.#batch.then(() => this.#check())
  }

  async #flush(): Promise<void> {
    try {
      await this.#begin()
      this.#more = false
      const failure = await native.flushSaving(this.#saving)
      if (failure) throw failureOf(this.#dir, failure)
    } catch (error) {
      this.#fail(error as Error)
    }
    this.#batch = this.#more && !this.#ended && !this.failure ? this.#flush() : undefined
  }

  async #begin(): Promise<void> {
    const before = this.#before
    this.#before = undefined
    await before?.()
  }

  async finish(): Promise<SpillRecord> {
    this.#ended = true
    await this.#batch
    this.#check()
    try {
      await this.#begin()
      const record = unwrap(await native.finishSaving(this.#saving), this.#dir)
      this.#publish({ record })
      return record
    } catch (error) {
      throw this.#fail(error as Error)
    }
  }

  /** Removes the file. */
  async discard(): Promise<void> {
    this.#ended = true
    await this.#batch
    const failure = await native.discardSaving(this.#saving)
    if (failure) throw failureOf(this.#dir, failure)
  }

  #check(): void {
    if (this.failure) throw this.failure
  }

  #fail(error: Error): Error {
    this.failure = error
    this.#publish({ error })
    return error
  }

  #publish(outcome: Pick<SpillEvent, 'record' | 'error'>): void {
    if (events.hasSubscribers) events.publish({ ...this.#meta, ...outcome } satisfies SpillEvent)
  }
}

/** Returns an outcome of the engine, or throws its failure. */
export function unwrap<T extends object>(outcome: T | SpillFailure, dir: string, pattern?: string): T {
  if (!('message' in outcome)) return outcome
  const { code, message } = outcome
  throw code === 'ERR_SPILLWAY_OPTION'
    ? optionError(RangeError, 'pattern', message, pattern)
    : failureOf(dir, outcome)
}
