import type { SpillRecord, SpillStore } from 'spillway'
import type { EnginePolicy } from '../compiled.js'
import { native } from '../engine.js'
import { ByteQueue, QueueDiscard } from '../spill/byte_queue.js'
import { codeOf, recordOf, type Whole, wholeIn } from '../spill/call_spill.js'
import { get } from '../untrusted.js'

/** Saves output that exceeds its limits. Never throws or rejects; a failure is recorded in
 *  `error`. */
export class Overflow {
  readonly #store: SpillStore
  readonly #meta: { tool?: string; callId?: string }
  readonly #feed = new ByteQueue()
  /** The save in progress. Never rejects. */
  #saving: Promise<SpillRecord | undefined> | undefined
  #failed: { error: unknown } | undefined

  /** Redacts the stream of bytes. */
  readonly #redactor: ReturnType<typeof native.startRedacting> | undefined

  constructor(
    store: SpillStore,
    meta: { tool?: string; callId?: string },
    { redact }: Pick<EnginePolicy, 'redact'>,
  ) {
    this.#store = store
    this.#meta = meta
    this.#redactor = redact && native.startRedacting(redact)
  }

  /** True once saving has begun. */
  get isOpen(): boolean {
    return this.#saving !== undefined
  }

  /** Reason why the output is not saved, with its code. */
  get error(): string | undefined {
    if (!this.#failed) return undefined
    const { error } = this.#failed
    const message = typeof error === 'object' && error !== null ? get(error, 'message') : error
    const [code, text] = [codeOf(error), String(message)]
    return text.includes(code) ? text : `${code}: ${text}`
  }

  /** Returns the outcome of the save, for notices. */
  whole(record?: SpillRecord): Whole | undefined {
    if (this.#failed) return ['failed', codeOf(this.#failed.error)]
    return record && wholeIn(this.#store, record)
  }

  /** Returns where the output can be read while it is saved, and that for notices. */
  running(): { readonly id: string; readonly path: string; readonly whole: Whole } | undefined {
    const running = this.#failed ? undefined : this.#feed.runningIn(this.#store)
    if (!running) return undefined
    this.#feed.isTold = true
    return { ...running, whole: wholeIn(this.#store, { ...running, bytes: 0, lines: 0, complete: true }) }
  }

  /** Appends bytes. Returns a promise if the caller has to wait for the store. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    this.#saving ??= this.#save()
    return this.#feed.push(this.#redactor ? native.redactChunk(this.#redactor, bytes) : bytes)
  }

  async #save(): Promise<SpillRecord | undefined> {
    try {
      return recordOf(await this.#store.save(this.#feed, this.#meta))
    } catch (error) {
      this.#failed = { error }
      return undefined
    } finally {
      this.#feed.close()
    }
  }

  /** Ends the output. */
  async finish(): Promise<SpillRecord | undefined> {
    if (this.#saving && this.#redactor) await this.#feed.push(native.redactChunk(this.#redactor))
    this.#feed.end()
    return this.#saving
  }

  /** Removes what was saved: a part must not pass for the full output. */
  async discard(): Promise<void> {
    this.#feed.end({ error: new QueueDiscard() })
    await this.#saving
  }
}
