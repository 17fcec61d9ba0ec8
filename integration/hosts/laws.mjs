// First, do no harm: three laws over sessions that real hosts wrote, as they are and after repairs.
//
// a. `doctor` lists a session only if the repair that it prints is of use to the host, and lists
//    each that a repair is of use to, but for calls without a result: no host needs one.
// b. After any repair a session that opened opens, and is sent all that was sent before, but for
//    what the report says; so are its forks and subagents. What a provider took, it takes.
// c. `--undo` brings back the old bytes, above what the host has appended since.
//
// Before is held against after, since hosts mend much by themselves: each puts in a result where
// one is missing, or leaves the call out.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { hosts } from './drive.mjs'
import { historiesOf } from './histories.mjs'
import { clear, filesIn, keep, newHome, work } from './homes.mjs'
import { gainsOf, lossesOf, UNDONE } from './memory.mjs'
import { listedIn, REPAIRS, repair, shown, undo, undoBelow } from './repairs.mjs'
import { make, open, waysOf } from './sessions.mjs'

const digest = (paths) => {
  const hash = createHash('sha256')
  for (const path of paths) hash.update(path).update(readFileSync(path))
  return hash.digest('hex')
}
const bytesOf = (paths) => new Map(paths.map((path) => [path, readFileSync(path)]))

/** A session in its home, with what a host sends of it as it is. */
async function patientOf(host, history) {
  const home = newHome()
  const known = await make(host, home, history)
  const paths = filesIn(home, host.sessions)
  const putBack = keep(home)
  const ways = waysOf(host, paths, history)
  const before = []
  for (const way of ways) {
    putBack()
    before.push(await open(host, home, way))
  }
  putBack()
  return { host, home, known, paths, putBack, ways, before, old: bytesOf(paths) }
}

/** Judges a home that was repaired. Returns the broken laws, and the gains of the host. */
async function judge({ host, home, known, paths, ways, before, old }, report) {
  const putRepaired = keep(home)
  const broken = undo(home, old).map((words) => `c: ${words}`)
  const gains = []
  for (const [at, way] of ways.entries()) {
    putRepaired()
    const repaired = bytesOf(paths)
    const after = await open(host, home, way)
    const { memory, faults } = before[at]
    const tell = (words) => broken.push(`b: ${way.name}: ${words}`)
    for (const loss of lossesOf({ before: memory, after: after.memory, known, report })) tell(loss)
    if (memory && !after.memory) tell(after.said)
    if (memory && faults.length === 0 && after.faults.length > 0) tell(`rejected: ${after.faults}`)
    gains.push(...gainsOf({ before: before[at], after, known }))
    // What was exported is not what the host appends to.
    if (at > 0 || host.unpack) continue
    broken.push(...undoBelow(home, old, repaired, host).map((words) => `c: ${words}`))
    const undone = await open(host, home, way)
    const stored = host.restates ? after.memory : memory
    for (const loss of lossesOf({ before: stored, after: undone.memory, known, report: UNDONE }))
      broken.push(`c: after an undo: ${loss}`)
  }
  return { broken, gains: [...new Set(gains)] }
}

/** Tries all repairs of a session, and holds `doctor` against what they are good for. */
async function examine(host, history, t) {
  const patient = await patientOf(host, history)
  const { home, paths, putBack, before } = patient
  const listed = listedIn(home, paths)
  const [{ memory, faults, said }] = before
  const opens = memory ? `opens, ${memory.length} entries` : `does not open: ${said}`
  const asked = listed.map(({ flags }) => `repair ${flags.join(' ')}`.trim())
  t.diagnostic(`${opens}${faults.map((fault) => `, rejected: ${fault}`)}; doctor: ${asked.join() || 'none'}`)

  const asItIs = digest(paths)
  const verdicts = new Map()
  const broken = []
  const verdictOf = async (name, flags) => {
    putBack()
    const report = repair(home, paths, flags)
    const now = digest(paths)
    if (now === asItIs) return { gains: [] }
    if (!verdicts.has(now)) {
      const verdict = await judge(patient, report)
      verdicts.set(now, verdict)
      broken.push(...verdict.broken.map((words) => `${name} (${shown(report)}), ${words}`))
      t.diagnostic(`${name}: ${shown(report)}; ${verdict.gains.join(', ') || 'of no use'}`)
    }
    return verdicts.get(now)
  }
  for (const [name, flags] of Object.entries(REPAIRS)) {
    const { gains } = await verdictOf(name, flags)
    // These have limits of their own.
    const isOwn = ['media', 'all'].includes(name)
    // A host leaves a call without a result out, and needs none.
    const needed = gains.filter((gain) => name !== 'pairs' || !/^call .* is back$/.test(gain))
    if (!isOwn && needed.length > 0 && listed.length === 0)
      broken.push(`a: not listed, and ${name} is of use: ${needed}`)
  }
  for (const { flags } of listed) {
    const { gains } = await verdictOf('listed', flags)
    if (gains.length === 0) broken.push(`a: listed, and "${flags.join(' ')}" is of no use`)
  }
  if (broken.length > 0) throw new Error(`\n${broken.join('\n')}`)
}

const named = process.env.SPILLWAY_SESSIONS?.split(/ *, */)

for (const host of hosts) {
  if (host.missing) {
    test(`${host.name} ${host.version}`, (t) => t.skip(`not run, it does not install: ${host.missing}`))
    continue
  }
  for (const [name, history] of historiesOf(host, work)) {
    if (named && !named.some((part) => name.includes(part))) continue
    test(`${host.name} ${host.version}: ${name}`, async (t) => {
      try {
        await examine(host, history, t)
      } finally {
        clear()
      }
    })
  }
}
