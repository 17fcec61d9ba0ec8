import type { ResultPolicy, WrapPolicy } from 'spillway'
import { compile } from '../policy.js'
import { mayBeLong } from '../text/rounds.js'
import { checkAwaited } from '../validate.js'
import { clampLater } from './clamp_later.js'
import { RESULT } from './clamp_result.js'
import { clampAny } from './tool_return.js'

type SavingPolicy = ResultPolicy & Pick<WrapPolicy, 'spill'>

export async function clampResultAsync<T>(result: T, policy?: SavingPolicy): Promise<T> {
  const [given, compiled] = [checkAwaited('result', result), compile(policy)]
  const { spill } = compiled
  const isLong = mayBeLong(given)
  if (!spill && !isLong) return clampAny(given, compiled, RESULT)
  const later = { given, policy: compiled, isLong, origin: RESULT, spill }
  return clampLater(later, (policy, origin) => clampAny(given, policy, origin))
}
