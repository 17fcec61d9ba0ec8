// Packs this checkout as a user does, `npm run check:package`, and checks what is in the package:
// that its engine loads on the oldest glibc that is supported, that it runs where it is installed,
// that npm has nothing to warn of, and that its types resolve.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { neededVersions, versionsAbove } from '../build/elf_versions.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const place = mkdtempSync(join(tmpdir(), 'spillway-package-'))

const run = (cwd, command, ...args) =>
  spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32' && command !== process.execPath,
  })

function npm(cwd, ...args) {
  const { status, stdout, stderr } = run(cwd, 'npm', ...args)
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: exit code ${status}\n${stdout}${stderr}`)
  return stdout + stderr
}

function check(what, problem) {
  console.log(`${problem ? 'FAILED' : 'ok    '} ${what}${problem ? `: ${problem}` : ''}`)
  if (problem) process.exitCode = 1
}

try {
  const before = readFileSync(join(root, 'package.json'), 'utf8')
  npm(root, 'pack', '--pack-destination', place)
  check(
    'package.json is as before',
    readFileSync(join(root, 'package.json'), 'utf8') !== before && 'it is not',
  )
  const tarball = readdirSync(place)[0]
  writeFileSync(join(place, 'package.json'), '{ "private": true }')
  const said = npm(place, 'install', '--no-audit', '--no-fund', `./${tarball}`)
  check('npm asks for no scripts', said.includes('install-scripts') && said)
  const installed = join(place, 'node_modules/spillway')
  const { scripts, repository } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  check(
    'the packed package.json is for users',
    (scripts || repository) && JSON.stringify({ scripts, repository }),
  )
  if (process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime) {
    const { glibc } = JSON.parse(readFileSync(join(root, 'lib/loader/targets.json'), 'utf8'))
    const versions = neededVersions(readFileSync(join(installed, 'dist/spillway.node')))
    const libc = versions.filter((version) => version.startsWith('GLIBC_'))
    check(
      `the engine asks for glibc ${glibc} at most`,
      libc.length === 0 ? 'it names none' : versionsAbove(libc, glibc).join(),
    )
  }
  const { stdout, stderr } = run(
    place,
    process.execPath,
    '-e',
    "console.log(require('spillway').clampText('x'.repeat(9), { maxChars: 3 }).length)",
  )
  check('it runs', stdout !== '3\n' && stdout + stderr)
  for (const [name, ...flags] of [['publint', '--strict'], ['attw']]) {
    const { status, stdout, stderr } = run(root, 'npx', name, ...flags, join(place, tarball))
    check(name, status !== 0 && stdout + stderr)
  }
} finally {
  rmSync(place, { recursive: true, force: true })
}
