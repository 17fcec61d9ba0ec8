import { channel } from 'node:diagnostics_channel'
import type { RecoveryEvent } from 'spillway'
import { tell } from '../reading.js'

const recoveries = channel('spillway:recovery')

/** The events of a run, announced as they happen. */
export class Trail {
  readonly events: RecoveryEvent[] = []
  readonly #onEvent: ((event: RecoveryEvent) => void) | undefined

  constructor(onEvent: ((event: RecoveryEvent) => void) | undefined) {
    this.#onEvent = onEvent
  }

  tell(event: RecoveryEvent): void {
    const frozen = Object.freeze(event)
    this.events.push(frozen)
    tell(() => this.#onEvent?.(frozen))
    if (recoveries.hasSubscribers) recoveries.publish(frozen)
  }
}
