// biome-ignore-all lint/suspicious/noExplicitAny: results of several frameworks
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  clampMessages,
  clampResult,
  guardSession,
  type ResultPolicy,
  repairSession,
  wrapTool,
} from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'

const dir = mkdtempSync(join(tmpdir(), 'spillway-structured-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' }
const data = { rows: [1, 2.5, 'é"\n'], more: { none: null, yes: true } }
const text = (text: string) => ({ type: 'text', text })
const mcp = (structuredContent: unknown, ...content: object[]) => ({ content, structuredContent })

/** Results that carry the same twice, with the blocks that do not. */
const twice: [name: string, result: any, others: object[]][] = [
  ['JSON', mcp(data, text(JSON.stringify(data))), []],
  [
    'indented JSON in another order',
    mcp({ ...data, z: 1 }, text(JSON.stringify({ z: 1, ...data }, null, 2))),
    [],
  ],
  [
    'beside other blocks',
    mcp(data, text('3 rows'), text(JSON.stringify(data)), image),
    [text('3 rows'), image],
  ],
  ['twice over', mcp(data, text(JSON.stringify(data)), text(JSON.stringify(data))), []],
  ['a wrapped text', mcp({ result: 'it is {' }, text('it is {'), image), [image]],
  ['a wrapped number', mcp({ result: 100 }, text('1e2')), []],
  [
    'a wrapped list, an element each',
    mcp({ result: [data, 'b'] }, text(JSON.stringify(data)), text('b')),
    [],
  ],
  ['an error', { ...mcp(data, text(JSON.stringify(data))), isError: true, _meta: { a: 1 } }, []],
]

const once: [name: string, result: any][] = [
  ['another value', mcp(data, text(JSON.stringify({ ...data, rows: [1] })))],
  ['a text about it', mcp(data, text('3 rows'), image)],
  ['a list in another order', mcp({ result: ['a', 'b'] }, text('b'), text('a'))],
  ['no text', mcp(data, image)],
  ['no content', { structuredContent: data }],
  ['no structured content', { content: [text(JSON.stringify(data))] }],
  ['structured content without JSON', mcp(() => data, text(JSON.stringify(data)))],
  ['a resource', mcp(data, { type: 'resource', resource: { uri: 'a:b', text: JSON.stringify(data) } })],
]

describe("structured: 'both'", () => {
  it.each(
    [...twice, ...once].map(([name, result]) => [name, result] as const),
  )('is the default: %s', (_, result) => {
    expect(clampResult(result)).toBe(result)
    expect(clampResult(result, { structured: 'both' })).toBe(result)
  })
})

describe.each(['text', 'structured'] as const)('structured: %j', (structured) => {
  it.each(once)('leaves what is there once: %s', (_, result) => {
    expect(clampResult(result, { structured })).toBe(result)
  })
})

describe("structured: 'text'", () => {
  it.each(twice)('drops structured content: %s', (_, result) => {
    const { structuredContent, ...rest } = result
    const made = clampResult(result, { structured: 'text' })
    expect(made).toEqual(rest)
    expect('structuredContent' in made).toBe(false)
    expect(made.content).toBe(result.content)
    expect(clampResult(made, { structured: 'text' })).toBe(made)
  })

  it('cuts the text that stays', () => {
    const long = { rows: Array.from({ length: 9_000 }, (_, at) => `row ${at}`) }
    const made = clampResult(mcp(long, text(JSON.stringify(long))), { structured: 'text', maxChars: 500 })
    expect(JSON.stringify(made).length).toBeLessThan(700)
    expect((made.content[0] as any).text).toMatch(
      /,"\[\.\.\.\]":"\[tool output truncated: [\d,]+ of [\d,]+ chars omitted/,
    )
  })
})

describe("structured: 'structured'", () => {
  it.each(twice)('drops the texts: %s', (_, result, others) => {
    const made = clampResult(result, { structured: 'structured' })
    expect(made).toEqual({ ...result, content: others })
    expect(made.structuredContent).toBe(result.structuredContent)
    expect(clampResult(made, { structured: 'structured' })).toBe(made)
  })

  it('cuts the texts that stay', () => {
    const result = mcp(data, text(JSON.stringify(data)), text('a line\n'.repeat(9_000)))
    const { content, structuredContent } = clampResult(result, { structured: 'structured', maxChars: 300 })
    expect(structuredContent).toBe(data)
    expect(content).toHaveLength(1)
    expect((content[0] as any).text.length).toBeLessThanOrEqual(300)
  })

  it('says structured content in a text where side data is dropped', () => {
    const policy = { structured: 'structured', sideData: 'drop' } as const
    expect(clampResult(mcp(data, text(JSON.stringify(data, null, 2))), policy)).toEqual({
      content: [text(JSON.stringify(data))],
    })
  })
})

const message = {
  role: 'toolResult',
  toolCallId: 'c1',
  toolName: 'table',
  ...mcp(data, text(JSON.stringify(data))),
  isError: false,
}
const large = { rows: Array.from({ length: 400 }, (_, at) => `row ${at}`) }
const part = (value: unknown) => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: 'c2', toolName: 'table', output: { type: 'json', value } }],
})
const ui = (output: unknown) => ({
  role: 'assistant',
  parts: [{ type: 'tool-table', toolCallId: 'c3', state: 'output-available', input: {}, output }],
})
const history = [
  { role: 'user', content: 'how many rows?' },
  message,
  part(mcp(large, text(JSON.stringify(large)))),
  ui(mcp(large, text(JSON.stringify(large)), image)),
  part(mcp(data, text('3 rows'))),
]

