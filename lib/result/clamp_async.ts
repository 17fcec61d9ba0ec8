import type { ResultPolicy, TextPolicy, WrapPolicy } from 'spillway'
import { clampLater } from '../clamp_later.js'
import { compile } from '../policy.js'
import { mayBeLong, Rounds } from '../text/rounds.js'
import { clampPrepared } from '../text/text.js'
import { checkAwaited, checkString } from '../validate.js'
import { RESULT } from './clamp_result.js'
import { clampAny } from './tool_return.js'

export async function clampTextAsync(text: string, policy?: TextPolicy): Promise<string> {
  const [given, compiled, ahead] = [checkString(text), compile(policy), new Rounds()]
  return ahead.settle(() => clampPrepared(given, { ...compiled, ahead }))
}

type SavingPolicy = ResultPolicy & Pick<WrapPolicy, 'spill'>

export async function clampResultAsync<T>(result: T, policy?: SavingPolicy): Promise<T> {
  const [given, compiled] = [checkAwaited('result', result), compile(policy)]
  const { spill } = compiled
  const isLong = mayBeLong(given)
  if (!spill && !isLong) return clampAny(given, compiled, RESULT)
  const later = { given, policy: compiled, isLong, origin: RESULT, storing: spill && (() => spill) }
  return clampLater(later, (policy, origin) => clampAny(given, policy, origin))
}
