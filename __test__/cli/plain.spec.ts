import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { plainOf } from '../../cli/mcp/plain.js'

const name = fc.constantFrom('a', 'b', '\\u0061', 'c d', '')
const blank = fc.constantFrom('', '', ' ', '\n\t')
/** JSON with doubled members, names in escapes, blanks and numbers of any length. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom('1', '-2.50', 'null', 'true', '"x,}]"', '""', '9'.repeat(30), `0.${'3'.repeat(90)}`),
    fc.array(tie('json'), { maxLength: 4 }).map((elements) => `[${elements.join(',')}]`),
    fc
      .array(fc.tuple(name, blank, tie('json')), { maxLength: 5 })
      .map(
        (members) =>
          `{${members.map(([name, blank, value]) => `"${name}"${blank}:${value}${blank}`).join(',')}}`,
      ),
  ),
}))

it('reads as JavaScript reads the source, without doubled members', () => {
  const law = fc.property(json, (source) => {
    const { text, isOdd } = plainOf(source)
    expect(JSON.parse(text)).toEqual(JSON.parse(source))
    expect(text).not.toMatch(/[\n\t]| (?!d)/)
    // Another reader takes as much from it as JavaScript does.
    expect(plainOf(text)).toMatchObject({ text, isOdd: false })
    if (!isOdd) expect(plainOf(source).parts).toBe(plainOf(text).parts)
  })
  fc.assert(law, { numRuns: 2_000 })
})

// Text that is joined at each level would not be done before the test ends.
it('writes lists and doubled members nested at any depth', { tags: 'long' }, () => {
  const deep = 200_000
  expect(plainOf(`{"a": ${'['.repeat(deep)}1${', 1]'.repeat(deep)}}`)).toEqual({
    text: `{"a":${'['.repeat(deep)}1${',1]'.repeat(deep)}}`,
    parts: 2 * deep + 2,
    isOdd: false,
  })
  expect(plainOf(`${'{"a":'.repeat(deep)}1${',"a":2}'.repeat(deep)}`).text).toBe('{"a":2}')
})
