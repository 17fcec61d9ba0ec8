export default {
  mode: 'production',
  target: 'node',
  entry: './agent.mjs',
  experiments: { outputModule: true },
  output: { module: true },
  externals: { spillway: 'module spillway' },
}
