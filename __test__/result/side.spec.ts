// biome-ignore-all lint/suspicious/noExplicitAny: side data is anything
import * as fc from 'fast-check'
import { clampResult } from 'spillway'
import { describe, expect, it } from 'vitest'

const cap = (details: unknown, maxBytes?: number) =>
  clampResult(
    { role: 'toolResult', content: [{ type: 'text', text: 'ok' }], details },
    { sideData: maxBytes === undefined ? 'cap' : { maxBytes } },
  ).details as any

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? '')

describe("sideData 'cap'", () => {
  it('leaves what fits as it is', () => {
    for (const details of [
      undefined,
      null,
      Number.NaN,
      5,
      'short',
      [1, 2],
      { a: { b: 'c' } },
      new Date(0),
      new Map([[1, 2]]),
    ])
      expect(cap(details)).toBe(details)
  })

  it('leaves a result with NaN beside it as the very object it is', () => {
    const result = { role: 'toolResult', content: [{ type: 'text', text: 'ok' }], details: Number.NaN }
    expect(clampResult(result, { sideData: 'cap' }) === result).toBe(true)
    expect(clampResult({ ...result, details: { n: Number.NaN } }, { sideData: 'cap' }).details.n).toBeNaN()
  })

  it('keeps small scalars first, in their order, and says what is missing', () => {
    const details = {
      huge: 'h'.repeat(90_000),
      exitCode: 1,
      list: Array.from({ length: 9_000 }, (_, at) => at),
      cwd: '/tmp',
      ok: false,
    }
    const capped = cap(details)
    expect(bytesOf(capped)).toBeLessThanOrEqual(8_192)
    expect(Object.keys(capped)).toEqual(['huge', 'exitCode', 'list', 'cwd', 'ok', 'spillway'])
    expect(capped).toMatchObject({
      exitCode: 1,
      cwd: '/tmp',
      ok: false,
      spillway: { originalBytes: bytesOf(details) },
    })
    expect(capped.huge).toMatch(/^h{1000,}\[\.\.\. \d+ more characters truncated\]$/)
    expect(capped.list.slice(0, 3)).toEqual([0, 1, 2])
    expect(capped.list.at(-1)).toMatch(/^\[\.\.\. \d{4} more items\]$/)
    expect(details.huge).toHaveLength(90_000)
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`key ${at}`, at]))
    expect(cap(many)['[...]']).toMatch(/^\d{4} more members$/)
    expect(cap(many, 100)['key 0']).toBe(0)
  })

  it('caps arrays and strings as such', () => {
    const list = Array.from({ length: 500 }, (_, at) => ({ at, text: 'x'.repeat(50) }))
    expect(cap(list, 400).at(0)).toEqual(list[0])
    expect(cap(list, 400).at(-1)).toEqual({ spillway: { originalBytes: bytesOf(list) } })
    expect(cap('s'.repeat(90_000), 100)).toMatch(
      /^s+\[\.\.\. \d+ more characters truncated of 90002 bytes\]$/,
    )
    expect(cap([['x'.repeat(9_000)]], 200)[0][0]).toMatch(/^x+\[/)
  })

  it('comes down to nothing where there is no room', () => {
    const large = { text: 'x'.repeat(9_000) }
    expect(cap(large, 2)).toEqual({})
    expect(cap([large], 2)).toEqual([])
    expect(cap(large, 1)).toBe(undefined)
    expect(cap('x'.repeat(99), 2)).toBe('')
  })

  it('describes what has no JSON', () => {
    const cyclic: Record<string, unknown> = { name: 'loop', count: 5n }
    cyclic['self'] = cyclic
    expect(cap(cyclic)).toEqual({ name: 'loop', count: '5', self: '[circular]' })
    const odd = {
      pad: 'x'.repeat(9_000),
      map: new Map([[1, 2]]),
      set: new Set([1]),
      bytes: new Uint8Array(70_000),
      buffer: new ArrayBuffer(9),
      run: () => 1,
      when: new Date(0),
      failed: new TypeError('it broke'),
      get broken(): never {
        throw new Error('no')
      },
      toBe: { toJSON: () => 'told' },
      proxy: new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('no')
          },
        },
      ),
    }
    const capped = cap(odd)
    expect(capped).toMatchObject({
      map: '[Map of 1 entries]',
      set: '[Set of 1 values]',
      bytes: '[Uint8Array of 70000 bytes]',
      buffer: '[ArrayBuffer of 9 bytes]',
      run: '[function]',
      when: '1970-01-01T00:00:00.000Z',
      failed: { name: 'TypeError', message: 'it broke' },
      broken: '[unreadable]',
      toBe: 'told',
      proxy: '[unreadable]',
    })
    let deep: unknown = 'x'.repeat(9_000)
    for (let level = 0; level < 100_000; level++) deep = [deep]
    expect(bytesOf(cap(deep))).toBeLessThanOrEqual(8_192)
  })

  it('stays within its bytes, has a JSON, and changes nothing the second time', { tags: 'long' }, () => {
    const details = fc.anything({
      maxDepth: 4,
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withObjectString: true,
      withNullPrototype: true,
      withSparseArray: true,
    })
    fc.assert(
      fc.property(
        details,
        fc.string({ maxLength: 400, unit: 'binary' }),
        fc.nat(600),
        (details, text, max) => {
          const capped = cap({ details, text, again: [details, text] }, max)
          if (capped === undefined) return max < 2
          expect(bytesOf(capped)).toBeLessThanOrEqual(max)
          expect(cap(capped, max)).toBe(capped)
          return true
        },
      ),
      { numRuns: 600 },
    )
  })

  it('keeps members of any name', () => {
    const details = JSON.parse(`{"__proto__": {"polluted": true}, "pad": "${'x'.repeat(9_000)}"}`) as object
    const capped = cap(details)
    expect(Object.getPrototypeOf(capped)).toBe(Object.prototype)
    expect(Object.getOwnPropertyDescriptor(capped, '__proto__')?.value).toEqual({ polluted: true })
  })
})

describe("sideData 'drop'", () => {
  it.each([
    ['no content', { structuredContent: { rows: [1, 'x'.repeat(90_000)] } }],
    ['empty content', { content: [], structuredContent: { rows: [1] } }],
  ])('says structured content in a text where there is none: %s', (_, result) => {
    const { content, ...rest } = clampResult(result as typeof result & { content?: any[] }, {
      sideData: 'drop',
    })
    expect(rest).toEqual({})
    expect(content?.[0].text).toMatch(/^\{"rows":\[1/)
    expect(content?.[0].text.length).toBeLessThanOrEqual(51_200)
  })

  it('keeps the images beside it', () => {
    const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
    const { content } = clampResult({ content: [image], structuredContent: { a: 1 } }, { sideData: 'drop' })
    expect(content[0]).toBe(image)
    expect(content[1]).toEqual({ type: 'text', text: '{"a":1}' })
  })
})
