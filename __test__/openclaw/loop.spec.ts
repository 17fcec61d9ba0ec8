import * as fc from 'fast-check'
import {
  installContextEngineLoopHook,
  installToolResultContextGuard,
  isContextOverflowError,
  isMidTurnPrecheckSignal,
  type LoopContextEngine,
  type MidTurnPrecheckSignal,
  markTranscriptPromptText,
  type ProfileOptions,
  type TransformingAgent,
} from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'
import {
  estimateContextChars,
  estimateMessageCharsCached,
  formatContextLimitTruncationNotice,
  isToolResultMessage,
  PREEMPTIVE_CONTEXT_OVERFLOW_MESSAGE,
} from '../support/openclaw_tests.js'

type Name = NonNullable<ProfileOptions['profile']>

const text = (text: string) => ({ type: 'text', text })
const image = { type: 'image', mimeType: 'image/png', data: 'aGk=' }
const user = (content: string) => ({ role: 'user', content })
const result = (...content: object[]) => ({
  role: 'toolResult',
  toolCallId: 'call_1',
  content,
  isError: false,
})
const printed = (said: string) => result(text(said))
const detailed = { ...printed('x'.repeat(400)), details: { raw: 'd'.repeat(8_000) } }
const json = { type: 'json', rows: 'r'.repeat(3_000) }

/** The texts of the blocks of a result. */
const said = (message: unknown) =>
  (message as { content: { text?: string }[] }).content.map(({ text = '' }) => text).join('')

const send = async (agent: TransformingAgent, messages: object[]) =>
  agent.transformContext?.(messages, new AbortController().signal) as Promise<typeof messages>

const guarded = (messages: object[], contextWindowTokens = 1_000, profile: Name = '2026.7') => {
  const agent: TransformingAgent = {}
  installToolResultContextGuard({ agent, contextWindowTokens, profile })
  return send(agent, messages)
}
const chars = (message: unknown, profile: Name = '2026.7') =>
  estimateMessageCharsCached(message, new WeakMap(), { profile })

