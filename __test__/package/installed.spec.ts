import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(__dirname, '../..')

it('the package runs by npx from its tarball in an empty project', { tags: 'long' }, () => {
  const place = mkdtempSync(join(tmpdir(), 'spillway-pack-'))
  const npm = (...args: string[]) =>
    execFileSync('npm', args, {
      cwd: place,
      encoding: 'utf8',
      input: 'a line\n'.repeat(9_000),
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, npm_config_cache: join(place, 'cache'), npm_config_offline: 'true' },
    })
  try {
    const [packed] = JSON.parse(npm('pack', root, '--ignore-scripts', '--json'))
    const files = packed.files.map(({ path }: { path: string }) => path)
    expect(files).toContain('dist/cli.js')
    expect(files.filter((path: string) => /^(?:cli|__test__|lib|src)\//.test(path))).toEqual([])
    writeFileSync(join(place, 'package.json'), '{}')
    const spillway = (...args: string[]) =>
      npm('exec', '--yes', `--package=./${packed.filename}`, '--', 'spillway', ...args)
    expect(spillway('--version')).toBe(`${packed.version}\n`)
    expect(spillway('clamp', '--max-lines', '5')).toMatch(/^(?:a line\n)+\n\[tool output truncated: /)
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
})
