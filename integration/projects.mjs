// Sets each project of integration/projects/ up in a temporary folder from the packed package, and
// runs its `npm test`: `npm run test:projects [-- NAME...]`. SPILLWAY_TARBALL names a package that
// is already packed; without it this checkout, as it is built, is packed. Prints a line for each
// project, the last lines of those that fail, and a sum.
import { spawn } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const templates = join(root, 'integration/projects')
const known = readdirSync(templates).filter((name) => existsSync(join(templates, name, 'package.json')))
const given = process.argv.slice(2)
const unknown = given.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`no project ${unknown.join(', ')}; there are ${known.join(', ')}`)
  process.exit(2)
}

const env = {
  ...process.env,
  CI: '1',
  NEXT_TELEMETRY_DISABLED: '1',
}

/** Runs a command to its end and returns its output, both streams as one. */
function run(cwd, command, ...args) {
  const child = spawn(command, args, { cwd, env, shell: process.platform === 'win32' })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  return new Promise((settle, reject) => {
    child.on('error', reject)
    child.on('close', (code) => settle({ ok: code === 0, output }))
  })
}

async function pack(place) {
  const { ok, output } = await run(root, 'npm', 'pack', '--ignore-scripts', '--pack-destination', place)
  if (!ok) throw new Error(output)
  return join(place, readdirSync(place)[0])
}

async function test(name) {
  const project = join(place, name)
  cpSync(join(templates, name), project, { recursive: true })
  if (!existsSync(join(project, 'agent.mjs')))
    copyFileSync(join(templates, 'agent.mjs'), join(project, 'agent.mjs'))
  const installed = await run(project, 'npm', 'install', '--no-audit', '--no-fund')
  return installed.ok ? run(project, 'npm', 'test') : installed
}

const place = mkdtempSync(join(tmpdir(), 'spillway-projects-'))
let failed = 0
try {
  const tarball = process.env.SPILLWAY_TARBALL ? resolve(process.env.SPILLWAY_TARBALL) : await pack(place)
  copyFileSync(tarball, join(place, 'spillway.tgz'))
  // Yarn does not read the settings of npm.
  env.YARN_NPM_REGISTRY_SERVER ??= (await run(place, 'npm', 'config', 'get', 'registry')).output
    .trim()
    .split('\n')
    .at(-1)
  const names = given.length > 0 ? given : known
  for (const name of names) {
    const start = Date.now()
    const { ok, output } = await test(name)
    console.log(`${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(16)} ${((Date.now() - start) / 1e3).toFixed(1)} s`)
    if (ok) continue
    failed += 1
    console.log(output.split('\n').slice(-60).join('\n'))
  }
  console.log(`# pass ${names.length - failed}\n# fail ${failed}`)
} finally {
  rmSync(place, { recursive: true, force: true })
}
process.exitCode = failed > 0 ? 1 : 0
