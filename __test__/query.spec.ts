// biome-ignore-all lint/suspicious/noExplicitAny: tools take anything
import { type Query, type WrapPolicy, wrapTool } from 'spillway'
import { describe, expect, it } from 'vitest'
import { askedBy, stringsIn } from '../lib/query.js'

/** A long text in which one line has a rare word. */
const filler = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => `entry ${from + at} holds nothing of note`).join('\n')
const text = `${filler(0, 400)}\nentry 400 is about the quetzalcoatl\n${filler(401, 400)}`
const POLICY = { keep: 'relevant', maxChars: 2_000 } as const satisfies WrapPolicy

describe('what a call asks', () => {
  it('is all strings in plain data, in order, within bounds', () => {
    const date = new Date()
    expect(stringsIn([{ a: 'x', b: [1, 'y', { c: ['z', ''] }], date, f: () => 'no' }])).toEqual([
      'x',
      'y',
      'z',
    ])
    expect(stringsIn(['a'.repeat(3_000), 'b'.repeat(3_000), 'c']).map(({ length }) => length)).toEqual([
      3_000, 1_096,
    ])
    const cycle: unknown[] = ['round']
    cycle.push(cycle)
    expect(stringsIn([cycle]).length).toBeLessThan(20)
    const wide = Array.from({ length: 5_000 }, (_, at) => (at === 4_999 ? 'late' : at))
    expect(stringsIn([wide])).toEqual([])
    expect(stringsIn(['\ud800!'])).toEqual(['\ufffd!'])
  })

  it('is read from arguments that are the text of JSON', () => {
    expect(askedBy(undefined, ['{"path":"a.ts","lines":["b"]}'])).toEqual(['a.ts', 'b'])
    expect(askedBy(undefined, ['{not json'])).toEqual(['{not json'])
  })

  it('is what a function returns, and nothing if that throws or returns something else', () => {
    expect(askedBy(([one]) => [String(one), 'more'], ['x'])).toEqual(['x', 'more'])
    expect(askedBy(() => undefined, ['x'])).toEqual([])
    expect(askedBy(() => 7, ['x'])).toEqual([])
    expect(askedBy(async () => Promise.reject(new Error('late')), ['x'])).toEqual([])
    const throwing = () => {
      throw new Error('no')
    }
    expect(askedBy(throwing, ['x'])).toEqual([])
  })
})

/** Calls a wrapped tool, and returns what a function as `query` was told: the arguments of each call of it. */
async function told(tool: object, call: (tool: any) => unknown, policy: WrapPolicy = POLICY) {
  const seen: (readonly unknown[])[] = []
  const query: Query = (args) => {
    seen.push(args)
    return undefined
  }
  const wrapped = wrapTool(tool, { ...policy, query })
  await Promise.resolve(call(wrapped)).catch(() => {})
  return seen
}

describe('query of a wrapped tool', () => {
  const input = { pattern: 'quetzalcoatl' }

  it('is a function of the arguments, called once for a result that is cut', async () => {
    const tool = { execute: async (..._: unknown[]) => text }
    const options = { toolCallId: 'c1' }
    expect(await told(tool, (tool) => tool.execute(input, options))).toEqual([[input, options]])
    const blocks = { execute: () => ({ content: [text, text].map((text) => ({ type: 'text', text })) }) }
    expect(await told(blocks, (tool) => tool.execute(input))).toEqual([[input]])
    const tokens = { ...POLICY, maxChars: Number.POSITIVE_INFINITY, maxTokens: 500 }
    expect(await told(tool, (tool) => tool.execute(input), tokens)).toEqual([[input]])
    const failing = { execute: () => Promise.reject(new Error(text)) }
    expect(await told(failing, (tool) => tool.execute(input))).toEqual([[input]])
  })

  it('is the same function for what converts the output of a call', async () => {
    const tool = {
      execute: () => text,
      toModelOutput: ({ output }: any) => ({ type: 'text', value: output }),
    }
    expect(await told(tool, (tool) => tool.toModelOutput({ toolCallId: 'c', input, output: text }))).toEqual([
      [input],
    ])
  })

  it('is not called for a result that fits, nor where nothing can be asked', async () => {
    for (const small of [
      'x',
      'x'.repeat(1_900),
      'x\n'.repeat(900),
      { content: [{ type: 'text', text: 'x'.repeat(1_900) }] },
    ])
      for (const more of [{}, { maxTokens: 1_900 }, { maxLineBytes: 1_900 }, { share: 'each' as const }])
        expect(
          await told(
            () => small,
            (tool) => tool(input),
            { ...POLICY, ...more },
          ),
        ).toEqual([])
    for (const keep of ['head', 'tail', 'ends', 'findings'] as const)
      expect(
        await told(
          () => text,
          (tool) => tool(input),
          { keep, maxChars: 2_000 },
        ),
      ).toEqual([])
    expect(
      await told(
        () => Promise.reject(new Error(text)),
        (tool) => tool(input),
        { maxChars: 2_000 },
      ),
    ).toEqual([])
  })

  it('reads no argument of a call whose result fits', () => {
    let reads = 0
    const args = Object.defineProperty({}, 'pattern', {
      enumerable: true,
      get: () => {
        reads += 1
        return 'quetzalcoatl'
      },
    })
    const tool = wrapTool((_: object, long: boolean) => (long ? text : text.slice(0, 1_990)), POLICY)
    tool(args, false)
    expect(reads).toBe(0)
    tool(args, true)
    expect(reads).toBe(1)
  })

  it('breaks no tool if it throws', () => {
    const tool = wrapTool(() => text, {
      ...POLICY,
      query: () => {
        throw new Error('no')
      },
    })
    expect(tool()).toBe(wrapTool(() => text, { ...POLICY, query: false })())
  })
})
