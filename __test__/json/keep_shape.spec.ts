import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  type ClampEvent,
  clampMessages,
  clampResult,
  createSpillStore,
  type ResultPolicy,
  wrapTool,
} from 'spillway'
import { describe, expect, it, test } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { samples } from '../support/samples.js'

const rows = (count: number) =>
  Array.from({ length: count }, (_, row) => ({
    row,
    state: row === 321 ? 'error: disk full' : 'done',
    note: 'é'.repeat(40),
  }))
const policy = { maxBytes: 900, json: 'keep-shape' } as const

describe.each(
  samples.map((sample) => [`${sample.dialect}: ${sample.name}`, sample] as const),
)('%s', (_, sample) => {
  it('keeps a text that is JSON within the limits, as JSON', () => {
    const json = JSON.stringify({ rows: rows(500), total: 500 })
    const value = sample.make(json)
    const clamped = clampResult(value, { ...policy, share: 'each' })
    expect(clampResult(clamped, { ...policy, share: 'each' })).toBe(clamped)
    const texts = sample.texts(clamped).flat()
    const given = sample.texts(value).flat()
    expect(texts).toHaveLength(given.length)
    for (const [at, text] of texts.entries()) {
      if (!given[at]?.includes('disk full')) continue
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(900)
      if (given[at] === json) expect(text).toContain('error: disk full')
      JSON.parse(text)
    }
  })
})

const json = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(fc.record({ id: fc.nat(), text: hostileText }), { maxLength: 20 }),
  hostileText.map((text) => ({ text, list: [text, 1, { text }] })),
)

test('the texts of a result share the limits, as JSON or not', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(json, hostileText), { minLength: 1, maxLength: 5 }),
      fc.nat(2_000),
      (values, maxBytes) => {
        const given = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
        const limits = { maxBytes: maxBytes + 1, json: 'keep-shape' } as const
        const result = { content: given.map((text) => ({ type: 'text', text })) }
        const clamped = clampResult(result, limits)
        expect(clampResult(clamped, limits)).toBe(clamped)
        const texts = clamped.content.map(({ text }) => text)
        const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
        expect(bytes).toBeLessThanOrEqual(maxBytes + 1)
        if (texts.length === given.length)
          for (const [at, text] of texts.entries())
            if (typeof values[at] === 'object' && values[at] !== null && text.startsWith('{"'))
              JSON.parse(text)
      },
    ),
    { numRuns: 800 },
  )
})

test('data stays data', async () => {
  const read = wrapTool({ execute: async () => ({ rows: rows(500), total: 500 }) }, policy)
  const value = await read.execute()
  expect(value.total).toBe(500)
  expect(value.rows[0]).toEqual({ row: 0, state: 'done', note: expect.any(String) })
  expect(Buffer.byteLength(JSON.stringify(value))).toBeLessThanOrEqual(900)

  const part = {
    type: 'tool-result',
    toolCallId: 'c',
    toolName: 't',
    output: { type: 'json', value: rows(500) },
  }
  const [message] = clampMessages([{ role: 'tool', content: [part] }], policy).messages
  const { output } = message?.content[0] ?? part
  expect(output.type).toBe('json')
  expect(output.value.map(({ row }) => row)).toEqual(expect.arrayContaining([0, 321, 499]))
})

