// The code of others in a release: the crates that are linked into the engine of a target, and the
// npm modules that are bundled into dist/. licenses.mjs and sbom.mjs make their files of it.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file) => readFileSync(join(root, file), 'utf8')

/** Returns what cargo knows of the packages of a target. Reads the sources of a build, and fetches
 *  those that are missing. */
function metadataOf(triple) {
  const addon = ['--manifest-path', 'bindings/Cargo.toml']
  const args = ['metadata', ...addon, '--locked', '--format-version', '1', '--filter-platform', triple]
  const { status, stdout, stderr, error } = spawnSync('cargo', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (status !== 0) throw new Error(`cargo ${args.join(' ')}: ${error?.message ?? stderr}`)
  return JSON.parse(stdout)
}

/** Returns the packages that a target links. Macros and build scripts run in the compiler, and
 *  tests are not shipped. */
function linkedFor(triple) {
  const { packages, resolve } = metadataOf(triple)
  const found = new Map(packages.map((crate) => [crate.id, crate]))
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]))
  const linked = new Set()
  const visit = (id) => {
    if (linked.has(id) || found.get(id).targets.some(({ kind }) => kind.includes('proc-macro'))) return
    linked.add(id)
    for (const { pkg, dep_kinds } of nodes.get(id).deps)
      if (dep_kinds.some(({ kind }) => kind === null)) visit(pkg)
  }
  visit(resolve.root)
  return [...linked].map((id) => found.get(id)).filter(({ source }) => source !== null)
}

/** Returns the crates linked into the engine of any target, in the order of their names. */
export function linkedCrates() {
  const { targets } = JSON.parse(read('lib/loader/targets.json'))
  const crates = targets.flatMap(({ triple }) => linkedFor(triple))
  const sums = [
    ...read('Cargo.lock').matchAll(/^name = "(.+)"\nversion = "(.+)"\nsource = .+\nchecksum = "(.+)"$/gm),
  ]
  const checksums = new Map(sums.map(([, name, version, sum]) => [`${name} ${version}`, sum]))
  const rows = crates.map(({ name, version, license, authors, manifest_path, repository }) => ({
    kind: 'cargo',
    name,
    version,
    license,
    authors,
    repository,
    folder: dirname(manifest_path),
    hash: { alg: 'SHA-256', content: checksums.get(`${name} ${version}`) },
  }))
  return inOrder(new Map(rows.map((row) => [row.folder, row])).values())
}

/** Returns the npm modules bundled into dist/: the bundler writes a banner for each. */
export function bundledModules() {
  const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
  const banners = files
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => [...read(join('dist', file)).matchAll(/^\/\*! (\S+) \d\S*$/gm)])
  const lock = JSON.parse(read('package-lock.json')).packages
  const rows = [...new Set(banners.map(([, name]) => name))].map((name) => {
    const { version, integrity } = lock[`node_modules/${name}`]
    const folder = join(root, 'node_modules', name)
    const { license, repository } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
    const address = repository?.url ?? repository
    return {
      kind: 'npm',
      name,
      version,
      license,
      repository: address,
      folder,
      hash: { alg: 'SHA-512', content },
    }
  })
  return inOrder(rows)
}

function inOrder(rows) {
  const key = ({ name, version }) => `${name} ${version}`
  return [...rows].sort((a, b) => (key(a) < key(b) ? -1 : 1))
}
