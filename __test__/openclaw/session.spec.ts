// biome-ignore-all lint/suspicious/noExplicitAny: what is stored is anything
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  calculateMaxToolResultChars,
  getRawSessionAppendMessage,
  installSessionToolResultGuard,
  MISSING_TOOL_RESULT_TEXT,
  type SessionToolResultGuardOptions,
  truncateOversizedToolResultsInMessages,
  truncateOversizedToolResultsInSession,
} from 'spillway/openclaw'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { getToolResultTextLength } from '../support/openclaw_tests.js'

/** Keeps messages as the session managers of Pi and OpenClaw do. */
class Manager {
  readonly kept: any[] = []

  appendMessage(message: any): string {
    this.kept.push(message)
    return `id ${this.kept.length}`
  }

  get roles(): string[] {
    return this.kept.map(({ role, toolCallId = '' }) => `${role} ${toolCallId}`.trim())
  }
}

const user = { role: 'user', content: 'go on' }
const call = (id: string, rest: object = {}) => ({
  type: 'toolCall',
  id,
  name: 'bash',
  arguments: {},
  ...rest,
})
const answer = (...content: unknown[]) => ({ role: 'assistant', content, stopReason: 'toolUse' })
const result = (toolCallId: string, text = 'done', rest: object = {}): any => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'bash',
  content: [{ type: 'text', text }],
  isError: false,
  timestamp: 1,
  ...rest,
})
const BIG = 'a line of output é\n'.repeat(30_000)

function guarded(options?: SessionToolResultGuardOptions) {
  const manager = new Manager()
  return { manager, guard: installSessionToolResultGuard(manager, options) }
}

