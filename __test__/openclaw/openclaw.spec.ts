import * as fc from 'fast-check'
import { measureText } from 'spillway'
import * as openclaw from 'spillway/openclaw'
import {
  calculateMaxToolResultChars,
  capToolResultSize,
  HARD_TRUNCATE_SUFFIX,
  hardTruncateToolError,
  hardTruncateToolPayload,
  sanitizeToolResult,
  sliceUtf16Safe,
  truncateOversizedToolResultsInMessages,
  truncateTextByLinesAndBytesUtf8,
  truncateToolResultMessage,
  truncateToolResultText,
  truncateUtf16Safe,
  wrapToolWithHardOutputTruncate,
} from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'
import { hostileText, naive, watched } from '../support/hostile.js'
import { getToolResultTextLength } from '../support/openclaw_tests.js'

interface Block {
  type: string
  text: string
}
/** OpenClaw's marker between head and tail. */
const MARKER = '\n\n\u26a0\ufe0f [... middle content omitted \u2014 showing head and tail ...]\n\n'

const text = (text: string): Block => ({ type: 'text', text })
const image = { type: 'image', mimeType: 'image/png', data: 'aGVsbG8gd29ybGQ=' }
const result = (...content: (Block | typeof image)[]) => ({
  role: 'toolResult',
  toolCallId: 'call_1',
  toolName: 'exec',
  content,
  isError: false,
})
const assistant = { role: 'assistant', content: [{ type: 'text', text: 'ok' }] }
const textsOf = (message: unknown) =>
  (message as { content: Block[] }).content.filter(({ type }) => type === 'text').map(({ text }) => text)
const sizes = (messages: readonly unknown[]) =>
  messages
    .filter((message) => (message as { role: string }).role === 'toolResult')
    .map((message) => textsOf(message).join('').length)
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)

