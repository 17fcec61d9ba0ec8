import { PENDING } from '../ahead.js'
import { type EnginePolicy, handleOf, measures, unworded } from '../compiled.js'
import { native, type ShapedJson } from '../engine.js'
import type { Ask } from './limits.js'

/** Rewrites JSON, or has a thread do so if it is long. `tells`: says inside what is missing. */
export function rewritten(
  text: string,
  policy: EnginePolicy,
  query: string[] | undefined,
  { tells = false, isRest = false } = {},
): ShapedJson | null {
  const { ahead, limits, keep, needles, isError, saved, notice, words } = policy
  const terms = () =>
    JSON.stringify([limits, keep, needles, isError, saved, notice, words !== undefined, query, tells, isRest])
  const answer = ahead?.answer(text, terms(), (held) =>
    native.shapeHeld(held, handleOf(policy), query, tells, isRest),
  )
  if (answer === PENDING) return LATER
  if (answer) return answer.value
  return native.shapeJson(handleOf(policy), text, query, tells, isRest)
}

/** Stands for the JSON that a thread is asked for. */
const LATER: ShapedJson = { json: '{}', isLess: true, elements: 0, strings: 0, members: 0, validates: true }

/** Returns the function by which the engine rewrites JSON that threads may have rewritten. */
export function shaperOf(policy: EnginePolicy, ask: Ask | undefined) {
  if (!policy.ahead) return undefined
  return (
    json: string,
    limits: readonly number[],
    notice: string | null,
    tells: boolean,
    isRest: boolean,
  ) => {
    const [bytes = 0, lines = 0, chars = 0, tokens = 0, lineBytes = 0] = limits
    const own = measures({ bytes, lines, chars, tokens, lineBytes }, policy.keep)
    const made = rewritten(json, { ...noticed(policy, notice), ...own }, ask?.(), { tells, isRest })
    return made && [made.json, made.isLess]
  }
}

/** Returns a policy with the text that a notice function made, null for the standard notice. */
function noticed(policy: EnginePolicy, text: string | null): EnginePolicy {
  if (!policy.words || text === null) return unworded(policy)
  return { ...policy, notice: { ...policy.notice, kind: 'literal', text }, words: undefined }
}
