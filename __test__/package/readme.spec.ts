import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(__dirname, '../..')
const env = { ...process.env, FORCE_COLOR: '0' }
const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', env })

it('the demo shows what a plain cut loses, and ends by saying what to try next', { tags: 'long' }, () => {
  const printed = run('scripts/docs/demo.mjs')
  expect(printed.match(/✗ slice/g)).toHaveLength(4)
  expect(printed.match(/✓ spillway/g)).toHaveLength(4)
  expect(printed.match(/^ *▶ /gm)).toHaveLength(3)
  expect(printed.match(/\[tool output truncated: /g)).toHaveLength(4)
  expect(printed).toMatch(/✗ as it is .*no prompt is accepted[\s\S]*✓ repaired .*it opens again/)
  expect(printed).toMatch(/\nNext {2}wrapTools\(tools\)/)
  expect(printed).not.toContain('\x1b')
})

it('the pictures show what the demo prints', { tags: 'long' }, () => {
  expect(run('scripts/docs/picture.mjs', '--check')).toBe('')
})

it('llms.txt has the questions of docs/README.md', () => {
  expect(run('scripts/docs/llms.mjs', '--check')).toBe('')
})

it('docs/README.md links every page', () => {
  const map = readFileSync(join(root, 'docs/README.md'), 'utf8')
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
  expect(pages.filter((name) => !map.includes(`](${name}`))).toEqual([])
})
