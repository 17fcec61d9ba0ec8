import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { type RepairOptions, repairSession } from 'spillway'
import { describe, expect, it } from 'vitest'
import { agentSamples, fileOf } from '../support/agent_samples.js'
import { session } from '../support/cli.js'
import { scratch } from '../support/scratch.js'

const native: typeof import('../../dist/native.js') = createRequire(__filename)('../../dist/spillway.node')
const { write } = scratch()

interface How {
  first?: boolean
  keepAppended?: boolean
  discardChanges?: boolean
}

/** Undoes a repair, and returns its report or its failure. */
async function undo(path: string, how: How = {}): Promise<{ code?: string; message: string; rows: number }> {
  const born = Date.now() - process.uptime() * 1_000
  const all = { first: false, keepAppended: true, discardChanges: false, born, ...how }
  return JSON.parse(await native.undoRepair(path, all, native.startWatch()))
}
const read = (path: string) => readFileSync(path, 'utf8')
/** Reads all files of a session, by their names. */
const filesOf = (path: string) =>
  readdirSync(dirname(path))
    .filter((name) => name.startsWith(basename(path)))
    .map((name) => [name, readFileSync(`${dirname(path)}/${name}`, 'latin1')])

/** Samples that are rows, and those that are documents. */
const isRows = (text: string) => /^\{.*\}\n./.test(text)
const rowsOf = (makes: ((big: string) => string)[]) => makes.filter((make) => isRows(make('')))
const samples = agentSamples.map((sample) => (big: string) => fileOf(sample, big))
const PI = (big: string) =>
  session([
    ['bash', big],
    ['read', 'short'],
    ['bash', big],
  ])
const ROWS = [...rowsOf(samples), PI]
const DOCUMENTS = samples.filter((make) => !isRows(make('')))

const flags: fc.Arbitrary<RepairOptions> = fc.record({
  maxChars: fc.constantFrom(200, 3_000, 100_000),
  pairs: fc.boolean(),
  damaged: fc.constantFrom('leave', 'mend'),
  media: fc.constantFrom({ provider: 'anthropic' }, { maxBytes: 10 }),
  aggregate: fc.constantFrom({ maxChars: 500 }, { maxChars: 10_000_000 }),
})
const big = fc.nat({ max: 400 }).map((lines) => 'one more line, 漢字 "\\\r\n'.repeat(lines))

/** Damage to rows: by the number of a row, it is lost, torn, joined to the next, or NUL bytes come
 *  before it. */
const damage = fc.array(fc.tuple(fc.nat(30), fc.constantFrom('lost', 'torn', 'joined', 'nul', 'end')), {
  maxLength: 4,
})
function damaged(text: string, all: [number, string][]): string {
  const rows = text.split(/(?<=\n)/)
  for (const [number, kind] of all) {
    // The header stays, so that the layout is known.
    const at = 1 + (number % (rows.length - 1))
    const row = rows[at] as string
    if (kind === 'lost') rows[at] = ''
    else if (kind === 'torn') rows[at] = `${row.slice(0, row.length >> 1)}\n`
    else if (kind === 'joined') rows[at] = row.trimEnd()
    else if (kind === 'nul') rows[at] = '\0'.repeat(64) + row
    else rows.splice(rows.length - 1, 1, (rows.at(-1) as string).trimEnd())
  }
  return rows.join('')
}
/** The members with the id of a row and of the row that it follows, in layouts that have both. */
const CHAINS = [
  ['id', 'parentId'],
  ['uuid', 'parentUuid'],
] as const
type Ids = Record<string, unknown>
const parsed = (line: string): Ids | undefined => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
const entriesOf = (text: string): Ids[] =>
  text.split('\n').flatMap((line) => {
    const row = parsed(line)
    return row === undefined ? [] : [row]
  })
/** Returns the chain of a sample. */
const chainOf = (make: (big: string) => string) => {
  const has = (row: Ids, [id, parent]: readonly [string, string]) => id in row && parent in row
  return CHAINS.find((chain) => entriesOf(make('')).some((row) => has(row, chain)))
}
const CHAINED = ROWS.flatMap((make) => {
  const chain = chainOf(make)
  return chain === undefined ? [] : [{ make, chain }]
})
const late = (id: number) => `${JSON.stringify({ type: 'late', id, text: id % 3 ? 'short' : '' })}\n`

/** Returns the rows behind those of a text, which may lack its last newline. */
function behind(before: string, now: string): string[] {
  expect(now.startsWith(before)).toBe(true)
  return now
    .slice(before.length)
    .replace(/^\n/, '')
    .split(/(?<=\n)/)
}

