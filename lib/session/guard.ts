import type { Guard, GuardOptions } from 'spillway'
import { compileWith } from '../policy.js'
import { ownOptionsOf } from '../read_options.js'
import { APPEND, AppendPatch } from './append_patch.js'
import { GuardedMessage, type MessageRules } from './guarded_message.js'
import { Recent } from './recent.js'

/** Default limit of one row. */
export const MAX_ROW_BYTES = 262_144

/** Guards of each manager, by method. */
const guards = new WeakMap<object, Map<string, SessionGuard>>()

export function guardSession(manager: object, options: GuardOptions = {}): Guard {
  const rules = rulesOf(options)
  const method = rules.policy.method ?? APPEND
  const known = guards.get(manager) ?? new Map<string, SessionGuard>()
  const guard = known.get(method) ?? new SessionGuard(new AppendPatch(manager, 'manager', method))
  guard.install(rules)
  guards.set(manager, known.set(method, guard))
  return guard
}

function rulesOf(options: GuardOptions): MessageRules {
  return {
    policy: compileWith({ sideData: 'cap' }, options, 'guard'),
    ...ownOptionsOf('guard', options),
  }
}

class SessionGuard implements Guard {
  readonly #patch: AppendPatch
  readonly #recent = new Recent()
  #clamped = 0

  constructor(patch: AppendPatch) {
    this.#patch = patch
  }

  get clamped(): number {
    return this.#clamped
  }

  install(rules: MessageRules): void {
    this.#patch.install((message, write, isTop) => {
      const guarded = new GuardedMessage(message, rules, this.#recent)
      const counted = (kept: unknown) => {
        if (guarded.isChanged) this.#clamped += 1
        this.#recent.push(kept)
        return write(kept)
      }
      // Hooks run only in the topmost layer, so they run once.
      return guarded.write(counted, isTop)
    })
  }

  uninstall(): void {
    this.#patch.uninstall()
  }
}