describe('estimated chars of messages', () => {
  it.each([
    ['text of a user', user('x'.repeat(30)), 30],
    ['blocks of a user', { role: 'user', content: [text('x'.repeat(30)), image] }, 8_030],
    [
      'what a model said',
      { role: 'assistant', content: [text('abc'), { type: 'thinking', thinking: 'de' }] },
      5,
    ],
    [
      'arguments of calls',
      { role: 'assistant', content: [{ type: 'toolCall', id: '1', arguments: { a: 1 } }] },
      7,
    ],
    ['results, twice', printed('x'.repeat(600)), 1_200],
    ['images of results, twice', result(image), 16_000],
    ['other blocks of results by their JSON, twice', result({ type: 'json', a: 1 }), 42],
    ['results of a role tool', { role: 'tool', content: 'y'.repeat(10) }, 20],
    ['results of a type', { type: 'toolResult', content: 'y'.repeat(10) }, 20],
    ['custom rows', { role: 'custom', content: 'y'.repeat(9_000) }, 9_000],
    ['blocks of custom rows', { role: 'custom', content: [text('abc'), image] }, 8_003],
    ['rows that no model is sent', { role: 'custom', content: 'abc', excludeFromContext: true }, 0],
    ['other blocks by their JSON', { role: 'user', content: [{ type: 'file', data: 'x' }] }, 26],
    ['any other role', { role: 'note' }, 256],
    ['no message', null, 0],
  ])('count %s', (_, message, expected) => {
    expect(chars(message)).toBe(expected)
  })

  it('count the words around a command or a summary beside its text', () => {
    for (const profile of ['2026.4', '2026.7', 'latest'] as const) {
      const held = 'y'.repeat(600_000)
      for (const row of [
        { role: 'bashExecution', command: 'ls', output: held, exitCode: 0 },
        { role: 'compactionSummary', summary: held },
        { role: 'branchSummary', summary: held },
        { role: 'note', content: held },
      ])
        expect(chars(row, profile)).toBe(held.length + 256 + (row.command?.length ?? 0))
      expect(chars({ role: 'bashExecution', output: held, excludeFromContext: true }, profile)).toBe(0)
    }
  })

  it('count details in 2026.4 only', () => {
    expect(chars(detailed, '2026.4')).toBe(2 * (400 + JSON.stringify(detailed.details).length))
    expect(chars(detailed)).toBe(800)
  })

  it('are kept by message', () => {
    const cache = new WeakMap()
    const message = user('abc')
    expect(estimateContextChars([message, null, message], cache)).toBe(6)
    message.content = 'abcdef'
    expect(estimateMessageCharsCached(message, cache)).toBe(3)
  })

  it('tell results', () => {
    expect([printed('a'), { role: 'tool' }, user('a'), null].map(isToolResultMessage)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })
})

describe('installToolResultContextGuard', () => {
  it.each([
    { role: 'bashExecution', command: 'make', output: 'z'.repeat(4_000) },
    { role: 'compactionSummary', summary: 'z'.repeat(4_000) },
    { role: 'custom', content: 'z'.repeat(4_000) },
  ])('counts what $role holds', async (row) => {
    await expect(guarded([row])).rejects.toThrow(PREEMPTIVE_CONTEXT_OVERFLOW_MESSAGE)
    expect(await guarded([{ ...row, excludeFromContext: true }])).toHaveLength(1)
  })

  it('returns messages within the limits as they are', async () => {
    const messages = [user('u'.repeat(2_000)), printed('small'), detailed]
    expect(await guarded(messages)).toBe(messages)
  })

  it.each([
    ['2026.4', '[... 123 more characters truncated]'],
    ['2026.7', '[... 159 more characters truncated; rerun with narrower args if needed]'],
  ] as const)('cuts a result over half the window in %s', async (profile, notice) => {
    const messages = [printed('z'.repeat(600))]
    const sent = await guarded(messages, 1_000, profile)
    expect(said(sent[0])).toBe('z'.repeat(512 - notice.length) + notice)
    expect(said(messages[0])).toBe('z'.repeat(600))
  })

  it('counts and splits no pair', async () => {
    const [sent] = await guarded([printed(`${'a'.repeat(439)}\u{1f600}${'b'.repeat(1_000)}`)])
    expect(said(sent)).toBe(
      'a'.repeat(439) + formatContextLimitTruncationNotice(1_002, { profile: '2026.7' }),
    )
  })

  it('keeps a string a string, and drops the details of what it cuts', async () => {
    const old = { role: 'tool', content: 'y'.repeat(5_000), details: { a: 1 } }
    const [sent] = (await guarded([old])) as (typeof old)[]
    expect(sent?.content).toMatch(
      /^y+\[\.\.\. \d+ more characters truncated; rerun with narrower args if needed\]$/,
    )
    expect(sent).not.toHaveProperty('details')
  })

  it.each([
    [
      'no image fits',
      [image, text('a'.repeat(900)), image],
      1_000,
      0,
      '[2 images omitted from context; rerun with fewer images]',
    ],
    [
      'one image fits',
      [image, text('a'.repeat(900)), image],
      20_000,
      1,
      '[1 image omitted from context; rerun with fewer images]',
    ],
    [
      'JSON does not fit',
      [json, text('a')],
      1_000,
      0,
      formatContextLimitTruncationNotice(JSON.stringify(json).length, { profile: '2026.7' }),
    ],
  ])('names the blocks that go where %s', async (_, content, window, kept, notice) => {
    const [sent] = await guarded([result(...content)], window)
    const blocks = (sent as { content: { type: string; text?: string }[] }).content
    expect(blocks.filter(({ type }) => type !== 'text')).toHaveLength(kept)
    expect(blocks.at(-1)?.text).toBe(notice)
    expect(said(sent)).toMatch(/^a/)
    expect(chars(sent)).toBeLessThanOrEqual(Math.max(1_024, window))
  })

  it('holds its limit for any blocks, and changes nothing the second time', async () => {
    const block = fc.oneof(
      hostileText.map((all) => text(all)),
      fc.constant(image),
      hostileText.map((rows) => ({ type: 'json', rows })),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(block, { maxLength: 8 }),
        fc.integer({ min: 1, max: 40_000 }),
        async (content, window) => {
          const messages = [result(...content)]
          const sent = await guarded(messages, window, '2026.9')
          expect(chars(sent[0])).toBeLessThanOrEqual(Math.max(1_024, window))
          expect(await guarded(sent, window, '2026.9')).toBe(sent)
          if (chars(messages[0]) <= Math.max(1_024, window)) expect(sent).toBe(messages)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('throws where all messages are too much, but not in 2026.9', async () => {
    const messages = [user('u'.repeat(3_601))]
    await expect(guarded(messages)).rejects.toThrow(PREEMPTIVE_CONTEXT_OVERFLOW_MESSAGE)
    expect(isContextOverflowError(PREEMPTIVE_CONTEXT_OVERFLOW_MESSAGE)).toBe(true)
    expect(await guarded([user('u'.repeat(3_600))])).toHaveLength(1)
    expect(await guarded(messages, 1_000, '2026.9')).toBe(messages)
  })

  it('guards what an earlier transform returns, and can be removed', async () => {
    const inner = (messages: object[]) => [...messages, printed('x'.repeat(5_000))]
    const agent: TransformingAgent = { transformContext: inner }
    const remove = installToolResultContextGuard({ agent, contextWindowTokens: 1_000 })
    expect(chars((await send(agent, []))[0])).toBeLessThanOrEqual(1_024)
    remove()
    expect(agent.transformContext).toBe(inner)
  })

  it.each([
    ['compact_then_truncate', [user('prompt'), printed('x'.repeat(80_000))], 1],
    ['compact_only', [user('u'.repeat(80_000)), printed('small')], 1],
    [undefined, [user('u'.repeat(80_000))], 0],
    [undefined, [user('u'.repeat(80_000)), printed('small')], 2],
    [undefined, [user('prompt'), printed('small')], 1],
  ] as const)('signals %s within a turn', async (route, messages, before) => {
    const agent: TransformingAgent = {}
    const requests: unknown[] = []
    installToolResultContextGuard({
      agent,
      contextWindowTokens: 200_000,
      profile: '2026.7',
      midTurnPrecheck: {
        enabled: true,
        contextTokenBudget: 20_000,
        reserveTokens: () => 12_000,
        toolResultMaxChars: 16_000,
        getPrePromptMessageCount: () => before,
        onMidTurnPrecheck: (request) => requests.push(request),
      },
    })
    const sent = send(agent, messages as never)
    if (route === undefined) expect(await sent).toBe(messages)
    else {
      const signal = await sent.catch((error: MidTurnPrecheckSignal) => error)
      expect(isMidTurnPrecheckSignal(signal)).toBe(true)
      expect(signal).toMatchObject({ name: 'MidTurnPrecheckSignal', request: { route } })
      expect(requests).toEqual([(signal as MidTurnPrecheckSignal).request])
      expect(isContextOverflowError(signal)).toBe(true)
    }
  })
})

describe('installContextEngineLoopHook', () => {
  const first = user('first')
  const one = printed('r1')
  const two = printed('r2')

  /** An engine that notes its calls, and an agent that has it. */
  function hooked(engine: Partial<LoopContextEngine> = {}, more: object = {}) {
    const calls: [string, Record<string, unknown>][] = []
    const noted = (name: string, answer: unknown) => async (params: Record<string, unknown>) => {
      calls.push([name, params])
      return answer ?? params
    }
    const agent: TransformingAgent = {}
    const contextEngine = {
      afterTurn: noted('afterTurn', {}),
      assemble: noted('assemble', undefined),
      ...engine,
    }
    const remove = installContextEngineLoopHook({
      agent,
      contextEngine: contextEngine as LoopContextEngine,
      sessionId: 's',
      sessionFile: 's.jsonl',
      modelId: 'm',
      ...more,
    })
    return { agent, calls, noted, remove, names: () => calls.map(([name]) => name) }
  }

  it('hands on what is new since the last call, and nothing before the first', async () => {
    const checkpoints: number[] = []
    const { agent, calls, names } = hooked(
      {},
      { onAfterTurnCheckpoint: (count: number) => checkpoints.push(count) },
    )
    const start = [first, one]
    expect(await send(agent, start)).toBe(start)
    expect(await send(agent, start)).toBe(start)
    expect(names()).toEqual([])
    await send(agent, [...start, two])
    await send(agent, [...start, two, one])
    expect(names()).toEqual(['afterTurn', 'assemble', 'afterTurn', 'assemble'])
    expect(calls.map(([, params]) => params['prePromptMessageCount'])).toEqual([2, undefined, 3, undefined])
    expect(checkpoints).toEqual([3, 4])
  })

  it('takes the count before the prompt, and passes on what it was given', async () => {
    const given = {
      getPrePromptMessageCount: () => 1,
      sessionKey: 'k',
      sessionTarget: {},
      runtimeSettings: {},
    }
    const { agent, calls } = hooked({}, { ...given, getRuntimeContext: () => ({ provider: 'p' }) })
    const messages = [first, one]
    expect(await send(agent, messages)).toBe(messages)
    const [after, assembled] = calls.map(([, params]) => params)
    expect(after).toMatchObject({ sessionId: 's', sessionKey: 'k', runtimeContext: { provider: 'p' } })
    expect(after?.['messages']).toBe(messages)
    expect(after?.['sessionTarget']).toBe(given.sessionTarget)
    expect(assembled?.['runtimeSettings']).toBe(given.runtimeSettings)
  })

  it.each([
    ['in a batch', ['ingestBatch', 'assemble']],
    ['one by one', ['ingest', 'ingest', 'assemble']],
  ])('hands on messages %s where the engine has no afterTurn', async (_, expected) => {
    const engine: Record<string, unknown> = { afterTurn: undefined }
    const { agent, noted, names, calls } = hooked(engine as never, {
      getPrePromptMessageCount: () => 1,
      isHeartbeat: true,
      contextEngine: engine,
    })
    Object.assign(engine, {
      assemble: noted('assemble', undefined),
      [expected[0] as string]: noted(expected[0] as string, {}),
    })
    await send(agent, [first, one, two])
    expect(names()).toEqual(expected)
    expect(calls[0]?.[1]).toMatchObject({
      isHeartbeat: true,
      ...(expected.length === 2 ? { messages: [one, two] } : { message: one }),
    })
  })

  it('sends the assembled view, also while nothing is new', async () => {
    const view = [user('short')]
    const { agent, names } = hooked(
      { assemble: async () => ({ messages: view }) },
      { getPrePromptMessageCount: () => 1 },
    )
    const messages = [first, one]
    expect(await send(agent, messages)).toBe(view)
    expect(await send(agent, messages)).toBe(view)
    expect(names()).toEqual(['afterTurn'])
    // A history that shrank or was replaced has no view yet.
    const other = [user('other'), two]
    expect(await send(agent, other)).toBe(view)
    const reset = [user('reset')]
    expect(await send(agent, reset)).toBe(reset)
  })

  it('repairs what the engine assembles', async () => {
    const { agent } = hooked(
      {},
      {
        getPrePromptMessageCount: () => 1,
        repairAssembledMessages: (messages: object[]) =>
          messages.filter((message) => !isToolResultMessage(message)),
      },
    )
    expect(await send(agent, [first, one])).toEqual([first])
  })

  it.each([
    'afterTurn',
    'assemble',
  ])('sends the messages themselves if %s fails, and tries again', async (name) => {
    let fails = true
    const view = [user('short')]
    const answer = async () => {
      if (fails) throw new Error('no')
      return { messages: view }
    }
    const { agent } = hooked(
      { assemble: async () => ({ messages: view }), [name]: answer },
      { getPrePromptMessageCount: () => 1 },
    )
    const messages = [first, one]
    expect(await send(agent, messages)).toBe(messages)
    fails = false
    expect(await send(agent, messages)).toBe(view)
  })

  it('gives the engine the text of the transcript, and the model its own', async () => {
    const prompt = { role: 'user', content: [text('hook\n\nvisible'), image] }
    markTranscriptPromptText(prompt, 'visible')
    const { agent, calls } = hooked({}, { getPrePromptMessageCount: () => 0 })
    const sent = await send(agent, [{ ...prompt }, one])
    const [after, assembled] = calls.map(([, params]) => params['messages'] as object[])
    expect(after?.[0]).toMatchObject({ content: [text('visible'), image] })
    expect(assembled?.[0]).toMatchObject({ content: [text('hook\n\nvisible'), image] })
    expect(JSON.stringify(sent)).toBe(
      JSON.stringify([{ role: 'user', content: [text('hook\n\nvisible'), image] }, one]),
    )
  })

  it('can be removed', async () => {
    const { agent, remove } = hooked()
    remove()
    expect(agent.transformContext).toBeUndefined()
  })
})
