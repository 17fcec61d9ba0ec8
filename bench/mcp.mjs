// Milliseconds that `spillway mcp` adds to a call, over stdio and behind a URL: a result of 50 KB
// that fits, and one of 200 KB that is cut. Calls of both ways alternate, and medians are compared.
// node bench/mcp.mjs [CALLS]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const calls = Number(process.argv[2] ?? 200)
const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const place = mkdtempSync(join(tmpdir(), 'spillway-measure-'))
process.on('exit', () => rmSync(place, { recursive: true, force: true }))

/** Returns the answer to a call of a tool that is named by the bytes of its result. */
const answer = `({ id, params }) => JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text',
  text: 'a line of some file, 32 bytes..\\n'.repeat(Number(params.name) / 32) }] } })`
const answerTo = new Function(`return ${answer}`)()
writeFileSync(
  join(place, 'server.js'),
  `const answer = ${answer}
   require('node:readline').createInterface({ input: process.stdin })
     .on('line', (line) => process.stdout.write(answer(JSON.parse(line)) + '\\n'))`,
)
const site = createServer(async (asked, response) => {
  const message = JSON.parse(Buffer.concat(await asked.toArray()))
  response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(message))
})
await once(site.listen(0, '127.0.0.1'), 'listening')
const url = `http://127.0.0.1:${site.address().port}/`

const started = []
/** Returns a function that sends a line to a process, and resolves with its answer. */
function talk(...args) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, XDG_STATE_HOME: place },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  started.push(child)
  const lines = createInterface({ input: child.stdout })
  return async (line) => {
    child.stdin.write(line)
    return (await once(lines, 'line'))[0]
  }
}
const agent = new Agent({ keepAlive: true })
async function post(line) {
  const asked = request(url, { method: 'POST', agent }).end(line)
  const [response] = await once(asked, 'response')
  return Buffer.concat(await response.toArray()).toString()
}

const server = join(place, 'server.js')
const proxied = [cli, 'mcp']
const ways = {
  stdio: [talk(server), talk(...proxied, '--', process.execPath, server)],
  url: [post, talk(...proxied, '--url', url)],
}
const median = (all) => all.sort((a, b) => a - b)[all.length >> 1]
for (const [name, both] of Object.entries(ways))
  for (const size of [50_000, 200_000]) {
    const times = [[], []]
    for (let id = 0; id < calls; id++)
      for (const [at, send] of both.entries()) {
        const line = `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: String(size) } })}\n`
        const start = performance.now()
        JSON.parse(await send(line))
        times[at].push(performance.now() - start)
      }
    const [plain, through] = times.map((all) => [median(all), all[0]])
    const shown = ([plain, through]) =>
      `${(through - plain).toFixed(2)} ms (${plain.toFixed(2)}, ${through.toFixed(2)})`
    console.log(
      `${name}, ${size / 1000} KB: median +${shown([plain[0], through[0]])}, least +${shown([plain[1], through[1]])}`,
    )
  }
for (const child of started) child.kill()
agent.destroy()
site.close()
