import {
  calculateMaxToolResultChars,
  capToolResultSize,
  countBytesUtf8,
  countLines,
  DEFAULT_MAX_LIVE_TOOL_RESULT_CHARS,
  hardTruncateToolPayload,
  installSessionToolResultGuard,
  isContextOverflowError,
  PREEMPTIVE_OVERFLOW_ERROR_TEXT,
  sessionLikelyHasOversizedToolResults,
  shouldPreemptivelyCompactBeforePrompt,
  truncateOversizedToolResultsInMessages,
  truncateToolResultMessage,
  truncateToolResultText,
} from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'
import { estimateToolResultReductionPotential, getToolResultTextLength } from '../support/openclaw_tests.js'

// Assertions of the tests of OpenClaw 2026.4.10 about the names that are exported here, with inputs
// of our own: a call, its answer, and the answer that those tests ask for. `differs` are those
// where ours is another, with the reason.

const text = (text: string) => ({ type: 'text', text })
const result = (said: string, toolCallId = 'c1', rest: object = {}) => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'read',
  content: [text(said)],
  isError: false,
  ...rest,
})
const user = { role: 'user', content: 'go on' }
const call = (id: string, rest: object = {}) => ({
  type: 'toolCall',
  id,
  name: 'read',
  arguments: {},
  ...rest,
})
const answer = (...content: object[]) => ({ role: 'assistant', content, stopReason: 'toolUse' })
const long = (chars: number) => 'some words of a line '.repeat(Math.ceil(chars / 21)).slice(0, chars)

const window = { contextWindowTokens: 128_000 }
const medium = [1, 2, 3].map((at) => result(long(19_000), `c${at}`))
const mixed = [result(long(500_000), 'c0'), ...medium]
const reducible = (messages: readonly object[]) =>
  estimateToolResultReductionPotential({ messages, ...window })
const cutAll = (messages: object[], ...rest: number[]) =>
  truncateOversizedToolResultsInMessages(messages, 128_000, ...rest)
const failing = `${'a line at the start\n'.repeat(400)}${'in the middle\n'.repeat(400)}\nError: it broke\n    at it.ts:1\n`
const route = (messages: readonly object[], tokens: number) =>
  shouldPreemptivelyCompactBeforePrompt({
    messages,
    prompt: 'go',
    contextTokenBudget: tokens,
    reserveTokens: 0,
  }).route

/** Appends messages to a guarded manager and returns what it stored: roles and ids. */
function stored(messages: readonly object[], options: object = {}, flush = true): string[] {
  const kept: { role: string; toolCallId?: string }[] = []
  const manager = { appendMessage: (message: never) => kept.push(message) }
  const guard = installSessionToolResultGuard(manager, options)
  for (const message of messages) manager.appendMessage(message as never)
  if (flush) guard.flushPendingToolResults()
  return kept.map(({ role, toolCallId = '' }) => `${role} ${toolCallId}`.trim())
}
const blocks = { content: [text('a'.repeat(9_000)), text('b'.repeat(9_000))], details: { ok: true } }
const short = { maxBytesUtf8: 700, suffix: '\n<cut>' }
const hard = hardTruncateToolPayload(blocks, short)
const joined = hard.content.map(({ text }) => text).join('\n')

