// Programs of hosts, each installed once into a folder of its own below target/hosts.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../target/hosts', import.meta.url))
/** Runs hosts that need more than the oldest Node that the package takes. */
const NODE = { name: 'node', package: `node-${process.platform}-${process.arch}`, version: '24.9.0' }
const PYTHONS = ['python3.14', 'python3.13', 'python3.12', 'python3']

/** Returns the command that starts a host, with the version that is installed. */
export function programOf(name, { given, file, ...host }) {
  if (given) return { command: [given], version: 'given' }
  const { place, version } = host.pip ? pip(name, host) : npm(name, host)
  const program = join(place, file)
  return { command: /\.m?js$/.test(file) ? [node(host.node), program] : [program], version }
}

function npm(name, { package: id, version, ...rest }) {
  const place = join(folder, name, 'node_modules', id)
  const manifest = join(place, 'package.json')
  const has = () => {
    // That of Node has a v before its version.
    if (existsSync(manifest)) return JSON.parse(readFileSync(manifest, 'utf8')).version.replace(/^v/, '')
  }
  if (has() !== version) {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--loglevel=error']
    // Programs of other platforms are optional packages.
    if (!rest.hasOptional) flags.push('--omit=optional')
    emptied(name)
    execFileSync('npm', ['install', ...flags, '--prefix', join(folder, name), `${id}@${version}`])
  }
  return { place, version: has() }
}

function pip(name, { pip: id, version }) {
  const place = join(folder, name)
  const python = join(place, 'bin/python')
  const has = () =>
    spawnSync(python, ['-m', 'pip', 'show', id], { encoding: 'utf8' }).stdout?.match(/^Version: (.*)$/m)?.[1]
  if (has() !== version) {
    emptied(name)
    const isNew = (name) =>
      spawnSync(name, ['-c', 'import sys; sys.exit(sys.version_info < (3, 12))']).status === 0
    const system = PYTHONS.find(isNew)
    if (!system) throw new Error(`${id} needs Python 3.12 or later`)
    execFileSync(system, ['-m', 'venv', place])
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', `${id}==${version}`], { stdio: 'pipe' })
  }
  return { place, version: has() }
}

/** Removes what another version, or an install that was cut off, left behind. */
function emptied(name) {
  rmSync(join(folder, name), { recursive: true, force: true })
  mkdirSync(join(folder, name), { recursive: true })
}

/** Returns a Node that is at least so new, this one if it is. */
function node(least = 0) {
  if (Number(process.versions.node.split('.')[0]) >= least) return process.execPath
  return join(npm(NODE.name, NODE).place, 'bin/node')
}
