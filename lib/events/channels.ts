import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClampEvent, RecoveryEvent, RepairReport, SpillEvent } from 'spillway'
import { notify } from '../untrusted.js'

/** The messages of each channel. */
export interface Messages {
  readonly clamp: ClampEvent
  readonly spill: SpillEvent
  readonly recovery: RecoveryEvent
  readonly repair: RepairReport & { readonly path: string }
}

/** Listens to channels until the function that is returned is called. Errors of a listener are
 *  ignored: Node would end the process with them. */
export function listen(listeners: { [K in keyof Messages]: (message: Messages[K]) => void }): () => void {
  const all = Object.entries(listeners).map(([name, listener]) => {
    const safe = (message: unknown) => notify(() => (listener as (message: unknown) => void)(message))
    return [`spillway:${name}`, safe] as const
  })
  for (const [name, listener] of all) subscribe(name, listener)
  return () => {
    for (const [name, listener] of all) unsubscribe(name, listener)
  }
}
