/**
 * The promise about data that no dialect knows: it may hold the result of a host whose form is not
 * known, with its id and its name. So only its longest texts are cut, where they stand, they take
 * the room that there is, and a live result and a stored one are cut alike.
 */
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { clampMessages, clampResult, type ResultPolicy, repairSession } from 'spillway'
import { describe, expect, it } from 'vitest'
import { jsonLines, MEMORY, readRows, scratch } from '../support/scratch.js'

const { write, clear } = scratch('.jsonl', MEMORY)

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Chars of a text that may be cut, and the most of any other. */
const TEXT = 300
const WORD = 256

/** Lines that a search tells apart, and lines that it does not. */
const text = fc
  .record({
    line: fc.constantFrom(
      'one more line of the log',
      'ERROR the disk is full',
      'é 漢 \u{1F600} "quoted" \\ tail',
    ),
    odd: fc.constantFrom('', 'x\n', 'ERROR gone\n'),
    lines: fc.integer({ min: 20, max: 900 }),
    numbered: fc.boolean(),
  })
  .map(({ line, odd, lines, numbered }) => {
    const half = Array.from({ length: lines }, (_, at) => `${numbered ? `${at} ` : ''}${line}\n`).join('')
    return half + odd + half
  })
  .filter((text) => text.length > TEXT)

const word = fc.oneof(
  fc.string({ maxLength: 40, unit: 'grapheme' }),
  fc.constantFrom('call_1', 'run_commands', 'toolu_0123456789abcdefghij', 'ok'),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
)
const name = fc.constantFrom(
  'id',
  'name',
  'kind',
  'output',
  'functionResponse',
  'call',
  'query',
  'value',
  'meta',
)

/** A value of any depth with one text or more at its end. */
const { block } = fc.letrec<{ block: Json; value: Json }>((tie) => ({
  block: fc.dictionary(name, tie('value') as fc.Arbitrary<Json>, { minKeys: 1, maxKeys: 4 }),
  value: fc.oneof(
    { depthSize: 'large', withCrossShrink: true },
    { arbitrary: fc.oneof(word as fc.Arbitrary<Json>, text), weight: 3 },
    { arbitrary: tie('block') as fc.Arbitrary<Json>, weight: 2 },
    { arbitrary: fc.array(tie('block') as fc.Arbitrary<Json>, { maxLength: 3 }), weight: 1 },
  ),
}))
/** Nested below more levels than a reader would look at. */
const deep = fc
  .tuple(block, fc.array(name, { maxLength: 8 }))
  .map(([inner, names]) => names.reduceRight<Json>((value, name) => ({ id: 'call_1', [name]: value }), inner))

/** Results around a list of blocks, as dialects have them. */
const holders: [string, (content: Json) => object][] = [
  [
    'a block of Anthropic',
    (content) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content }] }),
  ],
  [
    'one with a name',
    (content) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c1', name: 'run', more: 'm', content }],
    }),
  ],
  ['a message of OpenAI', (content) => ({ role: 'tool', tool_call_id: 'c1', content })],
  [
    'a message of Pi',
    (content) => ({ role: 'toolResult', toolCallId: 'c1', toolName: 't', content, isError: false }),
  ],
]

const policy = fc.record({
  maxBytes: fc.integer({ min: 6_000, max: 30_000 }),
  keep: fc.constantFrom<NonNullable<ResultPolicy['keep']>>('head', 'tail', 'ends', 'findings', 'auto'),
  share: fc.constantFrom('fair' as const, 'order' as const),
})

/** Expects that only long texts differ, and that each of these begins as it did. Returns their
 *  number. */
