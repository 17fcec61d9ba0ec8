import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { place, start, write } from '../support/cli.js'
import { until } from '../support/wait.js'

/** A server that answers each call with the line that the call asks for. BIG in it is a long
 *  text. */
const SERVER = `
const big = JSON.stringify('line of text here\\n'.repeat(900)).slice(1, -1)
const huge = Buffer.alloc(1 << 20, 'x')
const say = (text) => process.stdout.write(text + '\\n')
const tools = [
  { name: 'plain', inputSchema: { maximum: 'MAX' } },
  { name: 'table', outputSchema: { type: 'object', required: ['rows'], properties: { rows: { minItems: 1 } } } },
  { name: 'sealed', outputSchema: { not: { not: {} } } },
  { name: 'nothing', outputSchema: null },
]
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const page = params?.cursor ? tools.slice(1) : tools.slice(0, 1)
  const result = { tools: page, ...(!params?.cursor && { nextCursor: 'next' }) }
  if (method === 'tools/list') say(JSON.stringify({ jsonrpc: '2.0', id, result }).replace('"MAX"', '18446744073709551615'))
  else if (method === 'ping') say(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
  else if (params?.huge) {
    process.stdout.write(params.huge)
    for (let at = 0; at < 70; at++) process.stdout.write(huge)
    say(params.end)
  } else for (const raw of [params?.arguments?.raw ?? params?.raw ?? []].flat()) say(raw.replaceAll('BIG', big))
})
`
const server = write('answers.js', SERVER)
const LIMIT = 4_096
/** Bytes that may stand beside what the limits count. */
const LITTLE = 1_024
const BIG = 'line of text here\n'.repeat(900)

/** The proxy in front of the server. */
class Session {
  readonly #child
  readonly #lines: string[] = []
  #stderr = ''
  #asked = 0

