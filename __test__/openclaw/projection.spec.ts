import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  createToolResultPromptProjectionState,
  type ProfileOptions,
  truncateOversizedToolResultsInMessages,
  truncateToolResultMessage,
} from 'spillway/openclaw'
import { afterAll, describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { estimateToolResultReductionPotential, getToolResultTextLength } from '../support/openclaw_tests.js'

type Name = NonNullable<ProfileOptions['profile']>
type Block = { type: string; text?: string; content?: unknown }

const text = (text: string): Block => ({ type: 'text', text })
const result = (id: string, said: string, more: object = {}) => ({
  role: 'toolResult',
  toolCallId: id,
  content: [text(said)],
  isError: false,
  ...more,
})
const assistant = { role: 'assistant', content: [text('go on')] }
const user = { role: 'user', content: 'go on' }
const shown = (message: unknown) =>
  (message as { content: Block[] }).content.map((block) => block.text).join('')
const sizes = (messages: readonly unknown[]) =>
  messages.map(getToolResultTextLength).filter((chars) => chars > 0)
const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0)

describe('a projection', () => {
  const send = (
    messages: object[],
    cap: number,
    budget: number,
    state = createToolResultPromptProjectionState(),
    profile: Name = '2026.7',
  ) => truncateOversizedToolResultsInMessages(messages, 128_000, cap, budget, state, { profile })
  const turns = (count: number, chars = 4_000) =>
    Array.from({ length: count }, (_, at) => [
      assistant,
      result(`turn_${at}`, `${at}`.padEnd(chars, 'x')),
    ]).flat()

  it('leaves what was cut as it was cut while the history grows', () => {
    const state = createToolResultPromptProjectionState()
    const history = ['p', 'q', 'x', 'y'].map((said) => result(said, said.repeat(15_000)))
    const first = send(history, 12_000, 12_000, state)
    expect(first).toMatchObject({ truncatedCount: 4, aggregatePressureEngaged: true })
    const second = send([...history, result('z', 'z'.repeat(15_000))], 12_000, 12_000, state)
    expect(second.truncatedCount).toBe(1)
    expect(JSON.stringify(second.messages.slice(0, 4))).toBe(JSON.stringify(first.messages))
    expect(history.map(shown)).toEqual(['p', 'q', 'x', 'y'].map((said) => said.repeat(15_000)))
    // Without one each request cuts anew.
    const without = truncateOversizedToolResultsInMessages(history, 128_000, 12_000, 12_000, {
      profile: '2026.7',
    })
    expect(sum(sizes(without.messages))).toBeLessThanOrEqual(12_000)
  })

  it('leaves whole what was whole', () => {
    const state = createToolResultPromptProjectionState()
    const history = turns(2)
    expect(send(history, 5_000, 20_000, state).messages).toBe(history)
    const second = send([...history, result('now', 'c'.repeat(12_000))], 5_000, 20_000, state)
    expect(second.messages.slice(0, 4)).toEqual(history)
    expect(second.truncatedCount).toBe(1)
  })

  it('cuts again under a lower cap, and does not grow under a higher one', () => {
    const state = createToolResultPromptProjectionState()
    const history = turns(2, 8_000)
    const [first, lower, higher] = [6_000, 3_000, 7_000].map(
      (cap) => send(history, cap, 20_000, state).messages,
    )
    expect([first, lower].map((sent) => sizes(sent as object[]))).toEqual([
      [6_000, 6_000],
      [3_000, 3_000],
    ])
    expect(higher).toEqual(lower)
  })

  it.each([
    ['at the end', (fresh: object[]) => fresh],
    ['before the words of a user', (fresh: object[]) => [...fresh, user]],
  ])('spares fresh results %s, and cuts older ones for them', (_, placed) => {
    const state = createToolResultPromptProjectionState()
    const history = [...turns(50), user]
    const first = send(history, 8_000, 32_000, state)
    expect(first.truncatedCount).toBeGreaterThan(0)
    const fresh = [result('now_1', 'n'.repeat(234)), result('now_2', 'm'.repeat(4_000))]
    const second = send([...history, assistant, ...placed(fresh)], 8_000, 32_000, state)
    expect(second.messages.filter((message) => fresh.includes(message as never))).toEqual(fresh)
    expect(second).toMatchObject({ aggregatePressureEngaged: true, aggregateBudgetChars: 32_000 })
    expect(second.aggregateTruncatedCount).toBeGreaterThan(0)
    expect(sum(sizes(second.messages))).toBeLessThanOrEqual(32_000)
  })

  it('cuts a fresh result to its cap alone', () => {
    const batch = [1, 2, 3, 4, 5].map((at) => result(`now_${at}`, `${at}`.repeat(9_000)))
    const sent = send([user, ...batch], 8_000, 32_000)
    expect(sizes(sent.messages)).toEqual([8_000, 8_000, 8_000, 8_000, 8_000])
    expect(sent).toMatchObject({
      truncatedCount: 5,
      aggregateTruncatedCount: 0,
      aggregatePressureEngaged: true,
    })
  })

  it('cuts fresh results last where they do not end the history', () => {
    const state = createToolResultPromptProjectionState()
    const history = [result('a', 'a'.repeat(4_000)), result('b', 'b'.repeat(4_000)), user]
    expect(send(history, 8_000, 100, state).aggregatePressureEngaged).toBe(true)
    const sent = send([...history, result('now', 'n'.repeat(4_000)), user], 8_000, 100, state)
    expect(sum(sizes(sent.messages))).toBeLessThanOrEqual(100)
    expect(shown(sent.messages[3])).not.toBe('')
  })

  it('never cuts for the budget in 2026.9 what was sent before', () => {
    const state = createToolResultPromptProjectionState()
    const history = turns(10)
    const first = send(history, 8_000, 20_000, state, '2026.9')
    const second = send([...history, ...turns(12).slice(20)], 8_000, 20_000, state, '2026.9')
    expect(second.messages.slice(0, 20)).toEqual(first.messages)
    expect(second.aggregatePressureEngaged).toBe(true)
    // All results since the last answer are fresh there.
    const steered = [...turns(10), result('now', 'n'.repeat(9_000)), user]
    expect(shown(send(steered, 8_000, 100, undefined, '2026.9').messages[20])).toHaveLength(8_000)
  })

  it('gives images of later requests no way back', () => {
    const state = createToolResultPromptProjectionState()
    const image = { type: 'image', data: 'aGk=' }
    const said = text('x'.repeat(15_000))
    send([result('a', '', { content: [image, said] })], 12_000, 12_000, state)
    const [sent] = send([result('a', '', { content: [said] })], 12_000, 12_000, state).messages
    expect(sent).toMatchObject({ content: [{ type: 'text' }] })
    expect(sizes([sent])).toEqual([12_000])
  })

  it('tells results of one id apart by their texts', () => {
    const state = createToolResultPromptProjectionState()
    const twins = ['a', 'b'].map((said) => result('same', said.repeat(500), { timestamp: 1 }))
    const first = send(twins, 200, 1_000, state)
    expect(send(twins.slice(1), 200, 1_000, state).messages).toEqual(first.messages.slice(1))
  })

  it('sends the same bytes of any history once more', () => {
    const some = fc.oneof(
      fc
        .tuple(fc.nat(3), fc.array(hostileText, { maxLength: 3 }))
        .map(([id, all]) => result(`c${id}`, '', { content: all.map(text) })),
      fc.constantFrom<object>(assistant, user),
    )
    const history = fc.array(some, { maxLength: 10 })
    fc.assert(
      fc.property(history, history, fc.nat(600), fc.nat(2_000), (before, more, cap, budget) => {
        const state = createToolResultPromptProjectionState()
        const first = send(before, cap, budget, state, '2026.9')
        expect(sizes(first.messages).every((chars) => chars <= Math.max(cap, 5))).toBe(true)
        expect(send(before, cap, budget, state, '2026.9')).toMatchObject({
          truncatedCount: 0,
          messages: first.messages,
        })
        const grown = send([...before, ...more], cap, budget, state, '2026.9').messages
        expect(JSON.stringify(grown.slice(0, before.length))).toBe(JSON.stringify(first.messages))
      }),
      { numRuns: 200 },
    )
  })
})

