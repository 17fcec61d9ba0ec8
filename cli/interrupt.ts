import { Interrupted } from './mistake.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Turns the signals that end a process into an abort, while work goes on that must not be left half done. */
export function interruptible(): { signal: AbortSignal; end(): void } {
  const controller = new AbortController()
  const end = () => {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
  const stop = (signal: NodeJS.Signals) => {
    controller.abort(new Interrupted(signal))
    // A second one ends the process, which leaves the old file or the new all the same.
    end()
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  return { signal: controller.signal, end }
}
