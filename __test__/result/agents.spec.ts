import { beforeAll, describe, expect, it } from 'vitest'
import { type Figures, playAll, tableOf } from '../../bench/agents/run.mjs'

const TASKS = 8
const RANGE = [20_000, 300_000] as const

describe(`a scripted agent on ${TASKS} tasks`, () => {
  const runs: Record<string, Figures>[] = []
  beforeAll(async () => {
    for (let number = 0; number < TASKS; number++) runs.push(await playAll(number, RANGE))
  })
  const solvedBy = (name: string) => runs.map((run) => run[name]?.solved)

  it('solves all where it can read the rest, and none wrongly', () => {
    for (const name of ['spillway, 50 KB (default)', 'spillway, 4 KB'])
      expect(solvedBy(name)).toEqual(Array(TASKS).fill(true))
    for (const run of runs)
      for (const { wrong, solved, steps } of Object.values(run)) {
        expect(wrong).toBe(false)
        if (solved) expect(steps).toBeGreaterThan(1)
      }
  })

  it('acts on nothing that it is not shown', () => {
    // Whole results show all; lines that matter stand beyond the first 50 KB.
    const missed = runs.filter((run) => run['none']?.solved && !run['head, 50 KB']?.solved)
    expect(missed.length).toBeGreaterThan(0)
    for (const run of runs)
      if (run['head, 50 KB']?.solved) expect(run['none']?.solved || run['none']?.refused).toBe(true)
  })

  it('is the same every time', async () => {
    expect(await playAll(2, RANGE)).toEqual(runs[2])
    expect(tableOf(runs).split('\n')).toHaveLength(Object.keys(runs[0] ?? {}).length + 2)
  })
})
