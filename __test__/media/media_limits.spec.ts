// biome-ignore-all lint/suspicious/noExplicitAny: the shapes of frameworks are read by path
import { rmSync } from 'node:fs'
import * as fc from 'fast-check'
import {
  clampMessages,
  classifyProviderError,
  definePolicy,
  inspectSession,
  type MediaOptions,
  precheck,
  repairSession,
  runWithRecovery,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import table from '../../lib/media_limits.json'
import { jpeg, pdf, png } from '../support/images.js'
import { jsonLines, readRows, scratch } from '../support/scratch.js'

const all = Number.POSITIVE_INFINITY
type MediaProvider = NonNullable<MediaOptions['provider']>
const only = (provider: MediaProvider) => ({ maxBytes: all, maxLines: all, media: { provider } })
const base64 = (bytes: Buffer) => bytes.toString('base64')

const { write } = scratch()
const session = (rows: readonly object[]) => write(jsonLines(rows))

/** A payload, with what the limits of a provider count, known from how it was made. */
interface Made {
  readonly data: string
  readonly type: string
  readonly bytes: number
  readonly side: number
}
const make = (bytes: Buffer, type: string, side: number): Made => ({
  data: base64(bytes),
  type,
  bytes: bytes.length,
  side,
})
const pngOf = (width: number, height: number, bytes = 0) =>
  make(png(width, height, bytes), 'image/png', Math.max(width, height))

/** Payloads at both sides of every limit. Large ones are made once. */
const LARGE = [
  pngOf(9, 9, 3_932_160),
  pngOf(9, 9, 3_932_161),
  pngOf(9, 9, 3_750_001),
  pngOf(9, 9, 20_971_521),
  make(jpeg(9, 9, 4_600_000, 70_000), 'image/jpeg', 9),
  make(pdf(4_500_001), 'application/pdf', 0),
]
const side = fc.constantFrom(1, 1_999, 2_000, 2_001, 8_000, 8_001, 30_000)
const anyMade = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(side, side).map(([width, height]) => pngOf(width, height)) },
  { weight: 3, arbitrary: side.map((width) => make(jpeg(width, 7), 'image/jpeg', Math.max(width, 7))) },
  { weight: 2, arbitrary: fc.constant(make(pdf(100), 'application/pdf', 0)) },
  { weight: 2, arbitrary: fc.constantFrom(...LARGE) },
)

/** The forms of a block in which frameworks keep a payload, in a message of the user and in a
 *  result. */
interface FormOf {
  readonly name: string
  readonly block: (made: Made) => object
  readonly user: (blocks: object[]) => object
  readonly tool: (id: string, blocks: object[]) => object
  readonly words: (text: string) => object
  /** Returns the lists of blocks in a message. */
  readonly blocks: (message: any) => any[]
}
const text = (text: string) => ({ type: 'text', text })
const FORMS: FormOf[] = [
  {
    name: 'anthropic',
    block: ({ data, type }) => ({
      type: type.startsWith('image') ? 'image' : 'document',
      source: { type: 'base64', media_type: type, data },
    }),
    user: (content) => ({ role: 'user', content }),
    tool: (id, content) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content }, text('beside a result')],
    }),
    words: text,
    blocks: ({ content }) => content.flatMap((block: any) => block.content ?? [block]),
  },
  {
    name: 'bedrock',
    block: ({ data, type }) =>
      type.startsWith('image')
        ? { image: { format: type.slice(6), source: { bytes: data } } }
        : { document: { format: 'pdf', name: 'd', source: { bytes: data } } },
    user: (content) => ({ role: 'user', content }),
    tool: (id, content) => ({ role: 'user', content: [{ toolResult: { toolUseId: id, content } }] }),
    words: (text) => ({ text }),
    blocks: ({ content }) => content.flatMap((block: any) => block.toolResult?.content ?? [block]),
  },
  {
    name: 'pi',
    block: ({ data, type }) => ({ type: 'image', data, mimeType: type }),
    user: (content) => ({ role: 'user', content, timestamp: 1 }),
    tool: (id, content) => ({ role: 'toolResult', toolCallId: id, toolName: 't', content, isError: false }),
    words: text,
    blocks: ({ content }) => content,
  },
]

/** Messages, each with its payloads. */
const anyHistory = (form: FormOf) =>
  fc
    .array(fc.tuple(fc.boolean(), fc.array(anyMade, { minLength: 1, maxLength: 8 })), { maxLength: 12 })
    .map((messages) =>
      messages.map(([isUser, made], at) => {
        const blocks = [text(`words ${at}`), ...made.map(form.block)]
        return { made, message: isUser ? form.user(blocks) : form.tool(`c${at}`, blocks) }
      }),
    )

const limits = (provider: MediaProvider): Record<string, number | undefined> =>
  table.find(({ name }) => name === provider) as any

