// biome-ignore-all lint/suspicious/noExplicitAny: what is appended is anything
import { createHash } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import * as fc from 'fast-check'
import { type ClampEvent, clampResult, type GuardOptions, guardSession } from 'spillway'
import { afterEach, describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { fragmentsOf, payload, planted } from '../support/payloads.js'
import { samples } from '../support/samples.js'

/** Keeps messages as Pi's SessionManager does: the very object, and a row of JSON. */
class Manager {
  readonly kept: any[] = []
  readonly rows: string[] = []
  readonly calls: unknown[][] = []

  appendMessage(...args: any[]): string {
    const [message] = args
    this.kept.push(message)
    this.rows.push(JSON.stringify(message))
    this.calls.push(args)
    return `id ${this.rows.length}`
  }
}

const BIG = 'a line of output é\n'.repeat(30_000)

const tool = (text: string, rest: object = {}): any => ({
  role: 'toolResult',
  toolCallId: 'c1',
  toolName: 'bash',
  content: [{ type: 'text', text }],
  isError: false,
  timestamp: 1,
  ...rest,
})

/** One message after a guard. */
function written(message: unknown, options?: GuardOptions): any {
  const manager = new Manager()
  guardSession(manager, options)
  manager.appendMessage(message)
  return manager.kept[0]
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const textOf = ({ content }: any): string => content[0].text

describe('guardSession', () => {
  it('clamps a tool result before it is written, and gives back what the manager does', () => {
    const manager = new Manager()
    const guard = guardSession(manager)
    const message = tool(BIG, { details: { raw: BIG, exitCode: 1 } })
    expect(manager.appendMessage(message, 'more', 5)).toBe('id 1')
    expect(manager.calls[0]).toEqual([message, 'more', 5])
    expect(manager.kept[0]).toBe(message)
    expect(textOf(message)).toBe(textOf(clampResult(tool(BIG))))
    expect(textOf(message)).toMatch(/\[tool output truncated: [\d,]+ of 570,000 chars omitted/)
    expect(bytesOf(message.details)).toBeLessThanOrEqual(8_192)
    expect(message.details.exitCode).toBe(1)
    expect(message).toMatchObject({ toolCallId: 'c1', toolName: 'bash', isError: false, timestamp: 1 })
    expect(guard.clamped).toBe(1)
    expect(Object.keys(manager)).toEqual(['kept', 'rows', 'calls'])
  })

  it('never touches other messages, nor a result that fits', () => {
    const manager = new Manager()
    const guard = guardSession(manager, { maxRowBytes: 100 })
    const others = [
      { role: 'user', content: BIG },
      { role: 'assistant', content: [{ type: 'text', text: BIG }] },
      { role: 'bashExecution', output: BIG },
      { type: 'message', message: 'a row, not a message' },
      BIG,
      null,
      undefined,
      5,
    ]
    for (const message of others) manager.appendMessage(message)
    for (const [at, message] of others.entries()) expect(manager.kept[at]).toBe(message)
    expect(textOf(manager.kept[1])).toBe(BIG)
    ;(manager as any).appendMessage()
    expect(manager.calls.at(-1)).toEqual([])
    guardSession(manager)
    const small = Object.freeze(tool('short'))
    manager.appendMessage(small)
    expect(manager.kept.at(-1)).toBe(small)
    expect(guard.clamped).toBe(0)
  })

  it('writes the same again as it is', () => {
    const once = written(tool(BIG, { details: { raw: BIG } }))
    const copy = structuredClone(once)
    expect(written(once)).toBe(once)
    expect(once).toEqual(copy)
  })

  it('passes on what the manager throws, and its promise', async () => {
    const full = Object.assign(new Error('disk full'), { code: 'ENOSPC' })
    const throwing = {
      appendMessage(_: unknown): string {
        throw full
      },
    }
    guardSession(throwing)
    expect(() => throwing.appendMessage(tool(BIG))).toThrow(full)
    const later = { appendMessage: async (message: any) => textOf(message).length }
    guardSession(later)
    expect(await later.appendMessage(tool(BIG))).toBeLessThanOrEqual(51_200)
  })

  it('reads what came before once for all results of a message', () => {
    const readsFor = (results: number) => {
      let reads = 0
      const before = new Proxy(
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c0', name: 'bash', input: { path: 'a' } }] },
        {
          get(target, key, receiver) {
            reads += key === 'content' ? 1 : 0
            return Reflect.get(target, key, receiver)
          },
        },
      )
      const manager = { appendMessage(_message: unknown) {} }
      guardSession(manager, { maxChars: 100, inPlace: false })
      manager.appendMessage(before)
      reads = 0
      const content = Array.from({ length: results }, (_, at) => ({
        type: 'tool_result',
        tool_use_id: `c${at}`,
        content: BIG.slice(0, 200),
      }))
      manager.appendMessage({ role: 'user', content })
      return reads
    }
    expect(readsFor(1)).toBeGreaterThan(0)
    expect(readsFor(100)).toBe(readsFor(1))
  })

  it('keeps `this`', () => {
    const manager = {
      appendMessage(this: unknown, _: unknown): unknown {
        return this
      },
    }
    guardSession(manager)
    const other = {}
    expect(manager.appendMessage(1)).toBe(manager)
    expect(manager.appendMessage.call(other, 1)).toBe(other)
  })

  it('refuses wrong options, and what is not a manager', () => {
    const wrong: [unknown, string][] = [
      [{ maxRowBytes: -1 }, 'maxRowBytes'],
      [{ maxRowBytes: '5' }, 'maxRowBytes'],
      [{ inPlace: 1 }, 'inPlace'],
      [{ transform: true }, 'transform'],
      [{ beforeWrite: 'no' }, 'beforeWrite'],
      [{ onClamp: 5 }, 'onClamp'],
      [{ maxBytes: 1.5 }, 'maxBytes'],
      [{ sideData: 'none' }, 'sideData'],
      [5, 'policy'],
      [null, 'policy'],
    ]
    const refusal = (field: string) =>
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringContaining(field) })
    for (const [options, field] of wrong) {
      const manager = new Manager()
      expect(() => guardSession(manager, options as GuardOptions)).toThrow(refusal(field))
      expect(Object.hasOwn(manager, 'appendMessage')).toBe(false)
    }
    const throwing = Object.defineProperty({}, 'appendMessage', {
      get() {
        throw new Error('no')
      },
    })
    for (const manager of [null, 5, {}, { appendMessage: 1 }, throwing, Object.freeze(new Manager())])
      expect(() => guardSession(manager as any)).toThrow(refusal('manager'))
  })
})

describe('install and uninstall', () => {
  it('restores the method of the class', () => {
    const manager = new Manager()
    const guard = guardSession(manager)
    expect(manager.appendMessage).not.toBe(Manager.prototype.appendMessage)
    guard.uninstall()
    expect(Object.hasOwn(manager, 'appendMessage')).toBe(false)
    guard.uninstall()
    manager.appendMessage(tool(BIG))
    expect(textOf(manager.kept[0])).toBe(BIG)
    expect(guard.clamped).toBe(0)
  })

  const own = (kept: unknown[]) => (message: unknown) => kept.push(message)
  it.each<[string, (kept: unknown[]) => PropertyDescriptor]>([
    ['a plain one', (kept) => ({ value: own(kept), enumerable: true, writable: true, configurable: true })],
    ['a hidden one', (kept) => ({ value: own(kept), enumerable: false, writable: true, configurable: true })],
    [
      'one that only defineProperty changes',
      (kept) => ({ value: own(kept), enumerable: true, writable: false, configurable: true }),
    ],
    [
      'one that can only be written',
      (kept) => ({ value: own(kept), enumerable: true, writable: true, configurable: false }),
    ],
    ['an accessor', (kept) => ({ get: () => own(kept), enumerable: true, configurable: true })],
  ])('restores an override with its flags: %s', (_, make) => {
    const kept: any[] = []
    const manager = Object.defineProperty({}, 'appendMessage', make(kept)) as {
      appendMessage(message: unknown): number
    }
    const before = Object.getOwnPropertyDescriptor(manager, 'appendMessage')
    const guard = guardSession(manager)
    expect(manager.appendMessage(tool(BIG))).toBe(1)
    expect(textOf(kept[0]).length).toBeLessThanOrEqual(51_200)
    guard.uninstall()
    expect(Object.getOwnPropertyDescriptor(manager, 'appendMessage')).toEqual(before)
  })

  it('replaces the options of a first guard', () => {
    const manager = new Manager()
    const guard = guardSession(manager, { maxBytes: 1_000 })
    const { appendMessage } = manager
    expect(guardSession(manager, { maxBytes: 2_000, notice: false, snap: 'char' })).toBe(guard)
    expect(manager.appendMessage).toBe(appendMessage)
    manager.appendMessage(tool('x'.repeat(5_000)))
    expect(textOf(manager.kept[0])).toHaveLength(2_000)
    expect(() => guardSession(manager, { maxBytes: -1 })).toThrow()
    manager.appendMessage(tool('x'.repeat(5_000)))
    expect(textOf(manager.kept[1])).toHaveLength(2_000)
    guard.uninstall()
    expect(Object.hasOwn(manager, 'appendMessage')).toBe(false)
    expect(guardSession(manager)).toBe(guard)
    manager.appendMessage(tool(BIG))
    expect(guard.clamped).toBe(3)
  })

  it('stands in front of the method that is named, each with a guard of its own', () => {
    class Store {
      readonly kept: any[] = []
      readonly notes: any[] = []
      save(message: any, ...rest: unknown[]): number {
        this.kept.push(message)
        return rest.length
      }
      note(message: any): void {
        this.notes.push(message)
      }
    }
    const store = new Store()
    const guard = guardSession(store, { method: 'save', maxChars: 1_000 })
    const other = guardSession(store, { method: 'note', maxChars: 2_000 })
    expect(other).not.toBe(guard)
    expect(guardSession(store, { method: 'save', maxChars: 500 })).toBe(guard)
    expect(store.save(tool(BIG), 1, 2)).toBe(2)
    store.note(tool(BIG))
    expect(textOf(store.kept[0]).length).toBeLessThanOrEqual(500)
    expect(textOf(store.notes[0]).length).toBeGreaterThan(1_000)
    expect([guard.clamped, other.clamped]).toEqual([1, 1])
    guard.uninstall()
    store.save(tool(BIG))
    expect(textOf(store.kept[1])).toBe(BIG)
    expect(Object.keys(store)).toEqual(['kept', 'notes'])
    expect(() => guardSession(store, { method: 'append' })).toThrow(
      expect.objectContaining({
        code: 'ERR_SPILLWAY_OPTION',
        message: 'manager must be an object with the method append, got an object without it',
      }),
    )
    expect(() => guardSession(new Store() as never)).toThrow('with the method appendMessage')
    const frozen = Object.freeze({ save: () => '' })
    expect(() => guardSession(frozen, { method: 'save' })).toThrow('whose save can be replaced')
  })

  /** An override as other projects make them: a mark on the function, and everything passed on. */
  const override = (manager: Manager, seen: unknown[]) => {
    const next = manager.appendMessage.bind(manager)
    const mine = Object.assign(
      (message: any, ...rest: any[]) => {
        seen.push(message)
        return next(message, ...rest)
      },
      { mark: true },
    )
    manager.appendMessage = mine
    return mine
  }

  it('works with an override that came after it', () => {
    const manager = new Manager()
    const seen: unknown[] = []
    const guard = guardSession(manager)
    const mine = override(manager, seen)
    expect(manager.appendMessage(tool(BIG))).toBe('id 1')
    expect(textOf(manager.kept[0]).length).toBeLessThanOrEqual(51_200)
    guard.uninstall()
    expect(manager.appendMessage).toBe(mine)
    manager.appendMessage(tool(BIG))
    expect(textOf(manager.kept[1])).toBe(BIG)
    expect(seen).toHaveLength(2)
  })

  it('guards before and after such an override once it is installed again, and runs hooks once', () => {
    const manager = new Manager()
    const seen: any[] = []
    const hooked: unknown[] = []
    const guard = guardSession(manager)
    const mine = override(manager, seen)
    const beforeWrite = (message: unknown) => {
      hooked.push(message)
      return undefined
    }
    expect(guardSession(manager, { beforeWrite })).toBe(guard)
    expect((manager.appendMessage as any).mark).toBe(true)
    manager.appendMessage(tool(BIG))
    expect(textOf(seen[0]).length).toBeLessThanOrEqual(51_200)
    expect(hooked).toHaveLength(1)
    expect(guard.clamped).toBe(1)
    guard.uninstall()
    expect(manager.appendMessage).toBe(mine)
  })

  it('guards again what an override took away', () => {
    const manager = new Manager()
    const { appendMessage } = manager
    guardSession(manager)
    manager.appendMessage = appendMessage
    guardSession(manager)
    manager.appendMessage(tool(BIG))
    expect(textOf(manager.kept[0]).length).toBeLessThanOrEqual(51_200)
  })
})

describe('in place', () => {
  it('makes copies where that is asked for', () => {
    const message = tool(BIG)
    const kept = written(message, { inPlace: false })
    expect(kept).not.toBe(message)
    expect(textOf(message)).toBe(BIG)
    expect(textOf(kept).length).toBeLessThanOrEqual(51_200)
  })

  it('copies a frozen message, and one to which nothing can be done', () => {
    for (const message of [
      Object.freeze(tool(BIG)),
      Object.defineProperty(tool(BIG), 'content', { writable: false, configurable: false }),
      Object.seal(tool(BIG, { details: new Map(), sideData: 1 })),
      new Proxy(tool(BIG), { defineProperty: () => true }),
    ]) {
      const kept = written(message)
      expect(textOf(kept).length).toBeLessThanOrEqual(51_200)
    }
    const frozen = Object.freeze(tool(BIG))
    expect(written(frozen)).not.toBe(frozen)
    expect(textOf(frozen)).toBe(BIG)
  })

  it('writes to a sealed message', () => {
    const message = Object.seal(tool(BIG))
    expect(written(message)).toBe(message)
    expect(textOf(message).length).toBeLessThanOrEqual(51_200)
    expect(Object.isSealed(message)).toBe(true)
  })

  it('changes a message with frozen content, and one with accessors', () => {
    const deep = tool(BIG, { content: Object.freeze([Object.freeze({ type: 'text', text: BIG })]) })
    expect(written(deep)).toBe(deep)
    expect(textOf(deep).length).toBeLessThanOrEqual(51_200)
    let read = 0
    const { content, ...rest } = tool(BIG)
    const lazy = Object.defineProperties(rest, {
      content: { get: () => content, enumerable: true, configurable: true },
      other: { get: () => (read += 1), enumerable: false, configurable: true },
    })
    expect(written(lazy)).toBe(lazy)
    expect(textOf(lazy).length).toBeLessThanOrEqual(51_200)
    expect(read).toBe(0)
  })

  it('keeps the class of a message, and its second copy in step', () => {
    class ToolMessage {
      readonly type = 'tool'
      lc_kwargs: any
      content: string
      tool_call_id: string
      constructor(fields: { content: string; tool_call_id: string }) {
        this.lc_kwargs = fields
        this.content = fields.content
        this.tool_call_id = fields.tool_call_id
      }
      toJSON() {
        return { lc: 1, type: 'constructor', id: ['ToolMessage'], kwargs: this.lc_kwargs }
      }
    }
    const message = new ToolMessage({ content: BIG, tool_call_id: 'c' })
    expect(written(message)).toBe(message)
    expect(message.content.length).toBeLessThanOrEqual(51_200)
    expect(message.lc_kwargs).toEqual({ content: message.content, tool_call_id: 'c' })
    expect(bytesOf(message)).toBeLessThan(60_000)
  })

  it('bounds what a class hides and writes', () => {
    class Hidden {
      readonly role = 'toolResult'
      #content = [{ type: 'text', text: BIG }]
      get content() {
        return this.#content
      }
      toJSON() {
        return { role: this.role, content: this.#content }
      }
    }
    for (const inPlace of [true, false]) {
      const manager = new Manager()
      guardSession(manager, { inPlace })
      manager.appendMessage(new Hidden())
      expect(manager.rows[0]?.length).toBeLessThan(60_000)
    }
    class Odd {
      readonly role = 'toolResult'
      readonly content = [{ type: 'text', text: 'ok' }]
      toJSON() {
        return { other: BIG, id: 5 }
      }
    }
    expect(bytesOf(written(new Odd()))).toBeLessThanOrEqual(262_144)
    expect(written(new Odd())).toMatchObject({ id: 5 })
  })
})

describe('hooks', () => {
  it('transforms tool results alone, and caps the answer', () => {
    const metas: unknown[] = []
    const transform: GuardOptions['transform'] = (message: any, meta) => {
      metas.push(meta)
      expect(textOf(message).length).toBeLessThanOrEqual(51_200)
      return { ...message, content: [{ type: 'text', text: BIG }], details: { raw: BIG }, added: true }
    }
    const message = tool(BIG)
    const kept = written(message, { transform })
    expect(kept).toBe(message)
    expect(kept.added).toBe(true)
    expect(textOf(kept).length).toBeLessThanOrEqual(51_200)
    expect(bytesOf(kept.details)).toBeLessThanOrEqual(8_192)
    const user = { role: 'user', content: 'hi' }
    expect(written(user, { transform })).toBe(user)
    expect(metas).toEqual([{ toolCallId: 'c1', toolName: 'bash' }])
  })

  it('asks beforeWrite about every message, last', () => {
    const order: string[] = []
    const options: GuardOptions = {
      transform: (message: any) => {
        order.push('transform')
        return { ...message, extra: 1 }
      },
      beforeWrite: (message: any) => {
        order.push(`beforeWrite ${message.role} ${message.extra ?? ''}`.trim())
        return message.role === 'secret' ? false : { ...message, content: [{ type: 'text', text: BIG }] }
      },
    }
    const manager = new Manager()
    const guard = guardSession(manager, options)
    expect(manager.appendMessage(tool('short'))).toBe('id 1')
    expect(textOf(manager.kept[0]).length).toBeLessThanOrEqual(51_200)
    expect(manager.appendMessage({ role: 'secret' })).toBe(undefined)
    expect(manager.kept).toHaveLength(1)
    expect(guard.clamped).toBe(1)
    expect(order).toEqual(['transform', 'beforeWrite toolResult 1', 'beforeWrite secret'])
  })

  it('bounds the message that is not written too, since an agent may send it', () => {
    const message = tool(BIG)
    expect(written(message, { beforeWrite: () => false })).toBe(undefined)
    expect(textOf(message).length).toBeLessThanOrEqual(51_200)
  })

  it.each<[string, (message: any) => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['undefined', () => undefined],
    ['null', () => null],
    ['true', () => true],
    ['text', () => 'text'],
  ])('passes over an answer that is not a message: %s', (_, hook) => {
    for (const options of [{ transform: hook }, { beforeWrite: hook }]) {
      const message = tool(BIG)
      const kept = written(message, options)
      expect(kept).toBe(message)
      expect(kept).toEqual(clampResult(tool(BIG)))
    }
  })

  it.each<[string, (message: any) => unknown]>([
    ['a promise', () => Promise.resolve(false)],
    ['a promise that is rejected', () => Promise.reject(new Error('later'))],
    // biome-ignore lint/suspicious/noThenProperty: it is the point
    ['a thenable', () => ({ then: () => {} })],
  ])('writes nothing and throws if a hook answers with %s', (_, hook) => {
    for (const name of ['transform', 'beforeWrite'] as const) {
      const manager = new Manager()
      guardSession(manager, { [name]: hook })
      const expected = {
        code: 'ERR_SPILLWAY_OPTION',
        message: `${name} must be a function that answers at once, got a promise`,
      }
      expect(() => manager.appendMessage(tool(BIG))).toThrow(expect.objectContaining(expected))
      expect(manager.kept).toEqual([])
    }
  })

  it('rejects an async hook at once', () => {
    for (const name of ['transform', 'beforeWrite'] as const)
      expect(() => guardSession(new Manager(), { [name]: async () => false })).toThrow(
        expect.objectContaining({
          code: 'ERR_SPILLWAY_OPTION',
          message: `${name} must be a function that answers at once, got an async function`,
        }),
      )
  })

  it('caps what a hook did to the message itself', () => {
    const hook = (message: any) => {
      message.content = [{ type: 'text', text: BIG }]
    }
    for (const options of [{ transform: hook }, { beforeWrite: hook }, { beforeWrite: hook, inPlace: false }])
      expect(textOf(written(tool('short'), options)).length).toBeLessThanOrEqual(51_200)
  })

  it('writes an answer that holds the message, or is of another class, as it is', () => {
    const message = tool('short')
    const around = written(message, { beforeWrite: (message) => ({ role: 'user', message }) })
    expect(around).toEqual({ role: 'user', message: tool('short') })
    expect(message).toEqual(tool('short'))
    class Stored {
      role = 'toolResult'
      content = [{ type: 'text', text: BIG }]
    }
    const kept = written(message, { transform: () => new Stored() })
    expect(kept).toBeInstanceOf(Stored)
    expect(textOf(kept).length).toBeLessThanOrEqual(51_200)
    expect(message).toEqual(tool('short'))
  })
})

describe('events', () => {
  const heard: ClampEvent[] = []
  const clamps = channel('spillway:clamp')
  const listen = (event: unknown) => heard.push(event as ClampEvent)
  afterEach(() => {
    clamps.unsubscribe(listen)
    heard.length = 0
  })

  it('tells of each cut, to onClamp and on the channel', () => {
    clamps.subscribe(listen)
    const events: ClampEvent[] = []
    written(tool(BIG), { onClamp: (event) => events.push(event) })
    expect(events).toEqual([
      {
        action: 'cut',
        reason: 'limits',
        tool: 'bash',
        callId: 'c1',
        phase: 'result',
        total: { bytes: 600_000, chars: 570_000, lines: 30_000 },
        kept: expect.objectContaining({ chars: expect.any(Number) }),
        exceeded: ['bytes', 'lines'],
      },
    ])
    expect(heard).toEqual(events)
    expect(JSON.stringify(events)).not.toContain('a line')
    written(tool('short'), { onClamp: (event) => events.push(event) })
    expect(events).toHaveLength(1)
  })

  it('tells of a text that the row cut, and does not mind who throws', () => {
    const events: ClampEvent[] = []
    const onClamp = (event: ClampEvent) => {
      events.push(event)
      throw new Error('no')
    }
    written(tool('\u0001'.repeat(51_200)), { onClamp })
    expect(events).toHaveLength(1)
    expect(events[0]?.exceeded).toEqual(['chars'])
  })
})

describe('maxRowBytes', () => {
  it('cuts side data first, then members that no dialect knows, then text', () => {
    const make = () =>
      tool('x'.repeat(20_000), {
        details: { raw: 'd'.repeat(7_000), exitCode: 1 },
        extra: { raw: 'e'.repeat(30_000) },
        content: [
          { type: 'text', text: 'x'.repeat(20_000) },
          { type: 'json', json: { rows: 'j'.repeat(30_000) } },
        ],
      })
    const sizes = (message: any) =>
      [message.details, message.extra, message.content[1]?.json, message.content[0].text].map((value) =>
        value === undefined ? 0 : bytesOf(value),
      )
    const [details = 0, extra = 0, json = 0, text = 0] = sizes(make())
    const whole = bytesOf(make())
    const at = (maxRowBytes: number) => {
      const kept = written(make(), { maxRowBytes, maxBytes: 200_000 })
      expect(bytesOf(kept)).toBeLessThanOrEqual(maxRowBytes)
      return sizes(kept) as [number, number, number, number]
    }
    expect(at(whole)).toEqual([details, extra, json, text])
    const side = at(whole - 3_000)
    expect(side[0]).toBeLessThan(details)
    expect(side.slice(1)).toEqual([extra, json, text])
    const unknown = at(whole - 30_000)
    expect(unknown[0]).toBe(0)
    expect(unknown[1]).toBeGreaterThan(10_000)
    expect(unknown[1]).toBeLessThan(extra)
    expect(unknown[3]).toBe(text)
    const texts = at(15_000)
    expect(texts[1] + texts[2]).toBeLessThan(2_500)
    expect(texts[3]).toBeGreaterThan(10_000)
    const kept = written(make(), { maxRowBytes: 15_000 })
    expect(kept).toMatchObject({ toolCallId: 'c1', toolName: 'bash', isError: false, timestamp: 1 })
    expect(kept.content[1]).toMatchObject({ type: 'json' })
  })

  it('counts escapes: 51,200 control characters are 300 KB of JSON', () => {
    const kept = written(tool('\u0001'.repeat(51_200)))
    expect(bytesOf(kept)).toBeLessThanOrEqual(262_144)
    expect(bytesOf(kept)).toBeGreaterThan(250_000)
    expect(textOf(kept)).toMatch(/tool output truncated: [\d,]+ of 51,200 chars omitted/)
    expect(written(kept)).toBe(kept)
  })

  it('does not count images, and keeps them', () => {
    const image = { type: 'image', data: 'A'.repeat(900_000), mimeType: 'image/png' }
    const message = tool('x'.repeat(9_000), { content: [{ type: 'text', text: 'x'.repeat(9_000) }, image] })
    expect(written(message)).toBe(message)
    expect(message.content[1]).toBe(image)
    const kept = written(message, { maxRowBytes: 4_096 })
    expect(kept.content[1]).toBe(image)
    expect(textOf(kept).length).toBeGreaterThan(3_000)
    const odd = { type: 'image', data: [BIG], mimeType: 'image/png' }
    expect(bytesOf(written(tool('', { content: [odd] })))).toBeLessThanOrEqual(262_144)
  })

  it('keeps every result of a message, and what stands beside them while it can', () => {
    const results = Array.from({ length: 12 }, (_, at) => ({
      type: 'tool_result',
      tool_use_id: `c${at}`,
      content: [{ type: 'text', text: 'x'.repeat(40_000) }],
    }))
    const words = { type: 'text', text: 'w'.repeat(9_000) }
    const kept = written({ role: 'user', content: [...results, words] })
    expect(bytesOf(kept)).toBeLessThanOrEqual(262_144)
    expect(kept.content.map(({ tool_use_id }: any) => tool_use_id)).toEqual([
      ...results.map(({ tool_use_id }) => tool_use_id),
      undefined,
    ])
    expect(kept.content[12]).toBe(words)
    for (const { content } of kept.content.slice(0, 12))
      expect(content[0].text.length).toBeGreaterThan(15_000)
    const long = { type: 'text', text: 'w'.repeat(900_000) }
    const both = written({ role: 'user', content: [results[0], long] })
    expect(both.content[0]).toBe(results[0])
    expect(bytesOf(both)).toBeLessThanOrEqual(262_144)
  })

  function expectHeld(make: () => any): void {
    for (const maxRowBytes of [262_144, 20_000, 2_048]) {
      const kept = written(make(), { maxRowBytes })
      expect(bytesOf(kept)).toBeLessThanOrEqual(maxRowBytes)
      expect(kept.role ?? kept.type.slice(0, 5)).toBe(make().role ?? 'tool-')
    }
  }

  it.each<[string, () => any]>([
    ['many unknown blocks', () => tool('', { content: Array(10_000).fill({ type: 'odd', at: 1 }) })],
    ['a long id', () => tool('', { toolCallId: BIG })],
    ['a long name', () => tool('', { toolName: BIG })],
    ['a long key', () => tool('', { [BIG]: 1 })],
    ['an id that is an object', () => tool('', { toolCallId: { BIG } })],
    ['content that is not a list', () => tool('', { content: { BIG } })],
    ['text that is not a text', () => tool('', { content: [{ type: 'text', text: { BIG } }] })],
    [
      'signatures',
      () => tool('', { content: Array(400).fill({ type: 'text', text: 'x', sign: 's'.repeat(1_000) }) }),
    ],
    ['a long type', () => ({ type: `tool-${BIG}`, state: 'output-available', output: 'x' })],
    [
      'a member that writes something else',
      () =>
        tool('', {
          extra: { toJSON: () => BIG },
          content: [{ type: 'text', text: 'a', toJSON: () => ({ BIG }) }],
        }),
    ],
  ])('holds for %s', (_, make) => expectHeld(make))

  it.each<[string, () => any]>([
    ['many blocks', () => tool('', { content: Array(20_000).fill({ type: 'text', text: 'x' }) })],
    [
      'many images',
      () => tool('', { content: Array(8_000).fill({ type: 'image', data: '', mimeType: 'image/png' }) }),
    ],
    [
      'many images after a result without blocks',
      () => {
        const result = { type: 'tool_result', tool_use_id: 'c1' }
        const image = () => ({ type: 'image', source: { type: 'base64', data: '', media_type: 'image/png' } })
        const content = [
          { ...result, content: [] },
          { ...result, content: Array.from({ length: 8_000 }, image) },
        ]
        return { role: 'user', content }
      },
    ],
    [
      'many members',
      () => tool('', Object.fromEntries(Array.from({ length: 15_000 }, (_, at) => [`m${at}`, at]))),
    ],
    ['content of words', () => tool('', { content: Array(40_000).fill('word') })],
  ])('holds for %s', { tags: 'long' }, (_, make) => expectHeld(make))

  it('holds the limits too where what is not a text becomes one', () => {
    const long = { type: 'text', text: 'a line of it\n'.repeat(90) }
    const odd = { type: 'text', text: new Map(), textSignature: [{ a: 'x'.repeat(9_000) }] }
    const message = tool('', { content: [long, odd] })
    const kept = written(message, { maxRowBytes: 5_000, maxBytes: 200 })
    const texts = kept.content.flatMap(({ text }: any) => (typeof text === 'string' ? text : []))
    expect(Buffer.byteLength(texts.join(''))).toBeLessThanOrEqual(200)
    const json = JSON.stringify(kept)
    expect(JSON.stringify(written(kept, { maxRowBytes: 5_000, maxBytes: 200 }))).toBe(json)
  })

  const value = fc.anything({
    maxDepth: 3,
    maxKeys: 6,
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withObjectString: true,
    withNullPrototype: true,
    withSparseArray: true,
    values: [hostileText, fc.integer(), fc.boolean(), fc.constantFrom(null, undefined, 'x'.repeat(3_000))],
  })
  /** No bytes of an image, which would not count, nor what is described by a text, which passes for
   *  them. */
  const unpaid = value.filter((value) => {
    if (typeof value !== 'object' || value === null) return !['string', 'bigint'].includes(typeof value)
    return [Array.prototype, Object.prototype, null].includes(Object.getPrototypeOf(value))
  })
  const block = fc.oneof(
    hostileText.map((text) => ({ type: 'text', text })),
    fc.record({ type: fc.constant('text'), text: value, textSignature: value }),
    fc.constantFrom({ type: 'image', data: 'QUJD', mimeType: 'image/png' }, null, 'a word', 7, undefined),
    fc.record({ type: fc.constantFrom('image', 'resource', 'odd'), data: unpaid, resource: value }),
    value,
  )
  const hostileMessage = fc.oneof(
    fc
      .tuple(
        fc.record({
          details: value,
          isError: fc.boolean(),
          toolCallId: value,
          toolName: value,
          structuredContent: value,
        }),
        fc.oneof(fc.array(block, { maxLength: 8 }), hostileText, value),
        fc.dictionary(fc.string({ maxLength: 8 }), value, { maxKeys: 5 }),
      )
      .map(([rest, content, extra]) => ({ ...extra, ...rest, role: 'toolResult', content })),
    fc
      .tuple(fc.constantFrom(...samples), hostileText, fc.integer({ min: 1, max: 99 }), value)
      .map(([{ make }, text, times, extra]) => Object.assign(make(text.repeat(times)), { extra })),
  )
  const options = fc.record({
    maxRowBytes: fc.oneof(fc.integer({ min: 2_048, max: 9_000 }), fc.constant(262_144)),
    maxBytes: fc.constantFrom(200, 9_000, 51_200),
    sideData: fc.constantFrom('whole' as const, 'cap' as const, 'drop' as const),
    inPlace: fc.boolean(),
    share: fc.constantFrom('fair' as const, 'order' as const, 'each' as const),
  })

  /** Bytes of images and files in the samples. */
  const PAYLOADS = /"(data:image\/png;base64,)?iVBORw0KGgo="|"QUJD"|"aGk="|"data:,"|\{"0":1,"1":2,"2":3\}/g
  /** BigInt stops a manager, not the guard. */
  const hasJson = (value: unknown) => {
    try {
      return JSON.stringify(value) !== undefined
    } catch {
      return false
    }
  }
  const json = (value: unknown) =>
    JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part))

  it('holds for hostile messages, in well-formed texts, and changes nothing the second time', () => {
    fc.assert(
      fc.property(hostileMessage, options, (message, { maxRowBytes, ...rest }) => {
        const kept: any[] = []
        const manager = { appendMessage: (message: unknown) => kept.push(message) }
        guardSession(manager, { maxRowBytes, ...rest })
        manager.appendMessage(message)
        if (hasJson(kept[0])) {
          const payloads = json(kept[0]).match(PAYLOADS) ?? []
          const bytes = Buffer.byteLength(json(kept[0])) - payloads.join('').length
          expect(bytes).toBeLessThanOrEqual(maxRowBytes)
        }
        expect((kept[0] as any).role).toBe((message as any).role)
        const { content } = kept[0] as any
        for (const block of Array.isArray(content) ? content : [{ type: 'text', text: content }])
          if (block?.type === 'text' && typeof block.text === 'string' && kept[0].role === 'toolResult')
            expect(block.text.isWellFormed()).toBe(true)
        const again = kept[0]
        const before = json(again)
        manager.appendMessage(again)
        expect(kept[1]).toBe(again)
        expect(json(again)).toBe(before)
      }),
      { numRuns: 600 },
    )
  })
})

