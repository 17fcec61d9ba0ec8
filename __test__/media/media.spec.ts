import * as fc from 'fast-check'
import {
  type ClampEvent,
  clampMessages,
  clampResult,
  guardSession,
  type MediaOptions,
  wrapTool,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { gif, jpeg, pdf, png, wav } from '../support/images.js'
import { mediaSamples } from '../support/media_samples.js'

const all = Number.POSITIVE_INFINITY
/** A policy that bounds payloads alone. */
const only = (media: MediaOptions) => ({ maxBytes: all, maxLines: all, media })
const base64 = (bytes: Buffer) => bytes.toString('base64')
const said = (bytes: number, kind: string) =>
  `[... ${bytes.toLocaleString('en-US')} bytes of ${kind} omitted]`

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}

describe.each(
  mediaSamples.map((sample) => [`${sample.dialect}: ${sample.name}`, sample] as const),
)('media of %s', (_, { make, blocks, words }) => {
  const sizes = [3_000, 2_000, 1_000]
  const payloads = sizes.map((bytes, at) => base64(png(100 + at, 50, bytes)))
  const value = frozen(make('c1', 'a text', payloads))
  const left = (media: MediaOptions) => clampResult(value, only(media))
  const gone = (at: number) => words(said(sizes[at] as number, `image/png ${100 + at}x50`))

  it('stay within the budget, by reference', () => {
    expect(left({ maxBytes: 6_000, maxItems: 3 })).toBe(value)
    expect(clampResult(value, only({}))).toBe(value)
    expect(clampResult(value)).toBe(value)
  })

  it('are replaced by words of their dialect, the first before the latest', () => {
    const [, second, third] = blocks(value)
    expect(blocks(left({ maxBytes: 3_000 }))).toEqual([gone(0), second, third])
    expect(blocks(left({ maxItems: 1 }))).toEqual([gone(0), gone(1), third])
    expect(blocks(left({ maxItems: 1, order: 'newest' }))).toEqual([blocks(value)[0], gone(1), gone(2)])
    expect(blocks(left({ maxBytes: 0 }))).toEqual([gone(0), gone(1), gone(2)])
    expect(blocks(left({ maxBytes: 3_000 }))[1]).toBe(second)
    // Greedy: a smaller one before may fit.
    expect(blocks(left({ maxBytes: 3_000, order: 'newest' }))).toEqual([blocks(value)[0], gone(1), gone(2)])
  })

  it('are settled by one pass', () => {
    for (const media of [{ maxBytes: 0 }, { maxBytes: 3_500 }, { maxItems: 2, order: 'newest' as const }]) {
      const once = left(media)
      expect(clampResult(frozen(once), only(media))).toBe(once)
    }
  })

  it('are replaced if their bytes are not of the type that they claim, and the others stay', () => {
    const whole = payloads[2] as string
    for (const [bytes, kind] of [
      [Buffer.from('<!doctype html><html><body>not found</body></html>'), 'image/png'],
      [gif(5, 5), 'image/gif 5x5'],
      [jpeg(5, 5), 'image/jpeg 5x5'],
      [png(5, 5).subarray(0, 12), 'image/png'],
    ] as const) {
      const value = frozen(make('c1', 'a text', [base64(bytes), whole]))
      const [first, second] = blocks(value)
      for (const provider of ['anthropic', 'openai', 'gemini', 'bedrock'] as const) {
        const left = clampResult(value, only({ provider }))
        // Some blocks name a format alone.
        const named = [kind, kind.replace('image/', '')].map((kind) => words(said(bytes.length, kind)))
        expect(named).toContainEqual(blocks(left)[0])
        expect(blocks(left)[1]).toBe(second)
        expect(clampResult(left, only({ provider }))).toBe(left)
      }
      // Without a provider, bytes are not judged.
      expect(blocks(clampResult(value, only({ maxItems: 2 })))[0]).toBe(first)
    }
  })

  it('share one budget in a history', () => {
    const history = frozen([1, 2, 3].map((n) => make(`c${n}`, `text ${n}`, payloads)))
    const { messages, clamped } = clampMessages(history, only({ maxItems: 4 }))
    expect(clamped).toBe(2)
    expect(blocks(messages[0])).toEqual([gone(0), gone(1), gone(2)])
    expect(blocks(messages[1])[2]).toBe(blocks(history[1])[2])
    expect(messages[2]).toBe(history[2])
    expect(clampMessages(messages, only({ maxItems: 4 })).messages).toBe(messages)
    expect(clampMessages(history, only({ maxItems: 9 })).messages).toBe(history)
  })

  it('hold for any payloads and any budget', () => {
    const kinds = fc.constantFrom(png, gif, jpeg, pdf, wav)
    const file = fc
      .tuple(kinds, fc.nat(3_000))
      .map(([kind, bytes]) => base64((kind as typeof png)(bytes, 9, bytes)))
    const rubbish = fc.uint8Array({ minLength: 3, maxLength: 60 }).map((bytes) => base64(Buffer.from(bytes)))
    const law = fc.property(
      fc.array(fc.oneof(file, rubbish), { maxLength: 5 }),
      fc.nat(9_000),
      fc.nat(5),
      fc.constantFrom('oldest' as const, 'newest' as const),
      (payloads, maxBytes, maxItems, order) => {
        const value = frozen(make('c1', 'a text', payloads))
        const policy = only({ maxBytes, maxItems, order })
        const once = clampResult(value, policy)
        const stay = blocks(once).filter((block, at) => block === blocks(value)[at])
        const bytes = stay.reduce((sum, block) => {
          const at = blocks(once).indexOf(block)
          return sum + Buffer.from(payloads[at] as string, 'base64').length
        }, 0)
        expect(blocks(once)).toHaveLength(payloads.length)
        expect(bytes).toBeLessThanOrEqual(maxBytes)
        expect(stay.length).toBeLessThanOrEqual(maxItems)
        expect(clampResult(frozen(once), policy)).toBe(once)
        expect(clampResult(value, policy)).toEqual(once)
      },
    )
    fc.assert(law, { numRuns: 300 })
  })
})

