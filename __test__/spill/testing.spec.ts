import { AssertionError } from 'node:assert'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  clampMessages,
  clampResult,
  clampText,
  type Limits,
  measureText,
  OutputCapture,
  redactText,
  spillTool,
  wrapTool,
} from 'spillway'
import {
  assertKeeps,
  assertSaysWhatIsMissing,
  assertWithin,
  createMemoryStore,
  matchers,
  type SpillwayMatchers,
  testSpillStore,
} from 'spillway/testing'
import { describe, expect, it, test } from 'vitest'
import { hostileText, limits, naive } from '../support/hostile.js'
import { samples } from '../support/samples.js'

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: the interface of vitest 4 has this parameter
  interface Matchers<T = any> extends SpillwayMatchers<T> {}
}
expect.extend(matchers)

const LINE = 'compiled one more file\n'
const log = `${LINE.repeat(50_000)}src/cart.ts:7 - error: no such name\n${LINE.repeat(50_000)}`

describe('a store in memory', () => {
  testSpillStore((limits) => createMemoryStore(limits), { test })

  it('serves a wrapped tool, and shows what was saved', async () => {
    const spill = createMemoryStore()
    const build = wrapTool({ name: 'build', execute: async () => log }, { maxLines: 20, spill })
    const said = await build.execute()
    const [saved, ...others] = spill.saved
    expect(others).toEqual([])
    expect(saved).toMatchObject({ tool: 'build', text: log, record: { complete: true } })
    const id = saved?.record.id ?? ''
    expect(said).toContain(`saved as ${id}`)
    expect(await spillTool(spill).execute({ id, pattern: 'error' })).toContain('50001: src/cart.ts:7')
    await build.execute()
    expect(spill.saved).toHaveLength(1)
  })

  it('takes what a capture feeds it, and forgets what a sweep removes', async () => {
    const spill = createMemoryStore({ maxTotalBytes: 0 })
    const capture = new OutputCapture({ spill, maxLines: 20, clean: false, tool: 'bash', callId: 'c1' })
    capture.stdout.write(log)
    const { spill: record } = await capture.finish({ exitCode: 0 })
    expect(spill.saved).toMatchObject([{ record, text: log, tool: 'bash', callId: 'c1' }])
    expect(await spill.sweep()).toMatchObject({ removed: 1 })
    expect(spill.saved).toEqual([])
  })

  it('gives the same output of the same call one id, in every process', async () => {
    const id = async () => (await createMemoryStore().save('text', { tool: 't', callId: 'c' })).id
    const script = `require('spillway/testing').createMemoryStore().save('text', { tool: 't', callId: 'c' })
      .then(({ id }) => console.log(id))`
    const cwd = join(__dirname, '../..')
    const other = execFileSync(process.execPath, ['-e', script], { cwd, encoding: 'utf8' })
    expect(await id()).toBe(other.trim())
    expect((await createMemoryStore().save('text', { tool: 't', callId: 'd' })).id).not.toBe(other.trim())
  })
})

/** Returns true if the assertion holds. Passes other errors on. */
function holds(assertion: () => void): boolean {
  return said(assertion) === ''
}

/** Returns the message of an assertion that fails, the empty string if it holds. */
function said(assertion: () => void): string {
  try {
    assertion()
    return ''
  } catch (error) {
    if (error instanceof AssertionError) return error.message
    throw error
  }
}