describe('results that are cut', () => {
  const dir = mkdtempSync(join(tmpdir(), 'elided-'))
  afterAll(() => rmSync(dir, { recursive: true }))
  const path = join(dir, 'o')
  const long = join(dir, 'p'.repeat(60))
  const gone = join(dir, 'gone')
  for (const file of [path, long]) writeFileSync(file, 'all of it')

  const footer = (chars: number, file: string) =>
    `${'a'.repeat(chars)}\n\n[Showing the end. Full output: ${file}]`
  const first = (message: object, chars: number, cap: number, budget: number, profile: Name = '2026.7') => {
    const others = ['b', 'c'].map((said) => result(said, said.repeat(chars)))
    const { messages } = truncateOversizedToolResultsInMessages([message, ...others], 128_000, cap, budget, {
      profile,
    })
    return shown(messages[0])
  }
  const details = { fullOutputPath: path }
  const partial = { ...details, spillTruncated: true, spilledChars: 2_000_000 }
  const nested = { spill: { path: long, truncated: true } }
  const json = (file: string) => JSON.stringify({ text: footer(100, file) })

  it.each([
    // Result; chars of two more, cap and budget; what stays.
    ['the path of its file', result('a', footer(100, path), { details }), 100, 500, 100, `[read ${path}]`],
    [
      'that its file is not whole',
      result('a', footer(100, path), { details: partial }),
      100,
      500,
      100,
      `[partial: ${path}]`,
    ],
    ['a path within JSON', result('a', json(path), { details }), 100, 500, 100, `[read ${path}]`],
    [
      'a path longer than the budget',
      result('a', footer(2_000, long), { details: { fullOutputPath: long } }),
      2_000,
      5_000,
      1,
      `[read ${long}]`,
    ],
    [
      'a path in details of 9.6',
      result('a', footer(2_000, long), { details: nested }),
      2_000,
      5_000,
      1,
      `[partial: ${long}]`,
    ],
    [
      'no path of a file that is gone',
      result('a', footer(100, gone), { details: { fullOutputPath: gone } }),
      100,
      500,
      100,
      '[tool result elided: over budget]',
    ],
    [
      'no path that the model never saw',
      result('a', 'a'.repeat(100), { details }),
      100,
      100,
      100,
      '[tool result elided: over budget]',
    ],
    ['that they did', result('a', 'a'.repeat(100)), 100, 100, 100, '[tool result elided: over budget]'],
    ['least under a budget for nothing', result('a', 'a'.repeat(100)), 100, 100, 8, '[...]'],
  ])('keep %s', (_, message, chars, cap, budget, expected) => {
    expect(first(message, chars, cap, budget)).toBe(expected)
    expect(first(message, chars, cap, budget, '2026.4')).not.toContain('elided')
  })

  it('keep the path behind what stays of their text', () => {
    const message = result('a', footer(5_000, path), { details })
    const { messages } = truncateOversizedToolResultsInMessages(
      [message, result('b', 'b'.repeat(5_000))],
      128_000,
      8_000,
      9_000,
      { profile: '2026.7' },
    )
    expect(shown(messages[0])).toMatch(/^a+\[\.\.\. \d+ chars truncated; full output at /)
    expect(shown(messages[0])).toContain(path)
    expect(sum(sizes(messages))).toBeLessThanOrEqual(9_000)
    // The cap keeps it too.
    expect(first(message, 10, 1_000, 9_000)).toContain(`full output at ${path}]`)
  })

  it('leave other blocks as they are, and drop the texts behind the words', () => {
    const image = { type: 'image', data: 'aGk=' }
    const message = result('a', '', { content: [text('a'.repeat(60)), image, text('b'.repeat(60))] })
    const { messages } = truncateOversizedToolResultsInMessages(
      [message, result('b', 'b'.repeat(100))],
      1_000,
      500,
      70,
      {
        profile: '2026.7',
      },
    )
    expect(messages[0]).toMatchObject({ content: [text('[tool result elided: over budget]'), image] })
  })
})

describe('blocks of type toolResult', () => {
  const said = 'x'.repeat(50_000)
  const own = (more: object) =>
    result('a', '', { content: [{ type: 'toolResult', toolUseId: 'a', text: said, ...more }] })

  it('count and are cut like texts, with what repeats them', () => {
    expect(getToolResultTextLength(own({ content: said }))).toBe(50_000)
    const cut = truncateToolResultMessage(own({ content: said }), 10_000, { suffix: '[cut]' })
    const [block] = (cut as unknown as { content: Block[] }).content
    expect(Object.keys(block as object)).toEqual(['type', 'toolUseId', 'text', 'content'])
    expect(block).toMatchObject({ type: 'toolResult', toolUseId: 'a', text: `${'x'.repeat(9_995)}[cut]` })
    expect(block?.content).toBe(block?.text)
    const list = [{ type: 'text', text: 'a' }]
    const other = truncateToolResultMessage(own({ content: list }), 10_000) as unknown as { content: Block[] }
    expect(other.content[0]?.content).toBe(list)
  })

  it('are left alone if they fit, and planned for if they do not', () => {
    const message = own({})
    expect(truncateToolResultMessage(message, 50_000)).toBe(message)
    const params = { messages: [message], contextWindowTokens: 128_000, profile: '2026.7' } as const
    expect(estimateToolResultReductionPotential(params).maxReducibleChars).toBe(18_000)
    const { messages } = truncateOversizedToolResultsInMessages([message], 128_000, undefined, undefined, {
      profile: '2026.7',
    })
    expect(sizes(messages)).toEqual([32_000])
  })
})
