import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { end, place, start, write } from '../support/cli.js'

const MIB = 1024 * 1024
const ID = 'of 1 GiB'
const call = `${JSON.stringify({ jsonrpc: '2.0', id: ID, method: 'tools/call', params: { name: 'a' } })}\n`

/** Writes an answer of 1 GiB, as fast as it is read: source for a server, and a function. */
const ANSWER = `async (to, lead) => {
  to.write(lead + '{"result":{"content":[{"type":"text","text":"')
  const part = Buffer.alloc(${MIB}, 'x')
  for (let at = 0; at < 1024; at++) if (!to.write(part)) await new Promise((done) => to.once('drain', done))
  to.write('"}]},"jsonrpc":"2.0","id":${JSON.stringify(ID)}}\\n\\n')
}`
const answer = new Function(`return ${ANSWER}`)() as (to: Writable, lead: string) => Promise<void>

/** Runs the proxy, and returns its answer and the most memory that it had. */
async function through(args: readonly string[]) {
  const most = join(place, 'most')
  const told = write(
    'most.cjs',
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(most)}, String(process.resourceUsage().maxRSS)))`,
  )
  const child = start(['mcp', ...args], { env: { NODE_OPTIONS: `--require ${told}` } })
  child.stdin?.write(call)
  const [line] = await once(child.stdout as NodeJS.ReadableStream, 'data')
  child.stdin?.end()
  expect((await end(child)).code).toBe(0)
  return { message: JSON.parse(String(line)), most: Number(readFileSync(most, 'utf8')) * 1024 }
}

function check({ message, most }: Awaited<ReturnType<typeof through>>): void {
  expect(message.id).toBe(ID)
  expect(message.error.message).toMatch(/^a message of 10737\d{5} bytes is over 67108864/)
  expect(most).toBeLessThan(400 * MIB)
}

it('a result of 1 GiB over stdio takes the memory of 64 MiB', { tags: 'long' }, async () => {
  const server = write(
    'gibibyte.js',
    `const answer = ${ANSWER}
     process.stdin.once('data', () => answer(process.stdout, '')).on('end', () => process.exit())`,
  )
  check(await through(['--', 'env', '-u', 'NODE_OPTIONS', process.execPath, server]))
})

it('a result of 1 GiB behind a URL takes the memory of 64 MiB', { tags: 'long' }, async () => {
  const site = createServer(async (request, response) => {
    await request.toArray()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    await answer(response, 'data: ')
    response.end()
  })
  await once(site.listen(0, '127.0.0.1'), 'listening')
  check(await through(['--url', `http://127.0.0.1:${(site.address() as AddressInfo).port}/`]))
  site.close()
})