describe('the hard-truncate family', () => {
  it('leaves what fits as it is', () => {
    const payload = { content: [text('hello\nworld'), image], details: { ok: true } }
    expect(hardTruncateToolPayload(payload)).toBe(payload)
    expect(hardTruncateToolPayload(payload.details)).toBe(payload.details)
    expect(hardTruncateToolPayload('hello')).toBe('hello')
    expect(hardTruncateToolPayload(undefined)).toBeUndefined()
    const error = new Error('short')
    expect(hardTruncateToolError(error)).toBe(error)
  })

  it('keeps the head of 2,000 lines and 50 KiB, suffix and all', () => {
    const lines = truncateTextByLinesAndBytesUtf8('line\n'.repeat(5_000))
    // Of the suffix's three lines two are blank.
    expect(lines).toBe(`${'line\n'.repeat(1_997)}line${HARD_TRUNCATE_SUFFIX}`)
    const bytes = truncateTextByLinesAndBytesUtf8('漢'.repeat(50_000))
    expect(bytes).toMatch(/^漢+\n\n\[tool output truncated: exceeded 50KB or 2000 lines; [^\]]+\]$/)
    expect(Buffer.byteLength(bytes)).toBeGreaterThan(51_200 - 3)
    expect(Buffer.byteLength(bytes)).toBeLessThanOrEqual(51_200)
    // Both at once: long lines, and many of them.
    const both = truncateTextByLinesAndBytesUtf8(`${'x'.repeat(99)}\n`.repeat(5_000))
    expect(naive(both)).toMatchObject({ bytes: 51_200, lines: 513 })
  })

  it.each([
    [{ maxBytesUtf8: 200, suffix: '\n[truncated]' }, `${'a'.repeat(188)}\n[truncated]`],
    [{ maxBytesUtf8: 200, suffix: '' }, 'a'.repeat(200)],
    // A suffix that does not fit is never cut.
    [{ maxBytesUtf8: 50 }, `${'a'.repeat(14)}[... 9986 more characters truncated]`],
    [{ maxBytesUtf8: 8 }, 'aaa[...]'],
    [{ maxBytesUtf8: 3 }, 'aaa'],
    [{ maxLines: 1 }, `${'a'.repeat(10_000)}`],
    [{ maxLines: 0 }, ''],
  ])('cuts to %j', (limits, expected) => {
    expect(truncateTextByLinesAndBytesUtf8('a'.repeat(10_000), limits)).toBe(expected)
    expect(hardTruncateToolPayload('a'.repeat(10_000), limits)).toBe(expected)
  })

  it('shares the limits over blocks in order, and no block goes', () => {
    const blocks = [
      text('a'.repeat(40_000)),
      image,
      text('b'.repeat(40_000)),
      text('c'.repeat(40_000)),
      text('d'),
    ]
    const cut = hardTruncateToolPayload(result(...blocks))
    const [a, b, c, d] = textsOf(cut)
    expect(a).toBe(blocks[0] && (blocks[0] as Block).text)
    expect(b).toBe(
      `b${'b'.repeat(51_200 - 40_000 - 6 - 3 - HARD_TRUNCATE_SUFFIX.length - 1)}${HARD_TRUNCATE_SUFFIX}`,
    )
    expect([c, d]).toEqual(['[...]', 'd'])
    expect(cut.content[1]).toBe(image)
    expect(cut.content).toHaveLength(5)
    // Joined by newlines they fill the limit.
    expect(openclaw.countBytesUtf8(textsOf(cut).join('\n'))).toBe(51_200)
    expect(cut).toMatchObject({ role: 'toolResult', toolCallId: 'call_1', isError: false })
    expect(hardTruncateToolPayload(cut)).toBe(cut)
    // Not even room for the marks of all: what has none is empty.
    const many = hardTruncateToolPayload(result(...Array.from({ length: 90 }, () => text('x'.repeat(99)))), {
      maxBytesUtf8: 300,
    })
    expect(textsOf(many)).toHaveLength(90)
    expect(textsOf(many)[0]).toMatch(/^x/)
    expect(textsOf(many)[89]).toBe('')
    expect(textsOf(many).join('\n').length).toBeLessThanOrEqual(300)
  })

  it('keeps blocks within the limits joined by newlines, and cuts none that are', () => {
    const piece = fc.constantFrom('', '\n', 'ab', 'ab\n', 'é\n', '\n\n', 'a line of output\n')
    const block = fc.tuple(piece, fc.nat(4)).map(([piece, times]) => piece.repeat(times))
    const sizes = fc.record({ maxLines: fc.nat(12), maxBytesUtf8: fc.integer({ min: 10, max: 300 }) })
    const joined = (blocks: readonly { text: string }[]) => blocks.map(({ text }) => text).join('\n')
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 6 }), sizes, (texts, limits) => {
        const blocks = texts.map((text) => ({ type: 'text', text }))
        const { content } = hardTruncateToolPayload({ content: blocks }, limits)
        // Blocks that all stay have a newline between them in any case.
        const least = blocks.length - 1
        expect(content).toHaveLength(blocks.length)
        expect(openclaw.countLines(joined(content))).toBeLessThanOrEqual(Math.max(limits.maxLines, least))
        expect(openclaw.countBytesUtf8(joined(content))).toBeLessThanOrEqual(
          Math.max(limits.maxBytesUtf8, least),
        )
        const given = joined(blocks)
        if (
          openclaw.countLines(given) <= limits.maxLines &&
          openclaw.countBytesUtf8(given) <= limits.maxBytesUtf8
        )
          expect(content).toBe(blocks)
      }),
      { numRuns: 2_000 },
    )
  })

  it('cuts string content like a text block', () => {
    // OpenClaw: left at 100,000 chars (its 4.10 cuts arrays alone).
    const cut = hardTruncateToolPayload({ role: 'toolResult', content: 'x'.repeat(100_000) })
    expect(cut.content).toHaveLength(51_200)
    expect(cut.content.endsWith(HARD_TRUNCATE_SUFFIX)).toBe(true)
  })

  it('shortens the same error', () => {
    const cause = new Error('y'.repeat(300_000))
    const error = Object.assign(new TypeError('x'.repeat(300_000), { cause }), { code: 'E_TOOL' })
    expect(hardTruncateToolError(error)).toBe(error)
    expect(error).toBeInstanceOf(TypeError)
    expect(error.code).toBe('E_TOOL')
    expect(error.message).toHaveLength(51_200)
    expect(error.message.endsWith(HARD_TRUNCATE_SUFFIX)).toBe(true)
    expect(error.stack?.length).toBeLessThan(80_000)
    expect(cause.message).toHaveLength(51_200)
    expect(hardTruncateToolError('z'.repeat(60_000))).toHaveLength(51_200)
  })

  it('wraps a tool: results, partial updates, what it throws', async () => {
    const updates: unknown[] = []
    const seen: unknown[] = []
    const tool = {
      name: 'exec',
      description: 'runs',
      async execute(
        this: unknown,
        id: string,
        input: { fail?: boolean },
        signal?: AbortSignal,
        onUpdate?: (partial: unknown) => void,
      ) {
        seen.push(this, id, signal)
        onUpdate?.({ content: [text('u'.repeat(200_000))], details: { n: 1 } })
        if (input.fail) throw failure
        return { content: [text('r'.repeat(200_000)), image], details: { status: 'done' } }
      },
    }
    const failure = new Error('e'.repeat(200_000))
    const wrapped = wrapToolWithHardOutputTruncate(tool)
    const { signal } = new AbortController()
    const answer = await wrapped.execute('id_1', {}, signal, (partial) => updates.push(partial))
    expect(wrapped).toMatchObject({ name: 'exec', description: 'runs' })
    expect(wrapped.execute).toHaveLength(tool.execute.length)
    expect(seen).toEqual([wrapped, 'id_1', signal])
    for (const payload of [answer, updates[0]]) {
      const [block] = textsOf(payload)
      expect(block).toHaveLength(51_200)
      expect(block?.endsWith(HARD_TRUNCATE_SUFFIX)).toBe(true)
    }
    expect(answer.content[1]).toBe(image)
    expect(answer.details).toEqual({ status: 'done' })
    expect(updates[0]).toMatchObject({ details: { n: 1 } })
    await expect(wrapped.execute('id_2', { fail: true })).rejects.toBe(failure)
    expect(failure.message).toHaveLength(51_200)
    expect(wrapToolWithHardOutputTruncate(wrapped).execute).toBe(wrapped.execute)
    // A tool that answers with a string goes on doing so.
    const plain = wrapToolWithHardOutputTruncate(() => 's'.repeat(200_000), { maxBytesUtf8: 1_000 })
    expect(plain()).toHaveLength(1_000)
  })

  it('holds both limits on any text and any blocks, well-formed, and is done the first time', () => {
    const limits = fc.record(
      {
        maxBytesUtf8: fc.nat(700),
        maxLines: fc.nat(40),
        suffix: fc.constantFrom('\n[cut]', '…', '', 'a\n\nb'),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.array(hostileText, { minLength: 1, maxLength: 5 }), limits, (texts, given) => {
        const { maxBytesUtf8 = 51_200, maxLines = 2_000 } = given
        const one = truncateTextByLinesAndBytesUtf8(texts[0] ?? '', given)
        const blocks = hardTruncateToolPayload({ content: [image, ...texts.map(text)] }, given)
        const cut = textsOf(blocks)
        expect(cut).toHaveLength(texts.length)
        for (const all of [[one], cut]) {
          const measured = all.map(naive)
          expect(all.every((part) => part.isWellFormed())).toBe(true)
          expect(sum(measured.map(({ bytes }) => bytes))).toBeLessThanOrEqual(maxBytesUtf8)
          expect(sum(measured.map(({ lines }) => lines))).toBeLessThanOrEqual(maxLines)
        }
        expect(truncateTextByLinesAndBytesUtf8(one, given)).toBe(one)
        expect(hardTruncateToolPayload(blocks, given)).toBe(blocks)
      }),
      { numRuns: 400 },
    )
  })

  it('refuses wrong limits by name', () => {
    for (const [limits, field] of [
      [{ maxBytesUtf8: -1 }, 'maxBytesUtf8'],
      [{ maxLines: Number.NaN }, 'maxLines'],
      [{ suffix: 5 }, 'suffix'],
      [null, 'limits'],
    ] as [never, string][]) {
      const refused = expect.objectContaining({
        code: 'ERR_SPILLWAY_OPTION',
        message: expect.stringMatching(new RegExp(`^${field} `)),
      })
      expect(() => truncateTextByLinesAndBytesUtf8('', limits)).toThrow(refused)
      expect(() => wrapToolWithHardOutputTruncate(() => '', limits)).toThrow(refused)
    }
  })
})

