// Measures the parts of docs/scale.md: the time of a worker for one tool result of each size, and
// the operations and bytes that its store asks of an engine: node integration/engines/fleet.mjs
import { wrapTool } from 'spillway'
import { createRemoteSpillStore } from 'spillway/remote'

const KB = 1_000
const SIZES = [4 * KB, 100 * KB, 2_000 * KB]
const CALLS = 300

const line = (at) => `2026-01-01T00:00:00Z worker-${at % 97} INFO request ${at} served in ${at % 311} ms\n`
const outputOf = (size) =>
  Array.from({ length: size / 64 }, (_, at) => line(at))
    .join('')
    .slice(0, size)

console.log('| result | processor, without a store | with one | shown | operations | bytes stored |')
console.log('|---|---|---|---|---|---|')
for (const size of SIZES) {
  const asked = { operations: 0, bytes: 0 }
  const storage = {
    // The record of the first save is looked for.
    getItemRaw: async () => Buffer.from('{}'),
    setItemRaw: async (_, value) => {
      asked.operations += 1
      asked.bytes += value.length
    },
    removeItem: async () => {},
    getKeys: async () => [],
  }
  const tool = { name: 'tool', execute: async () => outputOf(size) }
  const plain = await processor(tool)
  const clamped = await processor(wrapTool(tool))
  const saved = wrapTool(tool, { spill: createRemoteSpillStore({ storage }) })
  const stored = await processor(saved)
  Object.assign(asked, { operations: 0, bytes: 0 })
  const shown = (await saved.execute()).length
  const times = [clamped, stored].map((ms) => `${Math.max(0, ms - plain).toFixed(2)} ms`)
  console.log(
    `| ${size / KB} KB | ${times.join(' | ')} | ${Math.round(shown / KB)} KB | ${asked.operations} | ${Math.round(asked.bytes / KB)} KB |`,
  )
}

/** Returns the processor time of a call, on all threads, in ms. */
async function processor(tool) {
  for (let call = 0; call < 30; call++) await tool.execute()
  const before = process.cpuUsage()
  for (let call = 0; call < CALLS; call++) await tool.execute()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / CALLS
}
