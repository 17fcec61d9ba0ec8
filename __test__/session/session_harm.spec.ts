import { existsSync, readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { type RepairOptions, repairSession, repairToolPairs } from 'spillway'
import { describe, expect, it } from 'vitest'
import { broken, type Fault, faults, soundHistories } from '../support/pair_histories.js'
import { scratch } from '../support/scratch.js'
import { layouts, type Stored, varied } from '../support/stored_histories.js'

// biome-ignore lint/suspicious/noExplicitAny: rows of several agents
type Any = any

const { write } = scratch('.json')
const read = (path: string) => readFileSync(path, 'utf8')
const parsed = (row: string): Any[] => {
  try {
    return [JSON.parse(row)]
  } catch {
    return []
  }
}
const valuesOf = ({ isDocument }: Stored, text: string) =>
  isDocument ? parsed(text) : text.split('\n').flatMap((row) => (row === '' ? [] : parsed(row)))
const sentOf = (stored: Stored, text: string) => stored.sent(valuesOf(stored, text))
const wordsOf = (value: unknown) => new Set(JSON.stringify(value).match(/what \w+ call_\w+ returned/g) ?? [])

/** Blocks of one turn may stand in one message or in several. */
const flat = (messages: readonly Any[]) =>
  messages.flatMap((message) => {
    const { role, content } = message
    if (role === undefined || !(Array.isArray(content) || typeof content === 'string')) return [message]
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    return role === 'user' || role === 'assistant'
      ? blocks.map((block: object) => ({ role, block }))
      : [message]
  })

/** Turns are joined if a history tells its dialect by a call or a result. */
const hasPairs = (messages: readonly object[]) => JSON.stringify(messages).includes('call_')

type Damage = { kind: 'torn' | 'torn end' | 'glued' | 'nul' | 'lost' | 'doubled'; at: number; share: number }
const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom<Damage['kind']>('torn', 'torn end', 'glued', 'nul', 'lost', 'doubled'),
  at: fc.nat(60),
  share: fc.double({ min: 0.05, max: 0.95, noNaN: true }),
})

/** Damages rows after the first in ways that crashes and kills do. */
function damaged(text: string, all: readonly Damage[]): string {
  let rows = text.split(/(?<=\n)/)
  for (const { kind, at, share } of all) {
    const index = 1 + (at % Math.max(1, rows.length - 1))
    const row = rows[index]
    if (row === undefined) continue
    const cut = row.slice(0, Math.floor(row.length * share))
    if (kind === 'torn end') rows = [...rows.slice(0, index), cut]
    else if (kind === 'torn') rows[index] = `${cut}\n`
    else if (kind === 'glued') rows[index] = row.replace(/\n$/, '')
    else if (kind === 'nul') rows[index] = `${'\0'.repeat(1 + (at % 40))}${row}`
    else rows.splice(index, 1, ...(kind === 'lost' ? [] : [row, row]))
  }
  return rows.join('')
}

/** Breaks a history. Hosts make ids of their own, each once. */
function brokenOf({ dialect, isHosted }: Stored, sound: readonly object[], all: readonly Fault[]): object[] {
  if (!isHosted) return broken(dialect, sound, all).messages
  const own = all.filter(({ kind }) => kind !== 'rename')
  const known = new Set<string>()
  const isNew = (message: object) => {
    const calls = JSON.stringify(message).match(CALL) ?? []
    const isRepeated = calls.some((call) => known.has(call))
    for (const call of calls) known.add(call)
    return !isRepeated
  }
  return broken(dialect, sound, own).messages.filter(isNew)
}
/** The ids of calls, not of results. */
const CALL =
  /"(?:id|call_id|toolCallId|callID)":"call_\w+"(?=,"(?:name|tool)"|,"type":"function|})(?!,"toolName)/g

const bytes = fc.array(fc.nat(9), { minLength: 1, maxLength: 6 })
const repair = (path: string, options: RepairOptions) => repairSession(path, { backup: false, ...options })

