// First, do no harm: three laws over sessions that real hosts wrote, as they are and after repairs.
//
// a. `doctor` lists a session only if the repair that it prints is of use to the host, and lists
//    each that a repair is of use to.
// b. After any repair a session that opened opens, and is sent all that was sent before, but for
//    what the report says; so are its forks and subagents. What a provider took, it takes.
// c. `--undo` brings back the old bytes, and what the host has appended since.
//
// Before is held against after, since hosts mend much by themselves: each puts in a result where
// one is missing, or leaves the call out.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { drive, hosts, tried } from './drive.mjs'
import { historiesOf } from './histories.mjs'
import { clear, filesIn, keep, newHome, work } from './homes.mjs'
import { gainsOf, lossesOf, memoryOf, opened, promptOf } from './memory.mjs'
import { faultsOf } from './rules.mjs'

const REPAIRS = {
  plain: [],
  pairs: ['--pairs'],
  mend: ['--damaged', 'mend'],
  media: ['--for', 'anthropic'],
  all: ['--pairs', '--damaged', 'mend', '--for', 'anthropic', '--max-bytes', '20000'],
}
const LAST = promptOf(99)

/** Makes a session and returns all that was sent of it, by key. A result that a run begins with, and
 *  that was not sent before, is the host's own for one that is missing. */
async function make(host, home, { runs, edit, hasFork }) {
  const known = new Map()
  const main = () => filesIn(home, host.sessions)[0]
  const start = async (steps, options) => {
    const { code, requests, said } = await drive(host, steps, { home, ...options })
    if (!options.kill) assert.equal(code, 0, said)
    for (const [nth, request] of requests.entries())
      for (const entry of memoryOf(request))
        if (nth > 0 || entry.kind !== 'result' || known.has(entry.key)) known.set(entry.key, entry)
    host.unpack?.(home)
  }
  for (const [turn, { steps, kill, prompt = promptOf(turn) }] of runs.entries())
    await start(steps, { how: turn > 0 ? { resume: main() } : {}, prompt, kill })
  assert.ok(main(), 'it has written no session')
  edit?.(main(), host)
  if (hasFork) await start([], { how: { fork: main() }, prompt: promptOf(98) })
  return known
}

