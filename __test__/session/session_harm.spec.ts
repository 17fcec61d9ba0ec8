import { isUtf8 } from 'node:buffer'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import * as fc from 'fast-check'
import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser'
import { type RepairOptions, repairSession, repairToolPairs } from 'spillway'
import { describe, expect, it } from 'vitest'
import { longForMost } from '../support/long.js'
import { broken, type Fault, faults, soundHistories } from '../support/pair_histories.js'
import { MEMORY, scratch } from '../support/scratch.js'
import { layouts, type Stored, varied } from '../support/stored_histories.js'

// biome-ignore lint/suspicious/noExplicitAny: rows of several agents
type Any = any

const native: typeof import('../../dist/native.js') = createRequire(__filename)('../../dist/spillway.node')
const { write: newFile, clear } = scratch('.json', MEMORY)

/** The bytes of a file, each as a char: damage may leave no UTF-8. */
type Bytes = string
const bytesOf = (text: string): Bytes => Buffer.from(text).toString('latin1')
const read = (path: string): Bytes => readFileSync(path, 'latin1')
function write(bytes: Bytes): string {
  const path = newFile('')
  writeFileSync(path, bytes, 'latin1')
  return path
}

/** Returns the value of a text, unless strict programs do not read it. */
function parsed(bytes: Bytes, isDocument: boolean): Any[] {
  const buffer = Buffer.from(bytes, 'latin1')
  if (!isDocument && !isUtf8(buffer)) return []
  try {
    return [JSON.parse(buffer.toString())]
  } catch {
    return []
  }
}
const rowsOf = (bytes: Bytes) => bytes.split('\n').filter((row) => row !== '')
const valuesOf = ({ isDocument }: Stored, bytes: Bytes) =>
  isDocument ? parsed(bytes, true) : rowsOf(bytes).flatMap((row) => parsed(row, false))
const sentOf = (stored: Stored, bytes: Bytes): Any[] => {
  const values = valuesOf(stored, bytes)
  return stored.isDocument && values.length === 0 ? [] : stored.sent(values)
}
const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
const wordsOf = (value: unknown) => new Set(JSON.stringify(value).match(/what \w+ call_\w+ returned/g) ?? [])
const lost = (before: Set<string>, after: Set<string>) => [...before].filter((words) => !after.has(words))

/** Blocks of one turn may stand in one message or in several. */
const flat = (messages: readonly Any[]) =>
  messages.flatMap((message) => {
    const { role, content, parts } = message
    const list = content ?? parts
    if (role === undefined || !(Array.isArray(list) || typeof list === 'string')) return [message]
    const blocks = typeof list === 'string' ? [{ type: 'text', text: list }] : list
    return /^(user|assistant|model)$/.test(role)
      ? blocks.map((block: object) => ({ role, block }))
      : [message]
  })

/** Turns are joined if a history tells its dialect by a call or a result. */
const hasPairs = (messages: readonly object[]) => JSON.stringify(messages).includes('call_')

const ROW_DAMAGE = [
  'torn',
  'torn end',
  'glued',
  'nul',
  'lost',
  'doubled',
  'not UTF-8',
  'newline',
  'junk',
] as const
const DOCUMENT_DAMAGE = ['torn end', 'behind', 'tail', 'nul', 'junk', 'not UTF-8', 'newline'] as const
type Damage = {
  kind: (typeof ROW_DAMAGE | typeof DOCUMENT_DAMAGE)[number]
  at: number
  share: number
  junk: string
}
const MESSAGE = '{"role":"user","content":"x"}'
const damageOf = ({ isDocument }: Stored): fc.Arbitrary<Damage> =>
  fc.record({
    kind: fc.constantFrom<Damage['kind']>(...(isDocument ? DOCUMENT_DAMAGE : ROW_DAMAGE)),
    at: fc.nat(60),
    share: fc.double({ min: 0.05, max: 0.95, noNaN: true }),
    junk: fc.constantFrom('}]', '"}]}', '\n{"a', 'oops', isDocument ? MESSAGE : '{"a":', '{"a":1},'),
  })
