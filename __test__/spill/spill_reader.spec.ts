import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  createSpillStore,
  type SpillRecord,
  type SpillStore,
  spillReader,
  spillTool,
  wrapTool,
} from 'spillway'
import { createRemoteSpillStore } from 'spillway/remote'
import { afterAll, describe, expect, it } from 'vitest'
import { createStorage } from '../support/unstorage.mjs'

const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const LIMITS = { maxFileBytes: 3_000_000 }
const local = createSpillStore({ dir: join(dir, 'outputs'), reference: 'id', ...LIMITS })
const remote = createRemoteSpillStore({ storage: createStorage(), ...LIMITS })

/** A store of somebody else, which knows nothing but ranges, and rejects what it does not know. */
class OwnStore implements SpillStore {
  readonly texts = new Map<string, { bytes: Buffer; record: SpillRecord }>()
  async save(text: Parameters<SpillStore['save']>[0]) {
    const bytes = Buffer.from(text as string)
    const id = this.texts.size.toString(16).padStart(16, '0')
    const record = { id, path: id, bytes: bytes.length, lines: 1, complete: true }
    this.texts.set(id, { bytes, record })
    return record
  }
  async read(id: string, { byte = 0, maxBytes = 1, ...rest } = {}) {
    if (Object.keys(rest).length > 0) throw new Error('a range that is not of bytes')
    const { bytes } = this.texts.get(id) as { bytes: Buffer }
    let end = Math.min(byte + maxBytes, bytes.length)
    while (end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1
    const text = bytes.subarray(byte, end).toString()
    const next = end < bytes.length ? { nextByte: end } : {}
    return { text, line: 1, byte, totalLines: 1, totalBytes: bytes.length, ...next }
  }
  async search() {
    return []
  }
  async list() {
    return Array.from(this.texts.values(), ({ record }) => record)
  }
  async sweep() {
    return { removed: 0, bytes: 0 }
  }
}

const STORES: [string, SpillStore][] = [
  ['a directory', local],
  ['a remote store', remote],
  ["somebody's store", new OwnStore()],
]

const stdout = Array.from({ length: 30_000 }, (_, at) =>
  at === 17_000 ? 'src/a.ts:3 - error TS2304: no "total"' : `compiled file ${at}`,
).join('\n')
const build = { exitCode: 1, stdout, rows: [{ id: 1 }, { id: 2, note: 'a\nb' }], stderr: '' }
const json = JSON.stringify(build)

/** Joins all pages. Each says where the next one begins. */
async function pagesOf(store: SpillStore, id: string, maxBytes: number): Promise<string> {
  const reader = spillReader(store)
  const texts: string[] = []
  for (let byte: number | undefined = 0; byte !== undefined; ) {
    const { text, nextByte } = await reader.read(id, { byte, maxBytes })
    texts.push(text)
    byte = nextByte
  }
  return texts.join('')
}

const expected = [
  'exitCode: 1',
  'stdout: |',
  ...stdout.split('\n').map((line) => `  ${line}`),
  'rows[0]: {"id":1}',
  'rows[1].id: 2',
  'rows[1].note: |',
  '  a',
  '  b',
  'stderr: ""',
  '',
].join('\n')

describe.each(STORES)('JSON in %s', (_, store) => {
  it('is read as lines, and comes back as it was saved', async () => {
    const { id } = await store.save(json)
    const reader = spillReader(store)
    expect(await pagesOf(store, id, 50_000)).toBe(expected)
    expect(await reader.read(id, { line: 17_002, lines: 2 })).toMatchObject({
      text: '  compiled file 16999\n  src/a.ts:3 - error TS2304: no "total"\n',
      line: 17_002,
      totalLines: 30_008,
      totalBytes: Buffer.byteLength(expected),
      nextLine: 17_004,
      exact: false,
    })
    const read = (byte: number) => reader.read(id, { byte, maxBytes: 400_000, exact: true })
    const [first, second] = [await read(0), await read(400_000)]
    expect(first.text + second.text).toBe(json)
    expect(second).toMatchObject({ totalBytes: json.length, exact: true })
  })

  it('is searched as lines', async () => {
    const { id } = await store.save(json)
    const reader = spillReader(store)
    expect(await reader.search(id, 'no "total"', { context: 1 })).toMatchObject([
      { line: 17_003, text: '  src/a.ts:3 - error TS2304: no "total"', before: ['  compiled file 16999'] },
    ])
    expect(await reader.search(id, '^rows', { regex: true, line: 30_003 })).toMatchObject([
      { line: 30_003, text: 'rows[0]: {"id":1}' },
      { line: 30_004 },
      { line: 30_005 },
    ])
    expect(await reader.search(id, 'compiled', { max: 5, line: 20_000 })).toHaveLength(5)
  })

  it.each([
    ['rows of JSON', `${json}\n${json}\n`],
    ['JSON and more', `${json}.`],
    ['a part of JSON', json.slice(0, -1)],
    ['JSON whose lines are short', JSON.stringify({ a: Array(900).fill('one\ntwo') }, null, 2)],
    ['CSV', `id,name\n${'1,"a"\n'.repeat(30_000)}`],
    ['nothing', ''],
  ])('leaves %s as it is', async (_, text) => {
    const { id } = await store.save(text)
    expect(await pagesOf(store, id, 50_000)).toBe(text)
    expect(await spillReader(store).read(id)).toEqual({ ...(await store.read(id)), exact: true })
    expect(await spillReader(store).search(id, 'a')).toEqual(await store.search(id, 'a'))
  })
})

describe('a reader', () => {
  it('reads what a tool returned, as a model asks for it', async () => {
    const tool = wrapTool({ name: 'build', execute: async () => build }, { maxChars: 2_000, spill: local })
    const result = JSON.stringify(await tool.execute())
    const [, id] = /saved as ([0-9a-f]{16})/.exec(result) as unknown as [string, string]
    const { execute } = spillTool(local)
    expect(await execute({ id, line: 1, lines: 3 })).toBe(
      `[${id}: lines 1-3 of 30008 lines, ${Buffer.byteLength(expected)} bytes of JSON as lines]\n` +
        '1: exitCode: 1\n2: stdout: |\n3:   compiled file 0\n[next: line 4]',
    )
    expect(await execute({ id, pattern: 'TS2304', lines: 1 })).toBe(
      `[${id}: 1 matching line]\n17002-   compiled file 16999\n` +
        '17003:   src/a.ts:3 - error TS2304: no "total"\n17004-   compiled file 17001',
    )
    expect(await execute({ id, line: 30_008 })).toContain('30008: stderr: ""\n[end]')
    const exact = await execute({ id, exact: true })
    expect(exact).toMatch(
      /^\[[0-9a-f]{16}: lines 1-1 of 1 lines, \d+ bytes\]\n1: \{"exitCode":1,"stdout":"comp/,
    )
    expect(await execute({ id, exact: true, pattern: 'rows' })).toContain(': 1 matching line]')
  })

  it('reads JSON that was saved in part as far as it goes', async () => {
    const long = JSON.stringify({ stdout: 'a line of output\n'.repeat(300_000) })
    for (const store of [local, remote]) {
      const { id, complete } = await store.save(long)
      expect(complete).toBe(false)
      const { totalLines, exact } = await spillReader(store).read(id)
      expect(exact).toBe(false)
      expect(totalLines).toBe(1 + Math.ceil((LIMITS.maxFileBytes - '{"stdout":"'.length) / 18))
      const last = await spillTool(store).execute({ id, line: totalLines, lines: 1 })
      expect(last).toMatch(/\n\[end of the saved part: 3000000 of \d+ bytes\]$/)
    }
  })

  it('reads an output that has become JSON since', async () => {
    const store = new OwnStore()
    const { id } = await store.save(json.slice(0, 9_000))
    const reader = spillReader(store)
    const all = store.texts.get(id) as { bytes: Buffer }
    expect(await reader.read(id)).toMatchObject({ totalBytes: 9_000, exact: true })
    all.bytes = Buffer.from(json)
    expect((await reader.read(id, { line: 3, lines: 1 })).text).toBe('  compiled file 0\n')
    all.bytes = Buffer.from(json.replace('compiled', 'assembled'))
    expect((await reader.read(id, { line: 3, lines: 1 })).text).toBe('  assembled file 0\n')
  })

  it('leaves bytes that are not UTF-8 as they are', async () => {
    const { id } = await local.save(
      Buffer.concat([Buffer.from('["'), Buffer.alloc(900, 0xff), Buffer.from('"]')]),
    )
    expect(await spillReader(local).read(id)).toMatchObject({ totalLines: 1, totalBytes: 904, exact: true })
  })

  it('finds each line of each string, whatever the value', { tags: 'long' }, async () => {
    const value = fc.array(fc.oneof(fc.object({ maxDepth: 4 }), fc.string({ unit: 'binary', maxLength: 99 })))
    const reader = spillReader(local)
    await fc.assert(
      fc.asyncProperty(value, async (some) => {
        const given = JSON.parse(JSON.stringify([...some, 'x'.repeat(600)]))
        const saved = JSON.stringify(given)
        const { id } = await local.save(saved)
        const lines = await pagesOf(local, id, 3_000)
        let at = 0
        const see = (value: unknown): void => {
          if (typeof value === 'string')
            for (const line of value.split('\n')) {
              const found = lines.indexOf(line, at)
              expect(found).toBeGreaterThanOrEqual(at)
              at = found + line.length
            }
          else if (typeof value === 'object' && value !== null) Object.values(value).forEach(see)
        }
        see(given)
        expect((await reader.read(id, { exact: true, byte: 0, maxBytes: 1e6 })).text).toBe(saved)
      }),
      { numRuns: 60 },
    )
  })

  it('rejects wrong arguments', async () => {
    const option = expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' })
    expect(() => spillReader({} as SpillStore)).toThrow(option)
    const reader = spillReader(local)
    await expect(reader.read('x')).rejects.toEqual(option)
    for (const range of [{ line: 0 }, { exakt: true }, { exact: 1 }, null])
      await expect(reader.read('0123456789abcdef', range as never)).rejects.toEqual(option)
    await expect(reader.search('0123456789abcdef', '(', { regex: true })).rejects.toEqual(
      expect.objectContaining({ code: 'ERR_SPILLWAY_SPILL' }),
    )
    const { id } = await local.save(json)
    await expect(reader.search(id, '(', { regex: true })).rejects.toEqual(option)
  })
})
