import type { SpillMatch, SpillRange, SpillRecord, SpillSearch, SpillSlice, SpillStore } from 'spillway'
import type { RemoteSpillOptions } from 'spillway/remote'
import { native } from '../engine.js'
import { optionsOf } from '../read_options.js'
import { alone, checkId, checkMeta, checkPattern, checkRange, checkSearch } from '../spill/arguments.js'
import { chunksIn } from '../spill/chunks.js'
import { publish, type SpillMeta, unwrap } from '../spill/spill_writer.js'
import { get, isObject } from '../untrusted.js'
import { Engine, each, refusal } from './engine.js'
import { decode, Keys, type OutputRecord, type Parts, shown } from './record.js'
import { LONGEST_SAVE, Upload } from './upload.js'

/** Bytes before a position that may belong to the same UTF-8 sequence. */
const SEQUENCE = 4

/** Joins names with ":", which every storage accepts. */

class RemoteStore implements SpillStore {
  readonly reference = 'id'
  readonly #engine: Engine
  readonly #keys: Keys
  #isProven = false
  #secret: Promise<string> | undefined
  readonly #limits: { readonly maxFileBytes: number; readonly maxTotalBytes: number; readonly maxAge: number }

  constructor(options: RemoteSpillOptions) {
    const { storage, prefix, secret, timeout, ...limits } = optionsOf('remote', 'options', options)
    this.#keys = new Keys(prefix)
    this.#secret = secret === undefined ? undefined : Promise.resolve(secret)
    this.#engine = new Engine(storage, timeout)
    this.#limits = limits
  }

  async save(
    input: string | Uint8Array | AsyncIterable<Uint8Array>,
    meta: SpillMeta = {},
  ): Promise<SpillRecord> {
    const chunks = chunksIn(input)
    const origin = checkMeta(meta)
    const { tool, callId } = origin
    const tell = (error: Error): never => {
      publish({ ...origin, error })
      throw error
    }
    const started = Date.now()
    const secret = await this.#key().catch(tell)
    const identity = native.startIdentity(secret, tool ?? '', callId ?? '')
    const upload = new Upload(this.#engine, this.#keys, identity, started, this.#limits)
    try {
      for await (const chunk of chunks) await upload.write(chunk).catch(tell)
      const { id, stored } = await upload.finish(origin).catch(tell)
      if (!this.#isProven) await this.#prove(id).catch(tell)
      const record = shown(this.#keys, id, stored)
      publish({ ...origin, record })
      return record
    } catch (error) {
      // No retry if the storage does not answer: a later sweep removes the rest.
      if (!isTimeout(error)) await upload.discard().catch(() => {})
      throw error
    }
  }

  /** Returns the secret that keys ids: the caller's, or that of all workers. */
  #key(): Promise<string> {
    this.#secret ??= this.#sharedSecret().catch((error: unknown) => {
      this.#secret = undefined
      throw error
    })
    return this.#secret
  }

  /** Reads the shared secret, or makes it. Of workers that make one at once, the last has made it,
   *  so each reads what is there. */
  async #sharedSecret(): Promise<string> {
    const key = this.#keys.secret
    const read = async () => decodedSecret(await this.#engine.get(key))
    const known = await read()
    if (known !== undefined) return known
    const made = Array.from({ length: 4 }, () => native.randomName()).join('')
    await this.#engine.set(key, Buffer.from(made), Number.POSITIVE_INFINITY)
    return (await read()) ?? made
  }

