import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(__dirname, '..')

it('the example of the README prints what the README shows', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [, code = '', shown] = /## Example\n\n```js\n([\s\S]*?)```\n\n```\n([\s\S]*?)```/.exec(readme) ?? []
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(printed.trimEnd()).toBe(shown?.trimEnd())
})

it('the demo keeps every output within its limits', () => {
  const printed = execFileSync(process.execPath, ['examples/demo.mjs'], { cwd: root, encoding: 'utf8' })
  expect(printed).toContain('All within 51,200 bytes and 2,000 lines.')
  expect(printed.match(/\[tool output truncated: /g)).toHaveLength(5)
  expect(printed).toMatch(/failing test run[\s\S]*operator: 'strictEqual'/)
  expect(printed).toMatch(
    /live build[\s\S]*\| src\/cart.ts:7:12 - error TS2304: [\s\S]*full output saved as [0-9a-f]{16}/,
  )
  expect(printed).toMatch(
    /read_output, a search\n[\s\S]*error TS2304[\s\S]*read_output, a page\n[\s\S]*error TS2304/,
  )
})
