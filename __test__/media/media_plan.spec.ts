import * as fc from 'fast-check'
import { applyPlan, ContextOverflowError, type PrecheckInput, precheck, runWithRecovery } from 'spillway'
import { describe, expect, it } from 'vitest'
import { pdf, png } from '../support/images.js'
import { mediaSamples } from '../support/media_samples.js'

const base64 = (bytes: Buffer) => bytes.toString('base64')
const MB = 1_000_000
const answer = { role: 'assistant', content: [{ type: 'text', text: 'I see.' }] }

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}

describe('a plan for payloads', () => {
  const [pi] = mediaSamples
  if (!pi) throw new Error('no sample')
  const screens = (count: number) =>
    Array.from({ length: count }, (_, at) => pi.make(`c${at}`, 'a page', [base64(png(1_280, 720 + at, MB))]))
  const images = (messages: readonly object[]) =>
    messages.map((message) => pi.blocks(message).filter(({ type }) => type === 'image').length)
  const asked = { contextTokens: 1e6, reserveTokens: 0, maxRequestBytes: 20 * MB }

  /** The bytes of a request, and what could still go. */
  const measured = (messages: readonly object[]) => {
    const check = { messages, contextTokens: 1e6, reserveTokens: 0, maxRequestBytes: 1 }
    const { requestBytes: bytes = 0, plan } = precheck(check)
    return {
      bytes,
      plan: plan.filter(({ chars, maxChars, media }) => maxChars < chars || media !== undefined),
    }
  }
  /** Runs with a provider that takes requests of so many bytes. */
  const sentTo = async (limit: number, messages: object[], words: string) => {
    const sent: object[][] = []
    const send = async (history: object[]) => {
      sent.push(history)
      if (measured(history).bytes > limit) throw Object.assign(new Error(words), { status: 413 })
      return 'the answer'
    }
    const compact = async () => false
    const hooks = { contextTokens: 1e6, reserveTokens: 0, messages: () => messages, send, compact }
    return { sent, outcome: await runWithRecovery(hooks).catch((error: unknown) => error) }
  }

  it('makes 60 screenshots fit a request of 20 MB, and cuts no text', () => {
    const messages = frozen(screens(60))
    const { route, plan } = precheck({ ...asked, messages })
    expect(route).toBe('truncate_tool_results_only')
    expect(plan[0]).toEqual({ index: 0, callId: 'c0', chars: 6, maxChars: 6, media: 0 })
    const left = applyPlan(messages, plan)
    expect(images(left)).toEqual(Array.from({ length: 60 }, (_, at) => Number(at >= 60 - 14)))
    expect(precheck({ ...asked, messages: left })).toMatchObject({ route: 'fits', plan: [] })
    expect(applyPlan(left, plan)).toBe(left)
  })

  it('spares the latest results as long as others will do', () => {
    const old = screens(4)
    const messages = [...old.slice(0, 2), answer, ...old.slice(2)]
    const route = (maxRequestBytes: number) => precheck({ ...asked, messages, maxRequestBytes })
    expect(route(3 * MB).plan.map(({ index }) => index)).toEqual([0, 1])
    expect(route(1.4 * MB).plan.map(({ index }) => index)).toEqual([0, 1, 3])
  })

  it('frees tokens where texts alone are not enough', () => {
    const messages = screens(10)
    const check = { messages, contextTokens: 9_000, reserveTokens: 0 }
    const { route, plan } = precheck(check)
    expect(route).toBe('truncate_tool_results_only')
    const left = applyPlan(messages, plan)
    expect(precheck({ ...check, messages: left }).route).toBe('fits')
    expect(images(left).at(-1)).toBe(1)
  })

  it('keeps the latest payloads of a result', () => {
    const message = pi.make(
      'c',
      'a page',
      [1, 2, 3].map((at) => base64(png(100, at, MB))),
    )
    const plan = [{ index: 0, callId: 'c', chars: 6, maxChars: 6, media: 2 * MB }]
    const [left] = applyPlan([message], plan)
    expect(pi.blocks(left).slice(1)).toEqual(pi.blocks(message).slice(1))
    expect(pi.blocks(left)[0]).toMatchObject({ type: 'text' })
    expect(applyPlan([message], [{ ...(plan[0] as (typeof plan)[0]), media: 3 * MB }])[0]).toBe(message)
  })

  it('is carried out before a request is sent', { tags: 'long' }, async () => {
    const messages = frozen(screens(60))
    const sent: (readonly object[])[] = []
    const send = async (history: object[]) => sent.push(history)
    await runWithRecovery({ ...asked, messages: () => messages, send })
    expect(sent).toHaveLength(1)
    expect(JSON.stringify(sent[0]).length).toBeLessThan(20 * MB)
    expect(images(sent[0] ?? []).at(-1)).toBe(1)
  })

  it.each([
    ['Request Entity Too Large', 3],
    ['Request payload size exceeds the limit: 20000000 bytes.', 2],
    ['Maximum content size limit (20000000) exceeded (20000001 bytes read)', 2],
  ])('shrinks by bytes after a refusal: %s', { tags: 'long' }, async (words, sends) => {
    const { sent, outcome } = await sentTo(20 * MB, frozen(screens(60)), words)
    expect(outcome).toBe('the answer')
    expect(sent).toHaveLength(sends)
    expect(images(sent.at(-1) ?? []).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(10)
  })

  it('halves the bytes after each refusal, until nothing is left', { tags: 'long' }, async () => {
    const ends = { answered: 0, given_up: 0 }
    const law = fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(9_000), fc.array(fc.nat(40_000), { maxLength: 3 })), { maxLength: 8 }),
      fc.integer({ min: 1, max: 60_000 }),
      async (results, limit) => {
        const messages = results.map(([chars, payloads], at) =>
          pi.make(
            `c${at}`,
            'w'.repeat(chars),
            payloads.map((bytes) => base64(png(bytes, 1, at))),
          ),
        )
        const { sent, outcome } = await sentTo(limit, frozen(messages), 'too large')
        for (const [at, next] of sent.entries()) {
          const [before, after] = [sent[at - 1] ?? [], next].map(measured)
          // A cut of an original differs from a cut of a cut by the digits of its notice.
          const half = (before?.bytes ?? 0) / 2 + 16 + 4 * results.length
          if (at === 0 || (after?.bytes ?? 0) <= half) continue
          expect(after?.bytes).toBeLessThan(before?.bytes ?? 0)
          expect(applyPlan(next, after?.plan ?? [])).toBe(next)
        }
        if (outcome === 'the answer') ends.answered += 1
        else {
          ends.given_up += 1
          expect(outcome).toBeInstanceOf(ContextOverflowError)
          if (sent.length < 5) expect(measured(sent.at(-1) ?? []).plan).toEqual([])
        }
      },
    )
    await fc.assert(law, { numRuns: 300 })
    for (const count of Object.values(ends)) expect(count).toBeGreaterThan(0)
  })

  it.each(
    mediaSamples.map((sample) => [`${sample.dialect}: ${sample.name}`, sample] as const),
  )('that says it is enough is enough: %s', (_, { make }) => {
    const payload = fc.tuple(fc.constantFrom(png, pdf), fc.nat(9_000))
    const law = fc.property(
      fc.array(fc.tuple(fc.nat(3_000), fc.array(payload, { maxLength: 3 })), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 200, max: 40_000 }),
      fc.integer({ min: 500, max: 20_000 }),
      fc.constantFrom(undefined, 'anthropic', 'openai', 'gemini'),
      (results, maxRequestBytes, contextTokens, provider) => {
        const messages = frozen(
          results.map(([chars, payloads], at) =>
            make(
              `c${at}`,
              'word '.repeat(chars / 5),
              payloads.map(([kind, bytes]) => base64(kind(bytes, 300, bytes))),
            ),
          ),
        )
        const check = {
          messages,
          contextTokens,
          reserveTokens: 0,
          maxRequestBytes,
          provider,
        } as PrecheckInput
        const { route, plan } = precheck(check)
        const left = applyPlan(messages, plan)
        expect(precheck(check)).toEqual(precheck(structuredClone(check)))
        if (route === 'fits' || route === 'compact_only') expect(left).toBe(messages)
        if (route === 'truncate_tool_results_only')
          expect(precheck({ ...check, messages: left }).route).toBe('fits')
      },
    )
    fc.assert(law, { numRuns: 100 })
  })
})
