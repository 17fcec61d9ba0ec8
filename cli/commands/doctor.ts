import { realpath, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { Database } from '../databases.js'
import { type Case, examine, type SizedFile } from '../doctor/case.js'
import { findAll, type HomeFile } from '../doctor/homes.js'
import { EmptyFolder, type OnError, sessionsOf } from '../files.js'
import { doctorPageOf } from '../page/doctor_page.js'
import { forFlag, LIMITS, mediaFor, policyFlags, policyOf } from '../policy.js'
import { pool } from '../pool.js'
import type { Args, Command, Flags } from '../term/args.js'
import { jsonLine } from '../term/escape.js'
import { ProgressLine } from '../term/progress.js'
import { SUMMARIES } from '../term/summaries.js'
import { count, counted } from '../term/table.js'
import { out } from '../term/terminal.js'
import { naming, notASession, UnreadPlaces } from '../term/usage_error.js'

const POLICY = policyFlags({ keep: 'auto', notice: 'pi', clean: 'never' })

export const doctor: Command = {
  summary: SUMMARIES.doctor,
  usage: ['spillway doctor [PATH...] [flags]'],
  about: `Looks through the sessions in and below PATH, or through those that agents keep
on this machine, and lists, newest first, each that needs a repair, with the
reason, what the repair takes away, and its command. Never writes. Finds results
over the limits, rows that are not JSON, results without a call, images and
files that the provider of the agent rejects (of agents with several, any),
results that together exceed every window, names of calls that no provider
takes, and lost rows. Exits with 1 if a file or directory could not be read.`,
  names: 'file',
  flags: {
    json: { help: 'print each session and database as a line of JSON' },
    for: forFlag('name'),
    ...(Object.fromEntries(LIMITS.map((name) => [name, POLICY[name]])) as Flags),
  },
  examples: [
    ['All sessions of all agents', 'spillway doctor'],
    ['Those of one project', 'spillway doctor ~/.claude/projects/-home-me-shop'],
    ['Only what a model with a large window would not take', 'spillway doctor --max-tokens 100000'],
    ['For a script', "spillway doctor --json | jq -r '.command // empty'"],
  ],
  run,
}

async function run(args: Args): Promise<number> {
  const unread = new UnreadPlaces('doctor')
  // No agent has been here, or a pattern met a file.
  const onError = (error: unknown, place: string) => {
    const { code } = error as NodeJS.ErrnoException
    const isExpected =
      error instanceof EmptyFolder ? error.hasDatabases : code === 'ENOENT' || code === 'ENOTDIR'
    if (!isExpected) unread.take(error, place)
  }
  const policy = { ...policyOf(args), ...mediaFor(args) }
  const isGiven = args.names.length > 0
  const { homes, files, databases, named } = isGiven
    ? await given(args.names, onError)
    : { ...(await findAll(onError)), named: new Set<string>() }
  await unread.exit()
  const newest = await byAge(files, unread)
  const progress = new ProgressLine('doctor')
  const cases: Case[] = []
  const work = (file: SizedFile) => naming(file.path, examine(file, policy, args))
  for (const [at, examining] of pool(newest, work, 2 * availableParallelism()).entries()) {
    const { path = '' } = newest[at] ?? {}
    progress.show(at / newest.length, `of ${counted(newest.length, 'session')}, ${count(cases.length)} found`)
    try {
      const found = await examining
      if (found === 'unknown' && named.has(path)) throw notASession(path)
      if (typeof found === 'object') cases.push(found)
    } catch (error) {
      progress.clear()
      unread.take(error, path)
    }
  }
  progress.clear()
  await out.write(
    args.has('json')
      ? [...cases, ...databases].map(jsonLine).join('')
      : doctorPageOf(cases, databases, newest.length, homes),
  )
  return unread.exit()
}

async function given(
  names: readonly string[],
  onError: OnError,
): Promise<{
  homes: readonly string[]
  files: HomeFile[]
  databases: Database[]
  named: ReadonlySet<string>
}> {
  const { files, databases, named } = await sessionsOf(names, 'doctor', onError)
  return { homes: names, files: files.map((path) => ({ path })), databases, named }
}

/** Reads the sizes and times of files, and puts the newest first. Empty ones hold no session, and
 *  an agent keeps none in a directory of that name. */
async function byAge(files: readonly HomeFile[], unread: UnreadPlaces): Promise<SizedFile[]> {
  const dated: SizedFile[] = []
  const inodes = new Map<string, LinkedFile>()
  const work = ({ path }: HomeFile) => naming(path, stat(path))
  for (const [at, reading] of pool(files, work, 4 * availableParallelism()).entries()) {
    const file = files[at] as HomeFile
    try {
      const found = await reading
      const { mtime: modified, size: bytes, dev, ino } = found
      const mayHold = found.isFile() ? bytes > 0 : file.agent === undefined
      if (!mayHold) continue
      const key = `${dev} ${ino}`
      const linked = inodes.get(key) ?? new LinkedFile()
      inodes.set(key, linked)
      if (!(await linked.isNew(file.path))) continue
      dated.push({ ...file, modified, bytes })
    } catch (error) {
      unread.take(error, file.path)
    }
  }
  return dated.sort((a, b) => +b.modified - +a.modified || (a.path < b.path ? -1 : 1))
}

/** The paths of one file. A hard link is a session of its own, since a repair leaves the other
 *  names to the old file. */
class LinkedFile {
  #only: string | undefined
  readonly #real = new Set<string>()

  /** Returns false if a symbolic link makes a path one of those before. Each is resolved once, and
   *  none for a file with one path. */
  async isNew(path: string): Promise<boolean> {
    if (this.#only === undefined) {
      this.#only = path
      return true
    }
    if (this.#real.size === 0) this.#real.add(await realpath(this.#only))
    const known = this.#real.size
    return this.#real.add(await realpath(path)).size > known
  }
}
