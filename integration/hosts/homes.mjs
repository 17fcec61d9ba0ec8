// Homes of hosts. Hosts keep absolute paths to their sessions, so a home that was copied is put
// back to where it was.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lines } from './logs.mjs'
import { png } from './media.mjs'

/** Folder of a run, removed at its end. */
export const place = mkdtempSync(join(tmpdir(), 'spillway-hosts-'))
// A process that has ended may still hold a file.
const GONE = { recursive: true, force: true, maxRetries: 9, retryDelay: 200 }
process.on('exit', () => rmSync(place, GONE))

/** Folder in which hosts work, with the files that their tools read. */
export const work = join(place, 'work')
/** The text of a small result. */
export const SMALL = 'one-42'
/** An error in the middle of a long log. */
export const DECISIVE = '2026-01-02T03:04:06Z ERROR the disk is full'
mkdirSync(work)
for (const [name, content] of Object.entries({
  'one.txt': SMALL,
  'small.txt': lines(40_000),
  'large.log': `${lines(100_000)}\n${DECISIVE}\n${lines(100_000)}\n`,
  'wide.log': lines(40_000).replaceAll(/(?:.+\n){8}/g, (all) => `${all.replaceAll('\n', ' ')}\n`),
  'huge.log': lines(5_000_000),
  'shot.png': png(8, 8),
  'wide.png': png(9_000, 20),
}))
  writeFileSync(join(work, name), content)

let homes = 0
export function newHome() {
  const home = join(place, `home-${homes++}`)
  mkdirSync(home)
  return home
}

/** Removes all homes. */
export function clear() {
  for (const name of readdirSync(place)) if (name.startsWith('home-')) rmSync(join(place, name), GONE)
}

/** Ends all that runs in a home: daemons that a host leaves behind write to it. */
export function endAllIn(home) {
  const all = spawnSync('ps', ['axeww', '-o', 'pid=,command='], { encoding: 'utf8', maxBuffer: 1 << 26 })
  const running = all.stdout.split('\n').filter((line) => `${line} `.includes(` HOME=${home} `))
  for (const line of running)
    try {
      process.kill(Number.parseInt(line, 10), 'SIGKILL')
    } catch {}
  // One may have started another meanwhile.
  if (running.length > 0) endAllIn(home)
}

// A home is without the sockets and locks of daemons that have ended.
const isKept = (from) => !/\/locks\/hub|\.lock$|\.sock$/.test(from)
const OPTIONS = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter: isKept }

/** Copies a home and returns a function that puts it back as often as it is called. */
export function keep(home) {
  const copy = newHome()
  cpSync(home, copy, OPTIONS)
  return () => {
    rmSync(home, GONE)
    cpSync(copy, home, OPTIONS)
  }
}

/** Returns the paths of files in a home, the largest first. */
export const filesIn = (home, files) =>
  readdirSync(home, { recursive: true })
    .map((name) => join(home, name))
    .filter((path) => files.test(path) && existsSync(path) && statSync(path).isFile())
    .sort((a, b) => statSync(b).size - statSync(a).size || (a < b ? -1 : 1))
