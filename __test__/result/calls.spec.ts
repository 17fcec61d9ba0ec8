// biome-ignore-all lint/suspicious/noExplicitAny: tools take anything
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type ClampEvent, clampResult, definePolicy, wrapTool, wrapTools } from 'spillway'
import { describe, expect, it } from 'vitest'
import { turns } from '../support/wait.js'

const BIG = 'a line of output\n'.repeat(300_000)
const NOTICE = /tool output truncated/

const sizeOf = (value: unknown) => JSON.stringify(value).length
const row = (at: number) => ({ at, text: 'a field of a row' })
const rows = Array.from({ length: 40_000 }, (_, at) => row(at))

describe('a tool with its own toModelOutput', () => {
  const tool = {
    description: 'lists rows',
    execute: async (_input: object, _options: { toolCallId: string }) => ({ rows }),
    toModelOutput: ({ output }: { output: { rows: object[] } }): { type: string; value: unknown } => ({
      type: 'json',
      value: output.rows,
    }),
  }

  it("keeps its raw result and has the model's copy clamped", async () => {
    const wrapped = wrapTool(tool)
    const output = await wrapped.execute({}, { toolCallId: 'c1' })
    expect(output.rows).toBe(rows)
    const seen = wrapped.toModelOutput({ output })
    expect(seen).toMatchObject({
      type: 'json',
      value: expect.arrayContaining([expect.stringMatching(NOTICE)]),
    })
    expect(sizeOf(seen.value)).toBeLessThanOrEqual(51_200)
    expect(tool.toModelOutput({ output }).value).toBe(rows)
    expect(sizeOf(wrapTool(wrapped, { maxChars: 100 }).toModelOutput({ output }).value)).toBeLessThanOrEqual(
      100,
    )
    const asText = wrapTool(wrapped, { maxChars: 100, json: 'text' }).toModelOutput({ output })
    expect(asText).toMatchObject({ type: 'text', value: expect.stringMatching(/^\[\{"at".+\]$/s) })
  })

  it('is wrapped once under one policy, waits for a promise, and clamps what is thrown', async () => {
    const wrapped = wrapTool(tool)
    expect(wrapTool(wrapped)).toBe(wrapped)
    const later = wrapTool({
      execute: async () => {
        throw new Error(BIG)
      },
      toModelOutput: async () => ({ type: 'content', value: [{ type: 'text', text: BIG }] }),
    })
    await expect(later.execute()).rejects.toSatisfy((error: Error) => error.message.length <= 51_200)
    const { value } = await later.toModelOutput()
    expect(value[0]?.text.length).toBeLessThanOrEqual(51_200)
  })

  it('keeps what it yields raw, and a method that is not a function', async () => {
    const steps = wrapTool({
      async *execute() {
        yield { rows }
      },
      toModelOutput: () => ({ type: 'text', value: BIG }),
    })
    for await (const step of steps.execute()) expect(step.rows).toBe(rows)
    expect(wrapTool({ execute: () => BIG, toModelOutput: undefined }).execute().length).toBeLessThanOrEqual(
      51_200,
    )
  })
})

describe('a tool of the AI SDK without toModelOutput', () => {
  const execute = async (_input: object, _options?: { toolCallId: string }) => ({ rows })
  const tool = { inputSchema: {}, execute }
  const seen = (tool: object, given: unknown): any => (tool as any).toModelOutput(given)
  const call = (output: unknown) => ({ toolCallId: 'c1', input: {}, output })

  it('returns its object, and sends the model its data, cut', async () => {
    const events: ClampEvent[] = []
    const wrapped = wrapTool(tool, { onClamp: (event) => events.push(event) })
    const output = await wrapped.execute({}, { toolCallId: 'c1' })
    expect(output.rows).toBe(rows)
    const data = await wrapTool(execute)({})
    for (const given of [output, call(output)])
      expect(seen(wrapped, given)).toEqual({ type: 'json', value: data })
    expect(events).toMatchObject([{ callId: 'c1', phase: 'result', exceeded: ['bytes'] }])
    // A stored copy is clamped anew.
    expect(seen(wrapped, call({ rows }))).toEqual({ type: 'json', value: data })
    expect(events).toHaveLength(2)
    expect('toModelOutput' in tool).toBe(false)
  })

  it('sends whatever fits as the AI SDK does', () => {
    const wrapped = wrapTool(tool)
    expect(seen(wrapped, 'a')).toEqual({ type: 'text', value: 'a' })
    for (const output of [{ rows: [1] }, [], 5, null, { toolCallId: 'c', output: 'b' }])
      for (const given of [output, call(output)])
        expect(seen(wrapped, given)).toEqual({ type: 'json', value: output })
    expect(seen(wrapped, call(undefined))).toEqual({ type: 'json', value: null })
    const hostile = new Proxy({}, { get: () => expect.fail(), has: () => false })
    expect(() => seen(wrapped, call(hostile))).not.toThrow()
  })

  it('bounds side data, which the AI SDK sends as JSON', () => {
    const result = { content: [{ type: 'text', text: 'short' }], structuredContent: { rows } }
    const wrapped = wrapTool({ inputSchema: {}, execute: () => result })
    expect(wrapped.execute()).toBe(result)
    const { type, value } = seen(wrapped, call(result))
    expect([type, value.content]).toEqual(['json', result.content])
    expect(JSON.stringify(value).length).toBeLessThan(9_000)
  })

  it('is wrapped once under one policy, and never to looser limits', async () => {
    const wrapped = wrapTool(tool)
    expect(wrapTool(wrapped)).toBe(wrapped)
    const tight = wrapTool({ ...wrapped }, { maxChars: 300 })
    const output = await tight.execute({})
    expect(output.rows).toBe(rows)
    expect(sizeOf(seen(tight, call(output)).value)).toBeLessThanOrEqual(300)
    const loose = wrapTool(tight, { maxChars: 9_000 })
    expect(sizeOf(seen(loose, call(await loose.execute({}))).value)).toBeLessThanOrEqual(300)
    // Two tools may return one object.
    expect(sizeOf(seen(wrapped, call(await wrapped.execute({}))).value)).toBeGreaterThan(50_000)
    expect(sizeOf(seen(tight, call(output)).value)).toBeLessThanOrEqual(300)
  })

  it('returns its object without secrets', { tags: 'long' }, async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const logs = [{ secret, rows }]
    const wrapped = wrapTool({ inputSchema: {}, execute: async () => ({ logs }) }, { redact: true })
    const output = await wrapped.execute()
    expect(output.logs[0]?.rows).toBe(rows)
    expect(JSON.stringify([output, seen(wrapped, call(output))])).not.toContain(secret)
    expect(JSON.stringify(seen(wrapped, call({ logs })))).not.toContain(secret)
  })

  it('is not taken for one of another framework', () => {
    class Tool {
      readonly inputSchema = {}
      execute() {
        return { rows }
      }
    }
    const others: { execute(): unknown }[] = [
      new Tool(),
      { execute: () => ({ rows }) },
      { ...{ parameters: {} }, execute: () => ({ rows }) },
      { ...{ name: 'list', inputSchema: {} }, execute: () => ({ rows }) },
    ]
    for (const other of others) {
      const wrapped = wrapTool(other)
      expect('toModelOutput' in wrapped).toBe(false)
      expect(JSON.stringify(wrapped.execute())).toMatch(NOTICE)
    }
  })
})

