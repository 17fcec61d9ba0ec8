import { readdirSync, readFileSync } from 'node:fs'
import { inspectSession, repairSession } from 'spillway'
import { describe, expect, it } from 'vitest'
import { agentSamples, fileOf, valuesOf } from '../support/agent_samples.js'
import { scratch } from '../support/scratch.js'

const { dir, write } = scratch('.json')

const BIG = `${'line of output\n'.repeat(9_000)}the end`
const bytes = (text: string) => Buffer.byteLength(text)

describe.each(
  agentSamples.map((sample) => [sample.agent, sample] as const),
)('a session of %s', (_, sample) => {
  it('is recognized by its content, and its results are counted once', async () => {
    const path = write(fileOf(sample, BIG))
    const report = await inspectSession(path)
    const results = sample.sent(valuesOf(readFileSync(path, 'utf8'))).length
    expect(report).toMatchObject({
      format: sample.format,
      damaged: 0,
      oversized: results,
      toolResults: results,
    })
    expect(report.byTool[0]?.tool).not.toBe('unknown')
  })

  it('keeps every byte but those of what is cut', async () => {
    const path = write(fileOf(sample, BIG))
    const report = await repairSession(path)
    expect(report).toMatchObject({ changed: true, tornTail: false, damaged: 0, backupPath: `${path}.bak` })
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe(fileOf(sample, BIG))
    const written = readFileSync(path, 'utf8')
    // Other files hold offsets into those of Codex CLI, so its rows keep their length.
    const isHeld = sample.format === 'codex'
    const lengths = (text: string) => (isHeld ? text.split('\n').map(bytes) : [])
    expect(lengths(written)).toEqual(lengths(fileOf(sample, BIG)))
    const after = isHeld ? written.replace(/ +$/gm, '') : written
    expect(bytes(written) - bytes(after)).toBe(report.padded ?? 0)
    const values = valuesOf(after)
    for (const text of sample.sent(values)) {
      expect(bytes(text)).toBeLessThanOrEqual(51_200)
      expect(text).toMatch(/line of output[\s\S]*more characters truncated/)
    }
    for (const text of sample.shown?.(values) ?? []) {
      expect(bytes(text)).toBeLessThanOrEqual(9_216)
      expect(text).toMatch(/^line of output/)
    }
    // The cut text replaces the original in its place.
    const cut = [...sample.sent(values), ...(sample.shown?.(values) ?? [])]
    const whole = cut.reduce(
      (text, piece) => text.replace(JSON.stringify(piece), () => JSON.stringify(BIG)),
      after,
    )
    expect(withoutSide(whole) === withoutSide(fileOf(sample, BIG))).toBe(true)
    expect(await repairSession(path)).toMatchObject({ changed: false, reason: 'nothing to do' })
    expect(readFileSync(path, 'utf8') === written).toBe(true)
  })

  it('that is within the limits stays the file that it is', async () => {
    const path = write(fileOf(sample, 'short'))
    expect(await repairSession(path)).toMatchObject({
      changed: false,
      reason: 'nothing to do',
      tornTail: false,
    })
    expect(readFileSync(path, 'utf8')).toBe(fileOf(sample, 'short'))
    expect(readdirSync(dir).filter((name) => name.startsWith(`${path}.`))).toEqual([])
  })

  it('holds all results together to a budget', async () => {
    const path = write(fileOf(sample, 'x'.repeat(20_000)))
    const report = await repairSession(path, { aggregate: { maxChars: 8_000, protectNewest: false } })
    expect(report.changed).toBe(true)
    const sent = sample.sent(valuesOf(readFileSync(path, 'utf8')))
    expect(sent.reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(8_000)
  })
})

/** Removes the side data that is an object, which is written anew. */
function withoutSide(text: string): string {
  return text.replaceAll(/"metadata":\s*\{[^}]*\}+/g, '')
}
