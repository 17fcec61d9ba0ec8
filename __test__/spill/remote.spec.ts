import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { createSpillStore, OutputCapture, type SpillStore, spillTool, wrapTool } from 'spillway'
import { createRemoteSpillStore, type RemoteStorage } from 'spillway/remote'
import { testSpillStore } from 'spillway/testing'
import { afterAll, describe, expect, it, test, vi } from 'vitest'
import { createStorage, fsDriver } from '../support/unstorage.mjs'
import { until } from '../support/wait.js'

const CHUNK = 256 * 1024
const DAY = 24 * 60 * 60 * 1000
const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const remote = (storage: RemoteStorage = createStorage(), options = {}) =>
  createRemoteSpillStore({ storage, secret: 'a secret of the tests', ...options })

/** Makes a storage in which some calls do what another function makes of them, and that tells all
 *  calls. */
function watched(calls: (storage: RemoteStorage) => Partial<RemoteStorage> = () => ({})) {
  const storage = createStorage()
  const told: string[] = []
  const all: RemoteStorage = {
    getItemRaw: (key) => storage.getItemRaw(key),
    setItemRaw: (key, value, options) => storage.setItemRaw(key, value, options),
    removeItem: (key) => storage.removeItem(key),
    getKeys: (base) => storage.getKeys(base),
    ...calls(storage),
  }
  const tell =
    <A extends unknown[], R>(name: string, call: (...args: A) => R) =>
    (...args: A) => {
      told.push([name, args[0]].join(' '))
      return call(...args)
    }
  const watching: RemoteStorage = {
    getItemRaw: tell('get', all.getItemRaw),
    setItemRaw: tell('set', all.setItemRaw),
    removeItem: tell('remove', all.removeItem),
    getKeys: tell('keys', all.getKeys),
  }
  return { storage: watching, told, inner: storage }
}

const said500 = () => new Error('[unstorage] [s3] [GET] http://s3/outputs: 500 Internal Server Error <?xml')

describe('an engine that fails for a moment', () => {
  it.each([
    ['that says 500', said500],
    ['with a status', () => Object.assign(new Error('no'), { statusCode: 503 })],
    ['whose connection is closed', () => new Error('failed', { cause: { code: 'ECONNRESET' } })],
  ])('%s is asked again', { tags: 'long' }, async (_, failure) => {
    const calls = new Map<string, number>()
    /** Fails twice for each operation on each key. */
    const twice = (name: string) => {
      const count = (calls.get(name) ?? 0) + 1
      calls.set(name, count)
      if (count % 3 !== 0) throw failure()
    }
    const { storage } = watched((inner) => ({
      getItemRaw: async (key) => {
        twice(`get ${key}`)
        return inner.getItemRaw(key)
      },
      setItemRaw: async (key, value, options) => {
        twice(`set ${key}`)
        return inner.setItemRaw(key, value, options)
      },
      getKeys: async (base) => {
        twice('keys')
        return inner.getKeys(base)
      },
    }))
    const store = createRemoteSpillStore({ storage })
    const { id } = await store.save('one\ntwo')
    expect((await store.read(id)).text).toBe('one\ntwo')
    expect(await store.list()).toHaveLength(1)
  })

  it('is given up if it goes on, at once if it refuses', async () => {
    for (const [failure, most] of [
      [said500(), 4],
      [Object.assign(new Error('denied'), { statusCode: 403 }), 1],
      [new Error('port 5000 is closed'), 1],
    ] as const) {
      let asked = 0
      const { storage } = watched(() => ({
        getItemRaw: async () => {
          asked += 1
          throw failure
        },
      }))
      await expect(remote(storage).read('0123456789abcdef')).rejects.toThrow(failure.message)
      expect(asked).toBe(most)
    }
  })
})

describe('a store over the memory of unstorage', () => {
  testSpillStore((limits) => remote(createStorage(), limits), { test })
})

describe('a store over the directories of unstorage', () => {
  let stores = 0
  const storage = () => createStorage({ driver: fsDriver({ base: join(dir, `${stores++}`) }) })
  testSpillStore((limits) => remote(storage(), limits), { test })
})

/** Lines around the ends of chunks: a newline last, one first, sequences across, chunks without a
 *  newline. */
