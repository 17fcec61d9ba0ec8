import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('.', import.meta.url))
const wings = readdirSync(new URL('wings', import.meta.url)).map((file) => `wings/${file.replace('.ts', '')}`)

/** Rooms of lib/ and all that they import go to one file, without what an earlier group has. */
const group = (name, ...rooms) => ({
  name,
  test: (id) => rooms.some((room) => id.startsWith(`${root}lib/${room}`)),
})

// The published JavaScript. tsc checks the types. Each file that is loaded costs half a millisecond and each 40 KB one
// more, so they are few, and `text` alone is loaded at once: index.ts says what waits for its first call.
export default {
  input: {
    index: 'index.ts',
    pi: 'lib/compat/pi.ts',
    daycare: 'lib/compat/daycare.ts',
    openclaw: 'lib/compat/openclaw.ts',
    remote: 'lib/remote/remote_store.ts',
    testing: 'lib/testing/spill_store.ts',
    cli: 'cli/main.ts',
    opencode: 'cli/hook/opencode.ts',
    ...Object.fromEntries(wings.map((wing) => [wing, `${wing}.ts`])),
  },
  platform: 'node',
  // Made by napi, beside them; and the wings, which are entries of their own.
  external: /\.node$|^(?:\.|\.\.\/\.\.)\/wings\//,
  output: {
    dir: 'dist',
    format: 'cjs',
    chunkFileNames: '[name].js',
    codeSplitting: {
      groups: [
        // What the command line shows without an engine.
        {
          name: 'terminal',
          test: /\/cli\/(?:args|help|platform|summaries|terminal|usage_error|escape|mcp\/message)\.ts$/,
        },
        group('text', 'text/', 'wing.ts', 'warning.ts', 'dialect/table.ts', 'context/overflow_error.ts'),
        group('spill', 'spill/', 'clamp_event.ts'),
        group('result', 'result/', 'pairs/'),
        group('context', 'context/', 'provider_errors/'),
        group('session', 'session/'),
      ],
    },
  },
}
