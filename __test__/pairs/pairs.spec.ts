// biome-ignore-all lint/suspicious/noExplicitAny: the messages of eleven dialects
import * as fc from 'fast-check'
import { applyPlan, clampMessages, precheck, repairToolPairs, runWithRecovery } from 'spillway'
import { describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { longForMost } from '../support/long.js'
import { broken, type Dialect, dialects, faults, soundHistories } from '../support/pair_histories.js'
import { refusal } from '../support/provider_rules.js'

/** Options as a caller gives them. The dialect of a history without calls must be named. */
const optionsFor = ({ dialect }: Dialect, messages: readonly object[], isNamed: boolean) =>
  isNamed || !JSON.stringify(messages).includes('call_') ? { dialect } : {}

const check = (dialect: Dialect, messages: readonly object[]) => refusal(dialect.dialect, messages)

const CALL =
  /"type":"(?:toolCall|tool-call|tool_call|tool_use|tool-read|tool-grep|tool-invocation|function|\w+_call)"|"toolUse":|"functionCall":/g
const callsIn = (messages: readonly object[]) => JSON.stringify(messages).match(CALL)?.length
const wordsIn = (messages: readonly object[]) =>
  JSON.stringify(messages).match(/what \w+ [^"\\]* returned/g) ?? []

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen(member)
    Object.freeze(value)
  }
  return value
}

/** Returns the ids of calls in messages whose parts hold a call with its result. */
const idsIn = (messages: readonly unknown[]) =>
  new Set([...JSON.stringify(messages).matchAll(/"toolCallId":"([^"]+)"/g)].map(([, id]) => id))

describe.each(dialects.map((dialect) => [dialect.name, dialect] as const))('pairs of %s', (_, dialect) => {
  const sound = soundHistories(dialect)
  const cases = fc.tuple(sound, faults).map(([messages, all]) => broken(dialect, messages, all))

  it('leaves a sound history as it is', () => {
    fc.assert(
      fc.property(sound, (messages) => {
        expect(check(dialect, messages)).toBeUndefined()
        expect(repairToolPairs(messages)).toEqual({ messages, repaired: 0 })
        expect(repairToolPairs(messages).messages).toBe(messages)
      }),
      { numRuns: 2_000 },
    )
  })

  // In LangChain's own JSON, a result without an id has no mark of one but the name of its class.
  const hows = dialect.name === 'langchain, serialized' ? ['is empty'] : ['is empty', 'is missing']
  it.each(hows)('keeps the result of a call whose id %s, for that call', { tags: 'long' }, (how) => {
    const isMissing = how === 'is missing'
    const isId = (name: string) => /^(id|call_?id|tool_?(call|use)_?id)$/i.test(name)
    fc.assert(
      fc.property(sound, fc.nat(5), (messages, number) => {
        const emptied = JSON.parse(JSON.stringify(messages), (name, value) =>
          isId(name) && value === `call_${number}` ? (isMissing ? undefined : '') : value,
        ) as object[]
        const { messages: made } = repairToolPairs(frozen(emptied), optionsFor(dialect, emptied, true))
        expect(check(dialect, made)).toBeUndefined()
        expect(wordsIn(made)).toEqual(wordsIn(messages))
        expect(callsIn(made)).toBe(callsIn(messages))
        expect(repairToolPairs(made, optionsFor(dialect, made, true)).repaired).toBe(0)
      }),
      { numRuns: 1_000 },
    )
  })

  it('makes any other history one that the provider accepts', {
    tags: longForMost(dialects, dialect),
  }, () => {
    const orphans = fc.constantFrom('drop' as const, 'text' as const)
    fc.assert(
      fc.property(cases, orphans, fc.boolean(), ({ messages, first }, orphans, isNamed) => {
        const before = JSON.stringify(messages)
        const options = { orphans, ...optionsFor(dialect, messages, isNamed) }
        const { messages: made, repaired } = repairToolPairs(frozen(messages), options)
        expect(check(dialect, made)).toBeUndefined()
        expect(made === messages).toBe(repaired === 0)
        // Every call stays, and nothing that was not there is said, but that a result is missing.
        if (['ai-sdk-ui', 'mastra'].includes(dialect.dialect)) {
          // A call that a host stored when it was made, and again later, is one call.
          expect(callsIn(made) ?? 0).toBeLessThanOrEqual(callsIn(messages) ?? 0)
          expect([...idsIn(made)]).toEqual(expect.arrayContaining([...idsIn(messages)]))
        } else expect(callsIn(made)).toBe(callsIn(messages))
        const returned = new Set(wordsIn(messages))
        expect(wordsIn(made).filter((words) => !returned.has(words))).toEqual([])
        if (check(dialect, messages)) expect(repaired).toBeGreaterThan(0)
        // If turns are joined, the message before the fault may become longer.
        const same = ['bedrock', 'gemini'].includes(dialect.dialect) ? first - 1 : first
        expect(made.findIndex((message, at) => at < same && message !== messages[at])).toBe(-1)
        expect(repairToolPairs(made, options).messages).toBe(made)
        expect(JSON.stringify(repairToolPairs(JSON.parse(before), options).messages)).toBe(
          JSON.stringify(made),
        )
      }),
      { numRuns: 4_000 },
    )
  })

  it('is whole after each of our own cuts', () => {
    const bound = fc.nat(40)
    fc.assert(
      fc.property(sound, bound, bound, (messages, maxChars, most) => {
        const { dialect: named } = dialect
        const isWhole = (made: readonly object[]) =>
          expect(repairToolPairs(made, { dialect: named }).messages).toBe(made)
        isWhole(clampMessages(messages, { maxChars, aggregate: { maxChars: most } }).messages)
        const { plan } = precheck({
          messages,
          contextTokens: most + 1,
          reserveTokens: 0,
          perResultMaxChars: maxChars,
        })
        isWhole(applyPlan(messages, plan))
      }),
      { numRuns: 300 },
    )
  })

  it('is whole in what recovery sends after a compaction', async () => {
    await fc.assert(
      fc.asyncProperty(sound, fc.nat(), fc.nat(), fc.boolean(), async (all, at, count, isCut) => {
        const messages = [...all]
        const sent: (readonly object[])[] = []
        await runWithRecovery<string, object>({
          contextTokens: isCut ? 1 : 50_000,
          reserveTokens: 0,
          messages: () => messages,
          compact: async () => {
            // Words of the user stay where they are: a summary stands there.
            const from = 1 + (at % messages.length)
            return messages.splice(from, 1 + (count % messages.length)).length > 0
          },
          send: async (messages) => {
            sent.push(messages)
            if (sent.length === 1) throw new Error('prompt is too long: 60000 tokens > 50000 maximum')
            return 'the answer'
          },
        }).catch(() => {})
        const hasCalls = JSON.stringify(all).includes('call_')
        for (const messages of hasCalls ? sent.slice(1) : []) expect(check(dialect, messages)).toBeUndefined()
      }),
      { numRuns: 300 },
    )
  })
})

const read = (...ids: string[]) => ({
  role: 'assistant',
  content: [
    { type: 'text', text: 'I look.' },
    ...ids.map((id) => ({ type: 'tool_use', id, name: 'read', input: {} })),
  ],
})
const result = (id: string, content = `found ${id}`) => ({ type: 'tool_result', tool_use_id: id, content })
const user = (...content: (object | string)[]) => ({
  role: 'user',
  content: content.map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block)),
})
const lost = '[No result: the call was interrupted, or its result was removed]'
const missing = (id: string, content = lost) => ({ ...result(id, content), is_error: true })
const fix = user('Fix it.')

