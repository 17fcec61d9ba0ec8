import { type EnginePolicy, shortened } from '../compiled.js'
import { isList, tryRead } from '../untrusted.js'
import { mediumOf, omitted, withNames } from './payload.js'

type Clamp = (text: string, policy: EnginePolicy) => string

/**
 * Clamps a JSON text and keeps it valid JSON. The strings of an object are truncated, each to the same length. If that
 * is not enough, the whole text becomes one JSON string. A text that is not JSON is truncated as it is.
 */
export function clampEncoded(json: string, policy: EnginePolicy, clamp: Clamp): string {
  if (clamp(json, policy) === json) return json
  const data = tryRead((): unknown => JSON.parse(json))
  if (data === undefined) return clamp(json, policy)
  const isRecord = typeof data === 'object' && data !== null && !isList(data)
  const lean = withNames(json) ?? json
  const whole = (cut: Cut) => cut(lean)
  const forms = isRecord ? [(cut: Cut) => mapStrings(data, cut), whole] : [whole]
  for (const form of forms) {
    const fitting = longest(json.length, policy, clamp, (chars) =>
      JSON.stringify(form((text) => clamp(text, shortened(policy, chars)))),
    )
    if (fitting !== undefined) return fitting
  }
  return clamp(lean, policy)
}

type Cut = (text: string) => string

function mapStrings(data: object, cut: Cut): object {
  const medium = mediumOf(data as Record<string, unknown>)
  const left = (text: string) => {
    const made = cut(text)
    const fits = (words: string) => cut(words) === words
    return made === text ? text : (omitted(text, medium)?.find(fits) ?? made)
  }
  const members = Object.entries(data)
  return Object.fromEntries(
    members.map(([key, value]) => [key, typeof value === 'string' ? left(value) : value]),
  )
}

/** Returns the longest text that fits, to within a sixteenth, by bisection: escapes make it longer than its strings. */
function longest(
  most: number,
  policy: EnginePolicy,
  clamp: Clamp,
  make: (chars: number) => string,
): string | undefined {
  let best: string | undefined
  let [low, high] = [0, Math.min(most, policy.limits.bytes, policy.limits.chars)]
  while (high - low > high / 16) {
    const chars = Math.ceil((low + high) / 2)
    const text = make(chars)
    if (clamp(text, policy) === text) {
      best = text
      low = chars
    } else high = chars - 1
  }
  return best
}
