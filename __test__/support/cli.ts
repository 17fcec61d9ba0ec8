import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll } from 'vitest'

const root = join(__dirname, '../..')
export const bin = join(root, 'dist/cli.js')

/** A directory of the test, which is gone with it. */
export const place = mkdtempSync(join(tmpdir(), 'spillway-cli-'))
const started: ChildProcess[] = []

const { CI: _, NO_COLOR: __, FORCE_COLOR: ___, LC_ALL: ____, LC_CTYPE: _____, ...inherited } = process.env

/** Commands that start a program or answer a host, over the streams of their process. */
const OF_PROCESS = new Set<string | undefined>(['run', 'hook', 'mcp'])

/** Gives a thread the home that its environment names. Node reads that of the process. */
const OWN_HOME = join(place, 'own_home.cjs')
writeFileSync(
  OWN_HOME,
  `const os = require('node:os')
  const { homedir } = os
  os.homedir = () => process.env.HOME || homedir()
  require('node:module').syncBuiltinESMExports()`,
)

/** Environment of a person's terminal, whatever the tests were started by. */
const surroundings = {
  ...inherited,
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  SHELL: '/bin/sh',
  XDG_STATE_HOME: join(place, 'state'),
}

afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
  rmSync(place, { recursive: true, force: true })
})

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

interface Call {
  input?: string | Uint8Array
  env?: Record<string, string>
  /** Program that runs the command line, instead of Node alone. */
  before?: readonly string[]
  stdio?: SpawnOptions['stdio']
}

/** The built command line in a process of its own. */
export function start(
  args: readonly string[],
  { env = {}, before = [], stdio = 'pipe' }: Call = {},
): ChildProcess {
  const [command = process.execPath, ...rest] = [...before, process.execPath, bin, ...args]
  const child = spawn(command, rest, { cwd: place, stdio, env: { ...surroundings, ...env } })
  started.push(child)
  return child
}

export async function end(child: ChildProcess): Promise<Ended> {
  const texts = textsOf(child)
  const [code, signal] = await once(child, 'close')
  return { code, signal, ...texts }
}

/** The texts of two streams, which grow. */
function textsOf(from: Pick<ChildProcess, 'stdout' | 'stderr'> | Worker) {
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    from[name]?.setEncoding('utf8').on('data', (text) => {
      texts[name] += text
    })
  return texts
}

/** Calls it, and returns how it ended and what it said. Without input a thread does, which starts
 *  in a fraction of the time of a process. A thread has no stdin that can be left unread. */
export async function spillway(args: readonly string[], call: Call = {}): Promise<Ended> {
  if (call.input === undefined && !call.before && !call.stdio && !OF_PROCESS.has(args[0])) {
    process.chdir(place)
    const env = { ...surroundings, ...call.env }
    const execArgv = ['--require', OWN_HOME]
    const thread = new Worker(bin, { argv: [...args], env, execArgv, stdout: true, stderr: true })
    const texts = textsOf(thread)
    const [code] = await once(thread, 'exit')
    return { code, signal: null, ...texts }
  }
  const child = start(args, call)
  child.stdin?.on('error', () => {})
  child.stdin?.end(call.input ?? '')
  return end(child)
}

/** Runs a line of the shell in which `spillway` is the built command line. */
export function shell(line: string): Promise<Ended> {
  const script = `spillway() { "${process.execPath}" "${bin}" "$@"; }\n${line}`
  const child = spawn('bash', ['-c', script], {
    cwd: place,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: surroundings,
  })
  started.push(child)
  return end(child)
}

/** Calls the built command line with the words of a line, as a shell reads them. */
export async function typed(line: string): Promise<Ended> {
  const { stdout } = await shell(`spillway() { printf '%s\\0' "$@"; }\n${line}`)
  return spillway(stdout.split('\0').slice(0, -1))
}

/** The built command line in a terminal of its own. */
export function terminal(
  args: string,
  {
    columns = 80,
    rows = 24,
    env = {},
  }: { columns?: number; rows?: number; env?: Record<string, string> } = {},
): ChildProcess {
  // Without exec a shell may stay in front of the command line, and be what ^C ends.
  const line = `stty cols ${columns} rows ${rows}; exec ${process.execPath} ${bin} ${args}`
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: place,
    env: { ...surroundings, ...env },
  })
  started.push(child)
  return child
}

/** Writes a file of the test. */
export function write(name: string, text: string | Uint8Array): string {
  writeFileSync(join(place, name), text)
  return join(place, name)
}

/** A session of Pi whose results have these texts, each of its own tool. */
export function session(results: readonly [tool: string, text: string][]): string {
  const stamp = { timestamp: '2026-01-02T03:04:05.678Z' }
  const messages = results.flatMap(([toolName, text], at) => {
    const toolCallId = `call_${at}`
    const call = { type: 'toolCall', id: toolCallId, name: toolName, arguments: {} }
    return [
      { role: 'assistant', content: [call], stopReason: 'toolUse', timestamp: 1 },
      {
        role: 'toolResult',
        toolCallId,
        toolName,
        content: [{ type: 'text', text }],
        isError: false,
        timestamp: 1,
      },
    ]
  })
  const id = (at: number) => at.toString(16).padStart(8, '0')
  return [
    { type: 'session', version: 3, id: 'a-session', ...stamp, cwd: '/tmp' },
    ...messages.map((message, at) => ({
      type: 'message',
      id: id(at),
      parentId: at ? id(at - 1) : null,
      ...stamp,
      message,
    })),
  ]
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('')
}

/** Lines of numbers, as `seq` prints them. */
export function seq(last: number): string {
  return Array.from({ length: last }, (_, at) => `${at + 1}\n`).join('')
}

/** Returns a text whose last line ends. */
export function lineOf(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
