import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  clampError,
  clampJson,
  clampMessages,
  clampResult,
  guardSession,
  precheck,
  sanitizeForDisplay,
  wrapTool,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { samples } from '../support/samples.js'

const BIG = 'x'.repeat(200_000)
const LIMIT = 51_200
const text = (text: string) => ({ type: 'text', text })
/** Returns the chars that a model is sent of a result that is a text or data. */
const sentChars = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)).length
const returned = (value: unknown) => wrapTool({ execute: () => value }).execute() as unknown

/** Makes what aliases of YAML make: a list of the same list twice, and so on. JSON has 2 ** levels
 *  places for it. */
function shared(levels: number): unknown[] {
  let list: unknown[] = ['lol']
  for (let level = 0; level < levels; level++) list = [list, list]
  return list
}

function stored(message: object, options = {}): unknown {
  const rows: unknown[] = []
  const manager = { appendMessage: (message: unknown) => rows.push(message) }
  guardSession(manager, options)
  manager.appendMessage(message)
  return rows[0]
}

const result = (members: object) => ({
  role: 'toolResult',
  toolCallId: 'c',
  content: [text('a')],
  ...members,
})

describe('data that shares its parts', () => {
  // 2 ** 60 places would never end.
  const data = shared(60)
  const most = 1_000_000

  it('is described where it is written as JSON', () => {
    expect(clampJson(data)).toContain('[seen above]')
    for (const value of [returned(data), returned({ data }), returned({ rows: [data], note: 'a' })])
      expect(sentChars(value)).toBeLessThanOrEqual(LIMIT)
  })

  it('is described within results and stored messages, and what is beside stays', { tags: 'long' }, () => {
    for (const options of [{ sideData: 'cap' }, { sideData: 'drop' }] as const) {
      const { content, details } = clampResult<{ content: object[]; details?: unknown }>(
        result({ details: data }),
        options,
      )
      expect(content).toEqual([text('a')])
      expect(JSON.stringify(details ?? '').length).toBeLessThanOrEqual(8_192)
    }
    for (const made of [
      clampResult(result({ unknown: data })),
      clampMessages([result({ unknown: data })]).messages[0],
      stored(result({ details: data })),
      stored(result({ unknown: data })),
      sanitizeForDisplay(result({ unknown: data })),
    ]) {
      expect(made).toMatchObject({ toolCallId: 'c', content: [text('a')] })
      expect(JSON.stringify(made).length).toBeLessThan(8 * most)
    }
  })

  it('is described in errors, and in the calls of a prompt', () => {
    const error = clampError(Object.assign(new Error('m'), { data }))
    expect(JSON.stringify(error).length).toBeLessThan(4 * LIMIT)
    const message = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'a', name: 'x', input: { data } }],
    }
    expect(precheck({ messages: [message], contextTokens: 1_000, reserveTokens: 10 }).route).toBe('fits')
  })

  it('ends where each reading makes new data', { tags: 'long' }, () => {
    const endless = (): object => ({ toJSON: () => [endless(), endless()] })
    expect(sentChars(returned(endless()))).toBeLessThanOrEqual(LIMIT)
    const lazy = (): object => ({
      get a() {
        return lazy()
      },
      get b() {
        return lazy()
      },
    })
    expect(
      JSON.stringify(returned({ content: [{ type: 'text', text: 'a', more: lazy() }] })).length,
    ).toBeLessThan(LIMIT + 200)
  })

  it('is written whole as long as it is no more than it seems', { tags: 'long' }, () => {
    const row = { a: 1, b: ['x', { c: null }] }
    const rows = Array.from({ length: 300_000 }, (_, at) => ({ at, b: 'x' }))
    expect(clampJson(Array.from({ length: 100 }, () => row))).toBe(
      JSON.stringify(Array.from({ length: 100 }, () => row)),
    )
    const wide = { maxBytes: 1e9, maxLines: 1e9 }
    expect(clampJson(rows, wide)).toBe(JSON.stringify(rows))
    for (const value of [{ rows }, { rows, when: new Date(0) }])
      expect(wrapTool({ execute: () => value }, wide).execute()).toBe(value)
    const seen = new Proxy(rows.slice(0, 100_000), {})
    expect(wrapTool({ execute: () => seen }, wide).execute()).toEqual(rows.slice(0, 100_000))
  })
})

describe('an element that an accessor answers for', () => {
  /** Makes a list whose element is short when it is read first. */
  function growing(): unknown[] {
    let reads = 0
    const get = () => (reads++ === 0 ? 'short' : BIG)
    return Object.defineProperty(['x'], 0, { enumerable: true, configurable: true, get })
  }

  it.each([
    ['a list', growing],
    ['a list in data', () => ({ rows: growing() })],
    ['a list beside others', () => ({ rows: [[1, 2], growing()], total: 2 })],
  ])('is returned as it was measured: %s', (_, make) => {
    expect(sentChars(returned(make()))).toBeLessThanOrEqual(LIMIT)
    const [message] = clampMessages([result({ content: growing() })]).messages
    expect(sentChars(message)).toBeLessThanOrEqual(LIMIT + 200)
  })
})

