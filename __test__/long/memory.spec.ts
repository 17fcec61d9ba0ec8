import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSpillStore } from 'spillway'
import { expect, it } from 'vitest'

it('a spill store leaves the event loop and the memory alone', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
  const spill = createSpillStore({ dir, maxFileBytes: Number.POSITIVE_INFINITY })
  const bytes = Buffer.alloc(100_000_000, 'a line of some log\n')
  const before = process.memoryUsage().rss
  let rounds = 0
  const timer = setInterval(() => {
    rounds += 1
  }, 1)
  const during = async <T>(call: Promise<T>): Promise<T> => {
    const start = rounds
    const result = await call
    expect(rounds).toBeGreaterThan(start)
    return result
  }
  const { id } = await during(spill.save(bytes))
  expect(process.memoryUsage().rss - before).toBeLessThan(64_000_000)
  await during(spill.search(id, 'nothing such', { regex: true, line: 4_000_000 }))
  // One page may take less than a round of the timer.
  const pages = async () => {
    for (let page = 0; page < 20; page++) await spill.read(id, { line: 5_000_000 - page })
  }
  await during(pages())
  clearInterval(timer)
  rmSync(dir, { recursive: true })
})
