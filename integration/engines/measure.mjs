// Measures saves, pages and searches of one big output in a directory, in Redis and in S3, beside
// each other: node --expose-gc integration/engines/measure.mjs [MiB]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSpillStore } from 'spillway'
import { createRemoteSpillStore } from 'spillway/remote'
import { redis, s3 } from './servers.mjs'

const MiB = 1024 * 1024
const SIZE = Number(process.argv[2] ?? 1_024) * MiB
const PAGES = 100
const UNBOUNDED = { maxFileBytes: Number.POSITIVE_INFINITY, maxTotalBytes: Number.POSITIVE_INFINITY }

const dir = mkdtempSync(join(tmpdir(), 'spillway-measure-'))
const memory = () => process.memoryUsage().rss
let peak = 0
setInterval(() => {
  peak = Math.max(peak, memory())
}, 5).unref()

const line = (at) => `2026-01-01T00:00:00Z worker-${at % 97} INFO request ${at} served in ${at % 311} ms\n`

async function* output() {
  let [size, at] = [0, 0]
  while (size < SIZE) {
    const lines = []
    for (let count = 0; count < 2_000; count++) lines.push(line(at++))
    const bytes = Buffer.from(lines.join(''))
    size += bytes.length
    yield bytes
  }
}

/** Calls a function, and returns its result, its time in ms, and the memory it added at most, in
 *  MiB. */
async function measured(call) {
  globalThis.gc?.()
  const [before, start] = [memory(), performance.now()]
  peak = before
  const result = await call()
  return { result, ms: performance.now() - start, added: (Math.max(peak, memory()) - before) / MiB }
}

async function measure(name, store) {
  const { result: record, ...save } = await measured(() => store.save(output()))
  const times = []
  const pages = await measured(async () => {
    for (let page = 0; page < PAGES; page++) {
      const start = performance.now()
      // Lines all over the output, in an order that is the same in each run.
      await store.read(record.id, { line: 1 + ((page * 7_919_993) % record.lines), lines: 400 })
      times.push(performance.now() - start)
    }
  })
  const search = await measured(() => store.search(record.id, 'no such words'))
  times.sort((one, other) => one - other)
  const at = (share) => times[Math.floor(times.length * share)].toFixed(1)
  const perSecond = ({ ms }) => `${Math.round(record.bytes / MiB / (ms / 1_000))} MiB/s`
  const of = (figure) => `${Math.round(figure.added)} MiB`
  console.log(
    `| ${name} | ${perSecond(save)} | ${of(save)} | ${at(0.5)} ms | ${at(0.99)} ms | ${of(pages)} | ${perSecond(search)} | ${of(search)} |`,
  )
}

const servers = []
try {
  console.log(`an output of ${SIZE / MiB} MiB, ${PAGES} pages of 400 lines`)
  console.log('| engine | save | memory | page, median | 99 % | memory | search | memory |')
  console.log('|---|---|---|---|---|---|---|---|')
  await measure('a directory', createSpillStore({ dir: join(dir, 'files'), ...UNBOUNDED }))
  for (const engine of [redis, s3]) {
    const server = await engine.server()
    servers.push(server)
    const storage = await engine.storage(server)
    await measure(engine.name, createRemoteSpillStore({ storage, timeout: 60_000, ...UNBOUNDED }))
  }
} finally {
  for (const server of servers) await server.remove()
  rmSync(dir, { recursive: true, force: true })
}
process.exit(0)
