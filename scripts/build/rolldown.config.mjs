import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const wings = readdirSync(new URL('../../lib/wings', import.meta.url)).map(
  (file) => `wings/${file.replace('.ts', '')}`,
)

/** Rooms of lib/ and all that they import go to one file, without what an earlier group has. */
const group = (name, ...rooms) => ({
  name,
  test: (id) => rooms.some((room) => id.startsWith(`${root}lib/${room}`)),
})

/** Returns the licences of the packages in a chunk, which each copy of their code must carry. */
function licencesOf({ moduleIds }) {
  const packages = moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [])
  return [...new Set(packages)].map(licenceOf).join('')
}

function licenceOf(dir) {
  const file = readdirSync(dir).find((name) => /^licen[cs]e/i.test(name))
  const { name, version } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  if (file === undefined) throw new Error(`${name} is bundled and has no licence`)
  return `/*! ${name} ${version}\n\n${readFileSync(join(dir, file), 'utf8').trim()}\n*/\n`
}

/** Gives JSON that is imported with `?raw` as a string without its spaces. Vite, which runs the
 *  tests, gives it as it stands. */
const rawJson = {
  name: 'raw JSON',
  load: {
    filter: { id: /\.json\?raw$/ },
    handler(id) {
      const json = readFileSync(id.replace('?raw', ''), 'utf8')
      return { code: JSON.stringify(JSON.parse(json)), moduleType: 'text' }
    },
  },
}

const GETTER =
  /Object\.defineProperty\(exports, "([\w$]+)", \{\s+enumerable: true,\s+get: function ?\(\) \{\s+return ([\w$]+);\s+\}\s+\}\);/g

/** Makes the exports of shared files plain members, unless they are variables. A getter for each
 *  takes half a millisecond more to load, and is called for every use of an import. If the
 *  bundler writes another form, the getters stay, and load.spec says so. */
const plainExports = {
  name: 'plain exports',
  renderChunk: (code) =>
    code.replace(GETTER, (getter, name, local) =>
      code.includes(`\nlet ${local}`) ? getter : `exports.${name} = ${local};`,
    ),
}

// The published JavaScript. tsc checks the types. Each file that is loaded costs half a millisecond
// and each 40 KB one more, so they are few, and `text` alone is loaded at once: lib/index.ts says
// what waits for its first call.
export default {
  input: {
    index: 'lib/index.ts',
    pi: 'lib/compat/pi.ts',
    'pi-extension': 'lib/frameworks/pi_extension.ts',
    daycare: 'lib/compat/daycare.ts',
    openclaw: 'lib/compat/openclaw.ts',
    'ai-sdk': 'lib/frameworks/ai_sdk.ts',
    'claude-agent': 'lib/frameworks/claude_agent.ts',
    langchain: 'lib/frameworks/langchain.ts',
    mastra: 'lib/frameworks/mastra.ts',
    'openai-agents': 'lib/frameworks/openai_agents.ts',
    mcp: 'lib/mcp/wrap_server.ts',
    otel: 'lib/events/otel.ts',
    remote: 'lib/remote/remote_store.ts',
    testing: 'lib/testing/testing.ts',
    cli: 'cli/main.ts',
    opencode: 'cli/hook/opencode.ts',
    ...Object.fromEntries(wings.map((wing) => [wing, `lib/${wing}.ts`])),
  },
  platform: 'node',
  // Of a bundled package, the modules rather than a bundle of its own.
  resolve: { mainFields: ['module', 'main'] },
  // Made by napi, beside them; and the wings, which are entries of their own.
  external: /\.node$|\/wings\//,
  plugins: [rawJson, plainExports],
  output: {
    dir: 'dist',
    paths: (id) => id.replace(/^.*\/wings\//, './wings/'),
    format: 'cjs',
    chunkFileNames: '[name].js',
    banner: licencesOf,
    codeSplitting: {
      groups: [
        // The parts of the command line that need no engine.
        {
          name: 'terminal',
          test: /\/cli\/(?:term\/(?:args|help|summaries|terminal|usage_error|escape)|platform)\.ts$|\/lib\/mcp\/message\.ts$/,
        },
        group('text', 'text/', 'wing.ts', 'warning.ts', 'dialects.ts', 'context/overflow_error.ts'),
        group('spill', 'spill/', 'clamp_event.ts', 'clamp_later.ts'),
        group('result', 'result/', 'pairs/'),
        group('context', 'context/', 'provider_errors/'),
        group('session', 'session/'),
      ],
    },
  },
}