describe('assertions', () => {
  it('hold for what a clamp returns of any text and limits', () => {
    fc.assert(
      fc.property(hostileText, limits, (text, limits) => {
        const kept = clampText(text, limits)
        const given = Object.entries(limits).filter(([, most]) => most !== undefined)
        if (given.length > 0) assertWithin(kept, limits)
        const { bytes, chars, lines } = naive(kept)
        const own: Limits = { maxBytes: bytes, maxChars: chars, maxLines: lines }
        assertWithin(kept, own)
        for (const [name, most] of Object.entries(own) as [keyof Limits, number][])
          if (most > 0) expect(holds(() => assertWithin(kept, { ...own, [name]: most - 1 }))).toBe(false)
      }),
      { numRuns: 400 },
    )
  })

  it.each(samples)('read what a model reads of $name', ({ make, texts }) => {
    const whole = make('one more line\nthe line that tells\n')
    const isShown = texts(whole).flat().join('\n').includes('the line that tells')
    expect(holds(() => assertKeeps(whole, 'the line that tells'))).toBe(isShown)
    expect(holds(() => assertKeeps(whole, 'no such line'))).toBe(false)
  })

  it('know a cut by each notice of this package, and no other text', () => {
    for (const notice of ['hint', 'pi', 'count'] as const)
      assertSaysWhatIsMissing(clampText(log, { maxLines: 20, notice }))
    assertSaysWhatIsMissing(clampText('x'.repeat(900), { maxLineBytes: 90 }))
    assertSaysWhatIsMissing(clampResult({ content: [{ type: 'text', text: log }] }))
    const message = { role: 'tool', tool_call_id: 'c', content: log }
    assertSaysWhatIsMissing(clampMessages([message]).messages[0])
    const others = [
      '',
      LINE,
      clampText(log, { notice: false, keep: 'head' }),
      redactText('password: hunter2hunter2'),
    ]
    for (const text of others) expect(holds(() => assertSaysWhatIsMissing(text))).toBe(false)
  })

  it('find lines by text and by expression, and texts over several lines', () => {
    const text = 'one\r\ntwo three\nfour'
    assertKeeps(text, 'two')
    assertKeeps(text, /^two three$/)
    assertKeeps(text, /TWO/gi)
    assertKeeps(text, 'three\nfour')
    expect(holds(() => assertKeeps(text, /one.*two/s))).toBe(false)
    expect(holds(() => assertKeeps(text, 'one\nfour'))).toBe(false)
  })

  it('say what they saw, in short', () => {
    const failed = () => assertKeeps(log, 'fatal')
    expect(failed).toThrow(/^expected a line with "fatal", got:\ncompiled one/)
    const error = new Error('one line\n'.repeat(900))
    expect(() => assertWithin(error, { maxLines: 20 })).toThrow('maxLines 20, not 900')
    expect(() => assertWithin(log, { maxLines: 20, maxBytes: 9 })).toThrow(
      /^expected a text within maxBytes 9, not \d+ \(over from line 1 on\) and maxLines 20, not 100001 \(over from line 21 on\), got:\n/,
    )
    try {
      failed()
    } catch (error) {
      expect((error as Error).message.length).toBeLessThan(2_100)
      expect((error as Error).stack).not.toContain('dist/testing')
    }
  })

  it('show a few lines, around the first that exceeds a limit', () => {
    const numbered = Array.from({ length: 900 }, (_, at) => `line ${at + 1}`)
    expect(said(() => assertWithin(numbered.join('\n'), { maxLines: 20 }))).toBe(
      `expected a text within maxLines 20, not 900 (over from line 21 on), got:
19: line 19
20: line 20
21: line 21
22: line 22
23: line 23`,
    )
    const content = [10, 30].map((end) => ({ type: 'text', text: numbered.slice(0, end).join('\n') }))
    expect(said(() => assertWithin({ content }, { maxLines: 20 }))).toContain(
      'maxLines 20, not 40 (over from line 11 of text 2 on), got:\n9: line 9\n',
    )
    const long = [...numbered.slice(0, 9), 'x'.repeat(9_000), 'end'].join('\n')
    const failed = said(() => assertWithin(long, { maxLineBytes: 500 }))
    expect(failed).toContain('maxLineBytes 500, not 9000 (over from line 10 on), got:\n8: line 8\n')
    expect(failed.length).toBeLessThan(600)
    expect(said(() => assertKeeps(numbered.join('\n'), 'fatal')).split('\n').length).toBeLessThanOrEqual(13)
  })

  it('name the first line with which any text exceeds any limit', () => {
    fc.assert(
      fc.property(hostileText, fc.nat({ max: 400 }), (text, most) => {
        for (const name of ['maxBytes', 'maxLines', 'maxChars', 'maxLineBytes'] as const) {
          const message = said(() => assertWithin(text, { [name]: most }))
          if (message === '') continue
          const line = Number(/\(over from line (\d+) on\)/.exec(message)?.[1])
          const lines = text.split(/(?<=\n)/)
          expect(holds(() => assertWithin(lines.slice(0, line).join(''), { [name]: most }))).toBe(false)
          assertWithin(lines.slice(0, line - 1).join(''), { [name]: most })
          expect(message.split('\n').length).toBeLessThanOrEqual(13)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('reject wrong limits and lines', () => {
    const code = expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' })
    for (const limits of [{}, { maxByte: 5 }, { maxBytes: -1 }, { maxLines: Number.NaN }, undefined])
      expect(() => assertWithin('x', limits as never)).toThrow(code)
    expect(() => assertKeeps('x', 5 as never)).toThrow(code)
  })
})

describe('matchers', () => {
  const said = clampText(log, { maxLines: 20 })

  it('say the same in vitest', () => {
    expect(said).toKeepLine('error: no such name')
    expect(said).toKeepLine(/cart\.ts:\d+/)
    expect(said).toBeWithin({ maxBytes: 51_200, maxLines: 20 })
    expect(said).toSayWhatIsMissing()
    expect(log).not.toBeWithin({ maxLines: 20 })
    expect(log).not.toSayWhatIsMissing()
    expect(log).not.toKeepLine('fatal')
  })

  it('fail in words, also with not', () => {
    expect(() => expect(log).toBeWithin({ maxLines: 20 })).toThrow('maxLines 20, not 100001')
    expect(() => expect(said).not.toKeepLine('no such name')).toThrow(
      'expected not a line with "no such name"',
    )
    expect(() => expect('x').toSayWhatIsMissing()).toThrow('expected a notice or a mark of a cut, got:\nx')
    expect(measureText(said).lines).toBeLessThanOrEqual(20)
  })
})