const digest = (paths) => {
  const hash = createHash('sha256')
  for (const path of paths) hash.update(path).update(readFileSync(path))
  return hash.digest('hex')
}
const jsonLines = (out) =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
/** Puts words on one line, without the folders of paths. */
const oneLine = (text, most = 300) =>
  text
    .replaceAll(/\s*\n\s*/g, ' / ')
    .replaceAll(/[^\s"'(]*\/([^\s"'/)]*)/g, '$1')
    .slice(-most)

/** Repairs all sessions of a home, and adds up what the reports say. */
function repair(home, paths, flags) {
  const { out } = tried(home, 'repair', '--json', ...flags, ...paths)
  const report = { clamped: 0, paired: 0, orphans: 0, damaged: 0, media: 0 }
  for (const { clamped, paired = 0, orphans = 0, damaged, media } of jsonLines(out)) {
    report.clamped += clamped
    report.paired += paired
    report.orphans += orphans
    report.damaged += damaged
    report.media += media?.items ?? 0
  }
  return report
}

/** Shows what a report counts. */
const shown = (report) =>
  Object.entries(report)
    .flatMap(([name, count]) => (count > 0 ? `${count} ${name}` : []))
    .join(', ') || 'no row'

/** The ways into a home: its sessions resumed, a fork made of the first. */
function waysOf(host, paths, { isForked, hasFork }) {
  const [main, other] = paths
  return [
    { name: 'resumed', how: { resume: main } },
    ...(hasFork ? [{ name: 'the fork resumed', how: { resume: other } }] : []),
    ...((isForked || hasFork) && host.hasForks ? [{ name: 'forked', how: { fork: main } }] : []),
  ]
}

async function open(host, home, { how }) {
  host.pack?.(home)
  const run = await drive(host, [], { home, how, prompt: LAST })
  const memory = opened(run)
  return { memory, faults: memory ? faultsOf(run.requests[0]) : [], said: oneLine(run.said) }
}

/** Returns what `doctor` lists, of the places that it knows and of these files. */
function listedIn(home, paths) {
  const all = [[], paths].flatMap((given) => jsonLines(tried(home, 'doctor', '--json', ...given).out))
  return [...new Map(all.filter(({ command }) => command).map((one) => [one.path, one])).values()]
}

async function judge(host, history, t) {
  const home = newHome()
  const known = await make(host, home, history)
  const paths = filesIn(home, host.sessions)
  const putBack = keep(home)
  const old = new Map(paths.map((path) => [path, readFileSync(path)]))
  const asItIs = digest(paths)
  const listed = listedIn(home, paths)
  const ways = waysOf(host, paths, history)
  const before = []
  for (const way of ways) {
    putBack()
    before.push(await open(host, home, way))
  }
  t.diagnostic(
    `${before[0].memory ? `opens, ${before[0].memory.length} entries${before[0].faults.length ? `, rejected: ${before[0].faults}` : ''}` : `does not open: ${before[0].said}`}; doctor: ${listed.map(({ command }) => oneLine(command)).join() || 'none'}`,
  )
  const broken = []
  const useful = new Map()
  const judged = new Map()
  for (const [name, flags] of Object.entries(REPAIRS)) {
    putBack()
    const report = repair(home, paths, flags)
    const now = digest(paths)
    if (now === asItIs) continue
    const tell = (law, words) => broken.push(`${law}, ${name} (${shown(report)}): ${words}`)
    if (judged.has(now)) {
      useful.set(name, judged.get(now))
      continue
    }
    const putRepaired = keep(home)
    for (const [path, bytes] of old) {
      if (readFileSync(path).equals(bytes)) continue
      const { said } = tried(home, 'repair', '--undo', path)
      if (!readFileSync(path).equals(bytes)) tell('c', `undo: ${oneLine(said)}`)
    }
    let gains = []
    for (const [at, way] of ways.entries()) {
      putRepaired()
      const repaired = new Map(paths.map((path) => [path, readFileSync(path)]))
      const after = await open(host, home, way)
      const { memory, faults } = before[at]
      const facts = { before: memory, after: after.memory, known, report }
      for (const loss of lossesOf(facts))
        tell('b', `${way.name}: ${loss}${after.memory ? '' : ` ${after.said}`}`)
      if (memory && faults.length === 0 && after.faults.length > 0)
        tell('b', `${way.name}: rejected: ${after.faults}`)
      gains = [...gains, ...gainsOf({ ...facts, faultsBefore: faults, faultsAfter: after.faults })]
      if (at === 0 && !host.isDocument) undoAfter(home, old, repaired, (words) => tell('c', words))
    }
    judged.set(now, gains)
    useful.set(name, gains)
    t.diagnostic(`${name}: ${shown(report)}; ${gains.join(', ') || 'of no use'}`)
  }
  // `all` has other limits than `doctor`.
  for (const [name, gains] of useful)
    if (name !== 'all' && name !== 'media' && gains.length > 0 && listed.length === 0)
      broken.push(`a: not listed, and ${name} is of use: ${gains.slice(0, 3)}`)
  for (const { command } of listed) {
    putBack()
    const flags = command.split(' ').slice(2, -1)
    const report = repair(home, paths, flags)
    const after = await open(host, home, ways[0])
    const [{ memory, faults }] = before
    const facts = { before: memory, after: after.memory, known, report }
    const gains = gainsOf({ ...facts, faultsBefore: faults, faultsAfter: after.faults })
    if (gains.length === 0) broken.push(`a: listed, and "${flags.join(' ')}" (${shown(report)}) is of no use`)
  }
  if (broken.length > 0) throw new Error(`\n${broken.join('\n')}`)
}

/** Undoes a repair after which the host has written more. */
function undoAfter(home, old, repaired, tell) {
  for (const [path, bytes] of old) {
    const was = repaired.get(path)
    const now = readFileSync(path)
    if (was.equals(bytes) || !now.subarray(0, was.length).equals(was)) continue
    const { said } = tried(home, 'repair', '--undo', '--keep-appended', path)
    // Behind a torn row, what was appended begins a row.
    const end = bytes.at(-1) === 10 ? '' : '\n'
    const expected = Buffer.concat([bytes, Buffer.from(end), now.subarray(was.length)])
    if (!readFileSync(path).equals(expected))
      tell(`undo after ${now.length - was.length} bytes more: ${oneLine(said)}`)
  }
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
        await judge(host, history, t)
      } finally {
        clear()
      }
    })
  }
}
