import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  type ClampEvent,
  clampError,
  clampMessages,
  clampResult,
  clampText,
  clampTextWithReport,
  cleanText,
  createSpillStore,
  definePolicy,
  guardSession,
  OutputCapture,
  redactText,
  repairSession,
  sanitizeForDisplay,
  wrapTool,
} from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'
import formats from '../../src/redact/examples.json'
import { hostileText, policies } from '../support/hostile.js'
import { samples } from '../support/samples.js'

const SECRET = ['gh', 'p_', 'Fake0Fake1Fake2Fake3Fake4Fake5Fake6F'].join('')
const MARK = '[redacted: github token]'
const VALUE = ['Fake0Fake1', 'Fake2Fake3'].join('')
const redact = { redact: true }

/** Text with secrets, whole and in part, among what breaks cuts. */
const secrets = formats.flatMap(({ examples, others }) =>
  [...examples, ...others].map((parts) => parts.join('')),
)
const secretText = fc
  .array(
    fc.oneof(
      hostileText,
      fc.constantFrom(...secrets),
      fc
        .tuple(fc.constantFrom(...secrets), fc.nat(80), fc.nat(80))
        .map(([text, a, b]) => text.slice(a, a + b)),
      fc.constantFrom('password=abcdef1', '$x', '\x1b[0m', '\n'),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''))

const place = mkdtempSync(join(tmpdir(), 'spillway-redact-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))
const directory = () => mkdtempSync(join(place, 'store-'))

describe('clampText with redact', () => {
  it('is clampText of the redacted text, and a second clamp changes nothing', () => {
    fc.assert(
      fc.property(secretText, policies, fc.boolean(), (text, policy, inBytes) => {
        const given = inBytes ? Buffer.from(text) : text
        const open = inBytes ? Buffer.from(redactText(text)) : redactText(text)
        const options = { ...policy, ...redact }
        const made = clampText(given, options)
        const { text: reported, ...report } = clampTextWithReport(given, options)
        const { text: other, ...expected } = clampTextWithReport(open, policy)
        expect(report).toEqual(expected)
        expect(reported).toBe(made)
        expect(made.length).toBeLessThanOrEqual(other.length)
        expect(redactText(made)).toBe(made)
        if (made.length === other.length) expect(made).toBe(other)
        expect(clampText(made, options)).toBe(made)
      }),
      { numRuns: 2_000 },
    )
  })

  it('drops what looks like a secret only since a cut', () => {
    const text = `${'a'.repeat(20)} password=abcdef1(`
    const policy = {
      maxChars: text.length - 1,
      snap: 'char',
      keep: 'head',
      notice: false,
      ...redact,
    } as const
    expect(clampText(text, redact)).toBe(text)
    expect(clampText(`${text}.`, { ...policy, maxChars: text.length - 1 })).toBe(
      `${'a'.repeat(20)} password=`,
    )
  })
})

/** Values of JSON around a text. */
const BIG = `${'a line of output\n'.repeat(200)}token: ${SECRET}\n${'another line\n'.repeat(200)}`

describe('results with redact', () => {
  const each = samples.map((sample) => [`${sample.dialect}: ${sample.name}`, sample] as const)

  it.each(each)('%s has no secret, whether it fits or is cut', (_, { make, dialect }) => {
    for (const text of [`a ${SECRET} z`, BIG])
      for (const more of [
        {},
        { clean: true },
        { maxChars: 900 },
        { sideData: 'cap', maxChars: 900 },
      ] as const) {
        const value = make(text)
        const before = structuredClone(value)
        const policy = { ...redact, ...more, dialect }
        const made = clampResult(value, policy)
        expect(value).toEqual(before)
        expect(JSON.stringify(made)).not.toContain('Fake1')
        if (text !== BIG) expect(JSON.stringify(made)).toContain(MARK)
        expect(clampResult(made, policy)).toStrictEqual(made)
        expect(clampResult(make('no secret'), policy)).toEqual(
          clampResult(make('no secret'), { ...policy, redact: false }),
        )
        const { messages, clamped } = clampMessages([value], policy)
        expect(JSON.stringify(messages)).not.toContain('Fake1')
        expect(clamped).toBeGreaterThan(0)
        expect(JSON.stringify(sanitizeForDisplay(value, redact))).not.toContain('Fake1')
      }
  })

  it('a name may tell that its text is a secret', () => {
    const result = (apiKey: string) => ({
      content: [{ type: 'text', text: 'ok' }],
      details: { env: [{ apiKey }], accessToken: ['a', [apiKey]], keys: [apiKey, 'apiKey'] },
    })
    const told = result('[redacted: api key]')
    told.details.keys[0] = 'Fake0Fake1Fake2Fake3'
    expect(clampResult(result('Fake0Fake1Fake2Fake3'), redact)).toEqual(told)
    const same = result('none')
    expect(clampResult(same, redact)).toBe(same)
  })

  it('cleaning does not bring a secret together', () => {
    const text = `${SECRET.slice(0, 9)}\x1b[0m${SECRET.slice(9)}`
    expect(clampResult(text, { clean: true, ...redact })).toBe(MARK)
  })

  it('values that are read as they are stay: bytes, getters, cycles, proxies that throw', () => {
    const bytes = Buffer.from(SECRET)
    const cycle: { text: string; self?: unknown } = { text: SECRET }
    cycle.self = cycle
    let runs = 0
    const details = {
      bytes,
      cycle,
      get lazy() {
        runs += 1
        return SECRET
      },
      trap: new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('trap')
          },
        },
      ),
    }
    const made = clampResult({ content: [{ type: 'text', text: 'ok' }], details }, redact)
    expect(made.details.bytes).toBe(bytes)
    expect(made.details.cycle.text).toBe(MARK)
    expect(runs).toBe(0)
  })
})

