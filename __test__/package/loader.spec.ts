import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Libc, libcOfProgram } from '../../lib/loader/libc.js'
import { here, loadEngine, type System } from '../../lib/loader/loader.js'
import { scope, targets } from '../../lib/loader/targets.json'
import { version } from '../../package.json'

const absent = (id: string) =>
  Object.assign(new Error(`Cannot find module '${id}'`), { code: 'MODULE_NOT_FOUND' })

/** A system with packages by name, each an engine or what its load throws, and the modules that
 *  were asked for. */
function faked(
  { platform = 'linux', arch = 'x64', libc = 'glibc' as Libc | 'unknown', installed = version },
  packages: Record<string, unknown>,
) {
  const asked: string[] = []
  const system: System = {
    platform,
    arch,
    libc: () => (libc === 'unknown' ? undefined : libc),
    glibcVersion: () => (libc === 'glibc' ? '2.36' : undefined),
    beside: () => system.require('beside'),
    require(id) {
      asked.push(id)
      const name = id.replace('/package.json', '')
      if (!(name in packages)) throw absent(id)
      if (name !== id) return { version: installed }
      const found = packages[name]
      if (found instanceof Error) throw found
      return found
    },
  }
  return { system, asked }
}

/** Returns the error that loading throws. */
function failureOf(system: System): Error & { code?: string } {
  try {
    loadEngine(system)
  } catch (error) {
    return error as Error
  }
  throw new Error('an engine was loaded')
}

