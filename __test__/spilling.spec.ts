import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClampEvent, createSpillStore, type SpillStore, spillTool, wrapTool, wrapTools } from 'spillway'
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

  /** Runs a tool of which one result is cut, and reads what the notice names. */
  const whole = async (shown: string) =>
    readFileSync(/full output saved as (\S+), read/.exec(shown)?.[1] ?? '', 'utf8')

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
    // What a model reads there is not saved a second time.
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
    expect(again).not.toEqual(first)
    expect(await whole(again.value)).toBe(BIG)
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
      /the start of it saved as \S+, read or search it there or with read_output\]/,
    )
    expect(() => wrapTool(async () => BIG, { spill: {} as SpillStore })).toThrow(
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringContaining('spill') }),
    )
  })

  it('tells templates and functions where the whole is', async () => {
    const named = wrapTool(async () => BIG, { spill: store, notice: '[{omittedChars} chars are in {saved}]' })
    expect(await named()).toMatch(/\[\d+ chars are in \S+\]$/)
    const told: (string | undefined)[] = []
    const worded = wrapTool(async () => BIG, { spill: store, notice: (cut) => `<${told.push(cut.saved)}>` })
    await worded()
    expect(told.at(-1)).toContain(dir)
  })
})
