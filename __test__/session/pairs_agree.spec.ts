import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { repairSession, repairToolPairs } from 'spillway'
import { describe, expect, it } from 'vitest'
import { spillway } from '../support/cli.js'
import { broken, dialects, faults, soundHistories } from '../support/pair_histories.js'
import { jsonLines, MEMORY, scratch } from '../support/scratch.js'

const { write, clear } = scratch('.jsonl', MEMORY)

/** Returns the messages of a file of rows, or of one list. */
async function stored(text: string): Promise<object[]> {
  const path = write(text)
  await repairSession(path, { pairs: true, backup: false })
  const after = readFileSync(path, 'utf8')
  expect(await repairSession(path, { pairs: true, backup: false })).toMatchObject({ changed: false })
  expect(readFileSync(path, 'utf8')).toBe(after)
  return text.startsWith('[')
    ? JSON.parse(after)
    : after.split('\n').flatMap((row) => (row ? JSON.parse(row) : []))
}

it('a look through many sessions finds all that a repair of pairs would change', {
  tags: 'long',
}, async () => {
  const [odd, all]: [Set<string>, string[]] = [new Set(), []]
  for (const dialect of dialects) {
    const cases = fc
      .tuple(soundHistories(dialect), faults)
      .map(([messages, faults]) => broken(dialect, messages, faults))
    for (const { messages } of fc.sample(cases, { numRuns: 25, seed: 1 })) {
      const path = write(jsonLines(messages))
      all.push(path)
      // No host gives a call without a result one in plain messages.
      const { orphans, rearranged, paired } = await repairSession(path, { pairs: true, dryRun: true })
      if (orphans || rearranged || paired) odd.add(path)
    }
  }
  const { stdout } = await spillway(['doctor', '--json', ...all])
  const listed = stdout.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line).path))
  expect(listed.sort()).toEqual([...odd].sort())
})

describe.each(
  dialects.map((dialect) => [dialect.name, dialect] as const),
)('pairs of %s agree', (_, dialect) => {
  const cases = fc
    .tuple(soundHistories(dialect), faults)
    .map(([messages, all]) => broken(dialect, messages, all).messages)

  it.each(['rows', 'a list'])('in %s with those of the live history', async (kind) => {
    await fc.assert(
      fc
        .asyncProperty(cases, async (messages) => {
          // A list is a session if its messages have roles.
          if (messages.length === 0 || (kind === 'a list' && !messages.some((message) => 'role' in message)))
            return
          const live = repairToolPairs(messages).messages
          const text = kind === 'rows' ? jsonLines(messages) : JSON.stringify(messages)
          expect(await stored(text)).toEqual(JSON.parse(JSON.stringify(live)))
        })
        .afterEach(clear),
      { numRuns: 300 },
    )
  })
})
