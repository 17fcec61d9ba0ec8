import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inLines, quoted } from '../../cli/term/escape.js'
import { spillway, write } from '../support/cli.js'

/** A char on which a terminal acts, other than a tab and the end of a line. */
const ACTIVE = /[\p{Bidi_Control}\u2028\u2029]|(?![\n\t])\p{Cc}/u

const text = fc.string({
  unit: fc.oneof(fc.constantFrom('\x1b', '\x9b', '\u202e', '\r', '\n', '"'), fc.string()),
})

describe('what a terminal is shown', () => {
  it('escapes chars on which it acts, and leaves lines', () => {
    fc.assert(
      fc.property(text, (text) => {
        const shown = inLines(text)
        expect(shown).not.toMatch(ACTIVE)
        expect(shown.split('\n')).toHaveLength(text.split('\n').length)
        expect(inLines(shown)).toBe(shown)
      }),
    )
  })

  it('quotes a name in one short line', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          text.map((text) => text.repeat(999)),
        ),
        (name) => {
          const shown = quoted(name)
          expect(shown).not.toMatch(/[\n\t]/)
          expect(shown).not.toMatch(ACTIVE)
          expect(shown.length).toBeLessThan(82 * 6)
          if (name.length <= 80) expect(JSON.parse(shown)).toBe(name)
        },
      ),
    )
  })

  it('has no name of a tool on which it acts, or that fills it', async () => {
    const server = write(
      'structured.js',
      `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id } = JSON.parse(line)
        console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] }, more: 'x'.repeat(90_000) }))
      })`,
    )
    const name = `a\u202eb\x9b31m\x1b[31m${'X'.repeat(100_000)}`
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } }
    const { stderr } = await spillway(['mcp', '--no-stats', '--', process.execPath, server], {
      input: `${JSON.stringify(call)}\n`,
    })
    expect(stderr).not.toMatch(ACTIVE)
    expect(stderr.length).toBeLessThan(1_000)
    expect(stderr).toContain('"a\\u202eb\\u009b31m\\u001b[31mXXX')
  })
})
