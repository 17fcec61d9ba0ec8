import { Interrupted } from './mistake.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Turns the signals that end a process into an abort, during work that must not be left half done. */
export function interruptible(): { signal: AbortSignal; end(): void } {
  const controller = new AbortController()
  const end = () => {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
  const stop = (signal: NodeJS.Signals) => {
    controller.abort(new Interrupted(signal))
    // A second signal ends the process, which still leaves either the old file or the new.
    end()
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  return { signal: controller.signal, end }
}
