// biome-ignore-all lint/suspicious/noExplicitAny: results of thirteen frameworks
import * as fc from 'fast-check'
import { clampMessages, clampResult, wrapTool } from 'spillway'
import { describe, expect, it } from 'vitest'
import table from '../../src/dialects.json'
import { longForMost } from '../support/long.js'
import { samples } from '../support/samples.js'

/** Whatever a framework would put in front of a model is bounded, also what no dialect knows. */

const LIMIT = 2_000
/** Bytes of a result that no dialect knows and that stay. */
const LITTLE = 1_024
const TEXT = 'some text of a result '.repeat(4)
const policy = { maxBytes: LIMIT }

class Report {
  readonly #rows = Array(250).fill('a row that is private')
  toJSON() {
    return { rows: this.#rows }
  }
}
class Page {
  readonly body = 'the body of a page '.repeat(400)
}

const large = fc.constantFrom<() => unknown>(
  () => 'x'.repeat(9_000),
  () => `"\\\n\u0001é😀`.repeat(900),
  () => Array.from({ length: 2_000 }, (_, at) => at),
  () => Array(600).fill('a few words'),
  () =>
    Array.from({ length: 120 }, (_, at) => ({ at, name: `a "name" of ${at}`, words: ['some words', null] })),
  () => Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`member ${at}`, `value of ${at}`])),
  () => ({ ['a long name '.repeat(700)]: true }),
  () => ({ type: 'table', content: [{ type: 'text', text: 'deep '.repeat(2_000) }] }),
  () => ({ content: [{ type: 'text', text: 'small' }], rows: 'beside '.repeat(1_400) }),
  () => Buffer.alloc(3_000, 7),
  () => new Uint16Array(3_000),
  () => new Map([['a', 'x'.repeat(9_000)]]),
  () => new Report(),
  () => new Page(),
)
const change = fc.record({
  at: fc.nat(),
  how: fc.constantFrom('add', 'replace'),
  name: fc.constantFrom('rows', 'data2', 'extra', 'body', 'text', 'content', 'constructor', '7'),
  large,
})

/** Fields that index.d.ts says are kept: ids, names, tags, media payloads, side data, and what
 *  reaches no model. */
const KEPT = ['id', 'tool', 'error', 'aside', 'side', 'media', 'copy'] as const
const TAGS = new Set([
  'role',
  'type',
  ...[...JSON.stringify(table).matchAll(/\[(\w+)!?=/g)].map(([, tag]) => tag),
])

const rowsOf = (dialect: string) => (table as any[]).filter(({ name }) => name === dialect)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Lists the ends of a path of src/dialects.json in a value, such as "content.0.text". */
function ends(path: string, value: unknown): string[] {
  let found: [keys: string[], value: unknown][] = [[[], value]]
  for (const [, filter, tag, tags, name = ''] of path.matchAll(/(\[(?:(\w+)!?=)?([^\]]*)\])|(\w+)/g))
    found = found.flatMap(([keys, value]) => {
      if (!isObject(value)) return []
      const isTagged = (each: any) =>
        !tag ||
        tags
          ?.split('|')
          .some((known) =>
            known.endsWith('*')
              ? each?.[tag]?.startsWith?.(known.slice(0, -1))
              : String(each?.[tag]) === known,
          )
      if (filter && Array.isArray(value))
        return value.flatMap((each, at) =>
          isTagged(each) ? [[[...keys, String(at)], each] as [string[], unknown]] : [],
        )
      if (filter) return tag && isTagged(value) ? [[keys, value]] : []
      return Object.hasOwn(value, name) ? [[[...keys, name], value[name]]] : []
    })
  return found.map(([keys]) => keys.join('.'))
}

const at = (value: any, path: string) =>
  path === '' ? value : path.split('.').reduce((value, name) => value[name], value)

/** The results that a sample is or carries. */
function resultsIn(dialect: string, value: object): object[] {
  const carried = rowsOf(dialect).flatMap(({ forms }) => forms.flatMap(({ results = [] }: any) => results))
  const paths = new Set(carried.flatMap((path) => ends(path, value)))
  return paths.size > 0 ? [...paths].map((path) => at(value, path)) : [value]
}

