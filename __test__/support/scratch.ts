import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Makes a folder for the tests of a file, which is removed after them. `write` makes a new file in
 *  it and returns its path. */
export function scratch(end = '.jsonl') {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-scratch-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  let files = 0
  const write = (text: string): string => {
    const path = join(dir, `${files++}${end}`)
    writeFileSync(path, text)
    return path
  }
  return { dir, write }
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
