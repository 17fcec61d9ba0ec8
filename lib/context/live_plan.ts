import type { PlanStep } from 'spillway'
import type { Result } from '../dialect/dialect.js'
import { elementsOf, isSame, lengthOf, resultsIn, textsOf } from '../result/history.js'
import { applyPlan, namedBy } from './apply.js'

/**
 * What tool results are cut to in all that is sent during a run. A result that was cut once stays so, and the same,
 * wherever it stands and whatever comes after it: a provider's cache holds as long as a prompt begins as the last one did.
 */
export class LivePlan {
  readonly #cuts = new Map<string, { readonly texts: readonly string[]; maxChars: number }[]>()

  /** The messages with their results cut; the same array where none is. */
  apply<M>(messages: readonly M[]): readonly M[] {
    if (this.#cuts.size === 0) return messages
    const plan = elementsOf(messages).flatMap((message, index) => {
      const results = resultsIn(message)
      // All of a message are named, so that none takes the step of another that is alike.
      return results.some((result) => this.#cutOf(result))
        ? results.map((result) => this.#step(index, result))
        : []
    })
    return applyPlan(messages, plan)
  }

  #step(index: number, result: Result): PlanStep {
    const chars = lengthOf(textsOf(result.slots))
    const { id } = result
    const { maxChars = chars } = this.#cutOf(result) ?? {}
    return { index, ...(id !== undefined && { callId: id }), chars, maxChars }
  }

  /** Takes up a plan that was made of `cut`, which is what became of `messages`. */
  take(messages: readonly unknown[], cut: readonly unknown[], plan: readonly PlanStep[]): void {
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
    // What was a notice already may have become "[...]", and of results that are alike the least is left: the original has
    // to become no longer.
    if (known) known.maxChars = Math.min(known.maxChars, maxChars, lengthOf(textsOf(left.slots)))
    else {
      const texts = textsOf(result.slots)
      const name = nameOf(result, texts)
      this.#cuts.set(name, [...(this.#cuts.get(name) ?? []), { texts, maxChars }])
    }
  }

  /** What was cut of a result, wherever it stands now. Agents that count their calls anew in every turn give the same id to
   *  many, and results that a limit has cut are of one length: the text tells them apart. */
  #cutOf(result: Result) {
    const texts = textsOf(result.slots)
    return this.#cuts.get(nameOf(result, texts))?.find((cut) => isSame(cut.texts, texts))
  }
}

function nameOf({ id }: Result, texts: readonly string[]): string {
  return `${id ?? ''} ${lengthOf(texts)}`
}
