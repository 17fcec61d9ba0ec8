import { resolve } from 'node:path'
import type {
  SpillMatch,
  SpillOptions,
  SpillRecord,
  SpillSearch,
  SpillSlice,
  SpillStore,
  TextInput,
} from 'spillway'
import { native } from '../engine.js'
import { plain } from '../text/input.js'
import { pieces } from '../text/pieces.js'
import { isObject } from '../untrusted.js'
import { bound, checkNames, checkText, choice, flag, optionError, positive, text } from '../validate.js'
import { Feed } from './feed.js'
import { type SpillMeta, SpillWriter, unwrap } from './spill_writer.js'

const HOUR = 60 * 60 * 1000

/** Bytes of a page by default, and at most. */
const PAGE = 40_960
const LONGEST_PAGE = 64 * 1024 * 1024

/** Matches by default and at most, context lines at most, chars of a pattern at most. */
const MATCHES = 100
const MOST_MATCHES = 1_000
const MOST_CONTEXT = 100
const LONGEST_PATTERN = 4_096

/** How often a store sweeps by itself. */
const SWEEP_EVERY = HOUR

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
  const { dir } = checkNames('store', 'options', options)
  const isString = typeof dir === 'string'
  if (!isString || dir === '' || dir.includes('\0'))
    throw optionError(isString ? RangeError : TypeError, 'dir', 'the path of a directory', dir)
  return {
    // Resolved because the working directory may change, and because a "/" at the end would follow a link.
    dir: resolve(dir),
    reference: choice('reference', options.reference, ['path', 'id'], 'path'),
    maxFileBytes: bound('maxFileBytes', options.maxFileBytes, 64 * 1024 * 1024),
    maxTotalBytes: bound('maxTotalBytes', options.maxTotalBytes, 512 * 1024 * 1024),
    maxAge: bound('maxAge', options.maxAge, 7 * 24 * HOUR),
    minAge: bound('minAge', options.minAge, HOUR),
  }
}

class Store implements SpillStore {
  readonly #options: Checked
  #swept = Number.NEGATIVE_INFINITY
  #retain: string[] = []

  constructor(options: SpillOptions) {
    this.#options = check(options)
  }

  get reference(): Checked['reference'] {
    return this.#options.reference
  }

