import * as fc from 'fast-check'
import { type ClampReport, clampTextWithReport, cleanText, definePolicy } from 'spillway'
import { describe, expect, it } from 'vitest'
import { spillway } from '../support/cli.js'
import { effective, failingLog, hostileText, policies } from '../support/hostile.js'

/** Returns the numbers of the lines that a report keeps, whole or in part. */
function keptLines(text: string, { ranges }: ClampReport): number[] {
  const lineAt = (at: number) => text.slice(0, at).split('\n').length
  const runs = ranges.map(([start, end]) => [lineAt(start), lineAt(end - 1)] as const)
  return [
    ...new Set(
      runs.flatMap(([first, last]) => Array.from({ length: last + 1 - first }, (_, at) => first + at)),
    ),
  ]
}

/** A log of 600 lines that are alike except for a few. */
const LOG = Array.from({ length: 600 }, (_, at) => {
  if (at === 300) return 'error: config.toml not found'
  if (at === 400) return 'warning: openBackDoor is deprecated'
  return `step ${at} is done`
}).join('\n')

describe('explain', () => {
  it('gives each kept line one reason, and changes no byte of the text', () => {
    const query = fc.option(fc.constantFrom('no such file', 'TypeError in a.ts'), { nil: undefined })
    fc.assert(
      fc.property(
        fc.oneof(hostileText, failingLog),
        policies,
        query,
        fc.boolean(),
        (text, given, query, clean) => {
          const policy = effective({ ...given, query, clean })
          const {
            reasons = [],
            dropped = [],
            ...report
          } = clampTextWithReport(text, { ...policy, explain: true })
          expect(report).toEqual(clampTextWithReport(text, policy))
          if (!report.truncated) {
            expect([reasons, dropped]).toEqual([[], []])
            return
          }
          const lines = reasons.map(({ line }) => line)
          expect(new Set(lines).size).toBe(lines.length)
          expect(lines).toEqual([...lines].sort((a, b) => a - b))
          expect(lines.length).toBe(report.kept.lines)
          // A line that is cut within is reduced to its mark alone.
          const whole = (clean ? cleanText(text) : text).toWellFormed()
          if (policy.maxLineBytes === undefined && !clean) expect(lines).toEqual(keptLines(whole, report))
          expect(dropped.filter(({ line }) => lines.includes(line))).toEqual([])
          expect(dropped.length).toBeLessThanOrEqual(20)
          for (const { score } of dropped) expect(score).toBeGreaterThan(0)
          for (const { line } of [...reasons, ...dropped]) {
            expect(line).toBeGreaterThanOrEqual(1)
            expect(line).toBeLessThanOrEqual(report.total.lines)
          }
        },
      ),
      { numRuns: 600 },
    )
  })

  it('names the stream that took a line, and what it scored', () => {
    const { reasons = [] } = clampTextWithReport(LOG, { maxChars: 600, isError: true, explain: true })
    const reasonOf = (line: number) => reasons.find((reason) => reason.line === line)
    expect(reasonOf(1)).toEqual({ line: 1, stream: 'head', score: 0 })
    expect(reasonOf(301)).toMatchObject({ stream: 'findings' })
    expect(reasonOf(301)?.score).toBeGreaterThan(5)
    expect(reasonOf(300)).toEqual({ line: 300, stream: 'context', score: reasonOf(301)?.score })
    expect(reasonOf(600)).toEqual({ line: 600, stream: 'tail', score: 0 })
  })

  it.each([
    [{ needles: ['step 77 '] }, 78, 'needles'],
    [{ query: 'openBackDoor' }, 401, 'answers'],
    [{ keep: 'relevant' }, 301, 'names'],
  ] as const)('%j: line %i is kept for %s', (policy, line, stream) => {
    const { reasons = [] } = clampTextWithReport(LOG, { maxChars: 600, explain: true, ...policy })
    expect(reasons).toContainEqual(expect.objectContaining({ line, stream }))
  })

  it('lists dropped lines, those first that more room keeps first', () => {
    const text = Array.from(
      { length: 400 },
      (_, at) => `error: ${'abcdefgh'.slice(at % 8)} ${at} is lost\n`,
    ).join('')
    const policy = definePolicy({ maxChars: 800, isError: true, explain: true })
    const { dropped = [] } = clampTextWithReport(text, policy)
    expect(dropped.length).toBeLessThanOrEqual(20)
    const findings = dropped.filter(({ stream }) => stream === 'findings').map(({ score }) => score)
    expect(findings.length).toBeGreaterThan(9)
    expect(findings).toEqual([...findings].sort((a, b) => b - a))
    const { reasons = [] } = clampTextWithReport(text, { ...policy, maxChars: 4_000 })
    expect(reasons).toContainEqual(dropped[0])
  })

  it.each([
    ['head', /^(?:head ?)+$/],
    ['tail', /^(?:tail ?)+$/],
    ['ends', /^(?:head )+(?:tail ?)+$/],
  ] as const)('keep %j: lines are kept for their place', (keep, streams) => {
    const { reasons = [], dropped } = clampTextWithReport(LOG, { keep, maxChars: 600, explain: true })
    expect(reasons.map(({ stream }) => stream).join(' ')).toMatch(streams)
    expect(dropped).toEqual([])
  })

  it('is not in a report that does not ask for it', () => {
    expect(clampTextWithReport(LOG, { maxChars: 600 })).not.toHaveProperty('reasons')
    expect(() => clampTextWithReport(LOG, { explain: 1 as never })).toThrow(
      /explain must be true or false, got 1/,
    )
  })
})

describe('spillway clamp --explain', () => {
  const flags = ['clamp', '--max-chars', '600', '--keep', 'findings']

  it('prints the reasons to stderr, and the same text to stdout', async () => {
    const plain = await spillway(flags, { input: LOG })
    const { code, stdout, stderr } = await spillway([...flags, '--explain'], { input: LOG })
    expect([code, stdout]).toEqual([0, plain.stdout])
    expect(stderr).toMatch(/^kept:\n {2}lines +why +score\n {2}1-\d+ +head +step 0 is done\n/)
    expect(stderr).toMatch(/\n {2}301 +findings +\d+\.\d {2}error: config\.toml not found\n/)
    expect(stderr.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  it.each([
    ['what fits', 'a\nb\n', /^kept: all lines\n$/],
    ['nothing', '', /^kept: all lines\n$/],
    ['binary output', Buffer.alloc(90_000), /^binary output; no line is kept\n$/],
    ['lines that would act on a terminal', `error: \x1b[31mred\n${LOG}`, / error: \\u001b\[31mred\n/],
  ])('%s', async (_, input, told) => {
    expect((await spillway([...flags, '--explain'], { input })).stderr).toMatch(told)
  })
})
