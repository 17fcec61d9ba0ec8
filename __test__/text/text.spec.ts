import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import {
  clampText,
  clampTextWithReport,
  cleanText,
  estimateTokens,
  measureText,
  OutputCapture,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { hostileText, limits, naive, policies, type SomeLimits } from '../support/hostile.js'

const runs = { numRuns: 2_000 }

function expectWithin(
  text: string,
  { maxBytes = 51_200, maxLines = 2_000, maxChars, maxTokens, maxLineBytes }: SomeLimits,
) {
  const size = naive(text)
  expect(text.isWellFormed()).toBe(true)
  expect(size.bytes).toBeLessThanOrEqual(maxBytes)
  expect(size.lines).toBeLessThanOrEqual(maxLines)
  expect(size.chars).toBeLessThanOrEqual(maxChars ?? Number.POSITIVE_INFINITY)
  expect(size.longest).toBeLessThanOrEqual(maxLineBytes ?? Number.POSITIVE_INFINITY)
  if (maxTokens !== undefined) expect(estimateTokens(text)).toBeLessThanOrEqual(maxTokens)
}

describe('the guarantees, over hostile text', () => {
  it('G1, G2: every limit holds for the final text, which is well-formed', () => {
    fc.assert(
      fc.property(hostileText, policies, (text, policy) => expectWithin(clampText(text, policy), policy)),
      runs,
    )
  })

  it('G1, G2: the same of bytes, whatever they are', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 900 }),
      hostileText.map((text) => Buffer.from(text)),
    )
    fc.assert(
      fc.property(bytes, policies, (text, policy) => expectWithin(clampText(text, policy), policy)),
      runs,
    )
  })

  it('G3: what fits and is well-formed comes back as it is, what is not is repaired', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const lifted = { maxBytes: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY }
        expect(clampText(text, lifted)).toBe(text.toWellFormed())
        expect(clampText(Buffer.from(text), lifted)).toBe(Buffer.from(text).toString())
      }),
    )
  })

  it('G4: the report names what is kept, and the text holds nothing else', () => {
    fc.assert(
      fc.property(hostileText, policies, (text, policy) => {
        const report = clampTextWithReport(text, policy)
        const kept = report.ranges.map(([start, end]) => text.toWellFormed().slice(start, end))
        expect(kept.join('').length).toBe(report.kept.chars)
        let from = 0
        for (const part of kept) {
          const at = report.text.indexOf(part, from)
          expect(at).toBeGreaterThanOrEqual(0)
          from = at + part.length
        }
        // Text between findings: findings.spec.ts.
        if (
          policy.maxLineBytes === undefined &&
          !/^\[\.{3} [\d,]+ (lines?|chars) \.{3}\]$/m.test(report.text)
        ) {
          const [head = '', tail = ''] = kept
          const sides = kept.length > 1 ? [[head, tail]] : [[head, ''] as const, ['', head] as const]
          const middles = sides.map(([starts = '', ends = '']) => {
            const middle = report.text.slice(starts.length, report.text.length - ends.length)
            return starts + middle + ends === report.text ? middle.trim() : undefined
          })
          expect(middles).toContain(report.notice.trim())
        }
        expect(report.text).toContain(report.notice)
      }),
      runs,
    )
  })

  it('G5: a second clamp changes nothing', () => {
    fc.assert(
      fc.property(hostileText, policies, (text, policy) => {
        const once = clampText(text, policy)
        expect(clampText(once, policy)).toBe(once)
      }),
      runs,
    )
  })

  it('G6: one more code point would break a limit', () => {
    const keep = fc.constantFrom<'head' | 'tail'>('head', 'tail')
    fc.assert(
      fc.property(hostileText, limits, keep, (text, { maxLineBytes, ...bounds }, keep) => {
        const policy = { ...bounds, keep, snap: 'char' as const, notice: false as const }
        const { text: out, ranges } = clampTextWithReport(text, policy)
        const whole = text.toWellFormed()
        const [start, end] = ranges[0] ?? (keep === 'head' ? [0, 0] : [whole.length, whole.length])
        if (out === whole) return
        const more =
          keep === 'head'
            ? whole.slice(0, end + ((whole.codePointAt(end) ?? 0) > 0xffff ? 2 : 1))
            : whole.slice(start - (/[\udc00-\udfff]/.test(whole[start - 1] ?? '') ? 2 : 1))
        expect(() => expectWithin(more, policy)).toThrow()
      }),
      runs,
    )
  })

  it('G7: a notice is never cut', () => {
    const text = `${'word '.repeat(2_000)}\n`
    for (let maxChars = 0; maxChars < 300; maxChars++) {
      for (const keep of ['head', 'tail', 'ends'] as const) {
        const out = clampText(text, { maxChars, keep })
        const rest = out.replace(
          /\[tool output truncated: [\d,]+ of 10,001 chars omitted \(limit \d+ chars\); ask for less, or for specific sections\]|\[\.\.\. \d+ more characters truncated\]|\[\.\.\.\]/,
          '',
        )
        expect(rest).toMatch(/^[words \n]*$/)
        expect(rest === out).toBe(maxChars < 5)
      }
    }
  })

  it('G8, G10: no content throws, and the same input gives the same text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.string({ unit: 'binary' })), policies, (text, policy) => {
        expect(clampText(text, policy)).toBe(clampText(text, policy))
      }),
    )
  })

  it('G8: a text too long to be read at once gives the same, with one or two bytes a char in memory', () => {
    const long = fc.tuple(hostileText, fc.constantFrom('', '✓')).map(([text, end]) => {
      const narrow = `${text.replaceAll(/[\u0100-\uffff]/g, 'é')}a line\n`
      return narrow.repeat(Math.ceil(70_000 / narrow.length)) + end
    })
    fc.assert(
      fc.property(long, policies, (text, policy) => {
        const plain = Buffer.from(text).toString()
        const wide = `\u0100${text}`.slice(1)
        for (const of of [clampText, clampTextWithReport] as const)
          expect(of(wide, policy)).toEqual(of(plain, policy))
        for (const of of [measureText, cleanText, estimateTokens] as const)
          expect(of(wide)).toEqual(of(plain))
      }),
      { numRuns: 100 },
    )
  })
})

