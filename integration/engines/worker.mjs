// Saves outputs of many sizes, and prints the id, size and seed of each: node worker.mjs ENGINE
// PORT SEED COUNT
import { createRemoteSpillStore } from 'spillway/remote'
import { outputOf } from './outputs.mjs'
import { redis, s3 } from './servers.mjs'

const [, , engine, port, seed, count] = process.argv
const storage = await { redis, s3 }[engine].storage({ port: Number(port) })
const store = createRemoteSpillStore({ storage, timeout: 60_000 })
for (let at = 0; at < Number(count); at++) {
  const number = Number(seed) * 1_000 + at
  const { id } = await store.save(outputOf(number), { tool: 'worker' })
  console.log(`${id} ${number}`)
}
process.exit(0)
