import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  type ClampEvent,
  createSpillStore,
  definePolicy,
  estimateTokens,
  measureText,
  type WrapPolicy,
  wrapTool,
  wrapTools,
} from 'spillway'
import { HARD_TRUNCATE_SUFFIX, wrapToolWithHardOutputTruncate } from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'
import { limits } from '../support/hostile.js'

const TEXT = `first\n${Array.from({ length: 9_000 }, (_, at) => `line ${at} of it 漢\n`).join('')}last`
const shell = () => ({ name: 'shell', execute: () => TEXT })

describe('a tool that is wrapped again', () => {
  it('never gives more than the tightest limits of all its policies', () => {
    const step = fc.record({
      policy: limits,
      isChecked: fc.boolean(),
      how: fc.constantFrom('tool', 'copy', 'set', 'heir'),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 4 }), (steps) => {
        let tool: { execute: () => string } = shell()
        for (const { policy, isChecked, how } of steps) {
          const given = isChecked ? definePolicy(policy) : policy
          if (how === 'copy') tool = wrapTool({ ...tool, execute: tool.execute }, given)
          else if (how === 'heir') tool = wrapTool(Object.create(tool), given)
          else if (how === 'set') tool = wrapTools({ tool }, given).tool
          else tool = wrapTool(tool, given)
        }
        const least = (name: keyof (typeof steps)[0]['policy'], preset = Number.POSITIVE_INFINITY) =>
          Math.min(...steps.map(({ policy }) => policy[name] ?? preset))
        const tightest = {
          maxBytes: least('maxBytes', 51_200),
          maxLines: least('maxLines', 2_000),
          maxChars: least('maxChars'),
          maxTokens: least('maxTokens'),
          maxLineBytes: least('maxLineBytes'),
        }
        const text = tool.execute()
        const { bytes, lines, chars } = measureText(text)
        expect(bytes).toBeLessThanOrEqual(tightest.maxBytes)
        expect(lines).toBeLessThanOrEqual(tightest.maxLines)
        expect(chars).toBeLessThanOrEqual(tightest.maxChars)
        expect(estimateTokens(text)).toBeLessThanOrEqual(tightest.maxTokens)
        expect(text).toBe(wrapTool(shell(), tightest).execute())
      }),
    )
  })

  it('keeps what the later policy does not set, and takes what it sets', () => {
    const inner: WrapPolicy = {
      maxChars: 900,
      keep: 'tail',
      notice: 'pi',
      source: 'log',
      needles: ['line 7 '],
    }
    const once = wrapTool(shell(), inner)
    const text = once.execute()
    expect(text).toMatch(/^\[\.\.\. \d+ lines \.\.\.\]\nline 7 .*\[\.\.\. \d+ more characters truncated\]$/s)
    for (const outer of [
      undefined,
      {},
      definePolicy(),
      definePolicy({ maxChars: 5_000 }),
      { maxBytes: 9_000 },
    ])
      expect(wrapTool(once, outer).execute()).toBe(text)
    const head = wrapTool(wrapTool(once, { keep: 'head', snap: 'char' }), definePolicy({ notice: 'count' }))
    expect(head.execute()).toBe(
      wrapTool(shell(), { ...inner, keep: 'head', snap: 'char', notice: 'count' }).execute(),
    )
    expect(wrapTool(once, { keep: 'findings' }).execute()).toContain('line 7 ')
    expect(once.execute()).toBe(text)
  })

  it('never gives more side data, where a bound of it was set or held already', () => {
    const result = { role: 'toolResult', toolCallId: 'c', content: 'ok', details: { log: TEXT } }
    const sizeUnder = (...policies: WrapPolicy[]) => {
      const tool = policies.reduce(wrapTool, { execute: () => result })
      return JSON.stringify(tool.execute().details).length
    }
    const to = (maxBytes: number): WrapPolicy => ({ sideData: { maxBytes } })
    const capped: WrapPolicy = { sideData: 'cap' }
    for (const [policies, bound] of [
      [[{}, to(50_000)], 50_000],
      [[{}, { keep: 'head' }, to(50_000)], 50_000],
      [[to(50_000), { keep: 'head' }], 50_000],
      [[to(50_000), capped], 8_192],
      [[capped, to(50_000)], 8_192],
      [[capped, {}], 8_192],
      [[to(500), to(900)], 500],
      [[to(900), to(500)], 500],
      [[to(500), capped], 500],
      [[{ sideData: 'drop' }, to(500)], 500],
    ] as [WrapPolicy[], number][])
      expect(sizeUnder(...policies)).toBe(sizeUnder(to(bound)))
    expect(sizeUnder(to(500), { sideData: 'whole' })).toBe(sizeUnder({}))
  })

  it('is the same tool under a policy that it has', () => {
    const [first, second] = [definePolicy({ maxChars: 500 }), definePolicy({ keep: 'tail' })]
    const once = wrapTool(shell(), first)
    expect(wrapTool(once, first)).toBe(once)
    const twice = wrapTool(once, second)
    expect(twice).not.toBe(once)
    expect(wrapTool(twice, second)).toBe(twice)
    expect(wrapTool(wrapTool(twice, first), second).execute()).toBe(twice.execute())
  })

  it('tells every listener of a cut once, and saves one text once, where the first store is', async () => {
    const dirs = ['a', 'b'].map((name) => mkdtempSync(join(tmpdir(), `spillway-${name}`)))
    const [inner, outer] = dirs.map((dir) => createSpillStore({ dir }))
    if (!inner || !outer) throw new Error('no stores')
    try {
      const told: string[] = []
      const hear = (name: string) => (_: ClampEvent) => void told.push(name)
      const first = { spill: inner, onClamp: hear('inner') }
      const tool = wrapTool({ name: 't', execute: async () => TEXT }, first)
      const both = wrapTools([wrapTool(tool, { spill: outer, onClamp: hear('outer') })], {
        onClamp: first.onClamp,
      })
      expect(await both[0]?.execute()).toContain('full output saved as')
      expect(told).toEqual(['inner', 'outer'])
      expect([(await inner.list()).length, (await outer.list()).length]).toEqual([1, 0])
      const later = wrapTool(wrapTool({ execute: async () => TEXT }), { spill: outer })
      expect(await later.execute()).toContain('full output saved as')
      expect(await outer.list()).toHaveLength(1)
      const broken = () => {
        throw new Error('no')
      }
      wrapTool(
        wrapTool(() => TEXT, { onClamp: broken }),
        { onClamp: hear('after') },
      )()
      expect(told).toEqual(['inner', 'outer', 'after'])
    } finally {
      for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
    }
  })

  it('clamps its updates, throws and messages as before, whoever has made a copy of it', () => {
    const updating = wrapTool(
      { execute: (_a: string, _b: object, _c: unknown, update: (text: string) => void) => update(TEXT) },
      { maxChars: 300 },
    )
    const seen: string[] = []
    wrapTool(updating.execute)('c', {}, undefined, (text) => void seen.push(text))
    expect(seen[0]?.length).toBeLessThanOrEqual(300)
    const failing = wrapTool(
      wrapTool(
        () => {
          throw Object.assign(new Error(TEXT), { all: TEXT })
        },
        { maxChars: 300 },
      ),
    )
    expect(failing).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^[\s\S]{0,300}$/), all: expect.any(String) }),
    )
    const wrapped = wrapTool(shell(), { maxChars: 300 })
    const showing = wrapTool({
      ...wrapped,
      toModelOutput: ({ output }: { output: string }) => ({ type: 'text', value: output + TEXT }),
    })
    expect(showing.execute().length).toBeLessThanOrEqual(300)
    expect(showing.toModelOutput({ output: '' }).value.length).toBeLessThanOrEqual(51_200)
  })

  it('keeps the words of OpenClaw until a later policy has its own', () => {
    const hard = wrapToolWithHardOutputTruncate(shell())
    const tighter = wrapTool(hard, { maxChars: 4_000 }).execute()
    expect(tighter.length).toBeLessThanOrEqual(4_000)
    expect(tighter.endsWith(HARD_TRUNCATE_SUFFIX)).toBe(true)
    expect(wrapTool(hard, { notice: 'pi' }).execute()).toMatch(/\[\.\.\. \d+ more characters truncated\]$/)
    const again = wrapToolWithHardOutputTruncate(wrapTool(shell(), { maxChars: 900, keep: 'tail' })).execute()
    expect(again.length).toBeLessThanOrEqual(900)
    expect(again.endsWith(HARD_TRUNCATE_SUFFIX)).toBe(true)
  })
})
