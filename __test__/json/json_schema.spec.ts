import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import * as fc from 'fast-check'
import { clampJson, clampJsonWithReport } from 'spillway'
import { describe, expect, it, test } from 'vitest'
import { hostileText } from '../support/hostile.js'

type Schema = Record<string, unknown>
/** A schema, and a value that may validate against it. */
interface Pair {
  readonly schema: Schema
  readonly value: unknown
}

const rarely = fc.nat(3).map((n) => n === 3)
const flags = <K extends string>(...names: K[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, rarely]))) as fc.Arbitrary<Record<K, boolean>>
const points = (text: string) => [...text].length

const strings = fc
  .tuple(
    fc.oneof(hostileText, fc.string({ maxLength: 200, unit: 'grapheme' })),
    fc.nat(60),
    flags('kind', 'least', 'most', 'pattern', 'constant', 'listed'),
  )
  .map(([text, spare, has]): Pair => {
    const value = text.toWellFormed()
    return {
      value,
      schema: {
        ...(has.kind && { type: 'string' }),
        ...(has.least && { minLength: Math.max(0, points(value) - spare) }),
        ...(has.most && { maxLength: points(value) + spare }),
        ...(has.pattern && { pattern: '^[^]*$' }),
        ...(has.constant && { const: value }),
        ...(has.listed && { enum: ['other', value] }),
      },
    }
  })
const dates = fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map(
  (date): Pair => ({
    value: `${date.toISOString().slice(0, 20)}${'0'.repeat(40)}Z`,
    schema: { type: 'string', format: 'date-time' },
  }),
)
const scalars = fc
  .tuple(
    fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(null, true, false),
    ),
    rarely,
    rarely,
  )
  .map(([given, isTyped, isConstant]): Pair => {
    const value = Object.is(given, -0) ? 0 : given
    const type = value === null ? 'null' : typeof value
    return { value, schema: { ...(isTyped && { type }), ...(isConstant && { const: value }) } }
  })

