import type * as fc from 'fast-check'
import { vi } from 'vitest'

const times = Number(process.env['SPILLWAY_TIMES'])

// Every property is tried so many times as often.
vi.mock('fast-check', async (importActual) => {
  const real = await importActual<typeof import('fast-check')>()
  const longer = (property: fc.IRawProperty<unknown>, params: fc.Parameters<unknown> = {}) =>
    real.assert(property, { ...params, numRuns: (params.numRuns ?? 100) * times })
  return { ...real, assert: longer }
})
