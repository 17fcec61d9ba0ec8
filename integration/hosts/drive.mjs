// Runs a real coding agent offline, in an empty home, against a fake model on the loopback.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { claudeCode } from './claude_code.mjs'
import { codex } from './codex.mjs'
import { geminiCli } from './gemini_cli.mjs'
import { opencode } from './opencode.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
export const place = mkdtempSync(join(tmpdir(), 'spillway-hosts-'))
process.on('exit', () => rmSync(place, { recursive: true, force: true }))

const all = { 'claude-code': claudeCode, 'gemini-cli': geminiCli, opencode, codex }
const chosen = process.env.SPILLWAY_HOSTS?.split(/[ ,]+/)
/** The hosts to drive by name, all unless SPILLWAY_HOSTS names some. */
export const hosts = Object.entries(all).filter(([name]) => chosen?.includes(name) ?? true)

/** Returns the program of a host, installed into a folder that stays. */
function programOf({ given, package: name, version, file }) {
  if (given) return given
  const folder = join(root, 'target/hosts', name)
  const program = join(folder, 'node_modules', name, file)
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  const flags = ['--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--no-save']
  execFileSync('npm', ['install', ...flags, '--prefix', folder, `${name}@${version}`], { stdio: 'inherit' })
  return program
}

/** Starts a model that asks for each call in turn, and keeps the results that the latest request
 *  carries. */
async function model({ resultsOf, answer }, calls) {
  let asked = 0
  let results = []
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const body = text === '' ? {} : JSON.parse(text)
    const found = resultsOf(body)
    if (found.length > results.length) results = found
    // A title or a count is asked for without tools.
    const call = body.tools?.length ? calls[asked++] : undefined
    answer({ request, response, body, call, nth: asked })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, results: () => results, url: `http://127.0.0.1:${server.address().port}` }
}

export const newHome = () => mkdtempSync(join(place, 'home-'))

/** Runs a host once in a home with these arguments beside its own, and returns the results that the
 *  model got. */
export async function drive(host, calls, { home = newHome(), args = [], prepare = () => {} } = {}) {
  const { server, results, url } = await model(host, calls)
  const env = {
    HOME: home,
    PATH: process.env.PATH,
    HTTPS_PROXY: 'http://127.0.0.1:9',
    HTTP_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1',
    ...host.environment(url),
  }
  const own = host.ready({ home, url, server: [process.execPath, join(place, 'server.js')] })
  prepare(env)
  const program = programOf(host)
  const [command, ...rest] = program.endsWith('.js') ? [process.execPath, program] : [program]
  const child = spawn(command, [...rest, ...own, ...args, ...(host.said ?? [])], {
    cwd: place,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const told = child.stderr.toArray()
  const [code] = await once(child, 'exit')
  server.close()
  assert.equal(code, 0, Buffer.concat(await told).toString())
  return results()
}

export const spillway = (env, ...args) =>
  execFileSync(process.execPath, [join(root, 'dist/cli.js'), ...args], {
    env,
    encoding: 'utf8',
    stdio: 'pipe',
  })