/** Objects and lists of a result that large data may come to. */
function holdersIn(value: unknown): any[] {
  return isObject(value) && !ArrayBuffer.isView(value)
    ? [value, ...Object.values(value).flatMap(holdersIn)]
    : []
}

function isKept(dialect: string, result: object, holder: object, key: string): boolean {
  if (TAGS.has(key) || isKeptBy(rowsOf(dialect), result, holder, key)) return true
  // JSON of a result may be a result of MCP.
  const json = rowsOf(dialect).flatMap((row) => Object.keys(row.json ?? {}))
  const carried = json.flatMap((path) => ends(path, result)).map((path) => at(result, path))
  return carried.some((value) => isObject(value) && isKeptBy(rowsOf('mcp'), value, holder, key))
}

function isKeptBy(rows: any[], result: object, holder: object, key: string): boolean {
  const kept = rows.flatMap((row) => [
    ...KEPT.flatMap((field) => row[field] ?? []).flatMap((path) =>
      typeof path === 'string' ? path : Object.keys(path),
    ),
    // A tag that tells the shape of a result is known by being there.
    ...row.forms.flatMap(({ has = [] }: any) => has),
  ])
  const isHere = (path: string): boolean => {
    const up = path.split('.')
    return at(result, up.slice(0, -1).join('.')) === holder
      ? up.at(-1) === key
      : holdersIn(at(result, path)).includes(holder)
  }
  return kept.flatMap((path) => ends(path, result)).some((path) => path !== '' && isHere(path))
}

/** Adds large data to a result, or puts it in the place of a member; where a dialect is named, of
 *  none that it keeps. */
function changed(dialect: string | undefined, result: object, { at, how, name, large }: any): void {
  const holders = holdersIn(result)
  const holder = holders[at % holders.length]
  const names = Object.keys(holder)
  const key =
    how === 'replace' ? names[at % names.length] : Array.isArray(holder) ? String(names.length) : name
  if (key === undefined) return
  const before = Object.getOwnPropertyDescriptor(holder, key)
  holder[key] = large()
  if (dialect === undefined || !isKept(dialect, result, holder, key)) return
  if (before) Object.defineProperty(holder, key, before)
  else delete holder[key]
}

/** Bytes of JSON without the escapes of its texts, which a model is sent as they are. */
function sizeOf(value: any): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2
  if (!isObject(value)) return String(value).length
  return Object.entries(value).reduce(
    (sum, [name, member]) => sum + (Array.isArray(value) ? 1 : sizeOf(name) + 2) + sizeOf(member),
    2,
  )
}
const sizeOfJson = (value: unknown) => sizeOf(JSON.parse(JSON.stringify(value)))
const snapshot = (value: unknown) =>
  JSON.stringify(value, (_, member) => (member instanceof Map ? [...member] : member))

