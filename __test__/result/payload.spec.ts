// biome-ignore-all lint/suspicious/noExplicitAny: messages of thirteen frameworks
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  type ClampEvent,
  clampMessages,
  clampResult,
  createSpillStore,
  type ResultPolicy,
  sanitizeForDisplay,
  wrapTool,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { fragmentsOf, payload, planted } from '../support/payloads.js'
import { samples } from '../support/samples.js'

const PNG = payload('png', 90_000)
const shot = { type: 'image', mimeType: 'image/png', data: PNG }
const said = { ...shot, data: '[... 90,000 bytes of image/png omitted]' }
const rows = Array.from({ length: 900 }, (_, at) => ({ at, name: `row ${at}` }))

const policies = fc.record(
  {
    maxBytes: fc.integer({ min: 40, max: 4_000 }),
    maxChars: fc.integer({ min: 40, max: 4_000 }),
    maxTokens: fc.integer({ min: 40, max: 900 }),
    maxLineBytes: fc.integer({ min: 40, max: 4_000 }),
    keep: fc.constantFrom('head', 'tail', 'ends', 'findings', 'relevant', 'auto'),
    share: fc.constantFrom('fair', 'order', 'each'),
    notice: fc.constantFrom('hint', 'pi', false, () => '[less]'),
    sideData: fc.oneof(fc.constantFrom('whole', 'cap', 'drop'), fc.record({ maxBytes: fc.nat(2_000) })),
  },
  { requiredKeys: ['maxBytes'] },
) as fc.Arbitrary<ResultPolicy>
const sizes = fc.array(fc.tuple(fc.integer({ min: 768, max: 9_000 }), fc.nat()), {
  minLength: 1,
  maxLength: 4,
})
const plant = (value: object, sizes: readonly (readonly [number, number])[], json?: readonly string[]) =>
  sizes.map(([bytes, at]) => planted(value, payload(`${bytes} ${at}`, bytes), at, json))

