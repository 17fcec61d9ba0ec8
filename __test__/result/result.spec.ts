import * as fc from 'fast-check'
import { type Cut, clampMessages, clampResult, estimateTokens, wrapTool } from 'spillway'
import { describe, expect, it } from 'vitest'
import { hostileText, naive, policies } from '../support/hostile.js'

const text = (text: string) => ({ type: 'text', text })
const image = () => ({ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' })
const texts = (result: { content: unknown[] }) =>
  result.content.flatMap((block) => (block as { type: string; text?: string }).text ?? [])

const PI = (big: string) => ({
  role: 'toolResult',
  toolCallId: 'call-1',
  toolName: 'bash',
  content: [text(big), image()],
  details: { truncation: { content: 'short' } },
  isError: false,
  timestamp: 1,
})

const MCP = (big: string) => ({
  content: [
    { ...text(big), annotations: { audience: ['assistant'] }, _meta: { k: 1 } },
    { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text: big } },
    image(),
    { type: 'resource_link', uri: 'file:///b', name: 'b' },
  ],
  structuredContent: { rows: [1] },
  isError: false,
  _meta: { k: 1 },
})

describe.each([
  ['a Pi message', PI, 1],
  ['a Pi result', (big: string) => ({ content: [text(big), image()], details: {} }), 1],
  ['a Pi message with string content', (big: string) => ({ ...PI(big), content: big }), 1],
  ['an MCP result', MCP, 2],
] as [string, (big: string) => Record<string, unknown>, number][])('%s', (_, make, slots) => {
  const slotsOf = (value: unknown): string[] => {
    const all: string[] = []
    const walk = (value: unknown, key: string): void => {
      if (typeof value === 'string') {
        if (key === 'text' || key === 'content') all.push(value)
      } else if (value && typeof value === 'object') {
        for (const [key, member] of Object.entries(value)) if (key !== 'details') walk(member, key)
      }
    }
    walk(value, '')
    return all
  }

  it('that fits comes back as it is', () => {
    const result = make('x'.repeat(100))
    expect(clampResult(result)).toBe(result)
  })

  it.each([60_000, 5_000_000])('of %i chars is clamped, and nothing else changes', (length) => {
    const result = make(`${'line of output é\n'.repeat(length / 17)}`)
    const before = structuredClone(result)
    const clamped = clampResult(result)
    expect(result).toEqual(before)
    const out = slotsOf(clamped)
    expect(out.length).toBe(slots)
    expect(out.reduce((sum, text) => sum + naive(text).bytes, 0)).toBeLessThanOrEqual(51_200)
    expect(out.reduce((sum, text) => sum + naive(text).lines, 0)).toBeLessThanOrEqual(2_000)
    expect(out.at(-1)).toContain('[tool output truncated: ')
    const blank = (value: unknown) =>
      JSON.stringify(value, (key, member) =>
        ['text', 'content'].includes(key) && typeof member === 'string' ? '' : member,
      )
    expect(blank(clamped)).toBe(blank(result))
    for (const key of Object.keys(result)) if (key !== 'content') expect(clamped[key]).toBe(result[key])
    expect(clampResult(clamped)).toBe(clamped)
  })
})

describe('clampResult', () => {
  it('bounds plain data as a wrapped tool does', { tags: 'long' }, () => {
    const big = 'x'.repeat(60_000)
    const rows = Array.from({ length: 9_000 }, (_, id) => ({ id, name: `row ${id}` }))
    const data = [
      { stdout: big },
      { content: big },
      { content: big, title: 'my document' },
      { content: [{ text: big }] },
      { content: [big] },
      { role: 'admin', rows },
      { message: big },
      big.split(''),
      [{ type: 'point', text: big }],
      { functionCall: { name: 'f', args: { big } } },
      rows,
      Buffer.alloc(60_000),
      new (class Page {
        readonly body = big
      })(),
      { small: 'a \ud800 b' },
      { small: true },
      [],
    ]
    for (const value of data) {
      for (const policy of [{}, { json: 'keep-shape' }, { keep: 'head', redact: true }] as const) {
        const clamped = clampResult<unknown>(value, policy)
        expect(clamped).toEqual(wrapTool(() => value as unknown, policy)())
        expect(
          Buffer.byteLength(typeof clamped === 'string' ? clamped : JSON.stringify(clamped)),
        ).toBeLessThanOrEqual(51_200)
        expect(clampResult(clamped, policy)).toBe(clamped)
      }
      const small = JSON.stringify(value).length < 99 && !JSON.stringify(value).includes('\\ud800')
      if (small) expect(clampResult(value)).toBe(value)
      const history = [value, { role: 'user', content: big }]
      if (!Array.isArray(value)) expect(clampMessages(history).messages).toBe(history)
    }
    const secret = { stdout: 'GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789', code: 1 }
    expect(clampResult(secret, { redact: true }).stdout).toContain('[redacted: ')
  })

  it('clamps strings, and leaves messages without a result and rows of sessions alone', () => {
    expect(clampResult('x'.repeat(60_000))).toHaveLength(51_200)
    const big = 'x'.repeat(60_000)
    const strangers = [
      undefined,
      null,
      5,
      { role: 'user', content: [text(big)] },
      { role: 'system', content: big },
      { role: 'assistant', content: [text(big)], type: 'message' },
      { type: 'human', content: big },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: big },
      { type: 'message', id: 'a1', parentId: null, message: PI(big) },
      { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', content: big }] } },
      () => big,
    ]
    for (const stranger of strangers) expect(clampResult(stranger)).toBe(stranger)
    expect(clampResult({ content: big }, { dialect: 'pi' }).content).toHaveLength(51_200)
  })

  it('keeps images and unknown blocks by reference, in order, and cuts what is large of these', () => {
    const blocks = [image(), text('y'.repeat(90_000)), { type: 'chart', text: 'z'.repeat(900) }, image()]
    const { content } = clampResult({ content: blocks })
    expect(content[0]).toBe(blocks[0])
    expect(content[2]).toBe(blocks[2])
    expect(content[3]).toBe(blocks[3])
    expect(content[1]).not.toBe(blocks[1])
    const chart = { type: 'chart', text: 'z'.repeat(90_000), at: 5 }
    const large = clampResult({ content: [...blocks, chart] }).content
    expect(large).toHaveLength(5)
    expect(large[4]).toMatchObject({
      type: 'chart',
      at: 5,
      text: expect.stringMatching(/^z+\[\+\d+ chars\]$/),
    })
    expect(JSON.stringify(large).length).toBeLessThan(52_500)
  })

  it('cuts bytes and what writes its own JSON as a whole, in the place of a block or of content', () => {
    class Chart {
      readonly #points = Array(20_000).fill('a point')
      toJSON() {
        return { points: this.#points }
      }
    }
    const small = text('small')
    for (const written of [Buffer.alloc(90_000), new Float64Array(20_000), new Chart()]) {
      const before = JSON.stringify(written)
      const inList = clampResult({ role: 'tool', tool_call_id: 'c', content: [small, written] })
      expect(JSON.stringify(inList).length).toBeLessThan(52_500)
      expect(inList.content[0]).toBe(small)
      const alone = clampResult({ role: 'tool', tool_call_id: 'c', content: written })
      expect(JSON.stringify(alone).length).toBeLessThan(52_500)
      expect(JSON.stringify(written)).toBe(before)
    }
  })

  it('a class keeps what it is when its text is cut, but for what it hides', () => {
    class Message {
      readonly role = 'tool'
      readonly tool_call_id = 'c'
      readonly #hidden = 'secret'
      constructor(readonly content: string) {}
      get hidden() {
        return this.#hidden
      }
      reveal() {
        return this.#hidden
      }
      words() {
        return this.content.length
      }
    }
    const message = new Message('x'.repeat(90_000))
    const cut = clampResult(message)
    expect(cut).toBeInstanceOf(Message)
    expect(cut.words()).toBeLessThanOrEqual(51_200)
    // The value of an accessor comes along; a method finds no private field in a copy.
    expect(cut.hidden).toBe('secret')
    expect(() => cut.reveal()).toThrow(TypeError)
    expect(message.content).toHaveLength(90_000)
  })

  it('knows an error result', () => {
    const filler = Array.from({ length: 9_000 }, (_, at) => `filler_${at.toString(36)}\n`).join('')
    const errors = filler.slice(0, 40_000).replaceAll('filler_', 'error: no such file as ')
    const out = `${filler}${errors}${filler}`
    const kept = (isError: boolean) =>
      clampResult({ content: [text(out)], isError }).content[0]?.text.split('no such file').length ?? 0
    expect(kept(true)).toBeGreaterThan(kept(false) * 1.5)
  })

  it('keeps classes, odd prototypes, symbols and accessors', () => {
    class Result {
      readonly content
      constructor(
        readonly id: string,
        big: string,
      ) {
        this.content = [text(big)]
      }
      get first() {
        return this.content[0]?.text
      }
    }
    const made = clampResult(new Result('7', 'x'.repeat(60_000)))
    expect(made).toBeInstanceOf(Result)
    expect(made.id).toBe('7')
    expect(made.first).toHaveLength(51_200)

    const mark = Symbol('mark')
    const bare = Object.assign(Object.create(null), { content: [text('x'.repeat(60_000))], [mark]: 1 })
    Object.defineProperty(bare, 'lazy', { get: () => expect.unreachable(), enumerable: true })
    Object.defineProperty(bare, '__proto__', { value: { polluted: true }, enumerable: true })
    const copy = clampResult(bare)
    expect(Object.getPrototypeOf(copy)).toBe(null)
    expect(copy[mark]).toBe(1)
    expect(copy.content[0].text).toHaveLength(51_200)
    expect(Object.getOwnPropertyDescriptor(copy, '__proto__')?.value).toEqual({ polluted: true })
  })

  it('copies what is frozen and survives what throws', () => {
    const frozen = Object.freeze({ content: Object.freeze([Object.freeze(text('x'.repeat(60_000)))]) })
    expect(clampResult(frozen).content[0]?.text).toHaveLength(51_200)
    const throwing = {
      content: [text('x'.repeat(60_000))],
      get details(): never {
        throw new Error('not now')
      },
    }
    expect(clampResult(throwing).content[0]?.text).toHaveLength(51_200)
    const { proxy, revoke } = Proxy.revocable({ content: [] }, {})
    revoke()
    expect(() => clampResult(proxy)).not.toThrow()
    const cyclic: Record<string, unknown> = { content: [text('x'.repeat(60_000))] }
    cyclic['details'] = cyclic
    expect(clampResult(cyclic)['details']).toBe(cyclic)
  })

  it('keeps what an array is besides its elements', () => {
    class List extends Array<object> {
      constructor(...blocks: object[]) {
        super()
        this.push(...blocks)
      }
    }
    const list = Object.assign(new List(image(), text('x'.repeat(60_000))), { total: 2 })
    const { content } = clampResult({ content: list })
    expect(content).toBeInstanceOf(List)
    expect(content.total).toBe(2)
    expect(content[1]).toMatchObject({ type: 'text', text: expect.stringContaining('tool output truncated') })
    const sparse: object[] = Object.assign(new Array(5), { 0: image(), 2: text('x'.repeat(60_000)) })
    const holed = clampResult({ content: sparse })
    expect(holed.content).toHaveLength(5)
    expect(1 in holed.content).toBe(false)
  })

  it('reads the tags of a block once', () => {
    let reads = 0
    const block = {
      get type() {
        reads += 1
        return 'text'
      },
      text: 'x'.repeat(60_000),
    }
    expect(clampResult({ content: [block] }).content[0]?.text).toHaveLength(51_200)
    expect(reads).toBe(1)
  })

  it('reads a property once', () => {
    let reads = 0
    const result = {
      get content() {
        reads += 1
        return [text(reads === 1 ? 'x'.repeat(60_000) : 'y'.repeat(90_000))]
      },
    }
    expect(clampResult(result, { keep: 'head' }).content[0]?.text).toMatch(/^x{51091}\n/)
    expect(reads).toBe(1)
  })
})

describe('share', () => {
  it('gives 100 blocks of 3,000 chars a fair part of 40,000', () => {
    const blocks = Array.from({ length: 100 }, (_, at) => text(String(at % 10).repeat(3_000)))
    const { content } = clampResult({ content: blocks }, { maxChars: 40_000, keep: 'head' })
    expect(content.reduce((sum, block) => sum + block.text.length, 0)).toBeLessThanOrEqual(40_000)
    expect(content).toHaveLength(100)
    for (const [at, block] of content.entries()) {
      expect(block.text.startsWith(String(at % 10).repeat(200))).toBe(true)
      expect(block.text).toContain(at < 99 ? ' chars omitted]' : '[tool output truncated: ')
    }
  })

  it('keeps small blocks whole', () => {
    const blocks = [text('a'.repeat(90_000)), text('exit code 1'), text('b'.repeat(90_000))]
    const { content } = clampResult({ content: blocks }, { keep: 'head' })
    expect(content[1]).toBe(blocks[1])
    expect(Math.abs((content[0]?.text.length ?? 0) - (content[2]?.text.length ?? 0))).toBeLessThan(5)
  })

  it('serves first come, first served, and tells of what is gone', () => {
    const blocks = [text('a'.repeat(30_000)), text('b'.repeat(30_000)), text('c'.repeat(30_000))]
    const { content } = clampResult({ content: blocks }, { share: 'order', keep: 'head' })
    expect(content).toHaveLength(2)
    expect(content[0]).toBe(blocks[0])
    const kept = content[1]?.text.replace(/[^b]|by/g, '').length ?? 0
    expect(content[1]?.text).toMatch(/omitted \(limit/)
    expect(content[1]?.text).toContain(
      `${(60_000 - (content[1]?.text.match(/^b+/)?.[0].length ?? kept)).toLocaleString('en-US')} of 60,000 chars omitted`,
    )
  })

  it('lets each block have the limits to itself', () => {
    const { content } = clampResult(
      { content: [text('a'.repeat(60_000)), text('b'.repeat(50_000))] },
      { share: 'each' },
    )
    expect(content.map((block) => block.text.length)).toEqual([51_200, 50_000])
  })

  it('leaves one block when there is room for none', () => {
    const blocks = [text('abc'), image(), text('def')]
    expect(clampResult({ content: blocks }, { maxBytes: 0 }).content).toEqual([image(), text('')])
    expect(texts(clampResult({ content: blocks }, { maxLines: 1 }))).toEqual(['def'])
  })

  it('tells a function the lines of a block that is too long to be read whole', () => {
    const long = 'line\n'.repeat(200_000)
    const told: string[] = []
    const notice = (cut: {
      omittedLines: number
      totalLines: number
      keptLines: string
      totalBytes: number
    }) => {
      told.push(`${cut.keptLines} of ${cut.totalLines}, ${cut.totalBytes} bytes, ${cut.omittedLines} gone`)
      return told.at(-1) ?? ''
    }
    const template = '{keptLines} of {totalLines}, {totalBytes} bytes, {omittedLines} gone'
    for (const keep of ['head', 'tail', 'ends'] as const) {
      const content = [text('small'), text(long)]
      const worded = clampResult({ content }, { keep, notice })
      expect(worded.content[1]?.text).toContain(' of 200000, 1000000 bytes, ')
      expect(worded).toEqual(clampResult({ content }, { keep, notice: template }))
    }
  })

  it('counts from the original when a result is cut again', () => {
    for (const keep of ['head', 'tail', 'ends'] as const) {
      const once = clampResult(
        { content: [text('q'.repeat(200_000)), text('small')] },
        { keep, maxChars: 40_000 },
      )
      const twice = clampResult(once, { keep, maxChars: 20_000 })
      expect(twice.content[0]?.text).toContain(' of 200,000 chars omitted')
    }
  })

  it('keeps nothing where lines may hold nothing', () => {
    const blocks = [text('a\nb\n'), text('c\nd\n')]
    expect(clampResult({ content: blocks }, { maxLineBytes: 0 }).content).toEqual([text('')])
    expect(clampResult({ content: [blocks[0]] }, { maxLineBytes: 0 }).content).toEqual([text('')])
  })

  it('asks a function for the notice of the last cut block', () => {
    const told: number[] = []
    const notice = (cut: { omittedChars: number; totalChars: number }) => {
      told.push(cut.totalChars)
      return `<${cut.omittedChars} of ${cut.totalChars}>`
    }
    const blocks = [text('a'.repeat(70_000)), text('b'.repeat(80_000)), text('small')]
    const { content } = clampResult({ content: blocks }, { notice, keep: 'head' })
    const kept = content[1]?.text.match(/^b+/)?.[0].length ?? 0
    expect(content[1]?.text).toBe(`${'b'.repeat(kept)}\n\n<${80_000 - kept} of 80000>`)
    expect(content[0]?.text).toMatch(/^a+\[\.\.\. \d+ chars omitted\]$/)
    expect(told.every((total) => total === 80_000)).toBe(true)
    expect(told.length).toBeLessThanOrEqual(3)
  })

  it('gives a function the figures of a template: omitted blocks count, and all blocks exceed limits', () => {
    const content = ['a'.repeat(60), 'b\n'.repeat(50), 'c\n'.repeat(250)].map(text)
    const policy = { maxChars: 150, share: 'order', keep: 'head' } as const
    const template = '<{omittedChars} of {totalChars}, {omittedLines} of {totalLines}>'
    const exceeded: unknown[] = []
    const worded = clampResult(
      { content },
      {
        ...policy,
        notice: (cut) => {
          exceeded.push(cut.exceeded)
          return `<${cut.omittedChars} of ${cut.totalChars}, ${cut.omittedLines} of ${cut.totalLines}>`
        },
      },
    )
    expect(worded).toEqual(clampResult({ content }, { ...policy, notice: template }))
    expect(worded.content[1]?.text).toContain(' of 600, ')
    expect(exceeded[0]).toEqual(['chars'])
  })

  it('holds every limit over hostile blocks, for every way to share', () => {
    const blocks = fc.array(hostileText, { minLength: 1, maxLength: 7 })
    const share = fc.constantFrom<'fair' | 'order' | 'each'>('fair', 'order', 'each')
    fc.assert(
      fc.property(blocks, policies, share, (all, policy, share) => {
        const before = { content: all.map(text), isError: false }
        const after = clampResult(before, { ...policy, share })
        expect(before.content.map((block) => block.text)).toEqual(all)
        const out = texts(after)
        expect(out.length).toBeGreaterThan(0)
        const sum = (of: (text: string) => number) =>
          share === 'each' ? Math.max(...out.map(of)) : out.reduce((sum, text) => sum + of(text), 0)
        expect(sum((text) => naive(text).bytes)).toBeLessThanOrEqual(policy.maxBytes ?? 51_200)
        expect(sum((text) => naive(text).lines)).toBeLessThanOrEqual(policy.maxLines ?? 2_000)
        expect(sum((text) => text.length)).toBeLessThanOrEqual(policy.maxChars ?? Number.POSITIVE_INFINITY)
        expect(sum(estimateTokens)).toBeLessThanOrEqual(policy.maxTokens ?? Number.POSITIVE_INFINITY)
        for (const text of out) {
          expect(text.isWellFormed()).toBe(true)
          expect(naive(text).longest).toBeLessThanOrEqual(policy.maxLineBytes ?? Number.POSITIVE_INFINITY)
          // A block that is left shows something, unless it is the only one or never did.
          if (out.length > 1 && !all.includes(text)) expect(text.trim()).not.toBe('')
        }
        expect(clampResult(after, { ...policy, share })).toBe(after)
      }),
      { numRuns: 2_000 },
    )
  })

  it('tells a worded notice of the block that was cut, not of one whose lines were', () => {
    const content = ['short line\n'.repeat(500), 'y'.repeat(300)].map((text) => ({ type: 'text', text }))
    const bounds = { maxLineBytes: 120, maxBytes: 1_000, keep: 'head' } as const
    const template = '<{omittedChars}/{totalChars} {omittedLines}/{totalLines} {keptLines}>'
    const notice = (cut: Cut) =>
      `<${cut.omittedChars}/${cut.totalChars} ${cut.omittedLines}/${cut.totalLines} ${cut.keptLines}>`
    expect(clampResult({ content }, { ...bounds, notice })).toEqual(
      clampResult({ content }, { ...bounds, notice: template }),
    )
    const words = () => expect.unreachable()
    const whole = clampResult(
      { content: content.slice(1).concat({ type: 'text', text: 'a' }) },
      { ...bounds, notice: words },
    )
    expect(whole.content[0]?.text).toMatch(/^y+\[\+\d+ chars\]$/)
  })

  it('keeps a text that shows where a line of it fits', () => {
    const content = [{ type: 'text', text: 'some line\nmore\n\n' }]
    for (const keep of ['tail', 'ends', 'findings'] as const)
      expect(clampResult({ content }, { maxLines: 1, keep, notice: false }).content[0]?.text.trim()).not.toBe(
        '',
      )
  })
})

it.each([null, false, ''])('a response of Gemini with the error %j is not a failure', {
  tags: 'long',
}, (error) => {
  const filler = Array.from({ length: 9_000 }, (_, at) => `filler_${at.toString(36)}\n`).join('')
  const errors = filler.slice(0, 40_000).replaceAll('filler_', 'error: no such file as ')
  const log = `${filler}${errors}${filler}`
  const found = (response: object) => JSON.stringify(response).split('no such file').length
  const responseTo = (response: object) =>
    clampResult({ functionResponse: { id: '1', name: 'f', response } }, { keep: 'auto' }).functionResponse
      .response
  const whole = responseTo({ data: log, error, status: 200 })
  expect(whole).toMatchObject({ error, status: 200 })
  const failed = responseTo({ output: log, error: 'it failed' })
  expect(found(failed)).toBeGreaterThan(found(responseTo({ output: log, error })) * 1.5)
  const failure = responseTo({ data: log, error: { code: 5 } })
  expect(failure).toMatchObject({ error: { code: 5 }, data: expect.stringContaining('no such file') })
})
