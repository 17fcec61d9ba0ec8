import { channel } from 'node:diagnostics_channel'
import { types } from 'node:util'
import type { ChannelMessages, SpillRecord } from 'spillway'
import { native, type SpillFailure } from '../engine.js'
import { failureOf } from '../system_error.js'
import { optionError } from '../validate.js'

/** The origin of an output. */
export type SpillMeta = { tool?: string; callId?: string }

const events = channel('spillway:spill')

/** A file under construction. Written off this thread, while the next bytes are copied. */
export class SpillWriter {
  readonly #saving: ReturnType<typeof native.startSaving>
  readonly #dir: string
  readonly #meta: SpillMeta
  /** The batch in progress. */
  #batch: Promise<SpillFailure | null> | undefined

  constructor(
    { dir, secret, maxFileBytes }: { dir: string; secret: string | undefined; maxFileBytes: number },
    meta: SpillMeta,
  ) {
    this.#saving = native.startSaving(dir, meta.tool ?? '', meta.callId ?? '', secret, maxFileBytes)
    this.#dir = dir
    this.#meta = meta
  }

  /** Id and path under which the output can be read while it is written, once something was. */
  get running(): Pick<SpillRecord, 'id' | 'path'> | undefined {
    const [id, path] = native.runningSave(this.#saving) ?? []
    return id !== undefined && path !== undefined ? { id, path } : undefined
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (!types.isUint8Array(bytes)) throw optionError(TypeError, 'text', 'chunks of bytes', bytes)
    native.saveBytes(this.#saving, bytes)
    await this.#settle()
    this.#batch = native.flushSaving(this.#saving)
  }

  async #settle(): Promise<void> {
    const failure = await this.#batch
    if (failure) throw this.#fail(failureOf(this.#dir, failure))
  }

  /** `isTold`: a snapshot named the running id, which leads to the output from now on. */
  async finish(isTold: boolean): Promise<SpillRecord> {
    await this.#settle()
    const outcome = await native.finishSaving(this.#saving, isTold)
    if ('message' in outcome) throw this.#fail(failureOf(this.#dir, outcome))
    publish({ ...this.#meta, record: outcome })
    return outcome
  }

  /** Removes the file. */
  async discard(): Promise<void> {
    await this.#batch
    await native.discardSaving(this.#saving)
  }

  #fail(error: Error): Error {
    publish({ ...this.#meta, error })
    return error
  }
}

/** Tells subscribers of an output that was saved or could not be. */
export function publish(event: ChannelMessages['spill']): void {
  if (events.hasSubscribers) events.publish(event)
}

/** Returns an outcome of the engine, or throws its failure. */
export function unwrap<T extends object>(outcome: T | SpillFailure, dir: string, pattern?: string): T {
  if (!('message' in outcome)) return outcome
  const { code, message } = outcome
  throw code === 'ERR_SPILLWAY_OPTION'
    ? optionError(RangeError, 'pattern', message, pattern)
    : failureOf(dir, outcome)
}