describe('payloads in JSON that is cut', () => {
  it.each<[string, unknown, unknown]>([
    [
      'AI SDK json',
      { type: 'json', value: { shot, title: 'a title' } },
      { type: 'json', value: { shot: said, title: 'a title' } },
    ],
    [
      'a response of Gemini',
      { functionResponse: { name: 't', response: { shots: [shot], count: 1 } } },
      { functionResponse: { name: 't', response: { shots: [said], count: 1 } } },
    ],
    [
      'JSON of Bedrock',
      { toolUseId: 'c', content: [{ text: 'a text' }, { json: { url: `data:image/png;base64,${PNG}` } }] },
      { toolUseId: 'c', content: [{ text: 'a text' }, { text: JSON.stringify({ url: said.data }) }] },
    ],
    [
      'JSON that has to stay so',
      {
        type: 'local_shell_call_output',
        id: 'c',
        output: JSON.stringify({ format: 'png', stdout: PNG, exit_code: 1 }),
      },
      {
        type: 'local_shell_call_output',
        id: 'c',
        output: JSON.stringify({ format: 'png', stdout: '[... 90,000 bytes of png omitted]', exit_code: 1 }),
      },
    ],
  ])('are named with their sizes: %s', (_, value, left) => {
    expect(clampResult(value)).toEqual(left)
    expect(clampMessages([value]).messages).toEqual([left])
  })

  it('are named in plain data, and in what is said of structured content', () => {
    expect(wrapTool(() => ({ shot, total: 1 }))()).toEqual({ shot: said, total: 1 })
    const asText = { json: 'text', keep: 'tail', maxChars: 300 } as const
    const [text] = [wrapTool(() => ({ rows, shot }), asText)() as unknown as string]
    expect(text.endsWith(`"shot":${JSON.stringify(said)}}`)).toBe(true)
    expect(text).toMatch(/^\[tool output truncated: /)
    const result: any = clampResult({ structuredContent: { shot } }, { sideData: 'drop' })
    expect(result).toEqual({ content: [{ type: 'text', text: JSON.stringify({ shot: said }) }] })
  })

  it('stay where all fits, however large', () => {
    const value = { shot, total: 1 }
    expect(wrapTool(() => value, { maxBytes: 200_000 })()).toBe(value)
    const result = { toolUseId: 'c', content: [{ text: 'word '.repeat(9_000) }, { json: { shot } }] }
    const left = clampResult(result, { maxBytes: 140_000, share: 'order', keep: 'head', maxChars: 135_000 })
    expect(left.content[1]).toEqual({ text: JSON.stringify({ shot: said }) })
    expect(clampResult(result, { maxBytes: 200_000 })).toBe(result)
    // A block that stays whole keeps its own.
    const icon = { type: 'image', data: payload('icon', 900), mimeType: 'image/png' }
    const both = { toolUseId: 'c', content: [{ json: { icon } }, { text: 'word '.repeat(9_000) }] }
    expect(clampResult(both, { maxBytes: 9_000 }).content[0]).toBe(both.content[0])
  })

  it('are reported as cut, and saved whole', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-payload-'))
    try {
      const spill = createSpillStore({ dir })
      const events: ClampEvent[] = []
      const value = { shot, total: 1 }
      const tool = wrapTool({ execute: async () => value }, { spill, onClamp: (event) => events.push(event) })
      await tool.execute()
      const [whole, left] = [JSON.stringify(value), JSON.stringify({ shot: said, total: 1 })]
      expect(events).toMatchObject([
        { total: { chars: whole.length }, kept: { chars: left.length }, exceeded: ['bytes'] },
      ])
      const [saved] = await spill.list()
      expect(readFileSync(saved?.path ?? '', 'utf8')).toBe(whole)
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  it('stay whole or leave their size in every dialect, whatever the limits', () => {
    fc.assert(
      fc.property(fc.constantFrom(...samples), sizes, policies, (sample, sizes, policy) => {
        const message = sample.make('a line\n'.repeat(20))
        const payloads = plant(message, sizes, sample.json)
        for (const left of [
          clampResult(message, policy),
          clampMessages([message], policy).messages,
          wrapTool(() => message, policy)(),
        ])
          expect(fragmentsOf(payloads, JSON.stringify(left))).toEqual([])
        // The payloads that a display shows of known blocks are another thing.
        const shown = JSON.stringify(sanitizeForDisplay(message, { maxChars: 300 }))
        expect(fragmentsOf(payloads, shown)).toEqual([])
      }),
      { numRuns: 400 },
    )
  })

  it('take no room of the texts beside them once they go', () => {
    for (const share of ['fair', 'order'] as const) {
      const data = Buffer.alloc(2_000_000).toString('base64')
      const audio = { type: 'audio', data, mimeType: 'audio/wav' }
      const message = (texts: string[], block: object) => ({
        role: 'toolResult',
        toolCallId: 'c',
        content: [...texts.map((text) => ({ type: 'text', text })), block],
      })
      const named = { ...audio, data: '[... 2,000,000 bytes of audio/wav omitted]' }
      const one = message(['y'.repeat(40_000)], audio)
      expect(clampResult(one, { share })).toEqual(message(['y'.repeat(40_000)], named))
      expect(clampMessages([one], { share }).messages).toEqual([message(['y'.repeat(40_000)], named)])
      const beside = { ...one, raw: audio, more: 'a member' }
      expect(clampResult({ ...beside, content: one.content.slice(0, 1) }, { share })).toEqual({
        ...message(['y'.repeat(40_000)], named),
        content: one.content.slice(0, 1),
        raw: named,
        more: 'a member',
      })
    }
  })

  it('stay whole or leave their size in data of any shape', () => {
    const data = fc.jsonValue({ maxDepth: 3 }).filter((value) => typeof value === 'object' && value !== null)
    fc.assert(
      fc.property(data as fc.Arbitrary<object>, sizes, policies, (data, sizes, policy) => {
        const value = { list: [data] }
        const payloads = plant(value, sizes)
        const left = wrapTool(() => value, policy)()
        expect(fragmentsOf(payloads, JSON.stringify(left))).toEqual([])
        expect(wrapTool(() => left, policy)()).toEqual(left)
        const output = JSON.stringify(value)
        const kept = clampResult({ type: 'local_shell_call_output', id: 'c', output }, policy)
        expect(fragmentsOf(payloads, kept.output)).toEqual([])
      }),
      { numRuns: 400 },
    )
  })
})
