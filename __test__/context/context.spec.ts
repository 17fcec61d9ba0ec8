import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { type ContextOptions, createContext, precheck, type SpillRecord, type SpillStore } from 'spillway'
import { describe, expect, it } from 'vitest'
import { frozen, grown, isAnswer } from '../support/grown_histories.js'
import { hostileText } from '../support/hostile.js'
import { broken, dialects, faults, soundHistories } from '../support/pair_histories.js'
import { refusal } from '../support/provider_rules.js'

const MARGIN = 1.1
/** Tokens of a window into which each of these histories fits, once its results are gone. */
const ENOUGH = 2_500

const tokensOf = (messages: readonly unknown[], safetyMargin = 1) =>
  precheck({ messages, contextTokens: 1e9, reserveTokens: 0, safetyMargin }).estimatedTokens

/** A store in memory, whose ids depend on call and text. */
function memory() {
  const texts = new Map<string, string>()
  const store = {
    reference: 'id',
    save: async (text: string, { callId = '' } = {}) => {
      const id = createHash('sha256').update(`${callId} ${text}`).digest('hex').slice(0, 16)
      texts.set(id, text)
      return { id, path: `/${id}`, complete: true } as unknown as SpillRecord
    },
    read: async () => ({ text: '', totalBytes: 1 }),
  } as unknown as SpillStore
  return { store, texts }
}

/** Everything that a model can read: the messages, and the saved outputs that they name. */
function readable(messages: readonly unknown[], texts: ReadonlyMap<string, string>): string {
  const shown = [JSON.stringify(messages)]
  const seen = new Set<string>()
  for (const text of shown)
    for (const [id] of text.matchAll(/[0-9a-f]{16}/g)) {
      const saved = seen.has(id) ? undefined : texts.get(id)
      seen.add(id)
      if (saved !== undefined) shown.push(saved, JSON.stringify(saved))
    }
  return shown.join('\n')
}

const settings = fc.record({
  contextTokens: fc.constantFrom(ENOUGH, 6_000, 40_000),
  reserveTokens: fc.constantFrom(0, 500),
  keep: fc.constantFrom(
    undefined,
    { type: 'tool_uses', value: 1 } as const,
    { type: 'input_tokens', value: 800 } as const,
  ),
  prices: fc.constantFrom(undefined, { read: 1, write: 1 }, { write: 1, read: 0.25 }),
  requestsToCome: fc.constantFrom(undefined, 1, 50),
})
const sizes = fc.array(fc.constantFrom(0, 1, 5, 40, 200, 700), { minLength: 1, maxLength: 8 })

/** The histories before each answer of the model. */
function requests(all: readonly object[]): object[][] {
  return all
    .flatMap((message, at) => (at > 0 && isAnswer(message) && !isAnswer(all[at - 1]) ? at : []))
    .concat(all.length)
    .map((end) => all.slice(0, end))
}

/** The beginning of an image of 1,092 by 1,092 pixels. */
const PNG = Buffer.from('89504e470d0a1a0a0000000d494844520000044400000444080200000000000000', 'hex')

/** A call and its result, as Anthropic writes them. */
function round(n: number, { text, image, argument }: { text: string; image?: object; argument?: string }) {
  const input = { path: `src/${n}.ts`, ...(argument && { argument }) }
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id: `c${n}`, name: 'read', input }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `c${n}`, content: image ? [image] : text }],
    },
  ]
}

function resultsOf(message: object): { id: string; text: string }[] {
  const { content } = message as { content: { tool_use_id?: string; content: string }[] }
  return content.flatMap(({ tool_use_id: id, content: text }) => (id === undefined ? [] : { id, text }))
}

/** Changes the first long text in a value. */
function touch(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, member]) => {
    if (typeof member !== 'string' || member.length < 20) return touch(member)
    return Reflect.set(value, name, `${member} changed`)
  })
}

