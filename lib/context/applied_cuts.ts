import type { PlanStep } from 'spillway'
import { hasListeners } from '../clamp_event.js'
import type { Result } from '../dialect/results.js'
import { stepFor } from '../plan.js'
import { ByTexts, lengthOf, ORIGIN, resultsIn, TRIAL, textsOf } from '../result/message_results.js'
import { elementsOf } from '../untrusted.js'
import { appliedBy, groupedBy, namedBy, withPlan } from './apply_plan.js'

/** A cut of the result that has these payloads. */
interface ResultCut {
  readonly payloads: readonly unknown[]
  maxChars: number
  media: number | undefined
  /** True if its event was announced. */
  isTold: boolean
}

/**
 * Cuts of tool results that apply to every request of a run. A result stays cut in the same way, at
 * any position: a provider's cache holds only while a prompt begins like the one before.
 */
export class AppliedCuts {
  readonly #cuts = new ByTexts<ResultCut[]>()

  /** Returns the messages with their results cut, or the same array if none is. */
  apply<M>(messages: readonly M[]): readonly M[] {
    return this.#cuts.isEmpty ? messages : withPlan(messages, this.#plan(messages), appliedBy, TRIAL)
  }

  /** Announces the cuts of messages that are sent, each once. */
  tell(messages: readonly unknown[], origin = ORIGIN): void {
    if (this.#cuts.isEmpty || !hasListeners(origin)) return
    withPlan(
      messages,
      this.#plan(messages, (cut) => !cut.isTold),
      appliedBy,
      origin,
    )
    for (const message of elementsOf(messages))
      for (const result of resultsIn(message)) {
        const cut = this.#cutOf(result)
        if (cut) cut.isTold = true
      }
  }

  /** Returns the steps for the results that have a cut of these. */
  #plan(messages: readonly unknown[], are: (cut: ResultCut) => boolean = () => true): PlanStep[] {
    const cutOf = (result: Result) => {
      const cut = this.#cutOf(result)
      return cut && are(cut) ? cut : undefined
    }
    return elementsOf(messages).flatMap((message, index) => {
      const results = resultsIn(message)
      // Every result of the message gets a step, or an equal result could take the step of another.
      return results.some(cutOf) ? results.map((result) => this.#step(index, result, cutOf(result))) : []
    })
  }

  #step(index: number, result: Result, cut: ResultCut | undefined): PlanStep {
    const chars = lengthOf(textsOf(result.slots))
    const { maxChars = chars, media } = cut ?? {}
    const step = stepFor(result, index, chars, Math.min(maxChars, chars))
    return media === undefined ? step : { ...step, media }
  }

  /** Adds a plan made for `cut`, the result of `apply(messages)`. */
  add(messages: readonly unknown[], cut: readonly unknown[], plan: readonly PlanStep[]): void {
    const left = withPlan(cut, plan, appliedBy, TRIAL)
    for (const [index, steps] of groupedBy(plan, ({ index }) => index)) {
      const originals = resultsIn(messages[index])
      const results = resultsIn(cut[index])
      const cuts = resultsIn(left[index])
      const places = new Map(results.map((result, at) => [result, at]))
      for (const [result, { maxChars, chars, media }] of namedBy(steps, results)) {
        const at = places.get(result) as number
        const original = originals[at]
        const most = maxChars < chars ? maxChars : Number.POSITIVE_INFINITY
        if (original && (maxChars < chars || media !== undefined)) this.#keep(original, most, media, cuts[at])
      }
    }
  }

  #keep(result: Result, maxChars: number, media: number | undefined, left = result): void {
    const known = this.#cutOf(result)
    // A notice may have become "[...]", and equal results share the tightest cut. The original must
    // not become longer than either.
    if (known) {
      known.isTold = false
      if (maxChars !== Number.POSITIVE_INFINITY)
        known.maxChars = Math.min(known.maxChars, maxChars, lengthOf(textsOf(left.slots)))
      known.media = media ?? known.media
    } else {
      const [id, texts] = [result.id ?? '', textsOf(result.slots)]
      const alike = this.#cuts.get(id, texts) ?? []
      alike.push({ payloads: payloadsOf(result), maxChars, media, isTold: false })
      this.#cuts.set(id, texts, alike)
    }
  }

  /** Returns the cut of a result, at any position. Results are compared by text: agents that number
   *  calls from 1 in every turn reuse ids, and results truncated to the same limit have the same
   *  length. Payloads are compared too: a tool may say the same of each screenshot. */
  #cutOf(result: Result) {
    const payloads = payloadsOf(result)
    const isEqual = (cut: ResultCut) =>
      cut.payloads.length === payloads.length && cut.payloads.every((one, at) => one === payloads[at])
    return this.#cuts.get(result.id ?? '', textsOf(result.slots))?.find(isEqual)
  }
}

function payloadsOf(result: Result): unknown[] {
  return result.media.map(({ value }) => value)
}
