import type { Guard, GuardOptions } from 'spillway'
import { type Call, disguise } from './call.js'
import { Entry, NOTHING, type Rules } from './entry.js'
import { bound, callback, flag, optionError } from './option.js'
import { compileWith } from './policy.js'
import { get, quietly } from './reading.js'

const guards = new WeakMap<object, SessionGuard>()

export function guardSession<S extends { appendMessage(message: never, ...rest: never[]): unknown }>(
  manager: S,
  options: GuardOptions = {},
): Guard {
  if (Object(manager) !== manager || typeof get(manager, 'appendMessage') !== 'function')
    throw optionError(TypeError, 'manager', 'an object with the method appendMessage', manager)
  const rules = rulesOf(options)
  const guard = guards.get(manager) ?? new SessionGuard(manager)
  guard.install(rules)
  guards.set(manager, guard)
  return guard
}

function rulesOf(options: GuardOptions): Rules {
  return {
    policy: compileWith({ sideData: 'cap' }, options),
    maxRowBytes: bound('maxRowBytes', options.maxRowBytes, 262_144),
    inPlace: flag('inPlace', options.inPlace, true),
    transform: callback('transform', options.transform),
    beforeWrite: callback('beforeWrite', options.beforeWrite),
  }
}

/** A function of ours that stands in front of `appendMessage`, and what stood there. */
interface Layer {
  readonly append: Call
  readonly before: PropertyDescriptor | undefined
}

class SessionGuard implements Guard {
  readonly #manager: object
  /** Nothing while it is uninstalled. */
  #rules: Rules | undefined
  /** The topmost last. There are several where an override came to stand before the guard, or took its place. */
  readonly #layers: Layer[] = []
  #clamped = 0

  constructor(manager: object) {
    this.#manager = manager
  }

  get clamped(): number {
    return this.#clamped
  }

  install(rules: Rules): void {
    if (!this.#isOnTop()) this.#layers.push(this.#cover())
    this.#rules = rules
  }

  uninstall(): void {
    this.#rules = undefined
    while (this.#isOnTop()) {
      const before = this.#layers.pop()?.before
      if (before) Reflect.defineProperty(this.#manager, 'appendMessage', before)
      else Reflect.deleteProperty(this.#manager, 'appendMessage')
    }
  }

  #isOnTop(): boolean {
    const top = this.#layers.at(-1)
    return top !== undefined && ownAppend(this.#manager)?.value === top.append
  }

  #cover(): Layer {
    const manager = this.#manager
    const before = ownAppend(manager)
    const next = get(manager, 'appendMessage') as Call
    const guard = this
    const append: Call = function (this: unknown, ...args) {
      const [message] = args
      const kept = guard.#kept(message, append)
      if (kept === NOTHING) return undefined
      return Reflect.apply(next, this, kept === message ? args : args.with(0, kept))
    }
    disguise(append, next)
    const flags = before && 'value' in before ? before : OWN
    if (quietly(() => Reflect.defineProperty(manager, 'appendMessage', { ...flags, value: append })) !== true)
      throw optionError(TypeError, 'manager', 'an object whose appendMessage can be replaced', manager)
    return { append, before }
  }

  /** What is to be written of a message. Only the topmost runs the hooks, so that they run once. */
  #kept(message: unknown, append: Call): unknown {
    const rules = this.#rules
    if (!rules) return message
    const hooks = append === this.#layers.at(-1)?.append
    const entry = new Entry(message, rules)
    const kept = quietly(() => (hooks ? entry.hooked() : entry.settle(message)))
    if (entry.isChanged && kept !== NOTHING) this.#clamped += 1
    return kept === undefined ? message : kept
  }
}

const OWN: PropertyDescriptor = { enumerable: false, writable: true, configurable: true }

function ownAppend(manager: object): PropertyDescriptor | undefined {
  return Object.getOwnPropertyDescriptor(manager, 'appendMessage')
}
