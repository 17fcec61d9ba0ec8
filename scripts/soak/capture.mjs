// Captures far more than memory holds, from real children, and compares what a process takes with
// what another takes for a quarter of the output: `npm run soak:capture`.
//   node scripts/soak/capture.mjs [MB of each case, 4,295 (4 GiB) unless given]
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createSpillStore, measureText, OutputCapture } from 'spillway'
import { untilMet } from './measure.mjs'

/** Bytes by which the memory for all of the output may exceed the memory for a quarter: a collector
 *  comes late on a busy machine. */
const MOST = 16e6

const cases = {
  yes: ['yes | head -c $N', {}],
  'yes, kept as it is': ['yes | head -c $N', { clean: false }],
  'zeros, saved': ['head -c $N /dev/zero', { spill: true }],
  'one long line': ["yes 'one more word of it' | tr -d '\\n' | head -c $N", {}],
  'one long line, cut': [
    "yes 'one more word of it' | tr -d '\\n' | head -c $N",
    { maxLineBytes: 500, keep: 'ends' },
  ],
  'a log, both ends, saved': [
    "yes '2026-01-02 INFO server: GET /api/items took 12 ms' | head -c $N",
    { keep: 'ends', clean: false, spill: true },
  ],
  'a log, searched, whose other stream fails': [
    "(echo 'error: the disk is full' >&2; yes '2026-01-02 INFO server: GET /api/items took 12 ms' | head -c $N; exit 1)",
    { keep: 'auto', clean: false, streams: 'separate' },
  ],
  'a bar that is drawn again and again': [
    "yes \"$(printf '\\r10%% ####      \\r20%% ########  ')\" | tr -d '\\n' | head -c $N",
    {},
  ],
}

const [, , size = '4295', name] = process.argv
if (name) await one(name, Number(size) * 1e6)
else await all()

/** Runs each case in a process of its own. */
async function all() {
  console.log(
    `| ${size} MB of | MB/s | memory of a quarter, MB | growth to all, MB | |\n|---|--:|--:|--:|---|`,
  )
  for (const name of Object.keys(cases)) {
    const script = fileURLToPath(import.meta.url)
    const run = (size) =>
      JSON.parse(execFileSync(process.execPath, [script, `${size}`, name], { encoding: 'utf8' }))
    const small = run(Number(size) / 4)
    const large = await untilMet(
      () => run(Number(size)),
      ({ most }) => most - small.most <= MOST,
    )
    const growth = large.most - small.most
    const wrong = [...small.wrong, ...large.wrong]
    const verdict = wrong.length > 0 ? `**${wrong.join(', ')}**` : growth <= MOST ? 'met' : '**not met**'
    if (verdict !== 'met') process.exitCode = 1
    const figures = [large.speed.toFixed(0), ...[small.most, growth].map((bytes) => (bytes / 1e6).toFixed(1))]
    console.log(`| ${name} | ${figures.join(' | ')} | ${verdict} |`)
  }
}

async function one(name, bytes) {
  const [script, { spill, ...options }] = cases[name]
  const dir = mkdtempSync(join(tmpdir(), 'spillway-soak-'))
  const run = (bytes) => {
    const store = spill ? { spill: createSpillStore({ dir }) } : {}
    const child = spawn('sh', ['-c', script.replaceAll('$N', bytes)], { stdio: ['ignore', 'pipe', 'pipe'] })
    return new OutputCapture({ ...options, ...store }).attach(child)
  }
  const start = performance.now()
  const result = await run(bytes)
  const seconds = (performance.now() - start) / 1e3
  const { maxBytes = 51_200, maxLines = 2_000 } = options
  const size = measureText(result.text)
  const checks = {
    'bytes were lost': result.total.bytes - (result.stderr ? result.stderr.length : 0) === bytes,
    'the text is too long': size.bytes <= maxBytes && size.lines <= maxLines,
    'the exit is missing': /\[exit code [01]\]$/.test(result.text),
    'the other stream is missing':
      options.streams !== 'separate' || result.text.includes('error: the disk is full'),
    'the file is wrong':
      !spill ||
      (result.spill.bytes === bytes && statSync(result.spill.path).size === Math.min(bytes, 64 << 20)),
  }
  rmSync(dir, { recursive: true })
  const wrong = Object.keys(checks).filter((check) => !checks[check])
  // The system counts the most that this process ever held.
  const most = process.resourceUsage().maxRSS * 1024
  console.log(JSON.stringify({ most, speed: bytes / 1e6 / seconds, wrong }))
}