  /** Reads the first write back once: some drivers accept writes to a bucket that does not
   *  exist. */
  async #prove(id: string): Promise<void> {
    if ((await this.#engine.get(this.#keys.record(id))) === undefined)
      throw refusal('the storage does not have what it has just taken; is there such a bucket or database?')
    this.#isProven = true
  }

  async read(id: string, range: SpillRange = {}): Promise<SpillSlice> {
    checkId('id', id)
    const page = checkRange(range)
    const stored = await this.#stored(id)
    const [start, byByte, , bytes] = page
    const first = byByte ? chunkOfByte(stored, start - SEQUENCE) : chunkOfLine(stored, start)
    // The position of a page that starts at a line is known once its first chunk arrives.
    const reach = byByte ? start + bytes + SEQUENCE : first * stored.chunk
    const windows = await this.#chunks(id, stored, first, reach)
    for (;;) {
      const place = [first * stored.chunk, (stored.firstLines[first] ?? 1) - 1, stored.size, stored.sizeLines]
      const answer = await native.pageIn(Buffer.concat(windows), Float64Array.from(place), ...page)
      if (typeof answer !== 'number') return { ...answer, record: shown(this.#keys, id, stored) }
      windows.push(...(await this.#chunks(id, stored, first + windows.length, answer)))
    }
  }

  async search(id: string, pattern: string, options: SpillSearch = {}): Promise<SpillMatch[]> {
    checkId('id', id)
    checkPattern(pattern)
    const { line, context, packed } = checkSearch(options)
    const stored = await this.#stored(id)
    // Lines before this one are neither searched nor shown.
    const first = chunkOfLine(stored, line - context)
    const [at, from] = [first * stored.chunk, stored.firstLines[first] ?? 1]
    const search = unwrap(native.startSearch(pattern, packed, at, from), '', pattern)
    let next = this.#chunk(id, stored, first)
    for (let index = first; index < count(stored); index++) {
      const bytes = await next
      next = this.#chunk(id, stored, index + 1)
      next.catch(() => {})
      const more = await alone(() => native.searchBytes(search, bytes))
      if (typeof more === 'object') unwrap(more, '', pattern)
      if (more === false) break
    }
    return unwrap(await alone(() => native.finishSearch(search)), '', pattern)
  }

  async list(): Promise<SpillRecord[]> {
    const records = await this.#records((await this.#outputs()).ids)
    return records.map(([id, stored]) => shown(this.#keys, id, stored))
  }

  async sweep(
    options: { retain?: readonly string[] | undefined } = {},
  ): Promise<{ removed: number; bytes: number }> {
    const retain = new Set(optionsOf('sweep', 'options', options).retain)
    const { maxTotalBytes, maxAge } = this.#limits
    const { ids, chunks } = await this.#outputs()
    const now = Date.now()
    const abandoned = (maxAge === Number.POSITIVE_INFINITY ? 0 : maxAge) + LONGEST_SAVE
    const swept = { removed: 0, bytes: 0 }
    const records = await this.#records(ids)
    const saves = new Set(records.map(([, { save }]) => save))
    for (const [save, all] of chunks) {
      const due = all.filter(({ started }) => now - started >= abandoned)
      if (!saves.has(save)) await this.#engine.remove(due.map(({ key }) => key))
    }
    let total = records.reduce((sum, [, { size }]) => sum + size, 0)
    for (const [id, stored] of records) {
      const isDue = now - stored.created >= maxAge || total > maxTotalBytes
      if (!isDue || retain.has(id)) continue
      total -= stored.size
      // An output without its record is gone, even if this sweep fails after this step.
      await this.#engine.remove([this.#keys.record(id)])
      await this.#engine.remove(this.#keys.chunks(stored))
      swept.removed += 1
      swept.bytes += stored.size
    }
    return swept
  }

  async #outputs(): Promise<Parts> {
    return this.#keys.parts(await this.#engine.keys(this.#keys.base))
  }

  /** Reads the records of outputs, oldest first. Omits outputs that were removed in the
   *  meantime. */
  async #records(ids: readonly string[]): Promise<[id: string, OutputRecord][]> {
    const found = await each(ids, async (id): Promise<[string, OutputRecord][]> => {
      const bytes = await this.#engine.get(this.#keys.record(id))
      const stored = bytes && decode(id, bytes)
      return stored ? [[id, stored]] : []
    })
    const order = (
      [one, { created }]: [string, OutputRecord],
      [other, { created: later }]: [string, OutputRecord],
    ) => created - later || (one < other ? -1 : 1)
    return found.flat().sort(order)
  }

  async #stored(id: string): Promise<OutputRecord> {
    const bytes = await this.#engine.get(this.#keys.record(id))
    if (bytes === undefined)
      throw refusal(`no output is saved under ${id}: there was none, or it was removed`)
    const stored = decode(id, bytes)
    if (stored === undefined) throw refusal(`the record of the output ${id} is damaged`)
    return stored
  }

  /** Reads the chunks from one up to a position, at least that one. */
  #chunks(id: string, stored: OutputRecord, first: number, reach: number): Promise<Uint8Array[]> {
    const last = chunkOfByte(stored, reach - 1)
    const indexes = Array.from({ length: Math.max(1, last - first + 1) }, (_, at) => first + at)
    return each(indexes, (at) => this.#chunk(id, stored, at))
  }

  /** Reads a chunk, which is empty beyond the end. */
  async #chunk(id: string, stored: OutputRecord, at: number): Promise<Uint8Array> {
    const { size, chunk } = stored
    if (at >= count(stored)) return new Uint8Array(0)
    const bytes = await this.#engine.get(this.#keys.chunk(stored, at))
    if (bytes === undefined)
      throw refusal(`a part of the output ${id} is missing: it was removed, or the storage lost it`)
    if (bytes.length === Math.min(chunk, size - at * chunk) && native.digestOf(bytes) === stored.digests[at])
      return bytes
    throw refusal(`a part of the output ${id} is damaged: the storage returned other bytes than were saved`)
  }
}

/** Reads a shared secret. Returns undefined for anything else under its key. */
function decodedSecret(bytes: Uint8Array | undefined): string | undefined {
  const text = bytes && Buffer.from(bytes).toString()
  return text !== undefined && /^[0-9a-f]{64}$/.test(text) ? text : undefined
}

/** Returns the number of chunks. */
function count({ size, chunk }: OutputRecord): number {
  return Math.ceil(size / chunk)
}

/** Returns the chunk of a byte, or the nearest one. */
function chunkOfByte(stored: OutputRecord, byte: number): number {
  return Math.max(0, Math.min(Math.floor(byte / stored.chunk), count(stored) - 1))
}

/** Returns the last chunk that begins before a line does, or the first one. */
function chunkOfLine(stored: OutputRecord, line: number): number {
  const { firstLines } = stored
  let [low, high] = [0, Math.max(0, count(stored) - 1)]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((firstLines[middle] as number) < line) low = middle
    else high = middle - 1
  }
  return low
}

function isTimeout(error: unknown): boolean {
  return isObject(error) && get(error, 'code') === 'ETIMEDOUT'
}

export function createRemoteSpillStore(options: RemoteSpillOptions): SpillStore {
  return new RemoteStore(options)
}
