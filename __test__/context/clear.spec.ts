// biome-ignore-all lint/suspicious/noExplicitAny: the messages of eleven dialects
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  applyPlan,
  type ClearOptions,
  type ClearState,
  clearToolResults,
  createSpillStore,
  precheck,
  repairToolPairs,
  wrapTool,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { lineDiff } from '../../lib/context/line_diff.js'
import { frozen, grown, isAnswer } from '../support/grown_histories.js'
import { histories } from '../support/histories.js'
import { longForMost } from '../support/long.js'
import { dialects, soundHistories } from '../support/pair_histories.js'
import { refusal } from '../support/provider_rules.js'

const LINE = '[tool result cleared to save context; call the tool again if you need it]'

const tokensOf = (messages: readonly unknown[]) =>
  precheck({ messages, contextTokens: 1e9, reserveTokens: 0, safetyMargin: 1 }).estimatedTokens

const settings = fc.record({
  trigger: fc.oneof(
    fc.record({ type: fc.constant('input_tokens' as const), value: fc.nat(3_000) }),
    fc.record({ type: fc.constant('tool_uses' as const), value: fc.nat(4) }),
  ),
  keep: fc.record({ type: fc.constant('tool_uses' as const), value: fc.nat(3) }),
  clearAtLeast: fc.record({ type: fc.constant('input_tokens' as const), value: fc.nat(500) }),
  clearToolInputs: fc.oneof(fc.boolean(), fc.constant(['read'])),
  excludeTools: fc.constantFrom([], ['grep']),
  keepUsed: fc.boolean(),
  dedupe: fc.constantFrom('exact' as const, 'near' as const, false as const),
  prices: fc.record({
    write: fc.constantFrom(0, 1, 1.25, 2),
    read: fc.constantFrom(0, 0.1, 0.5, 1),
  }),
  requestsToCome: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
})

describe.each(dialects)('clearToolResults, $name', (dialect) => {
  it('is pure, keeps its prefix, pays, and leaves pairs sound', {
    tags: longForMost(dialects, dialect),
  }, () => {
    let cleared = 0
    fc.assert(
      fc.property(
        soundHistories(dialect),
        fc.array(fc.constantFrom(0, 1, 5, 40, 200), { minLength: 1, maxLength: 8 }),
        settings,
        (sound, lines, given) => {
          const all = frozen(grown(sound, lines))
          let state: ClearState | undefined
          let before: readonly unknown[] = []
          for (let end = 1; end <= all.length; end++) {
            // A request is made before each answer of the model.
            if (end < all.length && !isAnswer(all[end])) continue
            const messages = frozen(all.slice(0, end))
            const isFirst = (one: unknown, at: number) => isAnswer(one) && !isAnswer(messages[at - 1] ?? {})
            const options: ClearOptions = { ...given, state }
            const still = { type: 'tool_uses', value: 1e9 } as const
            const base = clearToolResults(messages, { ...options, trigger: still, dedupe: false })
            // The prompt begins like that of the call before.
            expect(base.cleared).toBe(0)
            expect(base.messages.slice(0, before.length)).toEqual(before)
            const made = clearToolResults(messages, options)
            expect(clearToolResults(structuredClone(messages), structuredClone(options))).toEqual(made)
            state = JSON.parse(JSON.stringify(made.state)) as ClearState
            expect(state).toEqual(made.state)
            const again = clearToolResults(messages, { ...options, state })
            expect([again.cleared, again.messages]).toEqual([0, made.messages])
            const onItself = clearToolResults(made.messages, { ...options, state })
            expect([onItself.cleared, onItself.messages === made.messages]).toEqual([0, true])
            if (repairToolPairs(messages).messages === messages)
              expect(repairToolPairs(made.messages).messages).toBe(made.messages)
            if (!refusal(dialect.dialect, messages))
              expect(refusal(dialect.dialect, made.messages as object[])).toBeUndefined()
            const first = made.messages.findIndex((one, at) => !same(one, base.messages[at]))
            expect(first >= 0).toBe(made.cleared > 0)
            if (made.cleared > 0) {
              cleared += made.cleared
              if (!given.dedupe) expect(made.savedTokens).toBeGreaterThanOrEqual(given.clearAtLeast.value)
              expect(tokensOf(base.messages) - tokensOf(made.messages)).toBeCloseTo(made.savedTokens, -1)
              const [was, is] = [base.messages, made.messages].map((list) =>
                costOf(
                  list,
                  first,
                  messages.findLastIndex(isFirst),
                  { requestsToCome: Math.max(1, messages.filter(isFirst).length), ...defined(given) },
                  list === made.messages,
                ),
              )
              expect(is).toBeLessThan(was as number)
            }
            before = made.messages
          }
        },
      ),
      { numRuns: 500 },
    )
    expect(cleared).toBeGreaterThan(0)
  })

  it('is never dearer than without clearing, whenever the history ends', { tags: 'long' }, () => {
    let cleared = 0
    fc.assert(
      fc.property(
        soundHistories(dialect),
        fc.array(fc.constantFrom(0, 1, 5, 40, 200), { minLength: 1, maxLength: 8 }),
        settings,
        (sound, lines, given) => {
          const all = grown(sound, lines)
          let state: ClearState | undefined
          let [paid, unchanged] = [0, 0]
          let [before, sent]: (readonly unknown[])[] = [[], []]
          for (let end = 1; end <= all.length; end++) {
            if (end < all.length && (!isAnswer(all[end]) || isAnswer(all[end - 1]))) continue
            const messages = all.slice(0, end)
            const made = clearToolResults(messages, { ...given, requestsToCome: undefined, state })
            state = made.state
            cleared += made.cleared
            unchanged += priceOf(messages, sent as readonly unknown[], given.prices)
            paid += priceOf(made.messages, before as readonly unknown[], given.prices)
            // Counts are rounded up.
            expect(paid).toBeLessThanOrEqual(unchanged + 8 * end)
            before = made.messages
            sent = messages
          }
        },
      ),
      { numRuns: 500 },
    )
    expect(cleared).toBeGreaterThan(0)
  })
})

