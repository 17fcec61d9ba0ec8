import { runInNewContext } from 'node:vm'
import { definePolicy, wrapTool, wrapTools } from 'spillway'
import { describe, expect, it } from 'vitest'

const BIG = 'a line of output\n'.repeat(300_000)
const result = (big: string) => ({
  content: [
    { type: 'text', text: big },
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  ],
})
const sizeOf = (value: unknown) => JSON.stringify(value).length

describe('wrapTool', () => {
  it('clamps results, partial updates and throws of a Pi tool', async () => {
    const updates: unknown[] = []
    const tool = wrapTool({
      name: 'shell',
      parameters: {},
      async execute(
        _id: string,
        params: { fail?: boolean },
        _signal: AbortSignal | undefined,
        onUpdate: (partial: unknown) => void,
      ) {
        onUpdate(result(BIG))
        if (params.fail) throw Object.assign(new Error(BIG), { code: 'EFAIL' })
        return result(BIG)
      },
    })
    const onUpdate = (partial: unknown) => updates.push(partial)
    expect(sizeOf(await tool.execute('1', {}, undefined, onUpdate))).toBeLessThan(56_000)
    await expect(tool.execute('2', { fail: true }, undefined, onUpdate)).rejects.toSatisfy(
      (error: Error & { code: string }) => error.message.length <= 51_200 && error.code === 'EFAIL',
    )
    expect(updates).toHaveLength(2)
    for (const update of updates) expect(sizeOf(update)).toBeLessThan(56_000)
    expect(tool.name).toBe('shell')
  })

  it('keeps this, every argument, arity, name and identity of what fits', async () => {
    const small = result('ok')
    const signal = new AbortController().signal
    const tool = {
      prefix: 'p',
      seen: [] as unknown[],
      execute(
        this: { prefix: string; seen: unknown[] },
        ...args: [number, number, AbortSignal, undefined, string]
      ) {
        this.seen.push(this.prefix, ...args)
        return small
      },
      async later(_a: number, _b: number) {},
    }
    const wrapped = wrapTool(tool)
    expect(wrapped).not.toBe(tool)
    expect(wrapped.execute(1, 2, signal, undefined, 'five')).toBe(small)
    expect(tool.seen).toEqual(['p', 1, 2, signal, undefined, 'five'])
    expect(tool.seen[3]).toBe(signal)
    const later = wrapTool(tool, { method: 'later' })
    expect(later.later.length).toBe(2)
    expect(later.later.name).toBe('later')
    expect(later.execute).toBe(tool.execute)
  })

  it('keeps the kind of a call: sync, async, generator', async () => {
    const sync = wrapTool({ execute: () => BIG })
    expect(sync.execute().length).toBeLessThanOrEqual(51_200)
    const later = wrapTool({ func: async () => BIG })
    expect((await later.func()).length).toBeLessThanOrEqual(51_200)
    const steps = wrapTool({
      async *execute() {
        const answer: unknown = yield BIG
        yield `${answer}`
        return BIG
      },
    })
    const run = steps.execute()
    expect(((await run.next()).value as string).length).toBeLessThanOrEqual(51_200)
    expect((await run.next('hello')).value).toBe('hello')
    const last = await run.next()
    expect(last.done).toBe(true)
    expect((last.value as string).length).toBeLessThanOrEqual(51_200)
    const plain = wrapTool(function* () {
      yield BIG
      throw new Error(BIG)
    })
    const each: number[] = []
    expect(() => {
      for (const step of plain()) each.push(step.length)
    }).toThrow(/tool output truncated/)
    expect(each[0]).toBeLessThanOrEqual(51_200)
  })

  it('clamps the steps of iterators that are written by hand', async () => {
    const iterator = () => {
      const steps = [BIG, 'the answer']
      return {
        next: async () => ({ done: steps.length === 0, value: steps.shift() }),
        [Symbol.asyncIterator]() {
          return this
        },
      }
    }
    const complete = () => ({
      ...iterator(),
      return: async (value?: unknown) => ({ done: true, value }),
      throw: async (error: unknown) => Promise.reject(error),
    })
    const iterable = () => ({ name: 'rows', [Symbol.asyncIterator]: iterator })
    for (const make of [iterator, complete, iterable, async () => iterable()]) {
      const steps: (string | undefined)[] = []
      for await (const step of await wrapTool({ execute: make }).execute()) steps.push(step)
      expect(steps).toEqual([expect.stringMatching(/tool output truncated/), 'the answer'])
      // Nothing ends the first of them.
      for await (const step of await wrapTool({ execute: make }).execute()) {
        expect(step?.length).toBeLessThanOrEqual(51_200)
        break
      }
    }
    expect(wrapTool({ execute: iterable }).execute().name).toBe('rows')
    const stream = ReadableStream.from([BIG])
    expect(wrapTool({ execute: () => stream }).execute()).toBe(stream)
  })

  it('takes functions, class instances with private fields, and invoke', async () => {
    const call = Object.assign((big: string) => big, { description: 'echoes' })
    const wrapped = wrapTool(call)
    expect(wrapped(BIG).length).toBeLessThanOrEqual(51_200)
    expect(wrapped.description).toBe('echoes')
    expect(wrapped.length).toBe(1)
    class Tool {
      #output = BIG
      async invoke() {
        return this.#output
      }
    }
    const tool = new Tool()
    expect(wrapTool(tool)).toBe(tool)
    expect((await tool.invoke()).length).toBeLessThanOrEqual(51_200)
    expect(Object.keys(tool)).toEqual([])
    expect((await new Tool().invoke()).length).toBe(BIG.length)
  })

  it('leaves the properties of a tool as they were', () => {
    class Tool {
      execute = async () => BIG
    }
    const tool = wrapTool(new Tool())
    expect(Object.keys(tool)).toEqual(['execute'])
    const given = () => 4
    const four = wrapTool((_a: unknown, _b: unknown, _c: unknown, d: unknown) =>
      d === given ? 'same' : 'other',
    )
    expect(four(1, 2, 3, given)).toBe('same')
  })

  it('waits for what can be waited for', async () => {
    const tool = wrapTool(() => ({
      // biome-ignore lint/suspicious/noThenProperty: a query builder has one
      then(done: (text: string) => void) {
        done(BIG)
      },
    }))
    expect(((await tool()) as unknown as string).length).toBeLessThanOrEqual(51_200)
  })

  it('clamps what is thrown, whatever it is', async () => {
    const throwing = (thrown: unknown) =>
      wrapTool({
        async execute() {
          throw thrown
        },
      }).execute()
    await expect(throwing(BIG)).rejects.toSatisfy((text: string) => text.length <= 51_200)
    await expect(throwing(undefined)).rejects.toBe(undefined)
    await expect(throwing(Object.freeze(new Error(BIG)))).rejects.toSatisfy(
      (error: Error) => error.message.length <= 51_200,
    )
    const sync = wrapTool(() => {
      throw new Error(BIG)
    })
    expect(sync).toThrow(/tool output truncated/)
  })

  it('clamps promises that a generator yields, and results that hate to be looked at', async () => {
    const lazy = wrapTool(function* () {
      yield Promise.resolve(BIG)
    })
    expect((await lazy().next().value)?.length).toBeLessThanOrEqual(51_200)
    const shy = {
      has: () => true,
      get: (target: object, key: string) => {
        if (key === 'content') return (target as { content: unknown }).content
        throw new Error(`no ${String(key)}`)
      },
    }
    const tool = wrapTool({ execute: () => new Proxy(result(BIG), shy) })
    expect(sizeOf((tool.execute() as { content: unknown }).content)).toBeLessThan(56_000)
  })

  it('copies plain objects of other realms, and refuses what cannot be wrapped', () => {
    const foreign = runInNewContext('({ execute() { return 1 } })')
    expect(wrapTool(foreign)).not.toBe(foreign)
    class Tool {
      execute() {}
    }
    const refused = expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' })
    expect(() => wrapTool(Object.freeze(new Tool()))).toThrow(refused)
  })

  it('wraps once, under the tighter limits', () => {
    const policy = definePolicy({ maxChars: 500 })
    const once = wrapTool({ execute: () => BIG }, policy)
    expect(wrapTool(once, policy)).toBe(once)
    const again = wrapTool(once, { maxChars: 1_000 })
    expect(again.execute()).toBe(once.execute())
    expect(once.execute().length).toBeLessThanOrEqual(500)
    const call = wrapTool(() => BIG)
    expect(wrapTool(call)).toBe(call)
  })

  it('searches the text of a failed call', async () => {
    const filler = Array.from({ length: 9_000 }, (_, at) => `filler_${at.toString(36)}\n`).join('')
    const errors = filler.slice(0, 40_000).replaceAll('filler_', 'error: no such file as ')
    const long = `${filler}${errors}${filler}`
    const tool = wrapTool({
      execute: (isError: boolean) => ({ content: [{ type: 'text', text: long }], isError }),
    })
    const kept = (isError: boolean) =>
      tool.execute(isError).content[0]?.text.split('no such file').length ?? 0
    expect(kept(true)).toBeGreaterThan(kept(false) * 1.5)
  })
})

