import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  type CaptureOptions,
  type CaptureResult,
  type ClampEvent,
  type CleanOptions,
  type Cut,
  clampText,
  cleanText,
  createSpillStore,
  measureText,
  OutputCapture,
  type SpillOptions,
} from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'
import { hostileText, policies, searching } from '../support/hostile.js'
import { until } from '../support/wait.js'

const runs = { numRuns: 500 }
const any = (value: unknown) => value as never
const made: string[] = []

afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})

function store(options: Partial<SpillOptions> = {}) {
  const dir = join(mkdtempSync(join(tmpdir(), 'spillway-')), 'outputs')
  made.push(join(dir, '..'))
  return Object.assign(createSpillStore({ dir, ...options }), {
    files: () => (existsSync(dir) ? readdirSync(dir).filter((file) => file !== 'key') : []),
  })
}

/** Output, as bytes, with none of our notices: those are text to a capture. */
const output = fc.oneof(
  { weight: 4, arbitrary: hostileText.map((text) => Buffer.from(ours(text))) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(hostileText, fc.uint8Array({ maxLength: 20 }))
      .map(([text, bytes]) => Buffer.concat([Buffer.from(ours(text)), bytes, Buffer.from(ours(text))])),
  },
)

function ours(text: string): string {
  return text.replaceAll(/truncated|omitted|\.\.\.\]/g, 'notice')
}

/** Places to cut at. */
const cuts = fc.array(fc.nat(3_000), { maxLength: 12 })

function chunks<T extends Buffer | string>(whole: T, cuts: readonly number[]): T[] {
  const ends = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b)
  const starts = [0, ...ends]
  return starts.map((start, at) => (whole as string).slice(start, ends[at] ?? whole.length) as T)
}

async function captured(options: CaptureOptions, ...all: (Buffer | string)[]): Promise<CaptureResult> {
  const capture = new OutputCapture(options)
  for (const chunk of all) capture.stdout.write(chunk)
  return capture.finish()
}

