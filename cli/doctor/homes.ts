import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import layouts from '../../src/layouts.json'
import { type Database, databaseNamed } from '../databases.js'
import { matchesIn } from '../files.js'
import { platform } from '../platform.js'

/** A place where an agent keeps sessions. Of those of one agent that hold on a platform, the first
 *  counts whose variable is set, or that needs none. */
interface Home {
  readonly platform?: string
  /** Variable with a directory. */
  readonly env?: string
  /** Directory in the home of the user. */
  readonly home?: string
  /** Directory below either. */
  readonly below?: string
}

/** A row of `agents` in src/layouts.json. */
interface Agent {
  readonly name: string
  readonly homes: readonly Home[]
  /** Patterns of sessions, and of databases, in its home. */
  readonly files: readonly string[]
  readonly databases?: readonly string[]
  /** It no longer reads the files once it has a database. */
  readonly migrated?: boolean
}

/** A file in the home of an agent. */
export interface HomeFile {
  readonly path: string
  readonly agent?: string
}

/** Finds what agents keep on this machine. `tell` takes each error of a directory that could not be
 *  read. */
export async function findAll(
  tell: (error: unknown, place: string) => void,
): Promise<{ homes: string[]; files: HomeFile[]; databases: Database[] }> {
  const agents: readonly Agent[] = layouts.agents as readonly Agent[]
  const homes: string[] = []
  const files = new Map<string, HomeFile>()
  const databases: Database[] = []
  for (const { name, homes: places, files: patterns, databases: stores = [], migrated } of agents) {
    const home = homeOf(places, process.env, platform.name)
    if (home === undefined) continue
    homes.push(home)
    const all = async (patterns: readonly string[]) =>
      (await Promise.all(patterns.map((pattern) => matchesIn(home, pattern.split('/'), tell)))).flat()
    const found = await all(stores)
    for (const path of found)
      databases.push({ path, agent: name, advice: databaseNamed(basename(path))?.advice ?? '' })
    if (migrated && found.length > 0) continue
    for (const path of await all(patterns)) files.set(path, { path, agent: name })
  }
  return { homes: [...new Set(homes)], files: [...files.values()], databases }
}

/** Returns the directory that an agent uses. */
export function homeOf(
  homes: readonly Home[],
  environment: Readonly<Record<string, string | undefined>>,
  system: string,
): string | undefined {
  for (const { platform: only = system, env, home = '', below = '' } of homes) {
    if (only !== system) continue
    if (env === undefined) return join(homedir(), home, below)
    const given = environment[env]?.trim()
    if (given) return join(resolve(given.replace(/^~(?=$|[\\/])/, () => homedir())), below)
  }
  return undefined
}