/** Returns the price of a request after another. */
function priceOf(messages: readonly unknown[], before: readonly unknown[], prices: ClearOptions['prices']) {
  const { write = 0, read = 0 } = prices ?? {}
  const changed = before.findIndex((one, at) => !same(one, messages[at]))
  const known = changed < 0 ? before.length : changed
  return read * tokensOf(messages.slice(0, known)) + write * tokensOf(messages.slice(known))
}

/** Returns options without those that are undefined. */
const defined = (given: any) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as any

const same = (one: unknown, two: unknown) => JSON.stringify(one) === JSON.stringify(two)

/** Returns the price of all requests to come. `isChanged`: the cache holds only up to `first`. */
function costOf(
  messages: readonly unknown[],
  first: number,
  answer: number,
  { prices: { write, read }, requestsToCome }: { prices: any; requestsToCome: number },
  isChanged: boolean,
): number {
  const sent = Math.max(0, answer)
  const cached = isChanged ? Math.min(first, sent) : sent
  const now = read * tokensOf(messages.slice(0, cached)) + write * tokensOf(messages.slice(cached))
  return now + (requestsToCome - 1) * read * tokensOf(messages)
}

const always = {
  trigger: { type: 'input_tokens', value: 0 },
  keep: { type: 'tool_uses', value: 0 },
  requestsToCome: 1e6,
} as const

const line = fc.constantFrom('', '}', 'a', 'b', 'c', 'd', 'e', '@@ x', '+y')
it('a line diff makes the newer text of the older one', () => {
  fc.assert(
    fc.property(fc.array(line, { minLength: 1 }), fc.array(line, { minLength: 1 }), (before, after) => {
      expect(patched(before, lineDiff(before.join('\n'), after.join('\n')))).toEqual(after)
    }),
    { numRuns: 20_000 },
  )
})

/** Applies a diff without context. */
function patched(before: readonly string[], diff: string): string[] {
  const made: string[] = []
  let [from, left] = [0, 0]
  for (const line of diff.split('\n')) {
    const [, start, gone, , added] = (left === 0 && /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(line)) || []
    if (start === undefined) {
      if (line.startsWith('+')) made.push(line.slice(1))
      left -= 1
      continue
    }
    made.push(...before.slice(from, Number(start) - 1))
    from = Number(start) - 1 + Number(gone)
    left = Number(added)
  }
  return [...made, ...before.slice(from)]
}

