// Runs commands again and again beside processes that keep two cores busy, and counts the runs that
// fail: `npm run soak:tests`. A test that fails by chance fails here.
//   node scripts/soak/steady.mjs [RUNS of npm test, 10] [RUNS of .ci/run, 3]
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const logs = join(root, 'target/steady')
const [, , tests = '10', whole = '3'] = process.argv
const busy = [1, 2].map(() => spawn(process.execPath, ['-e', 'for (;;) {}'], { stdio: 'ignore' }))
process.on('exit', () => {
  for (const child of busy) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

mkdirSync(logs, { recursive: true })
let failed = 0
for (const [name, count, command] of [
  ['npm-test', tests, ['npm', 'test']],
  ['ci-run', whole, ['bash', '.ci/run']],
])
  for (let run = 1; run <= Number(count); run++) {
    const log = join(logs, `${name}-${run}.log`)
    const [program, ...args] = command
    const output = openSync(log, 'w')
    const { status } = spawnSync(program, args, { cwd: root, stdio: ['ignore', output, output] })
    if (status !== 0) failed += 1
    console.log(`${command.join(' ')}, run ${run}: ${status === 0 ? 'passed' : `failed, see ${log}`}`)
  }
console.log(`${failed} runs failed`)
process.exitCode = failed > 0 ? 1 : 0