describe('installSessionToolResultGuard', () => {
  it('cuts a result, its details and its row before they are stored, in place', () => {
    const { manager } = guarded()
    const message = result('c1', BIG, { details: { raw: BIG, exitCode: 1 } })
    expect(manager.appendMessage(message)).toBe('id 1')
    expect(manager.kept[0]).toBe(message)
    expect(getToolResultTextLength(message)).toBeLessThanOrEqual(40_000)
    expect(message.content[0].text).toMatch(/\[\.\.\. \d+ more characters truncated\]/)
    expect(message.details.exitCode).toBe(1)
    expect(Buffer.byteLength(JSON.stringify(message.details))).toBeLessThanOrEqual(8_192)
    const odd = result('c1', BIG, { nobodyKnows: BIG })
    manager.appendMessage(odd)
    expect(manager.kept.pop()).toBe(odd)
    expect(Buffer.byteLength(JSON.stringify(odd))).toBeLessThanOrEqual(262_144)
    const rows = [user, answer({ type: 'text', text: BIG }), Object.freeze(result('c2'))]
    for (const row of rows) manager.appendMessage(row)
    expect(manager.kept.slice(1)).toEqual(rows)
    expect(manager.kept[3]).toBe(rows[2])
  })

  it('has the limits of the profile, or those that it is given', () => {
    for (const [options, most] of [
      [{ profile: 'latest' }, 16_000],
      [{ maxToolResultChars: calculateMaxToolResultChars(128_000, { profile: 'latest' }) }, 32_000],
      [{ maxToolResultChars: 100 }, 100],
    ] as const) {
      const { manager } = guarded(options)
      manager.appendMessage(result('c1', BIG))
      const length = getToolResultTextLength(manager.kept[0])
      expect(length).toBeLessThanOrEqual(most)
      expect(length).toBeGreaterThan(most * 0.9)
    }
  })

  it('answers calls whose results have not come before what is not a result', () => {
    const { manager, guard } = guarded()
    manager.appendMessage(answer(call('c1'), call('c2', { name: ' read ' }), call('c3')))
    manager.appendMessage(result('c2'))
    expect(guard.getPendingIds()).toEqual(['c1', 'c3'])
    expect(manager.appendMessage(user)).toBe('id 5')
    expect(manager.roles).toEqual(['assistant', 'toolResult c2', 'toolResult c1', 'toolResult c3', 'user'])
    expect(manager.kept[2]).toEqual({
      role: 'toolResult',
      toolCallId: 'c1',
      toolName: 'bash',
      content: [{ type: 'text', text: MISSING_TOOL_RESULT_TEXT }],
      isError: true,
      timestamp: expect.any(Number),
    })
    expect(guard.getPendingIds()).toEqual([])

    manager.appendMessage(answer(call('c4')))
    guard.flushPendingToolResults()
    expect(manager.roles.slice(5)).toEqual(['assistant', 'toolResult c4'])
    manager.appendMessage(answer(call('c5')))
    guard.clearPendingToolResults()
    manager.appendMessage(user)
    expect(manager.roles.slice(7)).toEqual(['assistant', 'user'])
  })

  it('keeps the next message of the user back when told, also where no option asks for it', async () => {
    const { manager, guard } = guarded()
    guard.setNextUserMessagePersistenceSuppression()
    manager.appendMessage(user)
    manager.appendMessage(user)
    guard.setNextUserMessagePersistenceSuppression(true)
    guard.setNextUserMessagePersistenceSuppression(false)
    manager.appendMessage(user)
    expect(manager.roles).toEqual(['user', 'user'])
    manager.appendMessage(answer(call('c1')))
    await guard.flushPendingToolResultsAsync()
    expect(manager.roles.slice(2)).toEqual(['assistant', 'toolResult c1'])
    expect(() => guard.setNextUserMessagePersistenceSuppression('yes' as never)).toThrow(/suppress must be/)
  })

  it('forgets them where nothing may take their place', () => {
    const { manager, guard } = guarded({ allowSyntheticToolResults: false })
    manager.appendMessage(answer(call('c1')))
    manager.appendMessage(answer(call('c2')))
    expect(guard.getPendingIds()).toEqual(['c2'])
    manager.appendMessage(user)
    guard.flushPendingToolResults()
    expect(manager.roles).toEqual(['assistant', 'assistant', 'user'])
  })

  it('lets calls of several messages wait together in the latest profile only', () => {
    for (const [profile, roles] of [
      ['april', ['assistant', 'toolResult c1', 'assistant']],
      ['latest', ['assistant', 'assistant']],
    ] as const) {
      const { manager, guard } = guarded({ profile })
      manager.appendMessage(answer(call('c1')))
      manager.appendMessage(answer(call('c2')))
      expect(manager.roles).toEqual(roles)
      expect(guard.getPendingIds()).toEqual(profile === 'april' ? ['c2'] : ['c1', 'c2'])
    }
  })

  it('waits for no call of a turn that broke off', () => {
    for (const stopReason of ['error', 'aborted']) {
      const { manager, guard } = guarded({ missingToolResultText: 'nothing came' })
      manager.appendMessage(answer(call('c1')))
      manager.appendMessage({ ...answer(call('c2')), stopReason })
      expect(guard.getPendingIds()).toEqual([])
      expect(manager.roles).toEqual(['assistant', 'toolResult c1', 'assistant'])
      expect(manager.kept[1].content[0].text).toBe('nothing came')
    }
  })

  it('omits calls that no provider takes, and messages that would be empty', () => {
    const wrong = [
      call(''),
      call('c1', { id: 5 }),
      call('c2', { name: undefined }),
      call('c3', { name: 'two words' }),
      call('c4', { name: 'x'.repeat(65) }),
      call('c5', { arguments: undefined }),
      call('c6', { type: 'toolUse', arguments: undefined, input: null }),
      call('c7', { name: 'write' }),
    ]
    const { manager, guard } = guarded({ allowedToolNames: new Set(['Bash']) })
    const message = answer({ type: 'text', text: 'both' }, ...wrong, call('c8', { name: 'BASH' }))
    manager.appendMessage(message)
    expect(manager.kept[0].content).toEqual([message.content[0], message.content.at(-1)])
    expect(message.content).toHaveLength(10)
    expect(guard.getPendingIds()).toEqual(['c8'])
    expect(manager.appendMessage(answer(...wrong))).toBeUndefined()
    expect(manager.roles).toEqual(['assistant', 'toolResult c8'])
    const empty = answer()
    manager.appendMessage(empty)
    expect(manager.kept.at(-1)).toBe(empty)
  })

  it('names a result as its call did', () => {
    const { manager } = guarded()
    manager.appendMessage(answer(call('c1'), call('c2'), call('c3', { name: undefined })))
    for (const [id, toolName] of [
      ['c1', undefined],
      ['c2', '  '],
      ['c3', ''],
      ['c4', ' read '],
    ])
      manager.appendMessage(result(id as string, 'x', { toolName }))
    expect(manager.kept.slice(1).map(({ toolName }) => toolName)).toEqual(['bash', 'bash', '', 'read'])
  })

  it.each([
    ['april', {}],
    ['2026.7', { toolName: 'unknown' }],
    ['2026.9', { toolName: 'unknown', isError: false }],
  ] as const)('adds what a result lacks as %s does', (profile, added) => {
    const { manager } = guarded({ profile })
    const bare = { role: 'toolResult', toolCallId: 'c', content: [{ type: 'text', text: 'x' }] }
    manager.appendMessage({ ...bare })
    expect(manager.kept).toEqual([{ ...bare, ...added }])
  })

  it('cuts again what hooks made of a result, and tells them what it is', () => {
    const told: unknown[] = []
    const { manager } = guarded({
      maxToolResultChars: 5_000,
      transformMessageForPersistence: (message) => ({ ...message, seen: true }),
      transformToolResultForPersistence: (message, meta) => {
        told.push({ ...meta, length: getToolResultTextLength(message) <= 5_000 })
        return { ...message, content: [{ type: 'text', text: BIG }] }
      },
      beforeMessageWriteHook: ({ message }) =>
        message.role === 'user' ? undefined : { message: { ...message, last: message.role } },
    })
    manager.appendMessage(answer(call('c1'), call('c2')))
    manager.appendMessage(result('c1', BIG))
    manager.appendMessage(user)
    expect(told).toEqual([
      { toolCallId: 'c1', toolName: 'bash', isSynthetic: false, length: true },
      { toolCallId: 'c2', toolName: 'bash', isSynthetic: true, length: true },
    ])
    expect(manager.kept.map(({ seen, last }) => [seen, last])).toEqual([
      [true, 'assistant'],
      [true, 'toolResult'],
      [true, 'toolResult'],
      [true, undefined],
    ])
    for (const row of manager.kept.slice(1, 3)) {
      expect(getToolResultTextLength(row)).toBeLessThanOrEqual(5_000)
      expect(getToolResultTextLength(row)).toBeGreaterThan(4_000)
    }
  })

  it('writes nothing that a hook blocks, and passes a hook over that throws', () => {
    const blocking = guarded({
      beforeMessageWriteHook: ({ message }) => ({ block: message.role === 'toolResult' }),
    })
    expect(blocking.manager.appendMessage(result('c1'))).toBeUndefined()
    expect(blocking.manager.appendMessage(user)).toBe('id 1')
    const no = () => {
      throw new Error('no')
    }
    const { manager } = guarded({
      maxToolResultChars: 100,
      transformMessageForPersistence: no,
      transformToolResultForPersistence: no,
      beforeMessageWriteHook: no,
    })
    manager.appendMessage(user)
    manager.appendMessage(result('c1', BIG))
    expect(manager.kept[0]).toEqual(user)
    expect(getToolResultTextLength(manager.kept[1])).toBeLessThanOrEqual(100)
  })

  it.each([
    '2026.4',
    '2026.7',
    'latest',
  ] as const)('lets a call wait whose result a hook blocked, in %s', (profile) => {
    const isReal = (message: any) => message.role === 'toolResult' && !message.isError
    const { manager, guard } = guarded({
      profile,
      beforeMessageWriteHook: ({ message }) => ({ block: isReal(message) }),
    })
    manager.appendMessage(answer(call('c1')))
    manager.appendMessage(result('c1'))
    expect([guard.getPendingIds(), guard.hasPendingToolResults()]).toEqual([['c1'], true])
    manager.appendMessage(user)
    expect(manager.roles).toEqual(['assistant', 'toolResult c1', 'user'])
    expect(guard.hasPendingToolResults()).toBe(false)
  })

  it('lets a call wait whose result was not stored, since the append threw or rejected', async () => {
    for (const isAsync of [false, true]) {
      let isFull = false
      const append = (message: any) => {
        if (isFull) throw new Error('disk full')
        return message
      }
      const appendAsync = async (message: any) => append(message)
      const manager = { appendMessage: isAsync ? appendAsync : append }
      const guard = installSessionToolResultGuard(manager)
      await manager.appendMessage(answer(call('c1'), call('c2')))
      isFull = true
      await expect(async () => manager.appendMessage(result('c1'))).rejects.toThrow('disk full')
      expect(guard.getPendingIds().sort()).toEqual(['c1', 'c2'])
      await expect(async () => manager.appendMessage(user)).rejects.toThrow('disk full')
      await new Promise(setImmediate)
      expect(guard.getPendingIds().sort()).toEqual(['c1', 'c2'])
    }
  })

  it('lets a call wait behind further parts of the response that made it', () => {
    const { manager } = guarded({ profile: 'latest' })
    manager.appendMessage({ ...answer(call('c1')), turnId: 't1' })
    manager.appendMessage({ ...answer({ type: 'text', text: 'now' }), turnId: 't1', responseId: 'r1' })
    manager.appendMessage(result('c1'))
    expect(manager.roles).toEqual(['assistant', 'assistant', 'toolResult c1'])
    manager.appendMessage({ ...answer(call('c2')), turnId: 't2' })
    manager.appendMessage({ ...answer({ type: 'text', text: 'later' }), turnId: 't3' })
    expect(manager.roles.slice(3)).toEqual(['assistant', 'toolResult c2', 'assistant'])
  })

  it('guards the async append of a manager, one message after the other', async () => {
    class AsyncManager extends Manager {
      async appendMessageAsync(message: any): Promise<string> {
        // The first append takes longest.
        for (let turns = 8 - this.kept.length; turns > 0; turns--) await null
        return this.appendMessage(message)
      }
    }
    const manager = new AsyncManager()
    const told: unknown[] = []
    const guard = installSessionToolResultGuard(manager, {
      profile: 'latest',
      runId: 'r1',
      onMessagePersisted: (message, { entryId }) => told.push([message.role, entryId]),
    })
    const all = [answer(call('c1'), call('c2')), result('c1', BIG), user]
    const ids = await Promise.all(all.map((message) => manager.appendMessageAsync(message)))
    expect(ids).toEqual(['id 1', 'id 2', 'id 4'])
    expect(manager.roles).toEqual(['assistant', 'toolResult c1', 'toolResult c2', 'user'])
    expect(getToolResultTextLength(manager.kept[1])).toBeLessThanOrEqual(16_000)
    expect(told).toEqual(manager.kept.map(({ role }, at) => [role, `id ${at + 1}`]))
    await manager.appendMessageAsync(answer(call('c4'), call('c5')))
    const flushed = guard.flushPendingToolResultsAsync()
    expect(manager.roles.slice(4)).toEqual(['assistant'])
    await flushed
    expect(manager.roles.slice(4)).toEqual(['assistant', 'toolResult c4', 'toolResult c5'])
    expect(guard.getPendingIds()).toEqual([])
    guard.uninstall()
    await manager.appendMessageAsync(result('c3', BIG))
    expect(getToolResultTextLength(manager.kept[7])).toBe(BIG.length)
  })

  it('leaves secrets where the host has switched redaction off, and hides them where it is on', () => {
    const secret = `password: ${['aB3dE5gH', '7jK9mN1p', 'Q3sT5vW7'].join('')}`
    const stored = (options: SessionToolResultGuardOptions) => {
      const { manager } = guarded(options)
      manager.appendMessage(result('c1', secret))
      return manager.kept[0].content[0].text
    }
    for (const profile of ['2026.4', '2026.7', 'latest'] as const) {
      expect(stored({ profile, redact: false })).toBe(secret)
      expect(stored({ profile, redact: true })).not.toBe(secret)
      expect(stored({ profile })).toBe(stored({ profile, redact: profile !== '2026.4' }))
    }
  })

  it.each<[string, (message: any) => unknown]>([
    ['a text', (message) => (message.content[0].text = BIG)],
    ['a block', (message) => message.content.push({ type: 'text', text: BIG })],
    ['a list', (message) => (message.content = [{ type: 'text', text: BIG }])],
    ['a member deep in the details', (message) => (message.details.deep.list[0] = BIG)],
    ['a new member', (message) => (message.more = BIG)],
    ['a getter', (message) => Object.defineProperty(message, 'more', { get: () => BIG, enumerable: true })],
    ['a class', (message) => Object.setPrototypeOf(message, { toJSON: () => ({ ...message, more: BIG }) })],
  ])('cuts again what a hook changed in place: %s', (_, change) => {
    for (const hook of ['transformToolResultForPersistence', 'beforeMessageWriteHook'] as const) {
      const { manager } = guarded({
        profile: 'latest',
        [hook]: (given: any) => {
          change(given.message ?? given)
          return undefined
        },
      })
      const message = result('c1', 'small', { details: { deep: { list: ['x'] } } })
      manager.appendMessage(message)
      const [row] = manager.kept
      expect(getToolResultTextLength(row)).toBeLessThanOrEqual(16_000)
      expect(Buffer.byteLength(JSON.stringify(row.details))).toBeLessThanOrEqual(8_192)
      expect(Buffer.byteLength(JSON.stringify(row))).toBeLessThanOrEqual(262_144)
    }
  })

  it('reads a result once, and again only where a hook changed it', () => {
    const stringify = vi.spyOn(JSON, 'stringify')
    const hooks = {
      transformMessageForPersistence: (message: any) => message,
      transformToolResultForPersistence: (message: any) => message,
      beforeMessageWriteHook: () => undefined,
    }
    try {
      for (const profile of ['2026.4', '2026.7', 'latest'] as const)
        for (const options of [{}, hooks]) {
          const { manager } = guarded({ profile, ...options })
          const message = result('c1', BIG)
          stringify.mockClear()
          manager.appendMessage(message)
          expect(manager.kept).toEqual([message])
          expect(stringify).not.toHaveBeenCalled()
        }
    } finally {
      stringify.mockRestore()
    }
  })

  it('names the call of a result in the member that managers look for', () => {
    const { manager, guard } = guarded({ profile: 'latest' })
    manager.appendMessage(answer(call('c1')))
    manager.appendMessage({ role: 'toolResult', toolUseId: 'c1', content: [] })
    expect(manager.kept[1]).toEqual({
      role: 'toolResult',
      toolUseId: 'c1',
      toolCallId: 'c1',
      toolName: 'bash',
      content: [],
      isError: false,
    })
    expect(guard.hasPendingToolResults()).toBe(false)
  })

  it('answers no call that a hook kept from being stored', () => {
    const blocking = guarded({
      beforeMessageWriteHook: ({ message }) => ({ block: message.role === 'assistant' }),
    })
    blocking.manager.appendMessage(answer(call('c1')))
    expect(blocking.guard.getPendingIds()).toEqual([])
    blocking.manager.appendMessage(user)
    expect(blocking.manager.roles).toEqual(['user'])
    const { manager, guard } = guarded({
      beforeMessageWriteHook: ({ message }) =>
        message.role === 'assistant' ? { message: answer(call('c2')) as never } : undefined,
    })
    manager.appendMessage(answer(call('c1'), call('c2')))
    expect(guard.getPendingIds()).toEqual(['c2'])
    manager.appendMessage(user)
    expect(manager.roles).toEqual(['assistant', 'toolResult c2', 'user'])
  })

  it('takes the place of the guard before it, and goes without a trace', () => {
    const manager = new Manager()
    installSessionToolResultGuard(manager, { maxToolResultChars: 100 })
    const guard = installSessionToolResultGuard(manager, { maxToolResultChars: 9_000 })
    manager.appendMessage(result('c1', BIG))
    expect(getToolResultTextLength(manager.kept[0])).toBeGreaterThan(8_000)
    manager.appendMessage(answer(call('c2')))
    guard.uninstall()
    expect(Object.keys(manager)).toEqual(['kept'])
    expect(manager.appendMessage).toBe(Manager.prototype.appendMessage)
    manager.appendMessage(user)
    expect(manager.roles).toEqual(['toolResult c1', 'assistant', 'user'])
  })

  it.each([
    -1,
    Number.NaN,
    '5',
  ])('takes the default for a cap of %s, and tells so once', (maxToolResultChars) => {
    const told: unknown[] = []
    const listen = (warning: unknown) => told.push(warning)
    subscribe('spillway:warning', listen)
    const { manager } = guarded({ maxToolResultChars } as never)
    guarded({ maxToolResultChars } as never)
    unsubscribe('spillway:warning', listen)
    manager.appendMessage(result('c1', BIG))
    expect(getToolResultTextLength(manager.kept[0])).toBeGreaterThan(39_900)
    expect(getToolResultTextLength(manager.kept[0])).toBeLessThanOrEqual(40_000)
    expect(told).toEqual([{ field: 'maxToolResultChars', value: maxToolResultChars, used: 40_000 }])
  })

  it('refuses wrong options, and what is not a manager', () => {
    const refusal = (field: string) =>
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringContaining(field) })
    const wrong: [unknown, string][] = [
      [{ allowedToolNames: 'bash' }, 'allowedToolNames'],
      [{ allowedToolNames: [5] }, 'allowedToolNames'],
      [{ allowedToolNames: null }, 'allowedToolNames'],
      [{ allowSyntheticToolResults: 1 }, 'allowSyntheticToolResults'],
      [{ missingToolResultText: 5 }, 'missingToolResultText'],
      [{ transformMessageForPersistence: 5 }, 'transformMessageForPersistence'],
      [{ transformToolResultForPersistence: 5 }, 'transformToolResultForPersistence'],
      [{ beforeMessageWriteHook: {} }, 'beforeMessageWriteHook'],
      [{ onMessagePersisted: 5 }, 'onMessagePersisted'],
      [{ onUserMessageBlocked: 5 }, 'onUserMessageBlocked'],
      [{ suppressAssistantErrorPersistence: 5 }, 'suppressAssistantErrorPersistence'],
      [{ profile: 'may' }, 'profile'],
      [null, 'opts'],
    ]
    for (const [options, field] of wrong) {
      const manager = new Manager()
      expect(() => installSessionToolResultGuard(manager, options as any), field).toThrow(refusal(field))
      expect(Object.hasOwn(manager, 'appendMessage')).toBe(false)
    }
    for (const manager of [null, 5, {}, Object.freeze(new Manager())])
      expect(() => installSessionToolResultGuard(manager as any)).toThrow(refusal('sessionManager'))
  })

  it('stores a result for each call, none of them too long, whatever comes', () => {
    const id = fc.constantFrom('a', 'b', 'c', '', undefined, 7)
    const content = fc.oneof(
      hostileText.map((text) => text as unknown),
      fc.array(fc.oneof(fc.record({ type: fc.constant('text'), text: hostileText }), fc.constant(null))),
      fc.constant(undefined),
    )
    const message = fc.oneof(
      fc.record({
        role: fc.constant('toolResult'),
        toolCallId: id,
        toolName: fc.constantFrom('bash', '', 5),
        content,
      }),
      fc.record({
        role: fc.constant('assistant'),
        stopReason: fc.constantFrom('toolUse', 'error'),
        content: fc.array(
          fc.record({
            type: fc.constantFrom('toolCall', 'text'),
            id,
            name: fc.constantFrom('bash', 'no good', undefined),
            arguments: fc.constantFrom({}, null),
          }),
          { maxLength: 3 },
        ),
      }),
      fc.constant(user),
      fc.constantFrom(null, 'text', 5, undefined),
    )
    const law = fc.property(
      fc.array(message, { maxLength: 12 }),
      fc.constantFrom('april', 'latest'),
      (messages, profile) => {
        const { manager, guard } = guarded({ maxToolResultChars: 50, profile: profile as 'april' })
        for (const message of messages) manager.appendMessage(message)
        guard.flushPendingToolResults()
        const waiting = new Set<string>()
        for (const message of manager.kept) {
          const role = message?.role
          if (role === 'toolResult') {
            waiting.delete(message.toolCallId)
            expect(getToolResultTextLength(message)).toBeLessThanOrEqual(50)
            if (profile === 'latest') expect(message.toolName).toMatch(/\S/)
          } else {
            if (role !== 'assistant' || profile === 'april') expect([...waiting]).toEqual([])
            if (role === 'assistant' && message.stopReason !== 'error')
              for (const { type, id } of message.content) if (type === 'toolCall') waiting.add(id)
          }
        }
        expect([...waiting]).toEqual([])
      },
    )
    fc.assert(law, { numRuns: 500 })
  })
})

