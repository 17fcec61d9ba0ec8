import * as fc from 'fast-check'
import { clampResult, OutputCapture, redactText } from 'spillway'
import { describe, expect, it } from 'vitest'
import { forms } from '../../scripts/soak/secret_forms.mjs'
import keys from '../../src/redact/keys.json'
import { openText, secretName, secretText, secretValue } from '../support/secret_grammar.js'

describe('a secret with a name', () => {
  it('is replaced in every form, and what is around it stays', () => {
    fc.assert(
      fc.property(secretText, ({ text, value, isJson }) => {
        const lead = 'first line\n'
        const made = redactText(lead + text)
        expect(made).not.toContain(value)
        expect(made).toMatch(/^first line\n/)
        const [before, after] = text.split(value)
        expect(made.replace(/\[redacted: [a-z ]+\]/, value)).toBe(`${lead}${before}${value}${after}`)
        expect(redactText(made)).toBe(made)
        if (isJson) expect(() => JSON.parse(redactText(text))).not.toThrow()
      }),
      { numRuns: 20_000 },
    )
  })

  it('is replaced however its text is cut into chunks', () => {
    fc.assert(
      fc.property(
        secretText,
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        ({ text, value }, sizes) => {
          const capture = new OutputCapture({ redact: true })
          const bytes = Buffer.from(`${text}\n`)
          for (let at = 0, nth = 0; at < bytes.length; nth++) {
            const size = sizes[nth % sizes.length] ?? 1
            capture.stdout.write(bytes.subarray(at, at + size))
            at += size
          }
          const { text: made } = capture.snapshot()
          expect(made).not.toContain(value)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('is replaced in members of a result, in the member that holds it, and behind its name', () => {
    fc.assert(
      fc.property(secretName, secretValue, (name, value) => {
        const details = [
          { [name]: value },
          { [name]: [value] },
          { [name]: { value } },
          { name, value },
          { Key: name, Value: value },
          [name, value],
          ['accept', 'text/plain', name, value],
        ]
        for (const detail of details) {
          const result = { content: [{ type: 'text', text: 'ok' }], details: { detail } }
          const made = clampResult(result, { redact: true, dialect: 'pi' })
          expect(JSON.stringify(made)).not.toContain(value)
          expect(clampResult(made, { redact: true, dialect: 'pi' })).toEqual(made)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('stands in more than 30 forms', () => expect(Object.keys(forms).length).toBeGreaterThan(30))
})

it('a text without a secret stays', () => {
  fc.assert(
    fc.property(openText, (text) => {
      expect(redactText(text)).toBe(text)
    }),
    { numRuns: 100_000 },
  )
})

/** Draws characters of an alphabet such as `A-Za-z0-9_-`. */
function drawn(alphabet: string, length: number, seed: number): string {
  const ranges = (alphabet.match(/.-.|./g) ?? []).map((range) => [
    range.charCodeAt(0),
    range.charCodeAt(range.length - 1),
  ])
  const all = ranges.flatMap(([first = 0, last = 0]) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  )
  let state = seed
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647
    return String.fromCharCode(all[state % all.length] ?? 0)
  }).join('')
}

it.each(keys)('a key of $service is known without a name', ({ prefixes, alphabet, least, most }) => {
  for (const [at, prefix] of prefixes.entries())
    for (const length of new Set([Math.max(least, 16), Math.min(most, 200)])) {
      const key = prefix + drawn(alphabet.replace(/[^\w-]/g, ''), length, 7 + at)
      expect(redactText(`use ${key} now`)).not.toContain(key)
      if (/^\w[\w-]*$/.test(prefix)) expect(redactText(`x${key}`)).toBe(`x${key}`)
    }
})
