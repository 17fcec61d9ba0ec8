import { defineConfig } from 'vitest/config'

// A test that hangs is to end, not one that a busy machine holds up.
const patience = 120_000

export default defineConfig({
  test: { include: ['__test__/**/*.spec.ts'], testTimeout: patience, hookTimeout: patience },
})
