// A process's output in chunks of 64 KiB, each capture in a process of its own, so that its memory
// can be told.
//   node bench/capture.mjs NAME MiB     one of them, as JSON
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createSpillStore, OutputCapture } from 'spillway'
import { OutputAccumulator } from './node_modules/@earendil-works/pi-coding-agent/dist/core/tools/output-accumulator.js'
import { truncateTail } from './node_modules/@earendil-works/pi-coding-agent/dist/core/tools/truncate.js'
import { logs } from './texts.mjs'

const CHUNK = 64 * 1024
/** A string has at most half a GiB, and what is not waited for stays in memory. */
const SURVIVED = 256

const captures = {
  'Pi OutputAccumulator': pi(false),
  'Pi OutputAccumulator, its file': pi(true),
  'push, Buffer.concat, toString, Pi truncateTail': async (chunks) => {
    const all = []
    for (const chunk of chunks) all.push(Buffer.from(chunk))
    return truncateTail(Buffer.concat(all).toString()).content
  },
  'a pass': async (chunks) => {
    let found = 0
    for (const chunk of chunks) found += chunk.indexOf(0)
    return `${found}`
  },
  'both ends': ours({ keep: 'ends', clean: false }),
  'both ends, cleaned': ours({ keep: 'ends' }),
  findings: ours({ clean: false }),
  'findings, cleaned (default)': ours({}),
  'both ends, saved': ours({ keep: 'ends', clean: false }, true),
}

/** Pairs to compare, with the MiB of either. */
const rows = [
  ['both ends', 'Pi OutputAccumulator', 1024, 1024],
  ['both ends, cleaned', 'Pi OutputAccumulator', 1024, 1024],
  ['findings', 'Pi OutputAccumulator', 1024, 1024],
  ['findings, cleaned (default)', 'Pi OutputAccumulator', 1024, 1024],
  ['both ends, saved', 'Pi OutputAccumulator, its file', SURVIVED, SURVIVED],
  ['both ends', 'push, Buffer.concat, toString, Pi truncateTail', 1024, SURVIVED],
  ['findings, cleaned (default)', 'push, Buffer.concat, toString, Pi truncateTail', 1024, SURVIVED],
]

/** MB/s of one pass over the output. */
export const passSpeed = () => measured('a pass', 1024).speed

function measured(name, size) {
  const args = ['--expose-gc', fileURLToPath(import.meta.url), name, size]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

/** Runs them all. */
export function* captureRows() {
  const known = new Map()
  const of = (name, size) => {
    const key = `${name} ${size}`
    if (!known.has(key)) known.set(key, measured(name, size))
    return known.get(key)
  }
  for (const [name, peer, size, peerSize] of rows)
    yield { name, size, peer, peerSize, ours: of(name, size), theirs: of(peer, peerSize) }
}

function pi(saves) {
  return async (chunks) => {
    const all = new OutputAccumulator()
    // It saves what is long, and waits for nothing.
    if (!saves) all.tempFilePath = 'nowhere'
    for (const chunk of chunks) all.append(Buffer.from(chunk))
    all.finish()
    const { content, fullOutputPath } = all.snapshot()
    await all.closeTempFile()
    if (saves) rmSync(fullOutputPath)
    return content
  }
}

function ours(options, saves = false) {
  return async (chunks) => {
    const dir = saves ? mkdtempSync(join(tmpdir(), 'spillway-bench-')) : undefined
    const store = dir && { spill: createSpillStore({ dir, maxFileBytes: Number.POSITIVE_INFINITY }) }
    const capture = new OutputCapture({ ...options, ...store })
    for (const chunk of chunks) {
      if (!capture.stdout.write(chunk)) await new Promise((resolve) => capture.stdout.once('drain', resolve))
    }
    const { text } = await capture.finish()
    if (dir) rmSync(dir, { recursive: true })
    return text
  }
}

const [, script, name, size] = process.argv
if (name in captures && script === fileURLToPath(import.meta.url)) {
  const log = Buffer.from(logs(CHUNK * 1024))
  const chunks = function* (count) {
    for (let at = 0; at < count; at++) yield log.subarray((at % 1000) * CHUNK, ((at % 1000) + 1) * CHUNK)
  }
  await captures[name](chunks(256))
  gc()
  const before = process.memoryUsage.rss()
  let most = before
  const watched = function* (count) {
    let at = 0
    for (const chunk of chunks(count)) {
      yield chunk
      if (at++ % 64 === 0) most = Math.max(most, process.memoryUsage.rss())
    }
  }
  const start = performance.now()
  const text = await captures[name](watched((Number(size) * 1024 * 1024) / CHUNK))
  const seconds = (performance.now() - start) / 1e3
  most = Math.max(most, process.memoryUsage.rss())
  if (text.length > 51_200) throw new Error('too long')
  console.log(JSON.stringify({ speed: (Number(size) * 1.048576) / seconds, added: (most - before) / 1e6 }))
}
