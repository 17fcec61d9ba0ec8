// Real coding agents, driven offline against a model of ours on the loopback, each in an empty home: what the next request
// carries after a command, a file and a result of an MCP server, without the hook and with it. Installs 650 MB, once:
//   npm run test:hosts
// SPILLWAY_HOSTS='gemini-cli opencode' drives these alone. SPILLWAY_CLAUDE=FILE names a program that is there already.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { claudeCode } from './claude_code.mjs'
import { geminiCli } from './gemini_cli.mjs'
import { opencode } from './opencode.mjs'

const LIMIT = 16_384
const root = fileURLToPath(new URL('../..', import.meta.url))
const place = mkdtempSync(join(tmpdir(), 'spillway-hosts-'))
process.on('exit', () => rmSync(place, { recursive: true, force: true }))

const lines = (size) =>
  Array.from({ length: size / 50 }, (_, at) =>
    `2026-01-02T03:04:05Z INFO step ${at} is done`.padEnd(49, '.'),
  ).join('\n')
const DECISIVE = '2026-01-02T03:04:06Z ERROR the disk is full'
writeFileSync(join(place, 'large.log'), `${lines(100_000)}\n${DECISIVE}\n${lines(100_000)}\n`)
writeFileSync(join(place, 'small.txt'), lines(40_000))
writeFileSync(
  join(place, 'wide.log'),
  lines(40_000).replaceAll(/(?:.+\n){8}/g, (all) => `${all.replaceAll('\n', ' ')}\n`),
)
const tool = (name) => ({ name, description: 'a log', inputSchema: { type: 'object', properties: {} } })
writeFileSync(
  join(place, 'server.js'),
  `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) return
    const text = ${JSON.stringify(lines(200_000))}
    const answers = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } },
      'tools/list': ${JSON.stringify({ tools: [tool('log'), tool('large')] })},
      'tools/call': { content: [{ type: 'text', text: params?.name === 'log' ? text.slice(0, 40_000) : text }] },
    }
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} }))
  })`,
)

/** Returns the program of a host, installed into a folder that stays. */
function programOf({ given, package: name, version, file }) {
  if (given) return given
  const folder = join(root, 'target/hosts', name)
  const program = join(folder, 'node_modules', name, file)
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  const flags = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--no-save']
  execFileSync('npm', ['install', ...flags, '--prefix', folder, `${name}@${version}`], { stdio: 'inherit' })
  return program
}

/** Starts a model that asks for each call in turn, and keeps the results that the latest request carries. */
async function model({ callsIn, resultsOf, answer }) {
  const calls = callsIn(place)
  let asked = 0
  let results = []
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const body = text === '' ? {} : JSON.parse(text)
    const found = resultsOf(body)
    if (found.length > results.length) results = found
    // A title or a count is asked for without tools.
    const call = body.tools?.length ? calls[asked++] : undefined
    answer({ request, response, body, call, nth: asked })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const named = () =>
    Object.fromEntries(calls.map(({ name, of }, at) => [`${name} ${of}`, results[at] ?? '']))
  return { server, named, url: `http://127.0.0.1:${server.address().port}` }
}

/** Runs a host once in an empty home, and returns what the model got of each call. */
async function drive(host, prepare) {
  const { server, named, url } = await model(host)
  const home = mkdtempSync(join(place, 'home-'))
  const env = {
    HOME: home,
    PATH: process.env.PATH,
    HTTPS_PROXY: 'http://127.0.0.1:9',
    HTTP_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1',
    ...host.environment(url),
  }
  const args = host.ready({ home, url, server: [process.execPath, join(place, 'server.js')] })
  prepare(env)
  const program = programOf(host)
  const [command, ...rest] = program.endsWith('.js')
    ? [process.execPath, program, ...args]
    : [program, ...args]
  const child = spawn(command, rest, { cwd: place, env, stdio: ['ignore', 'ignore', 'pipe'] })
  const told = child.stderr.toArray()
  const [code] = await once(child, 'exit')
  server.close()
  assert.equal(code, 0, Buffer.concat(await told).toString())
  return named()
}

const spillway = (env, ...args) =>
  execFileSync(process.execPath, [join(root, 'dist/cli.js'), ...args], {
    env,
    encoding: 'utf8',
    stdio: 'pipe',
  })

const chosen = process.env.SPILLWAY_HOSTS?.split(/[ ,]+/)
for (const [name, host] of Object.entries({ 'claude-code': claudeCode, 'gemini-cli': geminiCli, opencode })) {
  if (chosen && !chosen.includes(name)) continue
  test(`${name} ${host.version} takes every shape of the table`, async () => {
    const plain = await drive(host, () => {})
    let figures
    const hooked = await drive(host, (env) => {
      spillway(env, 'install', name, '--yes')
      figures = () => JSON.parse(spillway(env, 'stats', '--json'))
    })
    for (const { name, of, isLeft, isLog } of host.callsIn(place)) {
      const [before, after] = [plain, hooked].map((all) => all[`${name} ${of}`])
      console.log(`${name} ${of}: ${before.length} chars without the hook, ${after.length} with it`)
      if (isLeft) continue
      assert.match(after, /tool output truncated: [\d,]+ of [\d,]+ chars omitted/, name)
      assert.doesNotMatch(after, /persisted-output|Output too large|output truncated\.\.\./, name)
      // Lines that the host numbers, its own words around a text, and escapes come on top of the limit.
      assert.ok(after.length < 1.25 * LIMIT, name)
      if (isLog) assert.ok(!before.includes(DECISIVE) && after.includes(DECISIVE), name)
    }
    assert.ok(figures().sent > 0)
  })
}
