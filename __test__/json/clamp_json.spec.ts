import * as fc from 'fast-check'
import {
  clampJson,
  clampJsonWithReport,
  clampText,
  estimateTokens,
  measureText,
  type TextPolicy,
} from 'spillway'
import { describe, expect, it, test } from 'vitest'
import { foreignLine } from '../support/cut_strings.js'
import { hostileText } from '../support/hostile.js'

const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(
      hostileText,
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
      fc.constantFrom(null, true, false),
    ),
    fc.array(tie('value'), { maxLength: 30 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value'), { maxKeys: 12 }),
  ),
})).value

const limit = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 3000 }))
const limits = fc.record(
  { maxBytes: limit, maxChars: limit, maxTokens: limit, maxLineBytes: limit, maxLines: limit },
  { requiredKeys: [] },
)

const SHORT = /^(.*)\[\+(\d+) chars\]$/s

/** Checks that a value is what is left of another. */
function expectPart(part: unknown, whole: unknown) {
  if (typeof whole === 'string' && part !== whole) {
    const [, head = '', count] = SHORT.exec(part as string) ?? []
    const isStart =
      count !== undefined && whole.startsWith(head) && head.length + Number(count) === whole.length
    // A long string is cut as a text.
    if (!isStart) expect(foreignLine(part as string, whole)).toBeUndefined()
  } else if (Array.isArray(whole)) {
    expect(Array.isArray(part)).toBe(true)
    let at = 0
    for (const element of part as unknown[]) {
      while (!isPart(element, whole[at])) if (++at >= whole.length) expect.fail('no such element')
      at++
    }
  } else if (typeof whole === 'object' && whole !== null) {
    const names = Object.keys(whole)
    expect(names.filter((name) => Object.hasOwn(part as object, name))).toEqual(Object.keys(part as object))
    for (const [name, value] of Object.entries(part as object))
      expectPart(value, Object.getOwnPropertyDescriptor(whole, name)?.value)
  } else expect(part).toBe(whole)
}

function isPart(part: unknown, whole: unknown): boolean {
  try {
    expectPart(part, whole)
    return true
  } catch {
    return false
  }
}

function expectWithin(text: string, policy: TextPolicy) {
  const size = measureText(text)
  expect(size.bytes).toBeLessThanOrEqual(policy.maxBytes ?? 51_200)
  for (const line of text.split('\n'))
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(policy.maxLineBytes ?? 1e9)
  expect(size.chars).toBeLessThanOrEqual(policy.maxChars ?? 1e9)
  expect(size.lines).toBeLessThanOrEqual(policy.maxLines ?? 2_000)
  expect(estimateTokens(text)).toBeLessThanOrEqual(policy.maxTokens ?? 1e9)
}

describe('JSON within limits', () => {
  it('parses, is within every limit, and is a part of the input', () => {
    fc.assert(
      fc.property(json, limits, fc.constantFrom(0, 2), (value, policy, indent) => {
        // Lone surrogates are escaped by JSON.stringify, so they survive.
        const text = JSON.stringify(value, null, indent)
        const made = clampJsonWithReport(text, policy)
        expectWithin(made.text, policy)
        expect(clampJson(made.text, policy)).toBe(made.text)
        expect(clampJson(Buffer.from(text), policy)).toBe(made.text)
        if (made.text === '') return
        const part: unknown = JSON.parse(made.text)
        if (made.text !== '""') expectPart(part, JSON.parse(text))
        const missing = made.omittedElements + made.shortenedStrings + made.droppedMembers
        if (made.text.length > 2) expect(missing > 0).toBe(made.truncated)
        if (!made.truncated) expect(part).toEqual(JSON.parse(text))
      }),
      { numRuns: 2_000 },
    )
  })

  it('keeps both ends of a list while any element stays, shortened or emptied if need be', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.integer(),
      fc.constantFrom(null, true, { id: 5, name: 'a name' }, ['one', 2]),
    )
    const kindOf = (value: unknown) => (Array.isArray(value) ? 'list' : typeof value)
    fc.assert(
      fc.property(fc.array(part, { minLength: 3, maxLength: 40 }), fc.nat(400), (list, maxBytes) => {
        const left = JSON.parse(clampJson(list, { maxBytes: maxBytes + 24 })) as unknown[]
        // A number is spelled whole or not at all.
        const least = [list[0], list.at(-1)].map((end) =>
          typeof end === 'string' ? '' : typeof end === 'object' && end !== null ? [] : end,
        )
        if (JSON.stringify(least).length > maxBytes + 24) return
        if (left.length < 2) return
        expect([kindOf(left[0]), kindOf(left.at(-1))]).toEqual([kindOf(list[0]), kindOf(list.at(-1))])
        for (const [end, given] of [
          [left[0], list[0]],
          [left.at(-1), list.at(-1)],
        ])
          if (typeof given !== 'object' && typeof given !== 'string') expect(end).toBe(given)
      }),
      { numRuns: 2_000 },
    )
    const value = {
      k: ['s'.repeat(33), 's'.repeat(18), { id: 2 }, { id: 3 }, true, { id: 5 }, true, 7, true, 9],
      z: 1,
    }
    expect(clampJson(value, { maxBytes: 47 })).toBe('{"k":["s[+32 chars]",true,true,7,true,9],"z":1}')
  })

  it('leaves what fits as it is spelled', () => {
    const text = ' {"a" : 1.50, "b": [1e400, "\\u00e9"]}\n'
    expect(clampJson(text)).toBe(text)
    expect(clampJson(text, { maxBytes: 33 })).toBe('{"a":1.50,"b":[1e400,"\\u00e9"]}')
  })

  it('takes hostile text as text', () => {
    fc.assert(
      fc.property(hostileText, limits, (text, policy) => {
        expect(clampJson(`{${text}`, policy)).toBe(clampText(`{${text}`, policy))
      }),
      { numRuns: 500 },
    )
  })
})

test('what was asked and needles decide which elements stay', () => {
  const rows = Array.from({ length: 400 }, (_, row) => ({
    row,
    place: row === 321 ? 'Utrecht' : `place ${row}`,
  }))
  for (const policy of [{ query: 'Where is Utrecht?' }, { needles: ['Utrecht'] }])
    expect(clampJson(rows, { maxBytes: 500, ...policy })).toContain('"Utrecht"')
  expect(clampJson(rows, { maxBytes: 500 })).not.toContain('Utrecht')
})

test('a value without JSON is described', () => {
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  expect(clampJson(cycle)).toBe('{"self":"[circular]"}')
  expect(clampJson({ big: 10n })).toBe('{"big":"10"}')
  expect(clampJson(undefined)).toBe('null')
  const thrower = {
    toJSON() {
      throw new Error('no')
    },
  }
  expect(clampJson({ thrower, kept: 1 })).toBe('{"thrower":"[unreadable]","kept":1}')
})
