import type { Precheck, RecoveryEvent } from 'spillway'

/** Nothing was left to make smaller, and the provider still refused. Its last refusal is the `cause`. */
export class ContextOverflowError extends Error {
  override readonly name: string = 'ContextOverflowError'
  readonly code = 'ERR_SPILLWAY_CONTEXT_OVERFLOW'
  readonly attempts: readonly RecoveryEvent[]
  readonly precheck: Precheck

  constructor(
    message: string,
    options: { attempts: readonly RecoveryEvent[]; precheck: Precheck; cause?: unknown },
  ) {
    super(message, { cause: options.cause })
    this.attempts = options.attempts
    this.precheck = options.precheck
  }
}