describe('payloads in texts', () => {
  const screen = base64(png(1_280, 720, 9_000))
  const words = said(9_000, 'image/png 1280x720')

  it('are replaced where they stand', () => {
    const text = (payload: string) => `Saved the picture: ${payload}\nDone.`
    for (const payload of [
      screen,
      `data:image/png;base64,${screen}`,
      (screen.match(/.{1,76}/g) as string[]).join('\n'),
    ]) {
      expect(clampResult(text(payload), only({ maxItems: 0 }))).toBe(text(words))
      expect(clampResult(text(payload), only({ maxItems: 1 }))).toBe(text(payload))
    }
  })

  it('are found in lines of any width, wherever they stand', () => {
    const around = fc.stringMatching(/^[ a-z\n]{0,1500}$/)
    // Encoders end a line after whole groups of four.
    const width = fc.oneof(fc.integer({ min: 10, max: 32 }), fc.integer({ min: 10, max: 1_023 }))
    const law = fc.property(
      fc.integer({ min: 3_072, max: 9_000 }),
      width,
      fc.constantFrom('\n', '\r\n'),
      around,
      around,
      (bytes, width, end, before, after) => {
        const lines = base64(png(1_280, 720, bytes)).match(new RegExp(`.{1,${width * 4}}`, 'g')) as string[]
        const text = (payload: string) => `${before} ${payload} ${after}`
        const cut = clampResult(text(lines.join(end)), only({ maxItems: 0 }))
        expect(cut).toBe(text(said(bytes, 'image/png 1280x720')))
      },
    )
    fc.assert(law, { numRuns: 300 })
  })

  it('count after those in blocks', () => {
    const image = { type: 'image', data: screen, mimeType: 'image/png' }
    const value = { content: [{ type: 'text', text: `see ${screen}` }, image] }
    expect(clampResult(value, only({ maxItems: 1 })).content).toEqual([
      value.content[0],
      { type: 'text', text: words },
    ])
    const { content } = clampResult(value, only({ maxItems: 1, order: 'newest' }))
    expect(content).toEqual([{ type: 'text', text: `see ${words}` }, image])
  })

  it('leave JSON valid and of its kind', () => {
    const value = {
      type: 'json',
      value: { name: 'shot', shot: screen, also: [`data:image/png;base64,${screen}`] },
    }
    expect(clampResult(value, only({ maxItems: 0 }))).toEqual({
      type: 'json',
      value: { name: 'shot', shot: words, also: [words] },
    })
    const row = { type: 'local_shell_call_output', id: 'c', output: JSON.stringify({ stdout: screen }) }
    expect(clampResult(row, only({ maxItems: 0 })).output).toBe(JSON.stringify({ stdout: words }))
  })

  it('are not looked for in blocks of no known kind', () => {
    const value = {
      content: [
        { type: 'text', text: 'a' },
        { type: 'hologram', data: screen },
      ],
    }
    expect(clampResult(value, only({ maxItems: 0 }))).toBe(value)
  })

  it('come before the limits of texts', () => {
    const value = { content: [{ type: 'text', text: `${screen} and the rest` }] }
    expect(clampResult(value, { maxBytes: 200, media: { maxItems: 0 } })).toEqual({
      content: [{ type: 'text', text: `${words} and the rest` }],
    })
  })
})

