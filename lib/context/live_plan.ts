import type { PlanStep } from 'spillway'
import type { Result } from '../dialect/dialect.js'
import { elementsOf, lengthOf, resultsIn, textsOf } from '../result/history.js'
import { applyPlan, namedBy } from './apply.js'

/**
 * What tool results are cut to in all that is sent during a run. A result that was cut once stays so, and the same,
 * wherever it stands and whatever comes after it: a provider's cache holds as long as a prompt begins as the last one did.
 */
export class LivePlan {
  readonly #lengths = new Map<string, number>()

  /** The messages with their results cut; the same array where none is. */
  apply<M>(messages: readonly M[]): readonly M[] {
    if (this.#lengths.size === 0) return messages
    const plan = elementsOf(messages).flatMap((message, index) => {
      const results = resultsIn(message)
      // All of a message are named, so that none takes the step of another that is alike.
      return results.some((result) => this.#lengths.has(nameOf(result)))
        ? results.map((result) => this.#step(index, result))
        : []
    })
    return applyPlan(messages, plan)
  }

  #step(index: number, result: Result): PlanStep {
    const chars = lengthOf(textsOf(result.slots))
    const { id } = result
    const maxChars = this.#lengths.get(nameOf(result)) ?? chars
    return { index, ...(id !== undefined && { callId: id }), chars, maxChars }
  }

  /** Takes up a plan that was made of `cut`, which is what became of `messages`. */
  take(messages: readonly unknown[], cut: readonly unknown[], plan: readonly PlanStep[]): void {
    for (const index of new Set(plan.map(({ index }) => index))) {
      const originals = resultsIn(messages[index])
      const results = resultsIn(cut[index])
      const steps = plan.filter((step) => step.index === index)
      for (const [result, { maxChars, chars }] of namedBy(steps, results)) {
        const original = originals[results.indexOf(result)]
        if (original && maxChars < chars) this.#lengths.set(nameOf(original), maxChars)
      }
    }
  }
}

/** A name that is the same wherever a result stands: its id and length, or all its text. */
function nameOf(result: Result): string {
  const texts = textsOf(result.slots)
  return result.id === undefined ? texts.join('\n') : `${result.id} ${lengthOf(texts)}`
}