describe.each(histories)('clearToolResults of $name', ({ make }) => {
  it('leaves one line of a result', () => {
    const messages = frozen(make('words', 'asked', 'a long line of output\n'.repeat(100)))
    const made = clearToolResults(messages, always)
    const text = JSON.stringify(made.messages)
    expect(made.cleared).toBe(1)
    expect(text).not.toContain('a long line of output')
    expect(text.split(LINE.slice(1, -1)).length).toBeGreaterThan(1)
    expect(text).toContain('words')
    expect(text).toContain('asked')
  })
})

const messagesOf = (texts: readonly string[], asked = 'x', ...ids: readonly string[]) =>
  texts.flatMap((content, at) => [
    {
      role: 'assistant',
      tool_calls: [
        {
          id: ids[at] ?? `c${at}`,
          type: 'function',
          function: { name: at % 2 ? 'grep' : 'read', arguments: asked },
        },
      ],
    },
    { role: 'tool', tool_call_id: ids[at] ?? `c${at}`, content },
  ])
const texts = (messages: readonly any[]) =>
  messages.flatMap(({ role, content }) => (role === 'tool' ? content : []))
/** Sends a history request by request. */
function replayed(messages: readonly object[], options: ClearOptions) {
  let made = clearToolResults(messages.slice(0, 2), options)
  for (let end = 4; end <= messages.length; end += 2)
    made = clearToolResults(messages.slice(0, end), { ...options, state: made.state })
  return made
}
const long = (word: string) => `${word} `.repeat(2_000)

