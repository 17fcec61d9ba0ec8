import { channel } from 'node:diagnostics_channel'
import { types } from 'node:util'
import type { RecoveryEvent } from 'spillway'
import { quietly } from './reading.js'

const recoveries = channel('spillway:recovery')

/** What a run did, and why, told as it goes on. */
export class Trail {
  readonly events: RecoveryEvent[] = []
  readonly #onEvent: ((event: RecoveryEvent) => void) | undefined

  constructor(onEvent: ((event: RecoveryEvent) => void) | undefined) {
    this.#onEvent = onEvent
  }

  tell(event: RecoveryEvent): void {
    const frozen = Object.freeze(event)
    this.events.push(frozen)
    // One that is async and fails must not end the process either.
    const told: unknown = quietly(() => this.#onEvent?.(frozen))
    if (types.isPromise(told)) quietly(() => told.then(undefined, () => {}))
    if (recoveries.hasSubscribers) recoveries.publish(frozen)
  }
}
