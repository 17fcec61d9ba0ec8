import * as fc from 'fast-check'
import {
  type ArithmeticOptions,
  formatExecOutput,
  rlmNoToolsResultMessageBuild,
  rlmResultTextBuild,
  rlmToolResultBuild,
  stringTruncate,
  stringTruncateHeadTail,
  stringTruncateTail,
  toolResultTruncate,
} from 'spillway/daycare'
import { describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'

const hard: ArithmeticOptions = { noticeInside: true }
const message = (content: string | object[]) => ({
  toolMessage: { role: 'toolResult', content },
  typedResult: {},
})
const texts = (content: unknown) => (content as { text?: string }[]).map(({ text }) => text)
const execute = (block: object, options?: ArithmeticOptions) =>
  texts(toolResultTruncate(message([block]), options).toolMessage.content)[0]
const python = (output: string, ...printOutput: string[]) =>
  rlmResultTextBuild({ output, printOutput, toolCallCount: 2 })
const told = (...args: Parameters<typeof rlmNoToolsResultMessageBuild>) =>
  rlmNoToolsResultMessageBuild(...args).content[0]?.text
const anyText = fc.oneof(
  hostileText,
  hostileText.map((text) => text.toWellFormed()),
)
const o = (length: number) => 'o'.repeat(length)

/** Calls in Daycare's tests, and answers by its formulas, which spillway/daycare shares. */
const same: [call: string, ours: unknown, theirs: unknown][] = [
  ['stringTruncate of what fits exactly', stringTruncate('seven c', 7), 'seven c'],
  ['stringTruncate of what fits', stringTruncate('seven c', 8), 'seven c'],
  ['stringTruncate', stringTruncate('seven chars', 7), 'seven c...'],
  ['stringTruncate to nothing', stringTruncate('seven chars', 0), '...'],
  ['stringTruncateTail of what fits exactly', stringTruncateTail('seven c', 7), 'seven c'],
  ['stringTruncateTail of what fits', stringTruncateTail('seven c', 8), 'seven c'],
  [
    'stringTruncateTail',
    stringTruncateTail('the start and the end', 3),
    '... (18 chars truncated from output)\nend',
  ],
  [
    'stringTruncateTail of a source',
    stringTruncateTail('the end', 1, 'stderr'),
    '... (6 chars truncated from stderr)\nd',
  ],
  [
    'stringTruncateTail to nothing',
    stringTruncateTail(o(1_234), 0),
    '... (1,234 chars truncated from output)\n',
  ],
  ['stringTruncateHeadTail of what fits exactly', stringTruncateHeadTail('seven c', 7), 'seven c'],
  ['stringTruncateHeadTail of what fits', stringTruncateHeadTail('seven c', 8), 'seven c'],
  [
    'stringTruncateHeadTail',
    stringTruncateHeadTail('the start and the end', 6),
    'the\n\n... (15 chars truncated from output) ...\n\nend',
  ],
  [
    'stringTruncateHeadTail to an odd limit',
    stringTruncateHeadTail('the start and the end', 5),
    'the\n\n... (16 chars truncated from output) ...\n\nnd',
  ],
  [
    'stringTruncateHeadTail of a source',
    stringTruncateHeadTail('the end', 2, 'stdout'),
    't\n\n... (5 chars truncated from stdout) ...\n\nd',
  ],
  [
    'toolResultTruncate of one text',
    execute({ type: 'text', text: `${o(2_000)}${'e'.repeat(8_000)}` }),
    `... (2,000 chars truncated from output (10,000 chars total))\n${'e'.repeat(8_000)}`,
  ],
  [
    'toolResultTruncate of text, image and long text',
    toolResultTruncate(
      message([
        { type: 'text', text: 'title' },
        { type: 'image', data: 'aGk=' },
        { type: 'text', text: o(8_001) },
      ]),
    ).toolMessage.content,
    [
      { type: 'text', text: 'title' },
      { type: 'image', data: 'aGk=' },
      { type: 'text', text: `... (1 chars truncated from output block (8,001/8,006))\n${o(8_000)}` },
    ],
  ],
  [
    'toolResultTruncate of a string',
    toolResultTruncate(message(o(8_001))).toolMessage.content,
    [{ type: 'text', text: `... (1 chars truncated from output (8,001 chars total))\n${o(8_000)}` }],
  ],
  [
    'formatExecOutput of a long stdout',
    JSON.parse(formatExecOutput(o(8_010), '', false)),
    { stdout: `... (10 chars truncated from stdout)\n${o(8_000)}`, stderr: '' },
  ],
  [
    'formatExecOutput of a long stderr',
    JSON.parse(formatExecOutput('', o(8_010), true)),
    { stdout: '', stderr: `... (10 chars truncated from stderr)\n${o(8_000)}` },
  ],
  [
    'formatExecOutput of two long streams',
    JSON.parse(formatExecOutput(`${o(9_000)}\n`, ` ${o(8_000)}`, true)),
    {
      stdout: `... (1,000 chars truncated from stdout)\n${o(8_000)}`,
      stderr: `... (1 chars truncated from stderr)\n${o(8_000)}`,
    },
  ],
  [
    'formatExecOutput of short ones',
    formatExecOutput('out\n', '', false),
    '{\n  "stdout": "out",\n  "stderr": ""\n}',
  ],
  ['formatExecOutput of nothing', formatExecOutput('', '', false), 'Command completed with no output.'],
  ['formatExecOutput of blanks', formatExecOutput(' ', '\n', true), 'Command failed with no output.'],
  [
    'rlmResultTextBuild of little',
    python('4', 'two', 'three'),
    'Python execution completed.\n\nTool calls: 2\n\nPrint output:\ntwo\nthree\n\nOutput:\n4',
  ],
  [
    'rlmResultTextBuild of nothing',
    python(''),
    'Python execution completed.\n\nTool calls: 2\n\nPrint output:\n(none)\n\nOutput:\n(empty)',
  ],
  [
    'rlmResultTextBuild of a long output',
    python(o(8_500), 'two'),
    `Python execution completed.\n\nTool calls: 2\n\nPrint output:\ntwo\n\nOutput:\n${o(4_000)}\n\n... (500 chars truncated from output) ...\n\n${o(4_000)}`,
  ],
  [
    'rlmResultTextBuild of a long print output',
    python('4', o(4_000), o(4_499)),
    `Python execution completed.\n\nTool calls: 2\n\nPrint output:\n${o(4_000)}\n\n... (500 chars truncated from print output) ...\n\n${o(4_000)}\n\nOutput:\n4`,
  ],
  [
    'rlmResultTextBuild of two sections that fit, but not together',
    python(o(8_000), 'p'.repeat(8_000)),
    `Python execution completed.\n\nTool calls: 2\n\nPrint output:\n${'p'.repeat(7_942)}\n\n... (68 chars truncated from python result) ...\n\n${o(8_000)}`,
  ],
  [
    'rlmToolResultBuild of little',
    texts(rlmToolResultBuild({ id: '1', name: 'py' }, 'ok', false).toolMessage.content),
    ['ok'],
  ],
  [
    'its summary',
    rlmToolResultBuild({ id: '1', name: 'py' }, 'ok', true).typedResult,
    { summary: 'ok', isError: true },
  ],
  [
    'rlmToolResultBuild of much',
    texts(rlmToolResultBuild({ id: '1', name: 'py' }, o(16_001), false).toolMessage.content),
    [`${o(8_000)}\n\n... (1 chars truncated from python result) ...\n\n${o(8_000)}`],
  ],
  [
    'its summary',
    rlmToolResultBuild({ id: '1', name: 'py' }, o(16_001), false).typedResult.summary,
    `${o(8_000)}\n\n... (1 chars truncated from python result) ...\n\n${o(8_000)}`,
  ],
  [
    'rlmNoToolsResultMessageBuild of a result',
    told({ result: { output: '4', printOutput: [], toolCallCount: 0 } }),
    '<python_result>\nPython execution completed.\n\nTool calls: 0\n\nPrint output:\n(none)\n\nOutput:\n4\n</python_result>',
  ],
  ['its role', rlmNoToolsResultMessageBuild({ error: 'no' }).role, 'user'],
  [
    'rlmNoToolsResultMessageBuild of an error',
    told({ error: new Error(o(90_000)) }),
    `<python_result>\nPython execution failed: ${o(90_000)}\n</python_result>`,
  ],
]

/** Answers that are not Daycare's. */
const other: [call: string, answer: string, ours: string, theirs: string, reason: string][] = [
  [
    'a pair at the end of a head',
    stringTruncate('a😀b', 2),
    'a...',
    'a\ud83d...',
    'half a pair is not a text',
  ],
  [
    'a pair at the start of a tail',
    stringTruncateTail('a😀b', 2),
    '... (3 chars truncated from output)\nb',
    '... (2 chars truncated from output)\n\ude00b',
    'half a pair is not a text, and its other half counts as omitted',
  ],
  [
    'pairs at both cuts',
    stringTruncateHeadTail('a😀b😀c', 4),
    'a\n\n... (5 chars truncated from output) ...\n\nc',
    'a\ud83d\n\n... (3 chars truncated from output) ...\n\n\ude00c',
    'half a pair is not a text, and its other half counts as omitted',
  ],
  [
    'a lone surrogate in what fits',
    stringTruncate('a\ud83d', 2),
    'a\ufffd',
    'a\ud83d',
    'providers refuse it',
  ],
  [
    'a lone surrogate in the name of a source',
    stringTruncateTail('ab', 1, '\ud83d'),
    '... (1 chars truncated from \ufffd)\nb',
    '... (1 chars truncated from \ud83d)\nb',
    'providers refuse it',
  ],
]

/** Texts of every function, with the chars that they have at most if the notice is inside. */
function everyText(
  text: string,
  max: number,
  options?: ArithmeticOptions,
): [text: string | undefined, most: number][] {
  const result = { output: text, printOutput: [text], toolCallCount: 1 }
  const built = rlmToolResultBuild({ id: '1', name: 'run_python' }, text, true, options)
  const streams = JSON.parse(formatExecOutput(`${text}x`, text, true, options))
  const outcomes = [{ error: new Error(text) }, { error: text }, { result }]
  return [
    [stringTruncate(text, max, options), max],
    [stringTruncateTail(text, max, 'output', options), max],
    [stringTruncateHeadTail(text, max, 'source \ud83d', options), max],
    [execute({ type: 'text', text }, options), 8_000],
    [streams.stdout, 8_000],
    [streams.stderr, 8_000],
    [rlmResultTextBuild(result, options), 16_000],
    [texts(built.toolMessage.content)[0], 16_000],
    [built.typedResult.summary, 16_000],
    ...outcomes.map((outcome): [text: string | undefined, most: number] => [told(outcome, options), 16_033]),
  ]
}

describe('spillway/daycare', () => {
  it.each(same)('answers as Daycare: %s', (_, ours, theirs) => {
    expect(ours).toEqual(theirs)
  })

  it.each(other)('answers otherwise: %s', (_, answer, ours, theirs) => {
    expect(answer).toBe(ours)
    expect(answer).not.toBe(theirs)
  })

  it('returns a result of short texts as it is', () => {
    const short = message([{ type: 'text', text: 'short' }])
    expect(toolResultTruncate(short)).toBe(short)
  })

  it('cuts by the formulas of Daycare, whatever comes in', () => {
    fc.assert(
      fc.property(anyText, fc.nat(600), (text, max) => {
        const most = Math.min(max, text.length)
        const [half, rest] = [Math.ceil(most / 2), Math.floor(most / 2)]
        const omitted = `${(text.length - most).toLocaleString('en-US')} chars truncated from x)`
        const pairs: [ours: string, theirs: string][] = [
          [stringTruncate(text, max), `${text.slice(0, most)}...`],
          [stringTruncateTail(text, max, 'x'), `... (${omitted}\n${text.slice(text.length - most)}`],
          [
            stringTruncateHeadTail(text, max, 'x'),
            `${text.slice(0, half)}\n\n... (${omitted} ...\n\n${text.slice(text.length - rest)}`,
          ],
        ]
        for (const [ours, theirs] of pairs) {
          if (text.length <= max) expect(ours).toBe(text.toWellFormed())
          else if (theirs.isWellFormed()) expect(ours).toBe(theirs)
        }
        for (const [ours] of everyText(text, max)) expect(ours?.isWellFormed()).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

describe('spillway/daycare with the notice inside', () => {
  it('keeps every limit, whole pairs, and the same value where it fits', () => {
    const text = '漢字😀 '.repeat(9_000)
    for (const max of [0, 1, 2, 5, 30, 50, 500, 8_000]) {
      for (const short of [
        stringTruncate(text, max, hard),
        stringTruncateTail(text, max, 'output', hard),
        stringTruncateHeadTail(text, max, 'output', hard),
      ]) {
        expect(short.length).toBeLessThanOrEqual(max)
        expect(short.isWellFormed()).toBe(true)
      }
    }
    expect(stringTruncateTail('x'.repeat(20_000), 8_000, 'stdout', hard)).toMatch(
      /^\.\.\. \(12,041 chars truncated from stdout\)\nx{7959}$/,
    )
  })

  it('gives well-formed text within the limits, whatever comes in', () => {
    fc.assert(
      fc.property(hostileText, fc.nat(600), (text, max) => {
        for (const [short, most] of everyText(text, max, hard)) {
          expect(short?.isWellFormed()).toBe(true)
          expect(short?.length).toBeLessThanOrEqual(most)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('truncates every text block of a tool result', () => {
    const image = { type: 'image', data: 'aGk=' }
    const cut = toolResultTruncate(message([{ type: 'text', text: o(20_000) }, image]), hard)
    const [first, second] = cut.toolMessage.content as { text: string }[]
    expect(first?.text).toHaveLength(8_000)
    expect(first?.text).toMatch(/^\.\.\. \([\d,]+ chars truncated from output \(20,000 chars total\)\)\no/)
    expect(second).toBe(image)
  })

  it('shows both streams in JSON that parses, after one cut and after two', () => {
    for (const [stdout, stderr] of [
      ['out line\n'.repeat(9_000), 'err line\n'.repeat(9_000)],
      ['"\\"\n'.repeat(9_000), 'err'],
      ['out', '\u0001'.repeat(50_000)],
    ] as const) {
      const json = formatExecOutput(stdout, stderr, true, hard)
      expect(json.length).toBeLessThanOrEqual(8_000)
      const both = JSON.parse(execute({ type: 'text', text: json }, hard) ?? '')
      expect(both.stdout).toContain(stdout.trimEnd().slice(-3))
      expect(both.stderr).toContain(stderr.trimEnd().slice(-3))
    }
  })

  it('bounds what Python came to', () => {
    const result = { printOutput: ['p'.repeat(30_000), 'end'], output: 'o'.repeat(30_000), toolCallCount: 3 }
    const text = rlmResultTextBuild(result, hard)
    expect(text.length).toBeLessThanOrEqual(16_000)
    expect(text).toMatch(/^Python execution completed\.\n\nTool calls: 3\n\nPrint output:\np+\n\n/)
    expect(text).toContain('chars truncated from print output)')
    const built = rlmToolResultBuild({ id: '1', name: 'run_python' }, 't'.repeat(20_000), true, hard)
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
      const text = told(outcome, hard)
      expect(text).toMatch(/^<python_result>\nPython [\s\S]*\n<\/python_result>$/)
      expect(text?.length).toBeLessThanOrEqual(16_000 + '<python_result>\n\n</python_result>'.length)
    }
  })
})
