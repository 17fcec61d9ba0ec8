import { version } from '../../package.json'
import { glibcVersion, type Libc, libcOfProgram } from './libc.js'
import { glibc, scope, targets } from './targets.json'

/** A system as the loader sees it. */
export interface System {
  readonly platform: string
  readonly arch: string
  /** Returns the C library of a Linux, or undefined if it is unknown. */
  libc(): Libc | undefined
  /** Returns the version of glibc, for messages. */
  glibcVersion(): string | undefined
  /** Loads the engine that was built or packed into the folder of this package. */
  beside(): unknown
  /** Loads a module of another package. */
  require(id: string): unknown
}

/** The system that runs this process. The literal `require` lets a bundler copy the engine; the
 *  other one is hidden from bundlers, which would look for the packages of all systems. */
export const here: System = {
  platform: process.platform,
  arch: process.arch,
  libc: () => libcOfProgram(process.execPath) ?? (glibcVersion() === undefined ? undefined : 'glibc'),
  glibcVersion,
  beside: () => require('../../spillway.node'),
  require: (id) => (require('node:module') as typeof import('node:module')).createRequire(__filename)(id),
}

/** Loads the engine beside this package, or else from the package for this system, which must have
 *  this version. Throws an Error with code ERR_SPILLWAY_PLATFORM that says what was tried. */
export function loadEngine(system: System): unknown {
  const failures: string[] = []
  const attempt = (name: string, load: () => unknown): unknown => {
    try {
      return load()
    } catch (error) {
      failures.push(`  ${name}: ${reasonOf(error)}`)
      return undefined
    }
  }
  let engine = attempt('spillway.node in its own folder', system.beside)
  if (engine !== undefined) return engine
  for (const id of packagesFor(system)) engine ??= attempt(id, () => loadPackage(system, id))
  if (engine === undefined) throw failureOn(system, failures)
  return engine
}

/** Returns the packages for a system: both of a Linux if its C library is unknown. */
function packagesFor({ platform, arch, libc }: System): string[] {
  const fitting = targets.filter(({ os, cpu }) => os === platform && cpu === arch)
  const used = fitting.length > 1 ? libc() : undefined
  const names = fitting.filter((target) => used === undefined || target.libc === used).map(({ name }) => name)
  return names.map((name) => `${scope}/${name}`)
}

/** Loads a package. Its version is checked first, since an engine of another one may take other
 *  arguments. */
function loadPackage(system: System, id: string): unknown {
  const { version: found } = system.require(`${id}/package.json`) as { version: string }
  if (found !== version) throw new Error(`version ${found} is installed, but ${version} is needed`)
  return system.require(id)
}

function reasonOf(error: unknown): string {
  const { code, message = String(error) } = error as NodeJS.ErrnoException
  // Bun and Node have different codes.
  return code?.endsWith('MODULE_NOT_FOUND') ? 'absent' : message.replace(/\s+/g, ' ').slice(0, 500)
}

function failureOn(system: System, failures: readonly string[]): Error {
  const { platform, arch } = system
  const libc = platform === 'linux' ? `, ${libcInWords(system)}` : ''
  const names = targets.map(({ name, libc }) => (libc === 'glibc' ? `${name} (${glibc} or later)` : name))
  const isSupported = packagesFor(system).length > 0
  const lines = [
    `spillway ${version} found no engine for ${platform} ${arch}${libc}`,
    ...failures,
    `There are engines for ${names.join(', ')}.`,
    isSupported
      ? 'Install spillway on the system that runs it, with optional dependencies, and copy no node_modules from another.'
      : `There is none for ${platform} ${arch} yet.`,
    'Otherwise build it here: get its sources and Rust (https://rustup.rs), then run `npm ci` and `npm run build`.',
  ]
  return Object.assign(new Error(lines.join('\n')), { code: 'ERR_SPILLWAY_PLATFORM' })
}

function libcInWords(system: System): string {
  const libc = system.libc()
  if (libc === undefined) return 'unknown libc'
  return libc === 'glibc' ? `glibc ${system.glibcVersion() ?? '(unknown version)'}` : libc
}
