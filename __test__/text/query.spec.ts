// biome-ignore-all lint/suspicious/noExplicitAny: tools take anything
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  applyPlan,
  clampMessages,
  clampText,
  definePolicy,
  formatProcessOutput,
  guardSession,
  OutputCapture,
  precheck,
  repairSession,
  type TextPolicy,
  type WrapPolicy,
  wrapTool,
} from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'
import { readResults } from '../../lib/dialect/results.js'
import { askedBy, stringsIn } from '../../lib/query.js'
import { History } from '../../lib/result/history.js'
import { histories } from '../support/histories.js'

const dir = mkdtempSync(join(tmpdir(), 'spillway-query-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** A long text, with a rare word on each line. */
const letter = (digit: string) => String.fromCharCode(97 + Number.parseInt(digit, 20))
const nameOf = (at: number) =>
  at === 400 ? 'quetzalcoatl' : (at * 7_919 + 12_345_678).toString(20).replace(/./g, letter)
const text = Array.from({ length: 800 }, (_, at) => `entry ${at} is about the ${nameOf(at)}`).join('\n')
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

/** Calls a wrapped tool, and returns what a function as `query` was told: the arguments of each
 *  call of it. */
async function told(tool: object, call: (tool: any) => unknown, policy: WrapPolicy = POLICY) {
  const seen: (readonly unknown[])[] = []
  const query: TextPolicy['query'] = (args) => {
    seen.push(args)
    return undefined
  }
  const wrapped = wrapTool(tool, { ...policy, query })
  await Promise.resolve(call(wrapped)).catch(() => {})
  return seen
}

describe('query of a policy', () => {
  it('decides what stays of a text, and of the output of a process', async () => {
    const policy = { ...POLICY, query: 'quetzalcoatl' }
    expect(clampText(text, policy)).toContain('entry 400 is about')
    expect(clampText(text, POLICY)).not.toContain('entry 400')
    expect(clampText(Buffer.from(text), policy)).toContain('entry 400 is about')
    expect(formatProcessOutput({ stdout: text, stderr: '' }, policy)).toContain('entry 400 is about')
    const capture = new OutputCapture(policy)
    capture.stdout.end(text)
    expect((await capture.finish()).text).toContain('entry 400 is about')
  })
})

describe('query of a wrapped tool', () => {
  const input = { pattern: 'quetzalcoatl' }
  const found = 'entry 400 is about the quetzalcoatl'

  it.each<[string, object, (tool: any) => unknown]>([
    [
      'AI SDK',
      { execute: async () => text },
      (tool) => tool.execute(input, { toolCallId: 'c', messages: [] }),
    ],
    [
      'converted output',
      { execute: () => text, toModelOutput: ({ output }: any) => ({ type: 'text', value: output }) },
      (tool) => tool.toModelOutput({ toolCallId: 'c', input, output: text }),
    ],
    [
      'Pi',
      { execute: async () => ({ content: [{ type: 'text', text }] }) },
      (tool) => tool.execute('c', input, undefined, () => {}, {}),
    ],
    [
      'OpenAI Agents',
      { invoke: async () => text },
      (tool) => tool.invoke(new Map(), JSON.stringify(input), { toolCall: { callId: 'c' } }),
    ],
    [
      'LangChain',
      { invoke: async () => text },
      (tool) => tool.invoke({ type: 'tool_call', id: 'c', name: 'entry', args: input }, {}),
    ],
    [
      'LangChain func',
      { func: async () => text },
      (tool) => tool.func(input, undefined, { configurable: {} }),
    ],
    ['Mastra', { execute: async () => text }, (tool) => tool.execute({ context: input, runId: 'r' })],
    ['a function', async () => text, (tool) => tool('somewhere', 'quetzalcoatl')],
    ['data', { execute: async () => ({ rows: text.split('\n') }) }, (tool) => tool.execute(input)],
    [
      'an error',
      { execute: () => Promise.reject(new Error(text)) },
      (tool) => tool.execute(input).catch(({ message }: Error) => message),
    ],
  ])('is what the arguments say: %s', async (_, tool, call) => {
    const kept = async (policy: WrapPolicy) => JSON.stringify(await call(wrapTool(tool, policy)))
    expect(await kept(POLICY)).toContain(found)
    expect(await kept({ ...POLICY, query: () => 'quetzalcoatl' })).toContain(found)
    expect(await kept({ ...POLICY, query: ['nothing', 'quetzalcoatl'] })).toContain(found)
    expect(await kept({ ...POLICY, query: false })).not.toContain(found)
    expect(await kept({ ...POLICY, query: '' })).not.toContain(found)
    expect(await kept(definePolicy({ ...POLICY, query: 'entry' }))).not.toContain(found)
  })

  it('is a function of the arguments, called once for a result that is cut', async () => {
    const tool = { execute: async (..._: unknown[]) => text }
    const options = { toolCallId: 'c1' }
    expect(await told(tool, (tool) => tool.execute(input, options))).toEqual([[input, options]])
    const worded = {
      ...POLICY,
      notice: ({ omittedLines }: { omittedLines: number }) => `${omittedLines} lines`,
    }
    expect(await told(tool, (tool) => tool.execute(input), worded)).toEqual([[input]])
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
  })

  it('is read for an error, too', async () => {
    const seen = await told(
      () => Promise.reject(new Error(text)),
      (tool) => tool(input),
      { maxChars: 2_000 },
    )
    expect(seen).toEqual([[input]])
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

/** Question that the first result in the last message is asked. */
function askedIn(messages: readonly object[]): string[] {
  const last = messages.at(-1) as object
  const [result] = readResults(last, undefined)
  if (!result) throw new Error('no result')
  return new History(messages).asked(result, messages.length - 1, undefined)
}

describe('query of a history', () => {
  it.each(histories.map((sample) => [sample.name, sample] as const))('decides what stays: %s', async (_, {
    make,
  }) => {
    const stored: unknown[] = []
    const manager = { appendMessage: (message: unknown) => stored.push(message) }
    guardSession(manager, POLICY)
    for (const [words, asked] of [
      ['where is the quetzalcoatl?', 'x'],
      ['look', 'quetzalcoatl'],
    ] as const) {
      const messages = make(words, asked, text)
      const json = (value: unknown) => JSON.stringify(value)
      const { messages: clamped } = clampMessages(messages, POLICY)
      expect(json(clamped.at(-1))).toContain('entry 400 is about')
      expect(json(clampMessages(messages, { ...POLICY, query: false }).messages)).not.toContain('entry 400')
      const { plan } = precheck({ messages, contextTokens: 4_000, reserveTokens: 0 })
      expect(json(applyPlan(messages, plan, { keep: 'relevant' }).at(-1))).toContain('entry 400 is about')
      const path = join(dir, 'session.jsonl')
      writeFileSync(path, messages.map((message) => `${json(message)}\n`).join(''))
      await repairSession(path, { ...POLICY, backup: false })
      expect(readFileSync(path, 'utf8').split('\n').at(-2)).toBe(json(clamped.at(-1)))
      for (const message of structuredClone(messages)) manager.appendMessage(message)
      expect(json(stored.at(-1))).toContain('entry 400 is about')
    }
  })

  it.each(histories.map((sample) => [sample.name, sample] as const))('%s', (_, { make }) => {
    expect(askedIn(make('the words', 'the argument', text))).toEqual(['the argument', 'the words'])
  })

  it('is that of the last call of an id, and of the last words before', () => {
    const turns = ['one', 'two'].flatMap(
      (turn) => histories[0]?.make(`words ${turn}`, `argument ${turn}`, text) ?? [],
    )
    expect(askedIn(turns)).toEqual(['argument two', 'words two'])
    expect(askedIn(turns.slice(0, 3))).toEqual(['argument one', 'words one'])
    expect(askedIn(turns.slice(2, 3))).toEqual([])
  })

  it('is gathered only for results that are cut', () => {
    let calls = 0
    const query: TextPolicy['query'] = () => {
      calls += 1
      return undefined
    }
    const messages = histories.flatMap(({ make }) => make('words', 'argument', 'short'))
    clampMessages(messages, { ...POLICY, query })
    expect(calls).toBe(0)
    const long = histories.flatMap(({ make }) => make('words', 'argument', text))
    const { clamped } = clampMessages(long, { ...POLICY, query })
    expect(clamped).toBe(histories.length)
    expect(calls).toBe(clamped)
  })

  it('is a function of the arguments, read from their JSON', () => {
    for (const { name, make } of histories) {
      const seen: unknown[] = []
      const query: TextPolicy['query'] = (args) => {
        seen.push(...args)
        return undefined
      }
      const messages = make('the words', 'the argument', text)
      for (const clamp of [
        () => clampMessages(messages, { ...POLICY, query }),
        () => {
          const { plan } = precheck({
            messages,
            contextTokens: 4_000,
            reserveTokens: 0,
            perResultMaxChars: 2_000,
          })
          applyPlan(messages, plan, { ...POLICY, query })
        },
        () => {
          const stored: unknown[] = []
          const manager = { appendMessage: (message: unknown) => stored.push(message) }
          guardSession(manager, { ...POLICY, query })
          for (const message of structuredClone(messages)) manager.appendMessage(message)
        },
      ]) {
        seen.length = 0
        clamp()
        expect(JSON.stringify(seen), name).toContain('the argument')
        expect(JSON.stringify(seen), name).not.toContain('\\\\')
      }
    }
  })

  it('is texts alone for a session, which another thread reads', async () => {
    await expect(repairSession('/nowhere', { query: () => 'x' })).rejects.toMatchObject({
      code: 'ERR_SPILLWAY_OPTION',
      message: expect.stringContaining('query cannot be a function here'),
    })
  })

  it('throws nothing for any message', () => {
    const trap = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
        ownKeys: () => {
          throw new Error('no')
        },
      },
    )
    const [, , result] = histories[0]?.make('', '', text) ?? []
    const circle: any = { role: 'assistant' }
    circle.content = [{ type: 'toolCall', id: 'c', name: 't', arguments: circle }]
    expect(clampMessages([trap, null, 'words', circle, result], POLICY).clamped).toBe(1)
  })

  it('cuts the result of a call whose arguments cannot be read', () => {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    expect(stringsIn([{ a: 'x', b: proxy, c: 'y' }])).toEqual(['x', 'y'])
    expect(wrapTool((_: unknown) => text, POLICY)(proxy).length).toBeLessThanOrEqual(2_000)
    const call = {
      role: 'assistant',
      content: [{ type: 'toolCall', id: 'c', name: 't', arguments: { proxy } }],
    }
    const content = [{ type: 'text', text }]
    const messages = [call, { role: 'toolResult', toolCallId: 'c', toolName: 't', content }]
    expect(clampMessages(messages, POLICY).clamped).toBe(1)
    const stored: any[] = []
    const manager = { appendMessage: (message: unknown) => stored.push(message) }
    guardSession(manager, POLICY)
    for (const message of messages) manager.appendMessage(message)
    expect(stored[1].content[0].text.length).toBeLessThanOrEqual(2_000)
  })
})