test('structured content is capped by its schema', () => {
  const schema = {
    type: 'object',
    required: ['rows', 'next'],
    properties: { rows: { type: 'array', minItems: 2 }, next: { type: 'string', format: 'uri' } },
  }
  const next = `https://example.org/${'page/'.repeat(20)}`
  const structuredContent = { rows: rows(500), next, more: 'x'.repeat(5_000) }
  const result = { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
  const clamped = clampResult(result, { ...policy, schema, sideData: { maxBytes: 400 } })
  for (const [part, bytes] of [
    [clamped.structuredContent, 400],
    [JSON.parse(clamped.content[0]?.text ?? ''), 900],
  ] as const) {
    expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(bytes)
    expect(part.next).toBe(next)
    expect(part.rows.length).toBeGreaterThanOrEqual(2)
  }
})

test('a block beside the JSON says what is missing', () => {
  const events: ClampEvent[] = []
  const blocks = [JSON.stringify(rows(100)), 'a line of a log\n'.repeat(400)]
  const tool = wrapTool(
    { execute: () => ({ content: blocks.map((text) => ({ type: 'text', text })) }) },
    { ...policy, onClamp: (event) => events.push(event) },
  )
  const [first, second] = tool.execute().content
  JSON.parse(first?.text ?? '')
  expect(second?.text).toContain('truncated')
  expect(events).toHaveLength(1)
  expect(events[0]?.kept.bytes).toBeLessThan(900)
})

test('white space alone is not a loss', () => {
  const events: ClampEvent[] = []
  const text = JSON.stringify(rows(5), null, 20)
  const limits: ResultPolicy = {
    maxBytes: JSON.stringify(rows(5)).length * 2,
    maxLines: 5,
    json: 'keep-shape',
  }
  const tool = wrapTool({ execute: () => text }, { ...limits, onClamp: (event) => events.push(event) })
  expect(tool.execute()).toBe(JSON.stringify(rows(5)))
  expect(events).toEqual([])
})

describe.each(
  samples.map((sample) => [`${sample.dialect}: ${sample.name}`, sample] as const),
)('%s', (_, sample) => {
  it('tells listeners what is missing of JSON', () => {
    const seen: ClampEvent[] = []
    const listen = (event: unknown) => seen.push(event as ClampEvent)
    const json = JSON.stringify({ rows: rows(500), total: 500 })
    subscribe('spillway:clamp', listen)
    const clamped = clampResult(sample.make(json), { ...policy, share: 'each' })
    unsubscribe('spillway:clamp', listen)
    const texts = sample.texts(clamped).flat()
    if (texts.every((text) => !text.includes('disk full'))) return
    expect(seen.length).toBeGreaterThan(0)
    for (const { total, kept, exceeded } of seen) {
      expect(exceeded).toEqual(['bytes'])
      expect(total.bytes).toBeGreaterThanOrEqual(Buffer.byteLength(json))
      expect(kept.bytes).toBeLessThan(total.bytes)
    }
  })
})

test('a cut of structured content without a text is reported once', async () => {
  for (const content of [[], [{ type: 'text', text: 'see the table' }]]) {
    const events: ClampEvent[] = []
    const structuredContent = { rows: rows(500) }
    const find = wrapTool(
      { name: 'find', execute: async () => ({ content, structuredContent }) },
      { ...policy, sideData: { maxBytes: 400 }, onClamp: (event) => events.push(event) },
    )
    const made = (await find.execute()).structuredContent
    const [total, kept] = [structuredContent, made].map((data) => Buffer.byteLength(JSON.stringify(data)))
    expect(events).toEqual([
      {
        tool: 'find',
        phase: 'result',
        action: 'cut',
        reason: 'limits',
        total: expect.objectContaining({ bytes: total }),
        kept: expect.objectContaining({ bytes: kept }),
        exceeded: ['bytes'],
      },
    ])
  }
})

/** Returns the texts of an MCP result. */
const textsIn = (result: { content?: unknown }) =>
  (result.content as { text: string }[]).map(({ text }) => text)

test('a last block of text says what is missing of structured content', () => {
  const structuredContent = { rows: rows(500) }
  const content = [{ type: 'text', text: 'a line of a log\n'.repeat(400) }]
  const limits = { json: 'keep-shape', sideData: { maxBytes: 400 }, maxBytes: 2_000 } as const
  const given = Object.freeze({ content, structuredContent })
  const made = clampResult(given, limits)
  expect(Buffer.byteLength(JSON.stringify(made.structuredContent))).toBeLessThanOrEqual(400)
  expect(made.structuredContent.rows[0]).toEqual(rows(1)[0])
  const texts = textsIn(made)
  expect(texts.at(-1)).toMatch(
    /^\[structured content truncated: \d+ of [\d,]+ bytes kept, \d+ elements omitted; ask for less, or for specific sections\]$/,
  )
  expect(texts[0]).toMatch(/truncated/)
  expect(texts).toHaveLength(2)
  expect(Buffer.byteLength(texts.join(''))).toBeLessThanOrEqual(2_000)
  expect(clampResult(made, limits)).toBe(made)
  expect(wrapTool(() => given, limits)()).toEqual(made)
  // Without a notice nothing is said, and JSON text alone never carries one.
  expect(textsIn(clampResult(given, { ...limits, notice: false }))).toHaveLength(1)
  const alone = { content: [{ type: 'text', text: JSON.stringify(structuredContent) }] }
  expect(textsIn(clampResult(alone, limits)).map((text) => JSON.parse(text))).toHaveLength(1)
  // A history is sent without it.
  const [message] = clampMessages([{ role: 'toolResult', ...given }], { ...limits, notice: false }).messages
  expect(message?.content).toHaveLength(1)
})

test('the block names where all of the structured content was saved', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-shape-'))
  const spill = createSpillStore({ dir })
  const structuredContent = { rows: rows(500) }
  const limits = { json: 'keep-shape', sideData: { maxBytes: 400 }, spill } as const
  const run = (execute: () => Promise<object>) => wrapTool({ name: 'find', execute }, limits).execute()
  const saved = async (result: object) => {
    const [, path = ''] = /saved as (\S+),/.exec(textsIn(result).at(-1) ?? '') ?? []
    return readFileSync(path, 'utf8')
  }
  const made = await run(async () => ({ content: [], structuredContent }))
  expect(JSON.parse(await saved(made))).toEqual(structuredContent)
  // A text that repeats it is saved with it, once.
  const long = { rows: rows(900) }
  const text = JSON.stringify(long, null, 4)
  const before = (await spill.list()).length
  const twice = await run(async () => ({ content: [{ type: 'text', text }], structuredContent: long }))
  expect(await saved(twice)).toBe(text)
  expect((await spill.list()).length).toBe(before + 1)
  rmSync(dir, { recursive: true, force: true })
})

