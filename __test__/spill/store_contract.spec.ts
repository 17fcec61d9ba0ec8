import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSpillStore, type SpillStore } from 'spillway'
import { type StoreLimits, testSpillStore } from 'spillway/testing'
import { afterAll, describe, expect, it, test } from 'vitest'
import { until } from '../support/wait.js'

const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let stores = 0
const make = (limits: StoreLimits = {}) =>
  createSpillStore({ dir: join(dir, `${stores++}`), minAge: 0, ...limits })

describe('the store of a directory', () => {
  testSpillStore(make, { test })
})

/** Makes a store in which some calls do what another function makes of them. */
function broken(calls: (store: SpillStore) => Partial<SpillStore>) {
  return (limits: StoreLimits): SpillStore => {
    const store = make(limits)
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
    // Earlier outputs are kept.
  }
}

const isChunks = (text: Parameters<SpillStore['save']>[0]): text is AsyncIterable<Uint8Array> =>
  typeof text === 'object' && Symbol.asyncIterator in text

const EMPTY = { text: '', line: 1, byte: 0, totalLines: 0, totalBytes: 0 }

describe('a store that breaks its contract', { tags: 'long' }, () => {
  const saving = (most: number) =>
    broken((store) => ({ save: (text, meta) => store.save(isChunks(text) ? some(text, most) : text, meta) }))
  const cases: [string, (limits: StoreLimits) => SpillStore, RegExp][] = [
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
    ['loses what is to be retained', broken(() => ({ read: () => Promise.resolve(EMPTY) })), /retained/],
    [
      'claims to hold what is over its quota',
      broken((store) => ({
        save: async (...given) => ({ ...(await store.save(...given)), complete: true }),
      })),
      /over its quota/,
    ],
    [
      'counts what it has kept alone',
      broken((store) => ({
        save: async (...given) => {
          const record = await store.save(...given)
          const { totalBytes: bytes, totalLines: lines } = await store.read(record.id)
          return { ...record, bytes, lines }
        },
      })),
      /over its quota/,
    ],
    [
      'has pages of what it has not kept',
      broken((store) => ({
        read: async (id, range) => {
          const page = await store.read(id, range)
          const { bytes = 0 } = (await store.list()).find((record) => record.id === id) ?? {}
          return { ...page, totalBytes: bytes }
        },
      })),
      /over its quota/,
    ],
    [
      'finds what it has not kept',
      broken((store) => {
        const texts = new Map<string, string>()
        return {
          save: async (text, meta) => {
            const record = await store.save(text, meta)
            texts.set(record.id, typeof text === 'string' ? text : '')
            return record
          },
          search: async (id, pattern, options) => {
            const found = await store.search(id, pattern, options)
            const line = texts.get(id)?.split('\n').length ?? 0
            const isLast = texts.get(id)?.split('\n').at(-1)?.includes(pattern)
            const before = found.every((match) => match.line !== line)
            return isLast && before ? [...found, { line, byte: 0, text: '', before: [], after: [] }] : found
          },
        }
      }),
      /over its quota/,
    ],
    ['sweeps what is to be retained', broken((store) => ({ sweep: () => store.sweep() })), /sweeps by size/],
    ['sweeps all that is old', broken((store) => ({ sweep: () => store.sweep() })), /sweeps by age/],
    [
      'counts what it has not removed',
      broken((store) => ({
        sweep: async (options) => {
          const { removed, bytes } = await store.sweep(options)
          return { removed: removed + 1, bytes }
        },
      })),
      /sweeps by size/,
    ],
    [
      'counts no bytes that it has removed',
      broken((store) => ({ sweep: async (options) => ({ ...(await store.sweep(options)), bytes: 0 }) })),
      /sweeps by age/,
    ],
    [
      'has pages of what it has removed',
      broken((store) => {
        const ids = new Set<string>()
        return {
          save: async (...given) => {
            const record = await store.save(...given)
            ids.add(record.id)
            return record
          },
          read: (id, range) =>
            store.read(id, range).catch((error) => {
              if (ids.has(id)) return EMPTY
              throw error
            }),
        }
      }),
      /sweeps by/,
    ],
    [
      'saves whatever it is given',
      broken((store) => ({ save: (text, meta) => store.save(text, meta).catch(() => store.save('')) })),
      /arguments that are wrong/,
    ],
    [
      'takes any range',
      broken((store) => ({
        read: (id, range) =>
          store.read(id, range).catch((error) => {
            if (error.code === 'ERR_SPILLWAY_OPTION' && range) return store.read(id)
            throw error
          }),
      })),
      /arguments that are wrong/,
    ],
    [
      'takes any pattern',
      broken((store) => ({
        search: (id, pattern, options) =>
          store.search(id, pattern, options).catch((error) => {
            if (/^(?:pattern|max|context|line)/.test(error.message)) return []
            throw error
          }),
      })),
      /arguments that are wrong/,
    ],
    [
      'fails without a code',
      broken((store) => ({
        read: (id, range) =>
          store.read(id, range).catch(({ message }) => {
            throw new Error(message)
          }),
      })),
      /arguments that are wrong/,
    ],
    [
      'loses a save beside one that fails',
      broken((store) => {
        let [failed, running] = [0, 0]
        return {
          save: async (text, meta) => {
            const before = failed
            running += 1
            const record = await store
              .save(text, meta)
              .catch((error) => {
                failed += 1
                throw error
              })
              .finally(() => {
                running -= 1
              })
            if (isChunks(text)) return record
            await until(() => running === 0)
            return failed > before ? store.save('') : record
          },
        }
      }),
      /end in an error/,
    ],
    [
      'keeps an empty output of chunks that fail at once',
      broken((store) => ({
        save: async (text, meta) => {
          if (!isChunks(text)) return store.save(text, meta)
          let count = 0
          async function* counted(chunks: AsyncIterable<Uint8Array>) {
            for await (const chunk of chunks) {
              count += 1
              yield chunk
            }
          }
          return store.save(counted(text), meta).catch(async (error) => {
            if (count === 0) await store.save('')
            throw error
          })
        },
      })),
      /end in an error/,
    ],
    [
      'knows every id',
      broken((store) => ({ read: (id, range) => store.read(id, range).catch(() => EMPTY) })),
      /not the id/,
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
