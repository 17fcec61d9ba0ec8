import { existsSync, readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { inspectSession, repairSession } from 'spillway'
import { describe, expect, it } from 'vitest'
import { agentSamples, fileOf } from '../support/agent_samples.js'
import { spillway } from '../support/cli.js'
import { scratch } from '../support/scratch.js'

const { write } = scratch()

const BIG = 'line of output\n'.repeat(90_000)
const row = (content: string, id = 'c') => JSON.stringify({ role: 'tool', tool_call_id: id, content })
const read = (path: string) => readFileSync(path, 'utf8')
const mend = (path: string) => repairSession(path, { damaged: 'mend' })
const aside = (path: string) => (existsSync(`${path}.damaged`) ? read(`${path}.damaged`) : '')

describe('damaged rows', () => {
  const torn = row('short').slice(0, 40)
  it.each([
    ['NUL bytes before a row', `${row('a')}\n${'\0'.repeat(4_096)}${row(BIG)}\n`, [row('a'), BIG], ''],
    ['a torn row before a whole one', `${row('a')}\n${torn}${row(BIG)}\n`, [row('a'), BIG], `${torn}\n`],
    ['two rows on one line', `${row('a')}${row(BIG)}\n`, [row('a'), BIG], ''],
    ['a raw newline in a string', `${row('a')}\n${row(BIG).replace('\\n', '\n')}\n`, [row('a'), BIG], ''],
    ['a torn row of metadata', `{"type":"summa\n${row(BIG)}\n`, [BIG], '{"type":"summa\n'],
  ])('are mended: %s', async (_, text, rows, scraps) => {
    const path = write(text)
    const { damaged } = await inspectSession(path)
    expect(damaged).toBeGreaterThan(0)
    const report = await mend(path)
    expect(report).toMatchObject({ changed: true, damaged })
    expect(report.damagedPath).toBe(scraps === '' ? undefined : `${path}.damaged`)
    const left = read(path).split('\n')
    expect(left.pop()).toBe('')
    expect(left).toHaveLength(rows.length)
    for (const [at, expected] of rows.entries())
      if (expected === BIG)
        expect(JSON.parse(left[at] as string).content).toMatch(/^line of output[\s\S]*truncated/)
      else expect(left[at]).toBe(expected)
    expect(aside(path)).toBe(scraps)
    expect(read(`${path}.bak`) === text).toBe(true)
    expect(await inspectSession(path)).toMatchObject({ damaged: 0, oversized: 0 })
    expect(await mend(path)).toMatchObject({ changed: false, damaged: 0 })
  })

  it('are kept byte for byte unless asked, and are never nothing to do where a result hides in one', async () => {
    const text = `${row('a')}\n${torn}${row(BIG)}\n`
    const path = write(text)
    expect(await repairSession(path)).toMatchObject({ changed: false, damaged: 1, reason: 'damaged rows' })
    expect(read(path) === text).toBe(true)
    const small = write(`${row('a')}\n${torn}\n`)
    expect(await repairSession(small)).toMatchObject({ changed: false, damaged: 1, reason: 'nothing to do' })
    await expect(repairSession(path, { damaged: 'fix' as 'mend' })).rejects.toMatchObject({
      code: 'ERR_SPILLWAY_OPTION',
    })
  })

  it('are reported in the same words by inspect and repair, with the command that mends them', async () => {
    const path = write(`${row('a')}\n${torn}${row(BIG)}\n`)
    const said = `1 row is not JSON. To mend it:\n  spillway repair --damaged mend ${path}`
    const strip = (text: string) => text.replaceAll('\n    ', '\n  ')
    expect((await spillway(['inspect', path])).stdout).toContain(said)
    const kept = await spillway(['repair', path])
    expect([kept.code, strip(kept.stdout)]).toEqual([1, expect.stringContaining(said)])
    const dry = await spillway(['repair', '--dry-run', '--damaged', 'mend', path])
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining('would be mended')])
    expect(existsSync(`${path}.damaged`)).toBe(false)
    const { code, stdout } = await spillway(['repair', '--damaged', 'mend', path])
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`1 row was not JSON: mended; text that is not a row is in ${path}.damaged`),
    ])
  })

  it('count in a budget over all results, which finds them mended', async () => {
    const path = write(
      `${row('b'.repeat(9_000), 'c1')}${row('d'.repeat(9_000), 'c2')}\n${row('e'.repeat(9_000), 'c3')}\n`,
    )
    await repairSession(path, { damaged: 'mend', aggregate: { maxChars: 9_000, protectNewest: false } })
    const texts = read(path)
      .trimEnd()
      .split('\n')
      .map((row) => JSON.parse(row).content as string)
    expect(texts).toHaveLength(3)
    expect(texts.join('').length).toBeLessThanOrEqual(9_000)
  })
})

/** A file of rows of a sample, some of them damaged, and the rows that it still holds. */
const damages = fc.array(
  fc.tuple(fc.constantFrom('whole', 'whole', 'whole', 'nul', 'glued', 'torn', 'broken'), fc.nat()),
  { minLength: 1, maxLength: 12 },
)
const samples = agentSamples.filter((sample) => typeof sample.make('x') !== 'string')

describe.each(
  samples.map((sample) => [sample.agent, sample] as const),
)('damage to a session of %s', (_, sample) => {
  const rows = fileOf(sample, 'a line\nof {"a":1} {} output, ').trimEnd().split('\n')
  it('loses nothing and invents nothing', async () => {
    await fc.assert(
      fc.asyncProperty(damages, async (damages) => {
        const [readable, torn]: [string[], string[]] = [[rows[0] as string], []]
        let text = `${rows[0]}\n`
        for (const [kind, seed] of damages) {
          const own = rows[1 + (seed % (rows.length - 1))] as string
          if (kind === 'torn') {
            const cut = own.slice(0, 1 + (seed % (own.length - 1)))
            torn.push(cut)
            text += `${text.endsWith('\n') ? '' : '\n'}${cut}\0\n`
            continue
          }
          const at = kind === 'broken' ? own.indexOf('\\n') : -1
          readable.push(own)
          if (at >= 0) text += `${text.endsWith('\n') ? '' : '\n'}${own.slice(0, at)}\n${own.slice(at + 2)}\n`
          else
            text += `${kind === 'nul' ? '\0'.repeat(1 + (seed % 5_000)) : ''}${own}${kind === 'glued' ? '' : '\n'}`
        }
        const path = write(text)
        const { damaged } = await inspectSession(path)
        const report = await repairSession(path, { damaged: 'mend', backup: false })
        expect(report.damaged).toBe(damaged)
        expect(
          read(path)
            .split('\n')
            .filter((row) => row !== ''),
        ).toEqual(readable)
        expect(aside(path)).toBe(torn.map((cut) => `${cut}\n`).join(''))
        expect(await mend(path)).toMatchObject({ changed: false, damaged: 0 })
      }),
      { numRuns: 60 },
    )
  })
})
