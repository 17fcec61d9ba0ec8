import type { SpillStore, WrapPolicy } from 'spillway'
import { asks, paged } from '../compiled.js'
import { compile } from '../policy.js'
import { decoded, once, stringsIn } from '../query.js'
import { SEARCHED } from '../text/pieces.js'
import { Rounds } from '../text/rounds.js'
import { clampPrepared } from '../text/text.js'
import { CallSpill } from './call_spill.js'

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
  const ahead = new Rounds()
  const compiled = { ...(isPaged ? paged(compile(policy)) : compile(policy)), ahead }
  const ask = asks(compiled) ? once(() => stringsIn([decoded(input)])) : undefined
  let spilling = new CallSpill()
  const clamp = () => {
    const number = spilling.next()
    const kept = clampPrepared(text, spilling.policyOf(number, compiled), SEARCHED, ask)
    if (kept !== text) spilling.cut(number, [text], [kept])
    return kept
  }
  const trial = await ahead.settle(() => {
    spilling = new CallSpill()
    return clamp()
  })
  if (trial === text || !storing) return trial
  return (await spilling.save(storing(), { tool: name })) ? clamp() : trial
}