/** Bytes that stand within a string. */
const IN_WORDS: Partial<Record<Damage['kind'], Bytes>> = { newline: '\n', 'not UTF-8': '\xe6' }
const into = (bytes: Bytes, at: number, more: Bytes) => bytes.slice(0, at) + more + bytes.slice(at)

/** Puts bytes in the middle of words, where an agent had a string. */
function inWords(bytes: Bytes, at: number, more: Bytes): Bytes {
  const places = [...bytes.matchAll(/returned|I look|Then this|Go on|Fix it/g)]
  const { index } = places[at % Math.max(1, places.length)] ?? {}
  return index === undefined ? bytes : into(bytes, index + 2, more)
}

/** Damages rows after the first in ways that crashes, kills and disks do. */
function damagedRows(bytes: Bytes, all: readonly Damage[]): Bytes {
  let rows = bytes.split(/(?<=\n)/)
  // A row that is there twice is the same twice. Torn junk may be a row.
  const order = ({ kind }: Damage) => Number(IN_WORDS[kind] === undefined) + Number(kind === 'junk')
  for (const { kind, at, share, junk } of all.toSorted((one, other) => order(one) - order(other))) {
    const index = 1 + (at % Math.max(1, rows.length - 1))
    const row = rows[index]
    if (row === undefined) continue
    const cut = row.slice(0, Math.floor(row.length * share))
    if (kind === 'torn end') rows = [...rows.slice(0, index), cut]
    else if (kind === 'torn') rows[index] = `${cut}\n`
    else if (kind === 'glued') rows[index] = row.replace(/\n$/, '')
    else if (kind === 'nul') rows[index] = `${'\0'.repeat(1 + (at % 40))}${row}`
    else if (IN_WORDS[kind]) rows[index] = inWords(row, at, IN_WORDS[kind])
    else if (kind === 'junk') rows[index] = `${junk}\n${row}`
    else rows.splice(index, 1, ...(kind === 'lost' ? [] : [row, row]))
  }
  return rows.join('')
}

/** Damages a document behind its first byte. Returns also the place of the first damage that ends
 *  what can be read. */
function damagedDocument(bytes: Bytes, all: readonly Damage[]): [damaged: Bytes, place: number] {
  let place = Number.POSITIVE_INFINITY
  for (const { kind, at, share, junk } of all.filter(({ kind }) => IN_WORDS[kind] === undefined)) {
    const cut = 1 + Math.floor((bytes.length - 1) * share)
    place = Math.min(place, kind === 'behind' || kind === 'tail' ? bytes.length : cut)
    // What a tear leaves and a tail may join to a document in which nothing is damaged.
    if (kind === 'torn end') {
      bytes = bytes.slice(0, cut)
      break
    }
    if (kind === 'behind') bytes += junk
    else if (kind === 'tail') bytes += bytes.slice(cut)
    else bytes = into(bytes, cut, kind === 'nul' ? '\0'.repeat(1 + (at % 40)) : `\x01${junk}`)
  }
  for (const { kind, at } of all) bytes = inWords(bytes, at, IN_WORDS[kind] ?? '')
  return [bytes, place]
}

/** Returns the messages of a document that end before a place, and where the last one ends. */
function wholeBefore(bytes: Bytes, place: number): [messages: Bytes[], end: number] {
  const tree = parseTree(bytes) as Node
  const list =
    tree.type === 'array'
      ? tree
      : ['messages', 'history'].flatMap((name) => findNodeAtLocation(tree, [name]) ?? [])[0]
  const whole = (list?.children ?? []).filter(({ offset, length }) => offset + length <= place)
  const texts = whole.map(({ offset, length }) => bytes.slice(offset, offset + length))
  return [texts, Math.max(0, ...whole.map(({ offset, length }) => offset + length))]
}

