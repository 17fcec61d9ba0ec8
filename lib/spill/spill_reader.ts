import type {
  spillReader as Declared,
  SpillMatch,
  SpillRange,
  SpillSearch,
  SpillSlice,
  SpillStore,
} from 'spillway'
import { native } from '../engine.js'
import { isObject } from '../untrusted.js'
import { optionError } from '../validate.js'
import { alone, checkId, checkPattern, checkRange, checkSearch } from './arguments.js'
import { unwrap } from './spill_writer.js'

/*
 * A saved object is one line of JSON. Stores keep and give exactly that; a reader shows it as the
 * lines of its outline, which the engine makes from ranges of bytes that any store gives.
 */

/** Bytes that tell of most texts that they are not JSON. */
const FIRST = 64 * 1024
/** Bytes that are read at once of all of an output, and for a page. */
const PIECE = 1024 * 1024
const PAGE_PIECE = 256 * 1024
/** Outputs whose surveys are kept. */
const OUTPUTS = 32

type Outline = ReturnType<typeof native.startSurvey>

/** An output that was surveyed. A text has no outline. */
interface Surveyed {
  readonly totalBytes: number
  readonly outline: Outline | undefined
}

/** Bytes that are not UTF-8, or not those of the survey. */
class OtherBytes extends Error {}

export type SpillReader = ReturnType<typeof Declared>

class Reader implements SpillReader {
  readonly #store: SpillStore
  readonly #surveys = new Map<string, Surveyed>()

  constructor(store: SpillStore) {
    this.#store = store
  }

  async read(id: string, range: SpillRange = {}): Promise<SpillSlice & { exact: boolean }> {
    checkId('id', id)
    const page = checkRange(range)
    const { exact, ...rest } = range
    const asSaved = async () => ({ ...(await this.#store.read(id, rest)), exact: true })
    if (exact) return asSaved()
    return this.#withSurvey(id, asSaved, async (outline, totalBytes) => {
      const from = new Float64Array(1)
      const reading = native.startOutlinePage(outline, ...page, from)
      for await (const { bytes, isLast, record } of this.#bytes(
        id,
        from[0] as number,
        PAGE_PIECE,
        totalBytes,
      )) {
        const answer = await native.outlinePageBytes(reading, bytes, isLast)
        if (answer === null) continue
        return { ...unwrap(answer, ''), ...(record && { record }), exact: false }
      }
      throw new OtherBytes()
    })
  }

  async search(id: string, pattern: string, options: SpillSearch = {}): Promise<SpillMatch[]> {
    checkId('id', id)
    checkPattern(pattern)
    const { packed } = checkSearch(options)
    const { exact, ...rest } = options
    const asSaved = () => this.#store.search(id, pattern, rest)
    if (exact) return asSaved()
    return this.#withSurvey(id, asSaved, async (outline, totalBytes) => {
      const from = new Float64Array(1)
      const search = unwrap(native.startOutlineSearch(outline, pattern, packed, from), '', pattern)
      for await (const { bytes } of this.#bytes(id, from[0] as number, PIECE, totalBytes)) {
        const more = await alone(() => native.searchBytes(search, bytes))
        if (typeof more === 'object') unwrap(more, '')
        if (more === false) break
      }
      return unwrap(await alone(() => native.finishSearch(search)), '', pattern)
    })
  }

  /** Reads an output as its survey says, or anew if it has grown since. */
  async #withSurvey<T>(
    id: string,
    asSaved: () => Promise<T>,
    outlined: (outline: Outline, totalBytes: number) => Promise<T>,
  ): Promise<T> {
    for (let isNew = false; ; isNew = true) {
      const known = isNew ? undefined : this.#surveys.get(id)
      const found = known ?? (await this.#survey(id))
      this.#keep(id, found)
      try {
        if (found.outline) return await outlined(found.outline, found.totalBytes)
        if (known && (await this.#size(id)) !== known.totalBytes) continue
        return await asSaved()
      } catch (error) {
        if (!(error instanceof OtherBytes)) throw error
        // An output that is still written grows with each look.
        if (isNew) return asSaved()
      }
    }
  }

  #keep(id: string, found: Surveyed): void {
    this.#surveys.delete(id)
    this.#surveys.set(id, found)
    for (const oldest of this.#surveys.keys()) if (this.#surveys.size > OUTPUTS) this.#surveys.delete(oldest)
  }

  async #size(id: string): Promise<number> {
    return (await this.#store.read(id, { byte: 0, maxBytes: 1 })).totalBytes
  }

  /** Tells whether an output is JSON, whose lines are those of an outline. */
  async #survey(id: string): Promise<Surveyed> {
    const survey = native.startSurvey()
    let first: SpillSlice | undefined
    const text = () => ({ totalBytes: first?.totalBytes ?? 0, outline: undefined })
    try {
      for await (const piece of this.#bytes(id, 0, PIECE)) {
        first ??= piece.slice
        if (!(await native.surveyBytes(survey, piece.bytes))) return text()
      }
    } catch (error) {
      if (error instanceof OtherBytes) return text()
      throw error
    }
    const form = native.finishSurvey(survey)
    const isOutline = form === 1 || (form === 2 && !(await this.#isComplete(id, first)))
    return isOutline ? { ...text(), outline: survey } : text()
  }

  async #isComplete(id: string, slice: SpillSlice | undefined): Promise<boolean> {
    const record = slice?.record ?? (await this.#store.list()).find((record) => record.id === id)
    return record?.complete !== false
  }

  /** Reads the bytes of an output in order. Throws OtherBytes if they are not UTF-8, or if the
   *  output has not `size` bytes. */
  async *#bytes(id: string, from: number, piece: number, size?: number) {
    for (let at = from, isLast = false; !isLast; ) {
      const maxBytes = at === 0 ? FIRST : piece - (at % piece)
      const slice = await this.#store.read(id, { byte: at, maxBytes })
      const { text, nextByte, totalBytes } = slice
      const bytes = Buffer.from(text)
      const end = nextByte ?? totalBytes
      isLast = end >= totalBytes
      const isExact = slice.byte === at && bytes.length === end - at && (isLast || end > at)
      if (!isExact || totalBytes !== (size ?? totalBytes)) throw new OtherBytes()
      size = totalBytes
      yield { bytes, isLast, slice, record: slice.record }
      at = end
    }
  }
}

export function spillReader(store: SpillStore): SpillReader {
  if (!isObject(store) || typeof store.read !== 'function' || typeof store.search !== 'function')
    throw optionError(TypeError, 'store', 'a store of saved outputs', store)
  return new Reader(store)
}