const same: [call: string, ours: unknown, theirs: unknown][] = [
  ['truncateToolResultText of what fits', truncateToolResultText('fits', 100), 'fits'],
  ['it names what is cut', truncateToolResultText(long(9_000), 4_000).includes('truncated'), true],
  ['it is shorter', truncateToolResultText(long(9_000), 4_000).length < 9_000, true],
  [
    'it takes a suffix',
    truncateToolResultText(long(9_000), 400, { suffix: '\n<cut>', minKeepChars: 300 }).endsWith('\n<cut>'),
    true,
  ],
  [
    'and a floor',
    truncateToolResultText(long(9_000), 400, { suffix: '\n<cut>', minKeepChars: 300 }).length > 300,
    true,
  ],
  ['it keeps an error at the end', truncateToolResultText(failing, 6_000).includes('Error: it broke'), true],
  ['with the start', truncateToolResultText(failing, 6_000).startsWith('a line at the start'), true],
  ['and says so between', truncateToolResultText(failing, 6_000).includes('middle content omitted'), true],
  [
    'but not of an ordinary end',
    truncateToolResultText(long(9_000), 6_000).includes('middle content omitted'),
    false,
  ],
  [
    'getToolResultTextLength',
    getToolResultTextLength({
      ...result(''),
      content: [text('ab'), { type: 'image', data: 'x' }, text('cde')],
    }),
    5,
  ],
  ['of another message', getToolResultTextLength(user), 0],
  [
    'truncateToolResultMessage keeps the role',
    truncateToolResultMessage(result(long(9_000)), 4_000, { suffix: '<cut>' }).role,
    'toolResult',
  ],
  [
    'and takes a suffix',
    truncateToolResultMessage(result(long(9_000)), 4_000, { suffix: '<cut>' }).content[0]?.text.endsWith(
      '<cut>',
    ),
    true,
  ],
  ['capToolResultSize', capToolResultSize(result(long(90_000))).content[0]?.text.length, 40_000],
  [
    'calculateMaxToolResultChars grows',
    calculateMaxToolResultChars(20_000) < calculateMaxToolResultChars(190_000),
    true,
  ],
  ['up to the cap', calculateMaxToolResultChars(128_000), DEFAULT_MAX_LIVE_TOOL_RESULT_CHARS],
  ['for any window', calculateMaxToolResultChars(3_000_000), 40_000],
  [
    'sessionLikelyHasOversizedToolResults',
    sessionLikelyHasOversizedToolResults({ messages: mixed, ...window }),
    true,
  ],
  ['by all of them', sessionLikelyHasOversizedToolResults({ messages: medium, ...window }), true],
  [
    'nothing to reduce',
    [reducible([result('x')]).toolResultCount, reducible([result('x')]).maxReducibleChars],
    [1, 0],
  ],
  ['all of them are too many', reducible(medium).oversizedCount, 0],
  ['which can be reduced', reducible(medium).aggregateReducibleChars > 0, true],
  ['and nothing else', reducible(medium).maxReducibleChars, reducible(medium).aggregateReducibleChars],
  [
    'one is too large besides',
    reducible(mixed).oversizedReducibleChars > 0 && reducible(mixed).aggregateReducibleChars > 0,
    true,
  ],
  [
    'both count',
    reducible(mixed).maxReducibleChars,
    reducible(mixed).oversizedReducibleChars + reducible(mixed).aggregateReducibleChars,
  ],
  ['messages with nothing to cut', cutAll([user, result('x')]).truncatedCount, 0],
  ['messages with one', cutAll([user, result(long(90_000))]).truncatedCount, 1],
  ['with two', cutAll([result(long(90_000)), result(long(90_000))]).truncatedCount, 2],
  ['others are the same objects', cutAll([user, result(long(90_000))]).messages[0] === user, true],
  ['two arguments have no budget', cutAll(medium).truncatedCount, 0],
  ['a precheck that fits', route([user], 1_000), 'fits'],
  ['that truncation saves', route([result(long(45_000))], 12_500), 'truncate_tool_results_only'],
  ['that nothing but compaction saves', route([{ ...user, content: long(45_000) }], 9_000), 'compact_only'],
  [
    'that takes both',
    route([result(long(400_000)), { ...user, content: long(90_000) }], 9_000),
    'compact_then_truncate',
  ],
  ['its error is an overflow', isContextOverflowError(PREEMPTIVE_OVERFLOW_ERROR_TEXT), true],
  [
    'hardTruncateToolPayload of what fits',
    hardTruncateToolPayload(blocks, { maxBytesUtf8: 50_000 }) === blocks,
    true,
  ],
  ['blocks joined by newlines', countBytesUtf8(joined) <= 700, true],
  ['one has the suffix', joined.includes('<cut>'), true],
  ['lines', countLines(hardTruncateToolPayload('line\n'.repeat(900), { maxLines: 90 })) <= 90, true],
  [
    'whole pairs',
    hardTruncateToolPayload(`${'x'.repeat(90)}${'😀'.repeat(90)}`, {
      maxBytesUtf8: 120,
      suffix: '',
    }).isWellFormed(),
    true,
  ],
  [
    'a call without a result gets one',
    stored([answer(call('c1')), user]),
    ['assistant', 'toolResult c1', 'user'],
  ],
  ['with a flush', stored([answer(call('c1'))]), ['assistant', 'toolResult c1']],
  ['not without', stored([answer(call('c1'))], {}, false), ['assistant']],
  [
    'not by option',
    stored([answer(call('c1')), user], { allowSyntheticToolResults: false }),
    ['assistant', 'user'],
  ],
  ['a result that is there', stored([answer(call('c1')), result('x')]), ['assistant', 'toolResult c1']],
  [
    'one of two',
    stored([answer(call('c1'), call('c2')), result('x'), answer()]),
    ['assistant', 'toolResult c1', 'toolResult c2', 'assistant'],
  ],
  [
    'a result by toolUseId',
    stored([answer(call('c1')), { ...result('x'), toolCallId: undefined, toolUseId: 'c1' }]),
    ['assistant', 'toolResult'],
  ],
  ['a call without arguments is dropped', stored([answer(call('c1', { arguments: undefined }))]), []],
  ['with an invalid name', stored([answer(call('c1', { name: 'no name!' }))]), []],
  ['of a tool that is not allowed', stored([answer(call('c1'))], { allowedToolNames: ['write'] }), []],
  [
    'calls of a turn that failed get none',
    stored([{ ...answer(call('c1')), stopReason: 'error' }, user]),
    ['assistant', 'user'],
  ],
  [
    'of one that was aborted',
    stored([{ ...answer(call('c1')), stopReason: 'aborted' }, user]),
    ['assistant', 'user'],
  ],
  ['a hook blocks', stored([user], { beforeMessageWriteHook: () => ({ block: true }) }), []],
  ['a hook that throws', stored([user], { beforeMessageWriteHook: () => JSON.parse('{') }), ['user']],
]

const differs: [call: string, ours: unknown, theirs: unknown, why: string][] = [
  [
    'truncateToolResultText below its floor',
    truncateToolResultText(long(50_000), 100).length > 2_000,
    true,
    'a limit that a floor of 2,000 raises is not a limit',
  ],
]

describe('the tests of OpenClaw 2026.4.10', () => {
  it.each(same)('%s', (_, ours, theirs) => expect(ours).toEqual(theirs))
  it.each(differs)('%s differs', (_, ours, theirs, why) => {
    expect(ours).not.toEqual(theirs)
    expect(why).not.toBe('')
  })
})