const pairs = fc.letrec<{ pair: Pair; root: Pair }>((tie) => {
  const list = fc
    .tuple(
      fc.array(tie('pair'), { maxLength: 12 }),
      fc.nat(12),
      flags('kind', 'one', 'least', 'most', 'unique', 'contains', 'most1', 'tuple', 'closed'),
    )
    .map(([elements, at, has]): Pair => {
      const schemas = elements.map(({ schema }) => schema)
      const some = schemas[at % Math.max(1, schemas.length)] ?? {}
      const items = schemas.length === 0 ? {} : { [has.one ? 'oneOf' : 'anyOf']: schemas }
      const prefix = schemas.slice(0, at)
      const isTuple = has.tuple && prefix.length > 0
      const rest = has.closed && isTuple && at >= schemas.length ? false : items
      return {
        value: elements.map(({ value }) => value),
        schema: {
          ...(has.kind && { type: 'array' }),
          ...(isTuple ? { items: prefix, additionalItems: rest } : { items: rest }),
          ...(has.least && { minItems: Math.min(at, schemas.length) }),
          ...(has.most && { maxItems: schemas.length + at }),
          ...(has.unique && { uniqueItems: true }),
          ...(has.contains &&
            // ajv takes an empty list after another one for valid, unless its length is given.
            schemas.length > 0 && { contains: some, minItems: 1, ...(has.most1 && { maxContains: at + 1 }) }),
        },
      }
    })
  const record = fc
    .tuple(
      fc.uniqueArray(
        fc.tuple(
          fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('__proto__', 'a"b', 'kind')),
          tie('pair'),
        ),
        {
          maxLength: 8,
          selector: ([name]) => name,
        },
      ),
      fc.nat(8),
      flags('kind', 'required', 'closed', 'least', 'together', 'patterns', 'schemas', 'rest'),
    )
    .map(([members, at, has]): Pair => {
      const value: Record<string, unknown> = {}
      const properties: Schema = {}
      for (const [name, pair] of members) {
        for (const [target, of] of [
          [value, pair.value],
          [properties, pair.schema],
        ] as const)
          Object.defineProperty(target, name, {
            value: of,
            enumerable: true,
            writable: true,
            configurable: true,
          })
      }
      const names = members.map(([name]) => name)
      const [first, second] = names
      const any = { anyOf: members.map(([, { schema }]) => schema) }
      return {
        value,
        schema: {
          ...(has.kind && { type: 'object' }),
          ...(has.rest && names.length > 0 ? { additionalProperties: any } : { properties }),
          ...(has.required && { required: names.slice(0, at) }),
          ...(has.closed && !has.rest && { additionalProperties: false }),
          ...(has.least && { minProperties: Math.min(at, names.length) }),
          ...(has.patterns && names.length > 0 && { patternProperties: { '.': any } }),
          ...(has.together &&
            first !== undefined &&
            second !== undefined && { dependentRequired: { [first]: [second] } }),
          ...(has.schemas && first !== undefined && { dependentSchemas: { [first]: { minProperties: at } } }),
        },
      }
    })
  const combined = fc
    .tuple(
      tie('pair'),
      tie('pair'),
      fc.constantFrom('allOf', 'anyOf', 'oneOf', 'not', 'if', 'ref', 'one', 'kinds'),
    )
    .map(([{ schema, value }, other, how]): Pair => {
      const forms: Record<string, Schema> = {
        allOf: { allOf: [schema, {}] },
        anyOf: { anyOf: [other.schema, schema] },
        oneOf: { oneOf: [schema, other.schema, { type: 'string' }] },
        not: { ...schema, not: other.schema },
        if: { if: other.schema, else: schema },
        ref: { $defs: { 'a/b': schema }, $ref: '#/$defs/a~1b' },
        one: {
          oneOf: [
            schema,
            { type: 'object', required: ['kind', 'none'] },
            { maxItems: 3 },
            { additionalProperties: false },
          ],
        },
        kinds: { ...schema, type: ['string', 'number', 'boolean', 'null', 'object', 'array'] },
      }
      return { schema: forms[how] as Schema, value }
    })
  return {
    root: fc.oneof({ weight: 2, arbitrary: list }, { weight: 2, arbitrary: record }, tie('pair')),
    pair: fc.oneof({ maxDepth: 4, withCrossShrink: true }, strings, dates, scalars, list, record, combined),
  }
}).root

/** Has references lead from the root, where the definitions of nested schemas are gathered. */
function gathered(schema: unknown, all: Schema[]): unknown {
  if (Array.isArray(schema)) return schema.map((part) => gathered(part, all))
  if (typeof schema !== 'object' || schema === null) return schema
  if ('$ref' in schema) {
    const { $defs } = schema as unknown as { $defs: Schema }
    all.push(gathered($defs['a/b'], all) as Schema)
    return { $ref: `#/$defs/x~1${all.length - 1}` }
  }
  const made: Schema = {}
  for (const [name, part] of Object.entries(schema))
    Object.defineProperty(made, name, {
      value: name === 'const' || name === 'enum' ? part : gathered(part, all),
      enumerable: true,
    })
  return made
}

const options = {
  strict: false,
  validateSchema: false,
  logger: false,
  next: true,
  ownProperties: true,
} as const

function validator(schema: object) {
  const ajv = new Ajv(options)
  addFormats(ajv)
  return ajv.compile(schema)
}

/** A CommonJS module, whose export is its member `default`. */
const addFormats = formats as unknown as (ajv: Ajv) => void

/** Shares of the input's own bytes, chars and tokens. */
const limits = fc.tuple(
  fc.double({ min: 0.02, max: 1, noNaN: true }),
  fc.constantFrom('maxBytes', 'maxChars', 'maxTokens'),
)