describe('repairToolPairs', () => {
  it.each<[string, object[], object[]]>([
    ['a missing result', [fix, read('a')], [fix, read('a'), user(missing('a'))]],
    [
      'one of two results',
      [fix, read('a', 'b'), user(result('b'), 'Go on.')],
      [fix, read('a', 'b'), user(result('b'), missing('a'), 'Go on.')],
    ],
    [
      'a message of the user before the result',
      [fix, read('a'), user('Wait.'), user(result('a'))],
      [fix, read('a'), user(result('a'), 'Wait.')],
    ],
    [
      'a late result',
      [fix, read('a'), user('Wait.'), read(), user(result('a'))],
      [fix, read('a'), user(result('a'), 'Wait.'), read()],
    ],
    [
      'a result before its call',
      [fix, user(result('a')), read('a'), user('Go on.')],
      [fix, read('a'), user(result('a'), 'Go on.')],
    ],
    [
      'a result twice',
      [fix, read('a'), user(result('a'), result('a', 'later'))],
      [fix, read('a'), user(result('a'))],
    ],
    [
      'a result after one that was put in for it',
      [fix, read('a'), user(missing('a'), 'Wait.'), read(), user(result('a'), 'Go on.')],
      [fix, read('a'), user(result('a'), 'Wait.'), read(), user('Go on.')],
    ],
    [
      'an orphan between two turns',
      [fix, read(), user(result('x')), read('a'), user(result('a'))],
      [fix, read(), read('a'), user(result('a'))],
    ],
    [
      'an orphan at the start',
      [user(result('x', 'the file')), read('a'), user(result('a'))],
      [
        user('[Result of a tool, whose call is no longer in the history]\nthe file'),
        read('a'),
        user(result('a')),
      ],
    ],
    [
      'an id that is used again',
      [fix, read('a'), user(result('a')), read('a'), user(result('a', 'second'))],
      [fix, read('a'), user(result('a')), read('a_5ea474bc'), user(result('a_5ea474bc', 'second'))],
    ],
    [
      'an id with other characters',
      [fix, read('a|b'), user(result('a|b'))],
      [fix, read('a_b_14533176'), user(result('a_b_14533176', 'found a|b'))],
    ],
  ])('mends %s', (_, messages, made) => {
    expect(repairToolPairs(frozen(messages)).messages).toEqual(made)
    expect(repairToolPairs(made)).toEqual({ messages: made, repaired: 0 })
  })

  it('gives no result of the user to a call of the provider, whatever its id', () => {
    const search = { type: 'server_tool_use', id: 'a', name: 'web_search', input: {} }
    const turn = (id: string) => ({ role: 'assistant', content: [search, ...read(id).content] })
    const [old, made] = ['a', 'a_5ea474bc'].map((id) => [fix, turn(id), user(result(id, 'found'))])
    expect(repairToolPairs(old as object[]).messages).toEqual(made)
  })

  it('keeps orphans as words of the user where it is asked to', () => {
    const messages = [fix, read('a'), user(result('x', 'the file'), result('a'), 'Go on.')]
    expect(repairToolPairs(messages, { orphans: 'text' })).toEqual({
      messages: [
        fix,
        read('a'),
        user(result('a'), 'Go on.', '[Result of a tool, whose call is no longer in the history]\nthe file'),
      ],
      repaired: 1,
    })
  })

  it('says that a result is missing in the words of the caller', () => {
    const { messages } = repairToolPairs([fix, read('a')], { missing: 'cancelled' })
    expect(messages[2]).toEqual(user(missing('a', 'cancelled')))
    expect(repairToolPairs(messages, { missing: 'cancelled' }).messages).toBe(messages)
  })

  it('gives results to the latest of the turns that use an id', () => {
    const call = (id: string) => ({
      role: 'assistant',
      tool_calls: [{ id, type: 'function', function: { name: 'f' } }],
    })
    const tool = (content: string) => ({ role: 'tool', tool_call_id: '1', content })
    const messages = [call('1'), tool('first'), call('1'), call('1'), tool('third')]
    expect(repairToolPairs(messages).messages).toEqual([
      ...messages.slice(0, 3),
      tool(lost),
      ...messages.slice(3),
    ])
  })

  it('leaves out results of turns that Pi does not send', () => {
    const call = (stopReason: string) => ({
      role: 'assistant',
      stopReason,
      content: [{ type: 'toolCall', id: 'c', name: 'f', arguments: {} }],
    })
    const tool = { role: 'toolResult', toolCallId: 'c', toolName: 'f', content: [], isError: false }
    expect(repairToolPairs([call('aborted')]).repaired).toBe(0)
    expect(repairToolPairs([call('aborted'), tool], { dialect: 'pi' }).messages).toEqual([call('aborted')])
    expect(repairToolPairs([call('toolUse'), tool]).repaired).toBe(0)
  })

  it('lets calls of the AI SDK wait for a person, and calls of the provider for it', () => {
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'f', input: {} }
    const asks = { type: 'tool-approval-request', approvalId: 'p', toolCallId: 'c' }
    const says = {
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId: 'p', approved: true }],
    }
    const waiting = [{ role: 'assistant', content: [call, asks] }, says]
    expect(repairToolPairs(waiting).messages).toBe(waiting)
    expect(repairToolPairs([...waiting, { role: 'user', content: 'Never mind.' }]).repaired).toBe(1)
    const hosted = [{ role: 'assistant', content: [{ ...call, providerExecuted: true }] }]
    expect(repairToolPairs(hosted).messages).toBe(hosted)
  })

  it('removes an open part of a call that a later part answers, and a message without another part', () => {
    const parts = {
      'ai-sdk-ui': (state: string) => ({
        type: 'tool-read',
        toolCallId: 'c1',
        input: {},
        ...(state === 'open' ? { state: 'input-available' } : { state: 'output-available', output: 'done' }),
      }),
      mastra: (state: string) => ({
        type: 'tool-invocation',
        toolInvocation: {
          toolCallId: 'c1',
          toolName: 'read',
          args: {},
          ...(state === 'open' ? { state: 'call' } : { state: 'result', result: 'done' }),
        },
      }),
    }
    const text = { type: 'text', text: 'look' }
    for (const [dialect, part] of Object.entries(parts)) {
      const message = (role: string, ...parts: object[]) =>
        dialect === 'mastra' ? { role, content: { format: 2, parts } } : { role, parts }
      const shapes = fc.array(fc.constantFrom('alone', 'beside', 'twice'), { minLength: 1, maxLength: 4 })
      fc.assert(
        fc.property(shapes, (shapes) => {
          const open = shapes.map((shape) =>
            message(
              'assistant',
              ...(shape === 'beside' ? [text] : []),
              part('open'),
              ...(shape === 'twice' ? [part('open')] : []),
            ),
          )
          const ask = message('user', text)
          const answered = message('assistant', part('answered'))
          const { messages } = repairToolPairs(frozen([ask, ...open, answered, ask]))
          const left = shapes.filter((shape) => shape === 'beside').map(() => message('assistant', text))
          expect(messages).toEqual([ask, ...left, answered, ask])
          expect(repairToolPairs(messages)).toEqual({ messages, repaired: 0 })
        }),
      )
    }
  })

  it('pairs the one function of an old message of OpenAI by its name', () => {
    const call = { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }
    const result = { role: 'function', name: 'f', content: 'found' }
    expect(repairToolPairs([call, result]).repaired).toBe(0)
    expect(repairToolPairs([call, { ...result, name: 'g' }]).messages).toEqual([
      call,
      { ...result, content: lost },
    ])
  })

  it('removes a result that names no call, but nothing that only looks like a result', () => {
    const unnamed = {
      role: 'user',
      content: [
        { type: 'tool_result', content: 'x' },
        { type: 'text', text: 'y' },
      ],
    }
    expect(repairToolPairs([fix, read('a'), user(result('a')), read(), unnamed]).messages.at(-1)).toEqual(
      user('y'),
    )
    const block = [{ type: 'text', text: 'no message, but a block' }]
    expect(repairToolPairs(block).messages).toBe(block)
  })

  it('removes a call that no text can answer', () => {
    const screen = { type: 'computer_call', call_id: 'c', action: { type: 'screenshot' } }
    const output = { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot' } }
    expect(repairToolPairs([screen, output]).repaired).toBe(0)
    const goOn = { role: 'user', content: 'Go on.' }
    const thought = { type: 'reasoning', id: 'rs', summary: [] }
    expect(repairToolPairs([screen, goOn]).messages).toEqual([goOn])
    // "Item of type 'reasoning' was provided without its required following item."
    expect(repairToolPairs([goOn, thought, screen, goOn]).messages).toEqual([goOn, goOn])
  })

  it('takes the calls and results of hosted tools, which are one item, as they are', () => {
    const items = [
      { type: 'mcp_call', id: 'c', name: 'f', arguments: '{}', output: 'x' },
      { type: 'web_search_call', id: 'd', status: 'completed' },
      { type: 'image_generation_call', id: 'e', result: 'iVBORw0KGgo=' },
    ]
    expect(repairToolPairs(items, { dialect: 'openai-responses' }).messages).toBe(items)
    expect(repairToolPairs(items).messages).toBe(items)
  })

  it('keeps the class of a message whose ids change, and its second copy', () => {
    class Message {
      readonly lc_kwargs: object
      constructor(
        readonly fields: { type: string; tool_calls?: object[]; tool_call_id?: string; content: string },
      ) {
        this.lc_kwargs = fields
        Object.assign(this, fields)
      }
    }
    const call = { id: 'c', name: 'f', args: {} }
    const ai = new Message({ type: 'ai', content: '', tool_calls: [call, call] })
    const { messages } = repairToolPairs([ai, new Message({ type: 'tool', tool_call_id: 'c', content: 'x' })])
    const [made] = messages as unknown as [
      { tool_calls: { id: string }[]; lc_kwargs: { tool_calls: object[] } },
    ]
    expect(made).toBeInstanceOf(Message)
    expect(made.tool_calls.map(({ id }) => id)).toEqual(['c', expect.stringMatching(/^c_[0-9a-f]{8}$/)])
    expect(made.lc_kwargs.tool_calls).toEqual(made.tool_calls)
  })

  it('reads what a person is asked once for all calls of a message', () => {
    const reads = (count: number) => {
      let reads = 0
      const get = (target: any, key: string) => {
        reads += 1
        return target[key]
      }
      const calls = Array.from({ length: count }, (_, at) => ({
        ...{ type: 'tool-call', toolCallId: `c${at}`, toolName: 'f' },
        input: {},
      }))
      const content = new Proxy(calls, { get })
      const { repaired } = repairToolPairs([{ role: 'assistant', content }])
      expect(repaired).toBe(count)
      return reads
    }
    expect(reads(200)).toBeLessThan(11 * reads(20))
  })

  it('pairs a result with neither id nor tool with the open call before it, if both are as many', () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } })
    const asks = (...ids: string[]) => ({ role: 'assistant', content: null, tool_calls: ids.map(call) })
    const says = (content: string, id?: string) => ({
      role: 'tool',
      content,
      ...(id !== undefined && { tool_call_id: id }),
    })
    const made = (...messages: object[]) =>
      (repairToolPairs([fix, ...messages]).messages as any[])
        .filter(({ role }) => role === 'tool')
        .map(({ tool_call_id, content }) => [tool_call_id, content])
    expect(made(asks('a'), says('of a'))).toEqual([['a', 'of a']])
    expect(made(asks('a', 'b'), says('of b', 'b'), says('of a'))).toEqual([
      ['b', 'of b'],
      ['a', 'of a'],
    ])
    expect(made(asks('a', 'b'), says('of one'))).toEqual([
      ['a', lost],
      ['b', lost],
    ])
    expect(made(asks('a'), says('of a', 'a'), says('more'))).toEqual([['a', 'of a']])
  })

  it('gives the results of several calls with empty ids out in order, after those with an id', () => {
    const three = {
      role: 'assistant',
      content: ['', 'b', ''].map((id) => ({ type: 'tool_use', id, name: 'read', input: {} })),
    }
    const results = user(result('', 'first'), result('', 'last'), result('b', 'middle'))
    const [, calls, answers] = repairToolPairs([fix, three, results], { dialect: 'anthropic' })
      .messages as any[]
    const textOf = (id: string) => answers.content.find((block: any) => block.tool_use_id === id)?.content
    expect(calls.content.map(({ id }: any) => textOf(id))).toEqual(['first', 'middle', 'last'])
    const call = (id: string) => ({ type: 'toolCall', id, name: 'read', arguments: {} })
    const of = (toolCallId: string, text: string) => ({
      role: 'toolResult',
      toolCallId,
      toolName: 'read',
      content: [{ type: 'text', text }],
      isError: false,
    })
    const pi = [
      { role: 'assistant', content: [call('A'), call('')], stopReason: 'toolUse' },
      of('', 'other'),
      of('A', 'of A'),
    ]
    const made = repairToolPairs(pi).messages as any[]
    expect(made.find(({ toolCallId }) => toolCallId === 'A').content[0].text).toBe('of A')
    expect(
      made
        .slice(1)
        .map(({ content }) => content[0].text)
        .sort(),
    ).toEqual(['of A', 'other'])
  })

  it('prefers a later result to what a host put in its place', () => {
    const standIns = [
      '[No result: the call was interrupted, or its result was removed]',
      'No result provided',
      'aborted',
      'Tool execution was aborted',
      '[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.',
      '[Request interrupted by user for tool use]',
      'Tool result unavailable',
      'The output of this call was lost.',
      'Skipped due to queued user message.',
    ]
    const found = (first: object, later: object) =>
      JSON.stringify(repairToolPairs([fix, read('a'), user(first), user('Go on.'), user(later)]).messages)
    for (const words of standIns)
      for (const isError of [true, undefined]) {
        const first = { ...result('a', words), ...(isError && { is_error: true }) }
        expect(found(first, result('a', 'REAL'))).toContain('REAL')
        expect(found(result('a', 'REAL'), first)).toContain('REAL')
        expect(repairToolPairs([fix, read('a'), user(first)]).repaired).toBe(0)
      }
    // A result that is not an error replaces an error of one line; all else stays.
    const failed = { ...result('a', 'ENOENT: no such file'), is_error: true }
    expect(found(failed, result('a', 'REAL'))).toContain('REAL')
    for (const words of ['ok', '3 files', 'Results: 3 rows\nnot sorted', '42']) {
      expect(found(result('a', words), result('a', 'REAL'))).not.toContain('REAL')
      expect(found(failed, { ...result('a', 'REAL'), is_error: true })).not.toContain('REAL')
    }
  })

  it('returns anything else as it is, and never throws on content', () => {
    const trap = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
        ownKeys: () => {
          throw new Error('no')
        },
      },
    )
    const odd = fc.oneof(
      fc.anything(),
      hostileText,
      fc.constant(trap),
      fc.constantFrom(read('a'), user(result('x'))),
    )
    fc.assert(
      fc.property(fc.array(odd, { maxLength: 6 }), (messages) => {
        const { messages: made, repaired } = repairToolPairs(messages)
        expect(made === messages).toBe(repaired === 0)
        expect(repairToolPairs(made).repaired).toBe(0)
      }),
      { numRuns: 3_000 },
    )
    for (const dialect of ['text', 'mcp'] as const)
      expect(repairToolPairs([fix, read('a')], { dialect }).repaired).toBe(0)
  })

  it.each<[object, string]>([
    [{ dialect: 'cobol' }, 'dialect'],
    [{ orphans: 'keep' }, 'orphans'],
    [{ missing: ' ' }, 'missing'],
    [{ missing: 5 }, 'missing'],
    [{ orphan: 'drop' }, 'unknown option `orphan`; did you mean `orphans`?'],
  ])('refuses %o', (options, words) => {
    const call = () => repairToolPairs([], options as object)
    expect(call).toThrowError(expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }))
    expect(call).toThrowError(words)
  })
})

