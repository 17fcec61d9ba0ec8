import { readFileSync } from 'node:fs'
import {
  type ClampEvent,
  clampMessages,
  clampResult,
  type DialectName,
  measureText,
  type ResultPolicy,
  wrapTool,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import table from '../../src/dialects.json'
import { longForMost } from '../support/long.js'
import { type Sample, samples, valueAt } from '../support/samples.js'

const text = (length: number) => 'a line of output é\n'.repeat(Math.ceil(length / 20)).slice(0, length)
const NOTICE = /tool output truncated|chars omitted\]/

/** Everything in which a clamped value differs from what it was, as paths. */
function changes(before: unknown, after: unknown, path = ''): string[] {
  if (Object.is(before, after)) return []
  const both = [before, after]
  if (both.some((value) => typeof value !== 'object' || value === null)) return [path]
  const keys = (value: unknown) => Reflect.ownKeys(value as object).map(String)
  if (keys(before).join() !== keys(after).join()) return [path]
  expect(Object.getPrototypeOf(after)).toBe(Object.getPrototypeOf(before))
  const found = keys(before).flatMap((key) =>
    changes(valueAt(before, key), valueAt(after, key), path === '' ? key : `${path}.${key}`),
  )
  // A copy in which nothing changed has lost its reference for nothing.
  return found.length === 0 ? [`${path} (copied)`] : found
}

