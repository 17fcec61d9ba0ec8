import type { SpillRecord, SpillStore } from 'spillway'
import { get } from '../reading.js'
import { openSpill } from '../spill/spill.js'
import type { SpillMeta, SpillWriter } from '../spill/spill_writer.js'
import { codeOf, type Whole, wholeIn } from '../spill/spilling.js'

/** Saves output that is over its limits. Nothing here throws or rejects: why it cannot be saved is remembered. */
export class Overflow {
  readonly #store: SpillStore
  readonly #meta: SpillMeta
  #writer: SpillWriter | undefined
  #failed: { error: unknown } | undefined

  constructor(store: SpillStore, meta: SpillMeta) {
    this.#store = store
    this.#meta = meta
  }

  /** Whether saving has begun. */
  get isOpen(): boolean {
    return this.#writer !== undefined || this.#failed !== undefined
  }

  /** What saving failed with: of what is still being written, before the next write hears of it. */
  get #failure(): { error: unknown } | undefined {
    const error = this.#writer?.failure
    return this.#failed ?? (error && { error })
  }

  /** Why the whole is not saved. */
  get error(): string | undefined {
    const failure = this.#failure
    if (!failure) return undefined
    const { error } = failure
    const message = typeof error === 'object' && error !== null ? get(error, 'message') : error
    const [code, text] = [codeOf(error), String(message)]
    return text.includes(code) ? text : `${code}: ${text}`
  }

  /** What notices can tell of the whole. */
  whole(record?: SpillRecord): Whole | undefined {
    const failure = this.#failure
    if (failure) return ['failed', codeOf(failure.error)]
    return record && wholeIn(this.#store, record)
  }

  /** Adds the bytes that come next. A promise tells to wait, as the disk is slower. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#failed) return undefined
    try {
      this.#writer ??= openSpill(this.#store, this.#meta)
      return this.#writer.write(bytes)?.catch((error: unknown) => this.#fail(error))
    } catch (error) {
      return this.#fail(error)
    }
  }

  /** Ends the file. */
  async finish(): Promise<SpillRecord | undefined> {
    try {
      return await this.#writer?.finish()
    } catch (error) {
      await this.#fail(error)
      return undefined
    }
  }

  /** Removes the file: a part of the whole must not pass for it. */
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
