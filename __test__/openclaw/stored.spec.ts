import * as fc from 'fast-check'
import {
  capToolResultSize,
  installSessionToolResultGuard,
  type ProfileOptions,
  truncateOversizedToolResultsInMessages,
  truncateToolResultMessage,
  truncateToolResultText,
} from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { estimateToolResultReductionPotential } from '../support/openclaw_tests.js'

type Name = NonNullable<ProfileOptions['profile']>
type Stored = { role: string; details: Record<string, unknown>; content: { text: string }[] }

const result = (said: string, more: object = {}) => ({
  role: 'toolResult',
  toolCallId: 'call_1',
  toolName: 'exec',
  content: [{ type: 'text', text: said }],
  isError: false,
  ...more,
})

/** Appends messages through a guard, and returns what is stored. */
function stored(messages: object[], profile: Name = '2026.7', more: object = {}): Stored[] {
  const rows: Stored[] = []
  const manager = { appendMessage: (message: Stored) => rows.push(message) }
  installSessionToolResultGuard(manager, { profile, ...more })
  for (const message of messages) manager.appendMessage(message as Stored)
  return rows
}
const detailsOf = (details: unknown, profile?: Name) =>
  stored([result('ok', { details })], profile)[0]?.details ?? {}
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

describe('details that are stored', () => {
  it('are as they were if they fit', () => {
    const details = { status: 'completed', aggregated: 'x'.repeat(8_000) }
    expect(detailsOf(details)).toEqual(details)
  })

  it('keep what readers of sessions look for', () => {
    const session = { sessionId: 'p', command: 'c'.repeat(600), aggregated: 'a'.repeat(9_000) }
    const details = detailsOf({
      status: { state: 'completed' },
      sessionId: 'exec-1',
      success: true,
      disabled: false,
      unavailable: 'no',
      error: null,
      exitCode: 0,
      fullOutputPath: '/tmp/o',
      spilledChars: 5,
      aggregated: 'x'.repeat(120_000),
      tail: 't'.repeat(1_000),
      sessions: Array.from({ length: 12 }, () => session),
    })
    const short = `${'c'.repeat(500)}\n\n[OpenClaw persisted detail truncated: 100 original chars omitted]`
    expect(details).toEqual({
      persistedDetailsTruncated: true,
      originalDetailsBytesAtLeast: expect.any(Number),
      originalDetailKeys: expect.arrayContaining(['status', 'aggregated', 'sessions']),
      status: { state: 'completed' },
      sessionId: 'exec-1',
      success: true,
      disabled: false,
      exitCode: 0,
      fullOutputPath: '/tmp/o',
      spilledChars: 5,
      tail: 't'.repeat(1_000),
      sessions: Array(10).fill({ sessionId: 'p', command: short }),
      sessionsTruncated: 2,
    })
    expect(details['originalDetailsBytesAtLeast']).toBeGreaterThan(8_192)
    expect(bytes(details)).toBeLessThanOrEqual(8_192)
    expect(detailsOf({ tail: 't'.repeat(9_000) })['tail']).toBe(
      `${'t'.repeat(2_000)}\n\n[OpenClaw persisted detail truncated: 7000 original chars omitted]`,
    )
  })

  it('keep less where that is too much, and at last only that they were cut', () => {
    const long = (said: string) => said.repeat(4_000)
    const fallback = detailsOf({
      status: 'done',
      cwd: long('cwd'),
      name: long('name'),
      tail: long('tail'),
      truncation: long('cut'),
      success: false,
      error: { code: 1 },
      fullOutputPath: long('path'),
      startedAt: long('now'),
    })
    expect(fallback).toMatchObject({
      persistedDetailsTruncated: true,
      finalDetailsTruncated: true,
      sanitizedDetailsBytes: expect.any(Number),
      status: 'done',
      success: false,
      error: true,
      fullOutputPath: expect.stringMatching(/^(path){50}\n\n/),
    })
    expect(fallback).not.toHaveProperty('tail')
    expect(detailsOf({ status: { huge: long('huge') } })).toEqual({
      persistedDetailsTruncated: true,
      finalDetailsTruncated: true,
      originalDetailsBytesAtLeast: expect.any(Number),
      sanitizedDetailsBytes: expect.any(Number),
    })
    expect(detailsOf(long('text'))).toEqual({
      persistedDetailsTruncated: true,
      originalDetailsBytesAtLeast: 16_002,
      valueType: 'string',
    })
  })

  it.each(['2026.7', '2026.9'] as const)('are read no further than the limit in %s', (profile) => {
    let reads = 0
    const wide: Record<string, unknown> = {}
    for (let at = 0; at < 20_000; at++)
      Object.defineProperty(wide, `debug_${at}`, {
        enumerable: true,
        configurable: true,
        get: () => `${reads++}`,
      })
    expect(detailsOf(wide, profile)['originalDetailKeys']).toHaveLength(40)
    expect(reads).toBeLessThan(2_000)
  })

  it('have 8 KiB for any value, and keep all of it below', () => {
    const json = fc.oneof(hostileText, fc.jsonValue(), fc.integer(), fc.constant(undefined))
    const names = fc.constantFrom('status', 'tail', 'error', 'sessions', 'spill', 'other', 'success')
    const details = fc.dictionary(
      names,
      fc.oneof(
        json,
        hostileText.map((all) => all.repeat(900)),
        fc.array(json),
      ),
    )
    fc.assert(
      fc.property(details, (given) => {
        const kept = detailsOf(structuredClone(given))
        expect(bytes(kept)).toBeLessThanOrEqual(8_192)
        if (bytes(given) <= 8_192)
          expect(JSON.stringify(kept).toWellFormed()).toBe(JSON.stringify(given).toWellFormed())
        else expect(kept['persistedDetailsTruncated']).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('that loop or throw are stored all the same', () => {
    const loop: Record<string, unknown> = { status: 'done' }
    loop['self'] = loop
    const hostile = {
      get status(): never {
        throw new Error('no')
      },
      tail: 't'.repeat(9_000),
    }
    for (const details of [loop, hostile]) expect(bytes(detailsOf(details))).toBeLessThanOrEqual(8_192)
  })

  it('have the shape of spillway in 2026.4', () => {
    expect(detailsOf({ aggregated: 'x'.repeat(90_000) }, '2026.4')).not.toHaveProperty(
      'persistedDetailsTruncated',
    )
  })
})

describe('a call whose result comes late', () => {
  const call = (id: string) => ({
    role: 'assistant',
    content: [{ type: 'toolCall', id, name: 'exec', arguments: {} }],
  })
  const answer = (toolCallId: string) => result('ok', { toolCallId })
  const mirror = {
    role: 'assistant',
    provider: 'openclaw',
    model: 'delivery-mirror',
    content: [{ type: 'text', text: 'sent' }],
  }
  const aside = { role: 'custom', customType: 'note', content: 'x', excludeFromContext: true }
  const roles = (messages: object[], profile: Name, more?: object) =>
    stored(messages, profile, more)
      .map(({ role }) => role[0])
      .join('')

  it.each([
    // Messages; the first letters of what is stored in 2026.7 and in 2026.4: assistant, custom,
    // tool result, user.
    ['a copy of what was delivered', [call('1'), mirror, answer('1')], 'aat', 'atat'],
    [
      'what OpenClaw itself injects',
      [call('1'), { ...mirror, model: 'gateway-injected' }, answer('1')],
      'aat',
      'atat',
    ],
    ['what is kept from the model', [call('1'), aside, answer('1')], 'act', 'atct'],
    ['calls made at the same time', [call('1'), call('2'), answer('2'), answer('1')], 'aatt', 'atatt'],
    [
      'words of a model of that name',
      [call('1'), { ...mirror, provider: 'other' }, answer('1')],
      'atat',
      'atat',
    ],
    ['what others inject', [call('1'), { ...aside, excludeFromContext: false }], 'atc', 'atc'],
    ['words of a user', [call('1'), { role: 'user', content: 'x' }], 'atu', 'atu'],
  ])('is waited for behind %s', (_, messages, july, april) => {
    expect(roles(messages, '2026.7')).toBe(july)
    expect(roles(messages, '2026.9')).toBe(july)
    expect(roles(messages, '2026.4')).toBe(april)
  })

  it('keeps its place behind a mirror also where nothing is made up for it', () => {
    const manager = { appendMessage: (_: object) => {} }
    const guard = installSessionToolResultGuard(manager, {
      profile: '2026.7',
      allowSyntheticToolResults: false,
    })
    for (const message of [call('1'), mirror]) manager.appendMessage(message)
    expect(guard.getPendingIds()).toEqual(['1'])
  })
})

describe('Chinese, Japanese and Korean in 2026.9', () => {
  const profile = '2026.9'
  const kanji = '漢'.repeat(10_000)

  it('count four chars each', () => {
    // As in OpenClaw 9.6.
    const cut = truncateToolResultText(kanji, 5_000, { profile })
    expect(cut).toMatch(
      /^漢{1230,1240}\[\.\.\. \d+ more characters truncated; rerun with narrower args if needed\]$/,
    )
    expect(cut).toHaveLength(1_304)
    const omitted = /\d+/.exec(cut)?.[0]
    expect(Number(omitted)).toBe(10_000 - (cut.match(/漢/g)?.length ?? 0))
    expect(truncateToolResultText(kanji, 5_000, { profile: '2026.7' }).length).toBe(5_000)
    expect(truncateToolResultText('x'.repeat(9_000), 5_000, { profile }).length).toBe(5_000)
  })

  it('are over a cap with a quarter of its chars, in a history and in a session', () => {
    const message = result('漢'.repeat(5_000))
    expect(capToolResultSize(message, 30_000, { profile })).toBe(message)
    expect(
      stored([structuredClone(message)], profile)[0]?.content[0]?.text.match(/漢/g)?.length,
    ).toBeLessThan(4_000)
    const params = { messages: [message], contextWindowTokens: 20_000, profile } as const
    expect(estimateToolResultReductionPotential(params)).toMatchObject({
      totalToolResultChars: 20_000,
      oversizedCount: 1,
    })
  })

  it('hold cap and budget of any history by their weight', () => {
    const heavy = fc.stringMatching(/^[漢字かな한글ｱab\n]{0,80}$/)
    const history = fc.array(fc.array(fc.oneof(heavy, hostileText), { maxLength: 3 }), { maxLength: 6 })
    const weigh = (messages: object[]) =>
      estimateToolResultReductionPotential({ messages, contextWindowTokens: 128_000, profile })
        .totalToolResultChars
    fc.assert(
      fc.property(
        history,
        fc.integer({ min: 5, max: 300 }),
        fc.integer({ min: 30, max: 900 }),
        (all, cap, budget) => {
          const messages = all.map((texts) =>
            result('', { content: texts.map((text) => ({ type: 'text', text })) }),
          )
          const sent = truncateOversizedToolResultsInMessages(messages, 128_000, cap, budget, {
            profile,
          }).messages
          expect(weigh(sent)).toBeLessThanOrEqual(budget)
          for (const message of sent) expect(weigh([message])).toBeLessThanOrEqual(cap)
          const [first] = messages
          if (
            first &&
            weigh([first]) <= cap &&
            messages.every(({ content }) => content.every(({ text }) => text.isWellFormed()))
          )
            expect(truncateToolResultMessage(first, cap, { profile })).toBe(first)
        },
      ),
      { numRuns: 300 },
    )
  })
})