  constructor(...flags: readonly string[]) {
    const all = ['mcp', '--max-bytes', String(LIMIT), ...flags, '--', process.execPath, server]
    this.#child = start(all)
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) =>
      this.#lines.push(line),
    )
    this.#child.stderr?.on('data', (data) => {
      this.#stderr += data
    })
  }

  get stderr(): string {
    return this.#stderr
  }

  send(...messages: readonly (object | string)[]): void {
    for (const message of messages)
      this.#child.stdin?.write(
        typeof message === 'string' ? `${message}\n` : `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`,
      )
  }

  /** Sends messages, and returns the lines that came back until all are dealt with. */
  async ask(...messages: readonly (object | string)[]): Promise<string[]> {
    this.send(...messages)
    const id = `end ${this.#asked++}`
    this.send({ id, method: 'ping' })
    await until(() => this.#lines.some((line) => line.includes(`"${id}"`)))
    const at = this.#lines.findIndex((line) => line.includes(`"${id}"`))
    return this.#lines.splice(0, at + 1).slice(0, -1)
  }

  async end(): Promise<number | null> {
    this.#child.stdin?.end()
    const [code] = await once(this.#child, 'close')
    return code as number | null
  }
}

/** Returns the lines that `spillway stats` reads. */
function figures() {
  const file = join(place, 'state/spillway/stats.jsonl')
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : []
}

const sessions: Session[] = []
function open(...flags: readonly string[]): Session {
  const session = new Session(...flags)
  sessions.push(session)
  return session
}
afterAll(() => Promise.all(sessions.map((session) => session.end())))

const call = (id: unknown, raw: string | string[], name = 'plain') => ({
  id,
  method: 'tools/call',
  params: { name, arguments: { raw } },
})
const lists = [
  { id: 'l1', method: 'tools/list' },
  { id: 'l2', method: 'tools/list', params: { cursor: 'next' } },
]
const answer = (result: string, id = '2') => `{"jsonrpc":"2.0","id":${id},"result":${result}}`
const TEXT = '{"content":[{"type":"text","text":"BIG"}]}'
const deep = (levels: number, inner = '') => '['.repeat(levels) + inner + ']'.repeat(levels)

/** Returns the bytes of JSON whose strings count as what they say. */
function weigh(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2
  if (typeof value !== 'object' || value === null) return String(value).length
  const parts = Array.isArray(value) ? value.map(weigh) : Object.entries(value).flat().map(weigh)
  return parts.reduce((sum, part) => sum + part + 1, 2)
}

/** Checks that the shown part of an answer, and all of it, are within the limits. */
function expectBounded(line: string): void {
  const all: unknown[] = [JSON.parse(line)].flat()
  for (const message of all)
    expect(weigh(message), line.slice(0, 200)).toBeLessThanOrEqual(LIMIT + LITTLE + 256)
}

describe('answers', () => {
  const session = open()

  it.each([
    ['an id as text', answer(TEXT, '"2"')],
    ['an id as text with blanks', answer(TEXT, '" 2 "')],
    ['an id with a fraction', answer(TEXT, '2.0')],
    ['an id of another call', answer(TEXT, '77')],
    ['an id of no type', answer(TEXT, '{"a":1}')],
    ['no id', `{"jsonrpc":"2.0","result":${TEXT}}`],
    ['a method of null', `{"jsonrpc":"2.0","id":2,"method":null,"result":${TEXT}}`],
    ['a method', `{"jsonrpc":"2.0","id":2,"method":"ping","result":${TEXT}}`],
    ['a name in capitals', `{"jsonrpc":"2.0","id":2,"Result":${TEXT}}`],
    ['a mark of byte order', `\ufeff${answer(TEXT)}`],
    ['blanks before a batch', `${' '.repeat(99)}[${answer(TEXT)},5]`],
    ['a result twice', `{"id":2,"result":${TEXT},"result":${TEXT}}`],
    ['an error and a result', `{"id":2,"error":{"code":1,"message":"BIG"},"result":${TEXT}}`],
    ['an error of null', `{"id":2,"error":null,"result":${TEXT}}`],
    ['a long error', '{"jsonrpc":"2.0","id":2,"error":{"code":7,"message":"BIG","data":{"rows":["BIG"]}}}'],
    ['an error that is a text', '{"jsonrpc":"2.0","id":2,"error":"BIG"}'],
    ['a result that is a text', answer('"BIG"')],
    ['a result that is a list', answer('["BIG"]')],
    ['a result that is a list of blocks', answer('[{"type":"text","text":"BIG"}]')],
    ['a long _meta', answer('{"content":[],"_meta":{"a":"BIG","b":1}}')],
    ['a long _meta of a block', answer('{"content":[{"type":"text","text":"a","_meta":{"a":"BIG"}}]}')],
    ['a long address', answer('{"content":[{"type":"resource","resource":{"uri":"BIG","text":"a"}}]}')],
    ['many empty texts', answer(`{"content":[${Array(900).fill('{"type":"text","text":""}')}]}`)],
    ['data of no dialect', answer('{"toolResult":"BIG"}')],
    ['members beside the result', `{"id":2,"extra":"BIG","result":{"content":[]}}`],
    [
      'structured content of an unlisted tool',
      answer('{"content":[],"structuredContent":{"a":["BIG","BIG"]}}'),
    ],
    ['content as an object', answer('{"content":{"type":"text","text":"BIG"}}')],
    ['a text nested deep', answer(`{"content":[{"type":"text","text":"BIG"}],"_meta":${deep(6_000)}}`)],
    ['a result nested deep', answer(`{"content":[],"structuredContent":{"a":${deep(20_000)}}}`)],
    ['an error nested deep', `{"id":2,"error":{"code":1,"message":"a","data":${deep(9_000)}}}`],
  ])('with %s are bounded', async (_, raw) => {
    const lines = await session.ask(call(2, raw))
    expect(lines).toHaveLength(1)
    for (const line of lines) expectBounded(line)
  })

  it.each([
    [
      'NaN',
      '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"BIG"}],"_meta":{"id":4,"x":NaN}}}',
      [2],
    ],
    ['a torn end', '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"BIG', [2]],
    ['a line of another reader', `log\r${answer(TEXT)}`, [2]],
    ['a batch', `[${answer(TEXT)},${answer(TEXT, '3')},NaN]`, [2, 3]],
    ['no id', '{"result":{"text":"BIG","x":NaN}}', [2, 3]],
  ])('that cannot be read for %s are replaced by an error of their calls', async (_, raw, ids) => {
    const lines = await session.ask(call(3, []), call(2, raw))
    const errors = lines.map((line) => JSON.parse(line))
    expect(errors.map(({ id }) => id).sort()).toEqual(ids)
    for (const { error } of errors) expect(error.message).toMatch(/^a message of \d+ bytes that is not JSON/)
    session.send({ method: 'notifications/cancelled', params: { requestId: 3 } })
  })

  const integer = '1234567890'.repeat(40)
  const longs = (number: string) => `[${Array.from({ length: 30 }, () => number)}]`
  it.each([
    ['integers in structured content', `{"content":[],"structuredContent":{"rows":${longs(integer)}}}`],
    ['integers beyond a double', `{"content":[],"structuredContent":${longs(integer.repeat(9))}}`],
    ['floats in metadata', `{"content":[],"_meta":${longs(`0.${integer}`)}}`],
    ['exponents in a block', `{"content":[{"type":"odd","x":${longs(`1e-${integer}`)}}]}`],
    ['a list as the result', longs(integer)],
    [
      'content twice',
      `{"content":[{"type":"text","text":"BIG"}],"content":[{"type":"text","text":"small"}]}`,
    ],
    ['a text twice', `{"content":[{"type":"text","text":"BIG","\\u0074ext":"small"}]}`],
  ])('have no %s that other readers take for more', async (_, result) => {
    const [line = ''] = await session.ask(call(2, answer(result)))
    expect(line.length).toBeLessThan(LIMIT + LITTLE)
    expectBounded(line)
  })

  it('that name a result twice are sent with the last', async () => {
    const raw = `{"jsonrpc":"2.0","id":2,"result":${TEXT},"result":{"content":[]},"error":null}`
    expect(await session.ask(call(2, raw))).toEqual([
      '{"jsonrpc":"2.0","id":2,"result":{"content":[]},"error":null}',
    ])
  })

  it('keep the spelling of other numbers, whatever is cut', async () => {
    const result = `{"content":[{"type":"text","text":"BIG"}],"_meta":{"id":18446744073709551615,"x":1.50}}`
    const [line] = await session.ask(call(2, answer(result)))
    expect(line).toContain('"_meta":{"id":18446744073709551615,"x":1.50}')
  })

  it.each([
    '\u00a0',
    '\u3000',
    '\ufeff\u2003',
    '\x1f',
    '\x85',
  ])('are read behind blanks of any kind: %j', async (blank) => {
    const [line = ''] = await session.ask(call(2, `${blank}${answer(TEXT)}${blank}`))
    expectBounded(line)
  })

  it('behind a comment are dropped', async () => {
    const [line = ''] = await session.ask(call(2, `\u00a0/*c*/ ${answer(TEXT)}`))
    expect(JSON.parse(line)).toMatchObject({ id: 2, error: { message: expect.stringContaining('not JSON') } })
  })

  it('get one error for an id, however often a line has it', async () => {
    const lines = await session.ask(call(2, '{"id":2}'.repeat(5_000)))
    expect(lines.map((line) => JSON.parse(line).id)).toEqual([2])
  })

  it('in too many messages are dropped, with one error for each call that is open', async () => {
    for (const raw of ['{"id":2}'.repeat(20_000), `[${'{"id":2},'.repeat(20_000)}{}]`])
      expect((await session.ask(call(2, raw))).map((line) => JSON.parse(line).id)).toEqual([2])
    expect(session.stderr).toContain('a batch of more than 10000 messages')
  })

  it('of very many parts become a text', async () => {
    const [line = ''] = await session.ask(call(2, answer(`{"content":[${'{},'.repeat(120_000)}{}]}`)))
    expect(JSON.parse(line).result.content).toEqual([
      { type: 'text', text: expect.stringContaining('{},{},') },
    ])
    expectBounded(line)
  })

  it('that cannot be read pass if they fit, match no call, or are not messages', async () => {
    const raw = ['{"id":2,"result":{"x":NaN}}', 'BIG {"id":2}', '{"id":"r","result":{"text":"BIG","x":NaN}}']
    const lines = await session.ask({ id: 'r', method: 'completion/complete' }, call(2, raw))
    expect(lines).toEqual(raw.map((line) => line.replaceAll('BIG', JSON.stringify(BIG).slice(1, -1))))
  })

  it('to other requests pass, and so do requests of the server of any size', async () => {
    const raw = [answer(TEXT, '"r"'), '{"id":2,"method":"sampling/createMessage","params":{"text":"BIG"}}']
    const lines = await session.ask({ id: 'r', method: 'completion/complete' }, call(2, raw))
    expect(lines).toEqual(raw.map((line) => line.replaceAll('BIG', JSON.stringify(BIG).slice(1, -1))))
    expectBounded((await session.ask(call(5, answer(TEXT))))[0] as string)
  })

  it('are not mistaken for a request of over 64 MiB with the same id', { tags: 'long' }, async () => {
    const asked = {
      id: 2,
      method: 'tools/call',
      params: { name: 'plain', huge: '{"method":"x","params":"', end: '"' },
    }
    const request = { ...asked, params: { ...asked.params, end: '","jsonrpc":"2.0","id":2}' } }
    expect(await session.ask(request)).toEqual([])
    const [dropped] = await session.ask({
      ...asked,
      params: { ...asked.params, huge: '{"result":"', end: '","id":2}' },
    })
    expect(JSON.parse(dropped as string)).toMatchObject({
      id: 2,
      error: { message: expect.stringMatching(/^a message of 734\d+ bytes is over/) },
    })
    expect(session.stderr).toContain('was dropped')
  })

  it('of tasks are bounded as those of their calls', async () => {
    const task = answer('{"task":{"taskId":"t1","status":"working"}}', '6')
    const raw = answer(TEXT, '7')
    const [made, lines] = await session.ask(call(6, task), {
      id: 7,
      method: 'tasks/result',
      params: { taskId: 't1', raw },
    })
    expect(JSON.parse(made as string).result.task.taskId).toBe('t1')
    expectBounded(lines as string)
  })

  it('with structured content fit beside their texts, in words if less of it would not match', async () => {
    const rows = JSON.stringify({ rows: Array.from({ length: 900 }, (_, row) => ({ row })) })
    const twin = `{"content":[{"type":"text","text":${JSON.stringify(rows)}}],"structuredContent":${rows}}`
    await session.ask(...lists)
    const [table, nothing, sealed] = (
      await session.ask(
        call(1, answer(twin, '1'), 'table'),
        call(2, answer(twin), 'nothing'),
        call(3, answer(twin, '3'), 'sealed'),
      )
    ).map((line) => JSON.parse(line).result)
    for (const { content, structuredContent } of [table, nothing]) {
      const texts = content.map(({ text }: { text: string }) => text).join('')
      expect(structuredContent.rows.length).toBeGreaterThan(40)
      expect(Buffer.byteLength(texts + JSON.stringify(structuredContent))).toBeLessThanOrEqual(LIMIT)
    }
    expect(sealed).toMatchObject({ isError: true })
    expect(sealed.structuredContent).toBeUndefined()
    expect(sealed.content.at(-1).text).toMatch(
      /^\[structured content of [\d,]+ bytes left out: less of it would not match/,
    )
  })

  it('with structured content keep as many lines as without', async () => {
    const few = open('--max-lines', '9')
    const raw = answer(
      `{"content":[{"type":"text","text":${JSON.stringify('a\n'.repeat(9))}}],"structuredContent":{}}`,
    )
    expect(await few.ask(call(2, raw))).toEqual([raw])
  })

  it.each(['both', 'text', 'structured'])('save copies once, and count one (%s)', {
    tags: 'long',
  }, async (structured) => {
    const dir = join(place, `copies ${structured}`)
    mkdirSync(dir)
    const rows = { rows: Array.from({ length: 900 }, (_, row) => ({ row })) }
    const text = JSON.stringify(JSON.stringify(rows, null, 4))
    const saving = open('--dir', dir, '--structured', structured)
    const before = figures().length
    const raw = answer(
      `{"content":[{"type":"text","text":${text}}],"structuredContent":${JSON.stringify(rows)}}`,
    )
    const [line] = await saving.ask(call(2, raw))
    const ids = [...(line as string).matchAll(/saved as ([0-9a-f]{16})/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(1)
    expect(readdirSync(dir).filter((name) => name.includes(ids[0] as string))).toHaveLength(1)
    const [counted, ...others] = figures().slice(before)
    expect([counted.shown, counted.cut, others]).toEqual([JSON.stringify(rows, null, 4).length, true, []])
    expect(counted.sent).toBeLessThanOrEqual(LIMIT)
  })

  it('keep numbers that JavaScript rounds', async () => {
    const saving = open('--dir', place)
    const [page] = await saving.ask({ id: 1, method: 'tools/list' })
    expect(page).toContain('18446744073709551615')
    const [, last] = [0, (await saving.ask({ id: 2, method: 'tools/list', params: { cursor: 'next' } }))[0]]
    expect(last).toContain('read_output')
    const big = '1764106385123456789'
    const raw = `[${answer('{"content":[{"type":"text","text":"BIG"}],"structuredContent":{"n":9007199254740993}}', big)},{"method":"x","n":9007199254740993e0}]`
    const asked = JSON.stringify({ jsonrpc: '2.0', ...call('ID', raw) }).replace('"ID"', big)
    const [batch] = await saving.ask(asked)
    expect(batch).toContain(`"id":${big},`)
    expect(batch).toContain('"structuredContent":{"n":9007199254740993}')
    expect(batch).toContain('{"method":"x","n":9007199254740993e0}')
    const read = { id: 'ID', method: 'tools/call', params: { name: 'read_output', arguments: { id: '0' } } }
    const [page2] = await saving.ask(JSON.stringify(read).replace('"ID"', big))
    expect(page2).toContain(`"id":${big},`)
  })

  it('keep the schemas of later pages while a list is read again', async () => {
    const [first, second] = lists as [object, object]
    const rows = answer(`{"content":[],"structuredContent":{"rows":[${Array(9_000).fill(1)}]}}`)
    await session.ask(first, second, first)
    const [line] = await session.ask(call(2, rows, 'sealed'))
    expect(JSON.parse(line as string).result.isError).toBe(true)
  })

  it('are bounded where the store returns no record, and say so, and the session goes on', async () => {
    const none = 'async () => { throw new Error("none") }'
    const record = '({ complete: true, get id() { throw new Error("no id") } })'
    const store = write(
      'broken.mjs',
      `export default { save: async () => ${record}, read: ${none}, search: ${none}, list: ${none}, sweep: ${none} }`,
    )
    const broken = open('--store', store)
    const raw = answer(`{"content":[],"structuredContent":{"rows":[${Array(9_000).fill(1)}]}}`)
    const [line] = await broken.ask(call(2, raw))
    const { content, structuredContent } = JSON.parse(line as string).result
    expect(structuredContent.rows.length).toBeGreaterThan(90)
    expect(content.at(-1).text).toContain('the rest could not be saved (ERR_SPILLWAY_SPILL)')
    expect(await broken.ask(call(3, answer('{"content":[]}', '3')))).toEqual([answer('{"content":[]}', '3')])
  })

  it('never end a session in silence: arguments may be nested as deep as JSON can be', async () => {
    const asked = JSON.stringify(call(2, answer(TEXT))).replace('"raw"', `"deep":${deep(20_000)},"raw"`)
    expectBounded((await session.ask(asked))[0] as string)
  })

  /** An answer with parts that clients and proxies may read in different ways. */
  const parts = (...all: string[]) => fc.constantFrom(...all)
  const block = fc.oneof(
    parts(
      '{"type":"text","text":"BIG"}',
      '{"type":"text","text":"a"}',
      '{"type":"TEXT","text":"BIG"}',
      '{"type":"resource_link","uri":"BIG","name":"BIG"}',
      '{"type":"resource","resource":{"uri":"a","text":"BIG"}}',
      '"BIG"',
      'null',
      '[[["BIG"]]]',
      '{"type":"text","text":{"a":"BIG"}}',
      '{"type":"text","text":"a","annotations":{"x":"BIG"}}',
    ),
  )
  const result = fc.oneof(
    fc
      .tuple(
        fc.array(block, { maxLength: 4 }),
        parts('', ',"isError":true', ',"_meta":{"x":"BIG"}', ',"task":{"taskId":"BIG"}', ',"other":["BIG"]'),
        parts('', ',"structuredContent":{"a":"BIG","b":[1,2,"BIG"]}', ',"structuredContent":"BIG"'),
      )
      .map(([blocks, more, structured]) => `{"content":[${blocks}]${more}${structured}}`),
    parts('"BIG"', '["BIG"]', 'null', '5', '{}', '{"content":"BIG"}', deep(700, '"BIG"')),
  )
  const members = fc.array(
    fc.oneof(
      parts('"id":2', '"id":"2"', '"id":" 2"', '"id":2.0', '"id":20e-1', '"id":null', '"id":99', '"id":"x"'),
      parts('"jsonrpc":"2.0"', '"jsonrpc":"1.0"', '"method":null', '"method":5', '"extra":"BIG"', '"n":NaN'),
      result.map((made) => `"result":${made}`),
      parts(
        '"error":{"code":1,"message":"BIG"}',
        '"error":"BIG"',
        '"error":null',
        '"error":{"data":["BIG"]}',
      ),
    ),
    { minLength: 1, maxLength: 5 },
  )
  const damage = fc.tuple(
    fc.nat(),
    parts('', '', '', '', '\r', ',', '"', '{', ']', 'NaN', '\ufeff', '\u2028', ' '),
  )

  it('hold the limits, whatever ids, methods, types and nesting they have', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(members, damage), { minLength: 1, maxLength: 3 }),
        parts('one', 'batch', 'lines'),
        async (messages, how) => {
          const made = messages.map(([inner, [at, char]]) => {
            const raw = `{${inner.join()}}`
            return raw.slice(0, at % raw.length) + char + raw.slice(at % raw.length)
          })
          const raw = how === 'batch' ? [`[${made}]`] : how === 'one' ? made.slice(0, 1) : made
          for (const line of await session.ask(call(2, raw))) {
            // No reader takes a line for a message that begins with something else.
            if (/^[\s\ufeff]*[[{]/.test(line) || line.includes('\r') || line.includes('\u2028'))
              for (const message of read(line)) {
                expect(shown(message), line.slice(0, 300)).toBeLessThanOrEqual(LIMIT + LITTLE)
                // Text that no host shows has limits of its own.
                expect(weigh(message), line.slice(0, 300)).toBeLessThanOrEqual(2 * (LIMIT + LITTLE))
              }
          }
          session.send({ method: 'notifications/cancelled', params: { requestId: 2 } })
        },
      ),
      { numRuns: 1_000 },
    )
  })
})

/** Returns the bytes of a message that a host may show: of an error all, of a result its texts and
 *  structured content. */
function shown(message: unknown): number {
  const { result, error } = message as { result?: unknown; error?: unknown }
  const { content = [], structuredContent = 0 } = (result ?? {}) as {
    content?: unknown
    structuredContent?: unknown
  }
  const blocks = Array.isArray(content) ? content : [content]
  const texts = blocks.map((block) => block?.text ?? block?.resource?.text ?? block)
  return (
    weigh(error ?? 0) + weigh(structuredContent) + texts.reduce((sum: number, text) => sum + weigh(text), 0)
  )
}

/** Reads a line as the most lenient client would. */
function read(line: string): unknown[] {
  const all = line.split(/[\r\u2028]/).flatMap((row) => {
    try {
      return [JSON.parse(row.replace(/^\ufeff/, '').replaceAll('NaN', 'null'))].flat()
    } catch {
      return []
    }
  })
  return all.filter((message) => typeof message?.method !== 'string')
}
