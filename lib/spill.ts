import { isAbsolute, resolve } from 'node:path'
import type { SpillOptions, SpillRecord, SpillStore, TextInput } from 'spillway'
import { bound, checkText, choice, optionError, text } from './option.js'
import { pieces } from './pieces.js'
import { type SpillWriter, Writer } from './spill_writer.js'
import { plain } from './subject.js'

export type { SpillWriter } from './spill_writer.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Options of a store, checked. */
interface Checked {
  readonly dir: string
  readonly reference: 'path' | 'id'
  readonly maxFileBytes: number
  readonly maxTotalBytes: number
  readonly maxAge: number
  readonly minAge: number
}

function check(options: SpillOptions): Checked {
  if (typeof options !== 'object' || options === null)
    throw optionError(TypeError, 'options', 'an object', options)
  const dir = options.dir
  if (typeof dir !== 'string') throw optionError(TypeError, 'dir', 'the path of a directory', dir)
  if (dir === '' || dir.includes('\0')) throw optionError(RangeError, 'dir', 'the path of a directory', dir)
  return {
    // What it means must not change with the working directory.
    dir: isAbsolute(dir) ? dir : resolve(dir),
    reference: choice('reference', options.reference, ['path', 'id'], 'path'),
    maxFileBytes: bound('maxFileBytes', options.maxFileBytes, 64 * 1024 * 1024),
    maxTotalBytes: bound('maxTotalBytes', options.maxTotalBytes, 512 * 1024 * 1024),
    maxAge: bound('maxAge', options.maxAge, 7 * 24 * HOUR),
    minAge: bound('minAge', options.minAge, HOUR),
  }
}

type Meta = { tool?: string; callId?: string }

class Store implements SpillStore {
  readonly #options: Checked

  constructor(options: SpillOptions) {
    this.#options = check(options)
  }

  static options(store: object): Checked | undefined {
    return #options in store ? store.#options : undefined
  }

  /** Begins to save an output. */
  static open(store: object, meta: Meta): SpillWriter | undefined {
    if (!(#options in store)) return undefined
    const named = { tool: text('tool', meta.tool, ''), callId: text('callId', meta.callId, '') }
    return new Writer(store.#options, newId(), named, Promise.resolve())
  }

  async save(input: TextInput, meta: Meta = {}): Promise<SpillRecord> {
    const parts = typeof checkText(input) === 'string' ? partsOf(input as string) : chunksOf(input as Uint8Array)
    const writer = openSpill(this, meta)
    try {
      for (const part of parts) await writer.write(part)
      return await writer.finish()
    } catch (error) {
      await writer.discard().catch(() => {})
      throw error
    }
  }
}

/** Begins to save an output in a store of createSpillStore. */
export function openSpill(store: SpillStore, meta: Meta = {}): SpillWriter {
  const writer = typeof store === 'object' && store !== null ? Store.open(store, meta) : undefined
  if (!writer) throw optionError(TypeError, 'spill', 'a store that createSpillStore made', store)
  return writer
}

/** What notices call a saved output: its path, or its id. */
export function savedAs(store: SpillStore, record: SpillRecord): string {
  return Store.options(store)?.reference === 'id' ? record.id : record.path
}

export function createSpillStore(options: SpillOptions): SpillStore {
  return new Store(options)
}

function newId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex')
}

function* partsOf(text: string): Generator<Uint8Array> {
  for (const piece of pieces(text)) yield Buffer.from(piece)
}

const CHUNK = 256 * 1024

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  const all = plain(bytes, false)
  const size = all.length
  for (let start = 0; start < size; start += CHUNK) {
    const chunk = all.subarray(start, start + CHUNK)
    // Bytes that are transferred to another thread are gone here.
    if (all.length !== size)
      throw Object.assign(new Error('the bytes were taken away while they were saved'), { code: 'ERR_SPILLWAY_SPILL' })
    yield chunk
  }
}
