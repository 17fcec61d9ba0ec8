import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSpillStore } from 'spillway'
import { expect, it } from 'vitest'
import { goesRound } from '../support/wait.js'

const MB = 1_000_000

it('a save takes no more memory for more bytes', { tags: 'long' }, () => {
  // Each size has a process of its own: the system counts the most memory that it ever held.
  const script = `
    const { rmSync } = require('node:fs')
    const { createSpillStore } = require('spillway')
    const [, size, dir] = process.argv
    const spill = createSpillStore({ dir, maxFileBytes: Infinity })
    const bytes = Buffer.alloc(Number(size), 'a line of some log\\n')
    const before = process.resourceUsage().maxRSS
    spill.save(bytes).then(() => {
      console.log(process.resourceUsage().maxRSS - before)
      rmSync(dir, { recursive: true })
    })`
  const added = (size: number) => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
    const args = ['-e', script, `${size}`, dir]
    return Number(execFileSync(process.execPath, args, { encoding: 'utf8', cwd: __dirname })) * 1024
  }
  const [small, large] = [added(50 * MB), added(400 * MB)]
  expect(large - small).toBeLessThan((400 * MB - 50 * MB) / 8)
})

it('a spill store leaves the event loop alone', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
  const spill = createSpillStore({ dir, maxFileBytes: Number.POSITIVE_INFINITY })
  const { id } = await spill.save(Buffer.alloc(20 * MB, 'a line of some log\n'))
  expect(await goesRound(() => spill.save(Buffer.alloc(MB)))).toBe(true)
  expect(await goesRound(() => spill.search(id, 'nothing such', { regex: true, line: 900_000 }))).toBe(true)
  expect(await goesRound(() => spill.read(id, { line: 1_000_000 }))).toBe(true)
  rmSync(dir, { recursive: true })
})