const OUTPUT = fc
  .array(
    fc.oneof(
      fc.nat({ max: 700 }).map((size) => `${'x漢😀'.repeat(size)}\n`),
      fc.constantFrom('\n', 'needle\n', '\r\n', 'é'),
      fc.integer({ min: -3, max: 3 }).map((off) => `${'y'.repeat(CHUNK + off)}\n`),
      fc.integer({ min: 1, max: 9 }).map((lines) => 'a line of a log\n'.repeat(lines * 3_000)),
    ),
    { maxLength: 9 },
  )
  .map((parts) => parts.join(''))

describe('pages and searches of many chunks', () => {
  const files = createSpillStore({ dir: join(dir, 'files') })

  it('are those of a file', async () => {
    await fc.assert(
      fc.asyncProperty(
        OUTPUT,
        fc.nat({ max: 2 ** 21 }),
        fc.nat({ max: 40_000 }),
        fc.constantFrom(1, 7, 5_000, 600_000),
        fc.constantFrom(1, 3, 100_000),
        async (text, byte, line, maxBytes, lines) => {
          const stores = [files, remote()] as const
          const [[file, fileId], [ours, ourId]] = (await Promise.all(
            stores.map(async (store) => [store, (await store.save(text)).id] as const),
          )) as [readonly [SpillStore, string], readonly [SpillStore, string]]
          for (const range of [
            { byte, maxBytes },
            { line: line + 1, maxBytes, lines },
            { line: 1, lines },
          ])
            expect(await ours.read(ourId, range)).toEqual({
              ...(await file.read(fileId, range)),
              record: expect.objectContaining({ id: ourId, complete: true }),
            })
          const options = { context: lines % 10, max: 1 + (maxBytes % 50), line: line + 1 }
          for (const pattern of ['needle', 'a line', 'y漢|漢x', 'x{3}\\n?$'])
            for (const from of [options, { ...options, line: 1, regex: true }])
              expect(await ours.search(ourId, pattern, from)).toEqual(
                await file.search(fileId, pattern, from),
              )
        },
      ),
      { numRuns: 60 },
    )
  })

  it('ask for no more chunks than they need', async () => {
    const { storage, told } = watched()
    const store = remote(storage)
    const { id } = await store.save('0123456789abcde\n'.repeat((8 * CHUNK) / 16))
    const asked = async (call: () => Promise<unknown>) => {
      told.length = 0
      await call()
      return told.map((call) => call.replace(/^get spillway:[0-9a-f]{16}:(\w+).*/, '$1'))
    }
    expect(await asked(() => store.read(id, { byte: 3 * CHUNK + 9, maxBytes: 900 }))).toEqual(['record', '3'])
    expect(await asked(() => store.read(id, { byte: 3 * CHUNK - 9, maxBytes: 900 }))).toEqual([
      'record',
      '2',
      '3',
    ])
    const lines = CHUNK / 16
    expect(await asked(() => store.read(id, { line: 5 * lines + 2 }))).toEqual(['record', '5'])
    expect(await asked(() => store.read(id, { line: 5 * lines - 2, lines: 9 }))).toEqual(['record', '4', '5'])
    const search = () => store.search(id, 'abc', { line: 6 * lines + 9, max: 2 })
    expect((await asked(search)).slice(0, 2)).toEqual(['record', '6'])
    expect(await asked(() => store.search(id, 'zzz'))).toEqual(['record', ...'01234567'])
  })

  it('end at the quota, which the record tells', async () => {
    const { storage, told } = watched()
    const store = remote(storage, { maxFileBytes: CHUNK + 5 })
    const text = 'ab\n'.repeat(CHUNK)
    const record = await store.save(text)
    expect(record).toMatchObject({ bytes: 3 * CHUNK, lines: CHUNK, complete: false })
    const { totalBytes, totalLines } = await store.read(record.id)
    expect([totalBytes, totalLines]).toEqual([CHUNK + 5, Math.ceil((CHUNK + 5) / 3)])
    expect((await store.read(record.id, { byte: CHUNK - 2 })).text).toBe(text.slice(CHUNK - 2, CHUNK + 5))
    told.length = 0
    const answer = await spillTool(store).execute({ id: record.id, line: 87_380 })
    expect(told.filter((call) => call.startsWith('keys'))).toEqual([])
    expect(answer).toContain(`[end of the saved part: ${CHUNK + 5} of ${3 * CHUNK} bytes]`)
  })
})

