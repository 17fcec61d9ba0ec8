import {
  buildPrePromptContextBudgetStatus,
  calculateMaxToolResultChars,
  estimateLlmBoundaryTokenPressure,
  estimatePrePromptTokens,
  estimateRenderedLlmBoundaryTokenPressure,
  formatPrePromptPrecheckLog,
  type ProfileOptions,
  resolveLiveToolResultAggregateMaxChars,
  resolveLiveToolResultMaxChars,
  resolveToolResultBudget,
  shouldPreemptivelyCompactBeforePrompt,
  sliceToolResultTextToBudget,
  toolResultFitsBudget,
  truncateOversizedToolResultsInMessages,
} from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'
import {
  calculateMaxToolResultCharsWithCap,
  resolveAutoLiveToolResultMaxChars,
  resolveToolResultContextMaxChars,
} from '../support/openclaw_tests.js'

type Name = NonNullable<ProfileOptions['profile']>

const result = (text: string, toolCallId = 'call_1') => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'read',
  content: [{ type: 'text', text }],
  isError: false,
})
const said = (text: string) => ({ role: 'assistant', content: [{ type: 'text', text }] })

describe('profiles', () => {
  it.each([
    ['april', '2026.4'],
    ['latest', '2026.9'],
  ] as const)('%s is %s', (alias, release) => {
    const messages = [result('x'.repeat(90_000)), said('ok'), result('漢'.repeat(90_000))]
    const at = (profile: Name) => [
      truncateOversizedToolResultsInMessages(messages, 20_000, undefined, 30_000, { profile }),
      shouldPreemptivelyCompactBeforePrompt({
        messages,
        prompt: 'hello',
        contextTokenBudget: 20_000,
        reserveTokens: 12_000,
        profile,
      }),
    ]
    expect(at(alias)).toEqual(at(release))
  })

  it.each([
    // Window; the cap of each release; then the budget of all from 2026.7 on.
    [8_000, 9_600, 9_600, 38_400],
    [20_000, 24_000, 16_000, 64_000],
    [128_000, 40_000, 32_000, 256_000],
    [200_000, 40_000, 64_000, 400_000],
    [1_000_000, 40_000, 64_000, 2_000_000],
  ])('a window of %d has caps of %d and %d, and a budget of %d', (tokens, april, later, all) => {
    expect(calculateMaxToolResultChars(tokens)).toBe(april)
    for (const profile of ['2026.7', '2026.9'] as const)
      expect(calculateMaxToolResultChars(tokens, { profile })).toBe(later)
    expect(resolveLiveToolResultMaxChars({ contextWindowTokens: tokens })).toBe(later)
    expect(
      resolveLiveToolResultAggregateMaxChars({ contextWindowTokens: tokens, perResultMaxChars: later }),
    ).toBe(all)
  })

  it('takes the cap of a configuration, that of the agent first', () => {
    const cfg = {
      agents: {
        defaults: { contextLimits: { toolResultMaxChars: 24_000 } },
        list: [{ id: 'writer' }, { id: 'reader', contextLimits: { toolResultMaxChars: 12_000 } }],
      },
    }
    const at = (agentId?: string) =>
      resolveLiveToolResultMaxChars({ contextWindowTokens: 128_000, cfg, ...(agentId && { agentId }) })
    expect([at(), at('writer'), at('reader')]).toEqual([24_000, 24_000, 12_000])
    expect(resolveAutoLiveToolResultMaxChars(200_000)).toBe(64_000)
    expect(calculateMaxToolResultCharsWithCap(128_000, 32_000)).toBe(32_000)
    expect(calculateMaxToolResultCharsWithCap(8_000, 32_000)).toBe(9_600)
  })

  it.each([
    // Window and reserve; what is reserved by each release.
    [16_000, 20_000, 20_000, 8_000, 4_000],
    [32_000, 20_000, 20_000, 20_000, 8_000],
    [4_096, 20_000, 20_000, 2_048, 1_024],
    [200_000, 32_000, 32_000, 32_000, 32_000],
  ])('of %d tokens and a reserve of %d keeps %d, %d and %d', (window, reserveTokens, ...reserved) => {
    for (const [at, profile] of (['2026.4', '2026.7', '2026.9'] as const).entries())
      expect(
        shouldPreemptivelyCompactBeforePrompt({
          messages: [said('short')],
          prompt: 'hello',
          contextTokenBudget: window,
          reserveTokens,
          profile,
        }).promptBudgetBeforeReserve,
      ).toBe(Math.max(1, window - (reserved[at] ?? 0)))
  })
})

describe('limits of 9.6', () => {
  it('are those of the window, and none for a window that is unknown', () => {
    expect(resolveToolResultBudget(128_000)).toEqual({ maxChars: 32_000, maxContextChars: 128_000 })
    expect(resolveToolResultContextMaxChars(100)).toBe(1_024)
    for (const tokens of [undefined, 0, Number.POSITIVE_INFINITY])
      expect(resolveToolResultBudget(tokens)).toBeUndefined()
  })

  it.each([
    // Text; chars that it counts, and with a minimum of 2.
    ['abc', 3, 6],
    ['\u6f22\u5b57', 8, 8],
    ['\u{20000}', 16, 16],
    ['\u{1f600}', 2, 4],
  ])('weigh %j as %d, or as %d', (text, weight, twice) => {
    const fits = (maxChars: number, maxContextChars: number) =>
      toolResultFitsBudget(text, { maxChars, maxContextChars })
    expect([fits(weight, twice), fits(weight - 1, twice), fits(weight, twice - 1)]).toEqual([
      true,
      false,
      false,
    ])
    expect(toolResultFitsBudget(text)).toBe(true)
    const slice = sliceToolResultTextToBudget
    expect(slice(text, weight)).toBe(text)
    expect(slice(text, weight - 1).length).toBeLessThan(text.length)
    expect(slice(text, twice, { minimumRawWeight: 2 })).toBe(text)
    expect(slice(text, twice - 1, { minimumRawWeight: 2 }).length).toBeLessThan(text.length)
  })

  it('slice to the longest head, and split no pair', () => {
    const text = `ab\u6f22\u{1f600}cd`
    expect([0, 2, 5, 6, 7, 8, 10].map((most) => sliceToolResultTextToBudget(text, most))).toEqual([
      '',
      'ab',
      'ab',
      'ab\u6f22',
      'ab\u6f22',
      'ab\u6f22\u{1f600}',
      text,
    ])
  })
})

