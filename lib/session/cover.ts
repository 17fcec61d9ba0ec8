import { optionError } from '../option.js'
import { get, quietly } from '../reading.js'
import { type Call, disguise } from '../result/call.js'

/** Decides what is written of a message that is appended, and answers for it. `isTop`: none of this cover stands before. */
export type Taking = (message: unknown, write: (kept: unknown) => unknown, isTop: boolean) => unknown

/** A function of ours that stands in front of the method, and what stood there. */
interface Layer {
  readonly append: Call
  readonly next: Call
  readonly before: PropertyDescriptor | undefined
}

/** What managers call the method that stores a message, unless they are said to call it something else. */
export const APPEND = 'appendMessage'

/** Stands in front of such a method until it is uninstalled. */
export class Cover {
  readonly #manager: object
  readonly #field: string
  readonly #method: string
  /** The topmost last. There are several where an override came to stand before ours, or took its place. */
  readonly #layers: Layer[] = []
  #taking: Taking | undefined

  /** `field`: what the manager is called in an error. */
  constructor(manager: unknown, field: string, method = APPEND) {
    if (Object(manager) !== manager || typeof get(manager as object, method) !== 'function')
      throw optionError(TypeError, field, `an object with the method ${method}`, manager)
    this.#manager = manager as object
    this.#field = field
    this.#method = method
  }

  install(taking: Taking): void {
    if (!this.#isOnTop()) this.#layers.push(this.#cover())
    this.#taking = taking
  }

  /** Restores what stood there; where another override stands before by now, everything passes. */
  uninstall(): void {
    this.#taking = undefined
    while (this.#isOnTop()) {
      const before = this.#layers.pop()?.before
      if (before) Reflect.defineProperty(this.#manager, this.#method, before)
      else Reflect.deleteProperty(this.#manager, this.#method)
    }
  }

  /** Writes a message that nobody appends. */
  write(message: unknown): unknown {
    const next = this.#layers.at(-1)?.next
    return next && Reflect.apply(next, this.#manager, [message])
  }

  #isOnTop(): boolean {
    const top = this.#layers.at(-1)
    return top !== undefined && this.#own()?.value === top.append
  }

  #cover(): Layer {
    const manager = this.#manager
    const method = this.#method
    const before = this.#own()
    const next = get(manager, method) as Call
    const cover = this
    const append: Call = function (this: unknown, ...args) {
      const [message] = args
      const write = (kept: unknown) => Reflect.apply(next, this, kept === message ? args : args.with(0, kept))
      const isTop = append === cover.#layers.at(-1)?.append
      return cover.#taking ? cover.#taking(message, write, isTop) : write(message)
    }
    disguise(append, next)
    const flags = before && 'value' in before ? before : OWN
    if (quietly(() => Reflect.defineProperty(manager, method, { ...flags, value: append })) !== true)
      throw optionError(TypeError, this.#field, `an object whose ${method} can be replaced`, manager)
    return { append, next, before }
  }

  #own(): PropertyDescriptor | undefined {
    return Object.getOwnPropertyDescriptor(this.#manager, this.#method)
  }
}

const OWN: PropertyDescriptor = { enumerable: false, writable: true, configurable: true }
