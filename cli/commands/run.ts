import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { OutputCapture } from '../../lib/index.js'
import { ended } from '../ended.js'
import { policyFlags, policyOf } from '../policy.js'
import { exitOfSignal, Signals } from '../signals.js'
import { spawnPiped } from '../spawn_piped.js'
import { check, directoryIn, type GivenStore, storeFlags, storeOf } from '../store/given_store.js'
import type { Args, Command } from '../term/args.js'
import { LiveTail } from '../term/live_tail.js'
import { SUMMARIES } from '../term/summaries.js'
import { err, out } from '../term/terminal.js'
import { explain, isBrokenPipe, UsageError } from '../term/usage_error.js'

/** Exit codes of shells for a command that is not found, and for a command that cannot be run. */
const NOT_FOUND = 127
const NOT_RUN = 126

export const run: Command = {
  summary: SUMMARIES.run,
  usage: ['spillway run [flags] -- COMMAND [ARGUMENT...]'],
  about: `Once the command has ended, shows the part of both streams that the policy
keeps, with its exit in the last line. Until then a terminal shows the latest
lines, and a pipe gets nothing. Exits with the command's code, 127 if the
command is not found, 126 if it cannot be run, 128 + n after signal n.`,
  names: 'command',
  flags: {
    ...storeFlags('directory for the full output, saved if it is cut'),
    ...policyFlags({ keep: 'findings', notice: 'hint', clean: 'always', html: true }),
  },
  examples: [
    ['The findings of a test run, and its exit code', 'spillway run -- npm test'],
    ['The same, with the full output saved', 'spillway run --dir ~/.outputs --max-bytes 10K -- npm test'],
    ['A line of the shell', "spillway run --keep tail -- sh -c 'make 2>&1 | tee make.log'"],
  ],
  run: runCommand,
}

async function runCommand(args: Args): Promise<number> {
  const policy = policyOf(args)
  const [before] = args.names
  if (args.names.length > args.rest.length)
    throw new UsageError(`put -- before the command: spillway run -- ${before}`)
  const [command, ...rest] = args.rest
  if (command === undefined) throw new UsageError('COMMAND is missing; example: spillway run -- npm test')
  const given = storeOf(args, directoryIn(args))
  if (given) await check(given)
  const capture = new OutputCapture({
    ...policy,
    tool: basename(command) || 'command',
    ...(given && { spill: given.store }),
  })
  const signals = new Signals()
  const tail = new LiveTail(policy.redact === true)
  const { text, truncated, exit, spillError } = await capture
    .attach(tail.follow(signals.start(() => start(command, rest))))
    .catch((error) => {
      throw notStarted(command, error)
    })
    .finally(() => {
      signals.end()
      return tail.end()
    })
  if (spillError !== undefined && given) await err.tell(`spillway run: ${notSaved(spillError, given)}\n`)
  await show(ended(text, truncated, { keep: 'findings', ...policy }), policy.clean !== false)
  return exit?.signal ? exitOfSignal(exit.signal) : (exit?.exitCode ?? 1)
}

function start(command: string, args: readonly string[]): ChildProcess {
  try {
    return spawnPiped(command, args)
  } catch (error) {
    throw notStarted(command, error)
  }
}

/** Makes an error for a command that did not start. `own`: the spillway command that ran it. */
export function notStarted(command: string, error: unknown, own = 'run'): UsageError {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOENT' && command !== '') return new UsageError(explain(error, command), NOT_RUN)
  if (command.includes('/') && existsSync(command))
    return new UsageError(
      `${command}: the interpreter in its first line does not exist; check that line`,
      NOT_FOUND,
    )
  const line = /\s/.test(command)
    ? `; for a shell command line, use: spillway ${own} -- sh -c ${JSON.stringify(command)}`
    : ''
  return new UsageError(
    `${command || "''"}: command not found${line || '; check its name and PATH'}`,
    NOT_FOUND,
  )
}

/** Explains why the full output was not saved. */
function notSaved(spillError: string, given: GivenStore): string {
  const [code = ''] = spillError.split(':', 1)
  const message = code.startsWith('ERR_') ? spillError.slice(code.length + 2) : spillError
  return `the full output was not saved: ${given.explain({ code, message })}`
}

/** Shows a text. If its reader has closed the pipe, the exit code is still that of the command. */
async function show(text: string, isClean: boolean): Promise<void> {
  await out.show(text, isClean).catch((error) => {
    if (!isBrokenPipe(error)) throw error
  })
}