describe('truncateToolResultText', () => {
  it('never exceeds the limit, whatever the floor', () => {
    // OpenClaw 4.10: 2,036, since the floor of 2,000 wins.
    expect(truncateToolResultText('x'.repeat(5_000), 300)).toBe(
      `${'x'.repeat(264)}[... 4736 more characters truncated]`,
    )
    // OpenClaw 4.10: 35. A shorter notice replaces a notice that does not fit.
    expect(truncateToolResultText('x'.repeat(100), 10, { minKeepChars: 0 })).toBe('xxxxx[...]')
    // OpenClaw 4.10: 5,001, since the notice grew a digit.
    expect(truncateToolResultText('x'.repeat(5_095), 5_000, { minKeepChars: 0 })).toBe(
      `${'x'.repeat(4_965)}[... 130 more characters truncated]`,
    )
  })

  it('splits no pair and repairs lone halves', () => {
    // OpenClaw 4.10: a lone high half before the notice.
    const cut = truncateToolResultText('😀'.repeat(10_000), 5_000, { minKeepChars: 0 })
    expect(cut.isWellFormed()).toBe(true)
    expect(cut).toHaveLength(4_999)
    // OpenClaw, all versions: passed through.
    expect(truncateToolResultText('a\ud83d', 300)).toBe('a\ufffd')
  })

  it('counts from the original when a text is cut again', () => {
    const once = truncateToolResultText('x'.repeat(100_000), 40_000)
    // OpenClaw: 20,037 more, though 80,036 are missing.
    expect(truncateToolResultText(once, 20_000)).toBe(
      `${'x'.repeat(19_963)}[... 80037 more characters truncated]`,
    )
    const latest = truncateToolResultText('x'.repeat(100_000), 40_000, { profile: 'latest' })
    expect(latest).toMatch(/x\[\.\.\. 60073 more characters truncated; rerun with narrower args if needed\]$/)
    expect(truncateToolResultText(latest, 20_000, { profile: 'latest' })).toMatch(
      /x\[\.\.\. 80073 more characters truncated; rerun with narrower args if needed\]$/,
    )
  })

  it('keeps both ends where the end matters, and counts what is missing', () => {
    const log = `${'x'.repeat(6_000)}\nerror: it broke }`
    const cut = truncateToolResultText(log, 3_000, { minKeepChars: 0 })
    const [, head = '', missing, tail = ''] =
      /^(x+)\n\n\u26a0\ufe0f .*\n\n\[\.\.\. (\d+) more characters truncated\]\n\n(x+\nerror: it broke })$/.exec(
        cut,
      ) ?? []
    expect(cut).toHaveLength(3_000)
    // OpenClaw counts its own marker of 63 chars as kept text: 3,042 where 3,105 are missing.
    expect(Number(missing)).toBe(log.length - head.length - tail.length)
    expect(head.length / (head.length + tail.length)).toBeCloseTo(0.7, 1)
    expect(cut).toContain(MARKER)
    // A further cut counts the marker as part of the notice, not as text.
    for (const maxChars of [2_500, 900, 300]) {
      const again = truncateToolResultText(cut, maxChars, { minKeepChars: 0 })
      const [told, at = ''] = /\[\.\.\. (\d+) more characters truncated\]/.exec(again) ?? []
      const kept = again.replace(MARKER, '').replace(`${told}\n\n`, '')
      expect(again).toHaveLength(maxChars)
      expect(Number(at)).toBe(log.length - kept.length)
    }
    // Room for less than twice the floor keeps the head alone, as there.
    expect(truncateToolResultText(log, 3_000)).toMatch(/x\[\.\.\. \d+ more characters truncated\]$/)
  })

  it('takes a suffix, as a text or a function', () => {
    const long = 'y'.repeat(9_000)
    expect(truncateToolResultText(long, 100, { suffix: '\n<cut>' })).toBe(`${'y'.repeat(94)}\n<cut>`)
    expect(truncateToolResultText(long, 100, { suffix: (n) => ` <${n} gone>` })).toBe(
      `${'y'.repeat(88)} <8912 gone>`,
    )
    // A suffix is not a template; a suffix that throws or is too long is dropped.
    expect(truncateToolResultText(long, 100, { suffix: ' {omittedChars}' })).toMatch(/y {omittedChars}$/)
    for (const suffix of [
      'z'.repeat(101),
      () => {
        throw new Error('no words')
      },
    ])
      expect(truncateToolResultText(long, 100, { suffix })).toMatch(
        /y\[\.\.\. 8936 more characters truncated\]$/,
      )
  })

  it('moves a cut back to a line end where that is cheap', () => {
    const lines = truncateToolResultText(`${'x'.repeat(99)}\n`.repeat(100), 1_000)
    expect(lines).toBe(`${`${'x'.repeat(99)}\n`.repeat(9)}[... 9100 more characters truncated]`)
  })

  it('holds any limit on any text', () => {
    const options = fc.record(
      {
        minKeepChars: fc.nat(300),
        profile: fc.constantFrom('april' as const, '2026.7' as const, 'latest' as const),
        suffix: fc.constantFrom<string | ((n: number) => string)>('\n[cut]', '', (n) => `<${n}>`),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(hostileText, fc.nat(500), options, (hostile, max, given) => {
        const cut = truncateToolResultText(hostile, max, given)
        expect(cut.length).toBeLessThanOrEqual(max)
        expect(cut.isWellFormed()).toBe(true)
        // 'latest' weighs Chinese, Japanese and Korean more than a char.
        const fits = hostile.length <= max && given.profile !== 'latest'
        if (fits && hostile.isWellFormed()) expect(cut).toBe(hostile)
        expect(truncateToolResultText(cut, max, given)).toBe(cut)
      }),
      { numRuns: 400 },
    )
  })
})

