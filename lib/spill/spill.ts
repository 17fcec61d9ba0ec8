import { resolve } from 'node:path'
import type {
  SpillMatch,
  SpillOptions,
  SpillRange,
  SpillRecord,
  SpillSearch,
  SpillSlice,
  SpillStore,
} from 'spillway'
import { native } from '../engine.js'
import { type OptionsOf, optionsOf } from '../read_options.js'
import { alone, checkId, checkMeta, checkPattern, checkRange, checkSearch } from './arguments.js'
import { ByteQueue } from './byte_queue.js'
import { chunksIn } from './chunks.js'
import { type SpillMeta, SpillWriter, unwrap } from './spill_writer.js'

/** Seconds between sweeps that a store makes by itself. */
const SWEEP_EVERY = 3_600

class Store implements SpillStore {
  readonly #options: OptionsOf<'store'>
  #swept = Number.NEGATIVE_INFINITY
  #retain: string[] = []

  constructor(options: SpillOptions) {
    const { dir, ...rest } = optionsOf('store', 'options', options)
    // Resolved because the working directory may change, and because a "/" at the end would follow
    // a link.
    this.#options = { dir: resolve(dir), ...rest }
  }

  get reference(): 'path' | 'id' {
    return this.#options.reference
  }

  async save(
    input: string | Uint8Array | AsyncIterable<Uint8Array>,
    meta: SpillMeta = {},
  ): Promise<SpillRecord> {
    const chunks = chunksIn(input)
    const writer = new SpillWriter(this.#options, checkMeta(meta))
    const feed = input instanceof ByteQueue ? input : undefined
    feed?.follow(this, () => writer.running)
    try {
      await this.#tidy()
      for await (const chunk of chunks) await writer.write(chunk)
      return await writer.finish(feed?.isTold ?? false)
    } catch (error) {
      await writer.discard().catch(() => {})
      throw error
    }
  }

  async read(id: string, range: SpillRange = {}): Promise<SpillSlice> {
    const { dir } = this.#options
    checkId('id', id)
    return unwrap(await native.readSaved(dir, id, ...checkRange(range)), dir)
  }

  async search(id: string, pattern: string, options: SpillSearch = {}): Promise<SpillMatch[]> {
    const { dir } = this.#options
    checkId('id', id)
    checkPattern(pattern)
    const { packed } = checkSearch(options)
    return unwrap(await alone(() => native.searchSaved(dir, id, pattern, packed)), dir, pattern)
  }

  async list(): Promise<SpillRecord[]> {
    const { dir } = this.#options
    return unwrap(await native.listSaved(dir), dir)
  }

  async sweep(
    options: { retain?: readonly string[] | undefined } = {},
  ): Promise<{ removed: number; bytes: number }> {
    this.#retain = optionsOf('sweep', 'options', options).retain
    return this.#sweep()
  }

  async #sweep(): Promise<{ removed: number; bytes: number }> {
    const { dir, maxTotalBytes, maxAge, minAge } = this.#options
    this.#swept = process.uptime()
    return unwrap(await native.sweepSaved(dir, maxTotalBytes, maxAge, minAge, this.#retain), dir)
  }

  /** Sweeps before the first file, and again once an hour. Errors are ignored here; a caller's own
   *  sweep reports them. */
  async #tidy(): Promise<void> {
    if (process.uptime() - this.#swept >= SWEEP_EVERY) await this.#sweep().catch(() => {})
  }
}

export function createSpillStore(options: SpillOptions): SpillStore {
  return new Store(options)
}
