import { defineConfig } from 'vitest/config'

// How many times as often properties are tried: `npm run soak:properties`.
const times = Number(process.env['SPILLWAY_TIMES'] ?? 0.1)
// A test that hangs is to end, not one that a busy machine holds up.
const patience = 120_000 * Math.max(times, 1)

export default defineConfig({
  test: {
    include: ['__test__/**/*.spec.ts'],
    setupFiles: ['__test__/counts.ts'],
    testTimeout: patience,
    hookTimeout: patience,
  },
})
