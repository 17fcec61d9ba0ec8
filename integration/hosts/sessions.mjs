// Sessions that real coding agents wrote, with a result of 5 MB put in: resumed as they are, and
// after a repair.
import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { drive, hosts, newHome, place, spillway } from './drive.mjs'

const LIMIT = 51_200
const RESULT = 'one-42'
const LARGE = `${RESULT}\n${'2026-01-02T03:04:05Z INFO one more line of the log\n'.repeat(100_000)}`
const LARGE_JSON = JSON.stringify(LARGE).slice(1, -1)

writeFileSync(join(place, 'one.txt'), RESULT)

/** Returns the one session of a home. */
function sessionIn(home, { files }) {
  const all = readdirSync(home, { recursive: true }).map((name) => join(home, name))
  const found = all.filter((path) => files.test(path) && statSync(path).isFile())
  assert.equal(found.length, 1, `sessions: ${found}`)
  return found[0]
}

for (const [name, host] of hosts.filter(([, { session }]) => session))
  test(`${name} ${host.version} resumes a repaired session`, async () => {
    const { session } = host
    const home = newHome()
    const [first] = await drive(host, [session.call], { home })
    assert.ok(first.includes(RESULT), first)
    const path = sessionIn(home, session)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(RESULT, LARGE_JSON))
    // A host may compact what it cannot send, so each resumes a copy of its own.
    const other = newHome()
    cpSync(home, other, { recursive: true })
    const [bricked] = await drive(host, [], { home: other, args: session.resume })
    const report = JSON.parse(spillway({ HOME: home }, 'repair', '--json', path))
    const [repaired] = await drive(host, [], { home, args: session.resume })
    console.log(
      `${name}: the result has ${bricked.length} chars as it is, ${repaired.length} repaired; the file ${report.bytesBefore} and ${report.bytesAfter} bytes`,
    )
    assert.ok(session.isCut || bricked.length > 20 * LIMIT)
    assert.ok(report.bytesAfter < report.bytesBefore / 20)
    assert.ok(Buffer.byteLength(repaired) < 1.1 * LIMIT)
    assert.ok(repaired.includes(RESULT))
  })