describe('the append before a guard', () => {
  it('stores what a rewrite replays, without the hooks of any guard', () => {
    const { manager } = guarded({ beforeMessageWriteHook: () => ({ block: true }) })
    installSessionToolResultGuard(manager, { beforeMessageWriteHook: () => ({ block: true }) })
    const raw = getRawSessionAppendMessage(manager)
    expect(raw(user)).toBe('id 1')
    expect(manager.kept).toEqual([user])
  })

  it('is that of a manager without a guard, and of one that OpenClaw has marked', () => {
    const plain = new Manager()
    getRawSessionAppendMessage(plain)(user)
    expect(plain.kept).toEqual([user])
    const marked = new Manager()
    const theirs = (message: unknown) => `theirs ${typeof message}`
    Object.assign(marked, { [Symbol('openclaw.session.rawAppendMessage')]: theirs })
    installSessionToolResultGuard(marked)
    expect(getRawSessionAppendMessage(marked)).toBe(theirs)
  })

  it('leaves no trace after the guard', () => {
    const { manager, guard } = guarded()
    guard.uninstall()
    expect(Reflect.ownKeys(manager)).toEqual(['kept'])
  })
})

describe('onMessagePersisted', () => {
  it('is called once for each message that is stored, as it is stored', () => {
    const told: unknown[] = []
    const manager = Object.assign(new Manager(), { getSessionFile: () => '/s.jsonl' })
    const guard = installSessionToolResultGuard(manager, {
      sessionKey: 'agent:main',
      onMessagePersisted: (message, about) => told.push([message, about]),
      beforeMessageWriteHook: ({ message }) => (message.content === 'secret' ? { block: true } : undefined),
    })
    manager.appendMessage(user)
    manager.appendMessage({ role: 'user', content: 'secret' })
    manager.appendMessage(answer(call('c1'), call('c2')))
    manager.appendMessage(result('c1', BIG))
    guard.flushPendingToolResults()
    const about = (number: number) => ({
      entryId: `id ${number}`,
      sessionFile: '/s.jsonl',
      sessionKey: 'agent:main',
    })
    expect(told).toEqual(manager.kept.map((message, at) => [message, about(at + 1)]))
    expect(manager.roles).toEqual(['user', 'assistant', 'toolResult c1', 'toolResult c2'])
  })

  it('cannot break the append', () => {
    const { manager } = guarded({
      onMessagePersisted: () => {
        throw new Error('no')
      },
    })
    expect(manager.appendMessage(user)).toBe('id 1')
  })
})

