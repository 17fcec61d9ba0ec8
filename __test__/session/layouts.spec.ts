// biome-ignore-all lint/suspicious/noExplicitAny: rows of several agents
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspectSession, repairSession } from 'spillway'
import { describe, expect, it } from 'vitest'
import { agentSamples, fileOf, valuesOf } from '../support/agent_samples.js'
import { jsonLines, scratch } from '../support/scratch.js'

const { dir, write } = scratch('.json')

const BIG = `${'line of output\n'.repeat(9_000)}the end`
const bytes = (text: string) => Buffer.byteLength(text)

it('every layout says in the docs how it is known, as does its data', () => {
  const text = (name: string) => readFileSync(join(__dirname, '../..', name), 'utf8')
  const tables = text('docs/sessions.md')
    .split(/\n\n+/)
    .filter((part) => part.startsWith('| agent |'))
  const [known = [], held = []] = tables.map((table) => table.split('\n').slice(2))
  const marks = known.map((row) => row.split('|').at(-2) ?? '')
  const layouts: { seen?: string; by?: string }[] = JSON.parse(text('src/layouts.json')).layouts
  for (const { seen } of layouts.filter(({ seen }) => seen !== undefined))
    expect([marks, held].map((rows) => rows.some((row) => row.includes(`${seen}`)))).toEqual([true, true])
  const bySource = marks.flatMap((mark) => mark.match(/by its source/g) ?? [])
  expect(bySource).toHaveLength(layouts.filter(({ by }) => by === 'source').length)
})

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

describe('a layout is known by its own messages', () => {
  const qwen = agentSamples.find(({ format }) => format === 'qwen')?.make(BIG) as object[]

  it('whatever row comes first', async () => {
    for (let first = 0; first < qwen.length; first++) {
      const rows = [...qwen.slice(first), ...qwen.slice(0, first)]
      const report = await inspectSession(write(jsonLines(rows)))
      expect(report).toMatchObject({ format: 'qwen', toolResults: 2, oversized: 2, damaged: 0 })
    }
  })

  it('not by the members around them', async () => {
    const around = {
      uuid: 'u1',
      parentUuid: null,
      sessionId: 's',
      type: 'user',
      cwd: '/w',
      version: '2.1.332',
    }
    const block = { type: 'tool_result', tool_use_id: 'c1', content: BIG }
    const format = async (message: object) =>
      (await inspectSession(write(jsonLines([{ ...around, message }])))).format
    expect(await format({ role: 'user', content: [block] })).toBe('claude-code')
    expect(await format({ role: 'user', parts: [{ text: 'x' }] })).toBe('qwen')
    expect(await format({ role: 'user', words: 'x' })).toBe('unknown')
  })

  it('and a repair keeps the id and the name of each result', async () => {
    const path = write(jsonLines(qwen))
    await repairSession(path)
    const named = valuesOf(readFileSync(path, 'utf8')).flatMap(({ message, systemPayload }) =>
      [message, ...(systemPayload?.compressedHistory ?? [])].flatMap((message) =>
        (message?.parts ?? []).flatMap(({ functionResponse }: any) => functionResponse ?? []),
      ),
    )
    expect(named.map(({ id, name }) => [id, name])).toEqual(Array(2).fill(['run_1', 'run_shell_command']))
    expect(await repairSession(path, { pairs: true })).toMatchObject({
      changed: false,
      reason: 'nothing to do',
    })
  })
})

it('a file that is named by its digest is refused', async () => {
  const path = join(dir, `${'0123456789abcdef'.repeat(4)}.json`)
  writeFileSync(path, JSON.stringify([{ role: 'user', content: BIG }]))
  for (const act of [inspectSession, repairSession]) {
    await expect(act(path)).rejects.toMatchObject({
      code: 'ERR_SPILLWAY_FORMAT',
      message: expect.stringContaining('named by its digest'),
    })
  }
})

/** Removes the side data that is an object, which is written anew. */
function withoutSide(text: string): string {
  return text.replaceAll(/"metadata":\s*\{[^}]*\}+/g, '')
}

it('counts the rows of Codex CLI that keep a secret, since a mark would make them longer', async () => {
  const sample = agentSamples.find(({ format }) => format === 'codex') as (typeof agentSamples)[number]
  const secret = `password=${['hun', 'ter2x'].join('')}`
  for (const [text, unredacted] of [
    [
      secret,
      fileOf(sample, secret)
        .split('\n')
        .filter((row) => row.includes(secret)).length,
    ],
    [`${BIG}\n${secret}`, undefined],
  ] as const) {
    const path = write(fileOf(sample, text))
    const report = await repairSession(path, { redact: true })
    expect([report.changed, report.unredacted]).toEqual([unredacted === undefined, unredacted])
    expect(readFileSync(path, 'utf8').includes(secret)).toBe(unredacted !== undefined)
  }
})