describe('wrapTools', () => {
  it('rejects a tool that another method runs, and a record of tools', () => {
    const call = () => 'x'
    class Runner {
      run() {
        return call()
      }
    }
    for (const [tools, message] of [
      [[{ name: 'bash', run: call }], /^tools\.bash must be .* give `method: 'run'`/],
      [{ bash: { handler: call, inputSchema: {} } }, /^tools\.bash must be .* give `method: 'handler'`/],
      [[{ name: 'bash', runTool: call }], /^tools\.bash must be .* give `method: 'runTool'`/],
      [{ bash: new Runner() }, /^tools\.bash must be .* give `method: 'run'`/],
      [{ bash: new (class extends Runner {})() }, /^tools\.bash must be .* give `method: 'run'`/],
      [{ files: { read: { execute: call } } }, /^tools\.files must be .* \(`read`\)/],
      [{ files: [{ name: 'read', execute: call }] }, /^tools\.files must be .* \(`0`\)/],
      [{ a: { b: { c: { func: call } } } }, /^tools\.a must be .* \(`b\.c`\)/],
    ] as const)
      expect(() => wrapTools(tools)).toThrow(
        expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringMatching(message) }),
      )
    const run = wrapTools([{ name: 'bash', run: () => 'x'.repeat(200) }], { method: 'run', maxChars: 100 })
    expect(run[0]?.run().length).toBeLessThanOrEqual(100)
    const remote = {
      ask: {
        description: 'a',
        inputSchema: { type: 'object', properties: { execute: { type: 'string' }, run: { type: 'string' } } },
        onInputStart: call,
        needsApproval: call,
        toModelOutput: call,
      },
      search: { type: 'provider', id: 'a.search', args: {}, inputSchema: call, outputSchema: call },
      lookup: { inputSchema: { validate: call, jsonSchema: {} } },
      // It holds itself.
      around: {} as Record<string, unknown>,
    }
    remote.around['self'] = remote.around
    const same = wrapTools(remote)
    for (const name of ['ask', 'search', 'lookup', 'around'] as const) expect(same[name]).toBe(remote[name])
  })

  const shell = { name: 'shell', execute: () => BIG }
  const read = { name: 'read', execute: () => BIG }
  const raw = { name: 'raw', execute: () => BIG }

  it('wraps an array or a record under one policy', () => {
    const [first] = wrapTools([shell, read], { maxChars: 100 })
    expect(first?.execute().length).toBeLessThanOrEqual(100)
    const record = wrapTools({ shell, read }, { maxChars: 100 })
    expect(Object.keys(record)).toEqual(['shell', 'read'])
    expect(record.read.execute().length).toBeLessThanOrEqual(100)
  })

  it('keeps the prototype and the symbols of a record', () => {
    const mark = Symbol('mark')
    const record = wrapTools(
      Object.assign(Object.create(null), { shell, [mark]: 1 }) as Record<string, typeof shell>,
    )
    expect(Object.getPrototypeOf(record)).toBe(null)
    expect(Object.getOwnPropertySymbols(record)).toEqual([mark])
  })

  it('gives each its own policy, and leaves those without one', () => {
    const names: string[] = []
    const tools = wrapTools([shell, read, raw], (name) => {
      names.push(name)
      return name === 'raw'
        ? undefined
        : { keep: name === 'shell' ? 'tail' : 'head', maxLines: 10, notice: 'pi' }
    })
    expect(names).toEqual(['shell', 'read', 'raw'])
    expect(tools[0]?.execute()).toMatch(/^\[\.\.\. /)
    expect(tools[1]?.execute()).toMatch(/^a line/)
    expect(tools[2]).toBe(raw)
  })
})
