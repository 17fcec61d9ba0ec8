import type { PlanStep, ResultPolicy } from 'spillway'
import type { EnginePolicy } from '../compiled.js'
import type { Result } from '../dialect/results.js'
import { OPEN_PLAN } from '../options.js'
import { compileWith, UNLIMITED } from '../policy.js'
import { checkMessages } from '../result/clamp_messages.js'
import { handBack } from '../result/gate.js'
import { History } from '../result/history.js'
import { HistoryResult, lengthOf, ORIGIN, resultsIn, withTexts, written } from '../result/message_results.js'
import { redactValue } from '../result/redact_value.js'
import { elementAt } from '../untrusted.js'

/** Defaults of applyPlan, whose only limits are the steps of the plan. */
const DEFAULTS = { ...UNLIMITED, notice: 'pi' } satisfies ResultPolicy

/** The default policy for applying a plan, by which plans are also estimated. */
export const appliedBy = compileWith({}, DEFAULTS)

export function applyPlan<T extends readonly unknown[]>(
  messages: T,
  plan: readonly PlanStep[],
  policy?: ResultPolicy,
): T {
  const compiled = cutPolicy(policy)
  return handBack(compiled, ORIGIN, messages, (origin) => withPlan(messages, plan, compiled, origin))
}

/** Returns the policy by which a plan cuts. */
export function cutPolicy(policy: ResultPolicy | undefined): EnginePolicy {
  return policy === undefined ? appliedBy : compileWith(DEFAULTS, policy)
}

/** Applies a plan with a compiled policy. */
export function withPlan<T extends readonly unknown[]>(
  list: T,
  plan: readonly PlanStep[],
  compiled: EnginePolicy,
  origin = ORIGIN,
): T {
  const messages = checkMessages(list)
  const steps = groupedBy(OPEN_PLAN.take('plan', plan), ({ index }) => index)
  const history = new History(messages)
  const kept = [...steps].flatMap(([at, steps]) => cut(elementAt(messages, at), at, steps, compiled, history))
  if (kept.length === 0) return messages
  const made = written(messages, kept, compiled, origin).messages
  return redactChanged(messages, made, compiled) as unknown as T
}

/** Redacts what stands beside the texts that were cut. */
function redactChanged(messages: readonly unknown[], made: readonly unknown[], policy: EnginePolicy) {
  if (!policy.redact || made === messages) return made
  return made.map((message, at) => (message === messages[at] ? message : redactValue(message, policy)))
}

/** Cuts the results of a message that steps name. */
function cut(
  message: unknown,
  at: number,
  steps: readonly PlanStep[],
  policy: EnginePolicy,
  history: History,
): HistoryResult[] {
  const named = namedBy(steps, resultsIn(message, policy.dialect))
  return [...named].flatMap(([result, { chars, maxChars, media }]) => {
    const kept = new HistoryResult(result, at, false, policy, history)
    if (maxChars < chars) kept.clamp(maxChars)
    if (media !== undefined) kept.lighten(media)
    return kept.clamped || kept.drop ? kept : []
  })
}

/** Finds the results of one message that steps name by id and length. If several results match a
 *  step, they are taken in order. */
export function namedBy(steps: readonly PlanStep[], results: readonly Result[]): Map<Result, PlanStep> {
  const named = new Map<Result, PlanStep>()
  const left = groupedBy(steps, ({ callId, chars }) => nameOf(callId, chars))
  for (const copies of withTexts(results)) {
    const [{ result, texts }] = copies
    const step = left.get(nameOf(result.id, lengthOf(texts)))?.shift()
    if (step) for (const { result } of copies) named.set(result, step)
  }
  return named
}

function nameOf(id: string | undefined, chars: number): string {
  return `${chars} ${id === undefined}${id}`
}

/** Groups steps by a key, in order. */
export function groupedBy<K>(steps: readonly PlanStep[], keyOf: (step: PlanStep) => K): Map<K, PlanStep[]> {
  const groups = new Map<K, PlanStep[]>()
  for (const step of steps) {
    const key = keyOf(step)
    const group = groups.get(key)
    if (group) group.push(step)
    else groups.set(key, [step])
  }
  return groups
}
