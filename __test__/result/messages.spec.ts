import * as fc from 'fast-check'
import { clampMessages, definePolicy, type MessagesPolicy } from 'spillway'
import { describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { samples } from '../support/samples.js'

const tool = (text: string, id = 'c') => ({
  role: 'toolResult',
  toolCallId: id,
  content: [{ type: 'text', text }],
  isError: false,
})
const answer = { role: 'assistant', content: [{ type: 'text', text: 'I see.' }] }
const question = { role: 'user', content: 'What is there?' }
type Message = ReturnType<typeof tool> | typeof answer | typeof question

const lengths = (messages: readonly Message[]) =>
  messages.flatMap((message) =>
    message.role === 'toolResult'
      ? (message as ReturnType<typeof tool>).content.map(({ text }) => text.length)
      : [],
  )

describe('clampMessages', () => {
  it('gives the same array when every tool result fits', () => {
    const messages = [question, answer, tool('short'), answer]
    expect(clampMessages(messages)).toEqual({ messages, clamped: 0 })
    expect(clampMessages(messages).messages).toBe(messages)
    expect(clampMessages(messages, { aggregate: { maxChars: 5 } }).messages).toBe(messages)
    expect(clampMessages([]).clamped).toBe(0)
  })

  it('clamps each tool result and leaves every other message as it is', () => {
    const long = { ...question, content: 'q'.repeat(90_000) }
    const messages = Object.freeze([long, answer, tool('x'.repeat(90_000)), 'a string', null, tool('short')])
    const clamped = clampMessages(messages, { keep: 'head' })
    expect(clamped.clamped).toBe(1)
    for (const at of [0, 1, 3, 4, 5]) expect(clamped.messages[at]).toBe(messages[at])
    const { content } = clamped.messages[2] as ReturnType<typeof tool>
    expect(content[0]?.text).toMatch(/^x{51163}\[\.\.\. 38837 more characters truncated\]$/)
    expect(clampMessages(clamped.messages, { keep: 'head' }).messages).toBe(clamped.messages)
  })

  it.each(
    samples.map((sample) => [`${sample.dialect}: ${sample.name}`, sample] as const),
  )('reads %s', (_, sample) => {
    const big = 'a line of output\n'.repeat(5_000)
    const messages = [question, sample.make(big)]
    const results = sample.texts(messages[1]).length
    const clamped = clampMessages(messages, { aggregate: { maxChars: 9_000 } })
    expect(clamped.clamped).toBe(results)
    const texts = sample.texts(clamped.messages[1]).flat()
    expect(texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(9_000)
    const again = clampMessages(clamped.messages, { aggregate: { maxChars: 9_000 } })
    expect(again.messages).toBe(clamped.messages)
  })

  it('counts results that change only in their side data', () => {
    const messages = [answer, { ...tool('short'), details: { raw: 'x'.repeat(90_000) } }, tool('short')]
    for (const sideData of ['cap', 'drop'] as const) {
      const { messages: made, clamped } = clampMessages(messages, { sideData })
      expect(clamped).toBe(1)
      expect(made[2]).toBe(messages[2])
      expect(clampMessages(made, { sideData })).toEqual({ messages: made, clamped: 0 })
    }
  })

  it('reads histories with holes and with elements that throw', () => {
    const messages: unknown[] = [tool('x'.repeat(90_000))]
    messages[2] = tool('y'.repeat(90_000), 'd')
    const trap = {
      get(): never {
        throw new Error('no')
      },
      enumerable: true,
    }
    Object.defineProperty(messages, 3, trap)
    const { messages: made, clamped } = clampMessages(messages)
    expect(clamped).toBe(2)
    expect(made).toHaveLength(4)
    expect(1 in made).toBe(false)
    expect(Object.getOwnPropertyDescriptor(made, 3)).toMatchObject(trap)
    expect(clampMessages(made).messages).toBe(made)
  })

  const aged = (...sizes: number[]) => [
    ...sizes.slice(0, -2).flatMap((size, at) => [answer, tool(String(at).repeat(size))]),
    answer,
    ...sizes.slice(-2).map((size) => tool('n'.repeat(size))),
  ]
  const NOTICE = '[... 20000 more characters truncated]'.length
  it.each([
    ['fits', [20_000, 20_000, 20_000, 20_000], {}, 80_000, [20_000, 20_000, 20_000, 20_000]],
    [
      'takes no more than it has to',
      [20_000, 20_000, 20_000, 20_000],
      {},
      70_000,
      [10_000, 20_000, 20_000, 20_000],
    ],
    [
      'the others down to minKeepChars',
      [20_000, 20_000, 20_000, 20_000],
      {},
      50_000,
      [2_000 + NOTICE, 8_000 - NOTICE, 20_000, 20_000],
    ],
    [
      'the others down to a notice',
      [20_000, 20_000, 20_000, 20_000],
      {},
      41_000,
      [NOTICE, 1_000 - NOTICE, 20_000, 20_000],
    ],
    [
      'the latest to an equal share',
      [20_000, 20_000, 20_000, 20_000],
      {},
      30_000,
      [NOTICE, NOTICE, 15_000 - NOTICE, 15_000 - NOTICE],
    ],
    [
      'the latest, but one that is under its share',
      [20_000, 20_000, 9_000, 20_000],
      {},
      20_000,
      [NOTICE, NOTICE, 9_000, 11_000 - 2 * NOTICE],
    ],
    [
      'the latest below minKeepChars',
      [20_000, 20_000, 20_000, 20_000],
      {},
      3_000,
      [NOTICE, NOTICE, 1_500 - NOTICE, 1_500 - NOTICE],
    ],
    ['all down to dots', [20_000, 20_000, 20_000, 20_000], {}, 1, [5, 5, 5, 5]],
    [
      'the newest of the others first',
      [20_000, 20_000, 20_000, 20_000],
      { order: 'newest' },
      70_000,
      [20_000, 10_000, 20_000, 20_000],
    ],
    [
      'no one is protected',
      [20_000, 20_000, 20_000, 20_000],
      { order: 'newest', protectNewest: false },
      70_000,
      [20_000, 20_000, 20_000, 10_000],
    ],
    [
      'notices alone',
      [20_000, 20_000, 20_000, 20_000],
      { minKeepChars: 0 },
      50_000,
      [NOTICE, 10_000 - NOTICE, 20_000, 20_000],
    ],
  ] as [string, number[], object, number, number[]][])('%s', (_, sizes, options, maxChars, left) => {
    const { messages } = clampMessages(aged(...sizes), {
      snap: 'char',
      keep: 'head',
      aggregate: { maxChars, ...options },
    })
    expect(lengths(messages)).toEqual(left)
  })

  it('goes on protecting the latest results when the turn that was to answer them failed', () => {
    const history = aged(20_000, 20_000, 20_000)
    const aggregate = { maxChars: 50_000, order: 'newest' } as const
    for (const end of ['stopReason', 'stop_reason', 'finishReason', 'finish_reason']) {
      const after = (reason: string) => {
        const turn = { role: 'assistant', content: [], [end]: reason }
        return lengths(clampMessages([...history, turn], { snap: 'char', aggregate }).messages)
      }
      expect(after('error')).toEqual([10_000, 20_000, 20_000])
      expect(after('stop')).toEqual([20_000, 20_000, 10_000])
    }
  })

  it('tells of the original where a result is cut a second time', () => {
    const once = clampMessages([tool('x'.repeat(90_000))]).messages
    const twice = clampMessages(once, { aggregate: { maxChars: 100 } }).messages
    expect(JSON.stringify(twice)).toMatch(/\[\.\.\. 899\d\d more characters truncated\]/)
  })

  it('keeps the findings of a result that failed', () => {
    const log = `${'filler\n'.repeat(3_000)}error: it broke here\n${'filler\n'.repeat(3_000)}`
    const messages = [{ ...tool(log), isError: true }]
    const clamped = clampMessages(messages, { aggregate: { maxChars: 500 } })
    expect(JSON.stringify(clamped.messages)).toContain('it broke here')
  })

  it('holds budgets and limits over hostile histories, and changes nothing the second time', () => {
    const messages = fc.array(
      fc.oneof(
        fc.constantFrom<Message>(answer, question),
        fc
          .tuple(fc.array(hostileText, { maxLength: 3 }), fc.boolean(), fc.integer({ min: 1, max: 60 }))
          .map(([texts, isError, times]) => ({
            ...tool('', 'c'),
            content: texts.map((text) => ({ type: 'text', text: text.repeat(times) })),
            isError,
          })),
      ),
      { maxLength: 12 },
    )
    const options = fc.record(
      {
        maxBytes: fc.constantFrom(200, 5_000, 51_200),
        keep: fc.constantFrom('head' as const, 'tail' as const, 'ends' as const, 'auto' as const),
        share: fc.constantFrom('fair' as const, 'order' as const, 'each' as const),
        notice: fc.constantFrom('hint' as const, 'pi' as const, 'count' as const, false as const),
        aggregate: fc.record({
          maxChars: fc.nat(4_000),
          order: fc.constantFrom('oldest' as const, 'newest' as const),
          protectNewest: fc.boolean(),
          minKeepChars: fc.nat(400),
        }),
      },
      { requiredKeys: ['aggregate'] },
    )
    fc.assert(
      fc.property(messages, options, (messages, options) => {
        const { messages: clamped } = clampMessages(messages, options as MessagesPolicy)
        expect(clamped).toHaveLength(messages.length)
        const sum = lengths(clamped).reduce((sum, length) => sum + length, 0)
        const results = messages.filter(({ role }) => role === 'toolResult').length
        expect(sum).toBeLessThanOrEqual(Math.max(options.aggregate.maxChars, 5 * results))
        for (const text of JSON.stringify(clamped).match(/\\ud[89a-f]/g) ?? []) expect(text).toBe('')
        expect(clampMessages(clamped, options as MessagesPolicy).messages).toBe(clamped)
      }),
      { numRuns: 400 },
    )
  })

  it('shares what is left among the results of one turn, in whichever order they came', () => {
    const size = fc.oneof(fc.nat(300), fc.nat(40_000))
    const budgets = fc.record({ maxChars: fc.nat(60_000), minKeepChars: fc.constantFrom(0, 300, 2_000) })
    const policies = fc.record({
      keep: fc.constantFrom('head' as const, 'tail' as const, 'ends' as const),
      notice: fc.constantFrom('pi' as const, 'hint' as const, false as const),
    })
    const turn = fc.uniqueArray(size, { minLength: 1, maxLength: 12 }).chain((sizes) =>
      fc.record({
        sizes: fc.constant(sizes),
        shuffled: fc.shuffledSubarray(sizes, { minLength: sizes.length }),
      }),
    )
    fc.assert(
      fc.property(turn, budgets, policies, fc.nat(9_000), ({ sizes, shuffled }, aggregate, policy, old) => {
        const kept = (sizes: number[]) => {
          const messages = [tool('o'.repeat(old)), answer, ...sizes.map((size) => tool('n'.repeat(size)))]
          const { messages: clamped } = clampMessages(messages, { snap: 'char', ...policy, aggregate })
          const [older = 0, ...left] = lengths(clamped)
          for (const [at, size] of sizes.entries())
            if (left[at] === size) expect(clamped[at + 2]).toBe(messages[at + 2])
          return { room: aggregate.maxChars - older, left }
        }
        const { room, left } = kept(sizes)
        const again = kept(shuffled)
        expect(again.room).toBe(room)
        expect(sizes.map((size) => again.left[shuffled.indexOf(size)])).toEqual(left)
        for (const [at, size] of sizes.entries()) if (size * sizes.length <= room) expect(left[at]).toBe(size)
        const used = left.reduce((sum, each) => sum + each, 0)
        const isCut = used < sizes.reduce((sum, each) => sum + each, 0)
        if (isCut && room >= 50 * sizes.length) expect(room - used).toBeLessThan(room / 50)
      }),
      { numRuns: 400 },
    )
  })

  it('takes a policy, and rejects any other value', () => {
    const policy = definePolicy({ maxBytes: 100, snap: 'char' })
    expect(lengths(clampMessages([tool('x'.repeat(200))], policy).messages)).toEqual([100])
    const wrong: [unknown, string][] = [
      [{ aggregate: { maxChars: -1 } }, 'aggregate.maxChars'],
      [{ aggregate: {} }, 'aggregate.maxChars'],
      [{ aggregate: 5 }, 'aggregate'],
      [{ aggregate: { maxChars: 1, order: 'best' } }, 'aggregate.order'],
      [{ aggregate: { maxChars: 1, protectNewest: 1 } }, 'aggregate.protectNewest'],
      [{ aggregate: { maxChars: 1, minKeepChars: 0.5 } }, 'aggregate.minKeepChars'],
      [{ sideData: 'none' }, 'sideData'],
      [{ sideData: 500 }, 'sideData'],
      [{ sideData: { maxBytes: '8' } }, 'sideData.maxBytes'],
      [{ sideData: {} }, 'sideData.maxBytes'],
      [{ sideData: { maxByte: 8 } }, 'sideData.maxByte'],
      [{ onClamp: 'log' }, 'onClamp'],
    ]
    for (const [options, field] of wrong) {
      expect(() => clampMessages([], options as MessagesPolicy)).toThrow(
        expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringContaining(field) }),
      )
    }
    expect(() => clampMessages('no' as never)).toThrow(
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }),
    )
  })
})
