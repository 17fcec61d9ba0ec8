import { type EnginePolicy, shortened } from '../compiled.js'
import { native } from '../engine.js'

type Clamp = (text: string, policy: EnginePolicy) => string

/**
 * Clamps a JSON text and keeps it valid JSON. The strings of an object are truncated, each to the
 * same length. If that is not enough, the whole text becomes one JSON string. A text that is not
 * JSON is truncated as it is.
 */
export function clampEncoded(json: string, policy: EnginePolicy, clamp: Clamp): string {
  const cut = (text: string, chars: number) => {
    const left = clamp(text, chars === Number.POSITIVE_INFINITY ? policy : shortened(policy, chars))
    return left === text ? null : left
  }
  const text = json.toWellFormed()
  return native.clampNested(text, Math.min(policy.limits.bytes, policy.limits.chars), cut) ?? text
}