describe('a save', () => {
  it('writes the record last, with a time to live', async () => {
    const times: (number | undefined)[] = []
    const { storage, told } = watched((inner) => ({
      setItemRaw: async (key, value, options) => {
        times.push(options?.ttl)
        await inner.setItemRaw(key, value, options)
      },
    }))
    const { path } = await remote(storage, { maxAge: 90_500 }).save('x'.repeat(CHUNK + 1))
    expect(told).toEqual([
      expect.stringMatching(/^set spillway:[0-9a-f]{16}:0-\d+$/),
      expect.stringMatching(/^set spillway:[0-9a-f]{16}:1-\d+$/),
      // Another save may have stored the same output.
      `get ${path}`,
      `set ${path}`,
      `get ${path}`,
    ])
    expect(times).toEqual([86_536, 86_536, 91])
    times.length = 0
    await remote(storage, { maxAge: Number.POSITIVE_INFINITY }).save('x')
    expect(times).toEqual([undefined, undefined])
  })

  it('leaves nothing if any one operation fails, and rejects with the code', async () => {
    for (const failing of [0, 1, 2]) {
      let writes = 0
      const { storage, inner } = watched((inner) => ({
        setItemRaw: async (key, value) => {
          if (writes++ === failing) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
          await inner.setItemRaw(key, value)
        },
      }))
      const store = remote(storage)
      await expect(store.save('x'.repeat(CHUNK + 1))).rejects.toMatchObject({ code: 'ECONNREFUSED' })
      expect(await inner.getKeys()).toEqual([])
      expect(await store.list()).toEqual([])
    }
  })

  it('takes nothing from another save of the same output, wherever it fails', async () => {
    const text = 'x'.repeat(CHUNK + 1)
    for (const where of ['before the record', 'behind the record', 'at its proof']) {
      const { storage: shared } = watched()
      const other = remote(shared)
      let records = 0
      const fail = async () => {
        await other.save(text)
        throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
      }
      const failing: RemoteStorage = {
        ...shared,
        getItemRaw: async (key) => {
          if (key.endsWith(':record') && ++records === 2 && where === 'at its proof') await fail()
          return shared.getItemRaw(key)
        },
        setItemRaw: async (key, value, options) => {
          const isRecord = key.endsWith(':record')
          if (isRecord && where === 'before the record') await fail()
          await shared.setItemRaw(key, value, options)
          if (isRecord && where === 'behind the record') await fail()
        },
      }
      await expect(remote(failing).save(text)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
      const [{ id } = { id: '' }] = await other.list()
      expect((await other.read(id, { maxBytes: 2 * CHUNK })).text, where).toBe(text)
      expect(await shared.getKeys(), where).toHaveLength(3)
    }
  })

  it('replaces the same output if any of it is lost or changed', async () => {
    const text = 'a line\n'.repeat((5 * CHUNK) / 7)
    for (const value of [undefined, Buffer.alloc(CHUNK), new Uint8Array(0)])
      for (let at = 0; at < 5; at++) {
        const { storage, inner } = watched()
        const store = remote(storage)
        const { id } = await store.save(text)
        const [chunk = ''] = (await inner.getKeys()).filter((key) => key.includes(`:${at}-`))
        if (value) await inner.setItemRaw(chunk, value)
        else await inner.removeItem(chunk)
        expect(await store.save(text)).toMatchObject({ id, complete: true })
        expect((await store.read(id, { maxBytes: 9 * CHUNK })).text).toBe(text)
        expect(await inner.getKeys()).toHaveLength(6)
      }
  })

  it('begins the age of an output anew', async () => {
    vi.useFakeTimers({ now: 1e12, toFake: ['Date'] })
    try {
      const times = new Map<string, number>()
      const { storage } = watched((inner) => ({
        setItemRaw: async (key, value, options) => {
          times.set(key, Date.now() + (options?.ttl ?? 0) * 1_000)
          await inner.setItemRaw(key, value, options)
        },
      }))
      const store = remote(storage, { maxAge: 10 * DAY })
      for (let day = 0; day < 40; day += 2) {
        vi.setSystemTime(1e12 + day * DAY)
        const { id, path } = await store.save('one')
        expect(await store.sweep()).toEqual({ removed: 0, bytes: 0 })
        expect((await store.read(id)).text).toBe('one')
        // No engine removes it before, nor a chunk before its record.
        const keys = await storage.getKeys()
        expect(times.get(path)).toBeGreaterThanOrEqual(Date.now() + 10 * DAY)
        for (const key of keys) expect(times.get(key)).toBeGreaterThanOrEqual(times.get(path) as number)
      }
    } finally {
      vi.useRealTimers()
    }
  })

  it('fails if the storage keeps nothing, as drivers do that find no bucket', async () => {
    const { storage, told } = watched(() => ({ setItemRaw: async () => {} }))
    const store = remote(storage)
    const missing = { code: 'ERR_SPILLWAY_SPILL', message: expect.stringContaining('is there such a bucket') }
    await expect(store.save('a')).rejects.toMatchObject(missing)
    await expect(store.save('a')).rejects.toMatchObject(missing)
    const kept = watched()
    const proven = remote(kept.storage)
    await proven.save('a')
    await proven.save('b')
    expect(kept.told.filter((call) => call.startsWith('get'))).toHaveLength(3)
    expect(told.filter((call) => call.startsWith('get'))).toHaveLength(4)
  })

  it('does an operation again whose connection was closed', { tags: 'long' }, async () => {
    for (const [code, tries] of Object.entries({
      UND_ERR_SOCKET: 4,
      ECONNRESET: 4,
      EPIPE: 4,
      ECONNREFUSED: 1,
    })) {
      const failed = new TypeError('fetch failed', { cause: { code } })
      let asked = 0
      const closing = watched(() => ({
        setItemRaw: async () => {
          asked += 1
          throw failed
        },
      }))
      await expect(remote(closing.storage).save('a')).rejects.toMatchObject({ code })
      expect(asked).toBe(tries)
      const once = new Set<string>()
      const again = async <T>(name: string, call: () => Promise<T>) => {
        if (once.has(name)) return call()
        once.add(name)
        throw failed
      }
      const { storage } = watched((inner) => ({
        getItemRaw: (key) => again(`get ${key}`, () => inner.getItemRaw(key)),
        setItemRaw: (key, value) => again(`set ${key}`, () => inner.setItemRaw(key, value)),
        removeItem: (key) => again(`remove ${key}`, () => inner.removeItem(key)),
        getKeys: (base) => again('keys', () => inner.getKeys(base)),
      }))
      if (tries === 1) continue
      const store = remote(storage, { maxTotalBytes: 0 })
      const { id } = await store.save('a text')
      expect((await store.read(id)).text).toBe('a text')
      expect(await store.sweep()).toEqual({ removed: 1, bytes: 6 })
    }
  })

  it('fails fast if the storage hangs, at any operation', async () => {
    for (const hanging of [0, 1, 2]) {
      let writes = 0
      const { storage, told } = watched((inner) => ({
        setItemRaw: (key, value) =>
          writes++ === hanging ? new Promise<never>(() => {}) : inner.setItemRaw(key, value),
      }))
      const saving = remote(storage, { timeout: 20 }).save('x'.repeat(9 * CHUNK))
      await expect(saving).rejects.toMatchObject({ code: 'ETIMEDOUT' })
      // Nothing was asked of it after the operation that hung.
      expect(told.filter((call) => call.startsWith('set')).length).toBe(hanging + 1)
    }
  })

  it('holds up no tool and no capture if the storage hangs', async () => {
    const hang = () => new Promise<never>(() => {})
    const storage = { getItemRaw: hang, setItemRaw: hang, removeItem: hang, getKeys: hang }
    const store = remote(storage, { timeout: 20 })
    const tool = wrapTool({ name: 't', execute: async () => 'x\n'.repeat(90_000) }, { spill: store })
    const text = await tool.execute()
    expect(text).toContain('could not be saved (ETIMEDOUT)')
    expect(text.length).toBeLessThanOrEqual(51_200)
    const capture = new OutputCapture({ spill: store, maxBytes: 400, clean: false })
    for (let chunk = 0; chunk < 30; chunk++)
      await new Promise<void>((done) => capture.stdout.write(Buffer.alloc(100_000, 'x\n'), () => done()))
    expect((await capture.finish()).text).toContain('could not be saved (ETIMEDOUT)')
    for (const call of [
      store.read('0'.repeat(16)),
      store.search('0'.repeat(16), 'x'),
      store.list(),
      store.sweep(),
    ])
      await expect(call).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  })

  it('works with a slow storage', async () => {
    const slow = <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      vi.fn(async (...args: A) => {
        await new Promise((done) => setTimeout(done, 5))
        return call(...args)
      })
    const { storage } = watched((inner) => ({
      getItemRaw: slow((key: string) => inner.getItemRaw(key)),
      setItemRaw: slow((key: string, value: unknown) => inner.setItemRaw(key, value as string)),
    }))
    const store = remote(storage, { timeout: Number.POSITIVE_INFINITY })
    const text = 'a line\n'.repeat(100_000)
    const { id } = await store.save(text)
    expect((await store.read(id, { byte: 690_000 })).text).toBe(text.slice(690_000))
  })

  it('reports to subscribers', async () => {
    const { subscribe, unsubscribe } = await import('node:diagnostics_channel')
    const told: unknown[] = []
    const listen = (event: unknown) => told.push(event)
    subscribe('spillway:spill', listen)
    const record = await remote().save('a', { tool: 'bash', callId: 'c1' })
    const broken = watched(() => ({ setItemRaw: () => Promise.reject(new Error('full')) }))
    const error = await remote(broken.storage)
      .save('a'.repeat(3 * CHUNK), { tool: 'bash' })
      .catch((error) => error)
    async function* failing() {
      yield Buffer.from('a')
      throw new Error('of the producer')
    }
    await expect(remote().save(failing())).rejects.toThrow('of the producer')
    unsubscribe('spillway:spill', listen)
    expect(told).toEqual([
      { tool: 'bash', callId: 'c1', record },
      { tool: 'bash', error },
    ])
    expect(error).toMatchObject({ message: 'the storage failed: full', code: 'ERR_SPILLWAY_SPILL' })
  })
})

describe('a storage that loses or changes things', () => {
  /** A fault in what the storage returns for a key. `other`: what it has under the key of the next
   *  chunk or output. */
  type Fault = (value: Uint8Array, other: Uint8Array, at: number) => unknown
  const torn = (fill: number) => (value: Uint8Array, _: Uint8Array, at: number) =>
    Buffer.from(value).fill(fill, at % value.length)
  const FAULTS: Record<string, Fault> = {
    lost: () => undefined,
    'short by one': (value) => value.subarray(1),
    'twice as long': (value) => Buffer.concat([value, value]),
    'of another kind': () => 7,
    empty: () => new Uint8Array(0),
    doubled: (_, other) => other,
    torn: torn(0),
    'torn, with blanks': torn(32),
    'a bit flipped': (value, _, at) => {
      const flipped = Buffer.from(value)
      flipped[at % value.length] = (flipped[at % value.length] as number) ^ (1 << (at % 7))
      return flipped
    },
  }

  it('is found out: a page is right, or there is none', async () => {
    // Lines of one width: all chunks have the same size and the same number of lines.
    const text = Array.from({ length: CHUNK / 4 }, (_, at) => `${String(at).padStart(7, '0')}\n`).join('')
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(FAULTS)),
        fc.constantFrom(':record', ':0-', ':1-'),
        fc.nat({ max: CHUNK }),
        fc.constantFrom(text.replaceAll('0', 'x'), ''),
        async (name, part, at, second) => {
          const faulty = new Map<string, unknown>()
          const { storage, inner } = watched((inner) => ({
            getItemRaw: async (key) => (faulty.has(key) ? faulty.get(key) : inner.getItemRaw(key)),
          }))
          const store = remote(storage)
          const { id } = await store.save(text)
          const first = (await inner.getKeys()).find((key) => key.includes(':0-')) as string
          const save = first.split(':')[1] as string
          const other = await store.save(second)
          const calls = () => [
            store.read(id, { byte: CHUNK - 9, maxBytes: 99 }),
            store.read(id, { line: CHUNK / 8, lines: 2 }),
            store.search(id, `${CHUNK / 8 - 1}`),
          ]
          const right = await Promise.all(calls())
          const keys = await inner.getKeys()
          const keyOf = (start: string) => keys.find((key) => key.startsWith(`spillway:${start}`)) as string
          const neighbour = {
            ':record': `${other.id}:record`,
            ':0-': `${save}:1-`,
            ':1-': `${save}:0-`,
          }[part]
          const bytes = async (key: string) => (await inner.getItemRaw(key)) as Uint8Array
          const key = keyOf((part === ':record' ? id : save) + part)
          faulty.set(key, FAULTS[name]?.(await bytes(key), await bytes(keyOf(neighbour as string)), at))
          for (const [at, answer] of (await Promise.allSettled(calls())).entries())
            if (answer.status === 'fulfilled') expect(answer.value).toEqual(right[at])
            else expect(answer.reason).toMatchObject({ code: 'ERR_SPILLWAY_SPILL' })
          // It reads everything.
          await expect(store.search(id, 'zzz')).rejects.toMatchObject({ code: 'ERR_SPILLWAY_SPILL' })
        },
      ),
      { numRuns: 300 },
    )
  })

  it('may return any form of bytes', async () => {
    const forms: ((value: Buffer) => unknown)[] = [
      (value) => value.toString(),
      (value) => new Uint8Array(value),
      (value) => new Uint8Array(value).buffer,
    ]
    for (const form of forms) {
      const { storage } = watched((inner) => ({
        getItemRaw: async (key) => {
          const value = (await inner.getItemRaw(key)) as Uint8Array | null
          return value && form(Buffer.from(value))
        },
      }))
      const store = remote(storage)
      expect((await store.read((await store.save('a\nb')).id)).text).toBe('a\nb')
    }
  })

  it('may have keys of others', async () => {
    const { storage, inner } = watched()
    const id = '0123456789abcdef'
    for (const key of ['other', `spillway:${id}`, `spillway:${id}:x`, `spillway:x:record`, `other:${id}:0-1`])
      await inner.setItem(key, 'theirs')
    await inner.setItem(`spillway:${id}:record`, '{}')
    const store = remote(storage)
    const record = await store.save('a')
    expect(await store.list()).toEqual([record])
    const before = await inner.getKeys()
    await store.sweep()
    expect((await inner.getKeys()).sort()).toEqual(before.sort())
    expect(await remote(storage, { prefix: 'another' }).list()).toEqual([])
  })
})