/** Checks payloads against the limits of a provider, by what is known of them. */
function broken(made: readonly Made[], provider: MediaProvider): string[] {
  const of = (name: string) => limits(provider)[name] ?? all
  const images = made.filter(({ type }) => type.startsWith('image/'))
  const documents = made.filter(({ type }) => type === 'application/pdf')
  const rules: [string, boolean][] = [
    ['base64', images.some(({ data }) => data.length > of('imageBase64'))],
    ['bytes', images.some(({ bytes }) => bytes > of('imageBytes'))],
    ['pixels', images.some(({ side }) => side > of('pixels'))],
    ['many', images.length > of('manyImages') && images.some(({ side }) => side > of('manyPixels'))],
    ['images', images.length > of('images')],
    ['document', documents.some(({ bytes }) => bytes > of('documentBytes'))],
    ['documents', documents.length > of('documents')],
    ['request', made.reduce((sum, { data }) => sum + data.length, 0) > of('requestBytes')],
  ]
  return rules.flatMap(([rule, isBroken]) => (isBroken ? [rule] : []))
}

const PROVIDERS = table.map(({ name }) => name as MediaProvider)

describe.each(FORMS)('payloads of $name', (form) => {
  const anyCase = fc.tuple(anyHistory(form), fc.constantFrom(...PROVIDERS))

  it('are within the limits of a provider after a clamp, and nothing else changes', { tags: 'long' }, () => {
    fc.assert(
      fc.property(anyCase, ([history, provider]) => {
        const given = history.map(({ message }) => message)
        const before = JSON.stringify(given)
        const { messages } = clampMessages(given, only(provider))
        const left: Made[] = []
        let gone = 0
        for (const [at, { message, made }] of history.entries()) {
          const now = form.blocks(messages[at])
          for (const [nth, block] of form.blocks(message).entries()) {
            const payload = made[nth - 1]
            if (now[nth] === block) {
              if (payload) left.push(payload)
              continue
            }
            gone += 1
            const { bytes, type } = payload as Made
            const said = `[... ${bytes.toLocaleString('en-US')} bytes of ${type}`
            const words = (now[nth] as any).text
            expect(words.startsWith(said) && words.endsWith(' omitted]'), words).toBe(true)
            expect(now[nth]).toEqual(form.words(words))
          }
        }
        expect(broken(left, provider)).toEqual([])
        expect(JSON.stringify(given)).toBe(before)
        if (gone === 0) expect(messages).toBe(given)
        expect(clampMessages(messages, only(provider)).messages).toBe(messages)
        // No payload goes without a reason.
        if (
          broken(
            history.flatMap(({ made }) => made),
            provider,
          ).length === 0
        )
          expect(gone).toBe(0)
      }),
      { numRuns: 30 },
    )
  })

  it('are replaced in a stored session as in a live one', { tags: 'long' }, async () => {
    await fc.assert(
      fc.asyncProperty(anyCase, async ([history, provider]) => {
        const given = history.map(({ message }) => message)
        const file = session(given)
        await repairSession(file, { ...only(provider), backup: false })
        const { messages } = clampMessages(given, { ...only(provider), notice: 'pi' })
        expect(given.length === 0 ? [] : readRows(file)).toEqual(messages)
        const { refused = [] } = await inspectSession(file, { media: { provider } })
        expect(refused).toEqual([])
        rmSync(file)
      }),
      { numRuns: 6 },
    )
  })
})

const [anthropic] = FORMS as [FormOf]
const wide = pngOf(8_001, 10)
const small = pngOf(10, 10)
const huge = LARGE[1] as Made
const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] }
const bricked = [
  anthropic.user([text('look'), anthropic.block(wide)]),
  call,
  anthropic.tool('a', [anthropic.block(huge), anthropic.block(small)]),
]

/** Refuses requests as Anthropic does. */
function refuse(messages: readonly any[]): void {
  for (const [at, message] of messages.entries())
    for (const [nth, { source }] of [...anthropic.blocks(message).entries()]) {
      const { data = '' } = source ?? {}
      const place = `messages.${at}.content.${nth}.image.source.base64`
      if (data.length > 5_242_880)
        throw refusal(`${place}: image exceeds 5 MB maximum: ${data.length} bytes > 5242880 bytes`)
      if (data === wide.data)
        throw refusal(
          `${place}.data: At least one of the image dimensions exceed max allowed size: 8000 pixels`,
        )
    }
}
function refusal(message: string): Error {
  const body = { type: 'error', error: { type: 'invalid_request_error', message } }
  return Object.assign(new Error(`400 ${JSON.stringify(body)}`), { status: 400 })
}

