import {
  avoidTrailingHighSurrogateBreak,
  createToolResultPromptProjectionState,
  DEFAULT_MAX_LIVE_TOOL_RESULT_CHARS,
  resolveLiveToolResultMaxChars,
  sessionLikelyHasOversizedToolResults,
  shouldPreemptivelyCompactBeforePrompt,
  truncateOversizedToolResultsInMessages,
  truncateToolResultMessage,
  truncateToolResultText,
} from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'
import {
  estimateToolResultReductionPotential,
  formatContextLimitTruncationNotice,
  getToolResultTextLength,
} from '../support/openclaw_tests.js'

// Calls in the tests of 2026.7.2, with answers by its formulas. The specs of loop, projection and
// stored results have those of its guards and projections.
const july = { profile: '2026.7' } as const
const text = (text: string) => ({ type: 'text', text })
const result = (id: string, ...content: object[]) => ({
  role: 'toolResult',
  toolCallId: id,
  content,
  isError: false,
})
const printed = (chars: number, letter: string) => result(letter, text(letter.repeat(chars)))
const shown = (message: unknown) =>
  (message as { content: { text?: string }[] }).content.map(({ text }) => text ?? '').join('')

const sent = (sizes: number[], cap?: number, budget?: number, window = 128_000) =>
  truncateOversizedToolResultsInMessages(
    sizes.map((chars, at) => printed(chars, 'abcdefg'[at] as string)),
    window,
    cap,
    budget,
    july,
  )
const lengths = (...args: Parameters<typeof sent>) =>
  sent(...args).messages.map((message) => shown(message).length)
const potential = (sizes: number[], contextWindowTokens: number, more: object = {}) => ({
  messages: sizes.map((chars, at) => printed(chars, 'abcdefg'[at] as string)),
  contextWindowTokens,
  ...july,
  ...more,
})
const decide = (messages: object[], contextTokenBudget: number, reserveTokens: number) =>
  shouldPreemptivelyCompactBeforePrompt({
    messages,
    prompt: 'continue',
    contextTokenBudget,
    reserveTokens,
    ...july,
  })

const same: [call: string, ours: unknown, theirs: unknown][] = [
  ['an end between pairs', avoidTrailingHighSurrogateBreak('hello', 0, 3), 3],
  ['the end of a text', avoidTrailingHighSurrogateBreak('hello', 0, 5), 5],
  ['an end within a pair', avoidTrailingHighSurrogateBreak('a\u{1f600}b', 0, 2), 1],
  ['an end within the first pair', avoidTrailingHighSurrogateBreak('\u{1f600}b', 0, 1), 2],
  ['a text within its limit', truncateToolResultText('hello world', 1_000, july), 'hello world'],
  [
    'a pair at the cut',
    truncateToolResultText('aaa\u{1f600}z', 5, { suffix: '!', minKeepChars: 0, ...july }),
    'aaa!',
  ],
  [
    'a suffix of the caller',
    truncateToolResultText('x'.repeat(900), 300, { suffix: '[cut]', minKeepChars: 250, ...july }),
    `${'x'.repeat(295)}[cut]`,
  ],
  [
    'the notice',
    formatContextLimitTruncationNotice(123, july),
    '[... 123 more characters truncated; rerun with narrower args if needed]',
  ],
  [
    'the chars of all texts',
    getToolResultTextLength(result('a', text('abc'), { type: 'image', data: 'x' }, text('12345'))),
    8,
  ],
  ['the chars of other messages', getToolResultTextLength({ ...printed(5, 'a'), role: 'assistant' }), 0],
  ['the cap of 8,000 tokens', resolveLiveToolResultMaxChars({ contextWindowTokens: 8_000 }), 9_600],
  ['the cap of 2 million tokens', resolveLiveToolResultMaxChars({ contextWindowTokens: 2_000_000 }), 64_000],
  ['one result over the cap', lengths([500_000]), [32_000]],
  ['two results over the cap', sent([500_000, 500_000]).truncatedCount, 2],
  ['results within cap and budget', lengths([5_000, 5_000]), [5_000, 5_000]],
  ['the oldest first', lengths([12_000, 6_500], 16_000, 16_000), [9_500, 6_500]],
  [
    'the budget of 20,000 tokens',
    lengths([15_500, 15_500, 15_500, 15_500, 15_500], undefined, undefined, 20_000),
    [2_000, 15_500, 15_500, 15_500, 15_500],
  ],
  [
    'what a small history may lose',
    estimateToolResultReductionPotential(potential([12], 128_000)).maxReducibleChars,
    0,
  ],
  [
    'what the budget alone may take',
    estimateToolResultReductionPotential(potential(Array(6).fill(12_400), 20_000)).aggregateReducibleChars,
    10_400,
  ],
  [
    'what both may take',
    estimateToolResultReductionPotential(
      potential([500_000, 24_800, 24_800], 128_000, { aggregateMaxCharsOverride: 50_000 }),
    ).maxReducibleChars,
    499_600,
  ],
  [
    'a session with one large result',
    sessionLikelyHasOversizedToolResults(potential([500_000], 128_000)),
    true,
  ],
  [
    'a session with many medium results',
    sessionLikelyHasOversizedToolResults(potential(Array(6).fill(15_500), 20_000)),
    true,
  ],
  ['a prompt that fits', decide([printed(10, 'a')], 10_000, 1_000).route, 'fits'],
  [
    'a prompt that no cut helps',
    decide([{ role: 'assistant', content: [text('x'.repeat(9_000))] }], 500, 50).route,
    'compact_only',
  ],
  [
    'a prompt that a cut makes fit',
    decide([printed(60_000, 'a')], 36_000, 2_000).route,
    'truncate_tool_results_only',
  ],
  ['a prompt that a cut helps', decide([printed(60_000, 'a')], 12_000, 500).route, 'compact_then_truncate'],
  [
    'results without JSON',
    Number.isFinite(decide([result('a', { type: 'json', rows: 5n })], 9_000, 0).estimatedPromptTokens),
    true,
  ],
]

