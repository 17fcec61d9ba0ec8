import type { Precheck, RecoveryEvent } from 'spillway'

/** Nothing was left to make smaller, and the provider still refused. Its last refusal is the `cause`. */
export class ContextOverflowError extends Error {
  override readonly name: string = 'ContextOverflowError'
  readonly code = 'ERR_SPILLWAY_CONTEXT_OVERFLOW'
  declare readonly attempts: readonly RecoveryEvent[]
  declare readonly precheck: Precheck

  constructor(
    message: string,
    options: { attempts: readonly RecoveryEvent[]; precheck: Precheck; cause?: unknown },
  ) {
    super(message, { cause: options.cause })
    // A log that prints the error is not to print some hundred steps of a plan.
    const { attempts, precheck } = options
    Object.defineProperties(this, { attempts: { value: attempts }, precheck: { value: precheck } })
  }
}
