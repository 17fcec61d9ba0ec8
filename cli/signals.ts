import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { native } from '../lib/engine.js'

/**
 * The signals that end a process, while a command runs in our group of processes, as it would without us:
 *
 * - What a process sends us (`kill`, `timeout`, a supervisor) is passed on.
 * - What the terminal sends for ^C and ^\ goes to each process of its foreground group: the command has it already, unless
 *   it has left our group.
 * - A terminal that closes sends SIGHUP to the leader of its session alone. That may be us, so that it is passed on.
 * - None of them ends us while the command runs: its exit is ours.
 * - All other signals, such as that of ^Z, do to us what they do to the command.
 *
 * Nor do we open stdin: Node would set O_NONBLOCK on it, for the command as well.
 */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const
const OF_TERMINAL: readonly string[] = ['SIGINT', 'SIGQUIT']

/** On Windows a console sends ^C to all that is attached to it, and no process sends a signal. */
const isTold = process.platform !== 'win32'

/** Starts a child, and passes signals on to it until the end. */
export class Signals {
  #child: ChildProcess | undefined

  /** Listens from before the start: a signal that comes in between would end us alone. */
  start(start: () => ChildProcess): ChildProcess {
    for (const signal of SIGNALS) process.on(signal, this.#pass)
    // Gives it a handler, in front of which its news are heard.
    process.on('SIGCHLD', ignore)
    watch('SIGCHLD')
    const child = start()
    // What the terminal has sent until now may not have reached the child, and is passed on.
    for (const signal of OF_TERMINAL) watch(signal as NodeJS.Signals)
    this.#child = child
    return isTold ? withSignal(child) : child
  }

  end(): void {
    for (const signal of SIGNALS) process.off(signal, this.#pass)
    process.off('SIGCHLD', ignore)
  }

  readonly #pass = (signal: NodeJS.Signals): void => {
    const { pid, exitCode, signalCode } = this.#child ?? {}
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    const number = constants.signals[signal]
    if (OF_TERMINAL.includes(signal) && (!isTold || native.terminalReached(number, pid))) return
    // A kill that fails must not be told as an error of the child.
    try {
      process.kill(pid, signal)
    } catch {}
  }
}

function ignore(): void {}

function watch(signal: NodeJS.Signals): void {
  if (isTold) native.watchSignal(constants.signals[signal])
}

/** A child that tells of the signal that ended it. Node has no name for a real-time signal, and tells of an exit with 0. */
function withSignal(child: ChildProcess): ChildProcess {
  const emit = child.emit.bind(child) as (event: string, ...args: unknown[]) => boolean
  const told = (event: string, ...args: unknown[]): boolean => {
    const number = event === 'exit' && args[1] === null ? native.childEndedBy() : 0
    return number > 0 ? emit(event, null, `${UNNAMED}${number}`) : emit(event, ...args)
  }
  return Object.assign(child, { emit: told })
}

const UNNAMED = 'signal '

/** What a shell gives as the code of what a signal ended. */
export function exitOfSignal(signal: string): number {
  const named = constants.signals[signal as NodeJS.Signals] as number | undefined
  return 128 + (named ?? Number(signal.slice(UNNAMED.length)))
}
