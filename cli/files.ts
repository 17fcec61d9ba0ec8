import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, normalize, parse, sep } from 'node:path'
import { text } from 'node:stream/consumers'
import { agents } from '../src/layouts.json'
import { type Database, databaseNamed } from './databases.js'
import { platform } from './platform.js'
import { UsageError } from './term/usage_error.js'

// Names of files are bytes here, since a name need not be UTF-8. Such a file is found like any
// other and returned with U+FFFD in its name, so that the error of opening it names it.

/** Returns the files that names and patterns denote, each once, for shells that leave patterns to
 *  the command. A pattern without a match stays as it is, so that the error of the file that does
 *  not exist names it. */
export async function filesOf(names: readonly string[]): Promise<string[]> {
  const found: string[][] = []
  for (const name of names) {
    const files = MAGIC.test(name) && !(await kindOf(name)) ? await matchesOf(name) : []
    found.push(files.length === 0 ? [name] : files)
  }
  return [...new Set(found.flat())]
}

/** Takes the error of a place that could not be read, or holds nothing. */
export type OnError = (error: unknown, place: string) => void

/** Sessions, and databases beside them. */
export interface Sessions {
  readonly files: string[]
  readonly databases: Database[]
  /** The files that were given themselves. Others only have the name of a session. */
  readonly named: ReadonlySet<string>
}

/** Returns these files too, of a directory the sessions in it and below it with its databases, and
 *  for `-` the paths on stdin, one a line. */
export async function sessionsOf(
  names: readonly string[],
  command: string,
  onError: OnError,
): Promise<Sessions> {
  const [files, named]: [string[][], Set<string>] = [[], new Set()]
  const databases = new Map<string, Database>()
  const given = names.includes('-') ? await pathsOnStdin(command) : []
  for (const name of [...(await filesOf(names.filter((name) => name !== '-'))), ...given]) {
    if (!(await kindOf(name))?.isDirectory()) {
      files.push([name])
      named.add(name)
      continue
    }
    let isRead = true
    const found = await sessionsIn(name, (error, place) => {
      isRead = false
      onError(error, place)
    })
    files.push(found.files)
    for (const store of found.databases) databases.set(store.path, store)
    if (isRead && found.files.length === 0) onError(new EmptyFolder(name, found.databases), name)
  }
  return { files: [...new Set(files.flat())], databases: [...databases.values()], named }
}

/** The error of a directory without a session. */
export class EmptyFolder extends UsageError {
  readonly hasDatabases: boolean

  constructor(name: string, databases: readonly Database[]) {
    const stores = databases.map(
      ({ path, agent, advice }) => `${path} is a database of ${agent}, which is not read: ${advice}`,
    )
    const give =
      'give the file of a session, or a folder in which an agent that docs/sessions.md lists keeps its sessions'
    super(`${name}: holds no session that is known; ${stores.length > 0 ? stores.join('; ') : give}`, 1)
    this.hasDatabases = stores.length > 0
  }
}

async function pathsOnStdin(command: string): Promise<string[]> {
  if (process.stdin.isTTY)
    throw new UsageError(
      `stdin is a terminal; pipe paths into it: find . -name '*.jsonl' | spillway ${command} -`,
    )
  return (await text(process.stdin)).split(/\r?\n/).filter((path) => path !== '')
}

/** Returns the sessions in a directory and below it, and the databases. */
async function sessionsIn(name: string, onError: OnError): Promise<Omit<Sessions, 'named'>> {
  const all = await below([Buffer.from(name)], onError)
  const files = all
    .flatMap(({ place, entries }) =>
      entries.filter((entry) => entry.isFile()).map((entry) => pathOf(within(place, entry.name))),
    )
    .sort()
  const isSession = (file: string) => SESSIONS.some((shape) => shape.test(basename(file)))
  const stores = files.flatMap((path) => {
    const database = databaseNamed(basename(path))
    return database ? [{ path, ...database }] : []
  })
  return { files: files.filter(isSession), databases: stores }
}

