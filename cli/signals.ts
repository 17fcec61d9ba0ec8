import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { native } from '../lib/engine.js'
import { platform } from './platform.js'
import { UsageError } from './usage_error.js'

/**
 * Signals that end a process. The command runs in our process group and gets them as it would without us:
 *
 * - Signals that a process sends to us (`kill`, `timeout`, a supervisor) are passed on.
 * - For ^C and ^\ the terminal signals every process of its foreground group. The command has received that signal
 *   already, unless it has left our group.
 * - A terminal that closes sends SIGHUP only to the leader of its session. That may be us, so SIGHUP is passed on.
 * - None of them ends us while the command runs; we exit as it does.
 * - All other signals, such as that of ^Z, affect us and the command alike.
 *
 * Stdin is not opened: Node would set O_NONBLOCK on it, for the command as well.
 */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const
const OF_TERMINAL: readonly string[] = ['SIGINT', 'SIGQUIT']

/** Starts a child, and passes signals on to it until the end. */
export class Signals {
  #child: ChildProcess | undefined

  /** Starts a child. Listens before the start, since a signal in between would end only us. */
  start(start: () => ChildProcess): ChildProcess {
    for (const signal of SIGNALS) process.on(signal, this.#pass)
    // `watch` needs a handler of Node's to stand in front of.
    process.on('SIGCHLD', ignore)
    watch('SIGCHLD')
    const child = start()
    // Signals of the terminal before this point may not have reached the child, and are passed on.
    for (const signal of OF_TERMINAL) watch(signal as NodeJS.Signals)
    this.#child = child
    return platform.sendsSignals ? withSignal(child) : child
  }

  end(): void {
    for (const signal of SIGNALS) process.off(signal, this.#pass)
    process.off('SIGCHLD', ignore)
  }

  readonly #pass = (signal: NodeJS.Signals): void => {
    const { pid, exitCode, signalCode } = this.#child ?? {}
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    const number = constants.signals[signal]
    if (OF_TERMINAL.includes(signal) && (!platform.sendsSignals || native.terminalReached(number, pid)))
      return
    // A kill that fails must not surface as an error of the child.
    try {
      process.kill(pid, signal)
    } catch {}
  }
}

function ignore(): void {}

function watch(signal: NodeJS.Signals): void {
  if (platform.sendsSignals) native.watchSignal(constants.signals[signal])
}

/** Makes a child report the signal that ended it. For a real-time signal, which it has no name for, Node reports exit
 *  code 0. */
function withSignal(child: ChildProcess): ChildProcess {
  const emit = child.emit.bind(child) as (event: string, ...args: unknown[]) => boolean
  const report = (event: string, ...args: unknown[]): boolean => {
    const number = event === 'exit' && args[1] === null ? native.childEndedBy() : 0
    return number > 0 ? emit(event, null, `${UNNAMED}${number}`) : emit(event, ...args)
  }
  return Object.assign(child, { emit: report })
}

const UNNAMED = 'signal '

/** Returns the exit code that a shell reports for a process ended by a signal. */
export function exitOfSignal(signal: string): number {
  const named = constants.signals[signal as NodeJS.Signals] as number | undefined
  return 128 + (named ?? Number(signal.slice(UNNAMED.length)))
}

/** Signals that stop work which must not be left half done. */
const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs work with a signal that aborts once this process is told to end. `left`: what it says of the files then. */
export async function interruptible<T>(left: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const end = () => {
    for (const signal of STOPPING) process.off(signal, stop)
  }
  const stop = (signal: NodeJS.Signals) => {
    const message = `stopped by ${signal}; ${left}`
    controller.abort(new UsageError(message, exitOfSignal(signal)))
    // A second signal ends the process, which still leaves either the old file or the new.
    end()
  }
  for (const signal of STOPPING) process.on(signal, stop)
  return work(controller.signal).finally(end)
}