describe('clampTextWithReport', () => {
  it('counts as a naive count does: kept and omitted make the total', () => {
    const input = fc.oneof(
      hostileText,
      fc.uint8Array({ maxLength: 900 }),
      hostileText.map((text) => Buffer.from(text)),
    )
    fc.assert(
      fc.property(input, policies, (text, policy) => {
        const {
          total,
          kept,
          omitted,
          truncated,
          exceeded,
          ranges,
          text: out,
        } = clampTextWithReport(text, policy)
        const decoded = typeof text === 'string' ? text : Buffer.from(text).toString()
        const { chars, lines } = naive(decoded)
        expect(total).toEqual({
          bytes: typeof text === 'string' ? Buffer.byteLength(text) : text.length,
          chars,
          lines,
        })
        for (const unit of ['bytes', 'chars', 'lines'] as const) {
          expect(kept[unit] + omitted[unit]).toBe(total[unit])
          expect(Math.min(kept[unit], omitted[unit])).toBeGreaterThanOrEqual(0)
        }
        expect(truncated).toBe(exceeded.length > 0)
        if (!truncated) expect(out).toBe(decoded.toWellFormed())
        let before = -1
        for (const [start, end] of ranges) {
          expect(start).toBeGreaterThan(before)
          expect(end).toBeGreaterThan(start)
          before = end - 1
        }
      }),
      runs,
    )
  })

  it('counts ill-formed bytes as their text, also where both take as many bytes', () => {
    // A char of four bytes without its last one becomes U+FFFD, which takes three.
    const part = fc.constantFrom([0xf0, 0x9f, 0x98], [0xff], [0x0a], [0x61, 0x62, 0x0a], [0xc3, 0xa9], [0x20])
    const bytes = fc.array(part, { maxLength: 200 }).map((parts) => Uint8Array.from(parts.flat()))
    const keeps = fc.constantFrom('head', 'tail', 'ends', 'findings', 'relevant', 'auto')
    fc.assert(
      fc.property(bytes, keeps, fc.nat(120), (given, keep, maxChars) => {
        const policy = { keep, maxChars, notice: false } as const
        const [of, as] = [given, Buffer.from(given).toString()].map((text) =>
          clampTextWithReport(text, policy),
        )
        expect(of?.text).toBe(as?.text)
        expect(of?.ranges).toEqual(as?.ranges)
        for (const figures of ['total', 'kept', 'omitted'] as const)
          expect({ ...of?.[figures], bytes: 0 }).toEqual({ ...as?.[figures], bytes: 0 })
      }),
      runs,
    )
  })

  it('gives what clampText gives', () => {
    fc.assert(
      fc.property(hostileText, policies, (text, policy) => {
        expect(clampTextWithReport(text, policy).text).toBe(clampText(text, policy))
      }),
    )
  })

  it('names the limits that were broken, in order', () => {
    const text = `${'漢'.repeat(40)}\n`.repeat(10)
    const all = { maxBytes: 100, maxLines: 5, maxChars: 100, maxTokens: 50, maxLineBytes: 100 }
    expect(clampTextWithReport(text, all).exceeded).toEqual([
      'bytes',
      'lines',
      'chars',
      'tokens',
      'lineBytes',
    ])
    expect(clampTextWithReport(text, { maxLines: 5 }).exceeded).toEqual(['lines'])
    expect(clampTextWithReport(text, { maxLineBytes: 100 }).exceeded).toEqual(['lineBytes'])
  })

  it('counts nothing as kept where marks are all that is left', () => {
    const { kept, text } = clampTextWithReport('w'.repeat(60), { maxLineBytes: 11 })
    expect(text).toBe('[+60 chars]')
    expect(kept).toEqual({ bytes: 0, chars: 0, lines: 0 })
  })

  it('counts a line as kept while something of it is', () => {
    const whole = hostileText.map((text) => text.toWellFormed())
    fc.assert(
      fc.property(whole, policies, fc.boolean(), (text, policy, asBytes) => {
        const { kept, ranges } = clampTextWithReport(asBytes ? Buffer.from(text) : text, policy)
        let start = 0
        const lines = text.split(/(?<=\n)/).filter((line) => {
          const end = start + line.length
          const isKept = ranges.some(([from, to]) => from < end && start < to)
          start = end
          return isKept
        })
        expect(kept.lines).toBe(lines.length)
      }),
      runs,
    )
    expect(clampTextWithReport('\n漢漢漢漢', { maxLineBytes: 11 }).kept.lines).toBe(1)
  })

  it('is not truncated when only a lone surrogate was repaired', () => {
    expect(clampTextWithReport('a\ud800b')).toMatchObject({
      text: 'a\ufffdb',
      truncated: false,
      exceeded: [],
      ranges: [[0, 3]],
    })
  })
})

