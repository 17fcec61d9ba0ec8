import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  type ClampEvent,
  clampResult,
  clampResultAsync,
  clampText,
  clampTextAsync,
  createSpillStore,
  type SpillStore,
  type TextPolicy,
  wrapTool,
} from 'spillway'
import { describe, expect, it, vi } from 'vitest'
import { effective, failingLog, hostileText, policies } from '../support/hostile.js'
import { goesRound } from '../support/wait.js'

/** Chars up to which a text is clamped at once. */
const SHORT = 262_144

/** Texts for threads: what breaks cuts, over and over, and lines of their own between. */
const longText = fc
  .tuple(fc.oneof(hostileText, failingLog), fc.integer({ min: 1, max: 30_000 }), fc.boolean())
  .map(([part, seed, isColored]) => {
    const parts: string[] = []
    for (let size = 0, at = seed; size <= SHORT; at += 7) {
      const line = `${isColored && at % 5 === 0 ? `\x1b[3${at % 8}m` : ''}step ${at} of ${seed % 97}: ok\n`
      parts.push(at % 3 === 0 ? line + part : line)
      size += parts.at(-1)?.length ?? 0
    }
    return parts.join('')
  })

const more = fc.record(
  {
    clean: fc.boolean(),
    redact: fc.boolean(),
    isError: fc.boolean(),
    query: fc.constantFrom('which step failed', ['error', '漢字']),
    keep: fc.constantFrom<TextPolicy['keep']>('auto', 'findings', 'relevant', 'head'),
    maxBytes: fc.constantFrom(900, 51_200, 120_000),
  },
  { requiredKeys: [] },
)
const policy = fc
  .oneof(
    more,
    fc.tuple(policies, more).map(([one, two]) => ({ ...one, ...two }) as TextPolicy),
  )
  .map(effective)

const log = (failed = 'error: no such step') =>
  Array.from({ length: 20_000 }, (_, at) => (at === 12_345 ? failed : `step ${at} is done`)).join('\n')

describe('long work on threads', () => {
  it('returns what the synchronous call returns', async () => {
    await fc.assert(
      fc.asyncProperty(longText, policy, async (text, options) => {
        expect(await clampTextAsync(text, options)).toBe(clampText(text, options))
      }),
      { numRuns: 300 },
    )
  })

  it('returns the same result, of any shape', async () => {
    const shaped = fc.tuple(longText, fc.string(), fc.integer({ min: 0, max: 8 })).map(
      ([text, short, shape]) =>
        [
          text,
          { content: [{ type: 'text', text }] },
          {
            content: [
              { type: 'text', text },
              { type: 'text', text: short },
              { type: 'text', text: text.slice(9) },
            ],
          },
          { stdout: text, stderr: short, exitCode: 1 },
          { role: 'tool', tool_call_id: 'a', content: text },
          { rows: text.split('\n') },
          { rows: text.split('\n').map((line, at) => ({ at, line })) },
          { content: [{ type: 'text', text: JSON.stringify({ exitCode: 1, text, short }) }] },
          { type: 'tool_result', tool_use_id: 'a', is_error: true, content: text },
        ][shape],
    )
    await fc.assert(
      fc.asyncProperty(shaped, policy, async (result, options) => {
        expect(await clampResultAsync(result, options)).toEqual(clampResult(result, options))
      }),
      { numRuns: 300 },
    )
  })

  it('leaves the middle of a very long text unread, as the synchronous call does', {
    tags: 'long',
  }, async () => {
    const text = `${log()}\n`.repeat(50)
    const result = { content: [{ type: 'text', text: `${text}é漢\n${text.slice(7)}` }] }
    expect(result.content[0]?.text.length).toBeGreaterThan(16 * 1024 * 1024)
    const clamped = clampResult(result)
    expect(await clampResultAsync(result)).toEqual(clamped)
    expect(JSON.stringify(clamped)).toContain('error: no such step')
  })

  it('lets the event loop turn', async () => {
    expect(await goesRound(() => clampTextAsync(log(), { clean: true }))).toBe(true)
  })

  it('cuts data on a thread, again once it is saved', { tags: 'long' }, async () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, state: id === 777 ? 'failed' : 'done' }))
    const dir = mkdtempSync(join(tmpdir(), 'ahead-'))
    const store = createSpillStore({ dir })
    try {
      for (const data of [{ rows }, { content: [{ type: 'text', text: JSON.stringify(rows) }] }]) {
        expect(await clampResultAsync(data)).toEqual(clampResult(data))
        expect(await goesRound(() => clampResultAsync(data))).toBe(true)
        let made: unknown
        const again = await goesRound(async (restart) => {
          const save: SpillStore['save'] = async (...given) => {
            const record = await store.save(...given)
            restart()
            return record
          }
          made = await clampResultAsync(data, { spill: { reference: 'path', save } as SpillStore })
        })
        expect(again).toBe(true)
        const names = (await store.list()).map(({ path }) => path)
        expect(names.filter((name) => JSON.stringify(made).includes(name))).toHaveLength(1)
      }
    } finally {
      rmSync(dir, { recursive: true })
    }
  })

  it('needs no timer that a test may replace', async () => {
    const text = log().repeat(20)
    vi.useFakeTimers()
    try {
      expect(await clampTextAsync(text, { clean: true })).toBe(clampText(text, { clean: true }))
    } finally {
      vi.useRealTimers()
    }
  })

  it('rejects wrong options, and anything but a string', async () => {
    await expect(clampTextAsync(log(), { maxLines: -1 })).rejects.toThrow('maxLines')
    await expect(clampTextAsync(Buffer.from('a') as unknown as string)).rejects.toThrow(
      'text must be a string',
    )
    await expect(clampResultAsync(Promise.resolve('a'))).rejects.toThrow('result must be awaited')
  })

  it('announces each cut once, with the same figures', async () => {
    const events: ClampEvent[] = []
    const now: ClampEvent[] = []
    const text = log()
    const execute = async () => ({ content: [{ type: 'text', text }] })
    const tool = wrapTool({ name: 'build', execute }, { onClamp: (event) => events.push(event) })
    const same = wrapTool(
      { name: 'build', execute: () => ({ content: [{ type: 'text', text }] }) },
      { onClamp: (event) => now.push(event) },
    )
    expect(await tool.execute()).toEqual(same.execute())
    expect(events).toHaveLength(1)
    expect(events).toEqual(now)
  })

  it('reads what stays as it is as often with a listener as without', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
    const spill = createSpillStore({ dir })
    const result = { rows: Array.from({ length: 500 }, (_, at) => ({ at, text: 'a field of a row' })) }
    const counts: number[] = []
    const events: ClampEvent[] = []
    for (const onClamp of [undefined, undefined, (event: ClampEvent) => void events.push(event)]) {
      const tool = wrapTool(
        { name: 't', execute: async () => result },
        { spill, ...(onClamp && { onClamp }) },
      )
      const reads = vi.spyOn(Array, 'isArray')
      const made = await tool.execute()
      counts.push(reads.mock.calls.filter(([value]) => value === result.rows || value === result).length)
      reads.mockRestore()
      expect(made).toBe(result)
    }
    expect(counts[1]).toBeGreaterThan(0)
    expect(counts[2]).toBe(counts[1])
    expect(events).toEqual([])
    rmSync(dir, { recursive: true, force: true })
  })

  it('saves a cut text once, and names it', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'ahead-'))
    try {
      const store = createSpillStore({ dir })
      const tool = wrapTool({ name: 'build', execute: async () => log() }, { spill: store })
      const kept = await tool.execute()
      const [saved, ...others] = await store.list()
      expect(others).toEqual([])
      expect(kept).toContain(saved?.path ?? 'no path')
      expect(kept).toContain('error: no such step')
    } finally {
      rmSync(dir, { recursive: true })
    }
  })

  it('gives code of the user whole answers meanwhile', async () => {
    const seen: string[] = []
    const text = log()
    const whole = clampText(text)
    const query = () => {
      seen.push(clampText(text))
      return 'step'
    }
    const tool = wrapTool({ name: 'build', execute: async () => text }, { query })
    await tool.execute()
    expect(seen.length).toBeGreaterThan(0)
    for (const one of seen) expect(one).toBe(whole)
  })

  it('keeps the results of many calls apart, and the order of a generator', async () => {
    const texts = Array.from({ length: 9 }, (_, at) => `call ${at}\n${log(`error: ${at}`)}`)
    const tool = wrapTool({ name: 'build', execute: async (at: number) => texts[at] })
    const made = await Promise.all(texts.map((_, at) => tool.execute(at)))
    for (const [at, text] of texts.entries()) expect(made[at]).toBe(clampText(text))
    const steps = wrapTool({
      name: 'build',
      async *execute() {
        yield texts[0]
        yield 'short'
        yield texts[1]
      },
    })
    const seen: unknown[] = []
    for await (const step of steps.execute()) seen.push(step)
    expect(seen).toEqual([made[0], 'short', made[1]])
  })

  it('passes on what a getter throws, and keeps the rest', async () => {
    const result = {
      content: [{ type: 'text', text: log() }],
      get broken(): never {
        throw new Error('no')
      },
    }
    const { content } = await clampResultAsync(result)
    expect(content).toEqual(clampResult({ content: result.content }).content)
  })
})
