import * as fc from 'fast-check'
import { OutputCapture, type SpillRecord, type SpillStore, wrapTool } from 'spillway'
import { describe, expect, it, vi } from 'vitest'
import { turns, until } from '../support/wait.js'

const ID = '0123456789abcdef'
const record = (bytes: number): SpillRecord => ({ id: ID, path: 'a/key', bytes, lines: 1, complete: true })

type Input = string | Uint8Array | AsyncIterable<Uint8Array>

/** A store of somebody else that saves in its own way. */
const saving = (save: (chunks: AsyncIterable<Uint8Array>) => unknown, reference?: 'path' | 'id') =>
  ({ save: async (input: Input) => save(input as never), ...(reference && { reference }) }) as SpillStore

/** Captures chunks as they are, and returns the result. */
async function capture(spill: SpillStore, chunks: readonly Uint8Array[], maxBytes = 400) {
  const captured = new OutputCapture({ spill, maxBytes, clean: false, keep: 'tail' })
  for (const chunk of chunks) await new Promise<void>((done) => captured.stdout.write(chunk, () => done()))
  return captured.finish()
}

const CHUNKS = fc
  .array(fc.integer({ min: 1, max: 400_000 }), { maxLength: 6 })
  .map((sizes) => sizes.map((size, at) => Buffer.alloc(size, `${at}abcdefg`)))

describe("a capture with somebody's store", () => {
  it('hands over all bytes in order if something is cut', async () => {
    await fc.assert(
      fc.asyncProperty(CHUNKS, async (chunks) => {
        let ended = false
        const parts: Uint8Array[] = []
        const store = saving(async (feed) => {
          for await (const part of feed) parts.push(part)
          ended = true
          return record(1)
        })
        const { truncated, spill, spillError } = await capture(store, chunks, 60_000)
        expect([ended, spill?.id]).toEqual(truncated ? [true, ID] : [false, undefined])
        expect(spillError).toBeUndefined()
        if (truncated) expect(Buffer.concat(parts).equals(Buffer.concat(chunks))).toBe(true)
      }),
      { numRuns: 40 },
    )
  })

  it('ends the chunks in an error if nothing is cut in the end', async () => {
    const failed = vi.fn()
    const store = saving(async (feed) => {
      try {
        for await (const _ of feed);
      } catch (error) {
        failed()
        throw error
      }
    })
    const drawn = new OutputCapture({ spill: store, maxBytes: 400 })
    drawn.stdout.write('\r 50 % of it is done'.repeat(1_000))
    expect(await drawn.finish()).toMatchObject({ text: ' 50 % of it is done', truncated: false })
    expect(failed).toHaveBeenCalledOnce()
  })

  it('names the id in its notice, or the path where the store says so', async () => {
    const drain = async (feed: AsyncIterable<Uint8Array>) => {
      for await (const _ of feed);
      return record(900)
    }
    const long = [Buffer.alloc(900, 'x')]
    expect((await capture(saving(drain), long)).text).toContain(`saved as ${ID}`)
    expect((await capture(saving(drain, 'path'), long)).text).toContain('saved as a/key')
  })

  it('waits for a store that does not ask, and goes on when it asks or fails', async () => {
    for (const fails of [false, true]) {
      let go = () => {}
      const asked = new Promise<void>((resolve) => {
        go = resolve
      })
      const store = saving(async (feed) => {
        await asked
        if (fails) throw Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })
        let bytes = 0
        for await (const { length } of feed) bytes += length
        return record(bytes)
      })
      const captured = new OutputCapture({ spill: store, maxBytes: 400, clean: false })
      const written = vi.fn()
      captured.stdout.write(Buffer.alloc(3_000_000, 'x'), written)
      await turns()
      expect(written).not.toHaveBeenCalled()
      go()
      await until(() => written.mock.calls.length > 0)
      expect(written).toHaveBeenCalledOnce()
      const { text, spill, spillError } = await captured.finish()
      expect(spill?.bytes).toBe(fails ? undefined : 3_000_000)
      expect(spillError).toBe(fails ? 'ECONNREFUSED: gone' : undefined)
      if (fails) expect(text).toContain('could not be saved (ECONNREFUSED)')
    }
  })

  it('clamps whatever the store does', async () => {
    const deeds = [
      () => {
        throw undefined
      },
      () => undefined,
      () => ({ ...record(1), id: '../../etc/passwd' }),
      () => ({ id: ID }),
      async (feed: AsyncIterable<Uint8Array>) => {
        for await (const _ of feed) break
      },
    ]
    for (const deed of deeds) {
      const { text, spill, spillError } = await capture(saving(deed), [Buffer.alloc(2_000_000, 'x')])
      expect(spill).toBeUndefined()
      expect(spillError).toContain('ERR_SPILLWAY_SPILL')
      expect(text).toContain('could not be saved (ERR_SPILLWAY_SPILL)')
      expect(text.length).toBeLessThanOrEqual(400)
    }
  })
})

describe("a tool with somebody's store", () => {
  it('saves the text of a call once, and again when it is gone', async () => {
    const kept = new Set<string>()
    let saves = 0
    const store = {
      save: async (): Promise<SpillRecord> => {
        const id = `${saves++}`.padStart(16, '0')
        kept.add(id)
        return { id, path: `key/${id}`, bytes: 60_000, lines: 1, complete: true }
      },
      read: async (id: string) => {
        if (!kept.has(id)) throw Object.assign(new Error('gone'), { code: 'ENOENT' })
        return { text: 'x', line: 1, byte: 0, totalLines: 1, totalBytes: 60_000 }
      },
    } as unknown as SpillStore
    const tool = wrapTool(
      {
        execute: async () => 'x'.repeat(60_000),
        toModelOutput: async ({ output }: { toolCallId: string; output: string }) => ({
          type: 'text',
          value: output,
        }),
      },
      { spill: store },
    )
    const output = await tool.execute()
    const message = async () => (await tool.toModelOutput({ toolCallId: 'c1', output })).value
    const first = await message()
    expect(await message()).toBe(first)
    const before = saves
    kept.clear()
    expect(await message()).not.toBe(first)
    expect(saves).toBe(before + 1)
  })
})
