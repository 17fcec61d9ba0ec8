// biome-ignore-all lint/suspicious/noExplicitAny: anything can be thrown
import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { clampError, wrapTool } from 'spillway'
import { describe, expect, it } from 'vitest'

const BIG = 'x'.repeat(1_000_000)

/** Texts that JSON, util.inspect and String make of a value, if they make any. */
function worded(value: any): Record<string, string> {
  const words: Record<string, () => string | undefined> = {
    json: () => JSON.stringify(value),
    inspect: () => inspect(value),
    string: () => String(value),
    message: () => value.message,
    stack: () => value.stack,
  }
  return Object.fromEntries(
    Object.entries(words).map(([name, make]) => {
      try {
        return [name, String(make() ?? '')]
      } catch {
        return [name, '']
      }
    }),
  )
}

function expectWithin(value: unknown, { maxBytes = Infinity, maxChars = Infinity }) {
  // Of a text the limits themselves hold.
  if (typeof value === 'string') return expect(value.length).toBeLessThanOrEqual(Math.min(maxBytes, maxChars))
  for (const [name, text] of Object.entries(worded(value))) {
    const over = { name, over: Buffer.byteLength(text) > 4 * maxBytes || text.length > 4 * maxChars }
    expect({ ...over, ...(over.over && { chars: text.length }) }).toEqual({ name, over: false })
  }
}

/** Strings whose JSON or util.inspect output is many times as long. */
const text = fc
  .tuple(
    fc.constantFrom('x', 'a line of it\n', '\n', '\u0001', '漢字', '😀', '\ud83d', '"', '\\', '\u2028'),
    fc.constantFrom(0, 1, 20, 700, 20_000),
  )
  .map(([piece, times]) => piece.repeat(times))

/** Values are made when they are needed: what hates to be looked at is not for others to look
 *  at. */
type Make = () => any

const odd: Make[] = [
  () => 1,
  () => null,
  () => undefined,
  () => 5n,
  () => 10n ** 3_000n,
  () => Symbol('s'.repeat(30_000)),
  () => Object.assign(() => 1, { held: BIG }),
  () => Buffer.alloc(90_000, 7),
  () => new Float64Array(9_000),
  () => new Date(0),
  () => Object(BIG),
  () => new URL(`http://localhost/${'p'.repeat(90_000)}`),
  () => ({ toJSON: () => BIG }),
  () => ({ [inspect.custom]: () => BIG }),
  () => ({ toString: () => BIG }),
  () => Object.fromEntries(Array.from({ length: 4_000 }, (_, at) => [`member ${at}`, at])),
  () => Object.defineProperty({}, 'far', { enumerable: true, get: () => BIG }),
  () => ({
    get broken() {
      throw new Error(BIG)
    },
  }),
  () => ({ [Symbol('s'.repeat(30_000))]: 1 }),
  () => Object.assign([1, 2], { held: BIG }),
  () => ({ called: Object.defineProperty(() => 1, 'name', { value: BIG }) }),
  () => Object.defineProperty({ short: 1 }, inspect.custom, { value: () => BIG }),
  () => Object.defineProperty({ short: 1 }, 'toJSON', { value: () => BIG }),
  () => Object.defineProperty({ short: 1 }, 'constructor', { value: Claiming }),
  () => Object.defineProperty([{ short: 1 }], 'toJSON', { value: () => BIG }),
  () => Array.from({ length: 100 }, (_, at) => (at % 12 === 0 ? 'x'.repeat(24) : [])),
  () => Array.from({ length: 100 }, () => Array(100).fill('')),
  () => new Proxy({ held: BIG }, {}),
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  () => {
    const cyclic: any = { held: BIG }
    cyclic.self = [cyclic]
    return cyclic
  },
]

/** Has util.inspect call any object by its name. */
const Claiming = Object.defineProperties(() => undefined, {
  name: { value: 'N'.repeat(500_000) },
  [Symbol.hasInstance]: { value: () => true },
})

class Odd {
  constructor(readonly rows: string) {}
  toJSON() {
    return { rows: this.rows, again: this.rows }
  }
  [inspect.custom]() {
    return this.rows.repeat(5)
  }
}
class Talking extends Error {
  constructor(
    override message: string,
    readonly body = message,
  ) {
    super()
  }
  override toString() {
    return this.body + this.body
  }
}
class Shy extends Error {
  readonly #words: string
  constructor(words: string) {
    super()
    this.#words = words
  }
  override get message() {
    return this.#words
  }
}
const LongName = Object.defineProperty(class extends Error {}, 'name', { value: 'N'.repeat(500_000) })

