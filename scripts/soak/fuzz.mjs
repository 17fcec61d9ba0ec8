// Fuzzes the engine under the guidance of its coverage: `npm run fuzz [target] [seconds]`.
//   node scripts/soak/fuzz.mjs [target, all unless given] [seconds of each, 60 unless given]
// It takes cargo alone; where cargo-fuzz is installed, `cargo fuzz run --fuzz-dir tests/fuzz -s
// none TARGET` does the same.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const folder = join(root, 'tests/fuzz')
const TARGETS = ['clamp', 'clean', 'selection', 'rows', 'patterns']
/** Flags that `cargo fuzz` sets, too. */
const FLAGS = [
  '-Cpasses=sancov-module',
  '-Cllvm-args=-sanitizer-coverage-level=4',
  '-Cllvm-args=-sanitizer-coverage-inline-8bit-counters',
  '-Cllvm-args=-sanitizer-coverage-pc-table',
  '-Cllvm-args=-sanitizer-coverage-trace-compares',
  '-Ccodegen-units=16',
  '--cfg=fuzzing',
]

const [, , target = 'all', seconds = '60'] = process.argv
const targets = target === 'all' ? TARGETS : [target]
if (!targets.every((name) => TARGETS.includes(name))) {
  console.error(`${target} is not a target; give one of ${TARGETS.join(', ')}, or all`)
  process.exit(2)
}
// Flags reach build scripts too unless a target is named.
const [, host] = /^host: (.*)$/m.exec(execFileSync('rustc', ['-vV'], { encoding: 'utf8' }))
const bins = targets.flatMap((name) => ['--bin', name])
const build = spawnSync('cargo', ['build', '--release', '--locked', '--target', host, ...bins], {
  cwd: folder,
  stdio: 'inherit',
  env: { ...process.env, RUSTFLAGS: FLAGS.join(' ') },
})
if (build.status !== 0) process.exit(1)

/** Starts with real outputs after some choices, and knows the words of all dialects. */
const outputs = join(root, '__test__', 'outputs')
const seeds = join(folder, 'corpus', 'seeds')
const words = join(folder, 'corpus', 'words.dict')
mkdirSync(seeds, { recursive: true })
for (const name of readdirSync(outputs))
  writeFileSync(
    join(seeds, name),
    Buffer.concat([Buffer.alloc(64, 1), readFileSync(join(outputs, name)).subarray(0, 3_000)]),
  )
const dialects = readFileSync(join(root, 'src', 'dialects.json'), 'utf8')
writeFileSync(words, [...new Set(dialects.match(/[\w-]{3,}/g))].map((word) => `"\\"${word}\\""\n`).join(''))

for (const name of targets) {
  const corpus = join(folder, 'corpus', name)
  const artifacts = join(folder, 'artifacts', name)
  for (const path of [corpus, artifacts]) mkdirSync(path, { recursive: true })
  const options = [`-max_total_time=${seconds}`, '-max_len=4096', '-timeout=20', '-print_final_stats=1']
  const { status, stderr } = spawnSync(
    join(folder, 'target', host, 'release', name),
    [...options, `-dict=${words}`, `-artifact_prefix=${artifacts}/`, corpus, seeds],
    { encoding: 'utf8', maxBuffer: 1 << 28 },
  )
  const [, runs = '?'] = /^stat::number_of_executed_units: *(\d+)/m.exec(stderr) ?? []
  const coverage = stderr.match(/(?<= cov: )\d+/g)?.at(-1) ?? '?'
  console.log(`${name}: ${runs} runs, coverage ${coverage}, ${status === 0 ? 'no fault' : 'A FAULT'}`)
  if (status === 0) continue
  console.error(stderr.slice(-6_000))
  process.exitCode = 1
}