describe('exact values', () => {
  it('counts a newline as the end of a line', () => {
    expect(measureText('a\nb\n')).toEqual({ bytes: 4, chars: 4, lines: 2 })
    expect(measureText('')).toEqual({ bytes: 0, chars: 0, lines: 0 })
    expect(measureText(Buffer.from('é\n漢'))).toEqual({ bytes: 6, chars: 3, lines: 2 })
  })

  it('keeps a line that is too long in part', () => {
    const text = `${'x'.repeat(60_000)}\n`
    const out = clampText(text, { keep: 'head' })
    expect(Buffer.byteLength(out)).toBe(51_200)
    expect(out).toMatch(
      /^x{51091}\n\n\[tool output truncated: 8,910 of 60,001 chars omitted \(limit 50KB\); ask for less, or for specific sections\]$/,
    )
    expect(clampText(text, { notice: false })).toBe('x'.repeat(51_200))
    expect(clampText(Buffer.from(text), { keep: 'tail' })).toContain(
      '[tool output truncated: 8,909 of 60,001 bytes omitted (limit 50KB)',
    )
  })

  it('lets exactly 2,000 lines through', () => {
    const text = 'line\n'.repeat(2_000)
    expect(clampText(text)).toBe(text)
  })

  it('never splits an emoji', () => {
    expect(clampText('😀'.repeat(10), { maxBytes: 10, keep: 'tail', notice: false })).toBe('😀😀')
    expect(clampText('😀'.repeat(10), { maxChars: 5, keep: 'head', notice: false })).toBe('😀😀')
  })

  it('repairs a lone surrogate, also in a text that fits', () => {
    expect(clampText('ok \ud83d')).toBe('ok \ufffd')
    expect(clampText('\ude00'.repeat(60_000), { notice: false })).toBe(
      '\ufffd'.repeat(Math.floor(51_200 / 3)),
    )
  })

  it('cuts lines inside, with a mark that counts', () => {
    const text = `${'y'.repeat(300)}\r\nshort\n`
    expect(clampText(text, { maxLineBytes: 40 })).toBe(`${'y'.repeat(28)}[+272 chars]\r\nshort\n`)
    expect(clampText(text, { maxLineBytes: 5 })).toBe('yyyyy\r\nshort\n')
    expect(clampText(text, { maxLineBytes: 0 })).toBe('')
  })

  it('keeps both ends of a text without names, and the head where no notice fits', () => {
    const lines = `first\n${'filler\n'.repeat(3_000)}last\n`
    expect(clampText(lines)).toMatch(/^first\n[\s\S]*\n\n\[tool output[\s\S]*last\n$/)
    expect(clampText(lines, { isError: true })).toMatch(/^first\n[\s\S]*\nlast\n\n\[tool output[^\n]*$/)
    expect(clampText(lines, { maxChars: 20 })).toBe('first\n\n[...]\n\nlast\n')
    expect(clampText(lines, { maxChars: 14, notice: false })).toBe('first\nfiller\n')
  })

  it('keeps one end alone where the other has no share, or no room', () => {
    const lines = Array.from({ length: 3_000 }, (_, at) => `line ${at}\n`).join('')
    const ranges = (headShare: number, maxLines: number) =>
      clampTextWithReport(lines, { keep: 'ends', headShare, maxLines, maxBytes: 1e9 }).ranges
    expect(ranges(1, 100)).toEqual([[0, 773]])
    expect(ranges(0, 100)).toEqual([[lines.length - 990, lines.length]])
    expect(ranges(0.9, 3)).toEqual([[0, 6]])
    expect(ranges(0.5, 3)).toEqual([[lines.length - 20, lines.length]])
    const wide = '首'.repeat(500) + '尾'.repeat(500)
    for (let maxBytes = 40; maxBytes < 300; maxBytes++) {
      const report = clampTextWithReport(wide, { keep: 'ends', headShare: 0.99, maxBytes, notice: 'pi' })
      expect(report.ranges[0]?.[0]).toBe(0)
    }
  })

  it('gives the ends the share that was asked for', () => {
    const { ranges } = clampTextWithReport('z'.repeat(10_000), {
      keep: 'ends',
      headShare: 0.25,
      maxChars: 1_000,
      notice: false,
    })
    expect(ranges).toEqual([
      [0, 250],
      [9_250, 10_000],
    ])
  })

  it('cuts 5 MB in one line, and only newlines', () => {
    expect(clampText('漢'.repeat(1_700_000), { notice: 'pi', keep: 'head' })).toMatch(
      /^漢+\[\.\.\. 1682947 more characters truncated\]$/,
    )
    expect(naive(clampText('\n'.repeat(5_000_000))).lines).toBeLessThanOrEqual(2_000)
  })
})

describe('notices', () => {
  const text = Array.from({ length: 5_000 }, (_, at) => `line ${at + 1}\n`).join('')

  it('stand where the text was cut', () => {
    const at = (keep: 'head' | 'tail' | 'ends', notice: 'pi' | 'count' | '<{source}>') =>
      clampText(text, { keep, notice, maxChars: 600, source: 'log' }).replace(/(line \d+\n)*line \d+/g, '#')
    expect(at('head', 'pi')).toMatch(/^#\n\[\.\.\. \d+ more characters truncated\]$/)
    expect(at('tail', 'pi')).toMatch(/^\[\.\.\. \d+ more characters truncated\]\n#\n$/)
    expect(at('ends', 'pi')).toMatch(/^#\n\n\[\.\.\. \d+ more characters truncated\]\n\n#\n$/)
    expect(at('head', 'count')).toMatch(/^#\n\.\.\. \([\d,]+ chars truncated from log\)$/)
    expect(at('tail', 'count')).toMatch(/^\.\.\. \([\d,]+ chars truncated from log\)\n#\n$/)
    expect(at('ends', 'count')).toMatch(/^#\n\n\.\.\. \([\d,]+ chars truncated from log\) \.\.\.\n\n#\n$/)
    expect(at('head', '<{source}>')).toMatch(/^#\n\n<log>$/)
  })

  it('from templates and functions tell the truth about the cut', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 150, max: 30_000 }),
        fc.constantFrom<'head' | 'tail' | 'ends'>('head', 'tail', 'ends'),
        (maxChars, keep) => {
          const template =
            '{omittedChars} {totalChars} {omittedBytes} {totalBytes} {omittedLines} {totalLines} {keptLines}'
          const told: string[] = []
          const worded = clampTextWithReport(text, {
            maxChars,
            keep,
            notice: (cut) => {
              told.push(
                `${cut.omittedChars} ${cut.totalChars} ${cut.omittedBytes} ${cut.totalBytes} ${cut.omittedLines} ${cut.totalLines} ${cut.keptLines}`,
              )
              expect(cut.keep).toBe(keep)
              expect(cut.exceeded).toContain('chars')
              return told.at(-1) ?? ''
            },
          })
          const templated = clampTextWithReport(text, { maxChars, keep, notice: template })
          expect(told.length).toBeLessThanOrEqual(3)
          for (const { omitted, total, notice } of [worded, templated]) {
            expect(notice).toMatch(
              new RegExp(
                `^${omitted.chars} ${total.chars} ${omitted.bytes} ${total.bytes} ${omitted.lines} ${total.lines} [\\d,-]+$`,
              ),
            )
          }
        },
      ),
      // Here two wordings lead to each other's cuts.
      {
        examples: [
          [831, 'head'],
          [8_933, 'head'],
          [191, 'ends'],
          [1_634, 'ends'],
        ],
      },
    )
  })

  it('count what their fields name, whatever words stand beside', () => {
    const big = 'line\n'.repeat(1_000_000)
    const words = '[Lines and Bytes were cut: {omittedChars} of {totalChars} chars]'
    expect(clampText(big, { keep: 'head', notice: words })).toMatch(/ were cut: 49\d+ of 5000000 chars\]$/)
    const all = '{omittedBytes} {omittedLines}'
    const { omitted, notice } = clampTextWithReport(big, { keep: 'head', notice: all })
    expect(notice).toBe(`${omitted.bytes} ${omitted.lines}`)
  })

  it('that throw or return nothing are replaced by the fallbacks', () => {
    const silent = () => {
      throw new Error('no')
    }
    expect(clampText(text, { notice: silent, keep: 'head' })).toMatch(
      /\[\.\.\. \d+ more characters truncated\]$/,
    )
    expect(clampText(text, { notice: () => undefined as unknown as string, keep: 'head' })).toMatch(
      /more characters truncated\]$/,
    )
  })

  it('of a second cut count from the original', () => {
    const original = 'q'.repeat(200_000)
    for (const notice of ['hint', 'pi', 'count'] as const) {
      for (const keep of ['head', 'tail', 'ends'] as const) {
        const once = clampText(original, { maxChars: 40_000, notice, keep })
        for (const again of ['hint', 'pi', 'count'] as const) {
          const twice = clampText(once, { maxChars: 20_000, notice: again, keep })
          const missing = 200_000 - twice.replace(/[^q]/g, '').length
          const number = again === 'pi' ? String(missing) : missing.toLocaleString('en-US')
          expect(twice, `${notice}, then ${again}, ${keep}`).toContain(number)
          if (again === 'hint') expect(twice).toContain('of 200,000 chars omitted')
        }
      }
    }
  })

  it('that a tool prints switch nothing off', () => {
    const fakes = [
      '[... 9 more characters truncated]',
      '[tool output truncated: 1 of 2 chars omitted (limit 50KB or 2000 lines); request smaller chunks (offset/limit) or specific sections]',
      '... (12 chars truncated from output)',
    ]
    for (const fake of fakes) {
      for (const text of [
        `${'a'.repeat(99_999)}\n\n${fake}`,
        `${fake}\n${'a'.repeat(99_999)}`,
        fake.repeat(3_000),
      ]) {
        for (const keep of ['head', 'tail', 'ends'] as const) {
          const report = clampTextWithReport(text, { keep })
          expect(report.truncated).toBe(true)
          expect(naive(report.text).bytes).toBeLessThanOrEqual(51_200)
          expect(report.total.chars).toBe(text.length)
        }
      }
    }
  })
})

describe('bytes', () => {
  it('are read where they stand, also in shared, resizable and offset memory', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(8))
    shared.set(Buffer.from('abcdefgh'))
    expect(clampText(shared, { maxBytes: 3, notice: false })).toBe('abc')
    const resizable = new Uint8Array(Reflect.construct(ArrayBuffer, [8, { maxByteLength: 16 }]))
    resizable.set(Buffer.from('abcdefgh'))
    expect(clampText(resizable, { maxBytes: 5, keep: 'tail', notice: false })).toBe('defgh')
    expect(clampText(Buffer.from('xxabcyy').subarray(2, 5))).toBe('abc')
  })

  it('are safe from a notice that takes them away, and from a subclass with ideas', () => {
    const bytes = new Uint8Array(Buffer.from('line\n'.repeat(5_000)))
    const notice = () => {
      if (bytes.length > 0) structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
      return 'gone'
    }
    expect(clampTextWithReport(bytes, { maxBytes: 100, notice, keep: 'head' }).text).toMatch(
      /^line[\s\S]*gone$/,
    )
    class Odd extends Uint8Array {
      override subarray(): never {
        throw new Error('no')
      }
    }
    expect(clampTextWithReport(new Odd(Buffer.from('abc')), { maxBytes: 2, notice: false }).text).toBe('ab')
  })

  it('of another realm are bytes too', () => {
    expect(clampText(runInNewContext('new Uint8Array([97, 98])'))).toBe('ab')
  })

  it('count as empty when their buffer is detached', async () => {
    const gone = new Uint8Array(9)
    structuredClone(gone.buffer, { transfer: [gone.buffer] })
    expect([clampText(gone), cleanText(gone), estimateTokens(gone)]).toEqual(['', '', 0])
    expect(measureText(gone)).toEqual(measureText(''))
    const capture = new OutputCapture()
    const view = new DataView(new ArrayBuffer(9))
    structuredClone(view.buffer, { transfer: [view.buffer] })
    for (const chunk of [gone, view]) capture.stdout.write(chunk)
    expect(await capture.finish()).toMatchObject({ text: '', total: { bytes: 0 } })
  })

  it('decode as the platform decodes them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(clampText(bytes)).toBe(Buffer.from(bytes).toString())
      }),
      runs,
    )
  })
})

