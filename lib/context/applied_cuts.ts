import type { PlanStep } from 'spillway'
import type { Result } from '../dialect/results.js'
import { elementsOf, isSame, lengthOf, resultsIn, textsOf } from '../result/message_results.js'
import { applyPlan, namedBy } from './apply_plan.js'
import { stepFor } from './plan.js'

/**
 * Cuts of tool results that apply to every request of a run. A result stays cut in the same way, at any position: a
 * provider's cache holds only while a prompt begins like the one before.
 */
export class AppliedCuts {
  readonly #cuts = new Map<string, { readonly texts: readonly string[]; maxChars: number }[]>()

  /** Returns the messages with their results cut, or the same array if none is. */
  apply<M>(messages: readonly M[]): readonly M[] {
    if (this.#cuts.size === 0) return messages
    const plan = elementsOf(messages).flatMap((message, index) => {
      const results = resultsIn(message)
      // Every result of the message gets a step, or an equal result could take the step of another.
      return results.some((result) => this.#cutOf(result))
        ? results.map((result) => this.#step(index, result))
        : []
    })
    return applyPlan(messages, plan)
  }

  #step(index: number, result: Result): PlanStep {
    const chars = lengthOf(textsOf(result.slots))
    return stepFor(result, index, chars, this.#cutOf(result)?.maxChars ?? chars)
  }

  /** Adds a plan made for `cut`, the result of `apply(messages)`. */
  add(messages: readonly unknown[], cut: readonly unknown[], plan: readonly PlanStep[]): void {
    const left = applyPlan(cut, plan)
    for (const index of new Set(plan.map(({ index }) => index))) {
      const originals = resultsIn(messages[index])
      const results = resultsIn(cut[index])
      const steps = plan.filter((step) => step.index === index)
      for (const [result, { maxChars, chars }] of namedBy(steps, results)) {
        const at = results.indexOf(result)
        const original = originals[at]
        if (original && maxChars < chars) this.#keep(original, maxChars, resultsIn(left[index])[at])
      }
    }
  }

  #keep(result: Result, maxChars: number, left = result): void {
    const known = this.#cutOf(result)
    // A notice may have become "[...]", and equal results share the tightest cut. The original must not become longer than
    // either.
    if (known) known.maxChars = Math.min(known.maxChars, maxChars, lengthOf(textsOf(left.slots)))
    else {
      const texts = textsOf(result.slots)
      const name = nameOf(result, texts)
      this.#cuts.set(name, [...(this.#cuts.get(name) ?? []), { texts, maxChars }])
    }
  }

  /** Returns the cut of a result, at any position. Results are compared by text: agents that number calls from 1 in
   *  every turn reuse ids, and results truncated to the same limit have the same length. */
  #cutOf(result: Result) {
    const texts = textsOf(result.slots)
    return this.#cuts.get(nameOf(result, texts))?.find((cut) => isSame(cut.texts, texts))
  }
}

function nameOf({ id }: Result, texts: readonly string[]): string {
  return `${id ?? ''} ${lengthOf(texts)}`
}
