// Sends far more than memory holds through the built command line, and asks what it took: `npm run
// soak:cli`.
//   node scripts/soak/cli.mjs [MB of each case, 1,074 (1 GiB) unless given]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { untilMet } from './measure.mjs'

const bin = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

/**
 * Resident memory that a long input may take in addition to a short one, in MB: Node's own buffers
 * between two garbage collections, and the limits.
 */
const MOST = 64

const log = "yes '2026-01-02 INFO server: GET /api/items took 12 ms' | head -c $N"
const line = "yes 'one more word of it' | tr -d '\\n' | head -c $N"
const cases = {
  'clamp, a log': [log, ['clamp']],
  'clamp --clean, a log': [log, ['clamp', '--clean']],
  'clamp --keep findings, a log': [log, ['clamp', '--keep', 'findings']],
  'clamp --keep ends, one long line': [line, ['clamp', '--keep', 'ends']],
  'clamp without limits, a log': [log, ['clamp', '--max-bytes', 'Infinity', '--max-lines', 'Infinity']],
  'run, a log': ['', ['run', '--', 'sh', '-c', log]],
}

const [, , size = '1074'] = process.argv
console.log(`| ${size} MB through | MB/s | resident memory, MB | beside 2 MB | |\n|---|--:|--:|--:|---|`)
for (const [name, given] of Object.entries(cases)) {
  const short = await measure(given, 2e6)
  const long = await untilMet(
    () => measure(given, Number(size) * 1e6),
    ({ code, memory }) => code !== 0 || memory - short.memory <= MOST,
  )
  const added = long.memory - short.memory
  const verdict = long.code !== 0 ? '**failed**' : added > MOST ? '**not met**' : 'met'
  if (verdict !== 'met') process.exitCode = 1
  console.log(
    `| ${name} | ${long.speed.toFixed(0)} | ${long.memory.toFixed(0)} | ${added.toFixed(0)} | ${verdict}`,
  )
}

/** Runs a case in a process that reports its peak memory at exit. */
async function measure([script, args], bytes) {
  const told = `import { writeSync } from 'node:fs'
    process.on('exit', () => writeSync(3, String(process.resourceUsage().maxRSS)))`
  const sized = (text) => text.replace('$N', bytes)
  const start = performance.now()
  const from = script && spawn('sh', ['-c', sized(script)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(told)}`, bin, ...args.map(sized)],
    { stdio: [from ? from.stdout : 'ignore', 'ignore', 'inherit', 'pipe'] },
  )
  if (from) from.stdout.destroy()
  let kilobytes = ''
  child.stdio[3].on('data', (text) => {
    kilobytes += text
  })
  const [code] = await once(child, 'close')
  const seconds = (performance.now() - start) / 1e3
  return { code, memory: (Number(kilobytes) * 1024) / 1e6, speed: bytes / 1e6 / seconds }
}