describe('estimateTokens', () => {
  it('comes to no more than its lines do, and never shrinks when text is added behind', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (a, b) => {
        const [line, rest, both] = [`${a}\n`, b, `${a}\n${b}`].map(estimateTokens) as [number, number, number]
        expect(both).toBeLessThanOrEqual(line + rest)
        expect(both).toBeGreaterThanOrEqual(line + rest - 2)
        expect(estimateTokens(a + b)).toBeGreaterThanOrEqual(estimateTokens(a))
        expect(estimateTokens(Buffer.from(a.toWellFormed()))).toBe(estimateTokens(a.toWellFormed()))
      }),
    )
  })

  it('reads a long text in pieces as it reads it whole', () => {
    // Runs of all kinds go on over the ends of pieces, wherever these are.
    for (const text of ['漢字 and words 123 ', 'x', '7', 'A1b+', '-', ' ', '😀', '\n', 'aB\n\n']) {
      const long = text.repeat(Math.ceil(300_000 / text.length))
      for (const part of [long, `é${long}`]) {
        expect(estimateTokens(part)).toBe(estimateTokens(Buffer.from(part)))
      }
    }
  })

  it.each([
    ['', 0, 0],
    ['a', 1, 1],
    ['The quick brown fox jumps over the lazy dog.', 10, 13],
    ['1234567890'.repeat(30), 100, 100],
    ['这是一个关于分词的测试，没有别的意思。', 12, 19],
    ['빠른 갈색 여우가 게으른 개를 뛰어넘는다.', 15, 24],
    ['Быстрая лиса прыгает через ленивую собаку.', 9, 18],
    ['VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZy4=', 30, 50],
    [`${' '.repeat(200)}x`, 2, 4],
    ['='.repeat(200), 1, 6],
  ])('knows what common things take (%#)', (text, least, most) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(least)
    expect(estimateTokens(text)).toBeLessThanOrEqual(most)
  })
})