describe('payloads', () => {
  const wav = (length: number) => payload('wav', length)
  const audio = (rest: object = {}) =>
    tool('', { content: [{ type: 'audio', data: wav(600_000), mimeType: 'audio/wav', ...rest }] })

  it('drops the base64 of an audio block whole, and says how large it was', () => {
    expect(written(audio()).content[0]).toMatchObject({
      type: 'audio',
      data: '[... 600,000 bytes of audio/wav omitted]',
      mimeType: 'audio/wav',
    })
    const half = written(tool('', { content: [{ type: 'hologram', data: wav(500_001) }] }))
    expect(half.content[0].data).toBe('[... 500,001 bytes omitted]')
    const silence = written(audio({ data: 'A'.repeat(800_000) }))
    expect(silence.content[0].data).toBe('[... 600,000 bytes of audio/wav omitted]')
  })

  it.each<[string, object, string]>([
    ['a data URL', { url: `data:image/webp;q=1;base64,${wav(400_000)}` }, '400,000 bytes of image/webp'],
    ['base64url', { blob: wav(400_000).replaceAll('+', '-').replaceAll('/', '_') }, '400,000 bytes'],
    ['a format', { input_audio: { data: 'B'.repeat(400_000), format: 'wav' } }, '300,000 bytes of wav'],
    [
      'a type above',
      { image: { format: 'png', source: { bytes: 'B'.repeat(400_000) } } },
      '300,000 bytes of png',
    ],
    ['a type that is not a name', { media_type: 'a b/c', data: wav(400_000) }, '400,000 bytes'],
  ])('names %s', (_, block, said) => {
    expect(JSON.stringify(written(tool('', { content: [{ type: 'odd', ...block }] })))).toContain(
      `"[... ${said} omitted]"`,
    )
  })

  it.each<[string, string, object?]>([
    ['words', 'MORE words '.repeat(40_000)],
    ['one letter', 'h'.repeat(400_000)],
    ['hex digits', createHash('sha256').update('').digest('hex').repeat(6_000), { mimeType: 'audio/wav' }],
    ['minified code', 'function(a){return B(a)};'.repeat(20_000)],
    ['a text by its type', 'h'.repeat(400_000), { mimeType: 'text/plain' }],
    ['a wrong length', `${wav(300_000)}x`],
  ])('shortens %s as text', (_, raw, rest = {}) => {
    const kept = written(tool('', { content: [{ type: 'odd', raw, ...rest }] }), { maxRowBytes: 20_000 })
    expect(kept.content[0].raw.slice(0, 50)).toBe(raw.slice(0, 50))
    expect(kept.content[0].raw).toMatch(/\[\.\.\. \d+ more characters truncated\]$/)
  })

  it('leaves each whole or takes all of it, in every dialect, wherever it stands', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.array(fc.tuple(fc.integer({ min: 768, max: 60_000 }), fc.nat()), { minLength: 1, maxLength: 4 }),
        fc.constantFrom(4_096, 20_000, 100_000),
        fc.constantFrom('whole' as const, 'cap' as const),
        (sample, sizes, maxRowBytes, sideData) => {
          const message = sample.make('a line\n'.repeat(20)) as any
          const payloads = sizes.map(([bytes, at]) =>
            planted(message, payload(`${bytes} ${at}`, bytes), at, sample.json),
          )
          const results = Math.max(1, sample.ids?.length ?? 1)
          const kept = written(message, { maxRowBytes: maxRowBytes * results, sideData })
          expect(fragmentsOf(payloads, JSON.stringify(kept))).toEqual([])
          const json = JSON.stringify(kept)
          expect(JSON.stringify(written(kept, { maxRowBytes: maxRowBytes * results, sideData }))).toBe(json)
        },
      ),
      { numRuns: 200 },
    )
  })
})
