import type { SpillStore } from 'spillway'
import type { EnginePolicy } from '../compiled.js'
import { redactResult } from '../result/redact_value.js'
import { redacted } from '../text/redact.js'

/** Returns messages whose results have no secrets. The words of the user and the arguments of calls
 *  stay, as in `clampMessages`. */
export function withoutSecrets(messages: readonly unknown[], policy: EnginePolicy): readonly unknown[] {
  if (!policy.redact) return messages
  return messages.map((message) => (typeof message === 'string' ? message : redactResult(message, policy)))
}

/** Returns a store that saves texts without their secrets: what a context saves also has the
 *  arguments of calls. */
export function redactingStore(store: SpillStore, policy: EnginePolicy): SpillStore {
  if (!policy.redact) return store
  return {
    reference: store.reference,
    save: (text, meta) => store.save(typeof text === 'string' ? redacted(text, policy) : text, meta),
    read: (id, range) => store.read(id, range),
    search: (id, pattern, options) => store.search(id, pattern, options),
    list: () => store.list(),
    sweep: (options) => store.sweep(options),
  }
}
