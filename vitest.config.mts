import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** How often properties are tried, in times of what they say. */
const times = Number(process.env['SPILLWAY_TIMES'] ?? 0)

/** Milliseconds. A test that hangs is to end, not one that a busy machine holds up: at full counts
 *  beside other work a property takes minutes. */
const LIMIT = 600_000 * Math.max(times, 1)

const root = fileURLToPath(new URL('.', import.meta.url))

/** Folders of specs that leave their process as it was: it runs one after another of them. Any other
 *  spec has a process of its own. */
const PURE = [
  'capture',
  'compat',
  'context',
  'dialect',
  'frameworks',
  'json',
  'mcp',
  'media',
  'openclaw',
  'pairs',
  'provider_errors',
  'redact',
  'result',
  'session',
  'spill',
  'text',
]

/** Specs of the command line share a folder, which the first of them to end removes. */
const isPure = (spec: string) => !readFileSync(`${root}${spec}`, 'utf8').includes("/support/cli.js'")
const pure = PURE.flatMap((folder) =>
  readdirSync(`${root}__test__/${folder}`)
    .filter((name) => name.endsWith('.spec.ts'))
    .map((name) => `__test__/${folder}/${name}`),
).filter(isPure)

export default defineConfig({
  test: {
    tags: [
      {
        name: 'long',
        description: 'Takes half a second or more of a processor, or of waiting. Not run by `npm test`.',
      },
    ],
    // One for each core: vitest leaves one idle, which is half of two.
    maxWorkers: '100%',
    setupFiles: ['__test__/support/counts.ts'],
    testTimeout: LIMIT,
    hookTimeout: LIMIT,
    projects: [
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      { extends: true, test: { name: 'rest', include: ['__test__/**/*.spec.ts'], exclude: pure } },
    ],
  },
})
