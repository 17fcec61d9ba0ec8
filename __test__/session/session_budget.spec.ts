// biome-ignore-all lint/suspicious/noExplicitAny: rows of several formats
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clampMessages, type RepairOptions, repairSession } from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'

const dir = mkdtempSync(join(tmpdir(), 'spillway-budget-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let files = 0

async function repaired(rows: readonly unknown[], options: RepairOptions) {
  const path = join(dir, `${files++}.jsonl`)
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const report = await repairSession(path, { backup: false, ...options })
  const left = readFileSync(path, 'utf8').trimEnd().split('\n')
  expect(left).toHaveLength(rows.length)
  const again = await repairSession(path, { backup: false, ...options })
  if (!options.plan) expect(again).toMatchObject({ changed: false })
  return { report, rows: left.map((row) => JSON.parse(row) as any) }
}

const chars = (row: any): number =>
  (row.message ?? row).content.reduce((sum: number, { text = '' }) => sum + text.length, 0)
const sum = (rows: readonly any[]) => rows.reduce((sum, row) => sum + chars(row), 0)

const result = (id: string, length: number) => ({
  role: 'toolResult',
  toolCallId: id,
  toolName: 'bash',
  content: [{ type: 'text', text: `${id}:${'x'.repeat(length - id.length - 1)}` }],
  isError: false,
})
const answer = { role: 'assistant', content: [{ type: 'text', text: 'I see.' }] }
const header = (version?: number) => ({ type: 'session', ...(version && { version }), id: 's', cwd: '/' })
const entry = (id: string, parentId: string | null, message: object) => ({
  type: 'message',
  id,
  parentId,
  message,
})
const BUDGET = { aggregate: { maxChars: 12_000, minKeepChars: 500 } }

describe('a budget', () => {
  it('holds over the active branch of a tree alone', async () => {
    const rows = [
      header(3),
      entry('a', null, result('a', 9_000)),
      entry('b', 'a', result('b', 9_000)),
      entry('left', 'a', result('left', 30_000)),
      entry('c', 'b', answer),
      entry('d', 'c', result('d', 9_000)),
    ]
    const { rows: left, report } = await repaired(rows, BUDGET)
    expect(report).toMatchObject({ changed: true, clamped: 2, unmatched: 0 })
    const [, a, b, aside, , d] = left
    expect(sum([a, b, d])).toBeLessThanOrEqual(12_000)
    expect(aside).toEqual(rows[3])
    // The oldest are cut first; results after the last answer are not cut.
    expect(d).toEqual(rows[5])
    expect(chars(a)).toBeLessThan(chars(b))
    const live = clampMessages([result('a', 9_000), result('b', 9_000), answer, result('d', 9_000)], {
      ...BUDGET,
      notice: 'pi',
      sideData: 'cap',
    })
    expect([a, b, d].map(({ message }) => message)).toEqual(live.messages.filter((_, at) => at !== 2))
  })

  it('counts what the last compaction keeps', async () => {
    const messages = ['a', 'b', 'c', 'd'].map((id, at, all) =>
      entry(id, all[at - 1] ?? null, result(id, 5_000)),
    )
    const compaction = { type: 'compaction', id: 'k', parentId: 'd', summary: 's', firstKeptEntryId: 'c' }
    const rows = [header(3), ...messages, compaction, entry('e', 'k', answer)]
    const { report } = await repaired(rows, BUDGET)
    expect(report).toMatchObject({ changed: false, reason: 'nothing to do' })
    const tight = await repaired(rows, { aggregate: { maxChars: 6_000, minKeepChars: 500 } })
    expect(tight.rows.slice(0, 3)).toEqual(rows.slice(0, 3))
    expect(sum(tight.rows.slice(3, 5))).toBeLessThanOrEqual(6_000)
  })

  it('counts by index in the first version, which has no ids', async () => {
    const old = (id: string) => ({ type: 'message', timestamp: 't', message: result(id, 5_000) })
    const rows = [
      header(),
      old('a'),
      old('b'),
      { type: 'compaction', summary: 's', firstKeptEntryIndex: 2 },
      old('c'),
    ]
    const { rows: left, report } = await repaired(rows, { aggregate: { maxChars: 6_000, minKeepChars: 500 } })
    expect(report.clamped).toBe(2)
    expect(left[1]).toEqual(rows[1])
    expect(left[3]).toEqual(rows[3])
    expect(sum([left[2], left[4]])).toBeLessThanOrEqual(6_000)
    const all = await repaired(
      rows.filter((_, at) => at !== 3),
      { aggregate: { maxChars: 6_000, minKeepChars: 500 } },
    )
    expect(sum(all.rows.slice(1))).toBeLessThanOrEqual(6_000)
  })

  it('comes to an end where parents go in circles, and where there is none', async () => {
    const circle = [
      header(3),
      entry('a', 'b', result('a', 9_000)),
      entry('b', 'a', result('b', 9_000)),
      entry('own', 'own', result('own', 9_000)),
      entry('c', 'a', result('c', 9_000)),
    ]
    const { rows: left } = await repaired(circle, BUDGET)
    expect(left[3]).toEqual(circle[3])
    expect(sum([left[1], left[2], left[4]])).toBeLessThanOrEqual(12_000)
    const orphan = await repaired([header(3), entry('a', 'gone', result('a', 9_000))], {
      aggregate: { maxChars: 800 },
    })
    expect(sum(orphan.rows.slice(1))).toBeLessThanOrEqual(800)
  })

  it("holds over Claude Code's rows, sidechains aside", async () => {
    const row = (id: string, isSidechain: boolean) => ({
      type: 'user',
      isSidechain,
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content: `${id}${'x'.repeat(8_000)}` }],
      },
    })
    const rows = [row('a', false), row('side', true), row('b', false)]
    const { rows: left } = await repaired(rows, { aggregate: { maxChars: 9_000 } })
    const length = (row: any) => row.message.content[0].content.length
    expect(left[1]).toEqual(rows[1])
    expect(length(left[0]) + length(left[2])).toBeLessThanOrEqual(9_000)
  })
})