describe('results within messages', () => {
  it('are sent once, and all others stay', () => {
    const { messages, clamped } = clampMessages(history, { structured: 'text' })
    const { structuredContent, ...rest } = message
    expect(messages).toEqual([
      history[0],
      rest,
      part({ content: [text(JSON.stringify(large))] }),
      ui({ content: [text(JSON.stringify(large)), image] }),
      history[4],
    ])
    expect(messages[4]).toBe(history[4])
    expect(clamped).toBe(3)
    expect(clampMessages(messages, { structured: 'text' }).messages).toBe(messages)
  })

  it('keep the text of a message of Pi, which sends nothing else', () => {
    const { messages, clamped } = clampMessages(history, { structured: 'structured' })
    expect(messages[1]).toBe(message)
    expect(messages[2]).toEqual(part(mcp(large)))
    expect(messages[3]).toEqual(ui(mcp(large, image)))
    expect(clamped).toBe(2)
  })

  it.each(['text', 'structured'] as const)('are the same in a stored session: %s', async (structured) => {
    const path = join(dir, `${structured}.jsonl`)
    const rows = [...history, ...twice.map(([, result]) => result), ...once.map(([, result]) => result)]
    const policy = { structured, notice: 'hint', sideData: 'whole', query: false } as const
    for (const limits of [{}, { maxChars: 60 }] satisfies ResultPolicy[]) {
      const written = rows.map((row) => JSON.stringify(row))
      writeFileSync(path, written.map((row) => `${row}\n`).join(''))
      const report = await repairSession(path, { ...policy, ...limits, backup: false })
      expect(report.changed).toBe(true)
      const stored = readFileSync(path, 'utf8').split('\n').slice(0, -1)
      for (const [at, row] of written.entries()) {
        const live = JSON.parse(row)
        expect(JSON.parse(stored[at] ?? '')).toEqual(clampResult(live, { ...policy, ...limits }))
      }
      const again = await repairSession(path, { ...policy, ...limits, backup: false })
      expect(again.changed).toBe(false)
    }
  })
})

it('finds a copy however its JSON is spelled, and no other value', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.jsonValue(),
      fc.nat(4),
      (value, other, indent) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse())
        const result = mcp(value, text(JSON.stringify(reversed, null, indent)))
        const made = clampResult(result, { structured: 'text' }) as object
        expect('structuredContent' in made).toBe(false)
        const apart = mcp({ value, other }, text(JSON.stringify({ other: [other], value })))
        expect(clampResult(apart, { structured: 'structured' })).toBe(apart)
      },
    ),
    { numRuns: 300 },
  )
})

it('takes a result that throws when it is read', () => {
  const { proxy, revoke } = Proxy.revocable([], {})
  revoke()
  const hostile = { content: proxy, structuredContent: data }
  const thrower = {
    ...mcp(data),
    get content(): never {
      throw new Error('no')
    },
  }
  for (const result of [hostile, thrower]) {
    const policy = { structured: 'text' } as const
    expect(clampResult(result, policy) === wrapTool(() => result, policy)()).toBe(true)
    expect(clampMessages([result], policy).messages[0]).toBe(result)
  }
})

it('is an option of every function that takes a policy of results', async () => {
  const result = mcp(data, text(JSON.stringify(data)))
  const client = { callTool: async () => result }
  const wrapped = wrapTool(client, { method: 'callTool', structured: 'text' })
  expect(await wrapped.callTool()).toEqual({ content: result.content })
  const stored: any[] = []
  const manager = { appendMessage: (message: object) => stored.push(message) }
  guardSession(manager, { structured: 'text' })
  manager.appendMessage(message)
  expect(stored).toEqual([{ ...message, structuredContent: undefined }])
  expect(() => clampResult(result, { structured: 'none' as any })).toThrow(
    "structured must be one of 'both', 'text', 'structured', got \"none\"",
  )
})
