import type { PlanStep, SpillStore } from 'spillway'
import { hasListeners, type Origin } from '../clamp_event.js'
import { type EnginePolicy, saved } from '../compiled.js'
import { stepFor } from '../plan.js'
import { lengthOf, resultsIn, TRIAL, withTexts } from '../result/message_results.js'
import { isObject } from '../untrusted.js'
import { groupedBy, namedBy, withPlan } from './apply_plan.js'
import { savedBy } from './cleared.js'
import type { ClearedHistory } from './cleared_history.js'
import type { StoredCut } from './learned.js'
import { isCurrent, type Snapshot, snapshotOf } from './snapshot.js'
import { hashOf, type ToolUse } from './tool_uses.js'

/** Messages that were cut, by the message and the cuts. The caller may have changed one since. */
const known = new WeakMap<object, { by: string; made: unknown; snapshot: Snapshot | undefined }>()

/** The cuts of results that are too long even for an empty window. */
export class CutResults {
  readonly #history: ClearedHistory
  readonly #policy: EnginePolicy
  readonly #origin: Origin
  #cuts: { readonly [name: string]: StoredCut }

  /** `origin`: that of the events. */
  constructor(
    history: ClearedHistory,
    cuts: { readonly [name: string]: StoredCut },
    policy: EnginePolicy,
    origin: Origin,
  ) {
    this.#history = history
    this.#cuts = cuts
    this.#policy = policy
    this.#origin = origin
  }

  /** Cuts the messages of the history, as they are written. */
  apply(messages: readonly unknown[]): readonly unknown[] {
    const uses = Object.keys(this.#cuts)
      .flatMap((key) => this.#history.named(key) ?? [])
      .filter((use) => this.#cutOf(use) && !this.#isGone(use))
      .sort((a, b) => a.nth - b.nth)
    if (uses.length === 0) return messages
    const at = new Map<number, ToolUse[]>()
    for (const use of uses) at.set(use.at, [...(at.get(use.at) ?? []), use])
    return messages.map((message, index) => {
      const own = at.get(index)
      return own ? this.#cut(message, own) : message
    })
  }

  #cut(message: unknown, uses: readonly ToolUse[]): unknown {
    const cuts = uses.map((use) => [use.nth, this.#cutOf(use) as StoredCut] as const)
    const by = JSON.stringify(cuts)
    const before = known.get(message as object)
    if (before?.by === by && before.snapshot && isCurrent(before.snapshot)) return before.made
    const made = cuts.reduce((left, [nth, cut]) => this.#cutOne(left, nth, cut), message)
    known.set(message as object, { by, made, snapshot: isObject(made) ? snapshotOf(made) : undefined })
    return made
  }

  #cutOne(
    message: unknown,
    nth: number,
    { maxChars, media, saved: named }: StoredCut,
    origin = TRIAL,
  ): unknown {
    const steps = withTexts(resultsIn(message)).map(([{ result, texts }], at) => {
      const chars = lengthOf(texts)
      const step = stepFor(result, 0, chars, at === nth ? Math.min(maxChars ?? chars, chars) : chars)
      return at === nth && media !== undefined ? { ...step, media } : step
    })
    const policy = named ? saved(this.#policy, ...named) : this.#policy
    return withPlan([message], steps, policy, origin)[0]
  }

  #cutOf(use: ToolUse): StoredCut | undefined {
    const cut = Object.hasOwn(this.#cuts, use.key) ? this.#cuts[use.key] : undefined
    return cut?.hash === hashOf(use.result) ? cut : undefined
  }

  #isGone(use: ToolUse): boolean {
    return this.#history.entryOf(use)?.text !== undefined
  }

  /** Adds the steps of a plan for the messages of the history, as they were written. */
  async add(plan: readonly PlanStep[], store: SpillStore | undefined) {
    const messages = this.apply(this.#history.written().messages)
    const cuts = { ...this.#cuts }
    for (const [at, steps] of groupedBy(plan, ({ index }) => index)) {
      const results = resultsIn(messages[at])
      const named = namedBy(steps, results)
      for (const [nth, [{ result }]] of withTexts(results).entries()) {
        const step = named.get(result)
        const use = this.#history.uses.find((one) => one.at === at && one.nth === nth)
        if (!step || !use || this.#isGone(use)) continue
        const before = this.#cutOf(use)
        const most = step.maxChars < step.chars ? step.maxChars : before?.maxChars
        const policy = store && (await savedBy(store, use.result, this.#history.calls.toolOf(use)))
        const media = step.media ?? before?.media
        const cut: StoredCut = {
          hash: hashOf(use.result),
          ...(most !== undefined && { maxChars: Math.min(most, before?.maxChars ?? most) }),
          ...(media !== undefined && { media }),
          ...(policy?.saved && { saved: [policy.saved.how, policy.saved.name] as const }),
        }
        cuts[use.key] = cut
        if (hasListeners(this.#origin)) this.#cutOne(messages[at], nth, cut, this.#origin)
      }
    }
    this.#cuts = cuts
    return cuts
  }
}
