import type { PlanStep, Policy, ResultPolicy } from 'spillway'
import { isObject, Kept, lengthOf, resultsIn, withTexts, written } from './history.js'
import { checkMessages } from './messages.js'
import { bound, limit, optionError, text } from './option.js'
import { type Compiled, compileWith } from './policy.js'
import { elementAt } from './reading.js'

/** The limits of a plan are its steps. */
const DEFAULTS = {
  notice: 'pi',
  maxBytes: Number.POSITIVE_INFINITY,
  maxLines: Number.POSITIVE_INFINITY,
} satisfies ResultPolicy

/** The policy by which a plan is applied, and estimated, unless another is given. */
export const appliedBy = compileWith({}, DEFAULTS)

export function applyPlan<T extends readonly unknown[]>(
  messages: T,
  plan: readonly PlanStep[],
  policy?: ResultPolicy | Policy,
): T {
  const compiled = policy === undefined ? appliedBy : compileWith(DEFAULTS, policy)
  checkMessages(messages)
  if (!Array.isArray(plan)) throw optionError(TypeError, 'plan', 'an array', plan)
  const steps = new Map<number, PlanStep[]>()
  for (const [at, step] of plan.entries()) {
    const checked = checkStep(step, `plan[${at}]`)
    steps.set(checked.index, [...(steps.get(checked.index) ?? []), checked])
  }
  const kept = [...steps].flatMap(([at, steps]) => cut(elementAt(messages, at), at, steps, compiled))
  return kept.length === 0 ? messages : (written(messages, kept, compiled).messages as unknown as T)
}

function checkStep(step: unknown, name: string): PlanStep {
  if (!isObject(step)) throw optionError(TypeError, name, 'an object', step)
  const { index, callId, chars, maxChars } = step as Partial<PlanStep>
  return {
    index: limit(`${name}.index`, index),
    ...(callId !== undefined && { callId: text(`${name}.callId`, callId, '') }),
    chars: limit(`${name}.chars`, chars),
    maxChars: bound(`${name}.maxChars`, maxChars, Number.POSITIVE_INFINITY),
  }
}

/** Cuts the results of a message that steps name by id and length. Of several that are alike in both, the first step
 *  takes the first one. */
function cut(message: unknown, at: number, steps: PlanStep[], policy: Compiled): Kept[] {
  return withTexts(resultsIn(message, policy.dialect)).flatMap((copies) => {
    const [{ result, texts }] = copies
    const chars = lengthOf(texts)
    const next = steps.findIndex((step) => step.callId === result.id && step.chars === chars)
    const [step] = next < 0 ? [] : steps.splice(next, 1)
    if (!step || step.maxChars >= chars) return []
    return copies.map(({ result }) => {
      const kept = new Kept(result, at, false, policy)
      kept.clamp(step.maxChars)
      return kept
    })
  })
}
