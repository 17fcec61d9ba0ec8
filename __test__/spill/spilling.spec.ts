import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import {
  type ClampEvent,
  clampResult,
  clampText,
  createSpillStore,
  OutputCapture,
  type SpillStore,
  spillTool,
  wrapTool,
  wrapTools,
} from 'spillway'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const BIG = `first\n${Array.from({ length: 20_000 }, (_, at) => `a line of output, ${at}\n`).join('')}last`
const text = (text: string) => ({ type: 'text', text })

describe('wrapTool with a spill store', () => {
  let dir: string
  let store: SpillStore
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'spillway-'))
    store = createSpillStore({ dir: join(dir, 'saved') })
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  /** Runs a tool until a result is cut, and reads the output that the notice names. */
  const whole = async (shown: string) =>
    readFileSync(/full output saved as (\S+), read/.exec(shown)?.[1] ?? '', 'utf8')

  it('saves a stream of many blocks byte for byte, however it arrives', { tags: 'long' }, async () => {
    const bytes = Buffer.alloc(3_000_000)
    for (let at = 0; at + 4 <= bytes.length; at += 4)
      bytes.writeUInt32LE(Math.imul(at, 2_654_435_761) >>> 0, at)
    const chunk = fc.integer({ min: 1, max: 700_000 })
    const law = fc.asyncProperty(
      fc.array(chunk, { minLength: 1, maxLength: 30 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }),
      async (sizes, waits) => {
        const capture = new OutputCapture({ spill: store, clean: false })
        let at = 0
        for (let turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1
          // Short chunks would take long: each is followed by a large one.
          const part = bytes.subarray(at, at + Math.max(size, turn % 2 ? 100_000 : 1))
          const goesOn = capture.stdout.write(part)
          at += part.length
          if (!goesOn || waits[turn % waits.length]) await setImmediate()
        }
        const { spill } = await capture.finish()
        expect(readFileSync(spill?.path ?? '').equals(bytes)).toBe(true)
      },
    )
    await fc.assert(law, { numRuns: 15 })
  })

  it('saves the whole of what is cut, and says where', async () => {
    const tool = wrapTool({ name: 'build', execute: async () => BIG }, { spill: store })
    const shown = await tool.execute()
    expect(shown.length).toBeLessThanOrEqual(51_200)
    expect(await whole(shown)).toBe(BIG)
    const [record] = await store.list()
    expect(record?.path).toContain('build')
  })

  it('saves a text of a call once, also where calls come together', async () => {
    const toModelOutput = async (_: object) => ({ type: 'text', value: BIG })
    const tool = wrapTool({ execute: async () => 1, toModelOutput }, { spill: store })
    const shown = () => tool.toModelOutput({ toolCallId: 'call', output: 1 })
    const [first, ...others] = await Promise.all([shown(), shown(), shown()])
    for (const other of [...others, await shown()]) expect(other).toEqual(first)
    const [record, ...more] = await store.list()
    expect(more).toEqual([])
    // Of what a sweep has removed there is one again.
    rmSync(record?.path ?? '')
    const again = await Promise.all([shown(), shown(), shown()])
    expect(new Set(again.map(({ value }) => value)).size).toBe(1)
    expect(await whole(again[0].value)).toBe(BIG)
    expect(await store.list()).toHaveLength(1)
  })

  it('says of what comes at once that it could not be saved', async () => {
    const told = /; the rest could not be saved \(ERR_SPILLWAY_SPILL\); /
    expect(wrapTool(() => BIG, { spill: store })()).toMatch(told)
    expect(wrapTool(() => ({ content: [text(BIG)] }), { spill: store })().content[0]?.text).toMatch(told)
    const failing = wrapTool(
      (): string => {
        throw new Error(BIG)
      },
      { spill: store },
    )
    expect(failing).toThrow(told)
    const steps = wrapTool(
      async function* () {
        yield BIG
        return BIG
      },
      { spill: store },
    )()
    // More may come after a part, and then be saved.
    expect((await steps.next()).value).not.toMatch(told)
    expect((await steps.next()).value).toMatch(told)
    expect(wrapTool(() => 'short', { spill: store })()).toBe('short')
    expect(await store.list()).toEqual([])
  })

  it('names an id where the model cannot see the path, which the tool reads', async () => {
    const byId = createSpillStore({ dir: join(dir, 'saved'), reference: 'id' })
    const tools = wrapTools(
      { build: { execute: async () => BIG }, read: spillTool(byId) },
      { spill: byId, maxChars: 2_000 },
    )
    const id = /saved as ([0-9a-f]{16}),/.exec(await tools.build.execute())?.[1] ?? ''
    const page = await tools.read.execute({ id, line: 20_000 })
    expect(page).toContain('a line of output')
    // The text that a model reads there is not saved a second time.
    expect(await byId.list()).toHaveLength(1)
    expect((await tools.read.execute({ id })).length).toBeLessThanOrEqual(2_000)
    expect(await byId.list()).toHaveLength(1)
  })

  it('saves the texts of several blocks together, before cleaning, and each result by itself', async () => {
    const red = `\x1b[31m${BIG}\x1b[0m`
    const blocks = wrapTool(async () => ({ content: [text(red), text('between'), text(BIG)] }), {
      spill: store,
      clean: true,
    })
    const { content } = await blocks()
    expect(await whole(content[2]?.text ?? '')).toBe(`${red}\nbetween\n${BIG}`)
    const results = wrapTool(
      async () => ({
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: `a${BIG}` },
          { type: 'tool_result', tool_use_id: 'b', content: 'short' },
          { type: 'tool_result', tool_use_id: 'c', content: `c${BIG}` },
        ],
      }),
      { spill: store },
    )
    const message = await results()
    expect(await whole(message.content[0]?.content ?? '')).toBe(`a${BIG}`)
    expect(await whole(message.content[2]?.content ?? '')).toBe(`c${BIG}`)
    expect(await store.list()).toHaveLength(3)
  })

  it('saves the message of what is thrown, and plain data as JSON', async () => {
    const error = new Error(BIG, { cause: new Error(BIG) })
    const failing = wrapTool(
      async () => {
        throw error
      },
      { spill: store },
    )
    await expect(failing()).rejects.toBe(error)
    expect(await whole(error.message)).toBe(BIG)
    expect((error.cause as Error).message).not.toContain('saved as')
    const rows = Array.from({ length: 9_000 }, (_, at) => ({ at }))
    const listing = wrapTool({ execute: async () => rows }, { spill: store })
    expect(await whole((await listing.execute()) as unknown as string)).toBe(JSON.stringify(rows))
  })

  it('saves nothing of what fits, of partial updates and of calls that do not wait', async () => {
    const events: ClampEvent[] = []
    const policy = { spill: store, onClamp: (event: ClampEvent) => void events.push(event) }
    const small = { content: [text('short')] }
    const tool = wrapTool(
      async (_id: string, _params: object, _signal: undefined, _update: (partial: object) => void) => small,
      policy,
    )
    expect(await tool('c', {}, undefined, () => {})).toBe(small)
    const updating = wrapTool(
      {
        execute: async (
          _id: string,
          _params: object,
          _signal: undefined,
          update: (partial: object) => void,
        ) => {
          update({ content: [text(BIG)] })
          return small
        },
      },
      policy,
    )
    await updating.execute('c', {}, undefined, () => {})
    expect(wrapTool(() => BIG, policy)()).toMatch(/; ask for less, or for specific sections\]/)
    expect(await store.list()).toEqual([])
    expect(events.map(({ phase }) => phase)).toEqual(['update', 'result'])
    await wrapTool(async () => BIG, policy)()
    expect(events).toHaveLength(3)
  })

  it('saves the output of one call once, however often it is turned into a message', async () => {
    const tool = wrapTool(
      {
        execute: async () => ({ text: BIG }),
        toModelOutput: async ({ output }: { toolCallId: string; output: { text: string } }) => ({
          type: 'text',
          value: output.text,
        }),
      },
      { spill: store },
    )
    const output = await tool.execute()
    const [first, second, other] = [
      await tool.toModelOutput({ toolCallId: 'c1', output }),
      await tool.toModelOutput({ toolCallId: 'c1', output }),
      await tool.toModelOutput({ toolCallId: 'c2', output }),
    ]
    expect(await whole(first.value)).toBe(BIG)
    expect(second).toEqual(first)
    expect(other).not.toEqual(first)
    expect(await store.list()).toHaveLength(2)
    // A sweep, of this process or another, may have removed it since.
    for (const { path } of await store.list()) rmSync(path)
    const again = await tool.toModelOutput({ toolCallId: 'c1', output })
    // The same output of the same call has the same id.
    expect(again).toEqual(first)
    expect(await whole(again.value)).toBe(BIG)
  })

  it('saves a text that quotes the notice of another output', async () => {
    const lines = (word: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${word} number ${at} of many\n`).join('')
    for (const reference of ['id', 'path'] as const) {
      const own = createSpillStore({ dir: join(dir, reference), reference })
      const run = (text: string, maxBytes = 20_000) => wrapTool(async () => text, { spill: own, maxBytes })()
      const other = lines('output', 30_000)
      const cut = await run(other)
      const [, name = ''] = /full output saved as ([^\s,]+),/.exec(cut) ?? []
      const quoted = `[... 5000 more characters truncated]\n[Full output: ${name}]`
      const logs = [
        `${lines('of a session', 3_000)}${quoted}`,
        `${quoted}\n${lines('of a session', 3_000)}`,
        `${lines('of a session', 3_000)}\n${cut}`,
        `${cut}\n${lines('of a session', 3_000)}`,
        `${lines('of a session', 1_500)}${quoted}\n${lines('of a session', 1_500)}`,
      ]
      for (const [at, log] of logs.entries()) {
        const shown = await run(log)
        // The last notice is ours.
        const named = [...shown.matchAll(/full output saved as ([^\s,]+)/g)].at(-1)?.[1] ?? ''
        expect(named, `${at} of ${reference}`).not.toBe(name)
        const id = named.slice(named.lastIndexOf('/') + 1).slice(0, 16)
        expect((await own.read(id, { maxBytes: 1e6 })).text).toBe(log)
      }
      // What is cut again is a part.
      const again = await run(cut, 3_000)
      expect(again).toContain(name)
      expect(await own.list()).toHaveLength(1 + logs.length)
    }
  })

  it('knows what a capture kept, however it was kept', { tags: 'long' }, async () => {
    const keeps = ['auto', 'findings', 'relevant', 'head', 'tail', 'ends'] as const
    for (const [nth, keep] of keeps.entries())
      for (const streams of ['merged', 'separate'] as const)
        for (const [maxChars, clean] of [
          [1_500, true],
          [30_000, true],
          [150_000, false],
        ] as const) {
          const own = createSpillStore({ dir: join(dir, `${nth}${streams}${maxChars}`), reference: 'id' })
          const policy = { keep, maxChars, maxBytes: 1e6, maxLines: 1e6, spill: own }
          const capture = new OutputCapture({ ...policy, streams, clean, redact: true })
          for (let at = 0; at < 8_000; at++) {
            const stream = at % 3 === 0 || at > 7_900 ? capture.stderr : capture.stdout
            stream.write(
              `\x1b[3${at % 7}mpart\x1b[0m ${at} of it, é${at === 400 ? ' error: failed' : ''}\r\n`,
            )
          }
          const { text } = await capture.finish({ exitCode: 1 })
          const shown = await wrapTool(async () => text, { ...policy, maxChars: 1_200 })()
          expect(shown.length).toBeLessThanOrEqual(1_200)
          expect(await own.list(), `${keep} ${streams} ${maxChars}`).toHaveLength(1)
        }
  })

  it('gives two tools under one call id the same ids in any order', async () => {
    const ids = async (...names: readonly string[]) => {
      const own = createSpillStore({
        dir: join(dir, names.join('')),
        reference: 'id',
        secret: 'x'.repeat(16),
      })
      const shown: Record<string, string> = {}
      for (const name of names) {
        const tool = wrapTool({ name, execute: async (_: object, __: object) => BIG }, { spill: own })
        shown[name] = await tool.execute({}, { toolCallId: 'c1' })
      }
      return shown
    }
    expect(await ids('bash', 'read')).toEqual(await ids('read', 'bash'))
  })

  it('clamps all the same when the whole cannot be saved, and says why', async () => {
    const broken = {
      ...store,
      save: async () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })),
    }
    const shown = await wrapTool(async () => BIG, { spill: broken as SpillStore })()
    expect(shown).toMatch(/the rest could not be saved \(ENOSPC\); ask for less, /)
    expect(shown.length).toBeLessThanOrEqual(51_200)
    const small = createSpillStore({ dir: join(dir, 'small'), maxFileBytes: 1_000 })
    expect(await wrapTool(async () => BIG, { spill: small })()).toMatch(
      /the start of it saved as \S+, read or search it there\]/,
    )
    expect(() => wrapTool(async () => BIG, { spill: {} as SpillStore })).toThrow(
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringContaining('spill') }),
    )
  })

  it('tells templates and functions where the whole is', async () => {
    const named = wrapTool(async () => BIG, {
      spill: store,
      keep: 'head',
      notice: '[{omittedChars} chars are in {saved}]',
    })
    expect(await named()).toMatch(/\[\d+ chars are in \S+\]$/)
    const told: (string | undefined)[] = []
    const worded = wrapTool(async () => BIG, { spill: store, notice: (cut) => `<${told.push(cut.saved)}>` })
    await worded()
    expect(told.at(-1)).toContain(dir)
  })

  describe('where only lines are cut inside', () => {
    const LONG = 'x'.repeat(3_000)
    const page = `first\n${LONG}\nlast\n`
    const policy = () => ({ spill: store, maxLineBytes: 300 })

    it('keeps the rest, and says where the whole is', async () => {
      const shown = await wrapTool(async () => page, policy())()
      expect(shown).toMatch(
        /^first\nx{287}\[\+2713 chars\]\nlast\n\n\[tool output truncated: 2,714 of 3,012 chars omitted \(limit 300B a line\); full output saved as \S+, read or search it there\]$/,
      )
      expect(await whole(shown)).toBe(page)
      const again = wrapTool(async () => shown, policy())
      expect(await again()).toBe(shown)
      expect(clampResult(shown, { maxLineBytes: 300, clean: true })).toBe(shown)
      expect(await store.list()).toHaveLength(1)
      for (const keep of ['head', 'tail', 'ends', 'findings'] as const) {
        const kept = await wrapTool(async () => page, { ...policy(), keep })()
        expect(kept).toContain('first\nxxx')
        expect(kept).toContain('chars]\nlast\n\n[tool output')
      }
    })

    it('says it in a short line where a line has no room for more', async () => {
      const shown = await wrapTool(async () => page, { spill: store, maxLineBytes: 150 })()
      const path = /\nlast\n\n\[Full output: (\S+)\]$/.exec(shown)?.[1] ?? ''
      expect(readFileSync(path, 'utf8')).toBe(page)
      // It stays the last when the text is cut again.
      expect(clampText(shown, { maxChars: 230, notice: 'pi', keep: 'head' })).toMatch(
        /^first\nx+\[\.\.\. \d+ more characters truncated\]\n\n\[Full output: \S+\]$/,
      )
      const narrow = await wrapTool(async () => page, { spill: store, maxLineBytes: 20 })()
      expect(narrow).toBe('first\nxxxxxxx[+2993 chars]\nlast\n')
    })

    it('leaves an end that says how to go on the last', async () => {
      const end = '[12 more lines in file. Use offset=9 to continue.]'
      const shown = await wrapTool(async () => `${page}\n${end}`, policy())()
      expect(shown).toMatch(/^first\nx+\[\+2713 chars\]\nlast\n\n\[tool output truncated: .*\]\n\n\[12 more/)
      expect(shown.endsWith(end)).toBe(true)
    })

    it('says it in the last block with cut lines', async () => {
      for (const share of ['fair', 'order', 'each'] as const) {
        const events: ClampEvent[] = []
        const tool = wrapTool(async () => ({ content: [page, page, 'short'].map(text) }), {
          ...policy(),
          share,
          onClamp: (event) => void events.push(event),
        })
        const [first, second, third] = (await tool()).content.map(({ text }) => text)
        expect(first).toBe(`first\n${'x'.repeat(287)}[+2713 chars]\nlast\n`)
        expect(second).toContain('chars]\nlast\n\n[tool output truncated: 2,714 of 3,012 chars omitted')
        expect(await whole(second ?? '')).toBe(`${page}\n${page}\nshort`)
        expect(third).toBe('short')
        const { total, kept, exceeded } = events[0] ?? {}
        expect([total?.chars, kept?.chars, exceeded]).toEqual([6_029, 602, ['lineBytes']])
      }
    })

    it('is omitted when the limits leave no room', async () => {
      const blocks = { content: [page, page].map(text) }
      for (let maxChars = 640; maxChars < 1_100; maxChars += 11) {
        const shown = await wrapTool(async () => blocks, { ...policy(), maxChars })()
        const all = shown.content.map(({ text }) => text).join('')
        expect(all.length).toBeLessThanOrEqual(maxChars)
        expect(all).toMatch(/output saved as \S+,|\[Full output: \S+\]/)
        expect(clampResult(shown, { maxLineBytes: 300, maxChars })).toBe(shown)
      }
    })

    it('says it of what is thrown and of what cannot be saved, in words of a template too', async () => {
      const failing = wrapTool(async () => {
        throw new Error(page)
      }, policy())
      const error = await failing().catch((error: Error) => error)
      expect(await whole((error as Error).message)).toBe(page)
      expect(wrapTool(() => page, policy())()).toMatch(/the rest could not be saved \(ERR_SPILLWAY_SPILL\); /)
      const named = wrapTool(async () => page, { ...policy(), notice: '<{omittedChars} more: {saved}>' })
      expect(await named()).toMatch(/\nlast\n\n<2714 more: \S+>$/)
      const silent = `first\n${'x'.repeat(287)}[+2713 chars]\nlast\n`
      for (const notice of ['pi', 'count', false, '<{omittedChars}>'] as const)
        expect(await wrapTool(async () => page, { ...policy(), notice })()).toBe(silent)
      expect(clampText(page, { maxLineBytes: 300 })).toBe(silent)
    })

    it('says it of captured output', async () => {
      for (const streams of ['merged', 'separate'] as const) {
        const capture = new OutputCapture({ ...policy(), streams })
        capture.stdout.write(page)
        const { text, truncated, spill } = await capture.finish({ exitCode: 1 })
        expect(text).toMatch(/\nlast\n\n\[tool output truncated: .*\]\n\[exit code 1\]$/)
        expect(truncated).toBe(true)
        expect(await whole(text)).toBe(page)
        expect(text).toContain(spill?.path)
      }
    })
  })
})
