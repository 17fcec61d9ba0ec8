import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { targets } from '../../lib/loader/targets.json'
import manifest from '../../package.json'
import { allowedLicenses, formatNotices, isMet } from '../../scripts/release/licenses.mjs'
import { bundledModules, linkedCrates } from '../../scripts/release/linked.mjs'

const root = join(__dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const run = (cwd: string, script: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(cwd, script), ...args], { cwd, encoding: 'utf8' })

describe('an expression of licences', () => {
  it.each([
    ['MIT', true],
    ['GPL-3.0', false],
    ['GPL-3.0 OR MIT', true],
    ['GPL-3.0 AND MIT', false],
    ['MIT/GPL-3.0', true],
    ['(MIT OR Apache-2.0) AND GPL-3.0', false],
    ['(MIT OR GPL-3.0) AND (ISC OR GPL-2.0)', true],
    ['GPL-3.0 AND MIT OR ISC', true],
    ['ISC OR GPL-3.0 AND MIT', true],
    ['MIT WITH a-strange-exception', false],
    ['MIT OR ISC WITH a-strange-exception', true],
    ['MIT ISC', false],
    ['(MIT', false],
    ['MIT)', false],
    ['', false],
    [undefined, false],
  ])('%s is met by MIT and ISC: %s', (expression, met) => {
    expect(isMet(expression, ['MIT', 'ISC'])).toBe(met)
  })

  type Tree = string | { word: 'AND' | 'OR'; parts: Tree[] }
  const { tree } = fc.letrec<{ tree: Tree; joined: Tree }>((tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, fc.constantFrom('MIT', 'ISC', 'GPL-3.0', 'X-1'), tie('joined')),
    joined: fc.record({
      word: fc.constantFrom('AND' as const, 'OR' as const),
      parts: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
    }),
  }))
  const spell = (tree: Tree): string =>
    typeof tree === 'string' ? tree : `(${tree.parts.map(spell).join(` ${tree.word} `)})`
  const judge = (tree: Tree, allowed: readonly string[]): boolean => {
    if (typeof tree === 'string') return allowed.includes(tree)
    const parts = tree.parts.map((part) => judge(part, allowed))
    return tree.word === 'AND' ? parts.every(Boolean) : parts.some(Boolean)
  }

  it('is read as it nests', () => {
    const allowed = ['MIT', 'ISC']
    fc.assert(
      fc.property(tree, (tree) => isMet(spell(tree), allowed) === judge(tree, allowed)),
      { numRuns: 2_000 },
    )
  })
})

it('notices that are the same stand once, below all their packages', () => {
  const text = formatNotices([
    { title: 'a 1', texts: ['same \r\n'] },
    { title: 'b 1', texts: ['other'] },
    { title: 'c 1', texts: ['same'] },
  ])
  expect(text.match(/same/g)).toHaveLength(1)
  expect(text).toContain('\na 1\nc 1\n\nsame\n')
})

describe('what is linked and bundled', () => {
  it('has its notices in the package, and they are those of now', { tags: 'long' }, () => {
    const { status, stderr } = run(root, 'scripts/release/licenses.mjs', '--check')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(manifest.files).toContain('THIRD_PARTY_LICENSES')
    const notices = read('THIRD_PARTY_LICENSES')
    const packages = [...linkedCrates(), ...bundledModules()]
    for (const { name, version } of packages) expect(notices).toContain(`\n${name} ${version} (`)
    for (const name of ['regex', 'napi', 'memchr', 'jsonc-parser', 'windows-link'])
      expect(packages.map((found) => found.name)).toContain(name)
    // Macros and tests are not shipped.
    expect(packages.filter(({ name }) => /^(?:syn|proptest|napi-derive)$/.test(name))).toEqual([])
  })

  it('is the bill of materials, with the checksums of the locks', { tags: 'long' }, () => {
    const { status, stdout } = run(root, 'scripts/release/sbom.mjs')
    expect(status).toBe(0)
    const bill = JSON.parse(stdout)
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 })
    expect(bill.serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    const lock = read('Cargo.lock')
    for (const { purl, hashes } of bill.components) {
      expect(hashes[0].content).toMatch(/^[0-9a-f]{64}(?:[0-9a-f]{64})?$/)
      if (purl.startsWith('pkg:cargo/')) expect(lock).toContain(hashes[0].content)
    }
    expect(run(root, 'scripts/release/sbom.mjs').stdout).toBe(stdout)
  })

  it('is allowed for every target that is released', () => {
    const [, list = ''] = /^targets = \[([^\]]*)\]/m.exec(read('.ci/deny.toml')) ?? []
    const names = [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name)
    expect(names.sort()).toEqual(targets.map(({ triple }) => triple).sort())
    expect(allowedLicenses(read('.ci/deny.toml'))).toContain('MIT')
  })
})

describe('a checkout whose notices are wrong', () => {
  const place = mkdtempSync(join(tmpdir(), 'spillway-licenses-'))
  beforeAll(() => {
    const files = ['scripts', 'lib', 'src', 'bindings', 'build.rs', 'package.json', 'package-lock.json']
    for (const name of [...files, 'Cargo.toml', 'Cargo.lock', '.ci/deny.toml', 'THIRD_PARTY_LICENSES'])
      cpSync(join(root, name), join(place, name), { recursive: true })
    for (const name of ['dist', 'node_modules']) symlinkSync(join(root, name), join(place, name), 'junction')
  })
  afterAll(() => rmSync(place, { recursive: true, force: true }))

  const faults: [name: string, file: string, change: (text: string) => string, message: string][] = [
    ['stale', 'THIRD_PARTY_LICENSES', (text) => text.replace('memchr 2', 'memchr 1'), 'is stale; run'],
    [
      'not allowed',
      '.ci/deny.toml',
      (text) => text.replace('"BSL-1.0", ', ''),
      'xxhash-rust 0.8.19: BSL-1.0',
    ],
  ]
  it.each(faults)('is refused: %s', { tags: 'long' }, (_, file, change, message) => {
    writeFileSync(join(place, file), change(read(file)))
    const { status, stderr } = run(place, 'scripts/release/licenses.mjs', '--check')
    writeFileSync(join(place, file), read(file))
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(message) })
  })
})
