import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isMet, poolOf, type Run, run, summary } from '../../scripts/soak/simulation.mjs'

const SESSIONS = 60
const corpus = join(__dirname, '../../bench/corpus/held-out')

/** Counts as tokenizers do, in a simple way: short words and syllables, digits by three, runs of
 *  the rest. */
const PIECES = /\p{Script=Han}|\p{L}{1,5}|\d{1,3}|\s+|[^\s\p{L}\d]{1,3}/gu

describe(`${SESSIONS} random sessions`, { tags: 'long' }, () => {
  it('end with an answer wherever truncation can save them, and in few sends', async () => {
    const samples = readdirSync(corpus).map(
      (name) => [name, readFileSync(join(corpus, name), 'utf8')] as const,
    )
    const pool = poolOf(samples)
    const known = new Map<string, number>()
    const count = (text: string) => {
      let sum = 0
      for (const line of text.split('\n')) {
        const tokens = known.get(line) ?? line.match(PIECES)?.length ?? 0
        known.set(line, tokens)
        sum += tokens + 1
      }
      return sum
    }
    const runs: Run[] = []
    for (let number = 0; number < SESSIONS; number++) runs.push(await run(number, pool, count))
    const figures = summary(runs)
    expect(figures).toMatchObject({ sessions: SESSIONS, lost: [], upsideDown: [], loops: [], saved: 1 })
    expect(isMet(figures)).toBe(true)
    // It is not a matter of sessions that fit as they are.
    expect(figures.savableOverflowed).toBeGreaterThan(SESSIONS / 5)
    expect(figures.sends[1]).toBeGreaterThan(0)
    expect(figures.thrown).toBeGreaterThan(1e6)
    expect(await run(7, pool, count)).toEqual(runs[7])
  })
})
