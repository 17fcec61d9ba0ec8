import * as fc from 'fast-check'
import {
  estimatePrePromptTokens,
  PREEMPTIVE_OVERFLOW_ERROR_TEXT,
  type PreemptiveCompactionParams,
  sessionLikelyHasOversizedToolResults,
  shouldPreemptivelyCompactBeforePrompt,
  truncateOversizedToolResultsInMessages,
} from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'
import { hostileText, watched } from '../support/hostile.js'
import { estimateToolResultReductionPotential } from '../support/openclaw_tests.js'

const text = (text: string) => ({ type: 'text', text })
const image = { type: 'image', mimeType: 'image/png', data: 'aGVsbG8gd29ybGQ='.repeat(9_000) }
const result = (...content: object[]) => ({
  role: 'toolResult',
  toolCallId: 'call_1',
  toolName: 'exec',
  content,
  details: { aggregated: 'd'.repeat(90_000) },
  isError: false,
})
const results = (...sizes: number[]) => sizes.map((chars) => result(text('x'.repeat(chars))))
const assistant = { role: 'assistant', content: [text('ok')] }
const refused = (field: string) =>
  expect.objectContaining({
    code: 'ERR_SPILLWAY_OPTION',
    message: expect.stringMatching(new RegExp(`^${field} `)),
  })

