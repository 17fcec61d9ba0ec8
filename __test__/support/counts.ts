import type * as fc from 'fast-check'
import { vi } from 'vitest'

/** Every property is tried a hundredth as often as it says by `npm test`, as often by `npm run
 *  test:all`. */
const times = Number(process.env['SPILLWAY_TIMES'] ?? 0.01)
/** Runs that a property has at least, unless it asks for fewer. */
const LEAST = 4
/** The seed of all properties: a change is to fail by what it changes, not by the day's cases. */
const seed = process.env['SPILLWAY_SEED'] ?? '1'

vi.mock('fast-check', async (importActual) => {
  const real = await importActual<typeof import('fast-check')>()
  const scaled = (numRuns = 100) => Math.max(Math.round(numRuns * times), Math.min(numRuns, LEAST))
  const assert = (property: fc.IRawProperty<unknown>, params: fc.Parameters<unknown> = {}) =>
    real.assert(property, {
      ...(seed !== 'random' && { seed: Number(seed) }),
      ...params,
      numRuns: scaled(params.numRuns),
    })
  return { ...real, assert, default: { ...real.default, assert } }
})