describe('a wrapped tool with redact', () => {
  it('redacts results, partial updates, data, thrown errors and saved outputs', async () => {
    const dir = directory()
    const updates: unknown[] = []
    const events: ClampEvent[] = []
    const policy = {
      ...redact,
      maxChars: 2_000,
      spill: createSpillStore({ dir }),
      onClamp: (event: ClampEvent) => events.push(event),
    }
    const tool = wrapTool(
      {
        name: 'shell',
        execute: async (
          _id: string,
          { how }: { how: string },
          _signal?: unknown,
          onUpdate?: (part: unknown) => void,
        ) => {
          onUpdate?.({ content: [{ type: 'text', text: `so far ${SECRET}` }] })
          if (how === 'throw')
            throw Object.assign(new Error(BIG), {
              config: { headers: { Authorization: `Bearer ${SECRET}` } },
              cause: new Error(SECRET),
            })
          return how === 'data'
            ? { rows: [SECRET] }
            : { content: [{ type: 'text', text: BIG }], details: { BIG } }
        },
      },
      policy,
    )
    const made = await tool.execute('1', { how: 'text' }, undefined, (part) => updates.push(part))
    expect(await tool.execute('2', { how: 'data' })).toEqual({ rows: [MARK] })
    const thrown = await tool.execute('3', { how: 'throw' }).catch((error: unknown) => error)
    const { message, stack, cause, config } = thrown as Error & { config: object }
    const told = JSON.stringify([
      made,
      updates,
      message,
      stack,
      (cause as Error).message,
      (cause as Error).stack,
      config,
    ])
    expect(told).not.toContain('Fake1')
    expect(config).toEqual({ headers: { Authorization: 'Bearer [redacted: authorization header]' } })
    expect(updates).toEqual([{ content: [{ type: 'text', text: `so far ${MARK}` }] }])
    const saved = readdirSync(dir).map((file) => readFileSync(join(dir, file), 'utf8'))
    expect(saved.filter((text) => text.includes(MARK))).toHaveLength(2)
    expect(saved.join()).not.toContain('Fake1')
    const { length } = redactText(BIG)
    const cuts = events.filter(({ action }) => action === 'cut')
    expect(cuts).toMatchObject([{ total: { chars: length } }, { total: { chars: length } }])
    // One for each value with a secret: an update, a result, data, and an error.
    const redacted = events.filter(({ action }) => action === 'redacted')
    expect(redacted.map(({ callId, phase }) => [callId, phase])).toEqual([
      ['1', 'update'],
      ['1', 'result'],
      [undefined, 'result'],
      [undefined, 'error'],
    ])
  })

  it('that only observes leaves a thrown error as it is', async () => {
    const error = new Error(SECRET)
    const spill = createSpillStore({ dir: directory() })
    const execute = async () => Promise.reject(error)
    const tool = wrapTool({ execute }, { ...redact, observe: true, spill })
    expect(await tool.execute().catch((thrown: unknown) => thrown)).toBe(error)
    expect(error.message).toBe(SECRET)
  })

  it('that is wrapped again redacts what either policy names', () => {
    const tool = { execute: () => `${SECRET} password=fake-pass-1 T-12` }
    const ticket = { kind: 'ticket', pattern: 'T-[0-9]+' }
    const once = wrapTool(tool, { redact: { kinds: ['github token'] } })
    expect(wrapTool(once, {}).execute()).toBe(`${MARK} password=fake-pass-1 T-12`)
    expect(wrapTool(once, { redact: false }).execute()).toBe(`${MARK} password=fake-pass-1 T-12`)
    const both = wrapTool(once, { redact: { kinds: ['password'], patterns: [ticket] } })
    expect(both.execute()).toBe(`${MARK} password=[redacted: password] [redacted: ticket]`)
  })

  it('a policy is checked when it is defined', () => {
    expect(() => definePolicy({ redact: { kinds: ['x'] } })).toThrow(/^redact\.kinds\[0\] must be/)
    expect(() => definePolicy({ redact: 'yes' as never })).toThrow(/^redact must be true, false or an object/)
    expect(() => definePolicy({ redact: { kind: [] } as never })).toThrow(/^unknown option `redact\.kind`/)
  })
})