/** Breaks a history. Hosts make ids of their own, each once. */
function brokenOf({ dialect, isHosted }: Stored, sound: readonly object[], all: readonly Fault[]): object[] {
  if (!isHosted) return broken(dialect, sound, all).messages
  const own = all.filter(({ kind }) => kind !== 'rename')
  const known = new Set<string>()
  const isNew = (message: object) => {
    const calls = callsIn(message)
    const isRepeated = calls.some((call) => known.has(call))
    for (const call of calls) known.add(call)
    return !isRepeated
  }
  return broken(dialect, sound, own).messages.filter(isNew)
}
/** Returns the ids of calls in a message, not those of results. */
function callsIn(value: Any, key = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  const isCall =
    /^(tool_use|toolCall|function|tool|tool\.call|\w+_call)$/.test(value.type ?? '') ||
    key === 'functionCall' ||
    'arguments' in value
  const id = value.callID ?? value.call_id ?? value.toolCallId ?? value.id
  if (isCall && id !== undefined) return [id]
  return Object.entries(value).flatMap(([name, one]) => callsIn(one, Array.isArray(value) ? key : name))
}

/** Undoes the latest repair with what was appended since. Returns its code if it fails. */
async function undo(path: string, how: object = {}): Promise<string | undefined> {
  const born = Date.now() - process.uptime() * 1_000
  const all = { first: false, keepAppended: true, discardChanges: false, born, ...how }
  return JSON.parse(await native.undoRepair(path, all, native.startWatch())).code
}

/** Appends to a session that was repaired, and expects an undo to give its old bytes back with
 *  that. */
async function expectUndone(stored: Stored, path: string, before: Bytes, count: number): Promise<void> {
  const late = Array.from({ length: count }, (_, at) => ({
    type: 'late',
    role: 'user',
    content: `late ${at}`,
  }))
  if (!stored.isDocument) {
    const rows = late.map((row) => `${JSON.stringify(row)}\n`)
    appendFileSync(path, rows.join(''))
    expect(await undo(path)).toBeUndefined()
    const after = read(path)
    expect(after.startsWith(before)).toBe(true)
    expect(after.slice(before.length).replace(/^\n/, '')).toBe(rows.join(''))
    return
  }
  const listIn = (root: Any): Any[] => (Array.isArray(root) ? root : (root.messages ?? root.history))
  const [now] = parsed(read(path), true)
  listIn(now).push(...late)
  if (count > 0) writeFileSync(path, JSON.stringify(now))
  const repaired = read(path)
  const code = await undo(path)
  const [old] = parsed(before, true)
  if (old === undefined && count > 0) {
    // There is no list to which they could be added.
    expect([code, read(path)]).toEqual([expect.stringMatching(/^ERR_SPILLWAY_/), repaired])
    expect(await undo(path, { discardChanges: true })).toBeUndefined()
    expect(read(path)).toBe(before)
    return
  }
  expect(code).toBeUndefined()
  if (count === 0) expect(read(path)).toBe(before)
  else {
    listIn(old).push(...late)
    expect(parsed(read(path), true)).toEqual([old])
  }
}

const bytes = fc.array(fc.nat(9), { minLength: 1, maxLength: 6 })
const repair = (path: string, options: RepairOptions) => repairSession(path, { backup: false, ...options })

