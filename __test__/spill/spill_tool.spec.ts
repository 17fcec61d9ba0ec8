import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  createSpillStore,
  estimateTokens,
  measureText,
  type SpillStore,
  spillTool,
  type WrapPolicy,
  wrapTools,
} from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'

const parent = mkdtempSync(join(tmpdir(), 'spillway-'))
const dir = join(parent, 'outputs')
const store = createSpillStore({ dir, maxFileBytes: 40_000_000 })
const { execute, ...tool } = spillTool(store)

afterAll(() => rmSync(parent, { recursive: true, force: true }))

/** Answers to a model that follows the advice of each page to the end. */
async function follow(id: string, input: object = {}, run = execute): Promise<string[]> {
  const answers: string[] = []
  for (let next: object | undefined = input; next; ) {
    const answer: string = await run({ id, ...next })
    expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(40_960)
    expect(answer.isWellFormed()).toBe(true)
    answers.push(answer)
    const [, kind, number] = /\[(?:line \d+ continues; )?next: (line|byte) (\d+)\]$/.exec(answer) ?? []
    next = kind === undefined ? undefined : { ...input, [kind]: Number(number) }
  }
  return answers
}

describe('the tool', () => {
  it('is a name, a description, a schema and a function that stands alone', () => {
    expect(tool.name).toBe('read_output')
    expect(tool.description).toContain('id')
    expect(tool.parameters).toMatchObject({ type: 'object', required: ['id'], additionalProperties: false })
    expect(Object.keys(tool.parameters.properties)).toEqual([
      'id',
      'line',
      'byte',
      'lines',
      'pattern',
      'regex',
      'exact',
    ])
    expect(JSON.parse(JSON.stringify(tool.parameters))).toEqual(tool.parameters)
    expect(() => spillTool({} as SpillStore)).toThrow(
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }),
    )
  })

  it('shows lines with their numbers, and where the next page begins', async () => {
    const { id } = await store.save('one\ntwo\r\n\x1b[31mthree\x1b[0m\n 10%\r 90%\nlast')
    expect(await execute({ id })).toBe(
      `[${id}: lines 1-5 of 5 lines, 38 bytes]\n1: one\n2: two\n3: three\n4:  90%\n5: last\n[end]`,
    )
    expect(await execute({ id, line: 2, lines: 1 })).toBe(
      `[${id}: lines 2-2 of 5 lines, 38 bytes]\n2: two\n[next: line 3]`,
    )
    expect(await execute({ id, byte: 5, lines: 1 })).toBe(
      `[${id}: lines 2-2 from byte 5 of 5 lines, 38 bytes]\n2: wo\n[next: line 3]`,
    )
    expect(await execute({ id, line: 9 })).toBe(`[${id} has 5 lines, 38 bytes; line 9 is beyond its end]`)
  })

  it('takes a model through all of an output', async () => {
    const lines = Array.from({ length: 30_000 }, (_, at) => `${at + 1} ${'x'.repeat(at % 90)}`)
    const { id } = await store.save(lines.join('\n'))
    const shown = (await follow(id)).flatMap((answer) => answer.split('\n').slice(1, -1))
    expect(shown).toEqual(lines.map((line, at) => `${at + 1}: ${line}`))
  })

  it('takes a model through one line of 24 MB', { tags: 'long' }, async () => {
    const line = '{"key": "漢字"}, '.repeat(1_300_000)
    const { id } = await store.save(line)
    const answers = await follow(id)
    expect(answers.map((answer) => answer.split('\n')[1]?.slice(3)).join('')).toBe(line)
    expect(answers[1]).toMatch(/^\[[0-9a-f]{16}: lines 1-1 from byte \d+ of 1 lines, \d+ bytes\]\n1: /)
  })

  it('stays within its bounds whatever is saved', async () => {
    await fc.assert(
      fc.asyncProperty(hostileText, fc.integer({ min: 1, max: 300 }), async (text, times) => {
        const { id, path } = await store.save(text.repeat(times))
        const answers = await follow(id)
        expect(answers.at(-1)).toMatch(/\[end\]$|line 1 is beyond its end\]$/)
        expect(Buffer.byteLength(await execute({ id, pattern: 'e', lines: 10 }))).toBeLessThanOrEqual(40_960)
        rmSync(path)
      }),
      { numRuns: 40 },
    )
    for (const text of ['\n'.repeat(100_000), '\x1b[200Gx\n'.repeat(20_000), '\0\xff'.repeat(50_000)]) {
      const { id } = await store.save(Buffer.from(text, 'latin1'))
      await follow(id, { line: 20_000 })
      expect(Buffer.byteLength(await execute({ id, pattern: 'x', lines: 99 }))).toBeLessThanOrEqual(40_960)
    }
  })

  it('gives shorter pages where it is wrapped with tighter limits, none of them cut', async () => {
    const { id } = await store.save(Array.from({ length: 120 }, (_, at) => `line ${at + 1}`).join('\n'))
    const long = await store.save(`first\n${'漢字 and x'.repeat(200)}\nlast`)
    const tighter = fc.record<Pick<WrapPolicy, 'maxBytes' | 'maxChars' | 'maxLines' | 'maxTokens'>>(
      {
        maxBytes: fc.integer({ min: 400, max: 9_000 }),
        maxChars: fc.integer({ min: 400, max: 9_000 }),
        maxLines: fc.integer({ min: 5, max: 900 }),
        maxTokens: fc.integer({ min: 200, max: 3_000 }),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(tighter, async (policy) => {
        const [wrapped] = wrapTools([spillTool(store)], policy)
        const run = wrapped?.execute as typeof execute
        const pages = await follow(id, {}, run)
        const search = await run({ id, pattern: 'line' })
        for (const answer of [...pages, search]) {
          const { bytes, chars, lines } = measureText(answer)
          expect(bytes).toBeLessThanOrEqual(policy.maxBytes ?? 51_200)
          expect(chars).toBeLessThanOrEqual(policy.maxChars ?? 51_200)
          expect(lines).toBeLessThanOrEqual(policy.maxLines ?? 2_000)
          expect(estimateTokens(answer)).toBeLessThanOrEqual(policy.maxTokens ?? 51_200)
        }
        const shown = pages.flatMap((answer) => answer.split('\n').slice(1, -1))
        expect(shown).toEqual(Array.from({ length: 120 }, (_, at) => `${at + 1}: line ${at + 1}`))
        const count = Number(/the first (\d+) matching lines?\]/.exec(search)?.[1])
        expect(search).toMatch(new RegExp(`\n\\[more: search from line ${count + 1} on\\]$`))
        const parts = (await follow(long.id, {}, run)).flatMap((answer) => answer.split('\n').slice(1, -1))
        const second = parts.filter((part) => part.startsWith('2: ')).map((part) => part.slice(3))
        expect(second.join('')).toBe('漢字 and x'.repeat(200))
      }),
      { numRuns: 60 },
    )
  })

  it('shows what matches with the lines around it', async () => {
    const { id } = await store.save('a\nb\nerror one\nc\nerror two\nd\ne\nf\ng\nError three\n')
    expect(await execute({ id, pattern: 'error', lines: 1 })).toBe(
      `[${id}: 2 matching lines]\n2- b\n3: error one\n4- c\n5: error two\n6- d`,
    )
    expect(await execute({ id, pattern: '(?i)^error t', regex: true, lines: 1 })).toBe(
      `[${id}: 2 matching lines]\n4- c\n5: error two\n6- d\n9- g\n10: Error three`,
    )
    expect(await execute({ id, pattern: 'Error', lines: 1 })).toContain(`[${id}: 1 matching line]\n`)
    expect(await execute({ id, pattern: 'error', line: 6 })).toBe(
      `[no line of ${id} from line 6 on contains "error" (case-sensitive)]`,
    )
  })

  it('goes on searching where it stopped, and tells the byte inside a long line', async () => {
    const { id } = await store.save(`${'ok\n'.repeat(9)}error\n`.repeat(50))
    const first = await execute({ id, pattern: 'error', lines: 1 })
    expect(first).toContain(`[${id}: the first 20 matching lines]`)
    expect(first).toMatch(/\[more: search from line 210 on\]$/)
    const second = await execute({ id, pattern: 'error', line: 210 })
    expect(second).toContain('\n210: error\n')

    const long = await store.save(`${'x'.repeat(70_000)}needle${'y'.repeat(70_000)}`)
    const found = await execute({ id: long.id, pattern: 'needle' })
    expect(found).toContain('\n1 (byte 70000): [+69850 bytes]xxx')
    expect(await execute({ id: long.id, byte: 70_000 })).toContain('\n1: needleyyy')
  })

  it('says that not all was saved, or that it was not finished', async () => {
    const { id } = await store.save(Buffer.alloc(40_000_100, 'line\n'))
    expect(await execute({ id, line: 8_000_000 })).toMatch(
      /\[end of the saved part: 40000000 of 40000100 bytes\]$/,
    )
  })

  it('answers bad input with what to do, and never throws', async () => {
    const { id, path } = await store.save('one\ntwo\n')
    const answers: [unknown, RegExp][] = [
      [undefined, /^Pass an object with the id/],
      ['0123456789abcdef', /^Pass an object with the id/],
      [{}, /^Pass the id of a saved output, from its notice\.$/],
      [{ id: 5 }, /^Pass the id/],
      [{ id: '../../etc/passwd' }, /^id must be the id of a saved output, 16 hexadecimal digits, got/],
      [{ id: `../${id}` }, /^id must be the id/],
      [{ id: 'x'.repeat(100_000) }, /^id must be the id .{1,120}$/],
      [
        { id: '0123456789abcdef' },
        /^no output is saved under 0123456789abcdef.*If you need the output, run the tool that made it again/,
      ],
      [{ id, line: 0 }, /^line must be a whole number from 1 up, not 0\.$/],
      [{ id, byte: -5 }, /^byte must be a whole number from 0 up, not -5\.$/],
      [{ id, lines: 'many' }, /^lines must be a whole number from 1 up, not "many"\.$/],
      [{ id, pattern: {} }, /^pattern must be a string, not an object\.$/],
      [{ id, pattern: '(', regex: true }, /^pattern must be a regular expression \(.*\), got "\("\.$/],
      [{ id, pattern: 'a\nb' }, /^pattern must be a string of 1 to 4096 chars without newlines/],
      [new Proxy({}, { get: () => JSON.parse('{') }), /^Pass the id/],
      [new Proxy({}, { ownKeys: () => JSON.parse('{') }), /^The output could not be read/],
      [{ id, Pattern: 'two' }, /^unknown argument `Pattern`; did you mean `pattern`\?$/],
      [{ id, line_number: 2 }, /^unknown argument `line_number`; did you mean `line`\?$/],
      [
        { id, search: 'two' },
        /^unknown argument `search`; expected one of id, line, byte, lines, pattern, regex, exact$/,
      ],
      [{ id, ['x'.repeat(1e6)]: 1 }, /^unknown argument `x{60}\.\.\.`; expected one of /],
    ]
    for (const [input, answer] of answers) expect(await execute(input as never)).toMatch(answer)
    // Values that models give for options they do not mean, and numbers as text.
    const loose = { id: ` ${id} `, line: '2', byte: null, lines: '', pattern: '', regex: null, limit: null }
    expect(await execute(loose)).toContain('\n2: two\n[end]')
    expect(await execute({ id: path, pattern: 'two', regex: 'true' })).toContain('\n2: two')
  })

  it('reads nothing with an argument that it does not have', async () => {
    let reads = 0
    const count = () => {
      reads += 1
      return Promise.reject(new Error('read'))
    }
    const counting = spillTool({ ...store, read: count, search: count } as never)
    const known = Object.keys(tool.parameters.properties)
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.jsonValue(), async (name, value) => {
        fc.pre(!known.includes(name) && value !== null && value !== '')
        const answer = await counting.execute(
          JSON.parse(JSON.stringify({ id: '0'.repeat(16), [name]: value })),
        )
        expect(answer).toMatch(/^unknown argument `.*`; (?:did you mean `\w+`\?|expected one of )/s)
      }),
      { numRuns: 300 },
    )
    expect(reads).toBe(0)
  })

  it('says in a word when the store fails', async () => {
    const answerOf = (error: unknown) => {
      const failing = Object.create(store, { read: { value: () => Promise.reject(error) } }) as SpillStore
      return spillTool(failing).execute({ id: '0123456789abcdef' })
    }
    const refused = Object.assign(new Error(`no entry to ${dir}`), { code: 'EACCES' })
    expect(await answerOf(refused)).toBe('The output could not be read (EACCES).')
    for (const error of [undefined, null, 'no', { code: 5 }])
      expect(await answerOf(error)).toBe('The output could not be read (unknown error).')
  })
})