describe.each(
  samples.map((sample) => [`${sample.dialect}: ${sample.name}`, sample] as const),
)('%s', (_, sample: Sample) => {
  const { make, texts, json = [], side = [] } = sample

  it('of 100 bytes comes back as it is', () => {
    const small = make(text(100))
    expect(clampResult(small)).toBe(small)
    expect(clampResult(small, { sideData: 'cap' })).toBe(small)
  })

  it.each([60_000, 1_000_000])('of %i chars keeps every limit and all but its texts', {
    tags: longForMost(samples, sample),
  }, (length) => {
    const big = make(text(length))
    const before = structuredClone(big)
    const clamped = clampResult(big)
    expect(big).toEqual(before)
    const results = texts(clamped)
    expect(results).toHaveLength(texts(big).length)
    for (const result of results) {
      const sizes = result.map((text) => measureText(text))
      expect(sizes.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(51_200)
      expect(sizes.reduce((sum, { lines }) => sum + lines, 0)).toBeLessThanOrEqual(2_000)
      expect(result.join('')).toMatch(NOTICE)
      for (const text of result) expect(text.trim()).not.toBe('')
    }
    const slots = changes(big, clamped)
    for (const path of slots) {
      const isText = typeof valueAt(big, path) === 'string' && typeof valueAt(clamped, path) === 'string'
      expect(isText || json.some((own) => path === own || path.startsWith(`${own}.`)), path).toBe(true)
    }
    expect(slots.length).toBeGreaterThanOrEqual(results.length)
    for (const path of side) expect(valueAt(clamped, path)).toBe(valueAt(big, path))
    expect(clampResult(clamped)).toBe(clamped)
    expect(JSON.parse(JSON.stringify(clamped))).toBeTruthy()
    expect(clampResult(big, { dialect: sample.dialect })).toEqual(clamped)
  })

  it('reads a text that is an object as the text', { tags: longForMost(samples, sample) }, () => {
    class Line extends String {}
    for (const wrap of [(text: string) => new String(text), (text: string) => new Line(text)]) {
      const boxed = (text: string) => make(wrap(text) as unknown as string)
      // Some samples write the text into another.
      if (changes(make(text(9)), boxed(text(9))).length === 0) continue
      const small = boxed(text(100))
      expect(clampResult(small)).toBe(small)
      for (const policy of [{}, { redact: true }, { clean: true }])
        expect(JSON.stringify(clampResult(boxed(text(60_000)), policy))).toBe(
          JSON.stringify(clampResult(make(text(60_000)), policy)),
        )
    }
  })

  it('keeps every limit whatever is asked', () => {
    const policies: (ResultPolicy & { bytes: number; lines: number })[] = [
      { maxBytes: 200, bytes: 200, lines: 2_000 },
      { maxBytes: 40, bytes: 40, lines: 2_000 },
      { maxLines: 3, notice: false, bytes: 51_200, lines: 3 },
      { maxBytes: 5, share: 'order', bytes: 5, lines: 2_000 },
    ]
    for (const { bytes, lines, ...policy } of policies) {
      const clamped = clampResult(make(text(60_000)), policy)
      for (const result of texts(clamped)) {
        const sizes = result.map((text) => measureText(text))
        expect(sizes.reduce((sum, size) => sum + size.bytes, 0)).toBeLessThanOrEqual(bytes)
        expect(sizes.reduce((sum, size) => sum + size.lines, 0)).toBeLessThanOrEqual(lines)
        expect(result.length).toBeGreaterThan(0)
      }
      expect(clampResult(clamped, policy)).toBe(clamped)
    }
  })

  it('keeps, caps or drops what stands beside the text', { tags: longForMost(samples, sample) }, () => {
    const big = make(text(60_000))
    const capped = clampResult(big, { sideData: { maxBytes: 500 } })
    const dropped = clampResult(big, { sideData: 'drop' })
    for (const path of side) {
      const cut = valueAt(capped, path)
      expect(JSON.stringify(cut).length).toBeLessThanOrEqual(500)
      expect(cut.spillway.originalBytes).toBe(Buffer.byteLength(JSON.stringify(valueAt(big, path))))
      expect(valueAt(dropped, path)).toBe(undefined)
    }
    expect(clampResult(capped, { sideData: { maxBytes: 500 } })).toBe(capped)
    expect(texts(capped)).toEqual(texts(clampResult(big)))
    expect(texts(dropped)).toEqual(texts(capped))
  })

  it('tells an error by its tag, and what was cut', { tags: longForMost(samples, sample) }, async () => {
    // Every line brings a name, so that only a result that is not an error keeps lines for more
    // than its failures.
    const filler = Array.from({ length: 9_000 }, (_, at) => `filler_${at.toString(36)}\n`)
    const log = `first\n${filler.slice(0, 4_500).join('')}error: it broke here\n${filler.slice(4_500).join('')}last\n`
    const [first = []] = texts(clampResult(make(log)))
    const [found = []] = texts(clampResult(make(log), { keep: 'findings' }))
    // JSON is one long line, and a search keeps nothing from its middle.
    if (json.length === 0) {
      expect(first.join('')).toContain('it broke here')
      expect(first.join('') === found.join('')).toBe(sample.error ?? sample.saysFailed ?? false)
    }
    const events: ClampEvent[] = []
    const tool = wrapTool(
      { name: 'named', execute: async () => make(log) },
      { onClamp: (event) => events.push(event) },
    )
    await tool.execute()
    expect(events).toHaveLength(texts(make(log)).length)
    expect(events.map(({ callId }) => callId)).toEqual(sample.ids ?? [undefined])
    for (const { total, kept, phase, exceeded } of events) {
      expect(total.chars).toBeGreaterThanOrEqual(log.length)
      expect(kept.bytes).toBeLessThanOrEqual(51_200)
      expect(kept.chars).toBeGreaterThan(10_000)
      expect(phase).toBe('result')
      expect(exceeded).toContain('bytes')
    }
    expect(JSON.stringify(events)).not.toContain('filler')
  })
})

it('leaves alone what only looks like a tool result', () => {
  const big = text(60_000)
  const misses: object[] = [
    { content: big },
    { content: big, title: 'a page' },
    { text: big },
    { output: big },
    { result: big },
    { role: 'user', content: big },
    { role: 'user', content: [{ type: 'text', text: big }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: big },
        { type: 'tool-call', toolCallId: 'c', input: { big } },
      ],
    },
    { role: 'assistant', parts: [{ type: 'text', text: big }] },
    { role: 'system', content: big },
    { role: 'user', parts: [{ text: big }] },
    { role: 7, type: 'tool_result', content: big },
    { type: 'message', message: { role: 'toolResult', content: [{ type: 'text', text: big }] } },
    {
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', content: big }] },
      toolUseResult: big,
    },
    { type: 'tool', output: big },
    { type: 'tool_use', input: big },
    { type: 'tool-call', toolCallId: 'c', input: big },
    { type: 'toolkit', state: 'output-available', output: big },
    { type: 'function_call', arguments: big },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: big }] },
    { functionCall: { name: 'f', args: { big } } },
    { content: [{ type: 'chart', text: big }] },
    { content: [{ text: big }] },
    [big],
    [{ text: big }],
    [{ type: 'point', text: big }],
    new Map([['content', big]]),
  ]
  for (const miss of misses) {
    const label = JSON.stringify(miss).slice(0, 80)
    // It is a message or a row, or plain data, which is never cut in place.
    expect([miss, wrapTool(() => miss)()], label).toContainEqual(clampResult(miss))
    expect(clampMessages([miss]).messages[0], label).toBe(miss)
  }
  const named: [DialectName, object][] = [
    ['mcp', { content: big }],
    ['openai-chat', { content: big }],
    ['gemini', { name: 'f', response: { output: big } }],
    ['openai-responses', { output: big }],
  ]
  for (const [dialect, value] of named)
    expect(JSON.stringify(clampResult(value, { dialect }))).toMatch(NOTICE)
  expect(clampMessages([{ content: big }], { dialect: 'text' }).clamped).toBe(0)
})

it('hands the cache mark of a block that goes to one that stays', () => {
  const cache_control = { type: 'ephemeral' }
  const blocks = ['one', 'two', 'three'].map((word) => ({
    type: 'text',
    text: word.repeat(9_000),
    cache_control: undefined as unknown,
  }))
  ;(blocks[2] as { cache_control: unknown }).cache_control = cache_control
  const result = { type: 'tool_result', tool_use_id: 'c', content: blocks }
  const { content } = clampResult(result, { maxBytes: 10, share: 'order' })
  expect(content).toHaveLength(1)
  expect(content[0]?.cache_control).toBe(cache_control)
  expect(blocks[0]?.cache_control).toBe(undefined)
})