describe('truncateOversizedToolResultsInSession', () => {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-openclaw-'))
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  let files = 0

  /** A session of Pi's with these messages one after the other. */
  function session(messages: readonly object[]): string {
    const sessionFile = join(dir, `${files++}.jsonl`)
    const id = (at: number) => at.toString(16).padStart(8, '0')
    const rows = messages.map((message, at) => ({
      type: 'message',
      id: id(at),
      parentId: at === 0 ? null : id(at - 1),
      timestamp: '2026-01-01T00:00:00.000Z',
      message,
    }))
    const header = { type: 'session', version: 3, id: 's', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/' }
    writeFileSync(sessionFile, [header, ...rows].map((row) => `${JSON.stringify(row)}\n`).join(''))
    return sessionFile
  }
  const stored = (value: unknown): any => JSON.parse(JSON.stringify(value))
  const rowsOf = (sessionFile: string): any[] =>
    readFileSync(sessionFile, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((row) => JSON.parse(row))

  const text = fc.oneof(
    fc.integer({ min: 0, max: 60_000 }).map((length) => 'line of it\n'.repeat(length / 11)),
    hostileText.map((text) => text.toWellFormed()),
  )
  const messages = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.tuple(fc.nat(9), text).map(([id, text]) => result(`c${id}`, text)) },
      { weight: 1, arbitrary: fc.constantFrom(user, answer({ type: 'text', text: BIG })) },
    ),
    { minLength: 1, maxLength: 12 },
  )
  const profiles = fc.constantFrom('april' as const, 'latest' as const)
  const nothing = {
    truncated: false,
    truncatedCount: 0,
    reason: 'no oversized or aggregate tool results',
  }
  const withoutMessage = ({ message: _, ...row }: any) => row

  it('leaves of results over the cap what truncateOversizedToolResultsInMessages leaves', async () => {
    const windows = fc.constantFrom(4_000, 13_000, 150_000)
    // Profile '2026.9' weighs the texts of messages, but not those of a file.
    const unweighted = fc.constantFrom('2026.4' as const, '2026.7' as const)
    const law = fc.asyncProperty(messages, windows, unweighted, async (messages, window, profile) => {
      const all = Number.POSITIVE_INFINITY
      const expected = truncateOversizedToolResultsInMessages(messages as any[], window, undefined, all, {
        profile,
      })
      const { truncatedCount } = expected
      const sessionFile = session(messages)
      const before = rowsOf(sessionFile)
      const params = { sessionFile, contextWindowTokens: window, aggregateMaxCharsOverride: all, profile }
      const answered = await truncateOversizedToolResultsInSession(params)
      const [header, ...rows] = rowsOf(sessionFile)
      expect(rows.map(({ message }) => message)).toEqual(stored(expected.messages))
      expect([header, ...rows].map(withoutMessage)).toEqual(before.map(withoutMessage))
      expect(answered).toEqual(truncatedCount > 0 ? { truncated: true, truncatedCount } : nothing)
      expect(await truncateOversizedToolResultsInSession(params)).toEqual(nothing)
    })
    await fc.assert(law, { numRuns: 40 })
  })

  it('holds all results of a session to the budget', async () => {
    const windows = fc.constantFrom(100, 4_000, 13_000)
    const law = fc.asyncProperty(messages, windows, profiles, async (messages, window, profile) => {
      const sessionFile = session(messages)
      const before = rowsOf(sessionFile)
      const cap = calculateMaxToolResultChars(window, { profile })
      const budget = profile === 'april' ? cap : Math.max(4 * cap, 2 * window)
      const params = { sessionFile, contextWindowTokens: window, profile }
      const told: unknown[] = []
      const { truncatedCount } = await truncateOversizedToolResultsInSession({
        ...params,
        sessionKey: 'main',
        onMessagePersisted: (message, about) => told.push([message, about]),
      })
      const after = rowsOf(sessionFile)
      const last = after.findLast((row, at) => JSON.stringify(row) !== JSON.stringify(before[at]))
      const about = { entryId: last?.id, sessionFile, sessionKey: 'main' }
      expect(told).toEqual(truncatedCount > 0 ? [[last.message, about]] : [])
      const results = after.slice(1).map(({ message }) => getToolResultTextLength(message))
      const sum = results.reduce((sum, length) => sum + length, 0)
      // If the budget has no room for a mark of each, only the marks are left.
      expect(sum <= budget || results.every((length) => length <= '[...]'.length)).toBe(true)
      expect(Math.max(...results)).toBeLessThanOrEqual(cap)
      expect(after.map(withoutMessage)).toEqual(before.map(withoutMessage))
      const changed = after.filter((row, at) => JSON.stringify(row) !== JSON.stringify(before[at]))
      expect(changed).toHaveLength(truncatedCount)
      expect(await truncateOversizedToolResultsInSession(params)).toEqual(nothing)
    })
    await fc.assert(law, { numRuns: 40 })
  })

  it('spares the results that end a history, but not from their cap', async () => {
    const old = result('c1', 'a'.repeat(8_000))
    const fresh = ['c2', 'c3', 'c4', 'c5', 'c6'].map((id) => result(id, id.repeat(4_000)))
    const cut = async (messages: object[], maxCharsOverride: number, profile: '2026.4' | '2026.7') => {
      const sessionFile = session(messages)
      const aggregateMaxCharsOverride = 32_000
      const { truncatedCount } = await truncateOversizedToolResultsInSession({
        ...{ sessionFile, contextWindowTokens: 1_000_000, maxCharsOverride, aggregateMaxCharsOverride },
        ...{ protectTrailingToolResults: true, profile },
      })
      return {
        truncatedCount,
        lengths: rowsOf(sessionFile)
          .slice(1)
          .map(({ message }) => getToolResultTextLength(message)),
      }
    }
    for (const profile of ['2026.4', '2026.7'] as const) {
      const whole = await cut([answer(call('c2')), ...fresh], 8_000, profile)
      expect(whole).toEqual({ truncatedCount: 0, lengths: [0, 8_000, 8_000, 8_000, 8_000, 8_000] })
      const { truncatedCount, lengths } = await cut([old, answer(call('c2')), ...fresh], 7_000, profile)
      expect(truncatedCount).toBe(6)
      expect(lengths).toEqual([expect.any(Number), 0, 7_000, 7_000, 7_000, 7_000, 7_000])
      expect(lengths[0]).toBeLessThan(100)
    }
  })

  it('keeps the file as it was beside it, and says why it did nothing', async () => {
    const sessionFile = session([result('c1', BIG)])
    const before = readFileSync(sessionFile)
    expect(
      await truncateOversizedToolResultsInSession({ sessionFile, contextWindowTokens: 128_000 }),
    ).toEqual({
      truncated: true,
      truncatedCount: 1,
    })
    expect(readFileSync(`${sessionFile}.bak`).equals(before)).toBe(true)
    expect(readdirSync(dir).filter((name) => name.endsWith('.lock'))).toEqual([])

    const empty = join(dir, 'empty.jsonl')
    writeFileSync(empty, '')
    const asked = { contextWindowTokens: 128_000 }
    expect(await truncateOversizedToolResultsInSession({ ...asked, sessionFile: empty })).toEqual({
      ...nothing,
      reason: 'empty session',
    })
    const absent = await truncateOversizedToolResultsInSession({ ...asked, sessionFile: join(dir, 'absent') })
    expect(absent).toEqual({ ...nothing, reason: expect.stringContaining('ENOENT') })
    const wrong = await truncateOversizedToolResultsInSession({ sessionFile, contextWindowTokens: -1 })
    expect(wrong).toEqual({ ...nothing, reason: expect.stringContaining('contextWindowTokens') })
    const folder = join(dir, 'folder')
    mkdirSync(folder)
    expect((await truncateOversizedToolResultsInSession({ ...asked, sessionFile: folder })).truncated).toBe(
      false,
    )
  })
})