describe('media elsewhere', () => {
  const screen = base64(png(1_280, 720, 9_000))
  const image = { type: 'image', data: screen, mimeType: 'image/png' }
  const words = { type: 'text', text: said(9_000, 'image/png 1280x720') }

  it('of wrapped tools: the tighter bounds of both policies hold', () => {
    const tool = { execute: () => ({ content: [image, image, image] }) }
    const count = (wrapped: typeof tool) =>
      wrapped.execute().content.filter((block) => block === image).length
    const wrapped = wrapTool(tool, { media: { maxItems: 2 } })
    expect(count(wrapped)).toBe(2)
    expect(count(wrapTool(wrapped, { media: { maxBytes: 9_000 } }))).toBe(1)
    expect(count(wrapTool(wrapped, { media: { maxItems: 3 } }))).toBe(2)
    expect(count(wrapTool(wrapped, { maxLines: 5 }))).toBe(2)
  })

  it('are reported to listeners, apart from the cut of a text', () => {
    const told: ClampEvent[] = []
    const policy = { maxChars: 100, media: { maxItems: 0 }, onClamp: (event: ClampEvent) => told.push(event) }
    const texts = { type: 'text', text: `${'word '.repeat(40)}data:image/png;base64,${screen}` }
    wrapTool({ execute: () => ({ content: [texts, image, image] }) }, policy).execute()
    const [gone, cut] = told
    expect(gone).toMatchObject({
      phase: 'result',
      exceeded: [],
      total: { chars: texts.text.length },
      kept: { chars: 200 + words.text.length },
      media: { items: 3, bytes: 27_000 },
    })
    expect(cut).toMatchObject({ exceeded: ['chars'] })
    expect(cut).not.toHaveProperty('media')
    expect(told).toHaveLength(2)
    told.length = 0
    wrapTool({ execute: () => `data:image/png;base64,${screen}` }, policy).execute()
    wrapTool({ execute: () => ({ shot: screen }) }, policy).execute()
    expect(told.map(({ media }) => media)).toEqual([1, 1].map((items) => ({ items, bytes: 9_000 })))
  })

  it('of tools that return data: the data keeps its kind', () => {
    const wrapped = wrapTool({ execute: () => ({ ok: true, shot: screen }) }, { media: { maxItems: 0 } })
    expect(wrapped.execute()).toEqual({ ok: true, shot: words.text })
  })

  it('of a guarded session', () => {
    const kept: unknown[] = []
    const manager = { appendMessage: (message: object) => kept.push(message) }
    guardSession(manager, { media: { maxItems: 1 } })
    manager.appendMessage({ role: 'toolResult', toolCallId: 'a', content: [image, image] })
    expect(kept).toEqual([{ role: 'toolResult', toolCallId: 'a', content: [words, image] }])
  })

  it('as bytes, whatever their headers claim', () => {
    const make = (bytes: Uint8Array, format = 'png') => ({
      toolUseId: 'a',
      content: [{ image: { format, source: { bytes } } }],
    })
    const gone = (bytes: Uint8Array, format?: string) =>
      clampResult(make(bytes, format), only({ maxItems: 0 })).content[0]
    expect(gone(gif(9, 8, 300), 'jpeg')).toEqual({ text: said(300, 'image/gif 9x8') })
    expect(gone(new Uint8Array(300), 'jpeg')).toEqual({ text: said(300, 'jpeg') })
    expect(gone(new Uint8Array(300), 'a <b>')).toEqual({ text: '[... 300 bytes omitted]' })
    expect(gone(png(0, 8, 300))).toEqual({ text: said(300, 'image/png') })
    expect(gone(png(0xffff_ffff, 8, 300))).toEqual({ text: said(300, 'image/png 4294967295x8') })
  })

  it('keep the mark of a cached prefix', () => {
    const cache_control = { type: 'ephemeral' }
    const source = { type: 'base64', media_type: 'image/png', data: screen }
    const value = {
      type: 'tool_result',
      tool_use_id: 'a',
      content: [{ type: 'image', source, cache_control }],
    }
    expect(clampResult(value, only({ maxItems: 0 })).content).toEqual([{ ...words, cache_control }])
  })

  it('stay where they are only named, or where their format requires them', () => {
    const shot = { type: 'computer_screenshot', image_url: `data:image/png;base64,${screen}` }
    for (const value of [
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [{ type: 'input_image', image_url: 'https://a.b/c.png' }],
      },
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_image', file_id: 'file-1' }] },
      { type: 'computer_call_output', call_id: 'a', output: shot },
      { type: 'image_generation_call', id: 'a', result: screen },
    ])
      expect(clampResult(value, only({ maxItems: 0, maxBytes: 0 }))).toBe(value)
  })

  it('replace the source of a fetched document', () => {
    const source = { type: 'base64', media_type: 'application/pdf', data: base64(pdf(9_000)) }
    const fetched = (source: object) => ({
      type: 'web_fetch_tool_result',
      tool_use_id: 'a',
      content: { type: 'web_fetch_result', url: 'https://a.b', content: { type: 'document', source } },
    })
    const data = said(9_000, 'application/pdf')
    const text = { type: 'text', media_type: 'text/plain', data }
    expect(clampResult(fetched(source), only({ maxItems: 0 }))).toEqual(fetched(text))
  })

  it('has options of its own names', () => {
    const wrong = (media: object) => () => clampResult('', { media: media as MediaOptions })
    expect(wrong({ maxBytes: -1 })).toThrow('media.maxBytes must be a whole number')
    expect(wrong({ maxItem: 1 })).toThrow('unknown option `media.maxItem`; did you mean `maxItems`?')
    expect(wrong({ order: 'last' })).toThrow("media.order must be one of 'oldest', 'newest'")
    expect(wrong([])).toThrow('media must be an object')
  })
})