describe('createContext', () => {
  it.each(dialects)('holds the window and keeps pairs, prefix and names: $name', async (dialect) => {
    let cleared = 0
    await fc.assert(
      fc.asyncProperty(
        soundHistories(dialect),
        sizes,
        settings,
        fc.boolean(),
        async (sound, lines, given, saves) => {
          const all = frozen(grown(sound, lines)) as object[]
          const { store, texts } = memory()
          const options: ContextOptions = { ...given, ...(saves && { spill: store }) }
          const context = createContext(options)
          let before: readonly unknown[] = []
          for (const messages of requests(all)) {
            const state = JSON.parse(JSON.stringify(context.state)) as object
            expect(state).toEqual(context.state)
            const made = await context.prepare(messages)
            expect(made.fits).toBe(true)
            expect(made.estimatedTokens).toBeLessThanOrEqual(given.contextTokens)
            expect(tokensOf(made.messages, MARGIN)).toBeLessThanOrEqual(given.contextTokens)
            if (!refusal(dialect.dialect, messages))
              expect(refusal(dialect.dialect, made.messages)).toBeUndefined()
            if (made.cleared === 0) expect(made.messages.slice(0, before.length)).toEqual(before)
            before = made.messages
            cleared += made.cleared
            // Another process decides the same, and a second call nothing new.
            const other = await createContext({ ...options, state }).prepare(structuredClone(messages))
            expect(other).toEqual(made)
            const again = await context.prepare(messages)
            expect([again.cleared, again.messages]).toEqual([0, made.messages])
            if (saves) {
              const shown = readable(made.messages, texts)
              for (const [line] of JSON.stringify(messages).matchAll(/what \w+ call_\d+ returned/g))
                expect(shown).toContain(line)
            }
          }
        },
      ),
      { numRuns: 200 },
    )
    expect(cleared).toBeGreaterThan(0)
  })

  it.each(dialects)('goes on with a history that changed as another process does: $name', {
    tags: 'long',
  }, async (dialect) => {
    const changes = fc.record({
      kind: fc.constantFrom('more', 'more', 'one changed', 'one less', 'sent changed'),
      nth: fc.nat(40),
    })
    await fc.assert(
      fc.asyncProperty(
        soundHistories(dialect),
        sizes,
        settings,
        fc.array(changes, { minLength: 1, maxLength: 8 }),
        async (sound, lines, given, all) => {
          const later = grown(sound, lines)
          const history = later.splice(0, later.length >> 1)
          const options: ContextOptions = { ...given, spill: memory().store }
          const context = createContext(options)
          let sent: readonly object[] = []
          for (const { kind, nth } of all) {
            if (kind === 'more') history.push(...later.splice(0, 2))
            if (kind === 'one less') history.splice(nth % Math.max(1, history.length), 1)
            if (kind === 'one changed') touch(history[nth % Math.max(1, history.length)])
            if (kind === 'sent changed') touch(sent[nth % Math.max(1, sent.length)])
            const state = JSON.parse(JSON.stringify(context.state)) as object
            const made = await context.prepare(history)
            expect(await createContext({ ...options, state }).prepare(structuredClone(history))).toEqual(made)
            sent = made.messages
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  it('looks at a result a few times, however many requests follow', { tags: 'long' }, async () => {
    let asked = 0
    const placeholder = ({ advice }: { advice: string }) => {
      asked += 1
      return `gone; ${advice}`
    }
    const context = createContext({ contextTokens: 100_000, placeholder })
    const history: object[] = []
    for (let n = 0; n < 200; n++) {
      history.push(...round(n, { text: `${n} line\n`.repeat(100) }))
      await context.prepare(history)
    }
    expect(asked).toBeLessThanOrEqual(2 * 200)
  })

  it('has a result whose twin is gone name its saved output', { tags: 'long' }, async () => {
    const { store, texts } = memory()
    const context = createContext({ contextTokens: 12_000, reserveTokens: 0, spill: store })
    const history: object[] = []
    const shown = (n: number) => `${Math.floor(n / 9)} of all\n`.repeat(100)
    let [repeats, references] = [0, 0]
    for (let n = 0; n < 120; n++) {
      history.push(...round(n, { text: n % 3 === 0 ? shown(n) : `${n} line\n`.repeat(300) }))
      const { messages } = await context.prepare(history)
      const left = new Map(messages.flatMap(resultsOf).map(({ id, text }) => [id, text]))
      for (const [id, text] of left) {
        const nth = Number(id.slice(1))
        if (nth % 3 !== 0 || text === shown(nth)) continue
        const of = /^\[same output as the earlier result of call (c\d+)\]$/.exec(text)?.[1]
        if (of) repeats += 1
        else references += 1
        if (of) expect(left.get(of)).toBe(shown(nth))
        else expect(readable([text], texts)).toContain(shown(nth))
      }
    }
    expect(repeats).toBeGreaterThan(0)
    expect(references).toBeGreaterThan(0)
  })

  it('omits screenshots with their rounds, and counts what it sends', async () => {
    const context = createContext({ contextTokens: 4_000, reserveTokens: 0 })
    const data = Buffer.concat([PNG, Buffer.alloc(300)]).toString('base64')
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
    const history: object[] = [{ role: 'user', content: 'Look at all.' }]
    let omitted = 0
    for (let n = 0; n < 80; n++) {
      history.push(...round(n, { text: `${n} line\n`.repeat(60), ...(n % 4 === 1 && { image }) }))
      const made = await context.prepare(history)
      expect(made.estimatedTokens).toBe(tokensOf(made.messages, MARGIN))
      if (/earlier tool calls omitted/.test(JSON.stringify(made.messages))) omitted += 1
    }
    expect(omitted).toBeGreaterThan(0)
  })

  it('keeps arguments cleared where rounds are omitted', async () => {
    const context = createContext({ contextTokens: 6_000, reserveTokens: 0 })
    const history: object[] = []
    let omitted = 0
    for (let n = 0; n < 120; n++) {
      history.push(...round(n, { text: `${n} line\n`.repeat(60), argument: `${n} word `.repeat(100) }))
      const { messages } = await context.prepare(history)
      const holder = messages.findIndex((one) => /earlier tool calls omitted/.test(JSON.stringify(one)))
      if (holder < 0) continue
      omitted += 1
      expect(JSON.stringify(messages.slice(0, holder))).not.toMatch(/(\d+ word ){90}/)
    }
    expect(omitted).toBeGreaterThan(0)
  })

  it('never throws for content, and pairs what is broken', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc
          .constantFrom(...dialects)
          .chain((dialect) => fc.tuple(fc.constant(dialect), soundHistories(dialect), faults, sizes)),
        hostileText,
        async ([dialect, sound, all, lines], text) => {
          const { messages } = broken(dialect, grown(sound, lines), all)
          const strange = [...messages, text, null, { role: 'tool', content: text }, Object.create(null)]
          const context = createContext({ contextTokens: 3_000 })
          await context.prepare(messages)
          await context.prepare(strange, { system: text, tools: [{ description: text }] })
          expect(typeof (await context.refused(text))).toBe('boolean')
        },
      ),
      { numRuns: 300 },
    )
  })

  it.each(dialects)('sees a refusal once, and always ends: $name', { tags: 'long' }, async (dialect) => {
    await fc.assert(
      fc.asyncProperty(
        soundHistories(dialect),
        sizes,
        fc.constantFrom('in numbers', 'without numbers', 'any'),
        async (sound, lines, how) => {
          const all = grown(sound, lines) as object[]
          const context = createContext({ contextTokens: 60_000, reserveTokens: 0 })
          let [sends, refused] = [0, 0]
          const send = (messages: object[]) => {
            sends += 1
            const tokens = tokensOf(messages)
            if (how !== 'any' && tokens <= ENOUGH) return tokens
            refused += 1
            const figures = how === 'in numbers' ? `: ${tokens} tokens > ${ENOUGH} maximum` : ''
            throw Object.assign(new Error(`prompt is too long${figures}`), { status: 400 })
          }
          for (const messages of requests(all)) {
            const start = sends
            const answer = await context.run(messages, send).catch((error: Error) => error)
            expect(sends - start).toBeLessThan(30)
            if (how !== 'any') expect(answer).toBeLessThanOrEqual(ENOUGH)
            else expect(answer).toBeInstanceOf(Error)
          }
          if (how === 'in numbers') expect(refused).toBeLessThanOrEqual(1)
        },
      ),
      { numRuns: 100 },
    )
  })

  it('redacts results before it sends or saves them, and what it saves of calls', async () => {
    const secret = `ghp${'_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'}`
    for (const clears of [false, true]) {
      const { store, texts } = memory()
      const context = createContext({
        contextTokens: clears ? 4_000 : 200_000,
        reserveTokens: 0,
        policy: { redact: true },
        spill: store,
      })
      const rounds = Array.from({ length: 20 }, (_, n) =>
        round(n, { text: `TOKEN=${secret}\n${`row ${n}\n`.repeat(200)}`, argument: `${secret} `.repeat(20) }),
      ).flat()
      const { messages, cleared } = await context.prepare(rounds)
      if (clears) expect([cleared, texts.size].map(Math.sign)).toEqual([1, 1])
      const results = messages.flatMap((message) => resultsOf(message))
      expect(results.map(({ text }) => text).join('\n')).not.toContain(secret)
      expect([...texts.values()].join('\n')).not.toContain(secret)
      expect(JSON.stringify(await context.prepare(rounds))).toBe(
        JSON.stringify({ ...(await context.prepare(rounds)), messages }),
      )
    }
  })

  it('reports a cleared result once, also where it then tells of omitted rounds', async () => {
    const told: string[] = []
    const listen = (event: unknown) => told.push(String((event as { callId?: string }).callId))
    subscribe('spillway:clamp', listen)
    try {
      const context = createContext({ contextTokens: 3_000, reserveTokens: 0, spill: memory().store })
      const rounds = Array.from({ length: 30 }, (_, n) => round(n, { text: `row ${n}\n`.repeat(300) })).flat()
      const { messages } = await context.prepare(rounds)
      expect(JSON.stringify(messages)).toMatch(/earlier tool calls omitted/)
      expect(told.length).toBeGreaterThan(0)
      expect(new Set(told).size).toBe(told.length)
    } finally {
      unsubscribe('spillway:clamp', listen)
    }
  })

  it('goes on in another process with the same bytes', async () => {
    const call = (n: number) => ({
      role: 'assistant',
      tool_calls: [{ id: `c${n}`, type: 'function', function: { name: 'read', arguments: '{}' } }],
    })
    const history = Array.from({ length: 60 }, (_, n) => [
      call(n),
      { role: 'tool', tool_call_id: `c${n}`, content: `${n} of it\n`.repeat(900) },
    ]).flat()
    const options = { contextTokens: 40_000, reserveTokens: 4_000 }
    const context = createContext(options)
    for (let end = 2; end < history.length; end += 2) await context.prepare(history.slice(0, end))
    const given = JSON.stringify({ options: { ...options, state: context.state }, history })
    const script = `
      const { createContext } = require('spillway')
      const { options, history } = JSON.parse(require('fs').readFileSync(0, 'utf8'))
      createContext(options).prepare(history).then((made) => console.log(JSON.stringify(made)))`
    const root = join(__dirname, '../..')
    const there = execFileSync(process.execPath, ['-e', script], {
      cwd: root,
      input: given,
      encoding: 'utf8',
    })
    expect(JSON.parse(there)).toEqual(JSON.parse(JSON.stringify(await context.prepare(history))))
  })

  it('passes other errors through', async () => {
    const context = createContext({ contextTokens: 10_000 })
    const error = Object.assign(new Error('invalid api key'), { status: 401 })
    await expect(context.run([{ role: 'user', content: 'x' }], () => Promise.reject(error))).rejects.toBe(
      error,
    )
  })

  it.each([
    ['a string', '[gone]', '[gone] [call the tool again if you need it]'],
    [
      'a function',
      ({ tool, advice }: { tool?: string; advice: string }) => `(${tool}: ${advice})`,
      '(read: call the tool again if you need it)',
    ],
  ] as const)('writes %s in place of a result', async (_, placeholder, text) => {
    const turn = (n: number) => [
      {
        role: 'assistant',
        tool_calls: [{ id: `c${n}`, type: 'function', function: { name: 'read', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: `c${n}`, content: `${n} line\n`.repeat(2_000) },
    ]
    const context = createContext({ contextTokens: 20_000, reserveTokens: 0, placeholder })
    const { messages } = await context.prepare([0, 1, 2, 3, 4, 5].flatMap(turn))
    expect(messages[1]).toMatchObject({ content: text })
  })

  it.each([
    [{}, 'contextTokens'],
    [{ contextTokens: -1 }, 'contextTokens'],
    [{ contextTokens: 1, reserveTokens: '1' }, 'reserveTokens'],
    [{ contextTokens: 1, keep: { type: 'chars', value: 1 } }, 'keep.type'],
    [{ contextTokens: 1, spill: {} }, 'spill'],
    [{ contextTokens: 1, placeholder: 5 }, 'placeholder'],
    [{ contextTokens: 1, state: { results: {} } }, 'state'],
    [{ contextTokens: 1, contextToken: 1 }, 'contextToken'],
  ])('refuses %j', (options, field) => {
    expect(() => createContext(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringContaining(field) }),
    )
  })
})
