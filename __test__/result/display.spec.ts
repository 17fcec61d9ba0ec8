import * as fc from 'fast-check'
import { sanitizeForDisplay } from 'spillway'
import { describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { samples } from '../support/samples.js'

const BIG = 'a line of output\n'.repeat(5_000)
const bytes = new Uint8Array([1, 2, 3, 4, 5])
const base64 = Buffer.from(bytes).toString('base64')

describe('sanitizeForDisplay', () => {
  it.each(
    samples.map((sample) => [`${sample.dialect}: ${sample.name}`, sample] as const),
  )('shortens %s', (_, { make, texts, error }) => {
    const small = make('short')
    expect(JSON.stringify(sanitizeForDisplay(small)).length).toBeLessThanOrEqual(
      JSON.stringify(small).length + 20,
    )
    const big = make(BIG)
    const before = structuredClone(big)
    const shown = sanitizeForDisplay(big)
    expect(big).toEqual(before)
    const [first = []] = texts(shown)
    for (const text of texts(shown).flat()) expect(text.length).toBeLessThanOrEqual(8_000)
    // A text without newlines has one line.
    if (error) for (const text of first) expect(text.length).toBeLessThanOrEqual(400)
    else expect(first.join('')).toMatch(/more characters truncated\]/)
  })

  it.each([
    [
      'Pi',
      { role: 'toolResult', content: [{ type: 'image', data: base64, mimeType: 'image/png' }] },
      'content.0',
    ],
    ['MCP audio', { content: [{ type: 'audio', data: base64, mimeType: 'audio/wav' }] }, 'content.0'],
    [
      'MCP blob',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'resource', resource: { uri: 'x:', blob: base64 } },
        ],
      },
      'content.1.resource',
    ],
    [
      'AI SDK',
      {
        role: 'tool',
        content: [
          { type: 'tool-result', output: { type: 'content', value: [{ type: 'image-data', data: base64 }] } },
        ],
      },
      'content.0.output.value.0',
    ],
    [
      'AI SDK file',
      { type: 'content', value: [{ type: 'file', data: { type: 'data', data: base64 } }] },
      'value.0.data',
    ],
    [
      'LangChain',
      {
        type: 'tool',
        tool_call_id: 'c',
        content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } }],
      },
      'content.0.image_url',
    ],
    [
      'Responses',
      {
        type: 'function_call_output',
        output: [{ type: 'input_image', image_url: `data:image/png;base64,${base64}` }],
      },
      'output.0',
    ],
    [
      'Anthropic',
      { type: 'tool_result', content: [{ type: 'image', source: { type: 'base64', data: base64 } }] },
      'content.0.source',
    ],
    [
      'Gemini',
      { functionResponse: { response: { output: 'x' }, parts: [{ inlineData: { data: base64 } }] } },
      'functionResponse.parts.0.inlineData',
    ],
    [
      'Bedrock',
      { toolResult: { content: [{ image: { format: 'png', source: { bytes } } }] } },
      'toolResult.content.0.image.source',
    ],
    ['Agents', [{ type: 'image', image: { data: base64, mediaType: 'image/png' } }], '0.image'],
  ] as [string, object, string][])('shows the size of an image instead of it: %s', (_, result, path) => {
    const holder = path
      .split('.')
      .reduce((value, name) => (value as Record<string, object>)[name] as object, sanitizeForDisplay(result))
    expect(holder).toMatchObject({ bytes: 5, omitted: true })
    expect(JSON.stringify(sanitizeForDisplay(result))).not.toContain(base64)
  })

  it('leaves addresses of images', () => {
    const item = {
      type: 'function_call_output',
      output: [{ type: 'input_image', image_url: 'https://a.example/b.png' }],
    }
    expect(sanitizeForDisplay(item)).toBe(item)
  })

  it('shows the first line of what failed', () => {
    const failed = { content: [{ type: 'text', text: `\n\n  no such file\n${BIG}` }], isError: true }
    expect(sanitizeForDisplay(failed).content).toEqual([{ type: 'text', text: 'no such file' }])
    const long = { ...failed, content: [{ type: 'text', text: 'x'.repeat(900) }] }
    expect(sanitizeForDisplay(long).content[0]?.text).toBe(`${'x'.repeat(399)}…`)
    expect(sanitizeForDisplay(long, { maxErrorChars: 0 }).content[0]?.text).toBe('')
  })

  it('shows errors without frames and causes, and leaves them as they were', () => {
    class ToolError extends TypeError {
      readonly code = 'ETOOL'
    }
    const error = new ToolError(`it broke\n${BIG}`, { cause: new Error(BIG) })
    const shown = sanitizeForDisplay(error)
    expect(shown).toBeInstanceOf(ToolError)
    expect(shown).toMatchObject({
      message: 'it broke',
      code: 'ETOOL',
      stack: 'TypeError: it broke',
      cause: undefined,
    })
    expect(error.message).toContain(BIG)
  })

  it('holds its limits over hostile text, and takes what is not a result', () => {
    fc.assert(
      fc.property(hostileText, fc.nat(200), fc.boolean(), (text, max, isError) => {
        const [block] = sanitizeForDisplay(
          { content: [{ type: 'text', text }], isError },
          { maxChars: max, maxErrorChars: max },
        ).content
        expect(block?.text.length).toBeLessThanOrEqual(max)
        expect(block?.text.isWellFormed()).toBe(true)
      }),
    )
    for (const value of [null, 5, undefined, { a: BIG }, [BIG]]) expect(sanitizeForDisplay(value)).toBe(value)
    expect(sanitizeForDisplay(BIG).length).toBeLessThanOrEqual(8_000)
    for (const options of [{ maxChars: -1 }, { maxErrorChars: '4' }, null])
      expect(() => sanitizeForDisplay('', options as never)).toThrow(
        expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }),
      )
  })
})
