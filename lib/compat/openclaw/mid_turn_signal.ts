import type { MidTurnPrecheckRequest } from 'spillway/openclaw'
import { MID_TURN_PRECHECK_ERROR_MESSAGE } from './constants.js'

export class MidTurnPrecheckSignal extends Error {
  override readonly name = 'MidTurnPrecheckSignal'

  constructor(readonly request: MidTurnPrecheckRequest) {
    super(MID_TURN_PRECHECK_ERROR_MESSAGE)
  }
}

export function isMidTurnPrecheckSignal(error: unknown): error is MidTurnPrecheckSignal {
  return error instanceof MidTurnPrecheckSignal
}
