import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSpillStore, type SpillStore } from 'spillway'
import { testSpillStore } from 'spillway/testing'
import { afterAll, describe, expect, it, test } from 'vitest'

const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let stores = 0
const make = () => createSpillStore({ dir: join(dir, `${stores++}`) })

describe('the store of a directory', () => {
  testSpillStore(make, { test })
})

/** Makes a store in which some calls do what another function makes of them. */
function broken(calls: (store: SpillStore) => Partial<SpillStore>) {
  return (): SpillStore => {
    const store = make()
    return {
      reference: 'id',
      save: (text, meta) => store.save(text, meta),
      read: (id, range) => store.read(id, range),
      search: (id, pattern, options) => store.search(id, pattern, options),
      list: () => store.list(),
      sweep: (options) => store.sweep(options),
      ...calls(store),
    }
  }
}

/** Yields the first chunks, and no error. */
async function* some(chunks: AsyncIterable<Uint8Array>, most: number) {
  let count = 0
  try {
    for await (const chunk of chunks) if (count++ < most) yield chunk
  } catch {
    // What came before is kept.
  }
}

const isChunks = (text: Parameters<SpillStore['save']>[0]): text is AsyncIterable<Uint8Array> =>
  typeof text === 'object' && Symbol.asyncIterator in text

const EMPTY = { text: '', line: 1, byte: 0, totalLines: 0, totalBytes: 0 }

describe('a store that breaks its contract', () => {
  const saving = (most: number) =>
    broken((store) => ({ save: (text, meta) => store.save(isChunks(text) ? some(text, most) : text, meta) }))
  const cases: [string, () => SpillStore, RegExp][] = [
    ['loses all chunks but the first', saving(1), /alike/],
    ['keeps what came before an error', saving(Number.POSITIVE_INFINITY), /error/],
    [
      'reads from the start',
      broken((store) => ({ read: (id, { line: _, ...range } = {}) => store.read(id, range) })),
      /pages by line/,
    ],
    [
      'reads as much as it likes',
      broken((store) => ({ read: (id, { maxBytes: _, ...range } = {}) => store.read(id, range) })),
      /pages by byte/,
    ],
    [
      'has no last page',
      broken((store) => ({
        read: async (id, range) => ({ ...(await store.read(id, range)), nextByte: 2 ** 40 }),
      })),
      /beyond the end/,
    ],
    [
      'takes every pattern for an expression',
      broken((store) => ({
        search: (id, pattern, options) => store.search(id, pattern, { ...options, regex: true }),
      })),
      /reads a pattern/,
    ],
    [
      'searches from the start',
      broken((store) => ({
        search: (id, pattern, { line: _, ...options } = {}) => store.search(id, pattern, options),
      })),
      /finds lines/,
    ],
    [
      'lists the newest first',
      broken((store) => ({ list: async () => (await store.list()).reverse() })),
      /oldest first/,
    ],
    ['sweeps what is to be retained', broken(() => ({ read: () => Promise.resolve(EMPTY) })), /retained/],
    [
      'knows every id',
      broken((store) => ({ read: (id, range) => store.read(id, range).catch(() => EMPTY) })),
      /no id/,
    ],
  ]

  it.each(cases)('fails if it %s', async (_, store, told) => {
    const failed: string[] = []
    const all: [string, () => Promise<void>][] = []
    testSpillStore(store, { test: (name, run) => all.push([name, run]) })
    for (const [name, run] of all) await run().catch(() => failed.push(name))
    expect(failed.join('; ')).toMatch(told)
    expect(failed.length).toBeLessThan(all.length)
  })
})
