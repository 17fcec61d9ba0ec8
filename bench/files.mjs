// Files as a model is shown them: of the checkout, and of what this bench has installed from its
// lock file.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const PLACES = ['README.md', 'lib', 'src', 'tests', '__test__', 'docs', 'bench/corpus', 'bench/node_modules']
const LEAST = 1_000
const MOST = 100_000

/** So many files that are text, the same ones each time: of each extension as many as of any other,
 *  while there are. */
export function files(count) {
  const paths = PLACES.flatMap(walk)
  const kinds = [...new Set(paths.map((path) => extname(path)))].sort().map((kind) =>
    spread(
      paths.filter((path) => extname(path) === kind),
      count,
    ),
  )
  const found = []
  for (let at = 0; found.length < count && kinds.some((paths) => at < paths.length); at++)
    for (const paths of kinds) {
      const text = at < paths.length && found.length < count ? textOf(paths[at]) : undefined
      if (text !== undefined) found.push([paths[at], text])
    }
  return found
}

function walk(path) {
  const full = join(root, path)
  if (statSync(full).isFile()) return [path]
  return readdirSync(full, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.isFile())
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? walk(join(path, entry.name)) : join(path, entry.name)))
    .filter((found) => sized(join(root, found)))
}

function sized(full) {
  const { size } = statSync(full)
  return size >= LEAST && size <= MOST
}

/** At most so many, from all parts of a list. */
function spread(paths, count) {
  const step = Math.max(1, paths.length / count)
  return Array.from({ length: Math.min(count, paths.length) }, (_, at) => paths[Math.floor(at * step)])
}

function textOf(path) {
  const bytes = readFileSync(join(root, path))
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
