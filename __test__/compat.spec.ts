import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import * as fc from 'fast-check'
import {
  formatExecOutput,
  rlmNoToolsResultMessageBuild,
  rlmResultTextBuild,
  rlmToolResultBuild,
  stringTruncate,
  stringTruncateHeadTail,
  stringTruncateTail,
  toolResultTruncate,
} from 'spillway/daycare'
import { formatSize, sliceHead, sliceTail, truncateHead, truncateLine, truncateTail } from 'spillway/pi'
import { describe, expect, it } from 'vitest'
import { hostileText } from './hostile.js'

const alphabet = 'abcdefghijklmnopqrstuvwxyz'
const published = { noticeInside: false }
const message = (content: string | object[]) => ({
  toolMessage: { role: 'toolResult', content },
  typedResult: {},
})

describe('spillway/pi', () => {
  it.each([
    ['a\nb\nc', { maxLines: 2 }, 'a\nb', 'b\nc'],
    ['a\nb\nc\n', { maxLines: 3 }, 'a\nb\nc\n', 'a\nb\nc\n'],
    ['aa\nbb\ncc', { maxBytes: 4 }, 'aa', 'cc'],
    ['aa\nbb\ncc', { maxBytes: 5 }, 'aa\nbb', 'bb\ncc'],
    [`${'x'.repeat(100)}\n`, { maxBytes: 10 }, '', 'xxxxxxxxxx'],
    ['😀'.repeat(10), { maxBytes: 10 }, '', '😀😀'],
    ['a\nb', { maxLines: 0 }, '', ''],
    ['abc', { maxBytes: 0 }, '', ''],
  ])('cuts %j to %j', (content, options, head, tail) => {
    expect(truncateHead(content, options).content).toBe(head)
    expect(truncateTail(content, options).content).toBe(tail)
  })

  it('tells why and how much', () => {
    expect(truncateHead('漢\n'.repeat(10), { maxLines: 3 })).toEqual({
      content: '漢\n漢\n漢',
      truncated: true,
      truncatedBy: 'lines',
      totalLines: 10,
      totalBytes: 40,
      outputLines: 3,
      outputBytes: 11,
      lastLinePartial: false,
      firstLineExceedsLimit: false,
      maxLines: 3,
      maxBytes: 51_200,
    })
    expect(truncateHead('x'.repeat(99), { maxBytes: 9 })).toMatchObject({
      firstLineExceedsLimit: true,
      truncatedBy: 'bytes',
    })
    expect(truncateTail('x'.repeat(99), { maxBytes: 9 })).toMatchObject({
      lastLinePartial: true,
      outputLines: 1,
    })
    expect(formatSize(51_200)).toBe('50.0KB')
    expect(truncateLine(`${'a'.repeat(499)}😀`)).toEqual({
      text: `${'a'.repeat(499)}... [truncated]`,
      wasTruncated: true,
    })
  })

  it.each([
    ['ab😀cd', 2, 'ab', 'cd'],
    ['ab😀cd', 3, 'ab', 'cd'],
    ['ab😀cd', 4, 'ab😀', '😀cd'],
    ['ab😀cd', 9, 'ab😀cd', 'ab😀cd'],
    ['ab😀cd', Number.POSITIVE_INFINITY, 'ab😀cd', 'ab😀cd'],
    ['ab', 0, '', ''],
    ['ab', -3, '', ''],
    ['', 5, '', ''],
    ['\ude00ab\ud83d', 3, '\ufffdab', 'ab\ufffd'],
  ])('slices %j at %d', (text, maxUnits, head, tail) => {
    expect(sliceHead(text, maxUnits)).toBe(head)
    expect(sliceTail(text, maxUnits)).toBe(tail)
  })

  it.each([
    ['', { maxLines: -1 }, 'lines'],
    ['', { maxBytes: -1 }, 'bytes'],
    ['a\nb', { maxLines: -1 }, 'lines'],
    ['\na\nb', { maxBytes: -2 }, 'bytes'],
  ])('keeps nothing of %j by %j', (content, options, truncatedBy) => {
    for (const truncate of [truncateHead, truncateTail]) {
      const { totalLines, ...result } = truncate(content, options)
      expect(result).toMatchObject({
        content: '',
        truncated: true,
        truncatedBy,
        outputLines: 0,
        outputBytes: 0,
      })
      expect(totalLines).toBe(content.length === 0 ? 0 : content.split('\n').length)
    }
  })

  it('reports a negative limit once', () => {
    const heard: unknown[] = []
    const listen = (warning: unknown) => heard.push(warning)
    subscribe('spillway:warning', listen)
    for (const maxLines of [-11, -12, -11, 3, -12]) truncateHead('a', { maxLines })
    truncateTail('a', { maxBytes: -11 })
    unsubscribe('spillway:warning', listen)
    expect(heard).toEqual([
      { field: 'maxLines', value: -11, used: 0 },
      { field: 'maxLines', value: -12, used: 0 },
      { field: 'maxBytes', value: -11, used: 0 },
    ])
  })

  it.each([Number.NaN, 1.5, '-1', null])('refuses a limit of %j', (wrong) => {
    const limit = wrong as number
    for (const call of [
      () => truncateHead('a', { maxLines: limit }),
      () => truncateTail('a', { maxBytes: limit }),
      () => truncateLine('a', limit),
      () => sliceHead('a', limit),
      () => sliceTail('a', limit),
    ])
      expect(call).toThrow(expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }))
  })
})

