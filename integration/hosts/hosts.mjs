// Real coding agents, driven offline against a fake model on the loopback, each in an empty home:
// what the next request carries after a command, a file and a result of an MCP server, without the
// hook and with it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drive, hosts, spillway } from './drive.mjs'
import { DECISIVE, work } from './homes.mjs'

const LIMIT = 16_384

/** Runs a host with one call a step, and names what the model got of each. */
async function resultsOf(host, calls, prepare) {
  const steps = calls.map((call) => ({ calls: [call] }))
  const { code, requests, said } = await drive(host, steps, { prepare })
  assert.equal(code, 0, said)
  const results = requests.at(-1).entries.filter(({ kind }) => kind === 'result')
  return Object.fromEntries(calls.map(({ name, of }, at) => [`${name} ${of}`, results[at]?.text ?? '']))
}

for (const host of hosts.filter(({ hooked }) => hooked))
  test(`${host.name} ${host.version} takes every shape of the table`, async (t) => {
    if (host.missing) return t.skip(`not installed: ${host.missing}`)
    const calls = host.hooked(work)
    const plain = await resultsOf(host, calls)
    let figures
    const hooked = await resultsOf(host, calls, (env) => {
      spillway(env, 'install', host.name, '--yes')
      figures = () => JSON.parse(spillway(env, 'stats', '--json'))
    })
    for (const { name, of, isLeft, isLog } of calls) {
      const [before, after] = [plain, hooked].map((all) => all[`${name} ${of}`])
      t.diagnostic(`${name} ${of}: ${before.length} chars without the hook, ${after.length} with it`)
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