describe('ids', () => {
  it('are those of one secret, which the first save stores, or of the given one', async () => {
    const storage = createStorage()
    const own = () => createRemoteSpillStore({ storage, maxAge: DAY })
    const origin = { tool: 'bash', callId: 'c1' }
    const ids: string[] = []
    for (const store of [own(), own()]) ids.push((await store.save('one', origin)).id)
    expect(ids[0]).toBe(ids[1])
    expect((await storage.getKeys()).filter((key) => key !== 'spillway:secret')).toHaveLength(2)
    const { id } = await own().save('one', { ...origin, callId: 'c2' })
    const { id: elsewhere } = await createRemoteSpillStore({ storage: createStorage() }).save('one', origin)
    expect(new Set([ids[0], id, elsewhere]).size).toBe(3)
    const [given, other] = await Promise.all(
      [createStorage(), createStorage()].map((storage) => remote(storage).save('one', origin)),
    )
    expect(given?.id).toBe(other?.id)
  })

  it('of an output that is saved again get its new chunks once the old ones are half as old as may be', async () => {
    vi.useFakeTimers({ now: 1e12, toFake: ['Date'] })
    try {
      const { storage, inner } = watched()
      const store = remote(storage, { maxAge: DAY })
      const chunk = async () => (await inner.getKeys()).filter((key) => key.includes(':0-'))
      const { id } = await store.save('one')
      const [first] = await chunk()
      vi.setSystemTime(1e12 + DAY / 2 - 1)
      await store.save('one')
      expect(await chunk()).toEqual([first])
      vi.setSystemTime(1e12 + DAY / 2)
      expect((await store.save('one')).id).toBe(id)
      expect(await chunk()).toHaveLength(1)
      expect(await chunk()).not.toEqual([first])
      expect((await store.read(id)).text).toBe('one')
    } finally {
      vi.useRealTimers()
    }
  })

  it('are rejected with a secret that is too short, without a word of it', () => {
    for (const secret of ['tooshort', 5])
      expect(() => createRemoteSpillStore({ storage: createStorage(), secret: secret as string })).toThrow(
        expect.objectContaining({
          code: 'ERR_SPILLWAY_OPTION',
          message: expect.stringMatching(
            /^secret must be a string of at least 16 chars, got "?(?:8 chars|number)"?$/,
          ),
        }),
      )
  })
})