describe('spillway/daycare', () => {
  it('gives the published results with the original arithmetic', () => {
    expect(stringTruncate(alphabet, 5, published)).toBe('abcde...')
    expect(stringTruncateTail(alphabet, 5, 'output', published)).toBe(
      '... (21 chars truncated from output)\nvwxyz',
    )
    expect(stringTruncateHeadTail(alphabet, 6, 'output', published)).toBe(
      'abc\n\n... (20 chars truncated from output) ...\n\nxyz',
    )
    expect(stringTruncateHeadTail('abcdefg', 5, 'output', published)).toBe(
      'abc\n\n... (2 chars truncated from output) ...\n\nfg',
    )
    expect(stringTruncateTail('x'.repeat(8_001), 8_000, 'output', published)).toHaveLength(8_036)
    expect(stringTruncateHeadTail('x'.repeat(16_001), 16_000, 'output', published)).toHaveLength(16_043)
    expect(stringTruncateTail('x'.repeat(20_000), 8_000, 'stdout', published)).toMatch(
      /^\.\.\. \(12,000 chars truncated from stdout\)\nx{8000}$/,
    )
    const long = JSON.parse(formatExecOutput('o\n'.repeat(9_000), 'e\n'.repeat(9_000), true, published))
    expect(long.stdout).toHaveLength(8_000 + '... (9,999 chars truncated from stdout)\n'.length)
    const error = rlmNoToolsResultMessageBuild({ error: new Error('x'.repeat(90_000)) }, published)
    expect(error.content[0]?.text).toBe(
      `<python_result>\nPython execution failed: ${'x'.repeat(90_000)}\n</python_result>`,
    )
  })

  it('keeps every limit, whole pairs, and the same value where it fits', () => {
    const text = '漢字😀 '.repeat(9_000)
    for (const max of [0, 1, 2, 5, 30, 50, 500, 8_000]) {
      for (const short of [
        stringTruncate(text, max),
        stringTruncateTail(text, max),
        stringTruncateHeadTail(text, max),
      ]) {
        expect(short.length).toBeLessThanOrEqual(max)
        expect(short.isWellFormed()).toBe(true)
      }
    }
    expect(stringTruncate(alphabet, 26)).toBe(alphabet)
    expect(stringTruncateTail(alphabet, 26)).toBe(alphabet)
    expect(stringTruncateHeadTail(alphabet, 26)).toBe(alphabet)
    expect(stringTruncateTail('x'.repeat(20_000), 8_000, 'stdout')).toMatch(
      /^\.\.\. \(12,041 chars truncated from stdout\)\nx{7959}$/,
    )
  })

  it('gives well-formed text within the limits, whatever comes in', () => {
    const output = (text: string) => ({ output: text, printOutput: [text], toolCallCount: 1 })
    const texts = (text: string, max: number): [text: string | undefined, max: number][] => {
      const { content } = toolResultTruncate(message([{ type: 'text', text }])).toolMessage
      const built = rlmToolResultBuild({ id: '1', name: 'run_python' }, text, true)
      const streams = JSON.parse(formatExecOutput(`${text}x`, text, true))
      const bodies = [{ error: new Error(text) }, { error: text }, { result: output(text) }].map(
        (outcome) => rlmNoToolsResultMessageBuild(outcome).content[0]?.text,
      )
      return [
        [stringTruncate(text, max), max],
        [stringTruncateTail(text, max), max],
        [stringTruncateHeadTail(text, max, 'source \ud83d'), max],
        [(content as { text: string }[])[0]?.text, 8_000],
        [streams.stdout, 8_000],
        [streams.stderr, 8_000],
        [rlmResultTextBuild(output(text)), 16_000],
        [built.toolMessage.content[0]?.text, 16_000],
        [built.typedResult.summary, 16_000],
        ...bodies.map((body): [string | undefined, number] => [body, 16_000 + 33]),
      ]
    }
    fc.assert(
      fc.property(hostileText, fc.nat(600), (text, max) => {
        for (const [short, most] of texts(text, max)) {
          expect(short?.isWellFormed()).toBe(true)
          expect(short?.length).toBeLessThanOrEqual(most)
        }
      }),
      { numRuns: 500 },
    )
    expect(stringTruncate('ok \ud83d', 100, published)).toBe('ok \ud83d')
  })

  it('truncates every text block of a tool result', () => {
    const image = { type: 'image', data: 'aGk=' }
    const one = toolResultTruncate(message([{ type: 'text', text: 'x'.repeat(20_000) }, image]))
    const [first, second] = one.toolMessage.content as { text: string }[]
    expect(first?.text).toHaveLength(8_000)
    expect(first?.text).toMatch(/^\.\.\. \([\d,]+ chars truncated from output \(20,000 chars total\)\)\nx/)
    expect(second).toBe(image)
    const two = toolResultTruncate(
      message([
        { type: 'text', text: 'x'.repeat(9_000) },
        { type: 'text', text: 'y' },
      ]),
    )
    expect((two.toolMessage.content as { text: string }[])[0]?.text).toContain(
      'from output block (9,000/9,001))\nx',
    )
    const text = toolResultTruncate(message('z'.repeat(9_000)))
    expect(text.toolMessage.content).toMatchObject([
      { type: 'text', text: expect.stringMatching(/z{7000}$/) },
    ])
    const fits = message([{ type: 'text', text: 'short' }])
    expect(toolResultTruncate(fits)).toBe(fits)
  })

  it('shows both streams in JSON that parses, after one cut and after two', () => {
    for (const [stdout, stderr] of [
      ['out line\n'.repeat(9_000), 'err line\n'.repeat(9_000)],
      ['"\\"\n'.repeat(9_000), 'err'],
      ['out', '\u0001'.repeat(50_000)],
    ] as const) {
      const json = formatExecOutput(stdout, stderr, true)
      expect(json.length).toBeLessThanOrEqual(8_000)
      const { toolMessage } = toolResultTruncate(message([{ type: 'text', text: json }]))
      const both = JSON.parse((toolMessage.content as { text: string }[])[0]?.text ?? '')
      expect(both.stdout).toContain(stdout.trimEnd().slice(-3))
      expect(both.stderr).toContain(stderr.trimEnd().slice(-3))
    }
    expect(formatExecOutput('out\n', '', false)).toBe('{\n  "stdout": "out",\n  "stderr": ""\n}')
    expect(formatExecOutput(' ', '\n', true)).toBe('Command failed with no output.')
    expect(formatExecOutput('', '', false)).toBe('Command completed with no output.')
  })

  it('bounds what Python came to', () => {
    const result = { printOutput: ['p'.repeat(30_000), 'end'], output: 'o'.repeat(30_000), toolCallCount: 3 }
    const text = rlmResultTextBuild(result)
    expect(text.length).toBeLessThanOrEqual(16_000)
    expect(text).toMatch(/^Python execution completed\.\n\nTool calls: 3\n\nPrint output:\np+\n\n/)
    expect(text).toContain('chars truncated from print output)')
    expect(rlmResultTextBuild({ printOutput: [], output: '', toolCallCount: 0 })).toMatch(
      /Print output:\n\(none\)\n\nOutput:\n\(empty\)$/,
    )
    const built = rlmToolResultBuild({ id: '1', name: 'run_python' }, 't'.repeat(20_000), true)
    expect(built.typedResult.summary).toHaveLength(16_000)
    expect(built.toolMessage).toMatchObject({
      role: 'toolResult',
      toolCallId: '1',
      isError: true,
      content: [{ text: built.typedResult.summary }],
    })
    class MontyRuntimeError extends Error {
      display = (form: string) => `${form} ${'d'.repeat(50_000)}`
    }
    for (const outcome of [
      { result },
      { error: new Error('x'.repeat(90_000)) },
      { error: new MontyRuntimeError() },
    ]) {
      const [block] = rlmNoToolsResultMessageBuild(outcome).content
      expect(block?.text).toMatch(/^<python_result>\nPython [\s\S]*\n<\/python_result>$/)
      expect(block?.text.length).toBeLessThanOrEqual(16_000 + '<python_result>\n\n</python_result>'.length)
    }
  })
})