describe.each(layouts.map((stored) => [stored.name, stored] as const))('a session of %s', (_, stored) => {
  const { dialect } = stored
  const sound = fc.tuple(soundHistories(dialect), bytes).map(([messages, by]) => varied(stored, messages, by))

  it('that is sound stays byte for byte under every flag', async () => {
    const flags = fc.record(
      {
        pairs: fc.boolean(),
        damaged: fc.constantFrom('keep' as const, 'mend' as const),
        media: fc.constantFrom({ provider: 'anthropic' as const }, { maxItems: 1_000 }),
        dryRun: fc.boolean(),
        aggregate: fc.constant({ maxChars: 1e9 }),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(sound, flags, async (messages, options) => {
        expect(stored.refusal(stored.sent(valuesOf(stored, stored.write(messages))))).toBeUndefined()
        const text = stored.write(messages)
        const path = write(text)
        const report = await repair(path, options)
        expect(report).toMatchObject({ changed: false, clamped: 0, damaged: 0 })
        expect(Object.keys(report)).not.toEqual(
          expect.arrayContaining([expect.stringMatching(/^(un)?paired|orphans|strays|rearranged$/)]),
        )
        expect(read(path)).toBe(text)
      }),
      { numRuns: 100 },
    )
  })

  it('that is broken becomes sound, and loses nothing that could be read', async () => {
    const cases = fc.tuple(sound, faults, fc.array(damage, { maxLength: 3 }), fc.nat(60))
    await fc.assert(
      fc.asyncProperty(cases, async ([messages, all, damages, end]) => {
        let history = brokenOf(stored, messages, all)
        // A kill leaves what was written before it.
        history = history.slice(0, Math.max(1, history.length - (end % 4)))
        if (
          stored.isDocument &&
          !history.some((message) => 'role' in message || 'type' in message || 'info' in message)
        )
          return
        const whole = stored.write(history)
        const text = stored.isDocument ? whole : damaged(whole, damages)
        const path = write(text)
        const mended = write(text)
        await repair(mended, { damaged: 'mend' })
        const readable = sentOf(stored, read(mended))
        const dry = await repair(path, { pairs: true, damaged: 'mend', dryRun: true })
        expect(read(path)).toBe(text)
        const report = await repair(path, { pairs: true, damaged: 'mend' })
        // Words of the user alone are a session of no known kind.
        if (report.reason === 'format unknown') {
          expect(read(path)).toBe(text)
          return
        }
        const after = read(path)
        expect(report.bytesAfter).toBe(Buffer.byteLength(after))
        const { damagedPath: _, reason: __, ...done } = report
        expect({ ...dry, changed: after !== text }).toMatchObject(done)
        const sent = sentOf(stored, after)
        // Where other files hold offsets, damaged rows stay.
        const rows = stored.isDocument ? 1 : after.split('\n').filter((row) => row !== '').length
        expect(valuesOf(stored, after)).toHaveLength(rows - (report.unmended ?? 0))
        // A session does not lose its last message.
        if (readable.length > 0) expect(sent).not.toEqual([])
        const { messages: live } = repairToolPairs(readable, { dialect: dialect.dialect })
        if (!stored.mends && hasPairs(readable) && live.length > 0)
          expect(stored.refusal(sent)).toBeUndefined()
        const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
        if (!stored.mends && live.length > 0) {
          if (stored.isHosted) expect(flat(sent)).toEqual(flat(plain(live)))
          else if (!stored.name.startsWith('cline'))
            expect(sent).toEqual(plain(repairToolPairs(readable).messages))
        }
        const kept = wordsOf(sent)
        const { orphans = 0 } = report
        const lost = [...wordsOf(readable)].filter((words) => !kept.has(words))
        expect(lost.length).toBeLessThanOrEqual(orphans)
        const again = await repair(path, { pairs: true, damaged: 'mend' })
        expect(again).toMatchObject({ changed: false })
        expect(again).not.toHaveProperty('paired')
        expect(read(path)).toBe(after)
        expect(existsSync(`${path}.lock`)).toBe(false)
      }),
      { numRuns: 100 },
    )
  })

  it('that is broken and too large is sound and within the limits', async () => {
    const limits = fc.record({
      maxChars: fc.integer({ min: 60, max: 400 }),
      keep: fc.constantFrom('head', 'auto'),
    })
    const totals = fc.option(fc.integer({ min: 400, max: 2_000 }).map((maxChars) => ({ maxChars })))
    await fc.assert(
      fc.asyncProperty(sound, faults, limits, totals, async (messages, all, limits, aggregate) => {
        const history = brokenOf(stored, messages, all)
        const long = JSON.parse(JSON.stringify(history), (_, value) =>
          typeof value === 'string' && /^what .* returned$/.test(value)
            ? `${value}\n${'line\n'.repeat(200)}`
            : value,
        ) as object[]
        const path = write(stored.write(long))
        const options = { pairs: true, ...limits, ...(aggregate && { aggregate }) } as RepairOptions
        await repair(path, options)
        const sent = sentOf(stored, read(path))
        if (!stored.mends && hasPairs(history)) expect(stored.refusal(sent)).toBeUndefined()
        expect(JSON.stringify(sent)).not.toContain('line\\n'.repeat(100))
        expect(await repair(path, options)).toMatchObject({ changed: false })
      }),
      { numRuns: 100 },
    )
  })
})
