module.exports = {
  mode: 'production',
  target: 'node',
  entry: './agent.mjs',
  externals: { spillway: 'commonjs spillway' },
}
