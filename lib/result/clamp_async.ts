import type { PolicyOptions, ResultPolicy } from 'spillway'
import { hasListeners } from '../clamp_event.js'
import { compile } from '../policy.js'
import { mayBeLong, Rounds } from '../text/rounds.js'
import { clampPrepared } from '../text/text.js'
import { checkAwaited, checkString } from '../validate.js'
import { RESULT } from './clamp_result.js'
import { clampAny } from './tool_return.js'

export async function clampTextAsync(text: string, policy?: PolicyOptions): Promise<string> {
  const [given, compiled, ahead] = [checkString(text), compile(policy), new Rounds()]
  return ahead.settle(() => clampPrepared(given, { ...compiled, ahead }))
}

export async function clampResultAsync<T>(result: T, policy?: ResultPolicy): Promise<T> {
  const [given, compiled] = [checkAwaited('result', result), compile(policy)]
  if (!mayBeLong(given)) return clampAny(given, compiled, RESULT)
  const ahead = new Rounds()
  const carrying = { ...compiled, ahead }
  const trial = await ahead.settle(() => clampAny(given, carrying, { ...RESULT, isTrial: true }))
  return hasListeners(RESULT) ? clampAny(given, carrying, RESULT) : trial
}
