// spillway/remote over real engines: the contract of a store, and faults.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spillTool, wrapTool } from 'spillway'
import { createRemoteSpillStore } from 'spillway/remote'
import { testSpillStore } from 'spillway/testing'
import { bucketQuota } from './bucket_quota.mjs'
import { outputOf } from './outputs.mjs'
import * as engines from './servers.mjs'

const CHUNK = 256 * 1024
const PROCESSES = 20
const SAVES = process.env.SPILLWAY_ENGINES === 'short' ? 10 : 100

const hasCode = (error) => typeof error.code === 'string'
const isTimeout = (error) => error.code === 'ETIMEDOUT'

for (const [key, engine] of Object.entries(engines))
  describe(engine.name, () => {
    let server
    let stores = 0
    before(async () => {
      server = await engine.server()
    })
    after(() => server?.remove())

    const place = async () => ({
      storage: await engine.storage(server, `bucket-${stores}`),
      prefix: `store-${stores++}`,
    })
    const make = async (options) => createRemoteSpillStore({ ...(await place()), ...options })

    /** Makes a store that waits as long as a busy machine takes, and one of the same outputs for
     *  calls that are to fail. */
    const both = (at) => [60_000, 500].map((timeout) => createRemoteSpillStore({ ...at, timeout }))

    testSpillStore(make, { test })

    test('killed in the middle of a save', async () => {
      const [store, hasty] = both(await place())
      const kept = await store.save(outputOf(10))
      async function* chunks() {
        for (let at = 0; at < 8; at++) {
          if (at === 4) await server.kill()
          yield Buffer.alloc(CHUNK, `${at}`)
        }
      }
      await assert.rejects(hasty.save(chunks()), hasCode)
      await refused(hasty)
      await server.start()
      await eventually(async () => assert.deepEqual(await hasty.list(), [kept]))
      assert.equal(await whole(store, kept.id), outputOf(10))
    })

    test('killed in the middle of a search', async () => {
      const storage = await engine.storage(server, 'bucket-search')
      let reads = 0
      const dying = {
        setItemRaw: (...given) => storage.setItemRaw(...given),
        removeItem: (...given) => storage.removeItem(...given),
        getKeys: (...given) => storage.getKeys(...given),
        getItemRaw: async (...given) => {
          if (++reads === 5) await server.kill()
          return storage.getItemRaw(...given)
        },
      }
      const [store, hasty] = both({ storage: dying, prefix: 'search' })
      const { id } = await store.save('a line of a log\n'.repeat(CHUNK / 2))
      await assert.rejects(hasty.search(id, 'nowhere'), hasCode)
      await server.start()
      await eventually(() => hasty.read(id))
      assert.deepEqual(await store.search(id, 'nowhere'), [])
      assert.equal((await store.search(id, 'line', { line: 100_000, max: 3 })).length, 3)
    })

    test('hanging, then answering again', async () => {
      const [store, hasty] = both(await place())
      const { id } = await store.save('before')
      server.signal('SIGSTOP')
      await assert.rejects(hasty.save('meanwhile'), isTimeout)
      await assert.rejects(hasty.read(id), isTimeout)
      const tool = wrapTool({ name: 't', execute: async () => 'x\n'.repeat(90_000) }, { spill: hasty })
      assert.match(await tool.execute(), /could not be saved \(ETIMEDOUT\)/)
      server.signal('SIGCONT')
      await eventually(async () => assert.equal(await whole(hasty, id), 'before'))
      assert.equal(await whole(store, (await store.save('after')).id), 'after')
    })

    test(`${PROCESSES} processes that save ${SAVES} outputs each, beside sweeps`, async () => {
      const storage = await engine.storage(server)
      const store = createRemoteSpillStore({ storage, timeout: 60_000 })
      let isRunning = true
      const sweeps = (async () => {
        let sum = 0
        for (; isRunning; await new Promise((done) => setTimeout(done, 100))) {
          sum += (await store.sweep()).removed
        }
        return sum
      })()
      const printed = await Promise.all(
        Array.from({ length: PROCESSES }, (_, seed) => run([key, server.port, seed + 1, SAVES])),
      )
      isRunning = false
      assert.equal(await sweeps, 0)
      const saved = printed.flatMap((lines) => lines.trim().split('\n'))
      assert.equal(saved.length, PROCESSES * SAVES)
      let [torn, lost] = [0, 0]
      for (const line of saved) {
        const [id, number] = line.split(' ')
        const text = await whole(store, id).catch(() => undefined)
        if (text === undefined) lost += 1
        else if (text !== outputOf(Number(number))) torn += 1
      }
      assert.deepEqual({ torn, lost }, { torn: 0, lost: 0 })
    })
  })

