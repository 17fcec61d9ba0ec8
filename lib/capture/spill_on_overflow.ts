import type { SpillRecord, SpillStore } from 'spillway'
import type { Compiled } from '../compiled.js'
import { native } from '../engine.js'
import { codeOf, type Whole, wholeIn } from '../spill/call_spill.js'
import { openSpill } from '../spill/spill.js'
import type { SpillMeta, SpillWriter } from '../spill/spill_writer.js'
import { get } from '../untrusted.js'

/** Saves output that exceeds its limits. Never throws or rejects; a failure is recorded in `error`. */
export class Overflow {
  readonly #store: SpillStore
  readonly #meta: SpillMeta
  #writer: SpillWriter | undefined
  #failed: { error: unknown } | undefined

  /** Redacts the stream of bytes. */
  readonly #redactor: ReturnType<typeof native.startRedacting> | undefined

  constructor(store: SpillStore, meta: SpillMeta, { redact }: Pick<Compiled, 'redact'>) {
    this.#store = store
    this.#meta = meta
    this.#redactor = redact && native.startRedacting(redact)
  }

  /** True once saving has begun. */
  get isOpen(): boolean {
    return this.#writer !== undefined || this.#failed !== undefined
  }

  /** The failure of the save, also one that no write has reported yet. */
  get #failure(): { error: unknown } | undefined {
    const error = this.#writer?.failure
    return this.#failed ?? (error && { error })
  }

  /** Reason why the output is not saved, with its code. */
  get error(): string | undefined {
    const failure = this.#failure
    if (!failure) return undefined
    const { error } = failure
    const message = typeof error === 'object' && error !== null ? get(error, 'message') : error
    const [code, text] = [codeOf(error), String(message)]
    return text.includes(code) ? text : `${code}: ${text}`
  }

  /** Returns the outcome of the save, for notices. */
  whole(record?: SpillRecord): Whole | undefined {
    const failure = this.#failure
    if (failure) return ['failed', codeOf(failure.error)]
    return record && wholeIn(this.#store, record)
  }

  /** Appends bytes. Returns a promise if the caller has to wait for the disk. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#failed) return undefined
    try {
      this.#writer ??= openSpill(this.#store, this.#meta)
      const part = this.#redactor ? native.redactChunk(this.#redactor, bytes) : bytes
      return this.#writer.write(part)?.catch((error: unknown) => this.#fail(error))
    } catch (error) {
      return this.#fail(error)
    }
  }

  /** Ends the file. */
  async finish(): Promise<SpillRecord | undefined> {
    try {
      if (this.#redactor) await this.#writer?.write(native.finishRedacting(this.#redactor))
      return await this.#writer?.finish()
    } catch (error) {
      await this.#fail(error)
      return undefined
    }
  }

  /** Removes the file: a part must not pass for the full output. */
  async discard(): Promise<void> {
    const writer = this.#writer
    this.#writer = undefined
    await writer?.discard().catch(() => {})
  }

  async #fail(error: unknown): Promise<void> {
    this.#failed ??= { error }
    await this.discard()
  }
}
