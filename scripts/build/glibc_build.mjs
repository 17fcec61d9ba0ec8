// Builds the engine of a Linux against the oldest glibc that the list of targets promises, and puts
// it into dist/. zig has the headers and symbols of each glibc: cargo-zigbuild comes from crates.io
// and zig from PyPI, both into target/tools. pip checks the digests of zig in
// zig.txt. A second build does what cargo finds to do.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const tools = join(root, 'target/tools')
const python = join(tools, 'python')

const ZIGBUILD = '0.24.1'
const ZIG = fileURLToPath(new URL('zig.txt', import.meta.url))

function run(command, args, env = {}) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, ...env },
  })
  if (status === 0) return
  throw new Error(
    `${command} ${args.join(' ')}: ${error?.message ?? `exit code ${status}`}\nAn engine for old systems takes Python 3 with pip, and what is on crates.io and PyPI.`,
  )
}

function install() {
  if (!existsSync(join(tools, `bin/cargo-zigbuild`)))
    run('cargo', ['install', '--quiet', '--locked', '--root', tools, `cargo-zigbuild@${ZIGBUILD}`])
  const [, version] = /^ziglang==(\S+)/m.exec(readFileSync(ZIG, 'utf8'))
  if (existsSync(join(python, `ziglang-${version}.dist-info`))) return
  const checked = ['--require-hashes', '--only-binary', ':all:', '--no-deps', '--requirement', ZIG]
  run('python3', ['-m', 'pip', 'install', '--quiet', '--upgrade', '--target', python, ...checked])
}

/** Builds the engine of a target, such as `x86_64-unknown-linux-gnu`, for a version of glibc, such
 *  as `2.17`. */
export function buildForGlibc(triple, glibc) {
  install()
  run('cargo', ['zigbuild', '--release', '--package', 'spillway-node', '--target', `${triple}.${glibc}`], {
    PATH: [join(tools, 'bin'), process.env.PATH].join(delimiter),
    PYTHONPATH: python,
    CARGO_ZIGBUILD_CACHE_DIR: join(tools, 'cache'),
    ZIG_GLOBAL_CACHE_DIR: join(tools, 'cache/zig'),
    ZIG_LOCAL_CACHE_DIR: join(tools, 'cache/zig'),
  })
  // A process may have the old file in memory.
  const made = join(root, 'dist/spillway.node.new')
  copyFileSync(join(root, 'target', triple, 'release/libspillway_node.so'), made)
  renameSync(made, join(root, 'dist/spillway.node'))
}