describe('Redis that is full', () => {
  test('says so, and keeps nothing of what did not fit', async () => {
    const server = await engines.redis.server('--maxmemory', '8mb', '--maxmemory-policy', 'noeviction')
    try {
      const store = createRemoteSpillStore({ storage: await engines.redis.storage(server) })
      const kept = await store.save(outputOf(10))
      await assert.rejects(store.save(Buffer.alloc(64 * CHUNK, 'x')), /OOM|maxmemory/)
      assert.deepEqual(await store.list(), [kept])
      assert.equal(await whole(store, (await store.save('small')).id), 'small')
    } finally {
      await server.remove()
    }
  })
})

describe('an output that Redis expires', () => {
  test('is gone, and its record first', async () => {
    const server = await engines.redis.server()
    try {
      const storage = await engines.redis.storage(server)
      const store = createRemoteSpillStore({ storage, maxAge: 1_000 })
      const { id } = await store.save(outputOf(10))
      const isGone = (error) => /there was none, or it was removed/.test(error.message)
      await eventually(() => assert.rejects(store.read(id), isGone))
      assert.deepEqual(await store.list(), [])
      // Its chunks do not count, and expire a day later. The secret of the store stays.
      const chunks = (await storage.getKeys()).filter((key) => !key.endsWith(':secret'))
      assert.equal(chunks.length, Math.ceil(Buffer.byteLength(outputOf(10)) / CHUNK))
      assert.match(await spillTool(store).execute({ id }), /removed/)
      assert.deepEqual(await store.sweep(), { removed: 0, bytes: 0 })
    } finally {
      await server.remove()
    }
  })
})

describe('an S3 bucket that is full', () => {
  test('says so, and keeps nothing of what did not fit', async () => {
    const server = await engines.s3.server()
    const gateway = await bucketQuota(server.port, 8 * CHUNK)
    try {
      const storage = await engines.s3.storage(gateway)
      const store = createRemoteSpillStore({ storage })
      const isFull = (error) => typeof error.code === 'string' && /QuotaExceeded/.test(error.message)
      const kept = await store.save(outputOf(10))
      const before = gateway.stored()
      await assert.rejects(store.save(Buffer.alloc(64 * CHUNK, 'x')), isFull)
      // A store without room for the record has no output either.
      gateway.quota = before + CHUNK + 9
      await assert.rejects(store.save(Buffer.alloc(CHUNK, 'x')), isFull)
      assert.equal(gateway.refused, 2)
      assert.equal(gateway.stored(), before)
      assert.deepEqual(await store.list(), [kept])
      const tool = wrapTool({ name: 't', execute: async () => 'x\n'.repeat(2 * CHUNK) }, { spill: store })
      const shown = await tool.execute()
      assert.match(shown, /could not be saved \(ERR_SPILLWAY_SPILL\)/)
      assert.ok(Buffer.byteLength(shown) <= 50 * 1024)
      assert.equal(await whole(store, (await store.save('small')).id), 'small')
      gateway.quota = Number.POSITIVE_INFINITY
      assert.match(await tool.execute(), /saved as [0-9a-f]{16}/)
      assert.equal((await store.list()).length, 3)
      assert.equal(await whole(store, kept.id), outputOf(10))
    } finally {
      gateway.close()
      await server.remove()
    }
  })
})

describe('an S3 bucket that does not exist', () => {
  test('takes nothing that counts as saved', async () => {
    const server = await engines.s3.server()
    try {
      const storage = await engines.s3.storage(server, 'Not a bucket')
      const store = createRemoteSpillStore({ storage })
      await assert.rejects(store.save('lost'), hasCode)
      const tool = wrapTool({ name: 't', execute: async () => 'x\n'.repeat(90_000) }, { spill: store })
      assert.match(await tool.execute(), /could not be saved \(\w+\)/)
    } finally {
      await server.remove()
    }
  })
})

/** Tries all calls of a store whose engine is away, and a tool with that store. */
async function refused(store) {
  const id = '0123456789abcdef'
  const calls = [
    () => store.save('x'),
    () => store.read(id),
    () => store.search(id, 'x'),
    () => store.list(),
    () => store.sweep(),
  ]
  for (const call of calls) await assert.rejects(call, hasCode)
  const tool = wrapTool({ name: 't', execute: async () => 'x\n'.repeat(90_000) }, { spill: store })
  assert.match(await tool.execute(), /could not be saved \(\w+\)/)
}

/** Waits for a client to find its server again. */
async function eventually(check, tries = 100) {
  for (; tries > 1; tries--) {
    try {
      return await check()
    } catch {
      await new Promise((done) => setTimeout(done, 100))
    }
  }
  return check()
}

async function whole(store, id) {
  return (await store.read(id, { maxBytes: 2 ** 24 })).text
}

async function run(args) {
  const worker = fileURLToPath(new URL('worker.mjs', import.meta.url))
  const child = spawn(process.execPath, [worker, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  for await (const chunk of child.stdout) printed += chunk
  return printed
}
