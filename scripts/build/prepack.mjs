// Makes ready what `npm pack` packs: the release build, on a Linux with glibc against the oldest
// one that is supported if the tools for that can be had, and a package.json without the scripts of
// a checkout. postpack.mjs puts package.json back.
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { packedManifest } from '../release/release.mjs'
import { buildForGlibc } from './glibc_build.mjs'

const path = (file) => fileURLToPath(new URL(`../../${file}`, import.meta.url))
const manifest = path('package.json')
const saved = path('target/package.json')

function build(script) {
  const { status } = spawnSync('npm', ['run', script], {
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(1)
}

const { glibc, targets } = JSON.parse(readFileSync(path('lib/loader/targets.json'), 'utf8'))
const runsGlibc = process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime
const target = targets.find(({ os, cpu, libc }) => os === 'linux' && cpu === process.arch && libc === 'glibc')

build(runsGlibc && target ? 'build:ts' : 'build')
if (runsGlibc && target) {
  try {
    buildForGlibc(target.triple, glibc)
  } catch (error) {
    console.error(`${error.message}\nPacking the engine for this system alone, without glibc ${glibc}.`)
    build('build')
  }
}
build('build:man')

// A pack that was killed has left the whole one.
const isWhole = 'scripts' in JSON.parse(readFileSync(manifest, 'utf8'))
if (isWhole) copyFileSync(manifest, saved)
const packed = packedManifest(JSON.parse(readFileSync(saved, 'utf8')))
writeFileSync(manifest, `${JSON.stringify(packed, null, 2)}\n`)