describe('an undo', () => {
  it('gives back rows as they were, with those that others appended', { tags: 'long' }, async () => {
    const appends = fc.record({ running: fc.nat(8), after: fc.nat(3), between: fc.nat(2) })
    let [runs, undone, carried] = [0, 0, 0]
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...ROWS),
        big,
        damage,
        fc.array(flags, { minLength: 1, maxLength: 2 }),
        appends,
        fc.boolean(),
        async (make, text, harm, repairs, { running, after, between }, first) => {
          runs += 1
          const before = damaged(make(text), harm)
          const path = write(before)
          let [id, changes] = [0, 0]
          const appended = (count: number) => {
            for (let at = 0; at < count; at++) appendFileSync(path, late(id++))
          }
          let latest = before
          for (const [nth, options] of repairs.entries()) {
            if (nth > 0) appended(between)
            const now = read(path)
            const repair = repairSession(path, options)
            const wait = setTimeout(nth).then(() => appended(running))
            // A row that was appended to a torn one may change what was measured.
            const report = await repair.catch((error) => ({ changed: false, error }))
            await wait
            if ('error' in report) expect(report.error.code).toBe('ERR_SPILLWAY_CHANGED')
            const { changed } = report
            if (changed) latest = now
            changes += Number(changed)
          }
          if (changes === 0) return
          appended(after)
          const expected = first ? before : latest
          const sofar = first ? 0 : (latest.match(/"type":"late"/g)?.length ?? 0)
          const all = filesOf(path)
          const refused = await undo(path, { first, keepAppended: false })
          if (after > 0) {
            expect(refused).toMatchObject({ code: 'ERR_SPILLWAY_APPENDED' })
            expect(Number.parseInt(refused.message, 10)).toBeGreaterThanOrEqual(after)
            expect(Number.parseInt(refused.message, 10)).toBeLessThanOrEqual(id - sofar)
          }
          if (refused.code !== undefined) {
            expect(filesOf(path)).toEqual(all)
            expect(await undo(path, { first })).not.toHaveProperty('code')
          }
          const rows = behind(expected, read(path)).filter((row) => row !== '')
          const ids = Array.from({ length: id - sofar }, (_, at) => late(at + sofar))
          expect(rows.toSorted()).toEqual(ids.toSorted())
          undone += 1
          carried += rows.length
          // Undoing is a repair, which is undone in the same way.
          expect(await undo(path)).toMatchObject({ changed: true, rows: 0 })
        },
      ),
      { numRuns: 1_000 },
    )
    expect([undone > runs / 10, carried > runs / 10]).toEqual([true, true])
  })

  it('leaves no row that names a row which it takes away', async () => {
    expect(new Set(CHAINED.map(({ chain }) => chain)).size).toBe(CHAINS.length)
    let [runs, renamed, kept] = [0, 0, 0]
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...CHAINED),
        big,
        damage,
        fc.constantFrom<RepairOptions>(
          { pairs: true },
          { damaged: 'mend' },
          { pairs: true, damaged: 'mend' },
        ),
        // The first rows follow any row of the repaired file, and the last follows its last row.
        fc.array(fc.nat(30), { maxLength: 3 }),
        fc.boolean(),
        async ({ make, chain: [id, parent] }, text, harm, options, places, first) => {
          runs += 1
          const before = damaged(make(text), harm)
          const path = write(before)
          const { changed } = await repairSession(path, options)
          if (!changed) return
          const now = entriesOf(read(path)).filter((row) => typeof row[id] === 'string' && parent in row)
          if (now.length === 0) return
          const rows: Ids[] = []
          for (const place of [...places, -1]) {
            const last = rows.at(-1) ?? now.at(-1)
            const row = now.concat(rows)[place % (now.length + rows.length)] ?? last
            rows.push({ type: 'late', [id]: `late ${rows.length}`, n: 1.5, [parent]: row?.[id], text: '漢"' })
          }
          const written = (all: Ids[]) =>
            all.map((row) => `${JSON.stringify(row, null, 1).replaceAll('\n', ' ')}\n`)
          appendFileSync(path, written(rows).join(''))
          expect(await undo(path, { first })).toMatchObject({ changed: true, rows: rows.length })
          const there = new Set([...entriesOf(before), ...rows].map((row) => row[id]))
          const parents = new Map(now.map((row) => [row[id], row[parent]]))
          const expected = rows.map((row) => {
            let at = row[parent]
            // Rows before that are not in the file at all are named as before.
            while (typeof at === 'string' && !there.has(at)) at = parents.get(at) ?? null
            if (at === row[parent]) kept += 1
            else if (at !== null) renamed += 1
            return { ...row, [parent]: at }
          })
          expect(behind(before, read(path))).toEqual(written(expected))
        },
      ),
      { numRuns: 1_000 },
    )
    expect([renamed > runs / 50, kept > runs / 50]).toEqual([true, true])
  })

  it('gives back documents as they were, with messages and members that others wrote', async () => {
    let [runs, undone] = [0, 0]
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...DOCUMENTS),
        big,
        flags,
        fc.nat(2),
        fc.boolean(),
        fc.constantFrom(undefined, 1, '\t'),
        async (make, text, options, count, isDated, indent) => {
          runs += 1
          const before = make(text)
          const path = write(before)
          const { changed } = await repairSession(path, options)
          if (!changed) return
          const news = Array.from({ length: count }, (_, at) => ({ role: 'user', content: `late ${at}`, at }))
          const with_ = (json: string) => {
            const all = JSON.parse(json)
            const list = Array.isArray(all) ? all : all.messages
            list?.push(...news)
            if (isDated && list !== undefined && list !== all) all.lastUpdated = 'now'
            return [all, list !== undefined && (count > 0 || (isDated && list !== all))] as const
          }
          const [now, isNew] = with_(read(path))
          writeFileSync(path, JSON.stringify(now, null, indent))
          const all = filesOf(path)
          const refused = await undo(path, { keepAppended: false })
          expect(refused.code).toBe(isNew ? 'ERR_SPILLWAY_APPENDED' : undefined)
          if (isNew) {
            expect(filesOf(path)).toEqual(all)
            expect(await undo(path)).toMatchObject({ changed: true })
            expect(JSON.parse(read(path))).toEqual(with_(before)[0])
          } else expect(read(path)).toBe(before)
          undone += 1
        },
      ),
      { numRuns: 600 },
    )
    expect(undone).toBeGreaterThan(runs / 10)
  })

  it('gives back a document before several repairs with all that others wrote between them', {
    tags: 'long',
  }, async () => {
    const stored = (messages: object[], more: object) => JSON.stringify({ version: 1, ...more, messages })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ count: fc.nat(3), value: fc.option(fc.nat(9)) }), {
          minLength: 2,
          maxLength: 2,
        }),
        fc.constantFrom<('first' | 'latest')[]>(
          ['first'],
          ['latest', 'latest', 'first'],
          ['latest', 'first'],
        ),
        async (all, steps) => {
          const text = 'one more line\n'.repeat(6_000)
          const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: text })
          const use = (id: string) => ({ type: 'tool_use', id, name: 'read', input: {} })
          const old = [
            { role: 'user', content: 'go' },
            { role: 'assistant', content: [use('c1')] },
            { role: 'user', content: [result('c1')] },
          ]
          const before = stored(old, { updated: 0 })
          const path = write(before)
          const news: object[] = []
          let updated = 0
          const change = ({ count, value }: { count: number; value: number | null }, name: string) => {
            const now = JSON.parse(read(path))
            const added = Array.from({ length: count }, (_, at) => ({
              role: 'user',
              content: `${name} ${at}`,
            }))
            news.push(...added)
            now.messages.push(...added)
            if (value !== null) updated = now.updated = value
            if (count > 0 || value !== null) writeFileSync(path, JSON.stringify(now, null, 1))
          }
          await repairSession(path, { maxChars: 9_000 })
          change(all[0] as (typeof all)[number], 'between')
          await repairSession(path, { maxChars: 900 })
          change(all[1] as (typeof all)[number], 'after')
          for (const step of steps) {
            const done = await undo(path, { first: step === 'first' })
            expect([step, done]).toMatchObject([step, { changed: true }])
          }
          expect(JSON.parse(read(path))).toEqual(JSON.parse(stored([...old, ...news], { updated })))
        },
      ),
      { numRuns: 120 },
    )
  })

  it('changes nothing if others changed what the repair wrote, unless that is discarded', async () => {
    const edit = (text: string, at: number): string => {
      const letters = [...text.matchAll(/(?<=[a-z])[a-z](?=[a-z])/g)]
      const { index = 0 } = letters[at % letters.length] ?? {}
      return `${text.slice(0, index)}Z${text.slice(index + 1)}`
    }
    const changes: ((text: string, at: number) => string)[] = [
      edit,
      (text, at) => edit(text, at) + late(0),
      (text, at) => text.slice(0, at % text.length),
      (text) => text.replace(/[a-z]/g, 'x'),
      () => `${JSON.stringify([{ role: 'user', content: 'other words' }])}\n`,
    ]
    let [runs, refusals] = [0, 0]
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...ROWS, ...DOCUMENTS),
        big,
        flags,
        fc.constantFrom(...changes),
        fc.nat(),
        fc.boolean(),
        async (make, text, options, change, at, first) => {
          runs += 1
          const before = make(text)
          const path = write(before)
          const { changed } = await repairSession(path, options)
          if (!changed) return
          const now = change(read(path), at)
          writeFileSync(path, now)
          const all = filesOf(path)
          const refused = await undo(path, { first })
          // Of a document, the members around its messages are taken over.
          if (refused.code === undefined) {
            expect(isRows(before)).toBe(false)
            expect(JSON.parse(read(path))).toBeTypeOf('object')
            expect(read(`${path}.bak.latest`)).toBe(now)
            return
          }
          expect(refused.code).toMatch(/^ERR_SPILLWAY_(NEWER|FORMAT)$/)
          expect(filesOf(path)).toEqual(all)
          refusals += 1
          if (refused.code === 'ERR_SPILLWAY_FORMAT') return
          expect(await undo(path, { first, keepAppended: false, discardChanges: true })).toMatchObject({
            changed: true,
          })
          expect([read(path), read(`${path}.bak.latest`)]).toEqual([before, now])
        },
      ),
      { numRuns: 600 },
    )
    expect(refusals).toBeGreaterThan(runs / 10)
  })
})
