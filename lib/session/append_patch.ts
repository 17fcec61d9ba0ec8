import { mimic, type ToolFunction } from '../result/wrap_call.js'
import { get, tryRead } from '../untrusted.js'
import { methodError, optionError } from '../validate.js'

/** Handles an appended message: calls `write` with the message to store, if any, and returns the
 *  result of the append. `isTop`: the call went through the topmost layer of the patch. */
export type AppendHandler = (message: unknown, write: (kept: unknown) => unknown, isTop: boolean) => unknown

/** An installed override, and the method that it replaced. */
interface Layer {
  readonly append: ToolFunction
  readonly next: ToolFunction
  readonly before: PropertyDescriptor | undefined
}

/** Default name of the method that stores a message. */
export const APPEND = 'appendMessage'

/** Overrides that method of a manager until it is uninstalled. */
export class AppendPatch {
  readonly #manager: object
  readonly #field: string
  readonly #method: string
  /** Installed layers, the topmost last. There are several if another override was installed over
   *  ours, or replaced it. */
  readonly #layers: Layer[] = []
  #handler: AppendHandler | undefined

  /** `field`: name of the manager in errors. */
  constructor(manager: unknown, field: string, method = APPEND) {
    if (Object(manager) !== manager || typeof get(manager as object, method) !== 'function')
      throw methodError(field, [method], manager)
    this.#manager = manager as object
    this.#field = field
    this.#method = method
  }

  install(handler: AppendHandler): void {
    if (!this.#isOnTop()) this.#layers.push(this.#patch())
    this.#handler = handler
  }

  /** Restores the original method. If another override is on top by now, ours stays below it and
   *  lets everything pass. */
  uninstall(): void {
    this.#handler = undefined
    while (this.#isOnTop()) {
      const before = this.#layers.pop()?.before
      if (before) Reflect.defineProperty(this.#manager, this.#method, before)
      else Reflect.deleteProperty(this.#manager, this.#method)
    }
  }

  /** Writes a message that no caller appended. */
  write(message: unknown): unknown {
    const next = this.#layers.at(-1)?.next
    return next && Reflect.apply(next, this.#manager, [message])
  }

  #isOnTop(): boolean {
    const top = this.#layers.at(-1)
    return top !== undefined && this.#own()?.value === top.append
  }

  #patch(): Layer {
    const manager = this.#manager
    const method = this.#method
    const before = this.#own()
    const next = get(manager, method) as ToolFunction
    const patch = this
    const append: ToolFunction = function (this: unknown, ...args) {
      const [message] = args
      const write = (kept: unknown) => Reflect.apply(next, this, kept === message ? args : args.with(0, kept))
      const isTop = append === patch.#layers.at(-1)?.append
      return patch.#handler ? patch.#handler(message, write, isTop) : write(message)
    }
    mimic(append, next)
    const flags = before && 'value' in before ? before : OWN
    if (tryRead(() => Reflect.defineProperty(manager, method, { ...flags, value: append })) !== true)
      throw optionError(TypeError, this.#field, `an object whose ${method} can be replaced`, manager)
    return { append, next, before }
  }

  #own(): PropertyDescriptor | undefined {
    return Object.getOwnPropertyDescriptor(this.#manager, this.#method)
  }
}

const OWN: PropertyDescriptor = { enumerable: false, writable: true, configurable: true }
