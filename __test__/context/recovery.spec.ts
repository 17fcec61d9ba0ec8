import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import {
  applyPlan,
  ContextOverflowError,
  type PlanStep,
  precheck,
  type RecoveryEvent,
  type RecoveryHooks,
  runWithRecovery,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { turns } from '../support/wait.js'

const tool = (text: string, id = 'c') => ({
  role: 'toolResult',
  toolCallId: id,
  content: [{ type: 'text', text }],
  isError: false,
})
const answer = { role: 'assistant', content: [{ type: 'text', text: 'I see.' }] }
const user = (content: string) => ({ role: 'user', content })
type Message = ReturnType<typeof tool> | typeof answer | ReturnType<typeof user>

/** Count of a provider of `limit` tokens: four chars are one, and a message is nothing but its
 *  texts. */
const counted = (messages: readonly unknown[]) =>
  Math.ceil((JSON.stringify(messages).match(/"(?:text|content)":"([^"]*)"/g) ?? []).join('').length / 4)

const overflow = (actual: number, limit: number) =>
  new Error(`prompt is too long: ${actual} tokens > ${limit} maximum`)
const silent = () => new Error('Your input exceeds the context window of this model.')

interface Told {
  answer?: unknown
  error?: unknown
  events: RecoveryEvent[]
  sent: (readonly Message[])[]
  compactions: { attempt: number; overflowTokens: number; actualTokens?: number }[]
  plans: (readonly PlanStep[])[]
}

/** Runs over a history with a provider, and tells all that happened. */
async function run(
  messages: Message[],
  {
    limit = 10_000,
    say = overflow,
    send,
    compact,
    ...rest
  }: Partial<RecoveryHooks<unknown, Message>> & {
    limit?: number
    say?: (actual: number, limit: number) => unknown
  } = {},
): Promise<Told> {
  const told: Told = { events: [], sent: [], compactions: [], plans: [] }
  const hooks: RecoveryHooks<unknown, Message> = {
    contextTokens: 10_000,
    reserveTokens: 0,
    countTokens: (text) => text.length / 4,
    messages: () => messages,
    send: async (messages, context) => {
      told.sent.push(messages)
      if (send) return send(messages, context)
      if (counted(messages) > limit) throw say(counted(messages), limit)
      return 'the answer'
    },
    ...(compact && {
      compact: async (state) => {
        told.compactions.push(state)
        return compact(state)
      },
    }),
    ...rest,
    onEvent: (event) => {
      told.events.push(event)
      throw new Error('passed over')
    },
  }
  try {
    told.answer = await runWithRecovery(hooks)
  } catch (error) {
    told.error = error
  }
  return told
}

const types = ({ events }: Told) => events.map(({ type, attempt }) => `${type} ${attempt}`)
const reasons = ({ events }: Told) => events.map(({ reason }) => reason)
const halve = (messages: Message[]) => async () =>
  messages.splice(0, Math.ceil(messages.length / 2)).length > 0

describe('runWithRecovery', () => {
  const fits = [user('go'), answer, tool('x'.repeat(4_000))]
  const large = () => [user('go'), tool('x'.repeat(30_000), 'old'), answer, tool('y'.repeat(30_000), 'new')]
  const talk = (count = 12) => Array.from({ length: count }, (_, at) => user(`${at}`.padEnd(4_000, 'q')))

  it('uses numbers of characters as a share, since they are not tokens', async () => {
    const big = Array.from({ length: 6 }, (_, at) => tool('x'.repeat(9_000), `c${at}`))
    const limit = 30_000
    const { answer: last, sent } = await run([user('go'), ...big], {
      contextTokens: 100_000,
      send: async (messages) => {
        const size = counted(messages) * 4
        if (size > limit) throw new Error(`prompt has ${size} characters, the maximum is ${limit} characters`)
        return 'done'
      },
    })
    expect(last).toBe('done')
    expect(sent.length).toBe(2)
    expect(counted(sent[1] ?? []) * 4).toBeGreaterThan(limit / 2)
  })

  it('sends what fits as it is', async () => {
    const told = await run(fits)
    expect(told.answer).toBe('the answer')
    expect(told.sent).toEqual([fits])
    expect(told.sent[0]).toBe(fits)
    expect(told.events).toEqual(
      [
        {
          type: 'precheck',
          attempt: 1,
          route: 'fits',
          estimatedTokens: 1_033,
          reason: 'before the first request',
        },
        { type: 'send', attempt: 1, route: 'fits', estimatedTokens: 1_033, reason: 'it fits' },
      ].map((event) => ({ ...event, estimatedTokens: expect.any(Number) })),
    )
  })

  it('cuts tool results in what is sent, and compacts nothing, where that is enough', async () => {
    const messages = large()
    const told = await run(messages, { compact: halve(messages) })
    expect(types(told)).toEqual(['precheck 1', 'truncate 1', 'precheck 1', 'send 1'])
    expect(told.answer).toBe('the answer')
    expect(told.compactions).toEqual([])
    expect(messages).toEqual(large())
    expect(told.sent[0]?.map((message) => JSON.stringify(message).length)).not.toEqual(
      messages.map((message) => JSON.stringify(message).length),
    )
    expect(
      precheck({
        messages: told.sent[0] ?? [],
        contextTokens: 10_000,
        reserveTokens: 0,
        countTokens: (text) => text.length / 4,
      }).route,
    ).toBe('fits')
  })

  it('stores the truncation where there is a hook for that', async () => {
    const messages = large()
    const told = await run(messages, {
      truncate: async (plan) => {
        const cut = applyPlan(messages, plan)
        messages.splice(0, messages.length, ...cut)
        return true
      },
    })
    expect(types(told)).toEqual(['precheck 1', 'truncate 1', 'precheck 1', 'send 1'])
    expect(told.sent[0]).toBe(messages)
  })

  it('compacts where a truncation could not be stored', async () => {
    const messages = large()
    const told = await run(messages, { truncate: async () => false, compact: halve(messages) })
    expect(types(told)).toEqual(['precheck 1', 'truncate 1', 'compact 1', 'precheck 1', 'send 1'])
    expect(reasons(told)[2]).toContain('a truncation could not be stored before')
    expect(told.answer).toBe('the answer')
  })

  it('cuts in what is sent where a truncation could not be stored and there is no compaction', async () => {
    const messages = large()
    for (const compact of [undefined, async () => false]) {
      const told = await run(messages, { truncate: async () => false, ...(compact && { compact }) })
      expect(types(told).filter((type) => type !== 'compact 1')).toEqual([
        'precheck 1',
        'truncate 1',
        'truncate 1',
        'precheck 1',
        'send 1',
      ])
      expect(reasons(told).join()).toContain('a truncation could not be stored before')
      expect(told.answer).toBe('the answer')
      expect(messages).toEqual(large())
    }
  })

  it('leaves not even notices where nothing else is left', async () => {
    const many = Array.from({ length: 40 }, (_, at) => tool('x'.repeat(500), `${at}`))
    const told = await run([user('q'.repeat(3_000)), ...many], {
      contextTokens: 1_900,
      limit: 1_100,
      say: silent,
    })
    expect(types(told)).toEqual([
      ...['precheck 1', 'truncate 1', 'precheck 1', 'send 1', 'overflow 1', 'precheck 2'],
      ...['truncate 2', 'precheck 2', 'send 2'],
    ])
    expect(told.answer).toBe('the answer')
    expect(JSON.stringify(told.sent[0])).not.toContain('"[...]"')
    expect(JSON.stringify(told.sent[1])).toContain('"[...]"')
  })

  it('compacts where there is nothing else, as often as it takes', async () => {
    const messages = talk(16)
    const told = await run(messages, { compact: halve(messages) })
    expect(types(told)).toEqual(['precheck 1', 'compact 1', 'precheck 1', 'send 1'])
    const many = talk(40)
    const again = await run(many, { compact: async () => many.splice(0, 16).length > 0 })
    expect(types(again)).toEqual([
      'precheck 1',
      'compact 1',
      'precheck 1',
      'compact 1',
      'precheck 1',
      'send 1',
    ])
    expect(again.compactions.map(({ attempt }) => attempt)).toEqual([1, 1])
    expect(again.compactions[0]?.overflowTokens).toBeGreaterThan(34_000)
  })

  it('compacts, then truncates, where it takes both', async () => {
    const messages = [...talk(30), ...large()]
    const told = await run(messages, { compact: async () => messages.splice(0, 28).length > 0 })
    expect(types(told)).toEqual([
      'precheck 1',
      'compact 1',
      'precheck 1',
      'truncate 1',
      'precheck 1',
      'send 1',
    ])
    expect(told.events.flatMap(({ type, route }) => (type === 'precheck' ? route : []))).toEqual([
      'compact_then_truncate',
      'truncate_tool_results_only',
      'fits',
    ])
  })

  it('sends what nothing makes fit once all the same, since the provider may take it', async () => {
    const told = await run(talk(36), { limit: 1e6 })
    expect(types(told)).toEqual(['precheck 1', 'send 1'])
    expect(told.answer).toBe('the answer')
    expect(reasons(told)[1]).toContain('there is no compaction; no step is left')
  })

  it('after a refusal compacts three times, then truncates, and gives up after five requests', async () => {
    const messages = [...talk(4), ...large().slice(1)]
    const told = await run(messages, {
      contextTokens: 1e6,
      limit: 1,
      compact: async () => messages.splice(0, 1).length > 0,
      say: silent,
    })
    expect(types(told)).toEqual(
      [
        [
          'precheck 1',
          'send 1',
          'overflow 1',
          'precheck 2',
          'compact 2',
          'precheck 2',
          'send 2',
          'overflow 2',
        ],
        [
          'precheck 3',
          'compact 3',
          'precheck 3',
          'send 3',
          'overflow 3',
          'precheck 4',
          'compact 4',
          'precheck 4',
        ],
        [
          'send 4',
          'overflow 4',
          'precheck 5',
          'truncate 5',
          'precheck 5',
          'send 5',
          'overflow 5',
          'precheck 6',
        ],
        ['give_up 5'],
      ].flat(),
    )
    expect(told.sent).toHaveLength(5)
    expect(told.error).toBeInstanceOf(ContextOverflowError)
    expect(told.error).toMatchObject({
      name: 'ContextOverflowError',
      code: 'ERR_SPILLWAY_CONTEXT_OVERFLOW',
      attempts: told.events,
      precheck: { budgetTokens: 1e6 },
      cause: silent(),
    })
    expect((told.error as Error).message).toContain('after 5 requests and 3 compactions')
    expect(reasons(told).at(-1)).toBe('refused: context_overflow; no request is left')
  })

  it('counts compactions before and after a send together', async () => {
    const messages = talk(60)
    const told = await run(messages, { limit: 5_000, compact: async () => messages.splice(0, 26).length > 0 })
    expect(told.compactions.map(({ attempt }) => attempt)).toEqual([1, 1, 2])
    const none = await run(talk(80), { maxCompactions: 0, compact: async () => true })
    expect(none.compactions).toEqual([])
  })

  it('truncates first after a refusal where there is no compaction, by what the provider told', async () => {
    const messages = [...large(), answer, tool('z'.repeat(30_000), 'last')]
    const told = await run(messages, { contextTokens: 100_000, limit: 20_000 })
    expect(types(told)).toEqual([
      ...['precheck 1', 'send 1', 'overflow 1', 'precheck 2', 'truncate 2', 'precheck 2', 'send 2'],
    ])
    const actual = counted(told.sent[0] ?? [])
    expect(told.events[2]?.reason).toBe(`context_overflow (${actual} asked for, 20000 allowed)`)
    // 15 % less than it takes, since what goes and what stays may not be estimated alike.
    expect(counted(told.sent[1] ?? [])).toBeGreaterThan(16_500)
    expect(counted(told.sent[1] ?? [])).toBeLessThan(17_000)
    expect(told.sent[1]?.at(-1)).toBe(messages.at(-1))
  })

  it('trusts no scale on the last step: what goes may be estimated high, and what stays not', async () => {
    const messages = [
      user('q'.repeat(20_000)),
      tool('x'.repeat(40_000), 'old'),
      tool('y'.repeat(40_000), 'new'),
    ]
    const told = await run(messages, {
      contextTokens: 100_000,
      perResultMaxChars: 1e6,
      countTokens: (text) => (text.length / 4) * (text.startsWith('q') ? 1 : 3),
    })
    expect(types(told).slice(4)).toEqual(['truncate 2', 'precheck 2', 'send 2'])
    expect(told.answer).toBe('the answer')
  })

  it('leaves half where the provider told nothing', async () => {
    const messages = [...large(), answer, tool('z'.repeat(30_000), 'last')]
    const told = await run(messages, { contextTokens: 100_000, limit: 20_000, say: silent })
    expect(types(told).slice(4)).toEqual(['truncate 2', 'precheck 2', 'send 2'])
    expect(counted(told.sent[1] ?? [])).toBeGreaterThan(11_000)
    expect(counted(told.sent[1] ?? [])).toBeLessThan(11_500)
  })

  it('goes on leaving half while there is anything to cut, up to its requests', {
    tags: 'long',
  }, async () => {
    const messages = [...large(), answer, tool('z'.repeat(300_000), 'last')]
    const options = { contextTokens: 1e6, perResultMaxChars: 1e6, say: silent }
    const sizes = ({ sent }: Told) => sent.map((messages) => counted(messages))
    for (const [maxCompactions, sends] of [
      [0, 2],
      [1, 3],
      [3, 5],
      [Number.POSITIVE_INFINITY, 12],
    ] as const) {
      const told = await run(messages, { ...options, maxCompactions, limit: 1 })
      expect(told.error).toBeInstanceOf(ContextOverflowError)
      expect(told.sent).toHaveLength(sends)
      const made = sizes(told)
      // Until the last, which leaves nothing but notices.
      for (const [at, size] of made.entries())
        if (at > 0 && at < 10) expect(size).toBeLessThanOrEqual((made[at - 1] ?? 0) / 2)
    }
    const saved = await run(messages, { ...options, limit: 12_000 })
    expect(saved.answer).toBe('the answer')
    expect(saved.sent).toHaveLength(4)
  })

  it('leaves half of results that are alike in id and text', async () => {
    const told = await run([answer, tool('x'.repeat(12_000)), tool('x'.repeat(12_000))], {
      limit: 3_200,
      say: silent,
    })
    expect(told.answer).toBe('the answer')
    expect(told.sent).toHaveLength(2)
  })

  it('cuts again by the numbers of the next refusal', async () => {
    const messages = [user('go'), tool('x'.repeat(90_000), 'old'), answer, tool('y'.repeat(90_000), 'new')]
    const told = await run(messages, {
      contextTokens: 100_000,
      perResultMaxChars: 1e6,
      // The text that stays is estimated too low.
      countTokens: (text) => (text.length / 4) * (text.startsWith('y') ? 0.3 : 1),
    })
    expect(told.answer).toBe('the answer')
    expect(told.sent).toHaveLength(3)
  })

  it('tells a compaction how much is over', async () => {
    const messages = talk(12)
    const told = await run(messages, { contextTokens: 100_000, compact: halve(messages) })
    const actual = counted(talk(12))
    expect(told.compactions).toEqual([
      { attempt: 2, overflowTokens: expect.any(Number), actualTokens: actual },
    ])
    expect(told.compactions[0]?.overflowTokens).toBeGreaterThanOrEqual(actual - 10_000)
    // A provider that takes a tenth of what was told: the prompt has become no larger by that.
    expect(told.compactions[0]?.overflowTokens).toBeLessThan(actual)
    const before = told.events.find(({ type }) => type === 'overflow')
    const after = told.events.find(({ type, attempt }) => type === 'precheck' && attempt === 2)
    expect(after?.estimatedTokens).toBe(before?.estimatedTokens)
    expect(told.answer).toBe('the answer')
  })

  it.each([
    ['a body that is too large', Object.assign(new Error('Request Entity Too Large'), { status: 413 })],
    [
      'a request above a limit a minute',
      new Error('413 Request too large for model on tokens per minute (TPM): Limit 8000, Requested 18098'),
    ],
  ])('makes %s smaller the same way', async (_, error) => {
    const messages = large()
    const told = await run(messages, {
      contextTokens: 100_000,
      send: async (messages) => {
        if (counted(messages) > 8_000) throw error
        return 'the answer'
      },
    })
    expect(told).toMatchObject({ answer: 'the answer' })
    expect(told.sent).toHaveLength(2)
  })

  it('takes a message that ended in an error for a refusal, and any other for the answer', async () => {
    const failed = {
      role: 'assistant',
      content: [],
      stopReason: 'error',
      errorMessage: 'prompt is too long: 15000 tokens > 10000 maximum',
    }
    const told = await run(large(), {
      contextTokens: 100_000,
      send: async (messages) => (counted(messages) > 10_000 ? failed : 'the answer'),
    })
    expect(told.answer).toBe('the answer')
    expect(told.sent).toHaveLength(2)
    for (const other of [
      { ...failed, errorMessage: 'overloaded' },
      { ...failed, stopReason: 'stop' },
      'prompt is too long: 15000 tokens > 10000 maximum',
      undefined,
      null,
    ]) {
      const told = await run(large(), { contextTokens: 100_000, send: async () => other })
      expect(told.answer).toBe(other)
      expect(told.sent).toHaveLength(1)
    }
    const always = await run(talk(), { contextTokens: 100_000, send: async () => failed })
    expect(always.error).toBeInstanceOf(ContextOverflowError)
    expect((always.error as Error).cause).toBe(failed)
  })

  it('lets pass what is not a matter of size, and what hooks throw', async () => {
    const error = Object.assign(new Error('rate limit exceeded'), { status: 429 })
    const told = await run(large(), {
      contextTokens: 100_000,
      send: () => {
        throw error
      },
    })
    expect(told.error).toBe(error)
    const thrown = new Error('disk full')
    const fail = () => {
      throw thrown
    }
    for (const hooks of [{ compact: fail, maxCompactions: 1 }, { messages: fail }, { countTokens: fail }])
      expect((await run(talk(40), hooks)).error).toBe(thrown)
    expect((await run(large(), { truncate: async () => fail() })).error).toBe(thrown)
  })

  it('does not take a step again that came to little', async () => {
    const messages = [...talk(40), ...large()]
    const told = await run(messages, { compact: async () => messages.splice(0, 1).length > 0, say: silent })
    expect(told.compactions).toHaveLength(1)
    expect(types(told)).toEqual([
      ...[
        'precheck 1',
        'compact 1',
        'precheck 1',
        'truncate 1',
        'precheck 1',
        'send 1',
        'overflow 1',
        'precheck 2',
        'truncate 2',
        'precheck 2',
        'send 2',
        'overflow 2',
        'precheck 3',
        'give_up 2',
      ],
    ])
    expect(reasons(told)[3]).toMatch(/the last compaction left \d+ tokens of \d+/)
    const lying = await run(talk(40), { compact: async () => true })
    expect(lying.compactions).toHaveLength(1)
    const idle = await run(talk(40), { compact: async () => false })
    expect(idle.compactions).toHaveLength(1)
    const stored = await run(large(), { truncate: async () => true })
    expect(types(stored)).toEqual([
      ...['precheck 1', 'truncate 1', 'precheck 1', 'truncate 1', 'precheck 1', 'send 1'],
    ])
    expect(reasons(stored)[3]).toMatch(/the last truncation left \d+ tokens of \d+/)
    expect(stored.answer).toBe('the answer')
  })

  it('continues when a listener of events rejects', async () => {
    const lost: unknown[] = []
    const listen = (error: unknown) => lost.push(error)
    process.on('unhandledRejection', listen)
    const onEvent = async () => {
      throw new Error('the log is full')
    }
    const send = async () => 'the answer'
    const hooks = { contextTokens: 1_000, reserveTokens: 0, messages: () => [], send, onEvent }
    expect(await runWithRecovery(hooks)).toBe('the answer')
    await turns()
    process.off('unhandledRejection', listen)
    expect(lost).toEqual([])
  })

  it('tells results apart that have one id and one length', async () => {
    const messages = [answer, tool('a'.repeat(16_000)), answer, tool('b'.repeat(16_000))]
    const told = await run(messages, { contextTokens: 100_000, limit: 6_000 })
    expect(told.answer).toBe('the answer')
    expect(told.sent[1]?.[1]).not.toEqual(messages[1])
    expect(told.sent[1]?.[3]).toBe(messages[3])
  })

  it('cuts the same results to the same for the whole run, wherever they stand', async () => {
    const messages = [...talk(6), ...large()]
    let sends = 0
    const told = await run(messages, {
      contextTokens: 16_000,
      perResultMaxChars: 30_000,
      compact: async () => messages.splice(0, 2, user('in short')).length > 0,
      send: async () => {
        if (++sends < 3) throw silent()
        return 'the answer'
      },
    })
    const cuts = told.sent.map((messages) =>
      messages.find((message) => 'toolCallId' in message && message.toolCallId === 'old'),
    )
    expect(cuts).toHaveLength(3)
    expect(JSON.stringify(cuts[0])).toContain('more characters truncated')
    expect(cuts[1]).toEqual(cuts[0])
    expect(cuts[2]).toEqual(cuts[0])
    // The rest is shared with the history.
    expect(told.sent[2]?.at(-1)).toBe(messages.at(-1))
  })

  it('goes by what the provider told of the history until it is changed', async () => {
    const messages = talk(11)
    const usage = { inputTokens: 9_000, messages: 11 }
    const told = await run(messages, { lastUsage: usage })
    expect(told.events[0]).toMatchObject({ route: 'fits', estimatedTokens: 9_000 })
    const over = await run(messages, {
      lastUsage: { ...usage, inputTokens: 11_000 },
      compact: halve(messages),
    })
    const prechecks = over.events.filter(({ type }) => type === 'precheck')
    expect(prechecks.map(({ route }) => route)).toEqual(['compact_only', 'fits'])
    expect(prechecks[1]?.estimatedTokens).toBe(
      precheck({ messages, contextTokens: 1e5, reserveTokens: 0, countTokens: (text) => text.length / 4 })
        .estimatedTokens,
    )
  })

  it('reads the history anew before every attempt', async () => {
    let reads = 0
    const told = await run([], {
      messages: async () => [user(`read ${++reads}`), ...large()],
      contextTokens: 100_000,
    })
    expect(told.sent.map(([first]) => (first as { content: string }).content)).toEqual(['read 1', 'read 3'])
  })

  it('tells its events to the channel', async () => {
    const heard: unknown[] = []
    const hear = (event: unknown) => heard.push(event)
    subscribe('spillway:recovery', hear)
    const told = await run(large())
    unsubscribe('spillway:recovery', hear)
    expect(heard).toEqual(told.events)
    await run(large())
    expect(heard).toHaveLength(told.events.length)
  })

  it('prints a give-up short, however much was tried', { tags: 'long' }, async () => {
    const many = [
      user('go on'),
      answer,
      ...Array.from({ length: 500 }, (_, at) => tool('x'.repeat(1_000), `c${at}`)),
    ]
    const told = await run(many, { limit: 1, contextTokens: 100_000 })
    const { attempts, precheck } = told.error as ContextOverflowError
    expect(attempts).toEqual(told.events)
    expect(precheck.budgetTokens).toBe(100_000)
    const printed = inspect(told.error)
    expect(printed).toContain('ERR_SPILLWAY_CONTEXT_OVERFLOW')
    expect(printed).toContain('[cause]')
    expect(printed).not.toContain('attempts')
    const frames = printed.split('\n').filter((line) => /^ +at /.test(line))
    expect(printed.split('\n').length - frames.length).toBeLessThan(10)
    expect(Object.keys(told.error as object)).not.toContain('precheck')
  })

  it('takes what may be waited for in the place of promises', async () => {
    const later = <T>(value: T): PromiseLike<T> => ({
      // biome-ignore lint/suspicious/noThenProperty: no promise, but it can be waited for
      then: (done, fail) => Promise.resolve(value).then(done, fail),
    })
    const messages = talk(40)
    const answered = await runWithRecovery({
      contextTokens: 10_000,
      reserveTokens: 0,
      messages: () => later(messages),
      send: () => later('the answer'),
      compact: () => later(messages.splice(0, 39).length > 0),
      truncate: undefined,
      signal: undefined,
    })
    expect(answered).toBe('the answer')
    expect(messages.length).toBeLessThan(40)
  })

  it('hands a signal to send that is never aborted where it was given none', async () => {
    const signals: AbortSignal[] = []
    await run(large(), {
      contextTokens: 100_000,
      send: async (messages, { signal }) => {
        signals.push(signal)
        if (counted(messages) > 10_000) throw silent()
        return 'the answer'
      },
    })
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
    expect(signals[1]).toBe(signals[0])
  })

  it('hands the attempt and the signal to send', async () => {
    const contexts: unknown[] = []
    const { signal } = new AbortController()
    await run(large(), {
      contextTokens: 100_000,
      signal,
      send: async (messages, context) => {
        contexts.push(context)
        if (counted(messages) > 10_000) throw silent()
        return 'the answer'
      },
    })
    expect(contexts).toEqual([
      { attempt: 1, signal },
      { attempt: 2, signal },
    ])
  })

  it.each([
    'messages',
    'send',
    'compact',
    'truncate',
  ] as const)('rejects at once on an abort while %s hangs', async (hook) => {
    const abort = new AbortController()
    const hanging = () =>
      new Promise<never>((_, reject) =>
        abort.signal.addEventListener('abort', () => reject(new Error('late'))),
      )
    const running = runWithRecovery({
      messages: () => (hook === 'compact' ? talk(40) : large()),
      contextTokens: 10_000,
      reserveTokens: 0,
      signal: abort.signal,
      send: async () => 'the answer',
      [hook]: hanging,
    } as RecoveryHooks<string>)
    const reason = new Error('the user left')
    turns().then(() => abort.abort(reason))
    await expect(running).rejects.toBe(reason)
  })

  it('calls no hook once it was aborted, whatever it was about to do', { tags: 'long' }, async () => {
    const counts = new Set<string>()
    for (let at = 1; at <= 20; at++) {
      const messages = [...talk(4), ...large().slice(1)]
      const abort = new AbortController()
      const calls: string[] = []
      let [told, callsThen] = [0, 0]
      const running = runWithRecovery<string, Message>({
        contextTokens: 1e6,
        reserveTokens: 0,
        signal: abort.signal,
        messages: () => messages,
        send: async () => {
          calls.push('send')
          throw silent()
        },
        compact: async () => {
          calls.push('compact')
          return messages.splice(0, 1).length > 0
        },
        onEvent: ({ type }) => {
          if (++told !== at) return
          counts.add(type)
          callsThen = calls.length
          abort.abort(at)
        },
      })
      await expect(running).rejects.toBe(at)
      expect(calls).toHaveLength(callsThen)
    }
    expect([...counts].sort()).toEqual(['compact', 'overflow', 'precheck', 'send', 'truncate'])
  })

  it('does nothing where the signal was aborted before', async () => {
    const told = await run(large(), { signal: AbortSignal.abort('gone') })
    expect(told).toMatchObject({ error: 'gone', events: [], sent: [] })
  })

  it.each([
    [{ contextTokens: -1 }, 'contextTokens'],
    [{ reserveTokens: '5' }, 'reserveTokens'],
    [{ messages: [] }, 'messages'],
    [{ messages: () => 'text' }, 'messages'],
    [{ send: undefined }, 'send'],
    [{ compact: true }, 'compact'],
    [{ truncate: 5 }, 'truncate'],
    [{ onEvent: 'log' }, 'onEvent'],
    [{ maxCompactions: -1 }, 'maxCompactions'],
    [{ signal: {} }, 'signal'],
  ])('refuses %o', async (options, field) => {
    const hooks = { messages: () => [], send: async () => 1, contextTokens: 5, reserveTokens: 0, ...options }
    await expect(runWithRecovery(hooks as never)).rejects.toMatchObject({
      code: 'ERR_SPILLWAY_OPTION',
      message: expect.stringMatching(new RegExp(`^${field} must be`)),
    })
    await expect(runWithRecovery(undefined as never)).rejects.toMatchObject({
      code: 'ERR_SPILLWAY_OPTION',
      message: 'hooks must be an object, got undefined',
    })
  })

  it('always ends, with few sends, whatever the hooks do', async () => {
    const size = fc.oneof(fc.nat(400), fc.nat(60_000))
    const messages = fc.array(
      fc.oneof(
        size.map((chars) => user('q'.repeat(chars))),
        fc.tuple(size, fc.nat(5)).map(([chars, id]) => tool('r'.repeat(chars), `${id}`)),
        fc.constant(answer),
      ),
      { maxLength: 14 },
    )
    const tooLarge = () => Object.assign(new Error('too large'), { status: 413 })
    const tellsNothing = (say: unknown) => say === silent || say === tooLarge
    const ends = { answered: 0, given_up: 0, thrown: 0 }
    await fc.assert(
      fc.asyncProperty(
        messages,
        fc.record({
          contextTokens: fc.nat(40_000),
          reserveTokens: fc.nat(9_000),
          maxCompactions: fc.constantFrom(0, 1, 3, Number.POSITIVE_INFINITY),
          limit: fc.nat(40_000),
          say: fc.constantFrom(
            overflow,
            silent,
            (actual: number) => overflow(actual * 3, actual * 4),
            (actual: number) => overflow(actual, 1),
            tooLarge,
            () => new Error('socket hang up'),
          ),
          lies: fc.constantFrom('honest', 'never takes it', 'changes its mind'),
          compact: fc.constantFrom('none', 'honest', 'false', 'nothing', 'grows', 'little', 'throws'),
          truncate: fc.constantFrom('memory', 'honest', 'false', 'nothing', 'throws'),
          history: fc.constantFrom('as it is', 'grows', 'shrinks', 'new each time'),
        }),
        async (start, { limit, say, lies, compact, truncate, history, ...options }) => {
          let messages = start as Message[]
          let [sends, reads] = [0, 0]
          const events: RecoveryEvent[] = []
          const reducible: number[] = []
          const hooks: RecoveryHooks<string, Message> = {
            ...options,
            countTokens: (text) => text.length / 4,
            onEvent: (event) => events.push(event),
            messages: () => {
              reads += 1
              if (history === 'grows') messages = [...messages, user('more '.repeat(50))]
              if (history === 'shrinks') messages = messages.slice(1)
              return history === 'new each time' ? structuredClone(messages) : messages
            },
            send: async (messages) => {
              sends += 1
              reducible.push(precheck({ messages, contextTokens: 1, reserveTokens: 0 }).reducibleChars)
              const isTaken =
                lies === 'honest' ? counted(messages) <= limit : lies !== 'never takes it' && sends % 2 === 0
              if (!isTaken) throw say(counted(messages), limit)
              return 'the answer'
            },
            ...(compact !== 'none' && {
              compact: async () => {
                if (compact === 'throws') throw new Error('disk full')
                if (compact === 'honest') messages = messages.slice(Math.ceil(messages.length / 3))
                if (compact === 'little')
                  messages = messages.map((message) => ('toolCallId' in message ? { ...message } : message))
                if (compact === 'grows') messages = [user('a summary '.repeat(500)), ...messages]
                return compact !== 'false'
              },
            }),
            ...(truncate !== 'memory' && {
              truncate: async (plan: readonly PlanStep[]) => {
                if (truncate === 'throws') throw new Error('disk full')
                if (truncate === 'honest') messages = applyPlan(messages, plan)
                return truncate !== 'false'
              },
            }),
          }
          const outcome = await runWithRecovery(hooks).catch((error: unknown) => error)
          const compactions = events.filter(({ type }) => type === 'compact').length
          const truncations = events.filter(({ type }) => type === 'truncate').length
          expect(compactions).toBeLessThanOrEqual(options.maxCompactions)
          expect(sends).toBe(events.filter(({ type }) => type === 'send').length)
          expect(sends).toBeLessThanOrEqual(options.maxCompactions + 2)
          if (!/^disk full/.test(String((outcome as Error).message))) expect(sends).toBeGreaterThan(0)
          expect(reads).toBeLessThanOrEqual(1 + sends + compactions + truncations)
          // A step that is taken again has left at most 95 % before, so all of them are few.
          expect(compactions + truncations).toBeLessThan(40)
          // A token is four chars, so less than that of a result frees nothing.
          const least = 4 * start.filter((message) => 'toolCallId' in message).length
          const isHonest = truncate === 'memory' || truncate === 'honest'
          if (tellsNothing(say) && isHonest && (history === 'as it is' || history === 'new each time'))
            for (const [at, { type, attempt, estimatedTokens = 0 }] of events.entries()) {
              const next = events[at + 1]
              if (type !== 'truncate' || attempt === 1 || next?.type !== 'precheck') continue
              if ((next.estimatedTokens ?? 0) > estimatedTokens / 2 + 1)
                expect(reducible[attempt - 1] ?? 0).toBeLessThanOrEqual(least)
            }
          if (outcome === 'the answer') ends.answered += 1
          else if (outcome instanceof ContextOverflowError) {
            ends.given_up += 1
            expect(outcome.attempts).toEqual(events)
            expect(events.at(-1)?.type).toBe('give_up')
            if (sends < options.maxCompactions + 2)
              expect(outcome.precheck.reducibleChars).toBeLessThanOrEqual(least)
          } else {
            ends.thrown += 1
            expect((outcome as Error).message).toMatch(/^(?:socket hang up|disk full)$/)
          }
        },
      ),
      { numRuns: 1_000 },
    )
    for (const count of Object.values(ends)) expect(count).toBeGreaterThan(0)
  })
})
