import type { SessionToolResultGuardOptions } from 'spillway/openclaw'
import { flag } from '../../kinds.js'
import { get, isObject } from '../../untrusted.js'
import { hasCalls, isAssistant } from './calls.js'

/** Chooses messages that are not stored, since an earlier attempt of the same turn stored them or
 *  no reader needs them. */
export class Suppression {
  #nextOfUser: boolean
  readonly #errors: boolean
  readonly #withoutCalls: boolean

  constructor(opts: SessionToolResultGuardOptions) {
    const asked = (name: keyof SessionToolResultGuardOptions) => flag(name, opts[name], false)
    this.#nextOfUser = asked('suppressNextUserMessagePersistence')
    this.#errors = asked('suppressAssistantErrorPersistence')
    this.#withoutCalls = asked('suppressTranscriptOnlyAssistantPersistence')
  }

  /** Returns true if a message that is to be stored is not. */
  takes(message: unknown): boolean {
    if (isUser(message) && this.#nextOfUser) {
      this.#nextOfUser = false
      return true
    }
    if (!isAssistant(message)) return false
    return (this.#errors && isError(message)) || (this.#withoutCalls && !hasCalls(message))
  }

  /** Sets if the next message of the user is stored. */
  setNext(isSuppressed: boolean): void {
    this.#nextOfUser = isSuppressed
  }
}

export function isUser(message: unknown): message is object {
  return isObject(message) && get(message, 'role') === 'user'
}

/** Returns true for a turn of the model that failed. */
export function isError(message: unknown): boolean {
  return isAssistant(message) && get(message, 'stopReason') === 'error'
}
