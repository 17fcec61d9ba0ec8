import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { UsageError } from './term/usage_error.js'

/**
 * Signals that end a process, while a command runs in our process group:
 *
 * - SIGTERM and SIGHUP are passed on. Whoever sends one (`kill`, `timeout`, a supervisor, a
 *   terminal that closes) sends it to us alone.
 * - SIGINT and SIGQUIT are left to the terminal, as `time` does: for ^C and ^\ it signals every
 *   process of its foreground group, the command among them.
 * - None of them ends us while the command runs; we exit as it does.
 * - All other signals, such as that of ^Z, affect us and the command alike.
 *
 * Stdin is not opened: Node would set O_NONBLOCK on it, for the command as well.
 */
const PASSED = ['SIGTERM', 'SIGHUP'] as const
const OF_TERMINAL = ['SIGINT', 'SIGQUIT'] as const

/** Starts a child, and passes signals on to it until the end. */
export class Signals {
  #child: ChildProcess | undefined

  /** Starts a child. Listens before the start, since a signal in between would end only us. */
  start(start: () => ChildProcess): ChildProcess {
    for (const signal of PASSED) process.on(signal, this.#pass)
    for (const signal of OF_TERMINAL) process.on(signal, ignore)
    this.#child = start()
    return this.#child
  }

  end(): void {
    for (const signal of PASSED) process.off(signal, this.#pass)
    for (const signal of OF_TERMINAL) process.off(signal, ignore)
  }

  readonly #pass = (signal: NodeJS.Signals): void => {
    const { pid, exitCode, signalCode } = this.#child ?? {}
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    // A kill that fails must not surface as an error of the child.
    try {
      process.kill(pid, signal)
    } catch {}
  }
}

function ignore(): void {}

/** Returns the exit code that a shell reports for a process ended by a signal. */
export function exitOfSignal(signal: string): number {
  return 128 + constants.signals[signal as NodeJS.Signals]
}

/** Signals that stop work which must not be left half done. */
const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs work with a signal that aborts when this process is asked to end. `left`: the message about
 *  the files then. */
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