describe('the loader', () => {
  it('takes the engine beside it, and looks for no package then', () => {
    const { system, asked } = faked({}, { beside: 'engine', [`${scope}/linux-x64-gnu`]: 'other' })
    expect(loadEngine(system)).toBe('engine')
    expect(asked).toEqual(['beside'])
  })

  it.each(targets)('takes the package $name on its system, and asks for no other', (target) => {
    const id = `${scope}/${target.name}`
    const libc = (target.libc ?? 'unknown') as Libc | 'unknown'
    const { system, asked } = faked({ platform: target.os, arch: target.cpu, libc }, { [id]: 'engine' })
    expect(loadEngine(system)).toBe('engine')
    expect(asked).toEqual(['beside', `${id}/package.json`, id])
    expect(target.name).toBe(
      [target.os, target.cpu, { glibc: 'gnu', musl: 'musl', unknown: undefined }[libc]]
        .filter(Boolean)
        .join('-'),
    )
  })

  it('tries both packages of a Linux whose C library is unknown', () => {
    const { system } = faked({ libc: 'unknown' }, { [`${scope}/linux-x64-musl`]: 'engine' })
    expect(loadEngine(system)).toBe('engine')
    expect(failureOf(faked({ libc: 'unknown' }, {}).system).message).toContain('linux x64, unknown libc')
  })

  it('says what was absent, for a supported system', () => {
    const { code, message } = failureOf(faked({}, {}).system)
    expect(code).toBe('ERR_SPILLWAY_PLATFORM')
    expect(message).toContain(`spillway ${version} found no engine for linux x64, glibc 2.36\n`)
    expect(message).toContain('spillway.node in its own folder: absent\n')
    expect(message).toContain(`${scope}/linux-x64-gnu: absent\n`)
    for (const { name } of targets) expect(message).toContain(name)
    expect(message).toContain('npm run build')
  })

  it('says so of a package of another version, and loads nothing of it', () => {
    const id = `${scope}/linux-x64-gnu`
    const { system, asked } = faked({ installed: '9.9.9' }, { [id]: 'engine' })
    expect(failureOf(system).message).toContain(`${id}: version 9.9.9 is installed, but ${version} is needed`)
    expect(asked).not.toContain(id)
  })

  it('passes on what the system says of an engine that it cannot load', () => {
    const old = new Error("/lib/libc.so.6: version `GLIBC_2.34' not found (required by\n spillway.node)")
    const { message } = failureOf(faked({}, { beside: old, [`${scope}/linux-x64-gnu`]: old }).system)
    expect(message.match(/version `GLIBC_2\.34' not found \(required by spillway\.node\)/g)).toHaveLength(2)
  })

  it.each([
    ['freebsd', 'x64'],
    ['linux', 'riscv64'],
    ['win32', 'ia32'],
  ])('says of %s %s that there is no engine for it', (platform, arch) => {
    const { system, asked } = faked({ platform, arch, libc: 'unknown' }, {})
    expect(failureOf(system).message).toContain(`There is none for ${platform} ${arch} yet.`)
    expect(asked).toEqual(['beside'])
  })

  it('reads the C library from the program that runs, as the report of Node has it', () => {
    const report = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }
    const libc = report.header.glibcVersionRuntime === undefined ? undefined : 'glibc'
    if (libc === 'glibc') expect(here.libc()).toBe('glibc')
    else expect(here.libc()).not.toBe('glibc')
  })

  it.each([
    ['/lib64/ld-linux-x86-64.so.2', 'glibc'],
    ['/lib/ld-linux-aarch64.so.1', 'glibc'],
    ['/nix/store/0c1-glibc-2.40/lib/ld-linux-x86-64.so.2', 'glibc'],
    ['/lib/ld-musl-x86_64.so.1', 'musl'],
    ['/libexec/ld-elf.so.1', undefined],
  ])('takes a program that is loaded by %s for one of %s', (loader, libc) => {
    const program = join(mkdtempSync(join(tmpdir(), 'spillway-libc-')), 'program')
    writeFileSync(program, `\x7fELF${'\0'.repeat(600)}${loader}\0`)
    expect(libcOfProgram(program)).toBe(libc)
    rmSync(join(program, '..'), { recursive: true })
    expect(libcOfProgram(program)).toBeUndefined()
  })
})

describe('a package without its engine', () => {
  let place = ''
  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), 'spillway-loader-'))
    const root = join(__dirname, '../..')
    cpSync(join(root, 'package.json'), join(place, 'package.json'))
    cpSync(join(root, 'dist'), join(place, 'dist'), {
      recursive: true,
      filter: (file) => !file.endsWith('.node'),
    })
  })
  afterAll(() => rmSync(place, { recursive: true, force: true }))

  const cli = (...args: string[]) =>
    spawnSync(process.execPath, [join(place, 'dist/cli.js'), ...args], { encoding: 'utf8', input: '' })

  it('throws ERR_SPILLWAY_PLATFORM where it is loaded', () => {
    const script = `try { require('${join(place, 'dist/index.js').replaceAll('\\', '/')}') } catch (error) { console.log(error.code) }`
    expect(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })).toBe(
      'ERR_SPILLWAY_PLATFORM\n',
    )
  })

  it('shows the help and the version on the command line all the same', () => {
    expect(cli('--help')).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('completion'),
    })
    expect(cli('--version')).toMatchObject({ status: 0, stderr: '', stdout: `${version}\n` })
  })

  it('fails in words for people, and without a stack', () => {
    const { status, stdout, stderr } = cli('clamp')
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^spillway clamp: spillway .* found no engine for /)
    expect(stderr).not.toMatch(/\n\s+at /)
  })

  it('takes the engine of an installed package', () => {
    const { name } = targets.find(
      ({ os, cpu, libc }) =>
        os === process.platform &&
        cpu === process.arch &&
        libc === (os === 'linux' ? here.libc() : undefined),
    ) as { name: string }
    const folder = join(place, 'node_modules', scope, name)
    mkdirSync(folder, { recursive: true })
    cpSync(join(__dirname, '../../dist/spillway.node'), join(folder, 'spillway.node'))
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: `${scope}/${name}`, version, main: 'spillway.node' }),
    )
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(place, 'dist/cli.js'), 'clamp', '--max-chars', '3', '--notice', 'none'],
      {
        encoding: 'utf8',
        input: 'abcdef',
      },
    )
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringMatching(/^(?:ab|ef)\n$/) })
    rmSync(join(place, 'node_modules'), { recursive: true })
  })
})
