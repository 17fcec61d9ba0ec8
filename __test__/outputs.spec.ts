import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'

interface Output {
  name: string
  file: string
  command: string
  failed: boolean
  question: string
  must: string[]
  helps: string[]
  /** What is not as the tool would have printed it elsewhere. */
  edited?: string
}

const folder = join(__dirname, 'outputs')
const outputs: Output[] = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))

function read({ file }: Output): Buffer {
  const stored = readFileSync(join(folder, file))
  return file.endsWith('.gz') ? gunzipSync(stored) : stored
}

describe('the recorded outputs', () => {
  it.each(outputs)('$name is whole and answers its question', (output) => {
    const bytes = read(output)
    expect(output.file).toBe(`${output.name}.txt${bytes.length > 30 * 1024 ? '.gz' : ''}`)
    const raw = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    expect(raw).not.toMatch(/\/work\/|\/root\//)
    const text = stripVTControlCharacters(raw)
    expect(output.must.length).toBeGreaterThan(0)
    for (const source of output.must) {
      // few places: a line that is everywhere decides nothing
      const count = text.match(new RegExp(source, 'gm'))?.length ?? 0
      expect(count, source).toBeGreaterThan(0)
      expect(count, source).toBeLessThan(4)
    }
    for (const source of output.helps) expect(text).toMatch(new RegExp(source, 'm'))
  })

  it('are all in the manifest, once', () => {
    const stored = readdirSync(folder).filter((file) => /\.txt(\.gz)?$/.test(file))
    expect(outputs.map(({ file }) => file).sort()).toEqual(stored.sort())
  })

  it('are long enough and decided in the middle often enough', () => {
    const failures = outputs.filter(({ failed }) => failed)
    const long = failures.filter((output) => read(output).length > 50 * 1024)
    const middle = long.filter((output) => {
      const text = stripVTControlCharacters(read(output).toString('utf8'))
      const at = text.search(new RegExp(output.must[0] ?? '', 'm')) / text.length
      return at > 0.2 && at < 0.8
    })
    expect(failures.length).toBeGreaterThanOrEqual(20)
    expect(long.length).toBeGreaterThanOrEqual(10)
    expect(middle.length).toBeGreaterThanOrEqual(8)
    expect(outputs.length - failures.length).toBeGreaterThanOrEqual(8)
  })
})
