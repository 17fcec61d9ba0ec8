import type { Guard, GuardOptions } from 'spillway'
import { bound, callback, flag } from '../option.js'
import { compileWith } from '../policy.js'
import { quietly } from '../reading.js'
import { APPEND, Cover } from './cover.js'
import { Entry, NOTHING, type Rules } from './entry.js'

/** Guards of each manager, by method. */
const guards = new WeakMap<object, Map<string, SessionGuard>>()

export function guardSession(manager: object, options: GuardOptions = {}): Guard {
  const rules = rulesOf(options)
  const method = rules.policy.method ?? APPEND
  const known = guards.get(manager) ?? new Map<string, SessionGuard>()
  const guard = known.get(method) ?? new SessionGuard(new Cover(manager, 'manager', method))
  guard.install(rules)
  guards.set(manager, known.set(method, guard))
  return guard
}

function rulesOf(options: GuardOptions): Rules {
  return {
    policy: compileWith({ sideData: 'cap' }, options, 'guard'),
    maxRowBytes: maxRow(options.maxRowBytes),
    inPlace: flag('inPlace', options.inPlace, true),
    transform: callback('transform', options.transform),
    beforeWrite: callback('beforeWrite', options.beforeWrite),
  }
}

/** Checks the limit of one row, in bytes. */
export function maxRow(given?: number): number {
  return bound('maxRowBytes', given, 262_144)
}

class SessionGuard implements Guard {
  readonly #cover: Cover
  #clamped = 0

  constructor(cover: Cover) {
    this.#cover = cover
  }

  get clamped(): number {
    return this.#clamped
  }

  install(rules: Rules): void {
    this.#cover.install((message, write, isTop) => {
      const kept = this.#kept(new Entry(message, rules), isTop)
      return kept === NOTHING ? undefined : write(kept)
    })
  }

  uninstall(): void {
    this.#cover.uninstall()
  }

  /** Returns the message to write. Hooks run only in the topmost layer, so they run once. */
  #kept(entry: Entry, hooks: boolean): unknown {
    const { message } = entry
    const kept = quietly(() => (hooks ? entry.hooked() : entry.settle(message)))
    if (entry.isChanged && kept !== NOTHING) this.#clamped += 1
    return kept === undefined ? message : kept
  }
}