describe('clearToolResults', () => {
  it('names the saved output of an earlier cut', async () => {
    const spill = createSpillStore({ dir: mkdtempSync(join(tmpdir(), 'spillway-clear-')) })
    const read = wrapTool(async () => long('first'), { spill, maxBytes: 4_000 })
    const hint = await read()
    const id = hint.match(/saved as (\S+),/)?.[1] as string
    const [pi] = applyPlan(
      [{ role: 'tool', tool_call_id: 'c', content: hint }],
      [{ index: 0, callId: 'c', chars: hint.length, maxChars: 1_000 }],
    ) as any[]
    expect(pi.content).toContain(`[Full output: ${id}]`)
    for (const cut of [hint, pi.content]) {
      const [line] = texts(clearToolResults(messagesOf([cut]), always).messages)
      expect(line).toMatch(/^\[tool result cleared to save context; full output saved as .*\]$/)
      expect(line).toContain(id)
    }
  })

  it('saves what it clears, and names it, with a store', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-clear-'))
    const spill = createSpillStore({ dir, reference: 'id' })
    const messages = messagesOf([long('first'), long('second'), 'short'])
    const { messages: cleared, state } = await clearToolResults(messages, { ...always, spill })
    const [first = '', second = '', short] = texts(cleared)
    expect(short).toBe('short')
    for (const [line, word] of [
      [first, 'first'],
      [second, 'second'],
    ] as const) {
      const [, id = ''] =
        /^\[tool result cleared to save context; full output saved as (\w{16}), /.exec(line) ?? []
      expect((await spill.read(id, { maxBytes: 1e6 })).text).toBe(long(word))
    }
    // Another process says the same, and saves no second copy.
    const again = createSpillStore({ dir, reference: 'id' })
    expect((await clearToolResults(messages, { ...always, spill: again })).messages).toEqual(cleared)
    expect(await spill.list()).toHaveLength(2)
    expect((await clearToolResults(messages, { ...always, spill, state })).messages).toEqual(cleared)
    const failing = { ...spill, save: () => Promise.reject(new Error('full')) }
    expect(texts((await clearToolResults(messages, { ...always, spill: failing })).messages)[0]).toBe(LINE)
    expect(() => clearToolResults(messages, { ...always, spill: {} as never })).toThrow(
      /^spill must be a store/,
    )
  })

  it('trusts no notice of an output that the store does not have', async () => {
    const spill = createSpillStore({
      dir: mkdtempSync(join(tmpdir(), 'spillway-clear-')),
      reference: 'id',
    })
    const hinted = (at: number) =>
      `${long(`tool${at}`)}\n[... 5000 more characters truncated]\n[Full output: ${at}123456789abcdef]`
    const messages = messagesOf([1, 2, 3, 4, 5, 6].map(hinted))
    const lines = texts((await clearToolResults(messages, { ...always, spill })).messages)
    for (const [at, line] of lines.entries()) {
      const [, id = ''] = /saved as (\w{16}),/.exec(line) ?? []
      expect((await spill.read(id, { maxBytes: 1e6 })).text).toBe(hinted(at + 1))
    }
    expect(await spill.list()).toHaveLength(6)
    // Without a store nobody can tell, and the notice counts.
    expect(texts(clearToolResults(messages, always).messages)[0]).toContain('1123456789abcdef')
    // A save that fails leaves no name behind.
    const failing = { ...spill, read: spill.read.bind(spill), save: () => Promise.reject(new Error('full')) }
    expect(texts((await clearToolResults(messages, { ...always, spill: failing })).messages)[0]).toBe(LINE)
  })

  it('names each saved output of a result, or saves all of it under one name', async () => {
    const spill = createSpillStore({
      dir: mkdtempSync(join(tmpdir(), 'spillway-clear-')),
      reference: 'id',
    })
    const read = wrapTool(async (word: string) => long(word), { spill, maxBytes: 4_000 })
    const blocks = [await read('first'), await read('second')]
    const ids = blocks.map((text) => /saved as (\w{16}),/.exec(text)?.[1] as string)
    const content = blocks.map((text) => ({ type: 'text', text }))
    const messages = [{ role: 'toolResult', toolCallId: 'c', toolName: 't', content }] as any[]
    const textOf = (made: readonly any[]) => made[0].content[0].text as string
    const line = textOf(clearToolResults(messages, always).messages)
    for (const id of ids) expect(line.split(id)).toHaveLength(2)
    const named = textOf((await clearToolResults(messages, { ...always, spill })).messages)
    const [, id = ''] = /saved as (\w{16}),/.exec(named) ?? []
    expect(ids).not.toContain(id)
    expect((await spill.read(id, { maxBytes: 1e6 })).text).toBe(blocks.join('\n'))
  })

  it('clears exactly what it saves', async () => {
    const dir = join(mkdtempSync(join(tmpdir(), 'spillway-clear-')), 'd'.repeat(60))
    const messages = messagesOf(['first', 'second', 'third'].map(long))
    const most = clearToolResults(messages, always).savedTokens
    for (let less = -5; less < 200; less += 5) {
      const spill = createSpillStore({ dir: join(dir, `${less + 5}`, 'e'.repeat(60)) })
      const clearAtLeast = { type: 'input_tokens', value: most - less } as const
      const { cleared } = await clearToolResults(messages, { ...always, clearAtLeast, spill })
      expect(await spill.list(), `${less}`).toHaveLength(cleared)
    }
  })

  it('keeps the last results, and those of excluded tools', () => {
    const messages = messagesOf(['a', 'b', 'c', 'd', 'e'].map(long))
    const keep = { type: 'tool_uses', value: 2 } as const
    // The cache has expired.
    const prices = { write: 1, read: 1 }
    const kept = texts(
      clearToolResults(messages, { ...always, prices, keep, excludeTools: ['grep'] }).messages,
    )
    expect(kept.map((text) => text === LINE)).toEqual([true, false, true, false, false])
  })

  it('keeps what a later call of another tool used by name', () => {
    const turns = (
      [
        ['read', { path: 'src/a.ts' }],
        ['read', { path: 'src/b.ts' }],
        ['read', { path: 'src/a.ts' }],
        ['read', { path: 'src/c.ts' }],
        ['edit', { path: 'src/a.ts', to: 'src/c.ts '.repeat(30) }],
        ['bash', { command: 'npm test -- "src/b.ts"' }],
        ['read', { path: 'src/b.ts', from: 2 }],
      ] as const
    ).flatMap(([name, args], at) => [
      {
        role: 'assistant',
        tool_calls: [{ id: `c${at}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
      },
      { role: 'tool', tool_call_id: `c${at}`, content: long(`${at}`) },
    ])
    // The cache has expired.
    const all = { ...always, prices: { write: 1, read: 1 } }
    const kept = texts(clearToolResults(turns, { ...all, keepUsed: true }).messages)
    expect(kept.map((text) => text !== LINE)).toEqual([false, true, true, false, false, false, false])
    expect(texts(clearToolResults(turns, all).messages).every((text) => text === LINE)).toBe(true)
  })

  it('clears long arguments, and keeps their shape', () => {
    const asked = JSON.stringify({ path: 'a.ts', edits: [{ to: long('new'), at: 3 }] })
    const [call] = clearToolResults(messagesOf([long('a')], asked), { ...always, clearToolInputs: true })
      .messages as any[]
    expect(JSON.parse(call.tool_calls[0].function.arguments)).toEqual({
      path: 'a.ts',
      edits: [{ to: '[cleared]', at: 3 }],
    })
  })

  it('clears long arguments alone, where results are short', () => {
    const asked = JSON.stringify({ path: 'a.ts', content: long('new') })
    const messages = messagesOf(['written', 'written', 'written'], asked)
    const options = { ...always, keep: { type: 'tool_uses', value: 1 }, clearToolInputs: true } as const
    const { messages: cleared, ...made } = clearToolResults(messages, options)
    expect(made.cleared).toBe(2)
    expect(texts(cleared)).toEqual(['written', 'written', 'written'])
    const inputs = (cleared as any[]).flatMap(({ tool_calls = [] }) =>
      tool_calls.map(({ function: { arguments: args } }: any) => JSON.parse(args).content),
    )
    expect(inputs).toEqual(['[cleared]', '[cleared]', long('new')])
    const { state } = made
    expect(clearToolResults(messages, { ...options, state }).messages).toEqual(cleared)
    expect(clearToolResults(cleared, { ...options, state }).messages).toBe(cleared)
  })

  it.each(['clearToolInputs', 'keepUsed', 'dedupe'])('takes arguments of any kind with %s', {
    tags: 'long',
  }, (option) => {
    const holding: Record<string, unknown> = { path: 'a', text: long('x') }
    holding['self'] = holding
    let shared: unknown = ['a']
    for (let level = 0; level < 60; level++) shared = [shared, shared]
    const throwing = {
      get path() {
        throw new Error('no')
      },
    }
    const proxy = new Proxy({}, { ownKeys: () => expect.fail('never seen') })
    const deep = `${'['.repeat(6_000)}"${long('x')}"${']'.repeat(6_000)}`
    const sparse = Object.assign([], { length: 2 ** 32 - 1 })
    for (const args of [holding, { shared }, throwing, proxy, deep, sparse, Object.create(null), 5n, null]) {
      const turns = ['c1', 'c2'].flatMap((id) => [
        { role: 'assistant', content: [{ type: 'toolCall', id, name: 'x', arguments: args }] },
        { role: 'toolResult', toolCallId: id, toolName: 'x', content: [{ type: 'text', text: long(id) }] },
      ])
      const given = { [option]: option === 'dedupe' ? ('near' as const) : true } as ClearOptions
      const options = { ...always, ...given }
      expect(clearToolResults(turns, options).messages).toHaveLength(4)
    }
  })

  it('costs the same with the full history and with the cleared one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 300 })), { minLength: 1, maxLength: 40 }),
        fc.constantFrom('exact' as const, 'near' as const, false as const),
        (turns, dedupe) => {
          const body = ([kind, lines]: readonly [number, number]) =>
            Array.from({ length: lines }, (_, at) => `line ${at} of the output of kind ${kind}`).join('\n')
          const all = turns.map(body).flatMap((text, at) => messagesOf([text], `{"n":${at}}`, `t${at}`))
          const play = (isFull: boolean) => {
            let [state, sent]: [ClearState | undefined, readonly unknown[]] = [undefined, []]
            for (let end = 2; end <= all.length; end += 2) {
              const given = isFull ? all.slice(0, end) : [...sent, ...all.slice(end - 2, end)]
              const trigger = { type: 'input_tokens', value: 2_000 } as const
              ;({ state, messages: sent } = clearToolResults(given, { trigger, dedupe, state }))
            }
            return sent
          }
          expect(play(false)).toEqual(play(true))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('refers to no result whose name another has too', () => {
    const [a, b] = [long('a'), long('b')]
    const again = [a, b, a].flatMap((text) => messagesOf([text], '{}', 'call_1'))
    expect(clearToolResults(again, { dedupe: 'exact' }).messages).toBe(again)
    const named = ['x', 'y', 'z'].flatMap((id, at) => messagesOf([[a, b, a][at] as string], '{}', id))
    expect(texts(clearToolResults(named, { dedupe: 'exact' }).messages)[2]).toMatch(/result of call x/)
  })

  it('refers to no result whose text has another source', () => {
    const turn = (id: string, source: string) => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'find', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: id,
            content: [
              { type: 'text', text: long('found') },
              { type: 'search_result', source, title: source, content: [{ type: 'text', text: 'one' }] },
            ],
          },
        ],
      },
    ]
    const other = [...turn('a', 'https://x/1'), ...turn('b', 'https://x/2')]
    expect(clearToolResults(other, { dedupe: 'exact' }).messages).toBe(other)
    const same = [...turn('a', 'https://x/1'), ...turn('b', 'https://x/1')]
    expect(clearToolResults(same, { dedupe: 'exact' }).cleared).toBe(1)
    const one = (id: string, source: string, text: string) => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'find', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: id,
            content: [{ type: 'search_result', source, title: source, content: [{ type: 'text', text }] }],
          },
        ],
      },
    ]
    const near = { dedupe: 'near', prices: { write: 1, read: 1 } } as const
    for (const text of [long('found'), `${long('found')}\nmore`]) {
      const elsewhere = [...one('a', 'https://x/1', long('found')), ...one('b', 'https://x/2', text)]
      expect(clearToolResults(elsewhere, near).messages).toBe(elsewhere)
    }
  })

  it('refers to the same text in another form as the same', () => {
    const turn = (id: string, content: unknown) => [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
    ]
    const blocks = [{ type: 'text', text: long('found') }]
    for (const dedupe of ['exact', 'near'] as const)
      for (const [one, other] of [
        [blocks, long('found')],
        [long('found'), blocks],
      ]) {
        const { messages } = clearToolResults([...turn('a', one), ...turn('b', other)], {
          dedupe,
          prices: { write: 1, read: 1 },
        })
        expect(JSON.stringify(messages[3])).toContain('"[same output as the earlier result of call a]"')
      }
  })

  it('knows the calls of messages that two dialects could read', () => {
    const turn = (id: string, name: string, args: object, text: string) => [
      { type: 'ai', content: '', tool_calls: [{ id, name, args, type: 'tool_call' }] },
      { type: 'tool', tool_call_id: id, content: text },
    ]
    const edited = [
      ...turn('c1', 'read', { path: 'src/a.ts' }, long('a')),
      ...turn('c2', 'edit', { path: 'src/a.ts' }, 'ok'),
    ]
    const options = {
      ...always,
      keep: { type: 'tool_uses', value: 1 },
      prices: { write: 1, read: 1 },
    } as const
    expect(clearToolResults(edited, options).cleared).toBe(1)
    expect(clearToolResults(edited, { ...options, keepUsed: true }).cleared).toBe(0)
    expect(clearToolResults(edited, { ...options, excludeTools: ['read'] }).cleared).toBe(0)
    const wrote = [...turn('c1', 'write', { text: long('x') }, long('a')), ...turn('c2', 'ls', {}, 'ok')]
    const { messages } = clearToolResults(wrote, { ...options, clearToolInputs: true }) as any
    expect(messages[0].tool_calls[0].args).toEqual({ text: '[cleared]' })
  })

  it('does not clear what the requests to come do not pay for', () => {
    const messages = messagesOf([long('old'), long('new'), ...Array.from({ length: 30 }, () => 'ok')])
    const one = { ...always, keep: { type: 'tool_uses', value: 31 } } as const
    expect(clearToolResults(messages, { ...one, requestsToCome: 5 }).cleared).toBe(0)
    expect(clearToolResults(messages, { ...one, requestsToCome: 1_000 }).cleared).toBe(1)
    const expired = { write: 1.25, read: 1.25 }
    expect(clearToolResults(messages, { ...one, requestsToCome: 1, prices: expired }).cleared).toBe(1)
  })

  it('makes a result that repeats another a reference', () => {
    const file = Array.from({ length: 300 }, (_, at) => `line ${at} of ${at * 7919}`)
    const edited = file.with(20, 'a new line').toSpliced(200, 2)
    const reads = [file, file, edited].map((lines) => lines.join('\n'))
    const messages = messagesOf(['other', ...reads.flatMap((text) => [text, 'other'])])
    const exact = replayed(messages, { dedupe: 'exact' })
    expect(texts(exact.messages).slice(1)).toEqual([
      reads[0],
      'other',
      '[same output as the earlier result of call c1]',
      'other',
      reads[2],
      'other',
    ])
    expect(Object.keys(exact.state.results)).toHaveLength(1)
    const near = replayed(messages, { dedupe: 'near' })
    expect(texts(near.messages)[5]).toBe(
      '[same output as the earlier result of call c1, except for these lines]\n' +
        '@@ -21,1 +21,1 @@\n+a new line\n@@ -201,2 +201,0 @@',
    )
    // A reference is not left without its text: neither by a clearing nor by a compaction.
    const keep = { type: 'tool_uses', value: 2 } as const
    const cleared = clearToolResults(messages, { ...always, keep, dedupe: 'near', state: near.state })
    expect(texts(cleared.messages)[1]).toBe(reads[0])
    const compacted = clearToolResults(messages.slice(4), { state: near.state })
    expect(texts(compacted.messages)).toEqual(texts(messages.slice(4)))
  })

  it('replaces images', () => {
    const image = { type: 'image', mimeType: 'image/png', data: `iVBORw0KGgo${'A'.repeat(2_000)}` }
    const result = { role: 'toolResult', toolCallId: 'c', toolName: 't', content: [image] }
    const made = clearToolResults([result, { role: 'user', content: 'x' }], always)
    expect(made.messages[0]).toEqual({ ...result, content: [{ type: 'text', text: LINE }] })
    expect(made.savedTokens).toBeGreaterThan(100)
  })

  it.each([
    [{ trigger: { type: 'tokens', value: 1 } }, 'trigger.type'],
    [{ trigger: { type: 'tool_uses', value: -1 } }, 'trigger.value'],
    [{ trigger: { type: 'tool_uses', values: 1 } }, 'trigger.values'],
    [{ keep: { value: 1, tools: ['a'] } }, 'keep.tools'],
    [{ clearAtLeast: { Value: 5 } }, 'clearAtLeast.Value'],
    [{ keep: 3 }, 'keep'],
    [{ keep: { type: 'input_chars', value: 1 } }, 'keep.type'],
    [{ clearAtLeast: { type: 'input_tokens', value: '1' } }, 'clearAtLeast.value'],
    [{ excludeTools: 'read' }, 'excludeTools'],
    [{ clearToolInputs: 'read' }, 'clearToolInputs'],
    [{ prices: { read: -1 } }, 'prices.read'],
    [{ prices: { write: Number.NaN } }, 'prices.write'],
    [{ keepUsed: 1 }, 'keepUsed'],
    [{ dedupe: true }, 'dedupe'],
    [{ dedupe: 'all' }, 'dedupe'],
    [{ requestsToCome: 0 }, 'requestsToCome'],
    [{ state: {} }, 'state'],
    [{ state: { results: { a: { hash: 1, text: '' } } } }, 'state'],
    [{ state: { results: { a: { hash: '', text: '', saved: '1' } } } }, 'state'],
    [{ state: { results: {}, balance: { answers: 1 } } }, 'state'],
  ])('refuses %j', (options, field) => {
    expect(() => clearToolResults([], options as never)).toThrow(
      expect.objectContaining({
        code: 'ERR_SPILLWAY_OPTION',
        message: expect.stringContaining(field),
      }),
    )
  })
})
