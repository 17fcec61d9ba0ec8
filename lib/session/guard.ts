import type { Guard, GuardOptions } from 'spillway'
import { bound, callback, flag } from '../option.js'
import { compileWith } from '../policy.js'
import { quietly } from '../reading.js'
import { APPEND, AppendPatch } from './append_patch.js'
import { GuardedMessage, NOTHING, type Rules } from './guarded_message.js'

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

function rulesOf(options: GuardOptions): Rules {
  return {
    policy: compileWith({ sideData: 'cap' }, options, 'guard'),
    maxRowBytes: checkMaxRowBytes(options.maxRowBytes),
    inPlace: flag('inPlace', options.inPlace, true),
    transform: callback('transform', options.transform),
    beforeWrite: callback('beforeWrite', options.beforeWrite),
  }
}

/** Checks the limit of one row, in bytes. */
export function checkMaxRowBytes(given?: number): number {
  return bound('maxRowBytes', given, 262_144)
}

class SessionGuard implements Guard {
  readonly #patch: AppendPatch
  #clamped = 0

  constructor(patch: AppendPatch) {
    this.#patch = patch
  }

  get clamped(): number {
    return this.#clamped
  }

  install(rules: Rules): void {
    this.#patch.install((message, write, isTop) => {
      const kept = this.#kept(new GuardedMessage(message, rules), isTop)
      return kept === NOTHING ? undefined : write(kept)
    })
  }

  uninstall(): void {
    this.#patch.uninstall()
  }

  /** Returns the message to write. Hooks run only in the topmost layer, so they run once. */
  #kept(guarded: GuardedMessage, hooks: boolean): unknown {
    const { message } = guarded
    const kept = quietly(() => (hooks ? guarded.afterHooks() : guarded.cap(message)))
    if (guarded.isChanged && kept !== NOTHING) this.#clamped += 1
    return kept === undefined ? message : kept
  }
}
