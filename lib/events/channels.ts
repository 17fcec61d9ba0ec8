import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ChannelMessages } from 'spillway'
import { notify } from '../untrusted.js'

/** The messages of the channels about work that was done. */
export type Messages = Omit<ChannelMessages, 'warning'>

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