describe('token pressure', () => {
  it('is the estimate of later releases, whatever the profile', () => {
    const params = { messages: [result('x'.repeat(45_000))], systemPrompt: 'sys', prompt: 'hello' }
    const pressure = estimateLlmBoundaryTokenPressure(params)
    expect(pressure).toBe(estimatePrePromptTokens({ ...params, profile: '2026.7' }))
    expect(pressure).toBeGreaterThan(estimatePrePromptTokens(params))
  })

  it('of a rendered prompt is that of a prompt without messages', () => {
    const prompt = 'x'.repeat(60_000)
    const pressure = estimateRenderedLlmBoundaryTokenPressure({ prompt, systemPrompt: 'sys' })
    expect(pressure).toBe(estimateLlmBoundaryTokenPressure({ prompt, systemPrompt: 'sys', messages: [] }))
    const decision = shouldPreemptivelyCompactBeforePrompt({
      messages: [said('a small view')],
      prompt: 'small',
      contextTokenBudget: 16_000,
      reserveTokens: 4_000,
      llmBoundaryTokenPressure: { estimatedPromptTokens: pressure, source: 'rendered' },
      profile: '2026.7',
    })
    expect(decision).toMatchObject({
      route: 'compact_only',
      estimatedPromptTokens: pressure,
      pressureSource: 'rendered',
    })
  })

  it.each([
    // Message; the least and the most tokens.
    [
      'JSON of results',
      { ...result(''), content: [{ type: 'json', rows: 'x'.repeat(180_000) }] },
      80_000,
      120_000,
    ],
    [
      'arguments of calls',
      {
        role: 'assistant',
        content: [{ type: 'toolCall', id: 'c', name: 'f', arguments: { a: 'z'.repeat(90_000) } }],
      },
      30_000,
      40_000,
    ],
    ['Chinese results by the token', result('中'.repeat(85_000)), 85_000, 103_000],
    [
      'a command with its output',
      { role: 'bashExecution', command: 'make', output: 'o'.repeat(400_000) },
      100_000,
      130_000,
    ],
    [
      'nothing of what is kept from the model',
      { ...said('x'.repeat(9_000)), excludeFromContext: true },
      1,
      50,
    ],
  ])('counts %s', (_, message, least, most) => {
    const tokens = estimateLlmBoundaryTokenPressure({ messages: [message], prompt: '' })
    expect(tokens).toBeGreaterThanOrEqual(least)
    expect(tokens).toBeLessThanOrEqual(most)
  })
})

describe('reports of a precheck', () => {
  const decide = (profile: Name) =>
    shouldPreemptivelyCompactBeforePrompt({
      messages: [said('short')],
      prompt: 'hello',
      contextTokenBudget: 10_000,
      reserveTokens: 1_000,
      profile,
    })
  const about = {
    provider: 'anthropic',
    modelId: 'claude',
    messageCount: 1,
    unwindowedMessageCount: 3,
    contextTokenBudget: 10_000,
    reserveTokens: 1_000,
    sessionId: 'session-1',
  }

  it('are a line of a log', () => {
    const line = (more: object) => formatPrePromptPrecheckLog({ result: decide('2026.7'), ...about, ...more })
    expect(line({ sessionKey: 'agent:main', sessionFile: 's.jsonl' })).toBe(
      '[context-overflow-precheck] pre-prompt check sessionKey=agent:main provider=anthropic/claude route=fits ' +
        'estimatedPromptTokens=41 pressureSource=transcript_estimate promptBudgetBeforeReserve=9000 ' +
        'overflowTokens=0 toolResultReducibleChars=0 reserveTokens=1000 effectiveReserveTokens=1000 ' +
        'contextTokenBudget=10000 messages=1 unwindowedMessages=3 sessionFile=s.jsonl',
    )
    expect(line({})).toContain('sessionKey=session-1 ')
    expect(line({ result: decide('2026.4') })).toContain('pressureSource=unknown ')
  })

  it('are a status that a session stores', () => {
    const status = buildPrePromptContextBudgetStatus({ result: decide('2026.7'), ...about, now: 123 })
    expect(status).toEqual({
      schemaVersion: 1,
      source: 'pre-prompt-estimate',
      updatedAt: 123,
      provider: 'anthropic',
      model: 'claude',
      route: 'fits',
      shouldCompact: false,
      estimatedPromptTokens: 41,
      contextTokenBudget: 10_000,
      promptBudgetBeforeReserve: 9_000,
      reserveTokens: 1_000,
      effectiveReserveTokens: 1_000,
      remainingPromptBudgetTokens: 8_959,
      overflowTokens: 0,
      toolResultReducibleChars: 0,
      messageCount: 1,
      unwindowedMessageCount: 3,
      sessionId: 'session-1',
    })
    expect(
      buildPrePromptContextBudgetStatus({ result: decide('2026.4'), ...about }).effectiveReserveTokens,
    ).toBe(1_000)
  })
})
