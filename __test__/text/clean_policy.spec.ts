import * as fc from 'fast-check'
import {
  clampError,
  clampJson,
  clampJsonWithReport,
  clampText,
  clampTextWithReport,
  formatProcessOutput,
  measureText,
  sanitizeForDisplay,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { hostileText, naive, policies } from '../support/hostile.js'

/** Text that cleaning changes, and lines that are equal after it. */
const dirtyText = fc
  .array(
    fc.oneof(
      hostileText,
      fc.constantFrom(
        'same\n',
        'same\n',
        '\x1b[1msame\x1b[0m\n',
        'was\rsame\n',
        'x\x08y',
        '<p>',
        '<li>&lt;a',
        '\x1b[31m',
        '\r',
        '\x07',
      ),
      fc.integer({ min: 1, max: 9 }).map((times) => 'same\n'.repeat(times)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

const cleaning = fc.oneof(
  { weight: 4, arbitrary: fc.constant(true as const) },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        ansi: fc.boolean(),
        carriageReturns: fc.boolean(),
        control: fc.boolean(),
        repeats: fc.boolean(),
        html: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  },
)
const unlimited = { maxBytes: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY }

describe('clampText with clean', () => {
  it('cleans before it folds or cuts', () => {
    const clean = true
    expect(clampText('same\nsame\nsame\n', { clean })).toBe('same\n[previous line 2 more times]\n')
    expect(clampText('\x1b[31mred\x1b[0m 1%\r 50%\r100%', { clean })).toBe('100%1%')
    expect(clampText(Buffer.from('\x1b[31mred\x1b[0m\n'), { clean })).toBe('red\n')
    expect(clampText('\x1b[31mred\x1b[0m', { clean: { ansi: false } })).toBe('\x1b[31mred\x1b[0m')
    expect(clampText('same\nsame\nsame\n', { clean: { repeats: false } })).toBe('same\nsame\nsame\n')
    // A text shows its control characters if cleaning leaves nothing else.
    for (const [text, shown] of [
      ['\x1b[0m', '\u241b[0m'],
      ['\r\r', '\u240d\u240d'],
      ['\x7f\x9b', '\u2421\ufffd'],
      ['\r\n', '\n'],
    ] as const) {
      expect(clampText(text, { clean })).toBe(shown)
      expect(clampText(Buffer.from(text), { clean })).toBe(shown)
    }
  })

  it('leaves blanks that cleaning does not change', () => {
    const clean = { carriageReturns: false }
    for (const text of ['\r\n', ' \r\n\r\n']) {
      expect(clampText(text, { clean })).toBe(text)
      expect(String(clampText(Buffer.from(text), { clean }))).toBe(text)
    }
    expect(clampText('\0\r\n', { clean })).toBe('␀\n')
  })

  it('keeps G1 to G5 for the cleaned text, in strings and bytes', () => {
    fc.assert(
      fc.property(dirtyText, policies, cleaning, fc.boolean(), (text, policy, clean, inBytes) => {
        const given = inBytes ? Buffer.from(text) : text
        const options = { ...policy, clean }
        const whole = clampText(given, { ...unlimited, clean })
        const report = clampTextWithReport(given, options)
        expect(clampText(given, options)).toBe(report.text)
        const size = naive(report.text)
        expect(report.text.isWellFormed()).toBe(true)
        expect(size.bytes).toBeLessThanOrEqual(policy.maxBytes ?? 51_200)
        expect(size.lines).toBeLessThanOrEqual(policy.maxLines ?? 2_000)
        expect(size.chars).toBeLessThanOrEqual(policy.maxChars ?? Number.POSITIVE_INFINITY)
        // Bytes with nothing to clean are measured as they are.
        if (whole !== text.toWellFormed()) expect(report.total).toEqual(measureText(whole))
        if (!report.truncated) expect(report.text).toBe(whole)
        const kept = report.ranges.map(([start, end]) => whole.slice(start, end))
        expect(kept.join('').length).toBe(report.kept.chars)
        expect(Buffer.byteLength(kept.join(''))).toBe(report.kept.bytes)
        expect(report.kept.lines + report.omitted.lines).toBe(report.total.lines)
        let from = 0
        for (const part of kept) {
          const at = report.text.indexOf(part, from)
          expect(at).toBeGreaterThanOrEqual(0)
          from = at + part.length
        }
        expect(clampText(report.text, options)).toBe(report.text)
      }),
      { numRuns: 2_000 },
    )
  })

  it('counts the lines that a cut brought together, and that are dropped, as omitted', () => {
    const text = `same\nsame\n${'one line\nand another\n'.repeat(40)}same\nsame\n`
    const policy = { clean: true, notice: false, keep: 'ends', maxChars: 20 } as const
    const report = clampTextWithReport(text, policy)
    expect(report.text).toBe('same\nsame\n')
    expect(report.ranges).toEqual([[0, 10]])
    expect(report.kept).toEqual(measureText(report.text))
    expect(report.omitted.lines).toBe(report.total.lines - 2)
  })
})

describe('clean in other functions', () => {
  const clean = true

  it('cleans text that is not JSON, and JSON never', () => {
    const json = JSON.stringify({ text: 'a\r\nb' }, null, 2)
    expect(clampJson(json, { clean })).toBe(json)
    expect(clampJson('\x1b[31mred\x1b[0m', { clean })).toBe('red')
    expect(clampJsonWithReport('\x1b[31mred\x1b[0m', { clean }).total).toEqual({
      bytes: 3,
      chars: 3,
      lines: 1,
    })
    const long = '\x1b[31mred\x1b[0m\n'.repeat(20)
    expect(clampJson(long, { clean, maxChars: 40 })).toBe('red\n[previous line 19 more times]\n')
  })

  it('cleans streams, errors and displays', () => {
    const stdout = 'same\nsame\nsame\n'
    expect(formatProcessOutput({ stdout, stderr: '\x1b[1m!\x1b[0m' }, { clean })).toBe(
      'stdout:\nsame\n[previous line 2 more times]\nstderr:\n!',
    )
    expect(clampError(new Error('\x1b[31mred\x1b[0m'), { clean }).message).toBe('red')
    expect(sanitizeForDisplay({ content: [{ type: 'text', text: stdout }] }, { clean }).content).toEqual([
      { type: 'text', text: 'same\n[previous line 2 more times]\n' },
    ])
    const failed = { content: [{ type: 'text', text: '\x1b[31mred\x1b[0m\nmore' }], isError: true }
    expect(sanitizeForDisplay(failed, { clean }).content).toEqual([{ type: 'text', text: 'red' }])
  })
})