describe('a plan', () => {
  const tree = [
    header(3),
    entry('a', null, result('a', 9_000)),
    entry('b', 'a', result('b', 9_000)),
    entry('c', 'b', answer),
  ]

  it('is matched by call and length, and counts what it does not find', async () => {
    const plan = [
      { index: 0, callId: 'b', chars: 9_000, maxChars: 1_000 },
      { index: 1, callId: 'a', chars: 8_999, maxChars: 10 },
      { index: 2, callId: 'gone', chars: 9_000, maxChars: 10 },
      { index: 3, chars: 9_000, maxChars: 10 },
    ]
    const { rows, report } = await repaired(tree, { plan })
    expect(report).toMatchObject({ changed: true, clamped: 1, unmatched: 3 })
    expect(rows.map((row, at) => (row.message && at < 3 ? chars(row) : 0))).toEqual([
      0,
      9_000,
      expect.any(Number),
      0,
    ])
    expect(chars(rows[2])).toBeLessThanOrEqual(1_000)
    const again = await repaired(rows, { plan })
    expect(again.report).toMatchObject({ changed: false, unmatched: 4 })
  })

  it('is found for each of the many results of one row', async () => {
    const count = 20_000
    const content = Array.from({ length: count }, (_, at) => ({
      type: 'tool_result',
      tool_use_id: `t${at}`,
      content: 'x'.repeat(60),
    }))
    const rows = [{ type: 'user', message: { role: 'user', content } }]
    const plan = content.map(({ tool_use_id }, index) => ({
      index,
      callId: tool_use_id,
      chars: 60,
      maxChars: 40,
    }))
    const path = join(dir, `${files++}.jsonl`)
    writeFileSync(path, `${JSON.stringify(rows[0])}\n`)
    expect(await repairSession(path, { backup: false, plan })).toMatchObject({ clamped: 1, unmatched: 0 })
  })

  it('is matched by index in files of messages alone', async () => {
    const messages = [result('a', 9_000), answer, result('b', 9_000)]
    const plan = [{ index: 2, chars: 9_000, maxChars: 700 }]
    const { rows, report } = await repaired(messages, { plan })
    expect(report).toMatchObject({ clamped: 1, unmatched: 0 })
    expect(rows.slice(0, 2)).toEqual(messages.slice(0, 2))
    expect(chars(rows[2])).toBeLessThanOrEqual(700)
    expect((await repaired(tree, { plan })).report).toMatchObject({ changed: false, unmatched: 1 })
  })

  it('is checked', async () => {
    const path = join(dir, 'none.jsonl')
    const step = { index: 0, chars: 1, maxChars: 1 }
    for (const options of [
      { plan: [{ ...step, maxChars: -1 }] },
      { plan: [{ ...step, index: 0.5 }] },
      { plan: [{ ...step, callId: 7 }] },
      { plan: [null] },
      { plan: {} },
      { plan: [step], aggregate: { maxChars: 1 } },
      { aggregate: {} },
    ])
      await expect(repairSession(path, options as never)).rejects.toMatchObject({
        code: 'ERR_SPILLWAY_OPTION',
      })
  })
})
