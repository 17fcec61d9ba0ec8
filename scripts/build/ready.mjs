// Installs and builds everything that is missing or out of date, with the quick profile. A clone
// then needs no other command before `npm test` or `npm run demo`. npm also runs it as `prepare`,
// after it has installed the packages: that takes the release build.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

const SOURCES = [
  'src',
  'bindings',
  'lib',
  'cli',
  'build.rs',
  'Cargo.toml',
  'Cargo.lock',
  'scripts/build/rolldown.config.mjs',
]
/** Outputs of the two parts of a build. */
const OUTPUTS = ['dist/spillway.node', 'dist/index.js']

/** Reads the packages of a lockfile, by folder. */
const packages = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).packages

/** Returns true if the packages of the lockfile are installed. Optional packages may be for another
 *  platform. */
function isInstalled() {
  if (!existsSync(join(root, 'node_modules/.package-lock.json'))) return false
  const installed = packages('node_modules/.package-lock.json')
  const wanted = Object.entries(packages('package-lock.json')).filter(([folder]) => folder !== '')
  return wanted.every(([folder, { version, optional }]) =>
    folder in installed ? installed[folder].version === version : optional,
  )
}

/** Returns the time of the last change of a file, or of any file in a folder, in ms. */
function changed(path) {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(...readdirSync(path).map((name) => changed(join(path, name))))
}

function isBuilt() {
  const outputs = OUTPUTS.map((file) => join(root, file))
  if (!outputs.every((file) => existsSync(file))) return false
  const sources = SOURCES.map((file) => changed(join(root, file)))
  return Math.max(...sources) <= Math.min(...outputs.map(changed))
}

function npm(...args) {
  const script = process.env.npm_execpath
  const [command, ...rest] = script ? [process.execPath, script, ...args] : ['npm', ...args]
  const { status } = spawnSync(command, rest, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

const isPrepare = process.env.npm_lifecycle_event === 'prepare'
const builds = isPrepare || !isBuilt()
if (builds && spawnSync('cargo', ['--version']).error) {
  console.error(
    'Rust is missing, and spillway is built with it. Install it from https://rustup.rs, then try again.',
  )
  process.exit(1)
}
const installs = !isPrepare && !isInstalled()
if (installs && builds) {
  const count = Object.keys(packages('package-lock.json')).length - 1
  console.error(`Installs ${count} packages, then builds the engine: 1 to 7 minutes, once.`)
}
if (installs) npm('ci', '--ignore-scripts', '--no-audit', '--no-fund')
if (builds) npm('run', isPrepare ? 'build' : 'build:quick')