describe('a history with an image that the provider rejects', () => {
  const room = { contextTokens: 200_000, reserveTokens: 16_000 }
  const run = (options: object, send = refuse, messages: readonly object[] = bricked) => {
    const sent: (readonly any[])[] = []
    const running = runWithRecovery<string, object>({
      ...room,
      ...options,
      messages: () => messages,
      send: async (messages) => {
        sent.push(messages)
        send(messages)
        return 'answer'
      },
    })
    return { running, sent }
  }

  it('is sent again without it, whatever the limit', async () => {
    const { running, sent } = run({})
    expect(await running).toBe('answer')
    expect(sent.length).toBe(3)
    const [user, answer, result] = sent[2] as any[]
    expect(answer).toBe(call)
    expect(user.content).toEqual([text('look'), text('[... 26 bytes of image/png 8001x10 omitted]')])
    expect(result.content[0].content[0].text).toBe('[... 3,932,161 bytes of image/png 9x9 omitted]')
    expect(result.content[0].content[1]).toBe((bricked[2] as any).content[0].content[1])
  })

  it('is sent without it at once, if the provider is known', async () => {
    const { running, sent } = run({ media: { provider: 'anthropic' } })
    expect(await running).toBe('answer')
    expect(sent.length).toBe(1)
  })

  it('is sent without the largest payload of the message that is named without a limit', async () => {
    const send = (messages: readonly any[]) => {
      if (messages[2].content[0].content[1].source)
        throw refusal('messages.2.content.1.image.source.base64: image exceeds 9 MB maximum')
    }
    const { running, sent } = run({}, send)
    expect(await running).toBe('answer')
    expect(sent.length).toBe(3)
    expect((sent[2] as any)[0]).toBe(bricked[0])
  })

  it('ends with the error of the provider, if it goes on', async () => {
    const error = refusal('messages.0.content.1.image.source.base64: image exceeds 1 MB maximum')
    const always = () => {
      throw error
    }
    const many = Array.from({ length: 40 }, (_, at) =>
      anthropic.user([anthropic.block(pngOf(9, 9, 100 + at))]),
    )
    const { running, sent } = run({}, always, many)
    await expect(running).rejects.toBe(error)
    expect(sent.length).toBe(5)
    const none = run({}, always, [anthropic.user([text('no image')])])
    await expect(none.running).rejects.toBe(error)
    expect(none.sent.length).toBe(1)
  })

  it('is reported by a check before the request', () => {
    const media = { provider: 'anthropic' as const }
    const checked = precheck({ ...room, messages: bricked, media })
    expect(checked.refused).toEqual([
      { index: 0, from: 'user', kind: 'image', reason: 'image_pixels', bytes: 26, width: 8_001, height: 10 },
      { index: 2, from: 'tool', kind: 'image', reason: 'image_bytes', bytes: 3_932_161, width: 9, height: 9 },
    ])
    expect(checked.route).toBe('fits')
    const { messages } = clampMessages(bricked, only('anthropic'))
    expect(precheck({ ...room, messages, media })).toEqual({ ...checked, refused: undefined })
  })

  it('is reported by an inspection, row by row, for each provider', async () => {
    const file = session(bricked)
    const { refused } = await inspectSession(file)
    expect(refused?.map(({ row, provider, reason }) => [row, provider, reason])).toEqual([
      [1, 'anthropic', 'image_pixels'],
      [1, 'bedrock', 'image_pixels'],
      [3, 'anthropic', 'image_bytes'],
      [3, 'bedrock', 'image_bytes'],
    ])
    const { refused: none } = await inspectSession(file, { media: { provider: 'gemini' } })
    expect(none).toBeUndefined()
  })
})

it('more than twenty images keep their pixels until they are few', () => {
  const given = Array.from({ length: 25 }, (_, at) =>
    anthropic.tool(`c${at}`, [anthropic.block(pngOf(at < 7 ? 2_001 : 2_000, 9))]),
  )
  const { messages, clamped } = clampMessages(given, only('anthropic'))
  expect(clamped).toBe(5)
  expect(messages.map((message, at) => message === given[at])).toEqual(given.map((_, at) => at >= 5))
})

it('refusals of one payload are a kind of their own, with the limit and the message', () => {
  const of = (message: string) => classifyProviderError(refusal(message))
  const kind = 'media_too_large'
  expect(
    of(
      'messages.58.content.2.image.source.base64: image exceeds 5 MB maximum: 6500712 bytes > 5242880 bytes',
    ),
  ).toEqual({ kind, actual: 6_500_712, limit: 5_242_880, index: 58, status: 400 })
  const wide = 'At least one of the image dimensions exceed max allowed size'
  expect(of(`messages.7.content.3.image.source.base64.data: ${wide}: 8000 pixels`)).toEqual({
    ...{ kind, limit: 8_000, unit: 'pixels', index: 7, status: 400 },
  })
  expect(
    of(`messages.18.content.50.image.source.base64.data: ${wide} for many-image requests: 2000 pixels`),
  ).toEqual({ kind, limit: 2_000, unit: 'pixels', index: 18, status: 400 })
  expect(of('The image size must be greater than zero and cannot exceed 20971520 bytes.')).toEqual({
    ...{ kind, limit: 20_971_520, status: 400 },
  })
  for (const other of [
    'too many images: 101 (maximum 100)',
    'the number of images exceeds 100',
    'image not found',
  ])
    expect(of(other).kind).toBe('other')
  expect(of('prompt is too long: 213462 tokens > 200000 maximum').kind).toBe('context_overflow')
})

it('an unknown provider is an error that lists the known ones', () => {
  const wrong = () => definePolicy({ media: { provider: 'azure' as 'openai' } })
  expect(wrong).toThrow(/media\.provider must be one of 'anthropic', .*'bedrock', got "azure"/)
})