describe('names of results', () => {
  const reading = {
    pi: { role: 'assistant', content: [{ type: 'toolCall', id: 'c1', name: 'read', arguments: {} }] },
    sdk: {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'read', input: {} }],
    },
    gemini: { role: 'model', parts: [{ functionCall: { name: 'read', args: {}, id: 'c1' } }] },
  }
  const results = {
    pi: (toolName: unknown) => ({
      role: 'toolResult',
      toolCallId: 'c1',
      toolName,
      content: [{ type: 'text', text: 'REAL' }],
      isError: false,
    }),
    sdk: (toolName: unknown) => ({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c1', toolName, output: { type: 'text', value: 'REAL' } }],
    }),
    gemini: (name: unknown) => ({
      role: 'user',
      parts: [{ functionResponse: { name, id: 'c1', response: { output: 'REAL' } } }],
    }),
  }
  const start = { pi: [], sdk: [], gemini: [{ role: 'user', parts: [{ text: 'x' }] }] }
  const histories = (kind: keyof typeof results, name: unknown) => [
    ...start[kind],
    reading[kind],
    results[kind](name),
  ]

  it.each(['pi', 'sdk', 'gemini'] as const)('come from their calls, in %s', (kind) => {
    const whole = histories(kind, 'read')
    expect(repairToolPairs(whole)).toEqual({ messages: whole, repaired: 0 })
    for (const name of ['', '   ', undefined]) {
      const made = repairToolPairs(frozen(histories(kind, name)))
      expect(made).toEqual({ messages: whole, repaired: 1 })
      expect(repairToolPairs(made.messages).messages).toBe(made.messages)
    }
  })

  it('do not drop a result with the id of its call', () => {
    expect(repairToolPairs(histories('gemini', 'grep'))).toEqual({
      messages: histories('gemini', 'read'),
      repaired: 1,
    })
    // Elsewhere a name is for people.
    const other = histories('pi', 'grep')
    expect(repairToolPairs(other).messages).toBe(other)
  })

  it('tell calls of one id apart', () => {
    const twice = (make: (name: string) => object) => [make('read'), make('grep')]
    const history = [
      ...start.gemini,
      { role: 'model', parts: twice((name) => ({ functionCall: { name, args: {}, id: 'c1' } })) },
      {
        role: 'user',
        parts: twice((name) => ({ functionResponse: { name, id: 'c1', response: { output: name } } })),
      },
    ]
    const { messages } = repairToolPairs(history) as any
    expect(messages[2].parts.map((part: any) => part.functionResponse.response.output)).toEqual([
      'read',
      'grep',
    ])
    expect(messages[2].parts.map((part: any) => part.functionResponse.name)).toEqual(['read', 'grep'])
  })
})

