// Runs a real coding agent offline, in a home of its own, against a model on the loopback.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agents } from './agents/index.mjs'
import { endAllIn, newHome, place, work } from './homes.mjs'
import { programOf } from './programs.mjs'
import { provider } from './provider.mjs'

const beside = (name) => fileURLToPath(new URL(name, import.meta.url))
const CLI = process.env.SPILLWAY_CLI ?? beside('../../dist/cli.js')
const SERVER = [process.execPath, beside('tools_server.mjs')]
/** Time after which a host that neither ends nor asks is ended, in ms. */
const LIMIT = 180_000
/** Time that a host gets to write what it has before it is killed, in ms. */
const REST = 1_000

const chosen = process.env.SPILLWAY_HOSTS?.split(/[ ,]+/).filter(Boolean)
/** The hosts to drive, all unless SPILLWAY_HOSTS names some, each with its program or with the
 *  reason for which it was not installed. */
export const hosts = Object.entries(agents)
  .filter(([name]) => chosen?.includes(name) ?? true)
  .map(([name, agent]) => {
    try {
      return { name, ...agent, ...programOf(name, agent.install) }
    } catch (error) {
      return { name, ...agent, version: agent.install.version, missing: error.message }
    }
  })

const environmentOf = (host, home, url) => ({
  HOME: home,
  PATH: process.env.PATH,
  TERM: 'dumb',
  XDG_CONFIG_HOME: join(home, '.config'),
  XDG_DATA_HOME: join(home, '.local/share'),
  XDG_STATE_HOME: join(home, '.local/state'),
  // Programs that unpack themselves do so once.
  XDG_CACHE_HOME: join(place, 'cache', host.name),
  HTTPS_PROXY: 'http://127.0.0.1:9',
  HTTP_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
  no_proxy: '127.0.0.1,localhost',
  ...host.environment?.(url),
})

function settle(host, home, env, url) {
  for (const [name, value] of Object.entries(host.settings?.({ home, url, server: SERVER }) ?? {})) {
    const path = join(home, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  }
  host.signIn?.({ command: host.command, env, url })
}

/** Runs a host once in a home: the model answers with these steps, in turn. `how` resumes or forks
 *  a session. `kill` says when the host is killed: once the model was asked for the last step, or
 *  once the command of the last step has `started`. */
export async function drive(host, steps, { home = newHome(), how = {}, prompt = 'go', kill, prepare } = {}) {
  const { url, requests, asked, close } = await provider(steps)
  const env = environmentOf(host, home, url)
  settle(host, home, env, url)
  prepare?.(env)
  const started = join(work, 'started')
  rmSync(started, { force: true })
  const isTyped = how.resume && host.resumesInTerminal
  const own = [...host.command, ...host.args({ prompt, server: SERVER, ...how })]
  const [program, ...args] = isTyped ? ['python3', beside('terminal.py'), prompt, ...own] : own
  const child = spawn(program, args, { cwd: work, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const told = [child.stdout, child.stderr].map((stream) => stream.toArray())
  const end = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {}
    endAllIn(home)
  }
  const limit = setTimeout(end, LIMIT)
  let isOver = false
  const rest = () => setTimeout(end, REST)
  if (kill === 'asked') asked(steps.length).then(rest)
  if (kill === 'started') whenThere(started, () => isOver, rest)
  if (isTyped) asked(steps.length + 1).then(rest)
  const [code] = await once(child, 'exit').finally(() => {
    isOver = true
    clearTimeout(limit)
    end()
    close()
  })
  const said = (await Promise.all(told)).map((chunks) => Buffer.concat(chunks).toString()).join('\n')
  return { code: isTyped && requests.length > 0 ? 0 : code, requests, said: said.slice(-2_000) }
}

function whenThere(path, isOver, tell) {
  const timer = setInterval(() => {
    if (existsSync(path)) tell()
    if (existsSync(path) || isOver()) clearInterval(timer)
  }, 50)
}

/** Runs a command of the host itself, with its settings, and returns what it prints. */
export function ask(host, home, args, options = {}) {
  const env = environmentOf(host, home, 'http://127.0.0.1:9')
  const [program, ...rest] = host.command
  return spawnSync(program, [...rest, ...args], { cwd: work, env, encoding: 'utf8', ...options })
}

export const spillway = (env, ...args) =>
  execFileSync(process.execPath, [CLI, ...args], { env, encoding: 'utf8', stdio: 'pipe' })

/** Runs the command line whatever its exit code. */
export function tried(home, ...args) {
  const env = { PATH: process.env.PATH, HOME: home }
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  return { code: status, out: stdout, said: `${stdout}${stderr}`.replaceAll(home, '~').trim() }
}