describe('truncateToolResultMessage', () => {
  it('holds the cap over many blocks', () => {
    for (const blocks of [100, 1_000]) {
      const message = result(...Array.from({ length: blocks }, () => text('y'.repeat(3_000))))
      // OpenClaw 4.10: 203,600 and 2,036,000 chars; 7.1: 207,200 and 2,072,000.
      const cut = truncateToolResultMessage(message, 40_000)
      expect(getToolResultTextLength(cut)).toBeLessThanOrEqual(40_000)
      expect(getToolResultTextLength(cut)).toBeGreaterThan(39_000)
      expect(textsOf(cut)).toHaveLength(blocks)
    }
  })

  it('keeps small blocks whole, and all that is not a text', () => {
    const small = text('exit code 1')
    const message = { ...result(text('z'.repeat(90_000)), image, small), details: { exitCode: 1 } }
    const cut = truncateToolResultMessage(message, 10_000)
    expect(getToolResultTextLength(cut)).toBe(10_000)
    expect(cut.content[1]).toBe(image)
    expect(cut.content[2]).toBe(small)
    expect(cut.details).toBe(message.details)
    expect(message.content[0]).toMatchObject({ text: 'z'.repeat(90_000) })
    expect(truncateToolResultMessage(cut, 10_000)).toBe(cut)
  })

  it('keeps the findings of a result that failed', () => {
    const log = `${'step\n'.repeat(9_000)}error: no such file\n${'step\n'.repeat(9_000)}`
    const cut = truncateToolResultMessage({ ...result(text(log)), isError: true }, 8_000)
    expect(textsOf(cut)[0]).toMatch(/\nerror: no such file\n[\s\S]*\[\.\.\. \d+ more characters truncated\]$/)
  })

  it('cuts string content, and nothing that is not an object', () => {
    const message = { role: 'toolResult', content: 'x'.repeat(100_000) }
    // OpenClaw: 0, and never cut.
    expect(getToolResultTextLength(message)).toBe(100_000)
    expect(truncateToolResultMessage(message, 1_000).content).toHaveLength(1_000)
    for (const odd of [null, undefined, 5, 'text', { role: 'toolResult' }, { role: 'user', content: 5 }])
      expect(truncateToolResultMessage(odd, 5)).toBe(odd)
  })

  it('caps what is about to be stored', () => {
    const message = result(text('x'.repeat(100_000)))
    expect(getToolResultTextLength(capToolResultSize(message))).toBe(40_000)
    expect(getToolResultTextLength(capToolResultSize(message, undefined, { profile: 'latest' }))).toBe(16_000)
    expect(getToolResultTextLength(capToolResultSize(message, 7_000))).toBe(7_000)
    const user = { role: 'user', content: [text('x'.repeat(100_000))] }
    expect(capToolResultSize(user, 10)).toBe(user)
    expect(getToolResultTextLength(user)).toBe(0)
  })
})