/** Calls with an answer of our own, and the reason. */
const differ: [call: string, answer: unknown, ours: unknown, theirs: unknown, why: string][] = [
  [
    'a suffix longer than the limit',
    truncateToolResultText('abcdef', 1, { suffix: '\u{1f600}', minKeepChars: 0, ...july }),
    'a',
    '',
    'text stays where no words about it fit',
  ],
  [
    'the constant of the cap',
    DEFAULT_MAX_LIVE_TOOL_RESULT_CHARS,
    40_000,
    16_000,
    'the constants are those of 2026.4',
  ],
  [
    'three results under a budget for nothing',
    lengths([100, 100, 100], 100, 8),
    [5, 5, 5],
    [8, 0, 0],
    'providers reject empty texts, and "[...]" says more than "[tool re"',
  ],
  [
    'a result that is cut',
    shown(sent([100, 100, 100], 100, 100).messages[0]),
    '[tool result elided: over budget]',
    '[tool result elided: aggrega',
    'a notice is never cut',
  ],
  [
    'one result over the budget',
    lengths([30_000], 40_000, 10_000),
    [10_000],
    [30_000],
    'the budget holds for one result, too',
  ],
  [
    'blocks of one result',
    shown(
      truncateToolResultMessage(
        result('a', ...Array.from({ length: 100 }, () => text('x'.repeat(3_000)))),
        40_000,
        july,
      ),
    ).length,
    40_000,
    207_200,
    'blocks share one cap',
  ],
  [
    'the names of results that were sent',
    createToolResultPromptProjectionState(),
    { replacements: new Map(), frozen: new Set() },
    { replacements: new Map(), frozen: new Set(), ambiguousBaseKeys: new Set(), sourceTextByKey: new Map() },
    'a name contains a hash of the text, so that none is ambiguous',
  ],
]

describe('assertions of 2026.7.2', () => {
  it.each(same)('%s: the same', (_, ours, theirs) => {
    expect(ours).toEqual(theirs)
  })

  it.each(differ)('%s: another answer', (_, answer, ours, theirs, why) => {
    expect(answer).toEqual(ours)
    expect(ours, why).not.toEqual(theirs)
  })
})
