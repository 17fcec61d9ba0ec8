import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import type { Keep } from 'spillway'
import { describe, expect, it } from 'vitest'
import { broken, NAMES, OBJECTS, type Pipeline } from '../support/pipelines.js'

const step = fc.record({
  name: fc.constantFrom(...NAMES, ...NAMES, ...OBJECTS, ...OBJECTS),
  keep: fc.constantFrom<Keep>('auto', 'findings', 'relevant', 'head', 'tail', 'ends'),
  notice: fc.constantFrom('pi' as const, 'count' as const, 'hint' as const, 'hint' as const),
  maxChars: fc.oneof(fc.integer({ min: 300, max: 4_000 }), fc.integer({ min: 4_000, max: 30_000 })),
  maxLines: fc.oneof(fc.constant(2_000), fc.integer({ min: 12, max: 400 })),
  redact: fc.constantFrom(false, false, false, true),
  clean: fc.constantFrom(false, false, false, true),
  shape: fc.integer({ min: 0, max: 2 }),
})
const exit = fc.constantFrom(
  undefined,
  { exitCode: 0 },
  { exitCode: 1 },
  { exitCode: null, signal: 'SIGKILL' },
  { exitCode: 137, signal: 'SIGKILL', timedOut: true },
)
const pipeline: fc.Arbitrary<Pipeline> = fc.record({
  lines: fc.integer({ min: 20, max: 2_500 }),
  source: fc.constantFrom('capture', 'capture', 'tool', 'text'),
  exit,
  apart: fc.constantFrom(0, 0, 1, 2, 50),
  steps: fc.array(step, { minLength: 2, maxLength: 6 }),
})

describe('the functions of the package, one after another over one output', () => {
  it('count from the original, with one notice a stream, one save and its id, and keep the exit line', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-pipelines-'))
    let runs = 0
    try {
      const law = fc.asyncProperty(pipeline, async (pipeline) => {
        // A store of few outputs is listed fast.
        const fault = await broken(pipeline, join(dir, String(Math.floor(runs++ / 50))))
        expect(fault).toBeUndefined()
      })
      await fc.assert(law, { numRuns: 4_000 })
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