describe('what only tools return', () => {
  const returned = <T>(value: T) => wrapTool({ execute: () => value }, { keep: 'head' }).execute() as unknown

  it('plain data over the limits stays data, or becomes its JSON as a text', () => {
    for (const data of [{ rows }, rows, Object.assign(Object.create(null), { rows })]) {
      const cut = JSON.stringify(returned(data))
      expect(cut).toMatch(NOTICE)
      expect(cut.slice(0, 30_000)).toBe(JSON.stringify(data).slice(0, 30_000))
      const text = wrapTool(() => data as unknown, { keep: 'head', json: 'text' })()
      expect(text).toMatch(NOTICE)
      expect((text as string).slice(0, 30_000)).toBe(JSON.stringify(data).slice(0, 30_000))
    }
    for (const data of [{ rows: rows.slice(0, 9) }, [1, 2], {}, [], 5, null, undefined, true])
      expect(returned(data)).toBe(data)
    expect(returned({ big: BIG, count: 5n })).toMatchObject({
      count: '5',
      '[...]': expect.stringMatching(NOTICE),
    })
  })

  it('a result is read once', () => {
    let reads = 0
    const text = returned({
      get content() {
        reads += 1
        return [{ type: 'text', text: reads === 1 ? BIG : 'another text' }]
      },
    })
    expect(text).toMatchObject({ content: [{ type: 'text', text: expect.stringMatching(NOTICE) }] })
    expect(reads).toBe(1)
  })

  it('objects of classes stay what they are where their JSON fits, and become data or its text where not', () => {
    class Page {
      readonly #hidden = BIG
      get text() {
        return this.#hidden
      }
    }
    for (const value of [new Page(), new Map([[1, BIG]]), new Set([BIG]), new Date(0), Buffer.from('x'), /x/])
      expect(returned(value)).toBe(value)
    class Shown {
      readonly text = BIG
    }
    class Told {
      readonly #hidden = BIG
      toJSON() {
        return [this.#hidden]
      }
    }
    const bytes = Buffer.from(BIG.slice(0, 60_000))
    for (const value of [new Shown(), new Told(), bytes, new Uint8Array(bytes), new Float64Array(60_000)]) {
      const text = JSON.stringify(returned(value))
      expect(text).toMatch(NOTICE)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(51_200)
      const start = ArrayBuffer.isView(value) ? 12 : 30_000
      expect(text.slice(0, start)).toBe(JSON.stringify(value).slice(0, start))
    }
  })

  it('lone surrogates in data that fits are repaired, in any order of calls', () => {
    expect(returned({ a: ['\ud83d', 1], b: { '\udc00': true } })).toEqual({
      a: ['\ufffd', 1],
      b: { '\ufffd': true },
    })
    const whole = { a: '\ud83d\ude00', escaped: '\\ud83d' }
    expect(returned(whole)).toBe(whole)
  })

  it('several results in an array are data, but for messages that a graph takes', () => {
    const result = { content: [{ type: 'text', text: BIG }] }
    const text = JSON.stringify(returned([result, result]))
    expect(text).toMatch(NOTICE)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(51_200)
  })

  it('several results at once are clamped one by one', () => {
    const message = (content: string) => ({ type: 'tool', tool_call_id: 'c', content })
    const short = message('short')
    const list = returned([message(BIG), short]) as ReturnType<typeof message>[]
    expect(list[0]?.content).toMatch(NOTICE)
    expect(list[1]).toBe(short)
  })

  class Command {
    readonly lg_name = 'Command'
    constructor(
      readonly update: unknown,
      readonly goto = 'next',
    ) {}
  }

  it('a LangGraph Command has its messages clamped, and keeps class and state', () => {
    const text = { type: 'text', text: 'a message of a user' }
    const update = { count: 1, messages: [{ type: 'tool', tool_call_id: 'c', content: BIG }, text], rows }
    const command = new Command(update)
    const clamped = returned(command) as Command & { update: typeof update }
    expect(clamped).toBeInstanceOf(Command)
    expect(clamped.goto).toBe('next')
    expect((clamped.update.messages[0] as { content: string }).content).toMatch(NOTICE)
    expect(clamped.update.messages[1]).toBe(text)
    expect(clamped.update.rows).toBe(rows)
    expect((command.update as typeof update).messages[0]).toHaveProperty('content', BIG)
    for (const other of [new Command(undefined), new Command({ count: 1 }), new Command([['messages', BIG]])])
      expect(returned(other)).toBe(other)
    const several = returned([command, { type: 'tool', tool_call_id: 'c', content: 'short' }]) as Command[]
    expect(several[0]).toBeInstanceOf(Command)
  })

  it('a pair of content and artifact stays a pair', async () => {
    const artifact = { rows }
    const tool = wrapTool({
      responseFormat: 'content_and_artifact',
      func: async (): Promise<[string, object]> => [BIG, artifact],
    })
    const [content, kept] = await tool.func()
    expect(content).toMatch(NOTICE)
    expect(kept).toBe(artifact)
    const small: [string, object] = ['short', artifact]
    expect(wrapTool({ responseFormat: 'content_and_artifact', func: () => small }).func()).toBe(small)
  })
})

describe('events of cuts', () => {
  const record = () => {
    const events: ClampEvent[] = []
    return { events, onClamp: (event: ClampEvent) => void events.push(event) }
  }

  it('tell the phase, the tool and the call in the forms that frameworks have', async () => {
    const { events, onClamp } = record()
    const call = async (
      tool: { name?: string; [method: string]: unknown },
      method: string,
      ...args: unknown[]
    ) => {
      events.length = 0
      const wrapped = wrapTool(tool, { onClamp }) as Record<string, (...args: unknown[]) => Promise<unknown>>
      await wrapped[method]?.(...args).catch(() => {})
      return events.map(({ tool, callId, phase }) => [tool, callId, phase])
    }
    const named = (method: string, body: (...args: any[]) => unknown) => ({
      name: 't',
      [method]: async (...args: unknown[]) => body(...args),
    })
    expect(
      await call(
        named('execute', () => ({ content: [{ type: 'text', text: BIG }] })),
        'execute',
        'c1',
        {},
        undefined,
        () => {},
      ),
    ).toEqual([['t', 'c1', 'result']])
    const updating = named('execute', (_id, _params, _signal, onUpdate) => {
      onUpdate({ content: [{ type: 'text', text: BIG }] })
      throw new Error(BIG)
    })
    expect(await call(updating, 'execute', 'c1', {}, undefined, () => {})).toEqual([
      ['t', 'c1', 'update'],
      ['t', 'c1', 'error'],
    ])
    expect(
      await call(
        named('execute', () => BIG),
        'execute',
        { id: 'what the model asked for' },
        { toolCallId: 'c2' },
      ),
    ).toEqual([['t', 'c2', 'result']])
    expect(
      await call(
        named('invoke', () => BIG),
        'invoke',
        { type: 'tool_call', id: 'c3', name: 't', args: {} },
      ),
    ).toEqual([['t', 'c3', 'result']])
    expect(
      await call(
        named('invoke', () => BIG),
        'invoke',
        {},
        '{"q": 1}',
        { toolCall: { callId: 'c4' } },
      ),
    ).toEqual([['t', 'c4', 'result']])
    expect(
      await call(
        named('func', () => BIG),
        'func',
        'a plain question',
      ),
    ).toEqual([['t', undefined, 'result']])
    for (const args of [
      ['a path', {}],
      [{ id: 'an input' }, {}],
    ])
      expect(
        await call(
          named('func', () => BIG),
          'func',
          ...args,
        ),
      ).toEqual([['t', undefined, 'result']])
    expect(
      await call(
        named('execute', () => 'short'),
        'execute',
        'c1',
        {},
      ),
    ).toEqual([])
  })

  it('tell of updates and of the tool where its function was wrapped before', async () => {
    const { events, onClamp } = record()
    const policy = definePolicy({ onClamp })
    const partial = { content: [{ type: 'text', text: BIG }] }
    const run = wrapTool(
      (_id: string, _params: object, _signal: unknown, onUpdate: (partial: object) => void) =>
        onUpdate(partial),
      policy,
    )
    const seen: unknown[] = []
    const tool = wrapTool({ name: 'shell', execute: run }, policy)
    tool.execute('c1', {}, undefined, (one) => void seen.push(one))
    expect(seen).toEqual([{ content: [{ type: 'text', text: expect.stringMatching(NOTICE) }] }])
    expect(events).toMatchObject([{ tool: 'shell', callId: 'c1', phase: 'update' }])
  })

  it('come once for a list with other values among its results', () => {
    const { events, onClamp } = record()
    const result = { type: 'tool', tool_call_id: 'c', content: BIG }
    expect(wrapTool(() => [result, { rows: 1 }], { onClamp })().at(-1)).toMatch(NOTICE)
    expect(events).toHaveLength(1)
    const [first, last] = wrapTool(() => [result, result], { onClamp })()
    expect([first?.content, last?.content]).toEqual(Array(2).fill(expect.stringMatching(NOTICE)))
    expect(events).toHaveLength(3)
  })

  it('name the tools of a record', async () => {
    const { events, onClamp } = record()
    const tools = wrapTools({ shell: { execute: () => BIG } }, { onClamp })
    tools.shell.execute()
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({
      tool: 'shell',
      phase: 'result',
      total: { bytes: BIG.length, chars: BIG.length, lines: 300_000 },
      exceeded: ['bytes', 'lines'],
    })
    const { kept } = events[0] as ClampEvent
    expect(kept.lines).toBeLessThanOrEqual(2_000)
    expect(Math.ceil(kept.bytes / 17)).toBe(kept.lines)
  })

  it('count what was kept of several blocks, also where lines were cut', () => {
    const { events, onClamp } = record()
    const content = ['short', `${'x'.repeat(900)}\nend`, BIG].map((text) => ({ type: 'text', text }))
    const wrapped = wrapTool(() => ({ content }), { onClamp, maxLineBytes: 100 })
    wrapped()
    const [{ total, kept, exceeded } = {} as ClampEvent] = events
    expect(total.chars).toBe(5 + 904 + BIG.length)
    expect(kept.chars).toBeGreaterThan(5 + 80 + 4)
    expect(kept.chars).toBeLessThan(51_200)
    expect(exceeded).toEqual(['bytes', 'lines', 'lineBytes'])
  })

  it('go to the channel too, and a listener that throws does no harm', () => {
    const seen: unknown[] = []
    const listen = (event: unknown) => void seen.push(event)
    subscribe('spillway:clamp', listen)
    try {
      const tool = wrapTool(() => BIG, {
        onClamp: () => {
          throw new Error('no')
        },
      })
      expect(tool()).toMatch(NOTICE)
      clampResult({ role: 'toolResult', toolCallId: 'c', toolName: 't', content: BIG })
    } finally {
      unsubscribe('spillway:clamp', listen)
    }
    expect(seen).toMatchObject([{ phase: 'result' }, { phase: 'result', tool: 't', callId: 'c' }])
    clampResult(BIG)
    expect(seen).toHaveLength(2)
  })

  it('go on when an async listener rejects', async () => {
    const lost: unknown[] = []
    const listen = (error: unknown) => lost.push(error)
    process.on('unhandledRejection', listen)
    const onClamp = async () => {
      throw new Error('the log is full')
    }
    expect(wrapTool(() => BIG, { onClamp })()).toMatch(NOTICE)
    await turns()
    process.off('unhandledRejection', listen)
    expect(lost).toEqual([])
  })
})

describe('hostile results', () => {
  const text = (text: string) => ({ type: 'text', text })

  it('neither throw nor grow nor change anything but their text', { tags: 'long' }, () => {
    const frozen = Object.freeze({
      content: Object.freeze([Object.freeze(text(BIG))]),
      details: Object.freeze({ a: 1 }),
    })
    const bare = Object.assign(Object.create(null), { content: [text(BIG)] })
    Object.defineProperty(bare, '__proto__', { value: { content: [text(BIG)] }, enumerable: true })
    // Node 26.10 writes a cycle around a longer text that it has written before until no memory is
    // left.
    const cyclic: Record<string, unknown> = { content: [text(BIG.slice(0, 60_000))], details: {} }
    cyclic['details'] = cyclic
    const many = { content: Array.from({ length: 10_000 }, () => text('some words of a block')) }
    const nested = { content: [[text(BIG)], [[text(BIG)]], text(BIG)] }
    const lying = new Proxy({ content: [text(BIG)] }, { getOwnPropertyDescriptor: () => undefined })
    for (const value of [frozen, bare, cyclic, many, nested, lying]) {
      for (const sideData of ['whole', 'cap', 'drop'] as const) {
        const clamped = wrapTool(() => value, { sideData })() as typeof value
        const texts = (clamped.content as { text?: string }[]).map((block) => block.text ?? '')
        expect(texts.join('').length).toBeLessThanOrEqual(51_200)
      }
    }
    expect(JSON.stringify(clampResult(nested)).length).toBeLessThan(55_000)
  })

  it('that throw when they are read are read around', () => {
    const broken = {
      content: [
        {
          get type(): never {
            throw new Error('no')
          },
        },
        text(BIG),
      ],
      get isError(): never {
        throw new Error('no')
      },
    }
    expect(clampResult(broken).content[1]).toHaveProperty('text', expect.stringMatching(NOTICE))
    const list = [text(BIG), text(BIG)]
    Object.defineProperty(list, 0, {
      get() {
        throw new Error('no')
      },
      enumerable: true,
    })
    expect(clampResult({ content: list }).content[1]?.text).toMatch(NOTICE)
  })
})

it('plain data that is thrown keeps its kind within the limits', () => {
  const thrownBy = (thrown: unknown): unknown => {
    try {
      return wrapTool(() => {
        throw thrown
      })()
    } catch (error) {
      return error
    }
  }
  const small = { reason: 'short' }
  expect(thrownBy(small)).toBe(small)
  for (const thrown of [
    { reason: BIG, code: 7 },
    { message: 'short', body: BIG, code: 7 },
    { message: BIG, code: 7 },
  ]) {
    const left = thrownBy(thrown) as { code: number }
    expect(left.code).toBe(7)
    expect(JSON.stringify(left).length).toBeLessThanOrEqual(51_200)
  }
})
