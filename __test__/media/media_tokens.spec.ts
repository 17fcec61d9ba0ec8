import * as fc from 'fast-check'
import { applyPlan, type PrecheckInput, precheck } from 'spillway'
import { describe, expect, it } from 'vitest'
import { bmp, gif, jpeg, pdf, png, webp } from '../support/images.js'

const image = (data?: unknown, mimeType = 'image/png') => ({
  role: 'user',
  content: [{ type: 'image', mimeType, ...(data !== undefined && { data }) }],
})
const estimate = (message: unknown, rest: Partial<PrecheckInput> = {}) =>
  precheck({ messages: [message], contextTokens: 1e6, reserveTokens: 0, safetyMargin: 1, ...rest })
    .estimatedTokens
/** Tokens of an image alone. */
const tokensOf = (data: unknown, provider?: PrecheckInput['provider'], type?: string) =>
  estimate(image(data, type), { provider }) - estimate(image(undefined, type))
const base64 = (bytes: Buffer) => bytes.toString('base64')

describe('tokens of an image', () => {
  it('follow its pixels, as each provider counts them', () => {
    const screen = base64(png(1_920, 1_080, 200_000))
    expect(tokensOf(screen, 'anthropic')).toBe(2_691)
    expect(tokensOf(screen, 'openai')).toBe(2_448)
    expect(tokensOf(screen, 'gemini')).toBe(1_548)
    expect(tokensOf(screen)).toBe(2_691)
    expect(tokensOf(base64(png(64, 64)), 'anthropic')).toBe(9)
  })

  it.each([
    ['PNG', png],
    ['JPEG', jpeg],
    ['GIF', gif],
    ['WebP', webp],
    ['BMP', bmp],
  ])('are read from a %s in every encoding', (_, make) => {
    const bytes = make(640, 480, 9_000)
    const encodings = [base64(bytes), bytes.toString('base64url'), `data:;base64,${base64(bytes)}`, bytes]
    for (const data of [...encodings, new Uint8Array(bytes), new Uint8Array(bytes).buffer])
      expect(tokensOf(data, 'openai')).toBe(360)
  })

  it('are read behind what a camera writes first', () => {
    expect(tokensOf(base64(jpeg(640, 480, 300_000, 130_000)), 'openai')).toBe(360)
  })

  it('are 2,000 where no dimensions can be read', () => {
    for (const data of [
      base64(pdf(9_000)),
      base64(png(0, 480)),
      base64(png(640, 480).subarray(0, 18)),
      'https://example.org/a.png',
      new URL('https://example.org/a.png'),
      Buffer.alloc(9_000),
    ])
      for (const provider of ['anthropic', 'openai', 'gemini', undefined] as const)
        expect(tokensOf(data, provider)).toBe(2_000)
  })

  it('come from the bytes, whatever their type is said to be', () => {
    const bytes = base64(gif(640, 480, 900))
    const said = ['image/png', 'text/plain', 'application/x', '']
    for (const type of said) expect(tokensOf(bytes, 'openai', type)).toBe(360)
  })

  it('are bounded and stay the same, whatever a header says', () => {
    const side = fc.oneof(fc.integer({ min: 0, max: 9_000 }), fc.constantFrom(0xffff_ffff, 0x8000_0000, 1))
    const make = fc.constantFrom(png, gif, webp, bmp, jpeg)
    const hostile = fc.tuple(make, side, side, fc.nat(60), fc.uint8Array({ maxLength: 40 }))
    fc.assert(
      fc.property(hostile, ([make, width, height, cut, tail]) => {
        const bytes = Buffer.concat([make(width, height).subarray(0, cut), tail])
        const tokens = tokensOf(base64(bytes))
        expect(tokens === tokensOf(bytes) || bytes.length < 3).toBe(true)
        expect(tokens).toBeGreaterThanOrEqual(0)
        expect(tokens).toBeLessThanOrEqual(12_000)
      }),
      { numRuns: 1_000 },
    )
  })

  it('take a provider by its name alone', () => {
    const wrong = { messages: [], contextTokens: 1, reserveTokens: 0, provider: 'mistral' as never }
    expect(() => precheck(wrong)).toThrow(/provider must be one of 'anthropic', 'openai', 'gemini'/)
  })
})

describe('bytes of a request', () => {
  const roomy = { contextTokens: 1e9, reserveTokens: 0 }
  const result = (id: string, text: string) => ({
    role: 'toolResult',
    toolCallId: id,
    content: [{ type: 'text', text }],
  })

  it('are those of its JSON, without data that is not sent', () => {
    const messages = [image(base64(png(9, 9, 90_000))), result('a', 'say "é"\n'.repeat(900)), 'and so on']
    const json = Buffer.byteLength(JSON.stringify(messages))
    const check = (messages: readonly unknown[]) =>
      precheck({ ...roomy, messages, maxRequestBytes: 1 }).requestBytes as number
    expect(Math.abs(check(messages) - json)).toBeLessThan(60)
    expect(check([{ ...result('a', 'b'), details: { whole: 'x'.repeat(9_000) } }])).toBeLessThan(200)
    expect(check([image(Buffer.alloc(9_000))])).toBe(check([image(Buffer.alloc(9_000).toString('base64'))]))
    expect(check([{ role: 'x', excludeFromContext: true, output: 'x'.repeat(9_000) }])).toBe(0)
    expect(precheck({ ...roomy, messages })).not.toHaveProperty('requestBytes')
  })

  it('decide the route beside the tokens', () => {
    const messages = [image(base64(png(100, 100, 3_000_000))), result('a', 'x'.repeat(90_000))]
    const check = (maxRequestBytes: number) => precheck({ ...roomy, messages, maxRequestBytes })
    expect(check(5_000_000)).toMatchObject({ route: 'fits', plan: [] })
    const { route, plan, requestBytes } = check(4_040_000)
    expect(route).toBe('truncate_tool_results_only')
    expect(requestBytes).toBeGreaterThan(4_040_000)
    const left = applyPlan(messages, plan)
    expect(precheck({ ...roomy, messages: left, maxRequestBytes: 4_040_000 }).route).toBe('fits')
    expect(check(3_000_000).route).toBe('compact_then_truncate')
    expect(precheck({ ...roomy, messages: [messages[0]], maxRequestBytes: 9 }).route).toBe('compact_only')
  })

  it('count what is sent with the messages', () => {
    const asked = { ...roomy, messages: [], maxRequestBytes: 500 }
    for (const more of [
      { systemPrompt: 'x'.repeat(600) },
      { prompt: 'x'.repeat(600) },
      { tools: ['x'.repeat(600)] },
    ])
      expect(precheck({ ...asked, ...more })).toMatchObject({ route: 'compact_only', plan: [] })
  })
})