it('finds the heirs of all cache marks in one pass', () => {
  const reads = (blocks: number) => {
    let count = 0
    const block = { type: 'text', text: 'x'.repeat(30), cache_control: { type: 'ephemeral' } }
    const content = new Proxy(Array(blocks).fill(block), {
      get(list, key, proxy) {
        count += 1
        return Reflect.get(list, key, proxy)
      },
    })
    clampMessages([{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content }] }], {
      maxChars: 30,
    })
    return count
  }
  expect(reads(800)).toBeLessThan(9 * reads(100))
})

it('drops a nested block with the block that held it, and keeps a result that is left', () => {
  const result = {
    type: 'tool_result',
    tool_use_id: 'c',
    content: [
      { type: 'text', text: 'first '.repeat(2_000) },
      {
        type: 'search_result',
        source: 's',
        title: 't',
        content: [{ type: 'text', text: 'second '.repeat(2_000) }],
      },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'third '.repeat(2_000) } },
    ],
  }
  const { content } = clampResult(result, { maxBytes: 6, share: 'order', notice: false })
  expect(content).toEqual([{ type: 'text', text: 'first ' }])
})

it.each([
  ['an object of strings', { stdout: text(60_000), stderr: text(70_000), exit_code: 1 }, 45_000],
  ['an object of more', { lines: text(60_000).split('\n') }, 45_000],
  ['a string', text(60_000), 45_000],
  ['escapes', { stdout: '\0'.repeat(60_000) }, 45_000],
])('keeps JSON in a string JSON: %s', (_, data, least) => {
  const item = { type: 'local_shell_call_output', id: 'c', output: JSON.stringify(data) }
  const { output } = clampResult(item)
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(51_200)
  expect(output.length).toBeGreaterThan(least)
  const left = JSON.parse(output)
  expect(JSON.stringify(left)).toMatch(NOTICE)
  if (typeof data === 'object' && 'exit_code' in data) expect(left.exit_code).toBe(1)
  for (const maxBytes of [0, 5, 60])
    expect(clampResult(item, { maxBytes }).output.length).toBeLessThanOrEqual(maxBytes)
})

it('repairs lone surrogates inside JSON that fits', () => {
  const shell = { type: 'local_shell_call_output', id: 'c', output: '{"stdout":"\\ud800"}' }
  expect(clampResult(shell)).toBe(shell)
  const message = {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'c',
        toolName: 't',
        output: { type: 'json', value: { a: ['\ud800x', '\\ud800', '\\\ud800'], '\udc00': 1 } },
      },
    ],
  }
  expect(clampResult(message).content[0]?.output).toEqual({
    type: 'json',
    value: { a: ['\ufffdx', '\\ud800', '\\\ufffd'], '\ufffd': 1 },
  })
})

describe('a class that keeps its fields twice, as LangChain messages do', () => {
  class ToolMessage {
    readonly type = 'tool'
    lc_kwargs: Record<string, unknown>
    content: unknown
    tool_call_id: string
    artifact: unknown
    constructor(fields: { content: unknown; tool_call_id: string; artifact?: unknown }) {
      this.lc_kwargs = fields
      this.content = fields.content
      this.tool_call_id = fields.tool_call_id
      this.artifact = fields.artifact
    }
    toJSON() {
      return {
        lc: 1,
        type: 'constructor',
        id: ['langchain_core', 'messages', 'ToolMessage'],
        kwargs: this.lc_kwargs,
      }
    }
  }

  it.each([
    ['a string', (big: string) => big],
    ['blocks', (big: string) => [{ type: 'text', text: big }]],
  ])('keeps class and methods, and lets go of both copies of %s', (_, content) => {
    const big = text(5_000_000)
    const message = new ToolMessage({ content: content(big), tool_call_id: 'c', artifact: { raw: big } })
    const clamped = clampResult(message, { sideData: 'cap' })
    expect(clamped).toBeInstanceOf(ToolMessage)
    expect(clamped.lc_kwargs['content']).toBe(clamped.content)
    expect(clamped.lc_kwargs['artifact']).toBe(clamped.artifact)
    expect(JSON.stringify(clamped).length).toBeLessThan(70_000)
    expect(message.lc_kwargs['content']).toEqual(content(big))
  })
})

it('has a name in index.d.ts and a sample for every row of the table', () => {
  const names = new Set(table.map(({ name }) => name))
  const [, declared = ''] =
    /type DialectName =([^\n]*\n[^;]*?)\n\n/.exec(readFileSync('index.d.ts', 'utf8')) ?? []
  expect(new Set(declared.match(/[a-z][a-z-]*/g))).toEqual(new Set(['text', ...names]))
  expect(new Set(samples.map(({ dialect }) => dialect))).toEqual(names)
})
