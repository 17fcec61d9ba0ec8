import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { clampText, cleanText, type TextPolicy, wrapTool } from 'spillway'
import { describe, expect, it } from 'vitest'

interface Output {
  name: string
  file: string
  command: string
  failed: boolean
  question: string
  must: string[]
  helps: string[]
  /** Differences from what the tool would have printed elsewhere. */
  edited?: string
}

const folder = join(__dirname, '../outputs')
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

/** The cuts that docs/what-survives.md puts side by side. */
const CUTS: Record<string, TextPolicy> = {
  head: { keep: 'head' },
  tail: { keep: 'tail' },
  'both ends': { keep: 'ends' },
  'both ends, 20 % for the head': { keep: 'ends', headShare: 0.2 },
  findings: { keep: 'findings' },
  "'auto', nothing told": {},
}
const LIMITS = [4_000, 8_000, 16_000, 51_200]

describe('what a cut leaves of the failures', () => {
  const failures = outputs.filter(({ failed }) => failed)
  const cleaned = new Map(failures.map((output) => [output, cleanText(read(output))]))
  const lifted = { maxBytes: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY }
  const answers = ({ must }: Output, text: string) =>
    must.every((source) => new RegExp(source, 'm').test(stripVTControlCharacters(text)))

  it.each(failures)('the answer to $name is among its findings at 8,000 chars', (output) => {
    const clamped = clampText(cleaned.get(output) ?? '', { ...lifted, keep: 'findings', maxChars: 8_000 })
    expect(clamped.length).toBeLessThanOrEqual(8_000)
    for (const source of output.must) expect(clamped).toMatch(new RegExp(source, 'm'))
  })

  it('is what the documentation says', { tags: 'long' }, () => {
    const rows = Object.entries(CUTS).map(([name, policy]) => {
      const shares = LIMITS.map((maxChars) => {
        const kept = failures.filter((output) =>
          answers(output, clampText(cleaned.get(output) ?? '', { ...lifted, ...policy, maxChars })),
        )
        return `${Math.round((100 * kept.length) / failures.length)} %`
      })
      return `| ${name} | ${shares.join(' | ')} |`
    })
    const docs = readFileSync(join(__dirname, '../../docs/what-survives.md'), 'utf8')
    for (const row of rows) expect(docs).toContain(row)
  })

  it('is the same through a tool that throws, or answers with an error', async () => {
    for (const output of failures) {
      const text = read(output).toString('utf8')
      const policy = { ...lifted, maxChars: 8_000, clean: true }
      const content = [{ type: 'text', text }]
      const answer = wrapTool({ execute: async () => ({ content, isError: true }) }, policy)
      expect(answers(output, (await answer.execute()).content[0]?.text ?? ''), output.name).toBe(true)
      const thrower = wrapTool({ execute: async () => Promise.reject(new Error(text)) }, policy)
      const thrown = await thrower.execute().catch((error: Error) => error.message)
      expect(answers(output, thrown), output.name).toBe(true)
    }
  })

  it('is more with more room, of what failed and of what did not', { tags: 'long' }, () => {
    for (const output of outputs) {
      const text = read(output).toString('utf8')
      const lines = new Set(text.split('\n'))
      const kept = (maxChars: number) =>
        clampText(text, { ...lifted, maxChars })
          .split('\n')
          .filter((line) => lines.has(line))
      for (const [at, maxChars] of LIMITS.slice(1).entries()) {
        const more = new Set(kept(maxChars))
        expect(kept(LIMITS[at] as number).filter((line) => !more.has(line))).toEqual([])
      }
    }
  })
})
