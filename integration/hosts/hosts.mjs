// Real coding agents, driven offline against a fake model on the loopback, each in an empty home:
// what the next request carries after a command, a file and a result of an MCP server, without the
// hook and with it. Installs 650 MB, once: npm run test:hosts SPILLWAY_HOSTS='gemini-cli opencode'
// drives these alone. SPILLWAY_CLAUDE=FILE names a program that is there already.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { drive, hosts, place, spillway } from './drive.mjs'

const LIMIT = 16_384

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

/** Names what the model got of each call. */
const named = (calls, results) =>
  Object.fromEntries(calls.map(({ name, of }, at) => [`${name} ${of}`, results[at] ?? '']))

for (const [name, host] of hosts.filter(([, { callsIn }]) => callsIn))
  test(`${name} ${host.version} takes every shape of the table`, async () => {
    const calls = host.callsIn(place)
    const plain = named(calls, await drive(host, calls))
    let figures
    const prepare = (env) => {
      spillway(env, 'install', name, '--yes')
      figures = () => JSON.parse(spillway(env, 'stats', '--json'))
    }
    const hooked = named(calls, await drive(host, calls, { prepare }))
    for (const { name, of, isLeft, isLog } of calls) {
      const [before, after] = [plain, hooked].map((all) => all[`${name} ${of}`])
      console.log(`${name} ${of}: ${before.length} chars without the hook, ${after.length} with it`)
      if (isLeft) continue
      assert.match(after, /tool output truncated: [\d,]+ of [\d,]+ chars omitted/, name)
      assert.doesNotMatch(after, /persisted-output|Output too large|output truncated\.\.\./, name)
      // Lines that the host numbers, its own words around a text, and escapes come on top of the
      // limit.
      assert.ok(after.length < 1.25 * LIMIT, name)
      if (isLog) assert.ok(!before.includes(DECISIVE) && after.includes(DECISIVE), name)
    }
    assert.ok(figures().sent > 0)
  })
