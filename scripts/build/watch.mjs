// Runs tests whenever a source changes: `npm run watch -- selection:: __test__/text/text.spec.ts`.
// A name with `::` is a unit test of the engine, which runs after a change in src/. Anything else
// names specs, which run after a change in lib/, cli/ or __test__/, on a new build of TypeScript.
import { spawnSync } from 'node:child_process'
import { watch } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const names = process.argv.slice(2)
const rust = names.filter((name) => name.includes('::'))
const specs = names.filter((name) => !name.includes('::'))

/** An editor writes a file in several steps: what comes within these milliseconds is one change. */
const SETTLED = 50

const run = (command, ...args) => spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status === 0

const testRust = () => rust.every((name) => run('cargo', 'test', '--package', 'spillway', '--lib', name))
const testSpecs = () => run('npm', 'run', '--silent', 'build:ts') && run('npx', 'vitest', 'run', ...specs)

const tests = {
  ...(rust.length > 0 && { src: testRust }),
  ...(specs.length > 0 && { lib: testSpecs, cli: testSpecs, __test__: testSpecs }),
}
if (names.length === 0) {
  console.error('Name tests to run, such as `npm run watch -- selection:: __test__/text/text.spec.ts`.')
  process.exit(1)
}

let due = new Set(Object.values(tests))
let timer = setTimeout(runDue, 0)
for (const [folder, test] of Object.entries(tests))
  watch(join(root, folder), { recursive: true }, () => {
    due.add(test)
    clearTimeout(timer)
    timer = setTimeout(runDue, SETTLED)
  })

function runDue() {
  const now = due
  due = new Set()
  for (const test of now) test()
}
