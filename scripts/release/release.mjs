// Prepares the packages of a release, as .github/workflows/release.yml does:
//   node scripts/release/release.mjs platform NAME DIR   makes the package of one target in DIR, from dist/spillway.node
//   node scripts/release/release.mjs main                makes package.json that of the release, without an engine of its own
// GITHUB_REPOSITORY says where they come from, since npm asks for that with provenance.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, env, exit } from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'))

/** Returns the members of a package.json that say where a package comes from. */
function originOf(slug) {
  const url = `https://github.com/${slug}`
  const [owner] = slug.split('/')
  return {
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
    repository: { type: 'git', url: `git+${url}.git` },
    author: { name: owner, url: `https://github.com/${owner}` },
  }
}

/** Returns package.json of the package that carries the engine of a target. */
export function platformManifest({ name, os, cpu, libc }, scope, { version, license, engines }, slug) {
  return {
    name: `${scope}/${name}`,
    version,
    description: `The engine of spillway for ${name}`,
    license,
    ...originOf(slug),
    main: './spillway.node',
    files: ['spillway.node', 'THIRD_PARTY_LICENSES'],
    engines,
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
  }
}

/** Returns a package.json without what only a checkout needs. npm warns users of the scripts in
 *  it. */
export function packedManifest({ scripts, devDependencies, overrides, napi, ...packed }) {
  return packed
}

/** Returns package.json of spillway itself, which depends on the package of each target in its own
 *  version. */
export function mainManifest(manifest, scope, targets, slug) {
  const optionalDependencies = Object.fromEntries(
    targets.map(({ name }) => [`${scope}/${name}`, manifest.version]),
  )
  return {
    ...packedManifest(manifest),
    ...originOf(slug),
    files: [...manifest.files, '!dist/*.node'],
    optionalDependencies,
  }
}

function write(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}

function main([command, name, dir]) {
  const slug = env.GITHUB_REPOSITORY
  if (!slug) throw new Error('GITHUB_REPOSITORY is not set; expected OWNER/NAME')
  const { scope, targets } = read('lib/loader/targets.json')
  const manifest = read('package.json')
  const tag = env.GITHUB_REF_NAME
  if (env.GITHUB_REF_TYPE === 'tag' && tag !== `v${manifest.version}`)
    throw new Error(
      `the tag is ${tag}, but package.json has version ${manifest.version}; expected v${manifest.version}`,
    )
  if (command === 'main')
    return write(join(root, 'package.json'), mainManifest(manifest, scope, targets, slug))
  const target = targets.find((target) => target.name === name)
  if (command !== 'platform' || !target || !dir)
    throw new Error(
      `usage: release.mjs main, or release.mjs platform NAME DIR; NAME is one of ${targets.map(({ name }) => name).join(', ')}`,
    )
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  write(join(dir, 'package.json'), platformManifest(target, scope, manifest, slug))
  copyFileSync(join(root, 'dist/spillway.node'), join(dir, 'spillway.node'))
  for (const name of ['LICENSE', 'THIRD_PARTY_LICENSES']) copyFileSync(join(root, name), join(dir, name))
  writeFileSync(
    join(dir, 'README.md'),
    `# ${scope}/${name}\n\nThe engine of spillway for ${name}. Install \`spillway\`, which depends on it.\n`,
  )
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main(argv.slice(2))
  } catch (error) {
    console.error(error.message)
    exit(1)
  }
}
