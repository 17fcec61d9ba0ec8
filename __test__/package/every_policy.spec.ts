import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import type { WrapPolicy } from 'spillway'
import * as spillway from 'spillway'
import ts from 'typescript'
import { afterAll, describe, expect, it } from 'vitest'
import formats from '../../src/redact/examples.json'

/** Returns the names in index.d.ts of what takes an option, at any place of its parameters. */
function takersOf(option: string): string[] {
  const file = join(__dirname, '../../index.d.ts')
  const program = ts.createProgram([file], { strict: true, types: ['node'] })
  const checker = program.getTypeChecker()
  const module = checker.getSymbolAtLocation(program.getSourceFile(file) as ts.SourceFile) as ts.Symbol
  const takes = (type: ts.Type): boolean =>
    type.isUnion() ? type.types.some(takes) : checker.getPropertyOfType(type, option) !== undefined
  const isTaker = (symbol: ts.Symbol) => {
    const type = checker.getTypeOfSymbol(symbol)
    const all = [...type.getCallSignatures(), ...type.getConstructSignatures()]
    return all.some(({ parameters }) =>
      parameters.some((parameter) => takes(checker.getTypeOfSymbol(parameter))),
    )
  }
  return checker
    .getExportsOfModule(module)
    .filter((symbol) => symbol.flags & ts.SymbolFlags.Value && isTaker(symbol))
    .map(({ name }) => name)
    .sort()
}

