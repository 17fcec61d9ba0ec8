import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { createSpillStore, measureText } from 'spillway'
import { wrapServer } from 'spillway/mcp'
import { afterAll, describe, expect, it } from 'vitest'

type Members = Record<string, unknown>
type Receive = (message: Members, extra?: unknown) => void

const dir = mkdtempSync(join(tmpdir(), 'spillway-mcp-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const LIMIT = 4_096
/** Bytes that may stand beside the texts of an answer. */
const LITTLE = 1_024
const BIG = `${'compiled one more file\n'.repeat(20_000)}src/cart.ts:7 - error: no such name\n${'compiled one more file\n'.repeat(20_000)}`

/** One end of a connection, which hands over messages in later turns, as SDKs do. */
class Line {
  static count = 0
  readonly #other: () => Line
  readonly #id = ++Line.count
  onmessage?: Receive
  onclose?: () => void
  sessionId = `session ${this.#id}`

  constructor(other: () => Line) {
    this.#other = other
  }

  static pair(): [Line, Line] {
    const pair: [Line, Line] = [new Line(() => pair[1]), new Line(() => pair[0])]
    return pair
  }

  async start(): Promise<void> {}

  async send(message: Members, extra?: unknown): Promise<void> {
    const other = this.#other()
    setImmediate(() => other.onmessage?.(structuredClone(message), extra))
  }

  async close(): Promise<void> {
    this.onclose?.()
    this.#other().onclose?.()
  }
}

type Handle = (params: Members, extra: unknown, server: Server) => Members | Promise<Members>

/** A server as SDKs write them: it keeps the transport, and chains a handler that is there. */
class Server {
  transport?: Line
  readonly methods: Record<string, Handle>

  constructor(methods: Record<string, Handle>) {
    this.methods = methods
  }

  async connect(transport: Line): Promise<void> {
    this.transport = transport
    const before = transport.onmessage
    transport.onmessage = (message, extra) => {
      before?.(message, extra)
      const handle = this.methods[message['method'] as string]
      if (message['id'] !== undefined) void this.#answer(message, handle, extra)
    }
    await transport.start()
  }

  async #answer({ id, params = {} }: Members, handle: Handle | undefined, extra: unknown): Promise<void> {
    const fail = (code: number, message: string) => ({ error: { code, message } })
    const outcome = handle
      ? await (async () => handle(params as Members, extra, this))().then(
          (result) => ({ result }),
          (error) => fail(-32_000, error.message),
        )
      : fail(-32_601, 'Method not found')
    await this.transport?.send({ jsonrpc: '2.0', id, ...outcome }, { relatedRequestId: id })
  }
}

/** A connected client. */
class Client {
  readonly got: Members[] = []
  #next = 0
  readonly #line: Line
  readonly #waiting = new Map<unknown, (message: Members) => void>()

  constructor(line: Line) {
    this.#line = line
    line.onmessage = (message) => {
      this.got.push(message)
      this.#waiting.get(message['id'])?.(message)
    }
  }

  ask(method: string, params: Members = {}): Promise<Members> {
    const id = ++this.#next
    const answer = new Promise<Members>((resolve) => this.#waiting.set(id, resolve))
    void this.#line.send({ jsonrpc: '2.0', id, method, params })
    return answer
  }

  async result(method: string, params?: Members): Promise<Members> {
    return (await this.ask(method, params))['result'] as Members
  }

  call(name: string, args: Members = {}): Promise<Members> {
    return this.result('tools/call', { name, arguments: args })
  }
}

const text = (text: string) => ({ content: [{ type: 'text', text }] })
const textOf = ({ content }: Members) => (content as { text: string }[]).map(({ text }) => text).join('\n')

async function connected(
  methods: Record<string, Handle>,
  policy: Parameters<typeof wrapServer>[1] = { maxBytes: LIMIT },
) {
  const [here, there] = Line.pair()
  const server = new Server({ 'tools/list': () => ({ tools: [{ name: 'build' }] }), ...methods })
  expect(wrapServer(server as never, policy)).toBe(server)
  const client = new Client(there)
  await server.connect(here)
  return { client, server, here, there }
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

describe('wrapServer', () => {
  it('bounds results, errors and thrown errors, and keeps the line that tells', async () => {
    const { client } = await connected({
      'tools/call': ({ name }) => {
        if (name === 'throws') throw new Error(BIG)
        return { ...text(BIG), ...(name === 'fails' && { isError: true }) }
      },
    })
    for (const name of ['build', 'fails']) {
      const result = await client.call(name)
      expect(textOf(result)).toContain('error: no such name')
      expect(bytesOf(result)).toBeLessThanOrEqual(LIMIT + LITTLE)
    }
    const { error } = await client.ask('tools/call', { name: 'throws' })
    expect(error).toEqual({ code: -32_000, message: expect.stringContaining('error: no such name') })
    expect(bytesOf(error)).toBeLessThanOrEqual(LIMIT + LITTLE)
  })

  it('bounds resources and prompts in their own forms', async () => {
    const link = { type: 'resource_link', uri: 'log://all', name: 'log' }
    const { client } = await connected({
      'resources/read': () => ({
        contents: [
          { uri: 'log://a', mimeType: 'text/x-log', text: BIG },
          { uri: 'log://b', text: 'short' },
        ],
        ttlMs: 5,
      }),
      'prompts/get': () => ({
        description: 'Explains',
        messages: [
          { role: 'user', content: { type: 'text', text: 'Explain:' } },
          { role: 'assistant', content: { type: 'text', text: BIG } },
          { role: 'user', content: link },
        ],
      }),
    })
    const resource = await client.result('resources/read', { uri: 'log://a' })
    expect(resource).toEqual({
      contents: [
        {
          uri: 'log://a',
          mimeType: 'text/x-log',
          text: expect.stringMatching(/error: no such name[\s\S]*omitted/),
        },
        { uri: 'log://b', text: 'short' },
      ],
      ttlMs: 5,
    })
    expect(bytesOf(resource)).toBeLessThanOrEqual(LIMIT + LITTLE)
    const prompt = await client.result('prompts/get', { name: 'explain' })
    expect(prompt).toEqual({
      description: 'Explains',
      messages: [
        { role: 'user', content: { type: 'text', text: 'Explain:' } },
        {
          role: 'assistant',
          content: { type: 'text', text: expect.stringContaining('error: no such name') },
        },
        { role: 'user', content: link },
      ],
    })
    expect(bytesOf(prompt)).toBeLessThanOrEqual(LIMIT + LITTLE)
  })

  it('passes what fits as it is', async () => {
    const answers: Record<string, Members> = {
      'resources/read': { contents: [{ uri: 'a', blob: 'AAAA' }], _meta: { a: 1 } },
      'prompts/get': { messages: [{ role: 'user', content: { type: 'text', text: '' } }] },
      'tools/call': { content: [], structuredContent: { n: 1 }, isError: false },
      'completion/complete': { completion: { values: ['a'.repeat(LIMIT * 2)] } },
    }
    const { client } = await connected(
      Object.fromEntries(Object.entries(answers).map(([method, result]) => [method, () => result])),
    )
    for (const [method, result] of Object.entries(answers))
      expect(await client.result(method, { name: 'build' })).toEqual(result)
  })

  it('bounds the words of progress, and leaves other notifications', async () => {
    const { client } = await connected({
      'tools/call': async (_, __, { transport }) => {
        const tell = (method: string, params: Members) => transport?.send({ jsonrpc: '2.0', method, params })
        await tell('notifications/progress', { progressToken: 1, progress: 1, message: BIG })
        await tell('notifications/message', { level: 'info', data: BIG })
        return text('done')
      },
    })
    await client.call('build')
    const [progress, log, answer] = client.got
    const { message, ...others } = progress?.['params'] as { message: string }
    expect(others).toEqual({ progressToken: 1, progress: 1 })
    expect(measureText(message).bytes).toBeLessThanOrEqual(LIMIT)
    expect(log?.['params']).toEqual({ level: 'info', data: BIG })
    expect(answer?.['result']).toEqual(text('done'))
  })

  it('lists read_output, and answers it, also for a client that never lists the tools', async () => {
    const spill = createSpillStore({ dir, reference: 'id' })
    const { client } = await connected({ 'tools/call': () => text(BIG) }, { maxBytes: LIMIT, spill })
    const id = /saved as ([0-9a-f]{16})/.exec(textOf(await client.call('build')))?.[1]
    expect(textOf(await client.call('read_output', { id, pattern: 'error' }))).toContain(
      'error: no such name',
    )
    const { tools } = await client.result('tools/list')
    expect(tools).toMatchObject([{ name: 'build' }, { name: 'read_output', inputSchema: { type: 'object' } }])

    const { client: later } = await connected({ 'tools/call': () => text('never') }, { spill })
    expect(textOf(await later.call('read_output', { id, pattern: 'error' }))).toContain('error: no such name')
  })

  it('offers read_output alone for a server that has registered no tool', async () => {
    const spill = createSpillStore({ dir, reference: 'id' })
    const { id = '' } = (await spill.save('one line\n', { tool: 'build' })) as { id?: string }
    const none = { 'tools/list': undefined as never }
    const { client } = await connected(none, { spill })
    expect((await client.result('tools/list'))['tools']).toMatchObject([{ name: 'read_output' }])
    expect(textOf(await client.call('read_output', { id }))).toContain('1: one line')
    const { client: later } = await connected(none, { spill })
    expect(textOf(await later.call('read_output', { id }))).toContain('1: one line')
    const { client: without } = await connected(none)
    expect(await without.ask('tools/list')).toMatchObject({ error: { code: -32_601 } })
  })

  it('leaves a tool of the server that is called read_output, which may stand on a later page', async () => {
    const spill = createSpillStore({ dir, reference: 'id' })
    const pages: Handle = ({ cursor }) =>
      cursor ? { tools: [{ name: 'read_output' }] } : { tools: [{ name: 'build' }], nextCursor: 'more' }
    const { client } = await connected(
      { 'tools/list': pages, 'tools/call': ({ name }) => text(name === 'build' ? BIG : 'mine') },
      { maxBytes: LIMIT, spill },
    )
    expect(await client.call('read_output')).toEqual(text('mine'))
    const id = /saved as ([0-9a-f]{16})/.exec(textOf(await client.call('build')))?.[1]
    expect(textOf(await client.call('read_output_2', { id }))).toContain('compiled one more file')
  })

  it('asks a server without tools once, and passes its refusals', async () => {
    let lists = 0
    const { client } = await connected({
      'tools/list': () => {
        lists += 1
        throw new Error('no tools')
      },
    })
    for (let nth = 1; nth <= 3; nth++)
      expect(await client.ask('tools/call', { name: 'x' })).toMatchObject({ error: { code: -32_601 } })
    expect(lists).toBe(1)
  })

  it('keeps the shape that the schema of a tool asks for', async () => {
    const outputSchema = {
      type: 'object',
      required: ['rows'],
      properties: { rows: { type: 'array', items: { type: 'string' }, minItems: 1 } },
    }
    const rows = BIG.split('\n')
    const { client } = await connected({
      'tools/list': () => ({ tools: [{ name: 'table', outputSchema }] }),
      'tools/call': () => ({ structuredContent: { rows }, ...text(JSON.stringify({ rows })) }),
    })
    const { structuredContent } = await client.call('table')
    const { rows: left } = structuredContent as { rows: string[] }
    expect(left.length).toBeGreaterThan(0)
    for (const row of left) expect(typeof row).toBe('string')
    expect(bytesOf(structuredContent)).toBeLessThanOrEqual(LIMIT)
  })

  it('keeps the order of messages, what transports say of them, and private members', async () => {
    const said: unknown[] = []
    const { client, server, here } = await connected({
      'tools/call': ({ arguments: args }, extra) => {
        said.push(extra)
        return text((args as { long?: boolean }).long ? BIG : 'short')
      },
    })
    expect(server.transport?.sessionId).toBe(here.sessionId)
    expect(server.transport).toBeInstanceOf(Line)
    await client.result('tools/list')
    await Promise.all([client.call('build', { long: true }), client.call('build'), client.call('build')])
    expect(client.got.map(({ id }) => id)).toEqual([1, 2, 3, 4])
    let isClosed = false
    if (server.transport) server.transport.onclose = () => (isClosed = true)
    await server.transport?.close()
    expect(isClosed).toBe(true)
    expect(said).toEqual([undefined, undefined, undefined])
  })

  it('chains a handler that a transport has before it is connected', async () => {
    const [here, there] = Line.pair()
    const seen: unknown[] = []
    here.onmessage = ({ method }) => seen.push(method)
    const server = wrapServer(new Server({ ping: () => ({}) }) as never) as Server
    await server.connect(here)
    const client = new Client(there)
    expect(await client.result('ping')).toEqual({})
    expect(seen).toEqual(['ping'])
  })

  it('rejects wrong options, and what is not a server', () => {
    const server = new Server({}) as never
    expect(() => wrapServer({} as never)).toThrow(expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }))
    expect(() => wrapServer(server, { maxBytes: -1 })).toThrow(/maxBytes/)
    expect(() => wrapServer(server, { maxByte: 1 } as never)).toThrow(/maxByte/)
  })

  it('bounds whatever a server answers', async () => {
    let answer: unknown
    const handle = () => answer as Members
    const { client } = await connected({
      'tools/call': handle,
      'resources/read': handle,
      'prompts/get': handle,
    })
    const block = fc.oneof(
      fc.record({ type: fc.constant('text'), text: fc.constantFrom('', 'short', BIG) }),
      fc.record({
        type: fc.constant('resource'),
        resource: fc.record({ uri: fc.string(), text: fc.constant(BIG) }),
      }),
      fc.jsonValue(),
    )
    const part = fc.oneof(
      fc.record({ uri: fc.constantFrom('a', BIG), text: fc.constantFrom('short', BIG) }),
      fc.record({ role: fc.constant('user'), content: block }),
      fc.jsonValue(),
    )
    const results = fc.oneof(
      fc.record({ content: fc.array(block, { maxLength: 4 }) }),
      fc.record({ contents: fc.array(part, { maxLength: 4 }) }),
      fc.record({ messages: fc.array(part, { maxLength: 4 }) }),
      fc.record({ contents: fc.constant(BIG) }),
      fc.jsonValue(),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('tools/call', 'resources/read', 'prompts/get'),
        results,
        async (method, result) => {
          answer = result
          const sent = await client.ask(method, { name: 'build' })
          // Names and addresses may stand beside the texts, within the limits once more.
          expect(bytesOf(sent)).toBeLessThanOrEqual(2 * (LIMIT + LITTLE) + LITTLE)
        },
      ),
      { numRuns: 300 },
    )
  })
})
