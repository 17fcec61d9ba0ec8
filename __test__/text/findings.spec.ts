import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  type Cut,
  clampError,
  clampResult,
  clampText,
  clampTextAsync,
  clampTextWithReport,
  definePolicy,
  OutputCapture,
  repairSession,
  wrapTool,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { failingLog, naive, searching } from '../support/hostile.js'

const runs = { numRuns: 1_000 }
const lines = (count: number, text = 'all is well') => `${text}\n`.repeat(count)
const log = `${lines(400)}src/a.ts:7 - error: no such file\n${lines(400, 'going on')}`
const error = 'src/a.ts:7 - error: no such file'

describe("keep 'findings'", () => {
  it('keeps the line from the middle with lines around it, both ends, marks in the gaps and the notice last', () => {
    const kept = clampText(log, { keep: 'findings', maxLines: 23 }).split('\n')
    const [first, ...rest] = kept
    expect([first, ...rest.slice(-3)]).toEqual([
      'all is well',
      'going on',
      '',
      expect.stringMatching(
        /^\[tool output truncated: [\d,]+ of 8,433 chars omitted \(limit 23 lines\); ask for less/,
      ),
    ])
    const at = kept.indexOf(error)
    expect(kept.slice(at - 3, at)).toEqual(Array(3).fill('all is well'))
    expect(kept.slice(at + 1, at + 6)).toEqual(Array(5).fill('going on'))
    const marks = kept.flatMap((line, index) => (/^\[\.{3} \d+ lines \.{3}\]$/.test(line) ? [index] : []))
    expect(marks).toHaveLength(2)
    expect((marks[0] as number) < at && at < (marks[1] as number)).toBe(true)
    expect(kept.length).toBeLessThanOrEqual(23)
  })

  it('is exactly its kept parts, its marks and its notice', () => {
    let [tried, found] = [0, 0]
    fc.assert(
      fc.property(failingLog, searching, (text, policy) => {
        const report = clampTextWithReport(text, { ...policy, keep: 'findings' })
        tried += 1
        // A notice at the end is not a text, and goes.
        if (!/^\[\.{3} [\d,]+ (lines?|chars) \.{3}\]$/m.test(report.text) || /\]\n*$/.test(text)) return
        found += 1
        expect(rebuilt(text.toWellFormed(), report)).toBe(report.text)
      }),
      runs,
    )
    expect(found).toBeGreaterThan(tried / 20)
  })

  it('holds every limit, and a second clamp changes nothing', () => {
    fc.assert(
      fc.property(failingLog, searching, fc.boolean(), (text, policy, asBytes) => {
        const all = { ...policy, keep: 'findings' as const }
        const clamped = clampText(asBytes ? Buffer.from(text) : text, all)
        const size = naive(clamped)
        expect(size.bytes).toBeLessThanOrEqual(policy.maxBytes)
        expect(size.lines).toBeLessThanOrEqual(policy.maxLines ?? 2_000)
        expect(size.chars).toBeLessThanOrEqual(policy.maxChars ?? Number.POSITIVE_INFINITY)
        expect(clamped.isWellFormed()).toBe(true)
        expect(clampText(clamped, all)).toBe(clamped)
      }),
      runs,
    )
  })

  it('reports what a naive count says, of strings and of bytes', () => {
    fc.assert(
      fc.property(failingLog, searching, (text, policy) => {
        for (const input of [text, Buffer.from(text)]) {
          const { total, kept, omitted, ranges } = clampTextWithReport(input, { ...policy, keep: 'findings' })
          const whole = text.toWellFormed()
          const { bytes, chars, lines } = naive(whole)
          expect(total).toEqual({ bytes, chars, lines })
          const parts = ranges.map(([start, end]) => whole.slice(start, end))
          expect(kept.bytes).toBe(Buffer.byteLength(parts.join('')))
          expect(kept.chars).toBe(parts.join('').length)
          for (const unit of ['bytes', 'chars', 'lines'] as const)
            expect(kept[unit] + omitted[unit]).toBe(total[unit])
        }
      }),
      runs,
    )
  })

  it("is 'ends' 20/80 where nothing tells of a failure", () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 900 }), fc.nat(4_000), (count, maxChars) => {
        const text = lines(count, 'nothing to see here')
        expect(clampText(text, { keep: 'findings', maxChars })).toBe(
          clampText(text, { keep: 'ends', headShare: 0.2, maxChars }),
        )
      }),
    )
  })

  it('looks for what the caller asked about', () => {
    const errors = Array.from({ length: 90 }, (_, at) => `error: ${letters(at)} is missing\n`).join('')
    // A line unlike those around it would be a finding of its own.
    const slow = Array.from({ length: 400 }, (_, at) => `${letters(at)}.spec.ts is slow\n`).join('')
    const text = `${errors}${slow}cart.spec.ts is slow\n${slow}${errors}`
    for (const keep of ['findings', 'relevant', 'auto'] as const) {
      const found = clampText(text, { keep, maxChars: 900, needles: ['cart.spec.ts'] })
      expect(found, keep).toContain('cart.spec.ts is slow')
    }
    expect(clampText(text, { keep: 'findings', maxChars: 900 })).not.toContain('cart')
  })

  it.each([
    'head',
    'tail',
    'ends',
  ] as const)('reserves room for needles with keep %s, at every door', async (keep) => {
    const text = `${lines(30_000, 'goes in')}cart.spec.ts is slow\n${lines(30_000, 'comes out')}`
    const policy = { keep, maxChars: 900, maxLines: 5_000, needles: ['cart.spec.ts'] } as const
    const cut = clampText(text, policy)
    expect(cut).toContain('cart.spec.ts is slow\n')
    expect(cut.startsWith('goes in\n')).toBe(keep !== 'tail')
    expect(cut.includes('\ncomes out\n')).toBe(keep !== 'head')
    expect(cut.length).toBeGreaterThan(880)
    // Texts of this length are searched by threads.
    expect(text.length).toBeGreaterThan(262_144)
    expect(await clampTextAsync(text, policy)).toBe(cut)
    expect(clampResult({ role: 'tool', tool_call_id: 'c', content: text }, policy).content).toBe(cut)
    const capture = new OutputCapture({ ...policy, clean: false })
    capture.stdout.write(text)
    expect((await capture.finish()).text).toContain('cart.spec.ts is slow\n')
    const dir = mkdtempSync(join(tmpdir(), 'spillway-needles-'))
    const file = join(dir, 's.jsonl')
    writeFileSync(file, `${JSON.stringify({ role: 'tool', tool_call_id: 'c', content: text })}\n`)
    await repairSession(file, policy)
    expect(JSON.parse(readFileSync(file, 'utf8')).content).toContain('cart.spec.ts is slow\n')
    rmSync(dir, { recursive: true })
    // Without one in the text, the cut is that without needles.
    const others = { ...policy, needles: ['cart.test.ts'] }
    expect(clampText(text, others)).toBe(clampText(text, { ...policy, needles: [] }))
  })

  it('counts from the original when it is cut again', () => {
    const once = clampText(log, { keep: 'findings', maxChars: 2_000 })
    const twice = clampText(once, { keep: 'findings', maxChars: 800 })
    expect(twice).toContain(' of 8,433 chars omitted')
    expect(twice).toContain(error)
  })

  it('counts from the original whatever was kept before and is kept now', () => {
    const keeps = ['head', 'tail', 'ends', 'findings', 'relevant'] as const
    const text = Array.from({ length: 5_000 }, (_, at) =>
      at % 5 === 2 ? `error: thing ${at}\n` : `line of text ${at}\n`,
    ).join('')
    for (const first of keeps) {
      for (const second of keeps) {
        const once = clampText(text, { keep: first, maxBytes: 8_000 })
        const twice = clampText(once, { keep: second, maxBytes: 4_000 })
        expect(twice, `${first}, then ${second}`).toContain(
          ` of ${text.length.toLocaleString('en-US')} chars omitted`,
        )
        expect(clampText(twice, { keep: 'findings', maxBytes: 2_000 })).toContain(
          ` of ${text.length.toLocaleString('en-US')} chars omitted`,
        )
      }
    }
  })

  it('leaves one notice, which tells all that is missing', () => {
    const lines = Array.from({ length: 1_000 }, (_, at) => (at === 700 ? 'error: boom' : `fine line ${at}`))
    let text = clampText(lines.join('\n'), { keep: 'findings', maxChars: 8_000, notice: 'pi' })
    let before = 0
    for (const maxChars of [6_000, 3_000, 1_500, 700]) {
      text = clampText(text, { keep: 'ends', maxChars, notice: 'pi' })
      const [told = 0, ...others] = [...text.matchAll(/\[\.{3} (\d+) more/g)].map(([, count]) =>
        Number(count),
      )
      expect(others).toEqual([])
      expect(told).toBeGreaterThan(before)
      before = told
    }
    const head = clampText(lines.join('\n'), { keep: 'head', maxChars: 1_000 })
    for (const keep of ['tail', 'ends', 'findings'] as const)
      expect(clampText(head, { keep, maxChars: 400 }).match(/truncated/g)).toHaveLength(1)
  })

  it('counts on as the earlier notice did, and never calls bytes characters', () => {
    const text = '漢字かな交じり文\n'.repeat(20_000)
    const bytes = clampText(Buffer.from(text), { maxChars: 5_000 })
    expect(clampText(bytes, { maxChars: 1_000 })).toContain(' of 500,000 bytes omitted')
    const chars = Number(
      /(\d+) more characters/.exec(clampText(bytes, { maxChars: 1_000, notice: 'pi' }))?.[1],
    )
    expect(chars).toBeGreaterThan(178_000)
    expect(chars).toBeLessThan(180_000)
    const again = Buffer.from(clampText(text, { maxChars: 5_000 }))
    expect(clampText(again, { maxChars: 1_000 })).toContain(' of 180,000 chars omitted')
  })

  it('does not count a line without kept text', () => {
    const { kept, ranges } = clampTextWithReport(`${lines(40, 'ok')}error: x\n${lines(40, 'ok')}\n`, {
      keep: 'findings',
      maxLines: 30,
    })
    expect(ranges.at(-1)?.[1]).toBe(249)
    expect(kept.lines).toBe(25)
  })

  it('looks for many texts as for each of them', () => {
    const needles = Array.from({ length: 1_000 }, (_, at) => `needle${at}.`)
    const text = `${lines(400)}${needles[700]} is slow\n${lines(400)}`
    expect(clampText(text, { keep: 'findings', maxChars: 900, needles })).toBe(
      clampText(text, { keep: 'findings', maxChars: 900, needles: ['needle700.'] }),
    )
  })

  it('finds what was asked about wherever it stands in a long line', () => {
    const text = Array.from({ length: 3_000 }, (_, at) => `plain row ${at}`).join('\n')
    for (let before = 1_000; before < 1_300; before += 7) {
      const long = `${text}\n${'k'.repeat(before)}NEEDLE${'k'.repeat(3_000)}\n${text}`
      expect(clampText(long, { keep: 'findings', needles: ['NEEDLE'], maxBytes: 3_000 })).toMatch(
        /NE[\s\S]*DLE/,
      )
    }
    const needle = 'n'.repeat(700)
    const long = `${text}\n${'k'.repeat(999)}${needle}\n${text}`
    expect(clampText(long, { keep: 'findings', needles: [needle], maxBytes: 3_000 })).toContain('nnn')
  })

  it('tells a worded notice the truth', () => {
    const notice = (cut: Cut) =>
      `[${cut.keep}: ${cut.keptLines} of ${cut.totalLines}, ${cut.omittedLines} gone]`
    const template = '[findings: {keptLines} of {totalLines}, {omittedLines} gone]'
    for (const input of [log, Buffer.from(log)]) {
      const worded = clampText(input, { keep: 'findings', maxChars: 900, notice })
      expect(worded).toBe(clampText(input, { keep: 'findings', maxChars: 900, notice: template }))
      expect(worded).toMatch(/\[findings: 1-\d+,3\d\d-4\d\d,7\d\d-801 of 801, \d+ gone\]$/)
    }
  })

  it('works on lines that were cut inside', () => {
    const text = log.replace('no such file', `no such file${' x'.repeat(3_000)}`)
    const report = clampTextWithReport(text, { keep: 'findings', maxChars: 900, maxLineBytes: 80 })
    expect(report.text).toMatch(/^src\/a\.ts:7 - error: no such file[ x]+\[\+\d+ chars\]$/m)
    expect(
      Math.max(
        ...report.text
          .split('\n')
          .slice(0, -1)
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(80)
    expect(report.kept.chars + report.omitted.chars).toBe(text.length)
  })
})

describe("keep 'auto'", () => {
  // What lines look like that say nothing must not decide about the only line that differs.
  it('keeps one error among lines of any words', () => {
    const word = fc.stringMatching(/^(?:[a-z]{1,9}|[а-я]{1,9}|é{1,3}|[가-힣]{1,4})$/)
    const sentence = fc.array(word, { minLength: 3, maxLength: 25 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(sentence, fc.constantFrom('', '.', ' ', ' 7'), fc.nat(3_000), (words, end, at) => {
        const around = (count: number) => `${words}${end}\n`.repeat(count)
        const text = `${around(at)}${error}\n${around(3_000 - at)}`
        expect(clampText(text, { maxChars: 8_000 })).toContain(error)
      }),
      { numRuns: 200 },
    )
  })

  it('keeps one error wherever it fits, and more lines in more room', () => {
    const word = fc.stringMatching(/^[b-df-hj-np-tv-z]{3,9}$/)
    const words = fc.array(word, { minLength: 1, maxLength: 6 }).map((all) => all.join(' '))
    const noises = fc.oneof(
      fc.array(words, { minLength: 12, maxLength: 300 }),
      fc.tuple(words, fc.integer({ min: 12, max: 300 })).map(([text, count]) => Array(count).fill(text)),
      fc
        .tuple(words, fc.integer({ min: 12, max: 300 }))
        .map(([text, count]) => Array.from({ length: count }, (_, at) => `${text} ${at} of ${count}`)),
    )
    const limit = fc.constantFrom('maxChars', 'maxBytes', 'maxLines', 'maxTokens')
    const lifted = { maxBytes: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY }
    fc.assert(
      fc.property(noises, words, fc.nat(), limit, fc.boolean(), (noise, said, at, name, isError) => {
        const error = `error: ${said}`
        const all = noise.toSpliced(1 + (at % (noise.length - 2)), 0, error)
        const text = all.join('\n')
        // No larger than needed for both marks, the error and the shortest notice.
        const holds = { maxChars: 60, maxBytes: 60, maxLines: 4, maxTokens: 40 }[name]
        const needed = holds + (name === 'maxLines' ? 0 : error.length)
        let before = [error]
        for (let room = needed; room < 6 * needed; room += name === 'maxLines' ? 1 : 7) {
          const kept = clampText(text, { ...lifted, [name]: room, isError }).split('\n')
          expect(before.filter((line) => !kept.includes(line))).toEqual([])
          before = kept.filter((line) => all.includes(line))
        }
      }),
      { numRuns: 1_500 },
    )
  })

  it('keeps the odd record in the middle of a long log', () => {
    const word = fc.stringMatching(/^(?:[b-df-hj-np-tv-z]{3,8}|[а-я]{3,8}|[ა-ჰ]{3,8}|[가-힣]{2,4})$/)
    const words = fc.uniqueArray(word, { minLength: 6, maxLength: 6 })
    fc.assert(
      fc.property(words, fc.integer({ min: 1_500, max: 3_999 }), fc.boolean(), (words, at, isError) => {
        const [level, label, said, seen, odd, other] = words
        const record = (level: unknown, said: unknown, at: number) =>
          JSON.stringify({
            level,
            [`${label}`]: `${said} ${seen}`,
            ts: `2026-11-27T09:${at}:01Z`,
            of: at * 7919,
          })
        const records = Array.from({ length: 4_000 }, (_, at) => record(level, `${said} node_${at * 31}`, at))
        records[at] = record(odd, other, at)
        expect(clampText(records.join('\n'), { maxChars: 8_000, isError })).toContain(records[at])
      }),
      { numRuns: 30 },
    )
  })

  it('searches what is known to be an error', async () => {
    const policy = { maxChars: 900 }
    expect(clampText(log, { ...policy, isError: true })).toContain(error)
    const failed = { content: [{ type: 'text', text: log }], isError: true }
    expect(clampResult(failed, policy).content[0]?.text).toContain(error)
    expect(clampError(new Error(log), policy).message).toContain(error)
    const tool = wrapTool({ execute: () => Promise.reject(new Error(log)) }, policy)
    await expect(tool.execute()).rejects.toThrow(error)
    expect(await wrapTool({ execute: async () => failed }, policy).execute()).toEqual(
      clampResult(failed, policy),
    )
  })

  it("is the search of 'findings' for a known error", () => {
    fc.assert(
      fc.property(failingLog, searching, (text, policy) => {
        expect(clampText(text, { ...policy, keep: 'auto', isError: true })).toBe(
          clampText(text, { ...policy, keep: 'findings', isError: true }),
        )
      }),
    )
  })

  it('searches each block of a failed result', () => {
    const content = [log, log.replaceAll('well', 'good')].map((text) => ({ type: 'text', text }))
    const result = clampResult({ content, isError: true }, { maxChars: 1_800 })
    for (const { text } of result.content) expect(text).toContain(error)
    expect(
      result.content.map(({ text }) => text.length).reduce((sum, chars) => sum + chars),
    ).toBeLessThanOrEqual(1_800)
  })
})

describe('what is hostile', () => {
  const policy = definePolicy({ keep: 'findings', maxChars: 8_000 })

  it.each([
    ['a million lines that all say error', 'error: something\n'.repeat(1_000_000)],
    ['one line of 100 MB', 'x'.repeat(1e8)],
    ['one line of words', 'error, '.repeat(2_000_000)],
    ['only escape sequences', '\x1b[31m'.repeat(1_000_000)],
    ['only newlines', '\n'.repeat(1_000_000)],
    [
      '10,000 different failures',
      Array.from({ length: 10_000 }, (_, at) => `error ${letters(at)}: bad\n`).join(''),
    ],
  ])('%s', (_, text) => {
    const clamped = clampText(text, policy)
    expect(clamped.length).toBeLessThanOrEqual(8_000)
    expect(clamped.length).toBeGreaterThan(1_900)
  })

  it('looks at the first 4 and the last 12 MiB of a longer result, and says what it left out', () => {
    const part = (text: string) => lines(700_000, text)
    const text = `${error} 1\n${part('one one')}${error} 2\n${part('two two two two')}${error} 3\n${part('three three')}end\n`
    const { content } = clampResult({ content: [{ type: 'text', text }], isError: true }, { maxChars: 2_000 })
    const clamped = content[0]?.text ?? ''
    expect(clamped).toContain(`${error} 1`)
    expect(clamped).not.toContain(`${error} 2`)
    expect(clamped).toContain(`${error} 3`)
    const marked = [...clamped.matchAll(/\[\.{3} ([\d,]+) lines? \.{3}\]/g)].map(([, count = '']) =>
      Number(count.replaceAll(',', '')),
    )
    const shown = clamped.split('\n').length - marked.length - 2
    expect(marked.reduce((sum, count) => sum + count, 0) + shown).toBe(2_100_004)
    expect(clampText(text, { keep: 'findings', maxChars: 2_000 })).toContain(`${error} 2`)
  })
})

function letters(at: number): string {
  return [...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('')
}

/** The clamped text as it has to be, made from the ranges alone. */
function rebuilt(text: string, { ranges, notice }: { ranges: [number, number][]; notice: string }): string {
  const separator =
    notice === '' || notice.startsWith('[...') ? '' : notice.startsWith('... (') ? '\n' : '\n\n'
  let out = ''
  const gap = (start: number, end: number) => {
    if (start === end) return
    if (out !== '' && !out.endsWith('\n')) out += '\n'
    out += `${mark(text, start, end)}\n`
  }
  // An earlier notice at the start goes without a mark.
  let before = notice === '' ? 0 : (/^\[\.{3} 123 more characters truncated\]\n/.exec(text)?.[0].length ?? 0)
  for (const [start, end] of ranges) {
    gap(before, start)
    out += text.slice(start, end)
    before = end
  }
  // The separator replaces the last newline of the text or of a mark.
  if (separator !== '' && text.slice(before) === '\n') return out + separator + notice
  gap(before, text.length)
  return (separator === '' ? out : out.replace(/\n$/, '')) + separator + notice
}

function mark(text: string, start: number, end: number): string {
  const begins = start === 0 || text[start - 1] === '\n'
  const first = begins ? start : text.indexOf('\n', start) + 1 || text.length
  const last = end === text.length ? end : text.lastIndexOf('\n', end - 1) + 1
  const count = first < last ? naive(text.slice(first, last)).lines : 0
  const say = (amount: number, unit: string) => `[... ${amount.toLocaleString('en-US')} ${unit} ...]`
  return count > 0 ? say(count, count === 1 ? 'line' : 'lines') : say(end - start, 'chars')
}
