import { build } from 'esbuild'

await build({
  entryPoints: ['agent.mjs'],
  outfile: 'dist/agent.js',
  bundle: true,
  platform: 'node',
  format: 'esm',
  loader: { '.node': 'copy' },
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
  },
})
