import fc from 'fast-check'
import { measureText } from 'spillway'
import { clampUIMessages } from 'spillway/ai-sdk'
import { describe, expect, it } from 'vitest'

const LIMIT = 4_000
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.integer({ min: 1, max: 400 }).map((count) => `a line of output ${count}\n`.repeat(count)),
)
const output = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(fc.string({ maxLength: 8 }), text, { maxKeys: 5 }),
  fc.array(fc.record({ name: text, count: fc.integer() }), { maxLength: 30 }),
)
const id = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...'abcdef') })
const call = fc.record({ type: fc.constantFrom('tool-read', 'tool-run'), toolCallId: id, input: fc.object() })
const part = fc.oneof(
  text.map((text) => ({ type: 'text', text })),
  fc.tuple(call, output).map(([call, output]) => ({ ...call, state: 'output-available', output })),
  fc.tuple(call, text).map(([call, errorText]) => ({ ...call, state: 'output-error', errorText })),
  call.map((call) => ({ ...call, state: 'input-available' })),
  call.map((call) => ({ ...call, state: 'approval-requested', approval: { id: 'a' } })),
)
const message = fc
  .record({ id, parts: fc.array(part, { maxLength: 4 }), isUser: fc.boolean() })
  .map(({ id, parts, isUser }) =>
    isUser
      ? { id, role: 'user', parts: [{ type: 'text', text: id }] }
      : { id, role: 'assistant', parts: parts as object[] },
  )

interface Part {
  state?: string
  output?: unknown
  errorText?: string
}
const partsIn = (messages: readonly { parts: object[] }[]) => messages.flatMap(({ parts }) => parts as Part[])

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value))
    for (const member of Object.values(Object.freeze(value))) frozen(member)
  return value
}

describe('clampUIMessages', () => {
  it('bounds each result in its shape, leaves no open call behind, and changes nothing twice', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (given) => {
        const messages = frozen(given)
        const kept = clampUIMessages(messages, { maxBytes: LIMIT })
        expect(kept.length).toBe(messages.length)
        for (const { output, errorText } of partsIn(kept)) {
          const said = typeof output === 'string' ? output : (JSON.stringify(output) ?? errorText ?? '')
          expect(measureText(said).bytes).toBeLessThanOrEqual(LIMIT)
        }
        const earlier = partsIn(kept.slice(0, -1)).map(({ state }) => state)
        expect(earlier).not.toContain('input-available')
        const last = (all: typeof messages) => partsIn(all.slice(-1)).map(({ state }) => state)
        expect(last(kept)).toEqual(last(messages))
        expect(clampUIMessages(kept, { maxBytes: LIMIT })).toBe(kept)
      }),
      { numRuns: 400 },
    )
  })

  it('keeps the type of an output', () => {
    const shaped = fc.oneof(
      fc.dictionary(fc.constantFrom('stdout', 'stderr', 'rows'), fc.oneof(text, fc.array(text))),
      fc.array(text),
      text,
    )
    fc.assert(
      fc.property(shaped, (output) => {
        const part = { type: 'tool-run', toolCallId: 'c', state: 'output-available', input: {}, output }
        const [message] = clampUIMessages([{ id: 'm', role: 'assistant', parts: [part] }], {
          maxBytes: LIMIT,
        })
        const kept = message?.parts[0]?.output
        expect([typeof kept, Array.isArray(kept)]).toEqual([typeof output, Array.isArray(output)])
      }),
      { numRuns: 400 },
    )
  })

  it('changes nothing if it only observes', () => {
    const open = { type: 'tool-run', toolCallId: 'c', state: 'input-available', input: {} }
    const done = { ...open, toolCallId: 'd', state: 'output-available', output: 'x'.repeat(90_000) }
    const messages = [
      { id: 'm', role: 'assistant', parts: [open, done] },
      { id: 'u', role: 'user', parts: [{ type: 'text', text: 'And now?' }] },
    ]
    expect(clampUIMessages(messages, { observe: true })).toBe(messages)
    expect(clampUIMessages(messages)).not.toBe(messages)
  })

  it('rejects a wrong option', () => {
    expect(() => clampUIMessages([], { maxBytes: -1 })).toThrow(
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }),
    )
  })
})