const MAGIC = /[*?[]/

/** Expands a pattern by its segments: `*` and `?` within a name, `[a-z]`, and `**` for any
 *  directories. */
async function matchesOf(pattern: string): Promise<string[]> {
  const { root } = parse(pattern)
  return matchesIn(root, pattern.slice(root.length).split(platform.separators), () => {})
}

/** Expands the segments of a pattern in a directory. */
export async function matchesIn(
  place: string,
  segments: readonly string[],
  onError: OnError,
): Promise<string[]> {
  let places: Buffer[] = [Buffer.from(place)]
  for (const segment of segments) {
    if (segment === '**') places = (await below(places, onError)).map(({ place }) => place)
    else if (MAGIC.test(segment))
      places = (await Promise.all(places.map((at) => listed(at, segment, onError)))).flat()
    else places = places.map((place) => within(place, Buffer.from(segment)))
  }
  // A directory lists only names that exist.
  const isListed = MAGIC.test(segments.at(-1) ?? '')
  const kinds = isListed ? [] : await Promise.all(places.map(kindOf))
  return places
    .filter((_, at) => isListed || kinds[at])
    .map(pathOf)
    .sort()
}

/** A directory with its entries. */
interface Listing {
  readonly place: Buffer
  readonly entries: readonly DirEntry[]
}

type DirEntry = Dirent<Buffer>

/** Returns these directories and all below them, without hidden ones. Links are not followed. */
async function below(places: readonly Buffer[], onError: OnError): Promise<Listing[]> {
  const nested = places.map(async (place) => {
    const entries = await entriesOf(place, onError)
    const inner = entries.filter((entry) => entry.isDirectory() && entry.name[0] !== DOT)
    const deeper = await below(
      inner.map(({ name }) => within(place, name)),
      onError,
    )
    return [{ place, entries }, ...deeper]
  })
  return (await Promise.all(nested)).flat()
}

/** Returns what a segment of a pattern matches in a directory, without links that lead nowhere. */
async function listed(place: Buffer, segment: string, onError: OnError): Promise<Buffer[]> {
  const shape = shapeOf(segment)
  const entries = (await entriesOf(place, onError)).filter(({ name }) => shape.test(String(name)))
  const leads = await Promise.all(
    entries.map(async (entry) => !entry.isSymbolicLink() || (await kindOf(within(place, entry.name)))),
  )
  return entries.filter((_, at) => leads[at]).map(({ name }) => within(place, name))
}

async function entriesOf(place: Buffer, onError: OnError): Promise<DirEntry[]> {
  const at = place.length === 0 ? Buffer.from('.') : place
  return readdir(at, { withFileTypes: true, encoding: 'buffer' }).catch((error) => {
    onError(error, String(place))
    return []
  })
}

const DOT = '.'.charCodeAt(0)
const SEPARATOR = Buffer.from(sep)

/** Returns a path as the system takes it from a string. */
function pathOf(place: Buffer): string {
  return normalize(String(place))
}

/** Returns the path of a name in a directory. */
function within(place: Buffer, name: Buffer): Buffer {
  const isOpen = place.length === 0 || place.at(-1) === SEPARATOR[0]
  return Buffer.concat(isOpen ? [place, name] : [place, SEPARATOR, name])
}

function shapeOf(segment: string): RegExp {
  const source = segment.replace(/\[!?\]?[^\]]*\]|[*?]|[\\^$.|+(){}[\]]/g, (part) => {
    if (part === '*') return '.*'
    if (part === '?') return '.'
    if (part.length === 1) return `\\${part}`
    const [, not, inner = ''] = /^\[(!?)(.*)\]$/s.exec(part) ?? []
    return `[${not ? '^' : ''}${inner.replace(/[\\\]^[&~|]/g, '\\$&')}]`
  })
  // As in a shell, a hidden file is matched by a pattern that begins with a dot.
  const shown = segment.startsWith('.') ? '' : '(?!\\.)'
  try {
    return new RegExp(`^${shown}${source}$`, 's')
  } catch {
    // A range such as [z-a].
    return /(?!)/
  }
}

/** The names of sessions, as agents give them. */
const SESSIONS = [
  ...new Set(['*.jsonl', ...agents.flatMap(({ files }) => files.map((file) => basename(file)))]),
].map(shapeOf)

/** Returns true if two paths lead to one file, by links of any kind. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const stats = [one, other].map((path) => stat(path, { bigint: true }).catch(() => undefined))
  const [a, b] = await Promise.all(stats)
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

async function kindOf(path: string | Buffer) {
  return stat(path).catch(() => undefined)
}
