import { clampError, wrapTool } from 'spillway'
import { describe, expect, it } from 'vitest'

const BIG = 'it broke badly\n'.repeat(400_000)

describe('clampError', () => {
  it('shortens the same error, message and stack', () => {
    const error = Object.assign(new TypeError(BIG), { code: 'EBIG', data: { kept: true } })
    const { data } = error
    expect(clampError(error)).toBe(error)
    expect(Buffer.byteLength(error.message)).toBeLessThanOrEqual(51_200)
    expect(error.message).toContain('[tool output truncated: ')
    expect(error.stack?.length).toBeLessThan(60_000)
    expect(error.stack).toContain(`TypeError: ${error.message}`)
    expect(error).toMatchObject({ name: 'TypeError', code: 'EBIG' })
    expect(error.data).toBe(data)
    expect(error).toBeInstanceOf(TypeError)
  })

  it('shortens a stack that was read before', () => {
    const error = new Error(BIG)
    expect(error.stack?.length).toBeGreaterThan(5_000_000)
    clampError(error)
    expect(error.stack?.length).toBeLessThan(60_000)
    expect(error.stack).toMatch(/\n {4}at /)
    expect(Object.keys(error)).toEqual([])
  })

  it('leaves at most 20 frames', () => {
    const error = new Error('x'.repeat(60_000))
    error.stack = `Error: ${error.message}\n${'    at f (file.js:1:1)\n'.repeat(500)}`
    clampError(error)
    expect(error.stack?.match(/^ {4}at /gm)).toHaveLength(20)
    const odd = Object.assign(new Error('short'), { stack: 'z'.repeat(900_000) })
    clampError(odd)
    expect(odd.stack?.length).toBeLessThan(60_000)
  })

  it('leaves an error that fits alone', () => {
    const error = new Error('short', { cause: new Error('why') })
    const { stack } = error
    expect(clampError(error)).toBe(error)
    expect(error.stack).toBe(stack)
  })

  it('follows causes and aggregates to depth 5, and cycles once', () => {
    let error = new Error(BIG)
    for (let depth = 0; depth < 5; depth++) error = new Error('outer', { cause: error })
    clampError(error)
    let inner: unknown = error
    for (let depth = 0; depth < 5; depth++) inner = (inner as Error).cause
    expect((inner as Error).message.length).toBeLessThanOrEqual(51_200)

    const aggregate = new AggregateError([new Error(BIG), BIG, 5], BIG)
    clampError(aggregate)
    expect(aggregate.errors[0].message.length).toBeLessThanOrEqual(51_200)
    expect(aggregate.errors[1].length).toBeLessThanOrEqual(51_200)

    const cyclic = new Error(BIG)
    cyclic.cause = cyclic
    expect(clampError(cyclic).message.length).toBeLessThanOrEqual(51_200)
  })

  it('takes whatever is thrown', () => {
    expect(clampError(BIG).length).toBeLessThanOrEqual(51_200)
    expect(clampError({ message: BIG }).message.length).toBeLessThanOrEqual(51_200)
    expect(
      clampError({ content: [{ type: 'text', text: BIG }] }).content[0]?.text.length,
    ).toBeLessThanOrEqual(51_200)
    for (const odd of [undefined, null, 5, 5n, Symbol('s'), () => 1, {}]) expect(clampError(odd)).toBe(odd)
  })

  it('makes a new one of a frozen error, with its prototype, name and code', () => {
    class Broken extends Error {
      override name = 'Broken'
      code = 'EBROKEN'
    }
    const frozen = Object.freeze(new Broken(BIG))
    const fresh = clampError(frozen)
    expect(fresh).not.toBe(frozen)
    expect(fresh).toBeInstanceOf(Broken)
    expect(fresh).toMatchObject({ name: 'Broken', code: 'EBROKEN' })
    expect(fresh.message.length).toBeLessThanOrEqual(51_200)
    expect(fresh.stack?.length).toBeLessThan(60_000)
    expect(frozen.message).toBe(BIG)
  })

  it('keeps both ends of what an error says', () => {
    const error = new Error(`first\n${'filler\n'.repeat(9_000)}the reason`)
    expect(clampError(error).message).toMatch(/^first\n[\s\S]*\nthe reason\n\n\[tool output[^\n]*$/)
  })

  it('leaves nothing in a stack but its header, the message and frames', () => {
    const stacks = [
      `RemoteError: short\n${'  File "x.py", line 1\n'.repeat(100_000)}`,
      `Error: short\n    at f (a.js:1:1)\n[cause]: ${'q'.repeat(1_000_000)}`,
      `${'N'.repeat(200_000)}: short\n    at f (a.js:1:1)`,
      `Error: m\n${'\n'.repeat(1_000_000)}    at f (a.js:1:1)`,
      `Error: short\n    at ${'f'.repeat(500_000)}`,
    ]
    for (const stack of stacks) {
      const error = clampError(Object.assign(new Error('short'), { stack }))
      expect(error.stack?.length).toBeLessThan(2_000)
      expect(error.stack).toMatch(/^\w*: short/)
    }
    const odd = clampError(Object.assign(new Error('fine'), { stack: 'Error: fine\n    at \ud800 (x)' }))
    expect(odd.stack).toBe('Error: fine\n    at \ufffd (x)')
  })

  it('is idempotent', () => {
    for (const [message, maxChars] of [
      ['', 50],
      [BIG, 0],
      [BIG, 500],
      ['at', 1],
    ] as const) {
      const error = clampError(new Error(message), { maxChars })
      const { stack } = error
      expect(stack).toMatch(/^Error/)
      expect(clampError(error, { maxChars }).stack).toBe(stack)
    }
  })

  it('replaces a frozen error wherever it stands', () => {
    const frozen = Object.freeze(new Error(BIG))
    const { errors } = clampError(new AggregateError([frozen, frozen], 'both'))
    expect(errors[0]).toBe(errors[1])
    expect(errors[0].message.length).toBeLessThanOrEqual(51_200)
    const one: Error = new Error(BIG)
    const other = Object.freeze(new Error(BIG, { cause: one }))
    one.cause = other
    const clamped = clampError(Object.freeze(one))
    expect((clamped.cause as Error).message.length).toBeLessThanOrEqual(51_200)
    expect(((clamped.cause as Error).cause as Error).message.length).toBeLessThanOrEqual(51_200)
    const plain = clampError(Object.freeze({ message: BIG, code: 'E' }))
    expect(Object.keys(plain)).toEqual(['message', 'code'])
    const dom = clampError(Object.freeze(new DOMException(BIG, 'AbortError')))
    expect(dom).toMatchObject({ name: 'AbortError', code: 20 })
    expect(dom.message.length).toBeLessThanOrEqual(51_200)
  })

  it('survives proxies that were revoked', () => {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    const error = Object.assign(new Error(BIG), { errors: proxy, cause: proxy })
    expect(clampError(error).message.length).toBeLessThanOrEqual(51_200)
    const thrown = Proxy.revocable({}, {})
    thrown.revoke()
    expect(clampError(thrown.proxy)).toBe(thrown.proxy)
  })

  it('gives back what hides its prototype, and shortens it where it can', async () => {
    const hiding = (message: string) =>
      new Proxy(new Error(message), {
        getPrototypeOf() {
          throw new Error('trap')
        },
      })
    const small = hiding('boom')
    expect(clampError(small)).toBe(small)
    const large = hiding(BIG)
    expect(clampError(large)).toBe(large)
    expect(large.message.length).toBeLessThanOrEqual(51_200)
    const tool = wrapTool(async () => {
      throw small
    })
    await expect(tool().catch((error: unknown) => error === small)).resolves.toBe(true)
  })

  it('shortens a sealed error in place', () => {
    const sealed = Object.seal(new Error(BIG))
    expect(clampError(sealed)).toBe(sealed)
    expect(sealed.message.length).toBeLessThanOrEqual(51_200)
    expect(Object.keys(sealed)).toEqual([])
    expect(Object.isSealed(sealed)).toBe(true)
  })
})