it('clampError with redact changes the error in place', () => {
  const error = Object.assign(new TypeError(`no access with ${SECRET}`), { errors: [new Error(SECRET)] })
  expect(clampError(error, redact)).toBe(error)
  expect(error.message).toBe(`no access with ${MARK}`)
  expect(error.stack).toContain(MARK)
  expect(`${error.stack}${error.errors[0]?.message}${error.errors[0]?.stack}`).not.toContain('Fake1')
})

describe('a capture with redact', () => {
  it('is the redacted text under the limits, for any chunks', async () => {
    const run = async (text: string, sizes: number[], clean: boolean) => {
      const dir = directory()
      const limits = { maxChars: 500, keep: 'ends', notice: 'pi', ...redact } as const
      const capture = new OutputCapture({ ...limits, clean, spill: createSpillStore({ dir }) })
      const bytes = Buffer.from(text)
      for (let at = 0, nth = 0; at < bytes.length; nth++) {
        const end = at + (sizes[nth % sizes.length] ?? 1)
        capture.stdout.write(bytes.subarray(at, end))
        at = end
      }
      const { text: made } = await capture.finish()
      const files = readdirSync(dir).filter((file) => file !== 'key')
      const saved = files.map((file) => readFileSync(join(dir, file)))
      // Each directory has a secret of its own, and so another name.
      return { made: files.reduce((text, file) => text.replace(join(dir, file), 'SAVED'), made), saved }
    }
    await fc.assert(
      fc.asyncProperty(
        secretText,
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (text, sizes, clean) => {
          const whole = await run(text, [1e9], clean)
          const parts = await run(text, sizes, clean)
          expect(parts.made).toBe(whole.made)
          expect(parts.saved).toEqual(whole.saved)
          for (const saved of parts.saved) expect(saved).toEqual(Buffer.from(redactText(text.toWellFormed())))
          const open = redactText(clean ? cleanText(text.toWellFormed()) : text.toWellFormed())
          if (open.length <= 500) expect(parts.made).toBe(open)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('keeps a secret off snapshots', () => {
    const capture = new OutputCapture(redact)
    capture.stdout.write(`one ${SECRET.slice(0, 20)}`)
    capture.stdout.write(`${SECRET.slice(20)} two`)
    expect(capture.snapshot().text).toBe(`one ${MARK} two`)
  })
})

describe('sessions with redact', () => {
  const rows = (text: string) => [
    { type: 'session', version: 3, id: 's' },
    { type: 'message', id: '1', message: { role: 'user', content: `mine: ${SECRET}` } },
    {
      type: 'message',
      id: '2',
      message: {
        role: 'toolResult',
        toolCallId: 'c',
        toolName: 't',
        content: [{ type: 'text', text }],
        details: {
          password: 'fake-pass-1',
          tokens: { accessToken: ['Fake0Fake1Fake2Fake3'] },
          held: { apiKey: { value: VALUE } },
          env: [{ Name: 'GITHUB_TOKEN', value: [VALUE] }],
          headers: [
            ['x-api-key', VALUE],
            ['host', 'db', 'X-Api-Key', VALUE],
          ],
          raw: text,
        },
      },
    },
  ]

  it('repairSession redacts stored results and their side data, once', async () => {
    for (const text of [`key ${SECRET}`, BIG]) {
      const path = join(directory(), 'session.jsonl')
      const made = rows(text)
      writeFileSync(path, made.map((row) => `${JSON.stringify(row)}\n`).join(''))
      const policy = { ...redact, maxChars: 1_000, sideData: 'whole', aggregate: { maxChars: 900 } } as const
      expect(await repairSession(path, { ...policy, backup: false })).toMatchObject({ changed: true })
      const [, user, result] = readFileSync(path, 'utf8').trim().split('\n')
      expect(user).toContain(SECRET)
      expect(result).not.toContain('Fake1')
      expect(JSON.parse(result ?? '').message.details).toEqual({
        password: '[redacted: password]',
        tokens: { accessToken: ['[redacted: api key]'] },
        held: { apiKey: { value: '[redacted: api key]' } },
        env: [{ Name: 'GITHUB_TOKEN', value: ['[redacted: api key]'] }],
        headers: [
          ['x-api-key', '[redacted: api key]'],
          ['host', 'db', 'X-Api-Key', '[redacted: api key]'],
        ],
        raw: redactText(text),
      })
      expect(await repairSession(path, policy)).toMatchObject({ changed: false, reason: 'nothing to do' })
      const { messages } = clampMessages([made[2]?.message], { ...redact, maxChars: 1_000 })
      if (text !== BIG) expect(JSON.parse(result ?? '').message).toEqual(messages[0])
    }
  })

  it('guardSession redacts results as they are appended, and no other message', () => {
    const written: unknown[] = []
    const manager = { appendMessage: (message: unknown) => written.push(message) }
    guardSession(manager, redact)
    for (const { message } of rows(`key ${SECRET}`)) if (message) manager.appendMessage(message)
    expect(written[0]).toEqual({ role: 'user', content: `mine: ${SECRET}` })
    expect(JSON.stringify(written[1])).not.toMatch(/Fake1|fake-pass/)
    expect(JSON.stringify(written[1])).toContain(`key ${MARK}`)
  })
})