test('words replace structured content that cannot shrink within its schema', () => {
  const structuredContent = { rows: rows(500) }
  const schema = { required: ['rows'], properties: { rows: { minItems: 400 } } }
  const limits = { json: 'keep-shape', sideData: { maxBytes: 400 }, schema } as const
  const bytes = Buffer.byteLength(JSON.stringify(structuredContent))
  const made = clampResult({ content: [{ type: 'text', text: 'x' }], structuredContent }, limits)
  expect(made).toEqual({
    isError: true,
    content: [
      { type: 'text', text: 'x' },
      {
        type: 'text',
        text: `[structured content of ${bytes.toLocaleString('en-US')} bytes left out: less of it would not match its schema; ask for less, or for specific sections]`,
      },
    ],
  })
  expect(clampResult(made, limits)).toBe(made)
})

test('copies go before what is left is cut, in a tool as in a result', () => {
  const structuredContent = { rows: rows(300) }
  const given = { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
  for (const json of ['text', 'keep-shape'] as const) {
    const limits = { structured: 'text', sideData: { maxBytes: 400 }, json } as const
    const made = wrapTool(() => given, limits)()
    expect(made).toEqual(clampResult(given, limits))
    expect('structuredContent' in made).toBe(false)
  }
})

test('texts and what is said beside structured content share the limits', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          hostileText,
          json.map((value) => JSON.stringify(value)),
        ),
        { maxLength: 4 },
      ),
      json,
      fc.record({
        maxBytes: fc.integer({ min: 1, max: 4_000 }),
        maxLines: fc.integer({ min: 1, max: 40 }),
        sideData: fc.record({ maxBytes: fc.nat(500) }),
        notice: fc.constantFrom('hint', 'pi', false),
        schema: fc.constantFrom({}, { minItems: 4 }, { required: ['text'] }),
        structured: fc.constantFrom('both', 'text', 'structured'),
      }),
      (texts, structuredContent, options) => {
        const limits = { ...options, json: 'keep-shape' } as ResultPolicy
        const content = texts.map((text) => ({ type: 'text', text }))
        const made = clampResult({ content, structuredContent } as Record<string, unknown>, limits)
        expect(clampResult(made, limits)).toBe(made)
        expect(wrapTool(() => ({ content, structuredContent }), limits)()).toEqual(made)
        const all = textsIn(made)
        const bytes = all.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
        expect(bytes).toBeLessThanOrEqual(options.maxBytes)
        if (made['structuredContent'] !== undefined)
          expect(Buffer.byteLength(JSON.stringify(made['structuredContent']))).toBeLessThanOrEqual(
            options.sideData.maxBytes,
          )
      },
    ),
    { numRuns: 800 },
  )
})
