import type { SpillRecord, SpillStore } from 'spillway'
import type { createMemoryStore as Declared, SavedOutput } from 'spillway/testing'
import { createRemoteSpillStore } from '../remote/remote_store.js'

/** The key of all ids: an output of a call has one id in every test and on every machine. */
const SECRET = 'spillway/testing: no secret'

/** A store over a Map. What it keeps of an output is read back once it is saved. */
class MemoryStore implements SpillStore {
  readonly reference = 'id'
  readonly #saved = new Map<string, SavedOutput>()
  readonly #store: SpillStore

  constructor(limits: NonNullable<Parameters<typeof Declared>[0]>) {
    const items = new Map<string, unknown>()
    const storage = {
      getItemRaw: async (key: string) => items.get(key),
      setItemRaw: async (key: string, value: unknown) => void items.set(key, value),
      removeItem: async (key: string) => void items.delete(key),
      getKeys: async (base = '') => [...items.keys()].filter((key) => key.startsWith(base)),
    }
    this.#store = createRemoteSpillStore({ ...limits, storage, secret: SECRET })
  }

  get saved(): readonly SavedOutput[] {
    return [...this.#saved.values()]
  }

  async save(
    input: string | Uint8Array | AsyncIterable<Uint8Array>,
    meta: { tool?: string; callId?: string } = {},
  ): Promise<SpillRecord> {
    const record = await this.#store.save(input, meta)
    this.#saved.set(record.id, { ...meta, record, text: await this.#textOf(record.id) })
    return record
  }

  async #textOf(id: string): Promise<string> {
    const pages: string[] = []
    for (let byte: number | undefined = 0; byte !== undefined; ) {
      const page = await this.#store.read(id, { byte, maxBytes: Number.POSITIVE_INFINITY })
      pages.push(page.text)
      byte = page.nextByte
    }
    return pages.join('')
  }

  read: SpillStore['read'] = (id, range) => this.#store.read(id, range)
  search: SpillStore['search'] = (id, pattern, options) => this.#store.search(id, pattern, options)
  list: SpillStore['list'] = () => this.#store.list()

  async sweep(options?: Parameters<SpillStore['sweep']>[0]): Promise<{ removed: number; bytes: number }> {
    const swept = await this.#store.sweep(options)
    const left = new Set((await this.#store.list()).map(({ id }) => id))
    for (const id of this.#saved.keys()) if (!left.has(id)) this.#saved.delete(id)
    return swept
  }
}

export const createMemoryStore: typeof Declared = (limits = {}) => new MemoryStore(limits)
