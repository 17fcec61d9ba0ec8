import type { Precheck, RecoveryEvent } from 'spillway'

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
    // Not enumerable: printing the error must not print hundreds of plan steps.
    const { attempts, precheck } = options
    Object.defineProperties(this, { attempts: { value: attempts }, precheck: { value: precheck } })
  }
}