describe('a sweep', () => {
  it('removes by age and by the total, the oldest first, and keeps what is retained', async () => {
    vi.useFakeTimers({ now: 1e12, toFake: ['Date'] })
    try {
      const { storage, inner } = watched()
      const store = remote(storage, { maxAge: 1_000 })
      const ids: string[] = []
      for (let at = 0; at < 6; at++) {
        ids.push((await store.save(String(at).repeat(100))).id)
        vi.setSystemTime(Date.now() + 100)
      }
      const kept = async () => (await store.list()).map(({ id }) => ids.indexOf(id))
      const small = remote(storage, { maxTotalBytes: 400 })
      expect(await small.sweep({ retain: [ids[1] as string] })).toEqual({ removed: 2, bytes: 200 })
      expect(await kept()).toEqual([1, 3, 4, 5])
      vi.setSystemTime(Date.now() + 700)
      expect(await store.sweep({ retain: [ids[1] as string] })).toEqual({ removed: 1, bytes: 100 })
      expect(await kept()).toEqual([1, 4, 5])
      vi.setSystemTime(Date.now() + 5_000)
      expect(await store.sweep()).toEqual({ removed: 3, bytes: 300 })
      expect(await inner.getKeys()).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })

  it('removes what a dead save left, but not before a save may take no longer', async () => {
    vi.useFakeTimers({ now: 1e12, toFake: ['Date'] })
    try {
      const { storage, inner } = watched()
      const store = remote(storage, { maxAge: DAY })
      let go = () => {}
      const waits = new Promise<void>((done) => {
        go = done
      })
      async function* chunks() {
        yield Buffer.alloc(CHUNK, 'x')
        await waits
      }
      const saving = store.save(chunks())
      await until(async () => (await inner.getKeys()).length === 1)
      vi.setSystemTime(1e12 + 2 * DAY - 1)
      await store.sweep()
      expect(await inner.getKeys()).toHaveLength(1)
      vi.setSystemTime(1e12 + 2 * DAY)
      await store.sweep()
      expect(await inner.getKeys()).toEqual([])
      go()
      // The save was not dead, and finds out.
      await expect(saving).rejects.toMatchObject({ code: 'ERR_SPILLWAY_SPILL' })
      expect(await inner.getKeys()).toEqual([])
    } finally {
      vi.useRealTimers()
    }
  })

  it('disturbs no workers that save meanwhile', async () => {
    const storage = createStorage()
    const workers = [remote(storage), remote(storage)]
    const texts = Array.from({ length: 40 }, (_, at) => `output ${at}\n`.repeat(1_000 * at))
    const saved = await Promise.all(
      texts.map(async (text, at) => {
        if (at % 4 === 0) await workers[1]?.sweep()
        return (workers[at % 2] as SpillStore).save(text)
      }),
    )
    for (const [at, { id, bytes }] of saved.entries()) {
      expect(bytes).toBe(texts[at]?.length)
      const page = await (workers[(at + 1) % 2] as SpillStore).read(id, { maxBytes: 2 ** 20 })
      expect(page.text).toBe(texts[at])
    }
  })
})

describe('options', () => {
  it.each([
    ['storage', undefined],
    ['storage', { getItemRaw() {} }],
    ['prefix', '../x'],
    ['prefix', 'a::b'],
    ['prefix', 'a?b'],
    ['prefix', 7],
    ['timeout', 0],
    ['timeout', '5s'],
    ['maxAge', -1],
    ['maxFileBytes', Number.NaN],
    ['maxTotalBytes', 1.5],
  ])('%s: %s is refused', (name, value) => {
    const make = () => remote(createStorage(), { [name]: value })
    expect(make).toThrowError(
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringContaining(name) }),
    )
  })

  it('are named in the error if they are misspelt', () => {
    expect(() => remote(createStorage(), { timeOut: 5 })).toThrowError(/did you mean `timeout`/)
  })
})