  async save(input: TextInput | AsyncIterable<Uint8Array>, meta: SpillMeta = {}): Promise<SpillRecord> {
    const parts = partsOf(input)
    const writer = new SpillWriter(this.#options, newId(), checkMeta(meta))
    try {
      await this.#tidy()
      for await (const part of parts) await writer.write(part)
      return await writer.finish()
    } catch (error) {
      await writer.discard().catch(() => {})
      throw error
    }
  }

  async read(
    id: string,
    range: { line?: number; byte?: number; lines?: number; maxBytes?: number } = {},
  ): Promise<SpillSlice> {
    const { dir } = this.#options
    checkId('id', id)
    checkNames('read', 'range', range)
    const line = positive('line', range.line, 1)
    const byte = bound('byte', range.byte, 0)
    const lines = positive('lines', range.lines, Number.POSITIVE_INFINITY)
    const bytes = Math.min(positive('maxBytes', range.maxBytes, PAGE), LONGEST_PAGE)
    const byByte = range.byte !== undefined
    return unwrap(await native.readSaved(dir, id, byByte ? byte : line, byByte, lines, bytes), dir)
  }

  async search(id: string, pattern: string, options: SpillSearch = {}): Promise<SpillMatch[]> {
    const { dir } = this.#options
    checkId('id', id)
    checkPattern(pattern)
    checkNames('search', 'options', options)
    const packed = Float64Array.of(
      Number(flag('regex', options.regex, false)),
      Number(flag('ignoreCase', options.ignoreCase, false)),
      positive('line', options.line, 1),
      Math.min(bound('context', options.context, 0), MOST_CONTEXT),
      Math.min(positive('max', options.max, MATCHES), MOST_MATCHES),
    )
    return unwrap(await alone(() => native.searchSaved(dir, id, pattern, packed)), dir, pattern)
  }

  async list(): Promise<SpillRecord[]> {
    const { dir } = this.#options
    return unwrap(await native.listSaved(dir), dir)
  }

  async sweep(options: { retain?: readonly string[] } = {}): Promise<{ removed: number; bytes: number }> {
    const { retain = [] } = checkNames('sweep', 'options', options)
    if (!Array.isArray(retain)) throw optionError(TypeError, 'retain', 'an array of ids', retain)
    this.#retain = Array.from(retain, (id: unknown, at) => checkId(`retain[${at}]`, id))
    return this.#sweep()
  }

  async #sweep(): Promise<{ removed: number; bytes: number }> {
    const { dir, maxTotalBytes, maxAge, minAge } = this.#options
    this.#swept = performance.now()
    return unwrap(await native.sweepSaved(dir, maxTotalBytes, maxAge, minAge, this.#retain), dir)
  }

  /** Sweeps before the first file, and again once an hour. Errors are ignored here; a caller's own sweep reports
   *  them. */
  async #tidy(): Promise<void> {
    if (performance.now() - this.#swept >= SWEEP_EVERY) await this.#sweep().catch(() => {})
  }
}

export function createSpillStore(options: SpillOptions): SpillStore {
  return new Store(options)
}

function newId(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex')
}

/** An id: no text of a model becomes anything else. */
export const ID = /^[0-9a-f]{16}$/

/** Rejects anything other than an id, before it reaches the file system. */
function checkId(field: string, id: unknown): string {
  if (typeof id === 'string' && ID.test(id)) return id
  const kind = typeof id === 'string' ? RangeError : TypeError
  throw optionError(kind, field, 'the id of a saved output, 16 hexadecimal digits', id)
}

function checkPattern(pattern: string): void {
  const rule = `a string of 1 to ${LONGEST_PATTERN} chars without newlines`
  if (typeof pattern !== 'string') throw optionError(TypeError, 'pattern', rule, pattern)
  if (pattern === '' || pattern.length > LONGEST_PATTERN || pattern.includes('\n'))
    throw optionError(RangeError, 'pattern', rule, pattern)
}

function checkMeta(meta: SpillMeta): SpillMeta {
  const { tool, callId } = checkNames('save', 'meta', meta)
  return {
    ...(tool === undefined ? {} : { tool: text('tool', tool, '') }),
    ...(callId === undefined ? {} : { callId: text('callId', callId, '') }),
  }
}

let searching: Promise<unknown> = Promise.resolve()

/** Runs searches one at a time: slow ones must not occupy all threads that read files. */
function alone<T>(search: () => Promise<T>): Promise<T> {
  const result = searching.then(search)
  searching = result.catch(() => {})
  return result
}

function partsOf(
  input: TextInput | AsyncIterable<Uint8Array>,
): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  if (input instanceof Feed) return input.borrow()
  if (isObject(input) && Symbol.asyncIterator in input) return input
  const given = checkText(input)
  return typeof given === 'string' ? encoded(given) : chunksOf(plain(given, false))
}

function* encoded(text: string): Generator<Uint8Array> {
  for (const piece of pieces(text)) yield Buffer.from(piece)
}

const CHUNK = 256 * 1024

function chunksOf(all: Uint8Array): Iterable<Uint8Array> {
  const size = all.length
  return (function* () {
    for (let start = 0; start < size; start += CHUNK) {
      if (all.length !== size) throw takenAway()
      yield all.subarray(start, start + CHUNK)
    }
  })()
}

/** Makes an error for bytes whose buffer was transferred to another thread during a save. */
function takenAway(): Error {
  const error = new Error(
    'the bytes were transferred while they were being saved; keep them until save() resolves',
  )
  return Object.assign(error, { code: 'ERR_SPILLWAY_SPILL' })
}
