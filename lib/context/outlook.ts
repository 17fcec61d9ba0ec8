// The requests to come and the results that they need, as far as the history tells.
//
// Whether a clearing pays depends on two numbers that nobody knows: how many requests come, and
// which results they need. Both are learned. An agent that has made a hundred requests will make
// about a hundred more: that guess is never off by more than the session itself. And results are
// needed again less the older they are: half of all uses come within one answer, nine tenths within
// five, and from there on the odds fall with the age. Each saved output that the agent reads again
// after its result was cleared raises these odds, and each request without one lowers them.
import type { ClearState } from 'spillway'
import { jsonOf } from '../json.js'
import type { ClearedHistory } from './cleared_history.js'
import type { ToolUse } from './tool_uses.js'

/** Odds that an old result is needed in a request, times its age in requests. */
const NEED = 0.03
/** Odds that a result is needed in each of its first requests, times the requests left of these. */
const [FRESH, FRESH_REQUESTS] = [0.03, 5]
/** Weight of these odds against what was seen, in reads. */
const PRIOR = 3
/** Requests that come at least. */
const FEWEST = 8
/** An id of a saved output. */
const IDS = /(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])/g

/** The needs of an agent, as learned so far. */
export interface Needs {
  /** Results and answers of the model that were looked at. */
  readonly uses: number
  readonly answers: number
  /** Cleared results that were read again, and as many as the odds said. */
  readonly missed: number
  readonly expected: number
}

export const NO_NEEDS: Needs = { uses: 0, answers: 0, missed: 0, expected: 0 }

/** Returns what is known once the results and answers of a history are looked at. */
export function learned(needs: Needs, history: ClearedHistory, results: ClearState['results']): Needs {
  const { uses, answers } = history
  const requests = Math.max(0, answers.length - needs.answers)
  if (requests === 0 && uses.length === needs.uses) return needs
  let { missed, expected } = needs
  // In the order of the uses, since sums of fractions depend on it.
  for (const use of uses) {
    const { text, of } = history.entryOf(use) ?? {}
    if (text !== undefined && !of) expected += (requests * NEED) / (use.age + 1)
  }
  const later = uses.slice(needs.uses)
  const asked = later.flatMap((use) => jsonOf(history.calls.of(use)?.args)?.match(IDS) ?? [])
  if (asked.length > 0) {
    const texts = Object.values(results).flatMap(({ text }) => text ?? [])
    const named = new Set(texts.flatMap((text) => text.match(IDS) ?? []))
    missed += asked.filter((id) => named.has(id)).length
  }
  return { uses: uses.length, answers: answers.length, missed, expected }
}

/** The requests to come, and the needs of these. */
export class Outlook {
  readonly requests: number
  readonly #scale: number

  constructor(needs: Needs, told: number | undefined) {
    this.requests = told ?? Math.max(FEWEST, needs.answers)
    this.#scale = (PRIOR + needs.missed) / (PRIOR + needs.expected)
  }

  /** Returns how often a result is likely to be needed in the requests to come. */
  needsOf({ age }: ToolUse): number {
    const old = NEED * Math.log((age + this.requests + 1) / (age + 1))
    return this.#scale * (old + FRESH * Math.max(0, FRESH_REQUESTS - age))
  }
}
