import { defineConfig } from 'vitest/config'

// How many times as often properties are tried: `npm run soak:properties`.
const times = Number(process.env['SPILLWAY_TIMES'] ?? 1)
// A test that hangs is to end, not one that a busy machine holds up.
const patience = 120_000 * times

export default defineConfig({
  test: {
    include: ['__test__/**/*.spec.ts'],
    setupFiles: times > 1 ? ['__test__/longer.ts'] : [],
    testTimeout: patience,
    hookTimeout: patience,
  },
})