const errors: ((message: string) => any)[] = [
  (message) => new Error(message),
  (message) => new TypeError(message),
  (message) => new AggregateError([], message),
  (message) => new DOMException(message, 'AbortError'),
  (message) => runInNewContext('new Error(message)', { message }),
  (message) => ({ message }),
  (message) => Object.create(Error.prototype, { message: { value: message, enumerable: true } }),
  (message) => new Proxy(new Error(message), {}),
  (message) => Object.defineProperty(new Error(message), 'toJSON', { value: () => BIG }),
  (message) => new Odd(message),
  (message) => new Talking(message),
  (message) => new Shy(message),
  (message) => new LongName(message),
]

const { data, error } = fc.letrec<{ data: Make; error: Make }>((tie) => {
  const several = fc.array(tie('data'), { maxLength: 4 })
  const named = (keys: fc.Arbitrary<string>) => fc.dictionary(keys, tie('data'), { maxKeys: 4 })
  const made = (makes: Record<string, Make>) =>
    Object.fromEntries(Object.entries(makes).map(([key, make]) => [key, make()]))
  return {
    data: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'graph' },
      text.map((text) => () => text),
      fc.constantFrom(...odd),
      several.map((makes) => () => makes.map((make) => make())),
      several.map((makes) => () => new Map(makes.map((make, at) => [at, make()]))),
      several.map((makes) => () => new Set(makes.map((make) => make()))),
      named(fc.oneof(fc.constantFrom('a', 'content', 'message', '__proto__'), text)).map(
        (makes) => () => made(makes),
      ),
      tie('error'),
    ),
    error: fc
      .record({
        create: fc.constantFrom(...errors),
        message: text,
        name: fc.option(text, { nil: undefined }),
        stack: fc.option(text, { nil: undefined }),
        members: named(
          fc.constantFrom('stdout', 'all', 'response', 'config', 'code', 'errors', 'cause', 'inner'),
        ),
        many: fc.constantFrom(0, 0, 0, 0, 3_000),
        symbol: fc.option(text, { nil: undefined }),
        lock: fc.constantFrom(undefined, Object.freeze, Object.seal, Object.preventExtensions),
        isCyclic: fc.boolean(),
      })
      .map(({ create, message, name, stack, members, many, symbol, lock, isCyclic }) => {
        const make = () => {
          const error = create(message)
          const set = (key: PropertyKey, value: unknown) =>
            Reflect.defineProperty(error, key, {
              value,
              enumerable: true,
              configurable: true,
              writable: true,
            })
          if (name !== undefined) set('name', name)
          if (stack !== undefined) error.stack = stack
          for (const [key, value] of Object.entries(made(members))) set(key, value)
          for (let at = 0; at < many; at++) set(`a member ${at}`, at)
          if (symbol !== undefined) set(Symbol('s'), symbol)
          if (isCyclic) set('self', error)
          return lock ? lock(error) : error
        }
        return Object.assign(make, {
          [fc.toStringMethod]: () =>
            inspect(
              { create, message, name, stack, members, many, symbol, lock, isCyclic },
              { maxStringLength: 60 },
            ),
        })
      }),
  }
})

const limits = fc.oneof(
  fc.constant({}),
  fc.record({ maxBytes: fc.constantFrom(256, 500, 3_000, 60_000) }),
  fc.record({ maxChars: fc.constantFrom(256, 500, 3_000) }),
  fc.record({
    maxBytes: fc.integer({ min: 256, max: 9_000 }),
    maxChars: fc.integer({ min: 256, max: 9_000 }),
  }),
)

