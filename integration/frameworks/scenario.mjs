// The scenario that every framework is put through: one tool returns 5 MB, one throws 5 MB, one
// returns an image beside 5 MB.
import { readFileSync } from 'node:fs'

const LINE = `${'line of tool output é '.repeat(5)}\n`

/** 5.1 MB, like a log. */
export const TEXT = LINE.repeat(46_000)
export const DECISIVE = "src/cart.ts:7 - error: Cannot find name 'total'"
/** As much, with the line that tells what went wrong in the middle. */
export const FAILURE = `${LINE.repeat(23_000)}${DECISIVE}\n${LINE.repeat(23_000)}`
export const ROWS = TEXT.split('\n').slice(0, 20_000)
export const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Bytes that a result may have, its notice included. */
export const LIMIT = 51_200

/** Bytes of a text, or of the JSON of anything else. */
export function bytes(value) {
  return Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}

export function largest(values) {
  return Math.max(0, ...[...values].map(bytes))
}

const KB = 1_024

/** As docs/frameworks.md writes it. */
export function size(count) {
  return count < KB * KB ? `${Math.round(count / KB)} KB` : `${(count / KB / KB).toFixed(1)} MB`
}

const page = readFileSync(new URL('../../docs/frameworks.md', import.meta.url), 'utf8')

/** Rows of the table in a section of docs/frameworks.md, by hook. */
export function documented(heading) {
  const [section] = page.split(`\n## ${heading}\n`)[1]?.split('\n## ') ?? []
  if (section === undefined) throw new Error(`docs/frameworks.md has no section ${heading}`)
  const rows = [...section.matchAll(/^\| (.+) \|$/gm)].map(([, cells]) => cells.split(' | ')).slice(1)
  return Object.fromEntries(rows.map(([hook, ...cells]) => [hook.replaceAll('`', ''), cells]))
}