describe.each(layouts.map((stored) => [stored.name, stored] as const))('a session of %s', (_, stored) => {
  const { dialect } = stored
  const sound = fc.tuple(soundHistories(dialect), bytes).map(([messages, by]) => varied(stored, messages, by))
  /** A session that is a document is known by a message with its marks. */
  const isKnown = (history: readonly object[]) =>
    !stored.isDocument ||
    history.some((message) => ['role', 'type', 'info', 'message'].some((name) => name in message))
  /** The faults of a history, and the damage of its file. */
  const harm = fc.record({
    faults,
    damages: fc.array(damageOf(stored), { maxLength: 3 }),
    end: fc.nat(60),
    late: fc.nat(2),
  })

  it('that is sound stays byte for byte under every flag', {
    tags: longForMost(layouts, stored),
  }, async () => {
    const flags = fc.record(
      {
        pairs: fc.boolean(),
        damaged: fc.constantFrom('leave' as const, 'mend' as const),
        media: fc.constantFrom({ provider: 'anthropic' as const }, { maxItems: 1_000 }),
        dryRun: fc.boolean(),
        aggregate: fc.constant({ maxChars: 1e9 }),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc
        .asyncProperty(sound, flags, async (messages, options) => {
          const text = bytesOf(stored.write(messages))
          expect(stored.refusal(sentOf(stored, text))).toBeUndefined()
          const path = write(text)
          const report = await repair(path, options)
          expect(report).toMatchObject({ changed: false, clamped: 0, damaged: 0 })
          expect(Object.keys(report)).not.toEqual(
            expect.arrayContaining([expect.stringMatching(/^(un)?paired|orphans|strays|rearranged$/)]),
          )
          expect(read(path)).toBe(text)
        })
        .afterEach(clear),
      { numRuns: 300 },
    )
  })

  it('that is broken becomes sound, loses nothing that could be read, and comes back', {
    tags: longForMost(layouts, stored),
  }, async () => {
    await fc.assert(
      fc
        .asyncProperty(sound, harm, async (messages, { faults, damages, end, late }) => {
          const all = brokenOf(stored, messages, faults)
          // A kill leaves what was written before it.
          const history = all.slice(0, Math.max(1, all.length - (end % 4)))
          if (!isKnown(history)) return
          const whole = bytesOf(stored.write(history))
          const [text, place] = stored.isDocument
            ? damagedDocument(whole, damages)
            : [damagedRows(whole, damages), Number.POSITIVE_INFINITY]
          const path = write(text)
          const mended = write(text)
          await repair(mended, { damaged: 'mend' })
          const readable = sentOf(stored, read(mended))
          const [known, last] = stored.isDocument
            ? wholeBefore(whole, place)
            : [valuesOf(stored, text), text.length]
          const dry = await repair(path, { pairs: true, damaged: 'mend', dryRun: true })
          expect(read(path)).toBe(text)
          const report = await repair(path, { pairs: true, damaged: 'mend', backup: true })
          if (report.reason === 'format unknown') {
            expect(read(path)).toBe(text)
            // Words of the user alone are a session of no known kind.
            if (stored.isDocument) expect(known).toEqual([])
            return
          }
          const kept = wordsOf(valuesOf(stored, read(mended)))
          // Words that are damaged themselves do not count. Each damage before adds at most a byte.
          const intact = text.slice(0, last + damages.length)
          expect(lost(wordsOf(known), kept).filter((words) => intact.includes(words))).toEqual([])
          const after = read(path)
          expect(report.bytesAfter).toBe(after.length)
          const { damagedPath: _, backupPath: __, reason: ___, ...done } = report
          expect({ ...dry, changed: after !== text }).toMatchObject(done)
          const sent = sentOf(stored, after)
          // Where other files hold offsets, damaged rows stay.
          const rows = stored.isDocument ? 1 : rowsOf(after).length
          expect(valuesOf(stored, after)).toHaveLength(rows - (report.unmended ?? 0))
          // A session does not lose its last message.
          if (readable.length > 0) expect(sent).not.toEqual([])
          if (stored.pairs === 'none') expect(sent).toEqual(readable)
          if (stored.pairs === 'calls') {
            const isOld = (one: Any) => readable.some(({ id }) => id === one.id)
            expect(events(sent.filter(isOld))).toEqual(events(readable))
          }
          const isJudged = stored.pairs !== 'none' && stored.sendsAll(valuesOf(stored, after))
          const { messages: live } = repairToolPairs(readable, { dialect: dialect.dialect })
          if (isJudged && hasPairs(readable) && live.length > 0) expect(stored.refusal(sent)).toBeUndefined()
          if (isJudged && stored.pairs === 'all' && live.length > 0) {
            if (stored.isHosted) expect(flat(sent)).toEqual(flat(plain(live)))
            else if (!stored.name.startsWith('cline'))
              expect(sent).toEqual(plain(repairToolPairs(readable).messages))
          }
          // An error that stood in for another result of its call counts as paired.
          const { orphans = 0, paired = 0 } = report
          expect(lost(wordsOf(readable), wordsOf(sent)).length).toBeLessThanOrEqual(orphans + paired)
          const again = await repair(path, { pairs: true, damaged: 'mend' })
          expect(again).toMatchObject({ changed: false })
          expect(again).not.toHaveProperty('paired')
          expect(read(path)).toBe(after)
          expect(existsSync(`${path}.lock`)).toBe(false)
          if (report.changed) await expectUndone(stored, path, text, late)
        })
        .afterEach(clear),
      { numRuns: 300 },
    )
  })

  it('that is broken and too large is sound and within the limits, by any flags', {
    tags: 'long',
  }, async () => {
    const flags = fc.record(
      {
        maxChars: fc.integer({ min: 60, max: 400 }),
        keep: fc.constantFrom('head', 'tail', 'auto'),
        pairs: fc.boolean(),
        damaged: fc.constantFrom('leave', 'mend'),
        aggregate: fc.integer({ min: 400, max: 2_000 }).map((maxChars) => ({ maxChars })),
        media: fc.constantFrom({ provider: 'gemini' }, { maxItems: 1 }),
      },
      { requiredKeys: ['maxChars', 'keep'] },
    ) as fc.Arbitrary<RepairOptions>
    await fc.assert(
      fc
        .asyncProperty(sound, harm, flags, async (messages, { faults, damages, late }, options) => {
          const history = brokenOf(stored, messages, faults)
          if (!isKnown(history)) return
          const long = JSON.parse(JSON.stringify(history), (_, value) =>
            typeof value === 'string' && /^what .* returned$/.test(value)
              ? `${value}\n${'line\n'.repeat(200)}`
              : value,
          ) as object[]
          const whole = bytesOf(stored.write(long))
          const text = stored.isDocument ? damagedDocument(whole, damages)[0] : damagedRows(whole, damages)
          const path = write(text)
          const readable = sentOf(stored, text)
          const report = await repair(path, { ...options, backup: true })
          const after = read(path)
          if (report.reason === 'format unknown') {
            expect(after).toBe(text)
            return
          }
          const sent = sentOf(stored, after)
          // Results without any call stay if nothing else is there. A damaged row that stays may
          // have one.
          const isMended = options.pairs && options.damaged === 'mend' && hasPairs(sent)
          const isJudged = stored.pairs !== 'none' && stored.sendsAll(valuesOf(stored, after))
          if (isMended && isJudged && repairToolPairs(sent).messages.length > 0)
            expect(stored.refusal(sent)).toBeUndefined()
          if (!options.pairs && options.damaged !== 'mend') expect(idsOf(sent)).toEqual(idsOf(readable))
          expect(JSON.stringify(sent)).not.toContain('line\\n'.repeat(100))
          expect(await repair(path, options)).toMatchObject({ changed: false })
          expect(read(path)).toBe(after)
          if (report.changed) await expectUndone(stored, path, text, late)
        })
        .afterEach(clear),
      { numRuns: 300 },
    )
  })
})

/** Events by their ids. One that follows a new one names it, and a copy of one that moves goes. */
const events = (all: readonly Any[]) =>
  Object.fromEntries(all.map(({ parentId: _, ...event }) => [event.id, event]))

/** The ids of calls and results in messages, in their order. */
const idsOf = (messages: readonly Any[]) =>
  messages.map((message) => JSON.stringify(message).match(/"call_\w+"/g))
