import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join, parse } from 'node:path'
import { text } from 'node:stream/consumers'
import { agents } from '../src/layouts.json'
import { platform } from './platform.js'
import { UsageError } from './term/usage_error.js'

/** Returns the files that names and patterns denote, each once, for shells that leave patterns to
 *  the command. A pattern without a match stays as it is, so that the error of the file that does
 *  not exist names it. */
export async function filesOf(names: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const name of names) {
    const files = MAGIC.test(name) && !(await kindOf(name)) ? await matchesOf(name) : []
    found.push(...(files.length === 0 ? [name] : files))
  }
  return [...new Set(found)]
}

/** Takes the error of a directory that could not be read. */
type OnError = (error: unknown, place: string) => void

/** Returns these files too, of a directory the sessions in it and below it, and for `-` the paths
 *  on stdin, one a line. */
export async function sessionsOf(
  names: readonly string[],
  onError: OnError = ignore,
  command = 'inspect',
): Promise<string[]> {
  const found: string[] = []
  const given = names.includes('-') ? await pathsOnStdin(command) : []
  for (const name of [...(await filesOf(names.filter((name) => name !== '-'))), ...given]) {
    const isDirectory = (await kindOf(name))?.isDirectory()
    const all = isDirectory ? (await Promise.all((await below([name], onError)).map(sessionsIn))).flat() : []
    found.push(...(all.length === 0 ? [name] : all.sort()))
  }
  return [...new Set(found)]
}

async function pathsOnStdin(command: string): Promise<string[]> {
  if (process.stdin.isTTY)
    throw new UsageError(
      `stdin is a terminal; pipe paths into it: find . -name '*.jsonl' | spillway ${command} -`,
    )
  return (await text(process.stdin)).split(/\r?\n/).filter((path) => path !== '')
}

async function sessionsIn(place: string): Promise<string[]> {
  const entries = await entriesOf(place, ignore)
  const isSession = (name: string) => SESSIONS.some((shape) => shape.test(name))
  const files = entries.filter((entry) => entry.isFile() && isSession(entry.name))
  return files.map(({ name }) => join(place, name))
}

const MAGIC = /[*?[]/

/** Expands a pattern by its segments: `*` and `?` within a name, `[a-z]`, and `**` for any
 *  directories. */
async function matchesOf(pattern: string): Promise<string[]> {
  const { root } = parse(pattern)
  return matchesIn(root, pattern.slice(root.length).split(platform.separators), ignore)
}

/** Expands the segments of a pattern in a directory. */
export async function matchesIn(
  place: string,
  segments: readonly string[],
  onError: OnError,
): Promise<string[]> {
  let places = [place]
  for (const segment of segments) {
    if (segment === '**') places = await below(places, onError)
    else if (MAGIC.test(segment))
      places = (await Promise.all(places.map((at) => listed(at, segment, onError)))).flat()
    else places = places.map((place) => join(place, segment))
  }
  const kinds = await Promise.all(places.map(kindOf))
  return places.filter((_, at) => kinds[at]).sort()
}

/** Returns these directories and all below them, without hidden ones. Links are not followed. */
async function below(places: readonly string[], onError: OnError): Promise<string[]> {
  const nested = places.map(async (place) => {
    const entries = await entriesOf(place, onError)
    const inner = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    const names = inner.map(({ name }) => join(place, name))
    return [place, ...(await below(names, onError))]
  })
  return (await Promise.all(nested)).flat()
}

async function listed(place: string, segment: string, onError: OnError): Promise<string[]> {
  const shape = shapeOf(segment)
  const entries = await entriesOf(place, onError)
  return entries.filter(({ name }) => shape.test(name)).map(({ name }) => join(place, name))
}

async function entriesOf(place: string, onError: OnError): Promise<Dirent[]> {
  return readdir(place || '.', { withFileTypes: true }).catch((error) => {
    onError(error, place)
    return []
  })
}

const ignore = () => {}

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

async function kindOf(path: string) {
  return stat(path).catch(() => undefined)
}
