import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { type Case, type Dated, examine } from '../doctor/case.js'
import { type Found, findAll } from '../doctor/homes.js'
import { sessionsOf } from '../files.js'
import { doctorPageOf } from '../page/doctor_page.js'
import { forFlag, LIMITS, mediaFor, policyFlags, policyOf } from '../policy.js'
import { pool } from '../pool.js'
import type { Args, Command, Flags } from '../term/args.js'
import { jsonLine } from '../term/escape.js'
import { Progress } from '../term/progress.js'
import { SUMMARIES } from '../term/summaries.js'
import { count, counted } from '../term/table.js'
import { out } from '../term/terminal.js'
import { naming, notASession, tellOf } from '../term/usage_error.js'

const POLICY = policyFlags({ keep: 'auto', notice: 'pi', clean: 'never' })

export const doctor: Command = {
  summary: SUMMARIES.doctor,
  usage: ['spillway doctor [PATH...] [flags]'],
  about: `Looks through the sessions in and below PATH, or through those that agents keep
on this machine, and lists, newest first, each that needs a repair, with the
reason and the command that repairs it. Never writes. Finds results over the
limits, rows that are not JSON, calls without a result and results without a
call, and images and files that the provider of the agent rejects; of agents
with several, any provider. Exits with 1 if a file or directory could not be
read.`,
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
  let exit = 0
  const tell = async (error: unknown) => {
    exit = 1
    await tellOf(error, 'doctor')
  }
  const unread: Promise<void>[] = []
  // No agent has been here, or a pattern met a file.
  const onError = (error: unknown, place: string) => {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR') unread.push(naming(place, Promise.reject(error)).catch(tell))
  }
  const policy = { ...policyOf(args), ...mediaFor(args) }
  const isGiven = args.names.length > 0
  const { homes, files, databases } = isGiven
    ? { homes: args.names, files: await given(args.names, onError), databases: [] }
    : await findAll(onError)
  await Promise.all(unread)
  const newest = await byAge(files, tell)
  const progress = new Progress('doctor')
  const cases: Case[] = []
  const work = (file: Dated) => naming(file.path, examine(file, policy, args))
  for (const [at, examining] of pool(newest, work, 2 * availableParallelism()).entries()) {
    progress.show(at / newest.length, `of ${counted(newest.length, 'session')}, ${count(cases.length)} found`)
    try {
      const found = await examining
      if (found === 'unknown' && isGiven && args.names.includes(newest[at]?.path ?? ''))
        throw notASession(newest[at]?.path ?? '')
      if (typeof found === 'object') cases.push(found)
    } catch (error) {
      progress.clear()
      await tell(error)
    }
  }
  progress.clear()
  await out.write(
    args.has('json')
      ? [...cases, ...databases].map(jsonLine).join('')
      : doctorPageOf(cases, databases, newest.length, homes),
  )
  return exit
}

async function given(names: readonly string[], onError: Parameters<typeof sessionsOf>[1]): Promise<Found[]> {
  return (await sessionsOf(names, onError, 'doctor')).map((path) => ({ path }))
}

/** Reads the sizes and times of files, and puts the newest first. Empty ones hold no session, and
 *  an agent keeps none in a directory of that name. */
async function byAge(files: readonly Found[], tell: (error: unknown) => Promise<void>): Promise<Dated[]> {
  const dated: Dated[] = []
  const work = ({ path }: Found) => naming(path, stat(path))
  for (const [at, reading] of pool(files, work, 4 * availableParallelism()).entries()) {
    const file = files[at] as Found
    await reading
      .then((found) => {
        const { mtime: modified, size: bytes } = found
        const mayHold = found.isFile() ? bytes > 0 : file.agent === undefined
        if (mayHold) dated.push({ ...file, modified, bytes })
      })
      .catch(tell)
  }
  return dated.sort((a, b) => +b.modified - +a.modified || (a.path < b.path ? -1 : 1))
}