describe('what was thrown', () => {
  it('has a stack of a long name alone cut with the name', () => {
    const name = '\u0001'.repeat(700)
    const error = Object.assign(new Error(''), { name })
    Object.defineProperty(error, 'stack', { value: 'x'.repeat(700), enumerable: true })
    expectWithin(clampError(error, { maxChars: 256 }), { maxChars: 256 })
  })

  it('is within four times the limits, however it is put in words', () => {
    fc.assert(
      fc.property(fc.oneof(error, data), limits, (make, limits) => {
        expectWithin(clampError(make(), limits), { maxBytes: 51_200, ...limits })
      }),
      { numRuns: 60 },
    )
  })

  it.each(odd.map((make) => [make]))('is within them with one thing that is larger than it seems: %s', {
    tags: 'long',
  }, (make) => {
    for (const limits of [{ maxBytes: 51_200 }, { maxBytes: 2_000 }]) {
      expectWithin(clampError(make(), limits), limits)
      expectWithin(clampError({ message: 'm', held: make() }, limits), limits)
      expectWithin(clampError(Object.assign(new Error('m'), { held: make() }), limits), limits)
      expectWithin(clampError(new Error('m', { cause: [make()] }), limits), limits)
    }
  })

  it('stays the very same, and untouched, where it fits', () => {
    const response = { status: 500, data: { reason: 'none' }, headers: new Map([['a', 'b']]) }
    class Failed extends Error {
      override name = 'Failed'
      code = 'EFAILED'
      response = response
      #secret = 1
      secret() {
        return this.#secret
      }
    }
    const cyclic: any = Object.assign(new Failed('it failed', { cause: new TypeError('why') }), {
      request: { path: '/' },
      [Symbol('s')]: 1,
    })
    cyclic.request.error = cyclic
    const whole = (value: any) => [
      inspect(value, { depth: Infinity, showHidden: true }),
      Object.getOwnPropertyDescriptors(value),
    ]
    for (const thrown of [
      cyclic,
      Object.freeze(new Failed('frozen')),
      new AggregateError([new Error('a'), 'b', { c: 1 }], 'several'),
      new DOMException('gone', 'AbortError'),
      runInNewContext('new RangeError("far")'),
      [1, { two: 2 }],
      new Map([[1, 2]]),
      Buffer.from('short'),
      new Odd('short'),
      Object.assign(() => 1, { held: 'short' }),
    ]) {
      const before = whole(thrown)
      expect(clampError(thrown)).toBe(thrown)
      expect(whole(thrown)).toEqual(before)
    }
  })

  it('stays the same error when its members are shortened, and the members stay unchanged', () => {
    const response = { status: 500, data: BIG }
    const error: any = Object.assign(new Error('it failed', { cause: { rows: BIG } }), {
      code: 'EFAILED',
      stdout: BIG,
      response,
      small: { kept: true },
    })
    const { small } = error
    expect(clampError(error)).toBe(error)
    expect(error).toMatchObject({ message: 'it failed', code: 'EFAILED' })
    expect(error.small).toBe(small)
    expect(error.response.status).toBe(500)
    expect(error.stdout).toMatch(/^x{1000,}\[\.\.\. \d+ more characters truncated\]$/)
    expect(error.stdout.length).toBeGreaterThan(40_000)
    expect(error.cause.rows.length).toBeGreaterThan(40_000)
    expect(response.data).toBe(BIG)
    expect(Object.keys(error)).toEqual(['code', 'stdout', 'response', 'small'])
    const words = worded(error)
    expect(clampError(error)).toBe(error)
    expect(worded(error)).toEqual(words)
  })

  it('leaves something of each of many errors, and of causes at any depth', { tags: 'long' }, () => {
    const errors = Array.from({ length: 200 }, (_, at) => new Error(`${at} ${BIG}`))
    const aggregate = clampError(new AggregateError(errors, 'all'))
    expect(aggregate.errors).toHaveLength(200)
    for (const [at, error] of aggregate.errors.entries())
      expect(error.message).toMatch(new RegExp(`^${at} x+`))
    const crowd = Array.from({ length: 3_000 }, () => new Error('short'))
    expect(clampError(new AggregateError(crowd, 'all')).errors.at(-1)).toMatch(
      /^\[\.\.\. [\d]+ more items\]$/,
    )
    let error = new Error(BIG)
    for (let depth = 0; depth < 12; depth++) error = new Error(`level ${depth}`, { cause: error })
    const seen = inspect(clampError(error), { depth: Infinity })
    expect(seen).toContain('level 11')
    expect(seen.length).toBeLessThan(4 * 51_200)
  })

  it('has no getter run twice', () => {
    const counts: Record<string, number> = {}
    const counting = (name: string, value: unknown, inner: object = {}) =>
      Object.defineProperty(inner, name, {
        enumerable: true,
        configurable: true,
        get() {
          counts[name] = (counts[name] ?? 0) + 1
          return value
        },
      })
    const error = counting('cause', counting('far', BIG), counting('small', 'short', new Error('m')))
    counting('stdout', BIG, error)
    counting('response', { data: counting('deep', 'short') }, error)
    clampError(error)
    expect(counts).toEqual({ cause: 1, far: 1, small: 1, stdout: 1, deep: 1, response: 1 })
    expectWithin(error, { maxBytes: 51_200 })
    expect(() => clampError(counting('list', BIG, []))).not.toThrow()
  })

  it('reaches a caller within the limits, thrown at once, later and by a generator', async () => {
    const make = () => Object.assign(new Error('m'), { response: { data: BIG }, all: BIG })
    const caught: unknown[] = []
    const keep = (error: unknown) => void caught.push(error)
    try {
      wrapTool(() => {
        throw make()
      })()
    } catch (error) {
      keep(error)
    }
    await wrapTool(async () => Promise.reject(make()))().catch(keep)
    const steps = wrapTool(async function* () {
      yield 1
      throw make()
    })()
    await steps.next()
    await steps.next().catch(keep)
    expect(caught).toHaveLength(3)
    for (const error of caught) expectWithin(error, { maxBytes: 51_200 })
  })
})
