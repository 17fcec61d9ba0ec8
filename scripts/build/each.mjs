// Runs npm scripts, all of them even if one fails: `node scripts/build/each.mjs SPILLWAY_TIMES=1
// test:node+test:rust+test:types soak:short`. Scripts that a plus joins run at the same time, so
// that one uses the processor while another waits, and their outputs are printed one after another.
// NAME=VALUE sets a variable for all of them: not every shell that npm has does.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const script = process.env.npm_execpath
const [command, ...rest] = script ? [process.execPath, script] : ['npm']
const failed = []

/** Starts a script. The first one of its group prints as it runs, the others when it has ended. */
function start(name, at) {
  const stdio = at === 0 ? 'inherit' : ['inherit', 'pipe', 'pipe']
  const child = spawn(command, [...rest, 'run', name], { stdio })
  const chunks = []
  for (const stream of ['stdout', 'stderr'])
    child[stream]?.on('data', (chunk) => chunks.push([stream, chunk]))
  const ended = once(child, 'close').catch((error) => [error.message])
  return { name, chunks, ended }
}

const words = process.argv.slice(2)
const groups = words.filter((word) => !word.includes('='))
Object.assign(
  process.env,
  Object.fromEntries(words.filter((word) => word.includes('=')).map((word) => word.split('='))),
)
for (const group of groups)
  for (const { name, chunks, ended } of group.split('+').map(start)) {
    const [status] = await ended
    for (const [stream, chunk] of chunks) process[stream].write(chunk)
    if (status !== 0) failed.push(name)
  }
if (failed.length > 0) {
  console.error(`\nfailed: ${failed.join(', ')}`)
  process.exit(1)
}