describe('calculateMaxToolResultChars', () => {
  it.each([
    [0, 0, 0],
    [100, 120, 120],
    [8_000, 9_600, 9_600],
    [32_000, 38_400, 16_000],
    [33_333, 39_996, 16_000],
    [100_000, 40_000, 32_000],
    [128_000, 40_000, 32_000],
    [200_000, 40_000, 64_000],
    [1_000_000, 40_000, 64_000],
  ])('gives a window of %d tokens %d chars, %d in the latest profile', (tokens, april, latest) => {
    expect(calculateMaxToolResultChars(tokens)).toBe(april)
    expect(calculateMaxToolResultChars(tokens, { profile: 'latest' })).toBe(latest)
  })

  it('refuses a window that is not a number of tokens', () => {
    // OpenClaw: NaN, so that nothing is ever over it, and -8.
    for (const tokens of [Number.NaN, -5, 1.5, '8000', undefined] as number[])
      expect(() => calculateMaxToolResultChars(tokens)).toThrow(
        expect.objectContaining({
          code: 'ERR_SPILLWAY_OPTION',
          message: expect.stringMatching('contextWindowTokens'),
        }),
      )
    expect(() => calculateMaxToolResultChars(8_000, { profile: 'may' as 'april' })).toThrow(
      /'2026.4', '2026.7', '2026.9', 'april', 'latest'/,
    )
  })
})

