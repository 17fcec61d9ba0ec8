import * as fc from 'fast-check'
import { clampText, definePolicy, formatProcessOutput } from 'spillway'
import { describe, expect, it } from 'vitest'
import { hostileText, policies } from '../support/hostile.js'

const lines = (count: number, word: string) =>
  Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join('')

describe('formatProcessOutput', () => {
  it('labels both streams, that of a failure first, and tells the exit last', () => {
    const both = { stdout: 'built\n', stderr: 'warned' }
    expect(formatProcessOutput(both)).toBe('stdout:\nbuilt\nstderr:\nwarned')
    expect(formatProcessOutput({ ...both, exitCode: 0 })).toBe(
      'stdout:\nbuilt\nstderr:\nwarned\n[exit code 0]',
    )
    expect(formatProcessOutput({ ...both, exitCode: 2, signal: null, timedOut: false })).toBe(
      'stderr:\nwarned\nstdout:\nbuilt\n[exit code 2]',
    )
    expect(formatProcessOutput({ stdout: '', stderr: '', signal: 'SIGKILL', exitCode: null })).toBe(
      '[killed by SIGKILL]',
    )
    expect(formatProcessOutput({ stdout: Buffer.from('漢\n'), stderr: '', timedOut: true })).toBe(
      'stdout:\n漢\n[timed out]',
    )
    expect(formatProcessOutput({ stdout: '', stderr: '' })).toBe('')
  })

  it('gives each stream 8,000 chars and its findings, and counts what is missing of it', () => {
    const stdout = `${lines(9_000, 'test')}FAILED cart.spec.ts\n${lines(9_000, 'test')}`
    const text = formatProcessOutput({ stdout, stderr: lines(5_000, 'note'), exitCode: 1 })
    expect(text).toContain('FAILED cart.spec.ts')
    const [err = '', out = ''] = text
      .slice('stderr:\n'.length, -'[exit code 1]'.length - 1)
      .split('stdout:\n')
    for (const [name, part] of [
      ['stderr', err],
      ['stdout', out],
    ]) {
      expect(part?.length).toBeLessThanOrEqual(8_001)
      expect(part?.length).toBeGreaterThan(7_500)
      expect(part).toMatch(new RegExp(`\\.\\.\\. \\([\\d,]+ chars truncated from ${name}\\)`))
    }
  })

  it('is clampText of each', () => {
    fc.assert(
      fc.property(hostileText, hostileText, policies, fc.boolean(), (stdout, stderr, policy, isFailed) => {
        const judged = isFailed ? { ...policy, isError: true } : policy
        const text = (name: string, whole: string) =>
          whole &&
          `${name}:\n${clampText(whole, { keep: 'findings', notice: 'count', maxChars: 8_000, ...judged, source: name })}`
        const parts = [text('stdout', stdout), text('stderr', stderr), isFailed ? '[exit code 1]' : '']
        if (isFailed) parts.splice(0, 2, parts[1] ?? '', parts[0] ?? '')
        const glue = (all: string, part: string) =>
          part === '' ? all : all === '' || all.endsWith('\n') ? all + part : `${all}\n${part}`
        const formatted = formatProcessOutput({ stdout, stderr, exitCode: isFailed ? 1 : null }, policy)
        expect(formatted).toBe(parts.reduce(glue, ''))
      }),
      { numRuns: 1_000 },
    )
  })

  it('takes the defaults where a checked policy says nothing', () => {
    const stdout = lines(9_000, 'line')
    const policy = definePolicy({ maxLines: 20 })
    expect(formatProcessOutput({ stdout, stderr: '' }, policy)).toBe(
      `stdout:\n${clampText(stdout, { keep: 'findings', notice: 'count', maxLines: 20, maxChars: 8_000, source: 'stdout' })}`,
    )
  })

  it.each([
    ['output', 5, undefined],
    ['output.stdout', { stdout: 1, stderr: '' }, undefined],
    ['output.stderr', { stdout: '' }, undefined],
    ['output.exitCode', { stdout: '', stderr: '', exitCode: '1' }, undefined],
    ['output.signal', { stdout: '', stderr: '', signal: 9 }, undefined],
    ['output.timedOut', { stdout: '', stderr: '', timedOut: 'no' }, undefined],
    ['keep', { stdout: '', stderr: '' }, { keep: 'all' }],
    ['policy', { stdout: '', stderr: '' }, 3],
  ])('refuses a wrong %s', (field, output, policy) => {
    expect(() => formatProcessOutput(output as never, policy as never)).toThrow(
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringContaining(field) }),
    )
  })
})