describe('histories of instances', () => {
  /** As the messages of LangChain. */
  class Base {
    lc_kwargs: object
    content: unknown
    declare type: string
    constructor(fields: any) {
      this.lc_kwargs = fields
      this.content = fields.content
    }
    getType() {
      return this.type
    }
  }
  class Human extends Base {
    override type = 'human'
  }
  class Model extends Base {
    override type = 'ai'
    tool_calls: object[]
    constructor(fields: any) {
      super(fields)
      this.tool_calls = fields.tool_calls
    }
  }
  class Tool extends Base {
    override type = 'tool'
    tool_call_id: string
    constructor(fields: any) {
      super(fields)
      this.tool_call_id = fields.tool_call_id
    }
  }
  const asks = (id: string) =>
    new Model({ content: '', tool_calls: [{ id, name: 'read', args: {}, type: 'tool_call' }] })

  it.each([
    ['that have the class', [new Tool({ content: 'ok', tool_call_id: 'c0' })], Tool],
    ['that do not', [], Base],
  ])('get instances, %s', (_, results, Class) => {
    const history = [new Human({ content: 'x' }), ...results.map(() => asks('c0')), ...results, asks('c1')]
    const { messages } = repairToolPairs<any[]>(history)
    const made = messages.at(-1)
    expect(made).toBeInstanceOf(Class)
    expect([made.getType(), made.tool_call_id, made.content]).toEqual(['tool', 'c1', lost])
    expect(repairToolPairs(messages).messages).toBe(messages)
  })

  it('keep the result of a call without an id, and its class', () => {
    for (const id of [undefined, 'c0']) {
      const history = [asks(id as string), new Tool({ content: 'ok' })]
      const { messages } = repairToolPairs<any[]>(history)
      expect(messages).toHaveLength(2)
      expect(messages[1]).toBeInstanceOf(Tool)
      expect([messages[1].content, messages[1].lc_kwargs.content]).toEqual(['ok', 'ok'])
      expect(messages[1].tool_call_id).toBe(messages[0].tool_calls[0].id)
      expect(messages[1].tool_call_id).toMatch(/./)
      expect(messages[1].lc_kwargs.tool_call_id).toBe(messages[1].tool_call_id)
    }
  })

  it('get the words of orphans as instances', () => {
    const history = [new Human({ content: 'x' }), new Tool({ content: 'ok', tool_call_id: 'c0' })]
    const { messages } = repairToolPairs<any[]>(history, { orphans: 'text' })
    expect(messages[1]).toBeInstanceOf(Human)
    expect(messages[1].content).toMatch(/ok$/)
  })

  it('get plain data where the class throws, or the message is plain data', () => {
    class Angry extends Tool {
      constructor(fields: any) {
        if (fields.status) throw new Error('no')
        super(fields)
      }
    }
    const plain = {
      type: 'ai',
      content: '',
      tool_calls: [{ id: 'c1', name: 'read', args: {}, type: 'tool_call' }],
    }
    for (const history of [
      [asks('c0'), new Angry({ content: 'ok', tool_call_id: 'c0' }), asks('c1')],
      [plain],
    ])
      expect(repairToolPairs<any[]>(history).messages.at(-1)).toEqual({
        type: 'tool',
        tool_call_id: 'c1',
        name: 'read',
        content: lost,
        status: 'error',
      })
  })
})