function expectOnlyCuts(before: Json, after: Json): number {
  if (typeof before === 'string' && before.length > WORD) {
    const kept = /^(.*)\[\+\d+ chars\]$/s.exec(String(after))?.[1]
    expect(after === before || (kept !== undefined && before.startsWith(kept))).toBe(true)
    return 1
  }
  if (typeof before !== 'object' || before === null) {
    expect(after).toBe(before)
    return 0
  }
  expect(Object.keys(after as object)).toEqual(Object.keys(before))
  const [of, now] = [before, after] as { [name: string]: Json }[]
  return Object.keys(before).reduce(
    (sum, name) => sum + expectOnlyCuts(of?.[name] as Json, now?.[name] as Json),
    0,
  )
}

/** Bytes of a value whose long texts are down to the longest word. */
function leastOf(value: Json): number {
  return bytes(
    JSON.parse(JSON.stringify(value), (_, value) =>
      typeof value === 'string' && value.length > WORD ? 'x'.repeat(6 * WORD) : value,
    ),
  )
}

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

describe.each(holders)('unknown blocks in %s', (_, holder) => {
  it('keep all but the ends of their longest texts, and use their room', { tags: 'long' }, async () => {
    await fc.assert(
      fc
        .asyncProperty(fc.array(deep, { minLength: 1, maxLength: 3 }), policy, async (blocks, given) => {
          // In order, later blocks go.
          const limits = blocks.length === 1 ? given : { ...given, share: 'fair' as const }
          const room = limits.maxBytes
          // In its share of the room, each text of a block is longer than any word.
          fc.pre(blocks.every((block) => leastOf(block) < room / (blocks.length + 1)))
          const message = holder(blocks)
          const live = clampResult(message, limits)
          expect(clampResult(live, limits)).toEqual(live)
          const content = contentOf(live)
          expectOnlyCuts(blocks, content)
          // 1 KiB beyond the limits stays, and the brackets around blocks are not counted.
          expect(bytes(content)).toBeLessThanOrEqual(room + 1_024 + 64)
          if (bytes(blocks) > room + 1_024) expect(bytes(content)).toBeGreaterThan(room * 0.9)
          const path = write(jsonLines([message]))
          await repairSession(path, { ...limits, backup: false, query: false })
          expect(readRows(path)).toEqual(clampMessages([message], limits).messages)
          expect(readRows(path)).toEqual([live])
        })
        .afterEach(clear),
      { numRuns: 250, endOnFailure: true },
    )
  })
})

describe('unknown data without long texts', () => {
  it('loses elements of lists before members, so ids stay', async () => {
    for (const [, holder] of holders) {
      const values = Array.from({ length: 50_000 }, (_, at) => at)
      const block = { functionResponse: { id: 'call_1', name: 'run', response: { inner: { rows: values } } } }
      const message = holder([block])
      const live = clampResult(message, { maxBytes: 9_000 })
      const [left] = contentOf(live) as [typeof block]
      const { id, name, response } = left.functionResponse
      expect([id, name]).toEqual(['call_1', 'run'])
      expect(response.inner.rows.length).toBeGreaterThan(500)
      expect(bytes(left)).toBeLessThanOrEqual(9_000)
      const path = write(jsonLines([message]))
      await repairSession(path, { maxBytes: 9_000, backup: false })
      expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(live)
    }
  })

  it('of a whole row that looks like a result is cut inside', async () => {
    const output = 'one more line of the log\n'.repeat(9_000)
    const functionResponse = { id: 'call_1', name: 'run', response: { output } }
    const row = { uuid: 'u1', type: 'tool_result', payload: { parts: [{ functionResponse }] }, shown: output }
    const path = write(jsonLines([row]))
    await repairSession(path, { backup: false })
    const [left] = readRows(path)
    expect(left).toMatchObject({
      uuid: 'u1',
      payload: { parts: [{ functionResponse: { id: 'call_1', name: 'run' } }] },
    })
    expect(left.payload.parts[0].functionResponse.response.output.length).toBeGreaterThan(20_000)
  })
})

// biome-ignore lint/suspicious/noExplicitAny: results of several dialects
function contentOf(message: any): Json {
  return (
    (message.content as { type?: string; content?: Json }[]).find(({ type }) => type === 'tool_result')
      ?.content ?? message.content
  )
}