const lines = (count: number, text = 'all is well') => `${text}\n`.repeat(count)
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`).join('')

describe('what is left', () => {
  it('is clampText of all that came, whatever bytes in whatever chunks', async () => {
    let [tried, cut] = [0, 0]
    const law = fc.asyncProperty(output, cuts, policies, async (whole, cuts, policy) => {
      const result = await captured({ keep: 'auto', ...policy, clean: false }, ...chunks(whole, cuts))
      expect(result.total).toEqual(measureText(whole))
      tried += 1
      if (result.binary) return
      expect(result.text).toBe(clampText(whole, policy))
      expect(result.truncated).toBe(result.text !== whole.toString())
      cut += Number(result.truncated)
    })
    await fc.assert(law, { numRuns: 2_000 })
    expect(cut).toBeGreaterThan(tried / 4)
  })

  it('is clampText of a string where strings came, cut anywhere', async () => {
    const law = fc.asyncProperty(hostileText.map(ours), cuts, policies, async (whole, cuts, policy) => {
      const result = await captured({ keep: 'auto', ...policy, clean: false }, ...chunks(whole, cuts))
      if (!result.binary) expect(result.text).toBe(clampText(whole, policy))
    })
    await fc.assert(law, runs)
    // Two wordings here lead to each other's cuts.
    const unsteady = { maxChars: 15, notice: (cut: Cut) => `${cut.omittedChars} not in ${cut.keptLines}` }
    const one = await captured({ ...unsteady, keep: 'auto', clean: false }, 'word '.repeat(248))
    expect(one.text).toBe('1240 not in ')
    expect(one.text).toBe(clampText('word '.repeat(248), unsteady))
    const strings = await captured({ maxChars: 200, clean: false }, '漢'.repeat(300))
    expect(strings.text).toContain(' of 300 chars omitted')
    const bytes = await captured(
      { maxChars: 200, clean: false },
      '漢'.repeat(200),
      Buffer.from('漢'.repeat(100)),
    )
    expect(bytes.text).toContain(' of 900 bytes omitted')
  })

  it('is clampText of what cleanText makes of all that came', async () => {
    const dirt = fc.constantFrom(
      '<p>',
      '<li>&lt;a',
      '\x1b[31m',
      '\x1b[0m',
      '\r',
      '\b',
      '\x1b[2A',
      '\x1b[K',
      'x\nx\nx\nx\n',
      '\n',
    )
    const dirty = fc
      .array(fc.oneof(hostileText, dirt), { maxLength: 12 })
      .map((parts) => ours(parts.join('')))
    const flag = fc.boolean()
    const what: fc.Arbitrary<boolean | CleanOptions> = fc.oneof(
      fc.constant(true),
      fc.record(
        { ansi: flag, carriageReturns: flag, control: flag, repeats: flag, html: flag },
        { requiredKeys: [] },
      ),
    )
    const law = fc.asyncProperty(dirty, cuts, policies, what, async (text, cuts, policy, clean) => {
      const whole = Buffer.from(text)
      const result = await captured({ keep: 'auto', ...policy, clean }, ...chunks(whole, cuts))
      expect(result.total).toEqual(measureText(whole))
      const cleaned = cleanText(whole, clean === true ? {} : clean || {})
      if (!result.binary) expect(result.text).toBe(clampText(cleaned, policy))
    })
    await fc.assert(law, runs)
  })

  it('searches and cleans unless told otherwise', async () => {
    const text = `${lines(4_000)}\x1b[31merror: no such file\x1b[0m\r\n${numbered(9_000)}`
    const expected = clampText(cleanText(text), { keep: 'findings' })
    expect(expected).toContain('error: no such file\n')
    expect((await captured({}, Buffer.from(text))).text).toBe(expected)
  })

  it('is what a snapshot shows, at any moment, and a snapshot changes nothing', async () => {
    const law = fc.asyncProperty(
      output,
      cuts,
      searching,
      fc.boolean(),
      async (whole, cuts, policy, clean) => {
        const capture = new OutputCapture({ ...policy, clean })
        let came = Buffer.alloc(0)
        for (const chunk of chunks(whole, cuts)) {
          capture.stdout.write(chunk)
          came = Buffer.concat([came, chunk])
          expect(capture.snapshot()).toEqual(await captured({ ...policy, clean }, came))
        }
        const result = await capture.finish()
        expect(result).toEqual(await captured({ ...policy, clean }, whole))
        expect(capture.snapshot()).toEqual(result)
      },
    )
    await fc.assert(law, { numRuns: 150 })
  })

  it('ends in the line of the exit, inside the limits', async () => {
    const exits = fc.constantFrom(
      [{ exitCode: 0 }, '[exit code 0]'] as const,
      [{ exitCode: 3, signal: null }, '[exit code 3]'] as const,
      [{ exitCode: null, signal: 'SIGKILL' }, '[killed by SIGKILL]'] as const,
      [{ timedOut: true, exitCode: 124 }, '[timed out, exit code 124]'] as const,
      [{ timedOut: false, exitCode: null, signal: null }, ''] as const,
    )
    const law = fc.asyncProperty(output, policies, exits, async (whole, policy, [exit, line]) => {
      const capture = new OutputCapture({ ...policy, streams: 'merged' })
      capture.stdout.write(whole)
      const result = await capture.finish(exit)
      expect(result.exit).toEqual(exit)
      expect(clampText(result.text, { ...policy, notice: false })).toBe(result.text)
      if (clampText(line, { ...policy, notice: false }) === line)
        expect(result.text.endsWith(line)).toBe(true)
    })
    await fc.assert(law, runs)
    const capture = new OutputCapture({ clean: false })
    capture.stdout.write('ok\n')
    expect((await capture.finish({ signal: 'a\nb\u202e'.repeat(20) })).text).toMatch(
      /^ok\n\[killed by [a-b?]{40}\]$/,
    )
  })

  it('ends in a line that a later cut keeps, whatever the signal', { tags: 'long' }, async () => {
    const signal = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.constantFrom('a, exit code b', '], [', 'SIGRTMIN+3'),
    )
    const law = fc.asyncProperty(
      signal,
      fc.option(fc.nat(255), { nil: null, freq: 1 }),
      async (signal, exitCode) => {
        const capture = new OutputCapture({ maxChars: 4_000 })
        capture.stdout.write(numbered(9_000))
        const { text } = await capture.finish({ signal, exitCode })
        const line = text.slice(text.lastIndexOf('\n'))
        expect(clampText(text, { maxChars: 2_000, keep: 'head' }).endsWith(line)).toBe(true)
      },
    )
    await fc.assert(law, { numRuns: 200 })
  })

  it("is an error to 'auto' where the process failed", async () => {
    const names = Array.from({ length: 400 }, (_, at) => [...String(at)].map((digit) => 'abcdefghij'[+digit]))
    const errors = names.map((name) => `error: no such file as ${name.join('')}\n`).join('')
    const text = `${numbered(4_000)}${errors}${numbered(9_000)}`
    const of = async (exit?: Parameters<OutputCapture['finish']>[0]) => {
      const capture = new OutputCapture({ keep: 'auto', maxBytes: 5_000 })
      capture.stdout.write(text)
      return (await capture.finish(exit)).text.split('error: no such file').length
    }
    const told = await of({ exitCode: 1 })
    // The last line says how it ended, which takes more room or less.
    for (const exit of [{ signal: 'SIGTERM' }, { timedOut: true }, { exitCode: -2 }])
      expect(Math.abs((await of(exit)) - told)).toBeLessThan(5)
    for (const exit of [
      undefined,
      {},
      { exitCode: 0 },
      { exitCode: null, signal: null },
      { timedOut: false },
    ])
      expect(await of(exit)).toBeLessThan(told - 5)
  })

  it('names what is not a text', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010806000000', 'hex')
    const binary = await captured({}, png)
    expect(binary).toMatchObject({ text: '[binary output, 29 bytes]', binary: true, truncated: true })
    const capture = new OutputCapture({ streams: 'separate', maxBytes: 40 })
    capture.stdout.write(Buffer.alloc(5_000_000))
    capture.stderr.write('warning: 漢字\n')
    expect(await capture.finish()).toMatchObject({
      stdout: '[binary output, 5000000 bytes]',
      stderr: 'warning: 漢字\n',
      total: { bytes: 5_000_016, chars: 5_000_012, lines: 2 },
      binary: true,
    })
    expect((await captured({}, Buffer.from('Grüße aus Köln\n', 'latin1'))).binary).toBe(false)
    expect((await captured({}, './a\0./b\0')).text).toBe('./a./b')
  })
})

describe('two streams', () => {
  it('are one text in the order in which they came', async () => {
    const capture = new OutputCapture()
    capture.stdout.write('one\n')
    capture.stderr.write('two\n')
    capture.stdout.write(Buffer.from([0xe6, 0xbc]))
    capture.stderr.write('three\n')
    capture.stdout.write(Buffer.from([0xa2]))
    const { text, stdout, stderr, total } = await capture.finish()
    expect(text).toBe('one\ntwo\nthree\n漢')
    expect([stdout, stderr]).toEqual(['', ''])
    expect(total).toEqual({ bytes: 17, chars: 15, lines: 4 })
  })

  it('have texts and limits of their own', async () => {
    const law = fc.asyncProperty(output, output, cuts, policies, async (out, err, cuts, policy) => {
      const capture = new OutputCapture({
        keep: 'auto',
        source: 'x',
        ...policy,
        streams: 'separate',
        clean: false,
      })
      const [outs, errs] = [chunks(out, cuts), chunks(err, cuts)]
      for (let at = 0; at < Math.max(outs.length, errs.length); at++) {
        if (outs[at]) capture.stdout.write(outs[at])
        if (errs[at]) capture.stderr.write(errs[at])
      }
      const result = await capture.finish()
      if (result.binary) return
      expect(result.stdout).toBe(clampText(out, { source: 'x', ...policy }))
      expect(result.stderr).toBe(clampText(err, { source: 'x', ...policy }))
      expect(clampText(result.text, { ...policy, notice: false })).toBe(result.text)
      const [one, other] = [measureText(out), measureText(err)]
      const sum = (unit: 'bytes' | 'chars' | 'lines') => one[unit] + other[unit]
      expect(result.total).toEqual({ bytes: sum('bytes'), chars: sum('chars'), lines: sum('lines') })
    })
    await fc.assert(law, runs)
  })

  it('stand under labels, that of a failure first', async () => {
    const of = async (out: string, err: string, code?: number) => {
      const capture = new OutputCapture({ streams: 'separate' })
      capture.stdout.write(out)
      capture.stderr.write(err)
      return (await capture.finish(code === undefined ? undefined : { exitCode: code })).text
    }
    expect(await of('a\n', 'b')).toBe('stdout:\na\nstderr:\nb')
    expect(await of('a', 'b', 0)).toBe('stdout:\na\nstderr:\nb\n[exit code 0]')
    expect(await of('a', 'b', 1)).toBe('stderr:\nb\nstdout:\na\n[exit code 1]')
    expect(await of('', 'b', 1)).toBe('stderr:\nb\n[exit code 1]')
    expect(await of('', '')).toBe('')
    const long = await of(numbered(50_000), numbered(40_000), 1)
    expect(measureText(long).lines).toBeLessThanOrEqual(2_000)
    expect(long.indexOf('stdout:\n') / long.length).toBeCloseTo(0.5, 1)
  })

  it('are called by their names where they are cut', async () => {
    const of = async (options: CaptureOptions) => {
      const capture = new OutputCapture({ notice: 'count', maxChars: 100, keep: 'head', ...options })
      capture.stderr.write(numbered(50))
      return capture.finish()
    }
    expect((await of({ streams: 'separate' })).stderr).toMatch(/\(\d+ chars truncated from stderr\)$/)
    expect((await of({ streams: 'separate', tool: 'make' })).text).toMatch(/truncated from make\)$/)
    expect((await of({ tool: 'make' })).text).toMatch(/truncated from make\)$/)
    expect((await of({ tool: 'make', source: 'build' })).text).toMatch(/truncated from build\)$/)
    expect((await of({})).text).toMatch(/truncated from output\)$/)
  })
})

describe('the Writables', () => {
  it('take strings in any encoding', async () => {
    const capture = new OutputCapture()
    capture.stdout.write('68c3a9', 'hex')
    capture.stdout.write('5ryi', 'base64')
    capture.stdout.write('x', 'latin1')
    capture.stdout.write('\ud83d')
    capture.stdout.write('\ude00')
    capture.stdout.write('\ud83d')
    capture.stdout.end(new Uint8Array([33]))
    expect((await capture.finish()).text).toBe('hé漢x😀\ufffd!')
  })

  it('end apart', async () => {
    const capture = new OutputCapture()
    capture.stdout.end('a\n')
    await new Promise((resolve) => capture.stdout.once('finish', resolve))
    capture.stderr.write('b\n')
    expect((await capture.finish()).text).toBe('a\nb\n')
  })

  it('copy what they keep', async () => {
    const spill = store()
    const capture = new OutputCapture({ spill, maxBytes: 1_000, keep: 'ends', clean: false })
    const chunk = Buffer.alloc(1_000_000)
    const whole: Buffer[] = []
    for (let at = 0; at < 24; at++) {
      chunk.fill(`${at} `)
      capture.stdout.write(chunk)
      whole.push(Buffer.from(chunk))
      chunk.fill('?')
    }
    const { text, spill: record } = await capture.finish()
    expect(text).not.toContain('?')
    expect(readFileSync(record?.path ?? '').equals(Buffer.concat(whole))).toBe(true)
  })

  it('copy what comes behind an empty chunk that waits', async () => {
    const spill = store()
    const capture = new OutputCapture({ spill, maxBytes: 1_000, clean: false })
    capture.stdout.write(Buffer.alloc(3_000_000, 'a'))
    capture.stderr.write(Buffer.alloc(0))
    const chunk = Buffer.from('kept')
    capture.stderr.write(chunk)
    chunk.fill('?')
    const { spill: record } = await capture.finish()
    expect(readFileSync(record?.path ?? '', 'latin1').replaceAll('a', '')).toBe('kept')
  })

  it('finish once, and say the same again', async () => {
    const capture = new OutputCapture()
    capture.stdout.write('a')
    const both = await Promise.all([capture.finish({ exitCode: 1 }), capture.finish({ exitCode: 2 })])
    expect(both[1]).toEqual(both[0])
    expect(await capture.finish()).toEqual(both[0])
  })
})

describe('the saved whole', () => {
  it('is all that came, byte for byte and in order', async () => {
    const spill = store()
    const law = fc.asyncProperty(
      output,
      cuts,
      fc.boolean(),
      fc.boolean(),
      async (whole, cuts, both, clean) => {
        const capture = new OutputCapture({ spill, maxBytes: 300, maxLines: 5, clean, tool: 'sh' })
        const all = chunks(whole, cuts)
        for (const [at, chunk] of all.entries())
          (both && at % 2 ? capture.stderr : capture.stdout).write(chunk)
        const result = await capture.finish({ exitCode: 0 })
        expect(result.spillError).toBeUndefined()
        expect(result.spill !== undefined).toBe(result.truncated)
        if (!result.spill) return
        expect(readFileSync(result.spill.path).equals(whole)).toBe(true)
        expect(result.spill).toMatchObject({ bytes: whole.length, complete: true })
        rmSync(result.spill.path)
      },
    )
    await fc.assert(law, { numRuns: 200 })
    expect(spill.files()).toEqual([])
  })

  it('is named in the notice, by its path or its id', async () => {
    for (const reference of ['path', 'id'] as const) {
      const spill = store({ reference })
      const options = { spill, maxBytes: 400, tool: 'make', callId: 'c1' }
      const { text, spill: record } = await captured(options, numbered(1_000))
      const advice = { path: 'read or search it there', id: 'page or search it with read_output' }[reference]
      expect(text).toContain(
        ` chars omitted (limit 400B); full output saved as ${record?.[reference]}, ${advice}]`,
      )
      expect(record?.path).toContain('.make.')
    }
    const spill = store()
    const words: Cut[] = []
    const notice = (cut: Cut) => {
      words.push(cut)
      return `[${cut.omittedLines} of ${cut.totalLines} lines, ${cut.exceeded}: ${cut.saved}]`
    }
    const worded = await captured({ spill, maxLines: 10, notice }, numbered(1_000))
    expect(worded.text).toMatch(/^line 0\nline 1\n\n\[99\d of 1000 lines, lines: \/.*\.txt\]\n\nline 99/)
    expect(words[0]).toMatchObject({ keep: 'ends', totalChars: numbered(1_000).length })
    const template = await captured({ spill, maxLines: 10, notice: '<{saved}>' }, numbered(1_000))
    expect(template.text).toContain(`<${template.spill?.path}>`)
  })

  it('is the start of it where a quota stops it, and the notice says so', async () => {
    const spill = store({ maxFileBytes: 1_000 })
    const { text, spill: record } = await captured({ spill, maxBytes: 400 }, numbered(1_000))
    expect(record).toMatchObject({ bytes: numbered(1_000).length, complete: false })
    expect(text).toContain(`; the start of it saved as ${record?.path}, read or search it there]`)
    expect(readFileSync(record?.path ?? '', 'utf8')).toBe(numbered(1_000).slice(0, 1_000))
  })

  it('is named by a snapshot while the command runs, and found by that name afterwards', async () => {
    const spill = store()
    const capture = new OutputCapture({ spill, tool: 'server', maxLines: 10 })
    capture.stdout.write(numbered(1_000))
    let now = capture.snapshot()
    for (; !now.spill; now = capture.snapshot()) await new Promise(setImmediate)
    const { id, path, complete } = now.spill
    expect(complete).toBe(false)
    expect(now.text).toContain(path)
    const soFar = await spill.read(id)
    expect(soFar.totalLines).toBe(1_000)
    capture.stdout.write('the end\n')
    const { text, spill: record } = await capture.finish({ exitCode: 0 })
    expect(text).toContain(record?.path)
    expect(await spill.list()).toEqual([record])
    expect((await spill.read(id, { line: 1_001 })).text).toBe('the end\n')
    // Nothing but the output decides on its id.
    const again = await captured({ spill, tool: 'server', maxLines: 10 }, `${numbered(1_000)}the end\n`)
    expect(again.spill?.id).toBe(record?.id)
    expect(await spill.list()).toHaveLength(1)
  })

  it('is not a file where all of it is in the text', async () => {
    const spill = store()
    expect(await captured({ spill }, 'ok\n')).not.toHaveProperty('spill')
    const bar = Array.from({ length: 100_000 }, (_, at) => `\r${at} of 100000`).join('')
    const drawn = await captured({ spill }, bar)
    expect(drawn).toMatchObject({ text: '99999 of 100000', truncated: false })
    expect(drawn.spill).toBeUndefined()
    expect(spill.files()).toEqual([])
  })

  it('is there where only the line of the exit makes it too much, and where nothing is shown', async () => {
    const spill = store()
    const capture = new OutputCapture({ spill, maxBytes: 30, keep: 'head', notice: false })
    capture.stdout.write('x'.repeat(30))
    const tight = await capture.finish({ exitCode: 1 })
    expect(tight.text).toBe(`${'x'.repeat(16)}\n[exit code 1]`)
    expect(readFileSync(tight.spill?.path ?? '', 'utf8')).toBe('x'.repeat(30))
    const binary = await captured({ spill }, Buffer.alloc(100))
    expect(binary.text).toBe(`[binary output, 100 bytes; saved as ${binary.spill?.path}]`)
  })

  it('that cannot be saved is reported, and the text is still clamped', async () => {
    const spill = createSpillStore({ dir: '/proc/nowhere' })
    const capture = new OutputCapture({ spill, maxLines: 10 })
    for (let at = 0; at < 100; at++) capture.stdout.write(numbered(1_000))
    await until(() => capture.snapshot().spillError !== undefined)
    await new Promise((resolve) => capture.stdout.write(numbered(1_000), resolve))
    const now = capture.snapshot()
    const result = await capture.finish({ exitCode: 0 })
    const told = '; the rest could not be saved (ENOENT); ask for less, or for specific sections]'
    for (const { text, spillError } of [now, result]) {
      expect(text).toContain(told)
      expect(spillError).toMatch(/^ENOENT: .*\/proc\/nowhere/)
    }
    expect(result).toMatchObject({ truncated: true, total: { lines: 101_000 } })
    expect(result).not.toHaveProperty('spill')
    expect(await captured({ spill }, 'fits')).toEqual({
      text: 'fits',
      stdout: '',
      stderr: '',
      truncated: false,
      total: { bytes: 4, chars: 4, lines: 1 },
      binary: false,
    })
  })

  it('slows the writer where the disk is slower', async () => {
    const spill = store({ maxFileBytes: Number.POSITIVE_INFINITY })
    const capture = new OutputCapture({ spill, clean: false, keep: 'tail' })
    const chunk = Buffer.alloc(4_000_000, 'some output\n')
    let waited = 0
    for (let at = 0; at < 25; at++) {
      if (capture.stdout.write(chunk)) continue
      waited += 1
      await new Promise((resolve) => capture.stdout.once('drain', resolve))
      expect(capture.stdout.writableLength).toBe(0)
    }
    expect(waited).toBeGreaterThan(5)
    const { spill: record } = await capture.finish()
    expect(record).toMatchObject({ bytes: 100_000_000, complete: true })
    rmSync(record?.path ?? '')
  })

  it('is reported to listeners', async () => {
    const events: unknown[] = []
    const hear = (event: unknown) => events.push(event)
    for (const name of ['clamp', 'spill']) subscribe(`spillway:${name}`, hear)
    const spill = store()
    const meta = { tool: 'make', callId: 'c1' }
    const { spill: record } = await captured({ spill, maxLines: 10, ...meta }, numbered(1_000))
    await captured({ spill, ...meta }, 'fits')
    const failing = new OutputCapture({ maxLines: 10 })
    failing.stdout.write(numbered(1_000))
    await failing.finish({ exitCode: 1 })
    for (const name of ['clamp', 'spill']) unsubscribe(`spillway:${name}`, hear)
    const total = measureText(numbered(1_000))
    const sizes = { total, kept: expect.anything(), exceeded: ['lines'] }
    const cut = { action: 'cut', reason: 'limits', phase: 'result', ...sizes }
    expect(events).toEqual([{ ...meta, record }, { ...meta, ...cut, saved: record?.path }, cut])
    expect((events[1] as ClampEvent).kept.lines).toBeLessThan(10)
  })
})

describe('options', () => {
  it.each([
    ['streams', { streams: 'both' }],
    ['clean', { clean: 'yes' }],
    ['clean.ansi', { clean: { ansi: 1 } }],
    ['maxBytes', { maxBytes: -1 }],
    ['keep', { keep: 'middle' }],
    ['spill', { spill: {} }],
    ['spill', { spill: { read: async () => ({}) } }],
    ['tool', { tool: 5 }],
    ['callId', { callId: null }],
    ['policy', 7],
  ])('%s is checked at once', (field, options) => {
    expect(() => new OutputCapture(any(options))).toThrow(
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringContaining(field) }),
    )
  })

  it('of finish and attach are checked too', async () => {
    const capture = new OutputCapture()
    const wrong = { code: 'ERR_SPILLWAY_OPTION' }
    for (const exit of [5, { exitCode: 'x' }, { exitCode: 1.5 }, { signal: 9 }, { timedOut: 1 }])
      await expect(capture.finish(any(exit))).rejects.toMatchObject(wrong)
    await expect(capture.attach(any({}))).rejects.toMatchObject(wrong)
    const child = any({ on() {} })
    await expect(capture.attach(child, { graceMs: -1 })).rejects.toMatchObject(wrong)
    await expect(capture.attach(child, { signal: any('now') })).rejects.toMatchObject(wrong)
    expect((await capture.finish()).text).toBe('')
    await expect(capture.attach(child)).rejects.toMatchObject(wrong)
  })

  it('have defaults of their own, also in a checked policy', async () => {
    const text = `${numbered(9_000)}error: no such file\n${numbered(9_000)}`
    const { definePolicy } = await import('spillway')
    expect((await captured(definePolicy({ maxBytes: 5_000 }), text)).text).toContain('error: no such file')
  })
})
