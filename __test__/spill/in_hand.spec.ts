import { channel } from 'node:diagnostics_channel'
import * as fc from 'fast-check'
import {
  type ClampEvent,
  clampResult,
  clampResultAsync,
  createSpillStore,
  type SpillStore,
  wrapTool,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { scratch } from '../support/scratch.js'

const { dir } = scratch()
const store = createSpillStore({ dir, reference: 'id' })
const lines = (count: number, word = 'step') =>
  Array.from({ length: count }, (_, at) => `${word} ${at}`).join('\n')
const shapes: readonly ((text: string) => unknown)[] = [
  (text) => text,
  (text) => ({ content: [{ type: 'text', text }] }),
  (text) => ({ role: 'tool', tool_call_id: 'a', content: text }),
  (text) => ({ type: 'tool_result', tool_use_id: 'a', is_error: true, content: text }),
  (text) => ({ stdout: text, stderr: '', exitCode: 1 }),
]
const idIn = (value: unknown) => /saved as ([0-9a-f]{16})/.exec(JSON.stringify(value))?.[1]

describe('clampResultAsync with a store', () => {
  it('returns what a wrapped tool returns, and saves the same once', async () => {
    const shape = fc.constantFrom(...shapes)
    await fc.assert(
      fc.asyncProperty(shape, fc.integer({ min: 20, max: 400 }), async (shape, count) => {
        const result = shape(lines(count))
        const policy = { maxLines: 12, maxChars: 2_000, spill: store }
        const sent = await clampResultAsync(result, policy)
        expect(sent).toEqual(await wrapTool({ execute: async () => result }, policy).execute())
        const before = (await store.list()).length
        expect(await clampResultAsync(result, policy)).toEqual(sent)
        expect(await store.list()).toHaveLength(before)
        // What names its saved output is not saved again.
        expect(await clampResultAsync(sent, policy)).toEqual(sent)
        expect(await store.list()).toHaveLength(before)
        const id = idIn(sent)
        if (id === undefined) expect(sent).toEqual(clampResult(result, { maxLines: 12, maxChars: 2_000 }))
        else expect((await store.read(id, { line: 1, lines: 1 })).text).toContain('step 0')
      }),
      { numRuns: 60 },
    )
  })

  it('saves the whole of a long text, and tells of one cut', async () => {
    const text = lines(60_000)
    const events: ClampEvent[] = []
    const note = (event: unknown) => void events.push(event as ClampEvent)
    channel('spillway:clamp').subscribe(note)
    const sent = await clampResultAsync({ role: 'tool', content: text }, { spill: store }).finally(() =>
      channel('spillway:clamp').unsubscribe(note),
    )
    const id = idIn(sent) ?? expect.fail()
    expect(events).toHaveLength(1)
    const page = await store.read(id, { line: 60_000, lines: 1 })
    expect(page.text).toBe('step 59999')
  })

  it('saves nothing that fits', async () => {
    const before = (await store.list()).length
    const result = { content: [{ type: 'text', text: 'ok' }] }
    expect(await clampResultAsync(result, { spill: store })).toBe(result)
    expect(await store.list()).toHaveLength(before)
  })

  it('bounds a result that cannot be saved', async () => {
    const failing: SpillStore = {
      ...store,
      save: async () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })),
    }
    const sent = await clampResultAsync(lines(9_000), { maxChars: 500, spill: failing })
    expect(sent.length).toBeLessThanOrEqual(500)
    expect(sent).toContain('could not be saved (ENOSPC)')
  })
})