describe('a notice', () => {
  it('counts bytes in bytes where lines were cut too', () => {
    const bytes = Buffer.from(`${'é'.repeat(3_000)}\n${'line\n'.repeat(3_000)}`)
    const clamped = clampText(bytes, { maxLineBytes: 300, maxBytes: 1_000, keep: 'head' })
    const [, omitted, total] =
      /truncated: ([\d,]+) of ([\d,]+) bytes omitted/
        .exec(clamped)
        ?.map((part) => part.replaceAll(',', '')) ?? []
    expect(Number(total)).toBe(bytes.length)
    const invalid = Buffer.concat([
      Buffer.from('line\n'),
      Buffer.alloc(300, 0xff),
      Buffer.from('\n'),
      Buffer.alloc(2_000, 0xff),
    ])
    for (const keep of ['head', 'tail', 'ends', 'findings'] as const) {
      const report = clampTextWithReport(invalid, {
        maxLineBytes: 1_000,
        maxBytes: 1_200,
        keep,
        notice: '<{omittedBytes}>',
      })
      expect(report.notice).toBe(`<${report.omitted.bytes}>`)
    }
    expect(Number(omitted)).toBe(
      clampTextWithReport(bytes, { maxLineBytes: 300, maxBytes: 1_000, keep: 'head' }).omitted.bytes,
    )
  })
})
