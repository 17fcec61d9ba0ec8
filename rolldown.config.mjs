import { fileURLToPath } from 'node:url'

const lib = fileURLToPath(new URL('lib/', import.meta.url))
const compat = fileURLToPath(new URL('lib/compat', import.meta.url))
const isShared = (id) => id.startsWith(lib) && !id.startsWith(compat) && id.endsWith('.ts')

// The published JavaScript: few files, since each that is loaded costs half a millisecond. tsc checks the types.
export default {
  input: {
    index: 'index.ts',
    pi: 'lib/compat/pi.ts',
    daycare: 'lib/compat/daycare.ts',
    openclaw: 'lib/compat/openclaw.ts',
    cli: 'cli/main.ts',
  },
  platform: 'node',
  // Made by napi, beside them.
  external: /\/native\.js$/,
  output: {
    dir: 'dist',
    format: 'cjs',
    chunkFileNames: '[name].js',
    codeSplitting: { groups: [{ name: 'shared', test: isShared }] },
  },
}
