import type { PlanStep } from 'spillway'
import type { Result } from '../dialect/results.js'
import { elementsOf, isSame, lengthOf, resultsIn, textsOf } from '../result/message_results.js'
import { applyPlan, namedBy } from './apply_plan.js'
import { stepFor } from './plan.js'

/** A cut of the result that has these texts and payloads. */
interface ResultCut {
  readonly texts: readonly string[]
  readonly payloads: readonly unknown[]
  maxChars: number
  media: number | undefined
}

/**
 * Cuts of tool results that apply to every request of a run. A result stays cut in the same way, at any position: a
 * provider's cache holds only while a prompt begins like the one before.
 */
export class AppliedCuts {
  readonly #cuts = new Map<string, ResultCut[]>()

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
    const { maxChars = chars, media } = this.#cutOf(result) ?? {}
    const step = stepFor(result, index, chars, Math.min(maxChars, chars))
    return media === undefined ? step : { ...step, media }
  }

  /** Adds a plan made for `cut`, the result of `apply(messages)`. */
  add(messages: readonly unknown[], cut: readonly unknown[], plan: readonly PlanStep[]): void {
    const left = applyPlan(cut, plan)
    for (const index of new Set(plan.map(({ index }) => index))) {
      const originals = resultsIn(messages[index])
      const results = resultsIn(cut[index])
      const steps = plan.filter((step) => step.index === index)
      for (const [result, { maxChars, chars, media }] of namedBy(steps, results)) {
        const at = results.indexOf(result)
        const original = originals[at]
        const most = maxChars < chars ? maxChars : Number.POSITIVE_INFINITY
        if (original && (maxChars < chars || media !== undefined))
          this.#keep(original, most, media, resultsIn(left[index])[at])
      }
    }
  }

  #keep(result: Result, maxChars: number, media: number | undefined, left = result): void {
    const known = this.#cutOf(result)
    // A notice may have become "[...]", and equal results share the tightest cut. The original must not become longer than
    // either.
    if (known) {
      if (maxChars !== Number.POSITIVE_INFINITY)
        known.maxChars = Math.min(known.maxChars, maxChars, lengthOf(textsOf(left.slots)))
      known.media = media ?? known.media
    } else {
      const texts = textsOf(result.slots)
      const name = nameOf(result, texts)
      this.#cuts.set(name, [
        ...(this.#cuts.get(name) ?? []),
        { texts, payloads: payloadsOf(result), maxChars, media },
      ])
    }
  }

  /** Returns the cut of a result, at any position. Results are compared by text: agents that number calls from 1 in
   *  every turn reuse ids, and results truncated to the same limit have the same length. */
  #cutOf(result: Result) {
    const texts = textsOf(result.slots)
    return this.#cuts.get(nameOf(result, texts))?.find((cut) => isCutOf(cut, result, texts))
  }
}

function nameOf({ id }: Result, texts: readonly string[]): string {
  return `${id ?? ''} ${lengthOf(texts)}`
}

/** Compares payloads too: a tool may say the same of each screenshot. */
function isCutOf(cut: ResultCut, result: Result, texts: readonly string[]): boolean {
  const payloads = payloadsOf(result)
  const isEqual =
    cut.payloads.length === payloads.length && cut.payloads.every((one, at) => one === payloads[at])
  return isEqual && isSame(cut.texts, texts)
}

function payloadsOf(result: Result): unknown[] {
  return result.media.map(({ value }) => value)
}
