// Four threads run the same program at once; a fifth is ended while it works.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

const start = () => new Worker(new URL('agent.mjs', import.meta.url))
const ended = start()
setTimeout(() => ended.terminate(), 50)
const codes = await Promise.all(Array.from({ length: 4 }, async () => (await once(start(), 'exit'))[0]))
if (codes.some((code) => code !== 0)) throw new Error(`the threads ended with ${codes}`)