describe('JSON under a schema', () => {
  it('validates if the input did', () => {
    let [tried, validated] = [0, 0]
    fc.assert(
      fc.property(pairs, limits, ({ schema, value }, [share, name]) => {
        const defs: Schema[] = []
        const root = gathered(schema, defs) as Schema
        const whole = { ...root, $defs: Object.fromEntries(defs.map((part, at) => [`x/${at}`, part])) }
        const validate = validator(whole)
        const text = JSON.stringify(value)
        fc.pre(validate(JSON.parse(text)))
        tried += 1
        const policy = { [name]: Math.max(1, Math.floor(Buffer.byteLength(text) * share)) }
        const made = clampJsonWithReport(text, { ...policy, schema: whole })
        expect(Buffer.byteLength(made.text)).toBeLessThanOrEqual(policy['maxBytes'] ?? 51_200)
        expect(clampJson(made.text, { ...policy, schema: whole })).toBe(made.text)
        if (made.text !== '') JSON.parse(made.text)
        if (!made.validates) return
        if (made.truncated) validated += 1
        if (!validate(JSON.parse(made.text))) expect.fail(JSON.stringify(validate.errors))
      }),
      { numRuns: 4_000 },
    )
    expect(validated).toBeGreaterThan(tried / 10)
  })
})

const RECORDS = {
  type: 'object',
  required: ['records', 'next'],
  additionalProperties: false,
  properties: {
    records: {
      type: 'array',
      minItems: 3,
      items: {
        oneOf: [
          {
            type: 'object',
            required: ['kind', 'at'],
            properties: { kind: { const: 'a' }, at: { type: 'string', format: 'date-time' } },
          },
          {
            type: 'object',
            required: ['kind', 'link'],
            properties: { kind: { const: 'b' }, link: { type: 'string', pattern: '^https:' } },
          },
        ],
      },
    },
    next: { type: ['string', 'null'] },
    note: { type: 'string' },
  },
}

test('a schema decides what stays', () => {
  const records = Array.from({ length: 200 }, (_, at) =>
    at % 2
      ? { kind: 'a', at: '2026-01-01T00:00:00.000000000000000000000Z', text: 'x'.repeat(100) }
      : { kind: 'b', link: `https://example.org/${'path/'.repeat(10)}${at}`, text: 'y'.repeat(100) },
  )
  const value = { note: 'n'.repeat(400), records, next: null }
  const validate = validator(RECORDS)
  expect(validate(value)).toBe(true)
  for (const maxBytes of [260, 400, 1_000, 5_000]) {
    const { text, validates } = clampJsonWithReport(value, { maxBytes, schema: RECORDS })
    expect([validates, validate(JSON.parse(text))], text).toEqual([true, true])
  }
  const { text, validates } = clampJsonWithReport(value, { maxBytes: 100, schema: RECORDS })
  expect([validates, validate(JSON.parse(text))]).toEqual([false, false])
  expect(clampJsonWithReport(value, { maxBytes: 100 })).not.toHaveProperty('validates')
})

test('tuples and dependencies of older drafts count', () => {
  const schema = {
    items: [{ type: 'string', enum: ['first of all of them, and long enough'] }, { type: 'number' }],
    additionalItems: { type: 'object', dependencies: { a: ['b'], c: { required: ['d'] } } },
  }
  const value = [
    'first of all of them, and long enough',
    7,
    ...Array.from({ length: 50 }, () => ({ a: 1, b: 2, c: 3, d: 'x'.repeat(90) })),
  ]
  const validate = new Ajv(options).compile(schema)
  expect(validate(value)).toBe(true)
  for (const maxBytes of [60, 120, 400]) {
    const { text, validates } = clampJsonWithReport(value, { maxBytes, schema })
    expect([validates, validate(JSON.parse(text))], text).toEqual([true, true])
  }
})

test('a name that is given twice keeps its object whole', () => {
  const schema = { required: ['a'], properties: { a: { type: 'number' } } }
  const text = `{"a":"${'x'.repeat(50)}","b":"${'y'.repeat(50)}","a":1}`
  const { validates } = clampJsonWithReport(text, { maxBytes: 80, schema })
  expect(validates).toBe(false)
})

test('a value that is not a JSON schema is refused', () => {
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  for (const schema of [[], 'object', 1, null, cycle, { '~standard': {} }])
    expect(() => clampJson('', { schema: schema as object })).toThrow(
      expect.objectContaining({
        code: 'ERR_SPILLWAY_OPTION',
        message: expect.stringContaining('schema must be a JSON schema'),
      }),
    )
})
