// Runs two builds of the package over the same inputs and prints each result that differs:
//   node scripts/release/differences.mjs OLD NEW [CASES]
// OLD and NEW are folders with a built package: package.json and dist/. CASES is the number of
// random cases (20,000). A change that must not be seen by a user is run against the commit before
// it. Inputs are the samples of all dialects under 40 policies, the outputs of real tools, and
// random texts, results, histories, sessions and captures.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { rolldown } from 'rolldown'

/** Differences printed whole; more are counted. */
const SHOWN = 20
/** Chars printed of each of two results, from where they differ. */
const WINDOW = 160

const root = fileURLToPath(new URL('../..', import.meta.url))
const require = createRequire(import.meta.url)
const [old, current] = process.argv
  .slice(2, 4)
  .map((folder) => require(join(resolve(folder), 'dist/index.js')))
const cases = Number(process.argv[4] ?? 20_000)
const scratch = mkdtempSync(join(tmpdir(), 'spillway-differences-'))

/** Bundles a module of the tests, which is TypeScript, and imports it. */
async function testModule(name) {
  const bundle = await rolldown({
    input: join(root, '__test__/support', name),
    external: [/^[^./]/],
    platform: 'node',
  })
  const file = join(root, 'node_modules/.cache', `spillway-${name.replace(/\W/g, '_')}.mjs`)
  await bundle.write({ file, format: 'esm' })
  return import(file)
}

const { samples } = await testModule('samples.ts')
const { hostileText, failingLog, policies, searching } = await testModule('hostile.ts')

/** Fixed by a seed, so that both builds and a second run see the same. */
const sample = (arbitrary, count) => fc.sample(arbitrary, { numRuns: count, seed: 1 })

const OUTPUTS = join(root, '__test__/outputs')
const outputs = readdirSync(OUTPUTS)
  .filter((name) => /\.txt(\.gz)?$/.test(name))
  .map((name) => readFileSync(join(OUTPUTS, name)))
  .map((bytes) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString())

/** Returns what a call gives: its value or the code and message of its error. */
async function outcome(call) {
  try {
    return { value: await call() }
  } catch (error) {
    return { threw: `${error.name} ${error.code}: ${error.message}` }
  }
}

let compared = 0
let differing = 0

async function compare(name, policy, call) {
  const [before, after] = [await outcome(() => call(old)), await outcome(() => call(current))]
  compared += 1
  if (isDeepStrictEqual(before, after)) return
  differing += 1
  if (differing > SHOWN) return
  const [was, is] = [before, after].map((value) => JSON.stringify(value) ?? 'undefined')
  const at = [...was].findIndex((char, index) => char !== is[index])
  const from = Math.max(0, (at < 0 ? Math.min(was.length, is.length) : at) - WINDOW / 4)
  console.log(
    `${name} ${JSON.stringify(policy)}\n- ${was.slice(from, from + WINDOW)}\n+ ${is.slice(from, from + WINDOW)}`,
  )
}

async function texts(name, text, policy) {
  await compare(`clampText ${name}`, policy, ({ clampText }) => clampText(text, policy))
  const bytes = Buffer.from(text)
  await compare(`clampTextWithReport ${name}`, policy, (of) => of.clampTextWithReport(bytes, policy))
}

/** The same session, repaired in a folder of its own; what stays in the file. */
async function repaired({ repairSession }, rows, policy) {
  const folder = mkdtempSync(join(scratch, 's'))
  const file = join(folder, 'session.jsonl')
  writeFileSync(file, rows)
  const { changed, rows: count } = await repairSession(file, policy)
  const bytes = readFileSync(file, 'utf8')
  rmSync(folder, { recursive: true })
  return { changed, count, bytes }
}

/** All that a capture gives for chunks of a text. */
async function captured({ OutputCapture }, text, size, policy) {
  const capture = new OutputCapture(policy)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) capture.write(bytes.subarray(at, at + size))
  capture.end()
  return capture.finish()
}

for (const policy of sample(policies, 40)) {
  const rows = []
  for (const { name, make } of samples)
    for (const text of [outputs[3], ...sample(failingLog, 1), ...sample(hostileText, 1)]) {
      const value = make(text)
      rows.push(`${JSON.stringify({ type: 'message', message: value })}\n`)
      await compare(`clampResult ${name}`, policy, ({ clampResult }) => clampResult(value, policy))
      await compare(`clampMessages ${name}`, policy, (of) => of.clampMessages([value, value], policy))
    }
  await compare('repairSession', policy, (of) => repaired(of, rows.join(''), policy))
}

const limits = [4_000, 16_000, undefined].map((maxChars) => (maxChars ? { maxChars } : {}))
for (const [index, text] of outputs.entries())
  for (const limit of limits)
    for (const keep of ['head', 'tail', 'ends', 'findings', 'relevant', 'auto'])
      for (const more of [
        {},
        { isError: true },
        { query: 'where is the total computed' },
        { clean: true, redact: true },
      ])
        await texts(`output ${index}`, text, { keep, ...limit, ...more })

const some = [...sample(policies, cases / 2), ...sample(searching, cases / 2)]
const random = [...sample(hostileText, cases / 2), ...sample(failingLog, cases / 2)]
for (const [index, policy] of some.entries()) {
  const text = random[(index * 7919) % random.length]
  await texts('random', text, policy)
  const { make, name } = samples[index % samples.length]
  const value = make(text)
  await compare(`random ${name}`, policy, ({ clampResult }) => clampResult(value, policy))
  await compare(`random estimate`, policy, ({ estimateTokens }) => estimateTokens(text))
  if (index % 10 === 0)
    await compare('random capture', policy, (of) => captured(of, text, 1 + (index % 97), policy))
}

rmSync(scratch, { recursive: true })
console.log(`${compared} results compared, ${differing} differ`)
process.exitCode = differing > 0 ? 1 : 0
