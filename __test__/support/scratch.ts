import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A folder in memory, if the system has one: a law over thousands of repairs waits for the disk
 *  otherwise. */
export const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Makes a folder for the tests of a file, which is removed after them. `write` makes a new file in
 *  it and returns its path. `clear` removes all files. */
export function scratch(end = '.jsonl', root = tmpdir()) {
  const dir = mkdtempSync(join(root, 'spillway-scratch-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  let files = 0
  const write = (text: string): string => {
    const path = join(dir, `${files++}${end}`)
    writeFileSync(path, text)
    return path
  }
  const clear = () => {
    for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true })
  }
  return { dir, write, clear }
}

/** Writes rows as a session has them. */
export function jsonLines(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/** Reads the rows of a session. */
// biome-ignore lint/suspicious/noExplicitAny: rows of several formats
export function readRows(path: string): any[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row))
}
