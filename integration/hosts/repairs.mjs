// The command line over the sessions of a home.
import { readFileSync } from 'node:fs'
import { tried } from './drive.mjs'
import { NOTHING } from './memory.mjs'
import { oneLine } from './sessions.mjs'

/** Flags of repairs, by name. */
export const REPAIRS = {
  plain: [],
  pairs: ['--pairs'],
  mend: ['--damaged', 'mend'],
  media: ['--for', 'anthropic'],
  all: ['--pairs', '--damaged', 'mend', '--for', 'anthropic', '--max-bytes', '20000'],
}

const jsonLines = (out) =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

/** Repairs sessions, and adds up what the reports say. */
export function repair(home, paths, flags) {
  const report = { ...NOTHING }
  for (const one of jsonLines(tried(home, 'repair', '--json', ...flags, ...paths).out)) {
    report.clamped += one.clamped
    report.paired += one.paired ?? 0
    report.orphans += one.orphans ?? 0
    report.damaged += one.damaged
    report.media += one.media?.items ?? 0
  }
  return report
}

/** Shows what a report counts. */
export const shown = (report) =>
  Object.entries(report)
    .flatMap(([name, count]) => (count > 0 ? `${count} ${name}` : []))
    .join(', ') || 'no row'

/** Returns what `doctor` lists, of the places that it knows and of these files: the flags of each
 *  repair. */
export function listedIn(home, paths) {
  const all = [[], paths].flatMap((given) => jsonLines(tried(home, 'doctor', '--json', ...given).out))
  const commands = new Map(all.flatMap(({ path, command }) => (command ? [[path, command]] : [])))
  return [...commands].map(([path, command]) => ({ path, flags: command.split(' ').slice(2, -1) }))
}

/** Undoes the repairs of files whose bytes were `old`. Returns what is wrong with that. */
export const undo = (home, old) =>
  [...old].flatMap(([path, bytes]) => {
    if (readFileSync(path).equals(bytes)) return []
    const { said } = tried(home, 'repair', '--undo', path)
    return readFileSync(path).equals(bytes) ? [] : [`undo: ${oneLine(said)}`]
  })

/** The messages of a document, none if it is torn. */
const listOf = (bytes) => {
  try {
    const value = JSON.parse(bytes)
    return (value.messages ?? value.history ?? value).map((message) => JSON.stringify(message))
  } catch {
    return []
  }
}
/** More than another file: rows below its bytes, or messages below those of a document. */
const isMore = (is, was, isDocument) => {
  const [all, some] = isDocument ? [listOf(is), listOf(was)] : [is, was]
  if (all.length <= some.length) return false
  return isDocument ? some.every((one, at) => one === all[at]) : all.subarray(0, some.length).equals(some)
}

/** Undoes the repairs of files that hosts have appended to since. */
export const undoBelow = (home, old, repaired, { isDocument }) =>
  [...old].flatMap(([path, bytes]) => {
    const was = repaired.get(path)
    const now = readFileSync(path)
    if (was.equals(bytes) || !isMore(now, was, isDocument)) return []
    const { said } = tried(home, 'repair', '--undo', '--keep-appended', path)
    if (isMore(readFileSync(path), bytes, isDocument)) return []
    return [`undo below ${now.length - was.length} bytes: ${oneLine(said)}`]
  })