describe('lists', () => {
  it('are read by isList alone, which takes a revoked proxy', () => {
    // compat/ has its own rules: the names of other packages.
    const files = readdirSync(join(__dirname, '../../lib'), { recursive: true, encoding: 'utf8' })
    const users = files.filter(
      (name) =>
        name.endsWith('.ts') &&
        !/^(?:compat|testing)\b/.test(name) &&
        readFileSync(join(__dirname, '../../lib', name), 'utf8').includes('Array.isArray('),
    )
    // json.ts and stable_value.ts ask first if it is a proxy; message.ts reads messages, which are
    // JSON, and is loaded by commands that load nothing else.
    expect(users.sort()).toEqual(['dialect/stable_value.ts', 'json.ts', 'mcp/message.ts', 'untrusted.ts'])
  })

  it('of holes are bounded', () => {
    const holes: unknown[] = []
    holes.length = 100_000
    expect(sentChars(returned(holes))).toBeLessThanOrEqual(LIMIT)
    holes.length = 4_000_000_000
    expect(sentChars(returned(holes))).toBeLessThanOrEqual(LIMIT)
  })
})

/** Values that throw when they are read, or answer in another way each time. */
const hostile: Record<string, () => unknown> = {
  'revoked proxy of an object': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  'revoked proxy of a list': () => {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    return proxy
  },
  'proxy whose traps throw': () => {
    const throws = () => {
      throw new Error('no')
    }
    return new Proxy(
      {},
      { get: throws, has: throws, ownKeys: throws, getPrototypeOf: throws, getOwnPropertyDescriptor: throws },
    )
  },
  'getter that grows': () => {
    let reads = 0
    return {
      type: 'text',
      get text() {
        return reads++ < 1 ? 's' : BIG
      },
    }
  },
  'proxy that grows': () => {
    let reads = 0
    return new Proxy(text('s'), {
      get: (target, key) => (key === 'text' && reads++ > 0 ? BIG : Reflect.get(target, key)),
    })
  },
  'toJSON that grows': () => {
    let size = 0
    return { toJSON: () => 'a'.repeat(size++ * 40_000) }
  },
  cycle: () => {
    const cycle: Record<string, unknown> = {}
    cycle['cycle'] = cycle
    return cycle
  },
}

/** Returns the chars of the texts in a value, however deep. */
function charsIn(value: unknown, seen = new Set<unknown>()): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || seen.has(value)) return 0
  seen.add(value)
  try {
    const written = typeof (value as { toJSON?: unknown }).toJSON === 'function' ? JSON.stringify(value) : ''
    return Object.keys(value).reduce(
      (sum, name) => sum + charsIn((value as Record<string, unknown>)[name], seen),
      written.length,
    )
  } catch {
    return 0
  }
}

describe('values that throw or change while they are read', () => {
  it('lift no limit, wherever they stand', () => {
    const names = fc.constantFrom(...Object.keys(hostile))
    // Values that are results themselves. Beside those that a message carries, words of the model
    // and of the user stand.
    const own = ['pi', 'mcp', 'langchain', 'openai-chat']
    const forms = fc.constantFrom(...samples.filter(({ dialect }) => own.includes(dialect)))
    const policy = { sideData: 'drop' } as const
    const functions = [
      (value: object) => clampResult(value, policy),
      (value: object) => clampMessages([value], policy).messages[0],
      (value: object) => wrapTool({ execute: () => value }, policy).execute(),
    ]
    fc.assert(
      fc.property(forms, names, fc.nat(3), ({ make, texts }, name, where) => {
        for (const clamp of functions) {
          const value = make(BIG) as Record<string, unknown>
          const results = texts(value).length
          const lists = Object.values(value).filter((member) => Array.isArray(member))
          const odd = hostile[name]?.()
          // Beside the first list of the value, or in it, in front or at the end.
          if (where === 0) value['unknown'] = odd
          if (where === 1) lists[0]?.unshift(odd)
          if (where > 1) lists.at(-1)?.push(odd)
          const made = clamp(value)
          // Some classes keep each text twice.
          for (let reads = 0; reads < 3; reads++)
            expect(charsIn(made)).toBeLessThan(2 * results * (LIMIT + 2_000))
        }
      }),
      { numRuns: 600 },
    )
  })

  it('are returned as they were measured', () => {
    for (const name of ['getter that grows', 'proxy that grows']) {
      const block = () => hostile[name]?.()
      for (const made of [
        returned({ content: [block()] }),
        clampResult({ content: [block()] }),
        clampMessages([result({ content: [block()] })]).messages[0],
        stored(result({ content: [block()] })),
      ])
        expect(JSON.parse(JSON.stringify(made))).toMatchObject({ content: [text('s')] })
    }
    const made = returned(hostile['toJSON that grows']?.())
    expect(JSON.stringify(made)).toBe(JSON.stringify(made))
    const steady = { content: [text('a')], when: new Date(0), details: { a: [1] } }
    for (const same of [returned(steady), clampResult(steady)]) expect(same).toBe(steady)
  })
})