describe('truncateOversizedToolResultsInMessages', () => {
  const truncated = (
    lengths: number[],
    max?: number,
    aggregate?: number,
    profile: 'april' | 'latest' = 'april',
  ) => {
    const messages = lengths.map((length) => result(text('x'.repeat(length))))
    const answer = truncateOversizedToolResultsInMessages(messages, 128_000, max, aggregate, { profile })
    expect(answer.messages === messages).toBe(answer.truncatedCount === 0)
    expect(sum(sizes(answer.messages))).toBeLessThanOrEqual(
      Math.max(aggregate ?? (max ?? 40_000) * lengths.length, 5 * lengths.length),
    )
    return sizes(answer.messages)
  }

  it.each([
    // Results, cap and budget; what is left in 'april' and 'latest'; in comments what OpenClaw 4.10
    // and 7.1 leave.
    [[18_000, 17_000, 16_000], 40_000, 40_000, [18_000, 17_000, 5_000], [7_000, 17_000, 16_000]], // the same
    [[12_000, 6_500], 16_000, 16_000, [12_000, 4_000], [9_500, 6_500]], // the same
    // 38327, 37, 37, one over the budget; 69, 14331, 24000, the first a clipped notice.
    [[500_000, 24_000, 24_000], 38_400, 38_400, [38_326, 37, 37], [74, 14_326, 24_000]],
    // 51, 35, 35, which is 121; 36, 36, 48.
    [[24_000, 24_000, 24_000], 120, 120, [46, 37, 37], [33, 33, 33]],
    // 34 each, which is 102; two empty ones and a clipped notice.
    [[24_000, 24_000, 24_000], 30, 30, [20, 5, 5], [5, 5, 20]],
    // Left alone: they budget two results and more.
    [[30_000], 40_000, 10_000, [10_000], [10_000]],
    [[0, 100, 3], 40_000, 103, [0, 100, 3], [0, 100, 3]],
    [[3, 3, 3], 0, 0, [3, 3, 3], [3, 3, 3]],
  ])('brings %j with a cap of %d to %d', (lengths, max, aggregate, april, latest) => {
    expect(truncated(lengths, max, aggregate)).toEqual(april)
    expect(truncated(lengths, max, aggregate, 'latest')).toEqual(latest)
  })

  it('takes cap and budget from the window', () => {
    expect(truncated([500_000])).toEqual([40_000])
    // Two arguments cut single results, as in 4.10; a budget is a budget.
    expect(truncated([18_600, 18_600, 18_600])).toEqual([18_600, 18_600, 18_600])
    expect(truncated([18_600, 18_600, 18_600], 40_000, 40_000)).toEqual([18_600, 18_600, 2_800])
    const messages = [500_000, 100_000, 18_600].map((length) => result(text('x'.repeat(length))))
    const latest = truncateOversizedToolResultsInMessages(messages, 128_000, undefined, undefined, {
      profile: 'latest',
    })
    expect(sizes(latest.messages)).toEqual([32_000, 32_000, 18_600])
    expect(latest.truncatedCount).toBe(2)
    // Four caps and half the window are both 64,000 here, where the cap is 16,000.
    const small = Array.from({ length: 5 }, () => result(text('x'.repeat(15_000))))
    const { messages: left } = truncateOversizedToolResultsInMessages(small, 32_000, undefined, undefined, {
      profile: 'latest',
    })
    expect(sizes(left)).toEqual([4_000, 15_000, 15_000, 15_000, 15_000])
  })

  it('protects the latest results, and still holds the budget', () => {
    const messages = [
      assistant,
      ...Array.from({ length: 2 }, () => result(text('o'.repeat(15_000)))),
      assistant,
      ...Array.from({ length: 2 }, () => result(text('n'.repeat(15_000)))),
    ]
    const cut = (aggregate: number) =>
      sizes(
        truncateOversizedToolResultsInMessages(messages, 128_000, 12_000, aggregate, { profile: 'latest' })
          .messages,
      )
    // OpenClaw 9.6: 69, 69, 12000, 12000, twice the budget, the notices clipped to "... if nee".
    expect(cut(12_000)).toEqual([73, 73, 73, 11_781])
    expect(cut(25_000)).toEqual([73, 927, 12_000, 12_000])
    const april = truncateOversizedToolResultsInMessages(messages, 128_000, 12_000, 25_000)
    expect(sizes(april.messages)).toEqual([12_000, 12_000, 963, 37])
  })

  it('tells the truth in its notices, whole, also after a first cut', () => {
    const stored = [1, 2, 3].map((digit) =>
      truncateToolResultMessage(result(text(`${digit}`.repeat(240_000))), 24_000),
    )
    const { messages } = truncateOversizedToolResultsInMessages(stored, 128_000, 120, 120)
    const [first, ...others] = messages.flatMap(textsOf)
    // OpenClaw: "120 more", where 240,000 are missing.
    expect(others).toEqual(Array(2).fill('[... 240000 more characters truncated]'))
    expect(first).toBe('111111[... 239994 more characters truncated]')
    const again = truncateOversizedToolResultsInMessages(messages, 128_000, 120, 120)
    expect(again).toMatchObject({ messages, truncatedCount: 0 })
    expect(again.messages).toBe(messages)
  })

  it('touches tool results alone, and one that is there twice as two', () => {
    const user = { role: 'user', content: [text('u'.repeat(90_000))] }
    const whole = { role: 'toolResult', content: 's'.repeat(60_000) }
    const messages = [user, null, 'text', assistant, whole, whole]
    const { messages: left, truncatedCount } = truncateOversizedToolResultsInMessages<unknown>(
      messages,
      128_000,
      40_000,
      70_000,
    )
    expect(left.slice(0, 4)).toEqual(messages.slice(0, 4))
    expect(left[0]).toBe(user)
    expect(left.slice(4).map((message) => (message as { content: string }).content.length)).toEqual([
      40_000, 30_000,
    ])
    expect(truncatedCount).toBe(2)
    expect(whole.content).toHaveLength(60_000)
  })

  it('holds cap and budget over any history, and is done the first time', () => {
    const history = fc.array(
      fc.oneof(
        {
          weight: 5,
          arbitrary: fc
            .tuple(fc.array(hostileText, { minLength: 1, maxLength: 3 }), fc.boolean())
            .map(([all, isError]) => ({ ...result(...all.map(text)), isError })),
        },
        { weight: 1, arbitrary: hostileText.map((content) => ({ role: 'toolResult', content })) },
        { weight: 2, arbitrary: fc.constant(assistant) },
      ),
      { maxLength: 12 },
    )
    const length = (message: unknown) => getToolResultTextLength(message)
    const textOf = (message: { content: string | unknown[] } | undefined) =>
      typeof message?.content === 'string' ? message.content : textsOf(message).join('')
    fc.assert(
      fc.property(
        history,
        fc.nat(600),
        fc.nat(2_000),
        fc.constantFrom<'april' | 'latest'>('april', 'latest'),
        (messages, cap, budget, profile) => {
          const args = [128_000, cap, budget, { profile }] as const
          const once = truncateOversizedToolResultsInMessages<(typeof messages)[number]>(messages, ...args)
          const least = sum(messages.map((message) => Math.min(length(message), 5)))
          expect(sum(once.messages.map(length))).toBeLessThanOrEqual(Math.max(budget, least))
          for (const [at, message] of once.messages.entries()) {
            expect(length(message)).toBeLessThanOrEqual(Math.max(cap, 5))
            if (length(messages[at]) > 0 && textOf(messages[at]).trim() !== '')
              expect(length(message)).toBeGreaterThan(0)
          }
          const again = truncateOversizedToolResultsInMessages(once.messages, ...args)
          expect(again.truncatedCount).toBe(0)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('grows with the number of results alone', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => result(text(`${at} `.repeat(500))))
    const read = (count: number) => {
      const { messages, reads } = watched(many(count))
      truncateOversizedToolResultsInMessages(messages, 128_000, undefined, count * 100)
      return reads()
    }
    expect(read(400)).toBeLessThan(5 * read(100))
  })

  it('refuses wrong options by name', () => {
    for (const [args, field] of [
      [['no'], 'messages'],
      [[[], -1], 'contextWindowTokens'],
      [[[], 1, -1], 'maxCharsOverride'],
      [[[], 1, 1, Number.NaN], 'aggregateMaxCharsOverride'],
      [[[], 1, 1, 1, { profile: 'x' }], 'profile'],
      [[[], 1, 1, 1, null], 'options'],
    ] as [never, string][])
      expect(() => truncateOversizedToolResultsInMessages(...(args as [never[], number]))).toThrow(
        expect.objectContaining({
          code: 'ERR_SPILLWAY_OPTION',
          message: expect.stringMatching(`^${field} `),
        }),
      )
  })
})

describe('secrets', () => {
  const key = ['sk-', 'or-v1-', 'fade0123'.repeat(8)].join('')
  const result = (secret: string, name: string) => ({
    role: 'toolResult',
    toolCallId: 'c',
    toolName: 'exec',
    content: [{ type: 'text', text: `OPENROUTER_API_KEY=${secret}\nMODEL=gpt-4` }],
    details: { aggregated: `key ${secret}`, nested: [{ apiKey: name }], env: '$DISCORD_BOT_TOKEN' },
    isError: false,
  })
  const given = () => result(key, 'plain0secret1value')
  const redacted = result('[redacted: openrouter key]', '[redacted: api key]')
  redacted.content = [{ type: 'text', text: 'OPENROUTER_API_KEY=[redacted: secret]\nMODEL=gpt-4' }]

  it.each([
    ['2026.4', given()],
    ['2026.7', redacted],
    ['2026.9', redacted],
  ] as const)('are shown and stored as %s does', (profile, expected) => {
    expect(sanitizeToolResult(given(), { profile })).toEqual(expected)
    const stored: unknown[] = []
    const manager = { appendMessage: (message: unknown) => stored.push(message) }
    openclaw.installSessionToolResultGuard(manager, { profile })
    manager.appendMessage(given())
    expect(stored).toEqual([expected])
    expect([key].map(sanitizeToolResult as never)).toEqual([key])
  })
})

describe('sanitizeToolResult', () => {
  it('shows a screen 8,000 chars of each text and no image data', () => {
    const shown = sanitizeToolResult({
      ...result(
        text('a'.repeat(9_000)),
        image,
        text('short'),
        text(`${'b'.repeat(7_985)}😀${'b'.repeat(99)}`),
      ),
      details: { exitCode: 0 },
    }) as { content: unknown[]; details: unknown }
    // OpenClaw: 8,014 chars, and 16 bytes, the length of the base64, in its 4.10.
    expect(shown.content).toEqual([
      text(`${'a'.repeat(7_986)}\n…(truncated)…`),
      { type: 'image', mimeType: 'image/png', bytes: 11, omitted: true },
      text('short'),
      text(`${'b'.repeat(7_985)}\n…(truncated)…`),
    ])
    expect(shown.details).toEqual({ exitCode: 0 })
    expect(sanitizeToolResult(shown)).toBe(shown)
  })

  it('leaves what is fit for a screen, and throws at nothing', () => {
    const hostile = {
      get content(): never {
        throw new Error('no')
      },
    }
    const block = {
      type: 'text',
      get text(): never {
        throw new Error('no')
      },
    }
    for (const fit of [
      result(text('ok')),
      { ok: true },
      [1],
      null,
      undefined,
      5,
      'text',
      hostile,
      { content: [block, null] },
    ])
      expect(sanitizeToolResult(fit)).toBe(fit)
    expect(sanitizeToolResult('s'.repeat(9_000))).toHaveLength(8_000)
    expect(sanitizeToolResult({ content: 's'.repeat(9_000) })).toMatchObject({
      content: expect.stringMatching(/^s{7986}\n…\(truncated\)…$/),
    })
    const url = { type: 'image', data: `data:image/png;base64,${image.data}` }
    const bytes = { type: 'image', data: new Uint8Array(7) }
    expect(sanitizeToolResult({ content: [url, bytes] })).toEqual({
      content: [
        { type: 'image', bytes: 11, omitted: true },
        { type: 'image', bytes: 7, omitted: true },
      ],
    })
  })
})

describe('the rest', () => {
  it('slices as slice does where no pair is split, and one char less where one would be', () => {
    const text = fc
      .array(fc.constantFrom('a', '漢', '😀', '\ud83d', '\ude00'), { maxLength: 12 })
      .map((all) => all.join(''))
    const at = fc.option(fc.integer({ min: -16, max: 16 }), { nil: undefined })
    fc.assert(
      fc.property(text, fc.integer({ min: -16, max: 16 }), at, (text, start, end) => {
        const plain = text.slice(start, end)
        const safe = sliceUtf16Safe(text, start, end)
        expect(plain).toContain(safe)
        expect(plain.length - safe.length).toBeLessThanOrEqual(2)
        const lone = (text: string) => [...text].filter((point) => /^[\ud800-\udfff]$/.test(point)).length
        expect(lone(safe)).toBeLessThanOrEqual(lone(text))
      }),
      { numRuns: 2_000 },
    )
    expect(truncateUtf16Safe('a😀b', 2)).toBe('a')
    expect(truncateUtf16Safe('a\ud83d', 2)).toBe('a\ud83d')
  })

  it('slices without splitting a pair', () => {
    expect(sliceUtf16Safe('a😀b', 0, 2)).toBe('a')
    expect(sliceUtf16Safe('a😀b', 2)).toBe('b')
    expect(sliceUtf16Safe('a😀b', -2)).toBe('b')
    expect(sliceUtf16Safe('a\ud83db', 0, 2)).toBe('a\ud83d')
    // OpenClaw 4.10 swaps reversed ends; its 9.6 and ours give nothing.
    expect(sliceUtf16Safe('abc', 2, 1)).toBe('')
    expect(truncateUtf16Safe('😀😀', 3)).toBe('😀')
  })

  it.each([
    [-1, ''],
    [5.7, 'abcde'],
    [Number.NaN, ''],
    [Number.NEGATIVE_INFINITY, ''],
    [Number.POSITIVE_INFINITY, 'abcdefgh'],
  ])('truncates to %s chars as OpenClaw does', (maxChars, left) => {
    expect(truncateUtf16Safe('abcdefgh', maxChars)).toBe(left)
  })

  it('counts bytes and lines as the limits do', () => {
    expect([openclaw.countBytesUtf8('aé😀'), openclaw.countLines('a\nb\n'), openclaw.countLines('')]).toEqual(
      [7, 2, 0],
    )
    fc.assert(
      fc.property(hostileText, fc.nat(60), fc.nat(9), (given, maxBytesUtf8, maxLines) => {
        const cut = hardTruncateToolPayload(given, { maxBytesUtf8, maxLines })
        expect(openclaw.countBytesUtf8(cut)).toBeLessThanOrEqual(maxBytesUtf8)
        expect(openclaw.countLines(cut)).toBeLessThanOrEqual(maxLines)
      }),
    )
  })

  it('has the constants of 4.10', () => {
    expect(openclaw.DEFAULT_MAX_LIVE_TOOL_RESULT_CHARS).toBe(40_000)
    expect(measureText(HARD_TRUNCATE_SUFFIX)).toEqual({ bytes: 114, chars: 114, lines: 3 })
  })
})