/** A result, with the text in its side data if that is redacted. */
const result = (text: string, { redact }: WrapPolicy = {}) => ({
  role: 'toolResult',
  toolCallId: '1',
  toolName: 'read',
  content: [{ type: 'text', text }],
  ...(redact && { details: { note: text } }),
})
const place = mkdtempSync(join(tmpdir(), 'spillway-policy-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))
const directory = () => mkdtempSync(join(place, 'store-'))
const contentsOf = (dir: string) =>
  readdirSync(dir).map((name) => `${name}\n${readFileSync(join(dir, name), 'utf8')}`)

async function all(steps: AsyncIterable<unknown>): Promise<unknown[]> {
  const values: unknown[] = []
  for await (const value of steps) values.push(value)
  return values
}

async function thrownBy(run: () => unknown): Promise<unknown> {
  try {
    return await run()
  } catch (error) {
    return error
  }
}

/** Whatever shows a text under a policy: a model, an event, a report, a file. */
const ways: Record<string, (text: string, policy: WrapPolicy) => unknown> = {
  definePolicy: (_, policy) => spillway.definePolicy(policy),
  clampText: (text, policy) => [
    spillway.clampText(text, policy),
    spillway.clampText(Buffer.from(text), policy),
  ],
  clampTextWithReport: (text, policy) => spillway.clampTextWithReport(text, policy),
  clampJson: (text, policy) => [
    spillway.clampJson(text, policy),
    spillway.clampJson(Buffer.from(text), policy),
  ],
  clampJsonWithReport: (text, policy) => spillway.clampJsonWithReport(text, policy),
  clampResult: (text, policy) =>
    [text, result(text, policy), { content: [{ type: 'text', text }] }].map((value) =>
      spillway.clampResult(value, policy),
    ),
  clampTextAsync: (text, policy) => spillway.clampTextAsync(text, policy),
  clampResultAsync: async (text, policy) => {
    const values = [text, result(text, policy), { content: [{ type: 'text', text }] }]
    return Promise.all(values.map((value) => spillway.clampResultAsync(value, policy)))
  },
  clampError: (text, policy) => [
    spillway.clampError(new Error(text), policy),
    spillway.clampError(text, policy),
    spillway.clampError(new Error('x', { cause: new Error(text) }), policy),
  ],
  clampMessages: (text, policy) =>
    spillway.clampMessages([result(text, policy), result(text, policy)], policy),
  applyPlan: (text, policy) => {
    const plan = [{ index: 0, callId: '1', chars: text.length, maxChars: Math.min(1_200, text.length - 1) }]
    return spillway.applyPlan([result(text, policy)], plan, policy)
  },
  sanitizeForDisplay: (text, policy) => {
    const { clean = false, redact = false, maxChars = 1e6 } = policy
    const options = { clean, redact, maxChars, maxErrorChars: maxChars }
    const failed = { ...result(text, policy), isError: true }
    return [text, result(text, policy), failed, new Error(text)].map((value) =>
      spillway.sanitizeForDisplay(value, options),
    )
  },
  formatProcessOutput: (text, policy) => [
    spillway.formatProcessOutput({ stdout: text, stderr: text }, policy),
    spillway.formatProcessOutput({ stdout: Buffer.from(text), stderr: '', exitCode: 1 }, policy),
  ],
  OutputCapture: async (text, policy) => {
    const all: unknown[] = []
    for (const streams of ['merged', 'separate'] as const) {
      const capture = new spillway.OutputCapture({ ...policy, streams })
      for (let at = 0; at < text.length; at += 7) capture.stdout.write(text.slice(at, at + 7))
      capture.stderr.write(`\n${text}`)
      all.push(capture.snapshot(), await capture.finish())
    }
    return all
  },
  wrapTool: async (text, policy) => {
    const events: unknown[] = []
    const options = { ...policy, onClamp: (event: object) => events.push(event) }
    const update = (partial: unknown) => events.push(partial)
    const run = async (execute: (...args: unknown[]) => unknown) =>
      thrownBy(() =>
        spillway.wrapTool({ name: 'read', execute }, options).execute('1', {}, undefined, update),
      )
    const steps = async function* () {
      yield text
      return text
    }
    return [
      await run(() => text),
      await run(async () => result(text, policy)),
      // JSON is not cleaned.
      policy.clean || (await run(() => ({ rows: [text, { text }] }))),
      await run(async (...args) => (args[3] as typeof update)(result(text, policy))),
      await run(() => Promise.reject(new Error(text))),
      await all((await run(steps)) as AsyncIterable<unknown>),
      events,
    ]
  },
  wrapTools: (text, policy) => [
    spillway.wrapTools([() => text], policy).map((tool) => tool()),
    spillway.wrapTools({ read: () => text }, () => policy).read(),
  ],
  guardSession: (text, policy) => {
    const rows: unknown[] = []
    const manager = { appendMessage: (message: unknown) => rows.push(message) }
    const { method: _, ...options } = policy
    spillway.guardSession(manager, options)
    manager.appendMessage(result(text, policy))
    return rows
  },
  repairSession: async (text, policy) => {
    const dir = directory()
    const path = join(dir, 's.jsonl')
    const row = JSON.stringify({ type: 'message', id: 'a', message: result(text, policy) })
    writeFileSync(path, `${JSON.stringify({ type: 'session', version: 3, id: 's' })}\n${row}\n`)
    const report = await spillway.repairSession(path, { ...policy, backup: false })
    return [report, contentsOf(dir)]
  },
  inspectSession: async (text, policy) => {
    const path = join(directory(), 's.jsonl')
    writeFileSync(path, `${JSON.stringify(result(text, policy))}\n`)
    return spillway.inspectSession(path, policy)
  },
}

/** Returns all that a value shows. */
function shown(value: unknown): string {
  const whole = {
    depth: null,
    maxStringLength: null,
    maxArrayLength: null,
    breakLength: Number.POSITIVE_INFINITY,
  }
  return `${inspect(value, whole)}\n${JSON.stringify(value)}`
}

/** A secret of ten kinds, with what leads to it. */
const secrets = formats.flatMap(({ examples }) => {
  const text = examples[0]?.join('') ?? ''
  const left = spillway.redactText(text)
  const start = left.indexOf('[redacted: ')
  const end = left.length - left.indexOf(']', start) - 1
  return start < 0 ? [] : [{ text, secret: text.slice(start, text.length - end) }]
})
const TEN = secrets.filter(({ secret }) => /^[\w.-]{16,}$/.test(secret)).slice(0, 10)

const filler = 'one more line of the log\n'.repeat(200)
/** Around a text, so that it stands at the start, in the middle, at the end, and where all fits. */
const places = [
  (text: string) => text,
  (text: string) => `${text}\n${filler}`,
  (text: string) => `${filler}error: ${text}\n${filler}`,
  (text: string) => `${filler}${text}`,
]

describe('every function that takes a policy', () => {
  it('is one of these', { tags: 'long' }, () => {
    const names = Object.keys(ways).sort()
    expect(takersOf('redact')).toEqual(names)
    expect(takersOf('clean')).toEqual(names)
    expect(TEN).toHaveLength(10)
  })

  for (const [name, way] of Object.entries(ways)) {
    it(`${name} shows no secret if told to redact`, async () => {
      for (const { text, secret } of TEN)
        for (const place of places) {
          const made = shown(await way(place(text), { redact: true, maxChars: 1_200 }))
          expect(made).not.toContain(secret)
        }
    })

    it(`${name} cleans if told to`, async () => {
      for (const place of places) {
        const made = shown(await way(place('\x1b[31mred\x1b[0m'), { clean: true, maxChars: 1_200 }))
        expect(made).not.toMatch(/(?:x1B|u001b)\[31m/)
      }
    })
  }

  it('shows secrets and colours otherwise', async () => {
    const silent = ['definePolicy', 'inspectSession']
    for (const [name, way] of Object.entries(ways)) {
      const text = `${TEN[0]?.text} \x1b[31mred\x1b[0m\n${filler}`
      const made = shown(await way(text, { maxChars: 1_200, clean: false }))
      expect(made.includes(TEN[0]?.secret ?? ''), name).toBe(!silent.includes(name))
      expect(/(?:x1B|u001b)\[31m/.test(made), name).toBe(!silent.includes(name))
    }
  })
})
