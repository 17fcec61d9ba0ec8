// Runs the laws of repairs over generated sessions of every layout, damaged and broken, with a new
// seed each round, and counts the sessions: `npm run soak:harm`. A round is short, so that no law
// reaches its time limit, and each core runs one.
//   node scripts/soak/harm.mjs [sessions of each layout, 10000 unless given]
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sessions = Number(process.argv[2] ?? '10000')

/** Sessions of each layout in a round: three laws, each with all of its cases. */
const ROUND = 900
const SPECS = ['session_harm', 'pairs_agree']
const rounds = Math.ceil(sessions / ROUND)
let [started, failed] = [0, 0]

await Promise.all(Array.from({ length: Math.min(availableParallelism(), rounds) }, work))
console.log(`${rounds * ROUND} sessions of each layout, ${failed} rounds with findings`)
if (failed > 0) process.exitCode = 1

async function work() {
  while (started < rounds) {
    started += 1
    const seed = randomInt(2 ** 31 - 1)
    const { code, output } = await run(seed)
    if (code !== 0) failed += 1
    console.log(`seed ${seed}: ${code === 0 ? 'held' : `failed\n${output}`}`)
  }
}

function run(seed) {
  const args = ['vitest', 'run', '--reporter=dot', '--maxWorkers=1', ...SPECS]
  const env = { ...process.env, SPILLWAY_SEED: String(seed), SPILLWAY_TIMES: '1' }
  const child = spawn('npx', args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const parts = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => parts.push(part))
  return new Promise((resolve) =>
    child.on('close', (code) => resolve({ code, output: Buffer.concat(parts).toString() })),
  )
}
