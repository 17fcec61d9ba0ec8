import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import manifest from '../../package.json'

// The folder as somebody copies it, with this package in node_modules. Its own tests drive it
// against the stub of a provider.

const root = join(__dirname, '../..')
const folder = join(root, 'target/example')
const tsc = join(root, 'node_modules/typescript/bin/tsc')
const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(root, 'examples/openai-agent'), folder, { recursive: true })
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
  symlinkSync(root, join(folder, 'node_modules/spillway'), 'junction')
  symlinkSync(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'), 'junction')
})

it('compiles strictly', { tags: 'long' }, () => {
  const { stdout } = run(tsc)
  expect(stdout).toBe('')
})

it('passes its own tests: 20 MB, a full window, a restart, a secret', { tags: 'long' }, () => {
  execFileSync(process.execPath, [tsc, '--noEmit', 'false', '--outDir', 'built'], { cwd: folder })
  const { status, stdout } = run('--test', '--test-reporter=tap', 'built/agent.test.js')
  expect(stdout).toMatch(/^# pass 4$/m)
  expect(status).toBe(0)
})

it('asks for this package', () => {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  expect(dependencies).toEqual({ spillway: `^${manifest.version}` })
})
