import type { SpillStore, WrapPolicy } from 'spillway'
import { clampLater } from '../clamp_later.js'
import { asks, paged } from '../compiled.js'
import { compile } from '../policy.js'
import { decoded, once, stringsIn } from '../query.js'
import { SEARCHED } from '../text/pieces.js'
import { clampPrepared } from '../text/text.js'

/** A call of a tool that returned a text. */
export interface TextCall {
  readonly name: string
  readonly input: unknown
  /** True if its input has parameters that page (`offset`, `limit`). */
  readonly isPaged: boolean
}

/** Clamps the text that a call returned as a wrapped tool does, without the code for results of any
 *  shape: loading that takes 10 ms. `storing`: makes the store for what is cut. */
export async function clampCallText(
  text: string,
  { name, input, isPaged }: TextCall,
  policy: Omit<WrapPolicy, 'spill'>,
  storing?: () => SpillStore,
): Promise<string> {
  const compiled = isPaged ? paged(compile(policy)) : compile(policy)
  const ask = asks(compiled) ? once(() => stringsIn([decoded(input)])) : undefined
  const origin = { phase: 'result' as const, tool: name }
  const later = { given: text, policy: compiled, isLong: true, origin, storing }
  return clampLater(later, (policy, { spilling }) => {
    const number = spilling?.next() ?? 0
    const kept = clampPrepared(text, spilling?.policyOf(number, policy) ?? policy, SEARCHED, ask)
    if (kept !== text) spilling?.cut(number, [text], [kept])
    return kept
  })
}