describe('estimateToolResultReductionPotential', () => {
  it.each([
    // Window, results; cap, budget, count, chars, over the cap, what the cap, the budget and both
    // take; then in 'latest'. All as OpenClaw 4.10, and 7.1 and 9.6, but where it is said.
    [
      128_000,
      [18_600, 18_600, 18_600],
      [40_000, 40_000, 3, 55_800, 0, 0, 15_800, 15_800],
      [32_000, 256_000, 3, 55_800, 0, 0, 0, 0],
    ],
    [
      128_000,
      [500_000],
      [40_000, 40_000, 1, 500_000, 1, 460_000, 0, 460_000],
      [32_000, 256_000, 1, 500_000, 1, 468_000, 0, 468_000],
    ],
    [
      13_303,
      [45_000],
      [15_960, 15_960, 1, 45_000, 1, 29_040, 0, 29_040],
      [15_960, 63_840, 1, 45_000, 1, 29_040, 0, 29_040],
    ],
    // Here 38,326 + 37 + 37 stay; OpenClaw 4.10 leaves one more.
    [
      32_000,
      [500_000, 24_000, 24_000],
      [38_400, 38_400, 3, 548_000, 1, 461_600, 48_000, 509_600],
      [16_000, 64_000, 3, 548_000, 3, 500_000, 0, 500_000],
    ],
    [128_000, [], [40_000, 40_000, 0, 0, 0, 0, 0, 0], [32_000, 256_000, 0, 0, 0, 0, 0, 0]],
    [128_000, [0, 12], [40_000, 40_000, 1, 12, 0, 0, 0, 0], [32_000, 256_000, 1, 12, 0, 0, 0, 0]],
    // No result goes: "[...]" stays.
    [0, [24_000], [0, 0, 1, 24_000, 1, 23_995, 0, 23_995], [0, 0, 1, 24_000, 1, 23_995, 0, 23_995]],
  ])('of a window of %d and results of %j', (contextWindowTokens, sizes, april, latest) => {
    const messages = results(...sizes)
    for (const [profile, expected] of [
      ['april', april],
      ['latest', latest],
    ] as const) {
      const params = { messages, contextWindowTokens, profile }
      const potential = estimateToolResultReductionPotential(params)
      expect(potential).toEqual({
        maxChars: expected[0],
        aggregateBudgetChars: expected[1],
        toolResultCount: expected[2],
        totalToolResultChars: expected[3],
        oversizedCount: expected[4],
        oversizedReducibleChars: expected[5],
        aggregateReducibleChars: expected[6],
        maxReducibleChars: expected[7],
      })
      expect(sessionLikelyHasOversizedToolResults(params)).toBe(potential.maxReducibleChars > 0)
    }
    const params = { messages, contextWindowTokens }
    expect(estimateToolResultReductionPotential(params)).toMatchObject({ maxReducibleChars: april[7] })
  })

  it('takes a cap and a budget of the caller', () => {
    const params = { messages: results(18_000, 17_000, 16_000), contextWindowTokens: 128_000 }
    const given = { ...params, maxCharsOverride: 17_500, aggregateMaxCharsOverride: 40_000 }
    expect(estimateToolResultReductionPotential(given)).toMatchObject({
      maxChars: 17_500,
      aggregateBudgetChars: 40_000,
      oversizedReducibleChars: 500,
      aggregateReducibleChars: 10_500,
    })
    expect(sessionLikelyHasOversizedToolResults({ ...given, maxCharsOverride: 90_000 })).toBe(true)
    const none = { maxCharsOverride: 18_000, aggregateMaxCharsOverride: 51_000 }
    expect(sessionLikelyHasOversizedToolResults({ ...params, ...none })).toBe(false)
  })

  it('counts string content and no other message', () => {
    const messages = [
      { role: 'user', content: [text('u'.repeat(90_000))] },
      // OpenClaw: 0.
      { role: 'toolResult', content: 's'.repeat(60_000) },
      null,
      'text',
      assistant,
    ]
    expect(estimateToolResultReductionPotential({ messages, contextWindowTokens: 128_000 })).toMatchObject({
      toolResultCount: 1,
      totalToolResultChars: 60_000,
      maxReducibleChars: 20_000,
    })
  })

  it('promises no more than truncation frees, and something wherever it cuts', () => {
    const history = fc.array(
      fc.oneof(
        { weight: 5, arbitrary: hostileText.map((all) => result(text(all))) },
        { weight: 1, arbitrary: fc.constant(assistant) },
      ),
      { maxLength: 10 },
    )
    const charsOf = (messages: readonly unknown[], profile: 'april' | 'latest') =>
      estimateToolResultReductionPotential({ messages, contextWindowTokens: 128_000, profile })
        .totalToolResultChars
    const profiles = fc.constantFrom<'april' | 'latest'>('april', 'latest')
    fc.assert(
      fc.property(history, fc.nat(900), fc.nat(3_000), profiles, (messages, cap, budget, profile) => {
        const { maxReducibleChars, oversizedReducibleChars, aggregateReducibleChars } =
          estimateToolResultReductionPotential({
            messages,
            contextWindowTokens: 128_000,
            maxCharsOverride: cap,
            aggregateMaxCharsOverride: budget,
            profile,
          })
        const cut = truncateOversizedToolResultsInMessages<object>(messages, 128_000, cap, budget, {
          profile,
        })
        expect(charsOf(messages, profile) - charsOf(cut.messages, profile)).toBeGreaterThanOrEqual(
          maxReducibleChars,
        )
        expect(maxReducibleChars > 0).toBe(cut.truncatedCount > 0)
        expect(oversizedReducibleChars + aggregateReducibleChars).toBe(maxReducibleChars)
        expect(Math.min(oversizedReducibleChars, aggregateReducibleChars)).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: 300 },
    )
  })
})

describe('estimatePrePromptTokens', () => {
  const call = { type: 'toolCall', id: 'call_1', name: 'exec', arguments: { command: 'ls -l' } }
  const schemas = [{ name: 'exec', parameters: { type: 'object' } }]
  const bash = { role: 'bashExecution', command: 'ls', output: 'o'.repeat(398) }

  it.each([
    // Sent with the prompt "hello"; tokens in 'april' and in 'latest'. Comments have OpenClaw's own
    // answers.
    ['nothing', [], {}, 3, 17],
    ['its worked example', results(45_000), {}, 13_503, 27_041],
    ['the details of results', [{ ...result(text('x')), details: 'd'.repeat(900_000) }], {}, 4, 42],
    ['user text', [{ role: 'user', content: 'u'.repeat(4_001) }], {}, 1_204, 1_233],
    ['user blocks', [{ role: 'user', content: [text('u'.repeat(4_001))] }], {}, 1_204, 1_240],
    ['images of results', [result(image, image)], {}, 2_883, 4_834],
    // 4.10: 3, images of users are nothing.
    ['images of users', [{ role: 'user', content: [image] }], {}, 1_443, 2_432],
    // 4.10: 3, and 3 again for the next two.
    ['a system prompt', [], { systemPrompt: 's'.repeat(4_000) }, 1_203, 1_232],
    ['a system message', [{ role: 'system', content: 's'.repeat(4_000) }], {}, 1_203, 1_232],
    ['messages of a tool role', [{ role: 'tool', content: 't'.repeat(4_000) }], {}, 1_203, 2_432],
    // 4.10 and 7.1: 3 and 17.
    ['tool schemas', [], { tools: schemas }, 17, 36],
    ['a blank system prompt', [], { systemPrompt: ' \n' }, 3, 17],
    [
      'what a model said',
      [
        {
          role: 'assistant',
          content: [text('a'.repeat(40)), { type: 'thinking', thinking: 't'.repeat(40) }],
        },
      ],
      {},
      27,
      70,
    ],
    ['tool calls', [{ role: 'assistant', content: [call] }], {}, 10, 50],
    [
      'a tool call without arguments',
      [{ role: 'assistant', content: [{ ...call, arguments: undefined }] }],
      {},
      4,
      42,
    ],
    ['commands of the user', [bash], {}, 123, 153],
    ['commands kept from the model', [{ ...bash, excludeFromContext: true }], {}, 123, 17],
    ['summaries', [{ role: 'compactionSummary', summary: 's'.repeat(4_000) }], {}, 1_203, 1_232],
    ['Chinese', [{ role: 'user', content: '漢字'.repeat(1_000) }], {}, 603, 2_432],
    ['odd messages', [null, 5, 'text', {}, { role: 'user', content: 5 }, { content: [null, 7] }], {}, 3, 60],
  ])('counts %s', (_, messages, more, april, latest) => {
    const params = { messages, prompt: 'hello', ...more }
    expect(estimatePrePromptTokens(params)).toBe(april)
    expect(estimatePrePromptTokens({ ...params, profile: 'latest' })).toBe(latest)
  })

  it.each([
    ['abc', 3],
    ['漢字', 8],
    ['𠀀', 16],
    ['ｱ', 8],
    ['😀', 2],
    ['é—', 2],
    ['한글かな', 16],
    ['\u1100\u3400\ua000\uf900', 48],
    ['·', 4],
    ['\ud840', 1],
  ])('weighs %j as %d chars in the latest profile', (all, chars) => {
    const at = (prompt: string) => estimatePrePromptTokens({ messages: [], prompt, profile: 'latest' })
    expect(at(all.repeat(4_000))).toBe(Math.ceil((12 + chars * 1_000) * 1.2))
  })

  it('throws at no message, and never gives less for more', () => {
    const hostile = {
      role: 'user',
      get content(): never {
        throw new Error('no')
      },
    }
    const circular: Record<string, unknown> = { type: 'toolCall', name: 'exec' }
    circular['arguments'] = circular
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    const odd = [hostile, { role: 'assistant', content: [circular] }, { role: 'user', content: proxy }]
    for (const profile of ['april', 'latest'] as const) {
      const params = { prompt: '', profile }
      const none = estimatePrePromptTokens({ messages: [], ...params })
      expect(estimatePrePromptTokens({ messages: odd, ...params })).toBeGreaterThan(none)
      fc.assert(
        fc.property(hostileText, hostileText, fc.constantFrom('user', 'toolResult'), (one, two, role) => {
          const at = (content: string) =>
            estimatePrePromptTokens({ messages: [{ role, content }], ...params })
          expect(at(one + two)).toBeGreaterThanOrEqual(at(one))
          expect(at(one)).toBeGreaterThanOrEqual(none)
        }),
        { numRuns: 100 },
      )
    }
  })

  it('refuses wrong params by name', () => {
    for (const [params, field] of [
      [null, 'params'],
      [{ messages: 'no', prompt: '' }, 'messages'],
      [{ messages: [], prompt: 5 }, 'prompt'],
      [{ messages: [], prompt: '', systemPrompt: 5 }, 'systemPrompt'],
      [{ messages: [], prompt: '', profile: 'may' }, 'profile'],
    ] as [never, string][])
      expect(() => estimatePrePromptTokens(params)).toThrow(refused(field))
  })
})

describe('shouldPreemptivelyCompactBeforePrompt', () => {
  const check = (params: Partial<PreemptiveCompactionParams>) =>
    shouldPreemptivelyCompactBeforePrompt({
      messages: [],
      prompt: 'hello',
      contextTokenBudget: 128_000,
      reserveTokens: 0,
      ...params,
    })

  it('decides as in the worked example', () => {
    // Threshold max(800 + 2,048, 1,200) = 2,848.
    expect(check({ messages: results(45_000), contextTokenBudget: 13_303 })).toEqual({
      route: 'truncate_tool_results_only',
      shouldCompact: false,
      estimatedPromptTokens: 13_503,
      promptBudgetBeforeReserve: 13_303,
      overflowTokens: 200,
      toolResultReducibleChars: 29_040,
    })
    expect(check({ messages: results(45_000), contextTokenBudget: 27_000, profile: 'latest' })).toEqual({
      route: 'truncate_tool_results_only',
      shouldCompact: false,
      estimatedPromptTokens: 27_041,
      promptBudgetBeforeReserve: 27_000,
      overflowTokens: 41,
      toolResultReducibleChars: 29_000,
      pressureSource: 'transcript_estimate',
      effectiveReserveTokens: 0,
    })
  })

  it('counts the system prompt, which that example ignores', () => {
    // OpenClaw 4.10: 13,503 with any system prompt.
    const params = {
      messages: results(45_000),
      contextTokenBudget: 13_303,
      systemPrompt: 'You are a helpful agent.',
    }
    expect(check(params)).toMatchObject({ estimatedPromptTokens: 13_510, overflowTokens: 207 })
    // OpenClaw 4.10: 'fits', at 2 tokens.
    expect(check({ systemPrompt: 's'.repeat(400_000), prompt: 'hi', contextTokenBudget: 50_000 })).toEqual({
      route: 'compact_only',
      shouldCompact: true,
      estimatedPromptTokens: 120_002,
      promptBudgetBeforeReserve: 50_000,
      overflowTokens: 70_002,
      toolResultReducibleChars: 0,
    })
    // OpenClaw 4.10: both at 3 tokens.
    const pictures = [{ role: 'user', content: Array(10).fill(image) }]
    expect(check({ messages: pictures, contextTokenBudget: 8_000 })).toMatchObject({
      route: 'compact_only',
      estimatedPromptTokens: 14_403,
    })
    const tools = [{ name: 'exec', description: 'd'.repeat(40_000) }]
    expect(check({ tools, contextTokenBudget: 8_000 })).toMatchObject({
      route: 'compact_only',
      estimatedPromptTokens: 12_014,
    })
  })

  it.each([
    // Results, tokens over a budget of 13,303; the route. The cap is 15,960 chars.
    [[45_000], 0, 'fits'],
    [[45_000], 1, 'truncate_tool_results_only'],
    // 29,040 chars are one and a half times 4,840 tokens.
    [[45_000], 4_840, 'truncate_tool_results_only'],
    [[45_000], 4_841, 'compact_then_truncate'],
    // 2,052 chars are one token and 512 more.
    [[18_012], 1, 'truncate_tool_results_only'],
    [[18_011], 1, 'compact_then_truncate'],
    [[15_961], 1, 'compact_then_truncate'],
    [[15_960], 1, 'compact_only'],
    [[15_960, 2_052], 1, 'truncate_tool_results_only'],
    [[], 1, 'compact_only'],
  ] as const)('sends results of %j, %d tokens over, to %s', (sizes, over, route) => {
    const estimatedPromptTokens = 13_303 + over
    const answer = check({
      messages: results(...sizes),
      contextTokenBudget: 14_303,
      reserveTokens: 1_000,
      toolResultMaxChars: 15_960,
      llmBoundaryTokenPressure: { estimatedPromptTokens, source: 'counted' },
    })
    expect(answer).toMatchObject({ route, estimatedPromptTokens, overflowTokens: over })
    expect(answer.promptBudgetBeforeReserve).toBe(13_303)
    expect(answer.shouldCompact).toBe(route.startsWith('compact'))
  })

  it('sends one huge result to compaction although truncation would do, as OpenClaw does', () => {
    const messages = results(500_000)
    // 460,000 chars are 20,000 more than is over, and less than one and a half times as many.
    expect(check({ messages, contextTokenBudget: 40_000 })).toMatchObject({
      route: 'compact_then_truncate',
      estimatedPromptTokens: 150_003,
      overflowTokens: 110_003,
      toolResultReducibleChars: 460_000,
    })
    const cut = truncateOversizedToolResultsInMessages(messages, 40_000)
    expect(check({ messages: cut.messages, contextTokenBudget: 40_000 })).toMatchObject({
      route: 'fits',
      estimatedPromptTokens: 12_003,
    })
  })

  it.each([
    // Window and reserve; budget in 'april' and in 'latest'. In comments what OpenClaw 7.1 leaves.
    [16_000, 20_000, 1, 12_000], // 8,000
    [4_096, 20_000, 1, 3_072], // 2,048
    [128_000, 20_000, 108_000, 108_000],
    [200_000, 60_000, 140_000, 150_000], // 140,000
    [0, 0, 1, 1],
    [1, Number.POSITIVE_INFINITY, 1, 1],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  ])('leaves of a window of %d with %d kept back %d, %d in the latest profile', (window, reserve, april, latest) => {
    const params = { contextTokenBudget: window, reserveTokens: reserve }
    expect(check(params)).toMatchObject({ promptBudgetBeforeReserve: april })
    expect(check({ ...params, profile: 'latest' })).toMatchObject({ promptBudgetBeforeReserve: latest })
  })

  it('tells what it goes by in the latest profile', () => {
    const profile = 'latest'
    const told = { estimatedPromptTokens: 500, source: ' usage ' }
    expect(check({ profile, llmBoundaryTokenPressure: told })).toMatchObject({
      estimatedPromptTokens: 500,
      pressureSource: 'usage',
    })
    const blank = { ...told, source: ' ' }
    expect(check({ profile, llmBoundaryTokenPressure: blank }).pressureSource).toBe('rendered_llm_boundary')
    const unwindowedMessages = results(45_000)
    expect(
      check({ profile, unwindowedMessages, llmBoundaryTokenPressure: told, contextTokenBudget: 27_000 }),
    ).toMatchObject({
      estimatedPromptTokens: 27_041,
      pressureSource: 'unwindowed_transcript_estimate',
      toolResultReducibleChars: 29_000,
    })
    const counted = { estimatedPromptTokens: 30_000, source: 'counted' }
    expect(
      check({ profile, unwindowedMessages, llmBoundaryTokenPressure: counted, contextTokenBudget: 27_000 }),
    ).toMatchObject({ pressureSource: 'counted', toolResultReducibleChars: 0 })
  })

  it('has the words of the error', () => {
    expect(PREEMPTIVE_OVERFLOW_ERROR_TEXT).toBe(
      'Context overflow: prompt too large for the model (precheck).',
    )
  })

  it('grows with the messages alone', () => {
    const read = (count: number) => {
      const { messages, reads } = watched(Array.from({ length: count }, () => result(text('x '.repeat(500)))))
      check({ messages, profile: 'latest' })
      return reads()
    }
    expect(read(400)).toBeLessThan(5 * read(100))
  })

  it('refuses wrong params by name', () => {
    for (const [params, field] of [
      [{ contextTokenBudget: Number.NaN }, 'contextTokenBudget'],
      [{ contextTokenBudget: -5 }, 'contextTokenBudget'],
      [{ contextTokenBudget: undefined }, 'contextTokenBudget'],
      [{ reserveTokens: Number.NaN }, 'reserveTokens'],
      [{ reserveTokens: '5' }, 'reserveTokens'],
      [{ toolResultMaxChars: -1 }, 'maxCharsOverride'],
      [{ messages: {} }, 'messages'],
      [{ unwindowedMessages: {} }, 'messages'],
      [{ llmBoundaryTokenPressure: 5 }, 'llmBoundaryTokenPressure'],
      [{ llmBoundaryTokenPressure: { source: '' } }, 'llmBoundaryTokenPressure.estimatedPromptTokens'],
      [{ llmBoundaryTokenPressure: { estimatedPromptTokens: 5 } }, 'llmBoundaryTokenPressure.source'],
      [{ profile: 'may' }, 'profile'],
    ] as [never, string][])
      expect(() => check(params)).toThrow(refused(field))
    expect(() => shouldPreemptivelyCompactBeforePrompt(null as never)).toThrow(refused('params'))
    for (const wrong of [null, { messages: [], contextWindowTokens: Number.NaN }] as never[])
      expect(() => estimateToolResultReductionPotential(wrong)).toThrow(/^(params|contextWindowTokens) must/)
  })
})
