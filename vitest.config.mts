import { defineConfig } from 'vitest/config'

// How often properties are tried, as a part of what they say: a tenth by `npm test`, all by `npm
// run test:all`.
const times = Number(process.env['SPILLWAY_TIMES'] ?? 0.1)

/** Milliseconds. At full counts beside other work a property takes minutes. */
const LONG = times < 1 ? 120_000 : 600_000

export default defineConfig({
  test: {
    // Tests that take real time, or watch the memory of a process, are in __test__/long/.
    include: ['__test__/**/*.spec.ts'],
    exclude: times < 1 ? ['__test__/long/**'] : [],
    // One for each core: vitest leaves one idle, which is half of two.
    maxWorkers: '100%',
    setupFiles: ['__test__/support/counts.ts'],
    // A test that hangs is to end, not one that a busy machine holds up.
    testTimeout: LONG * Math.max(times, 1),
    hookTimeout: LONG * Math.max(times, 1),
  },
})