describe.each(
  samples.map((sample) => [`${sample.dialect}: ${sample.name}`, sample] as const),
)('%s', (_, sample) => {
  const { dialect, make, texts, side = [] } = sample
  /** Samples share some of their blocks. */
  const fresh = () => structuredClone(make(TEXT))

  it('is bounded with large data anywhere in a result', async () => {
    const bound = sizeOfJson(make(TEXT)) + texts(make(TEXT)).length * (LIMIT + LITTLE)
    await fc.assert(
      fc.property(fc.nat(), fc.array(change, { minLength: 1, maxLength: 3 }), (which, changes) => {
        const value = fresh()
        const results = resultsIn(dialect, value)
        const result = results[which % results.length] as object
        for (const each of changes) changed(dialect, result, each)
        const before = snapshot(value)
        const returned = wrapTool(() => value, policy)() as unknown
        expect(sizeOfJson(returned)).toBeLessThanOrEqual(bound)
        expect(wrapTool(() => returned, policy)() === returned).toBe(true)
        const clamped = clampResult(value, policy)
        const { messages } = clampMessages([value], policy)
        // If nothing tells a result any more, the value is data, or a message of a history, which
        // stays.
        const isData = () => typeof wrapTool(() => value, { ...policy, json: 'text' })() === 'string'
        if (messages[0] === value && isData())
          expect([value, returned].map(snapshot)).toContain(snapshot(clamped))
        else for (const left of [clamped, messages[0]]) expect(sizeOfJson(left)).toBeLessThanOrEqual(bound)
        expect(clampResult(clamped, policy) === clamped).toBe(true)
        expect(clampMessages(messages, policy).messages === messages).toBe(true)
        expect(snapshot(value) === before).toBe(true)
      }),
      { numRuns: 15, endOnFailure: true },
    )
  })
  it('is bounded as data with large data beside its results', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const value = fresh()
        // A value that comes to a list of results is a result, with limits of its own.
        const results = texts(make(TEXT)).length + changes.length
        const bound = sizeOfJson(make(TEXT)) + (results + 1) * (LIMIT + LITTLE)
        for (const { at, how, name, large } of changes) {
          const inside = new Set(resultsIn(dialect, value).flatMap(holdersIn))
          const holders = holdersIn(value).filter((holder) => !inside.has(holder))
          const holder = holders[at % holders.length]
          if (holder === undefined) return
          const names = Object.keys(holder).filter((key) => !TAGS.has(key) && !inside.has(holder[key]))
          const last = Array.isArray(holder) ? String(holder.length) : name
          holder[how === 'add' ? last : (names[at % names.length] ?? last)] = large()
        }
        const returned = wrapTool(() => value, policy)() as unknown
        expect(sizeOfJson(returned)).toBeLessThanOrEqual(bound)
        expect(wrapTool(() => returned, policy)() === returned).toBe(true)
      }),
      { numRuns: 15, endOnFailure: true },
    )
  })

  it('is bounded where what holds its texts says itself what its JSON is', {
    tags: longForMost(samples, sample),
  }, () => {
    const bound = sizeOfJson(make(TEXT)) + (texts(make(TEXT)).length + 1) * (LIMIT + LITTLE)
    fc.assert(
      fc.property(fc.nat(), large, (nth, large) => {
        const value = fresh()
        const beside = new Set(side.flatMap((path) => holdersIn(at(value, path))))
        const holders = holdersIn(value).filter(
          (holder) => !Array.isArray(holder) && !beside.has(holder) && snapshot(holder).includes(TEXT),
        )
        const said = { said: large() }
        const holder = holders[nth % holders.length]
        if (holder === undefined) return
        holder.toJSON = () => said
        const returned = wrapTool(() => value, policy)() as unknown
        expect(sizeOfJson(returned)).toBeLessThanOrEqual(bound)
        expect(wrapTool(() => returned, policy)() === returned).toBe(true)
      }),
      { numRuns: 15, endOnFailure: true },
    )
  })

  it.each([
    'whole',
    { maxBytes: 700 },
    'drop',
  ] as const)('is the same wrapped twice as once with sideData %j', {
    tags: longForMost(samples, sample),
  }, (sideData) => {
    const changes = [
      () => Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`member ${at}`, `value of ${at}`])),
      () => ({ content: [{ type: 'text', text: 'small' }], rows: 'beside '.repeat(1_400) }),
    ]
    const twice = { ...policy, sideData } as const
    const places = holdersIn(fresh()).flatMap((holder, nth) =>
      [...Object.keys(holder), Array.isArray(holder) ? String(holder.length) : 'rows'].map(
        (key) => [nth, key] as const,
      ),
    )
    for (const [nth, key] of places)
      for (const large of changes) {
        const value = fresh()
        holdersIn(value)[nth][key] = large()
        const tool = wrapTool(() => value, twice)
        const once = tool() as unknown
        expect(wrapTool(() => once, twice)() === once).toBe(true)
        expect(snapshot(wrapTool(tool, twice)()) === snapshot(once)).toBe(true)
      }
  })
})
