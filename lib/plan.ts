import { native } from './engine.js'
import { KINDS } from './notice.js'
import { bound, choice, flag, limit, optionError } from './option.js'
import { windows } from './pieces.js'
import { type Compiled, pack } from './policy.js'

/** A budget over all tool results of a history, checked. */
export interface Aggregate {
  readonly maxChars: number
  readonly order: 'oldest' | 'newest'
  readonly protectLatest: boolean
  readonly minKeepChars: number
}

/** A tool result as a plan sees it. */
export interface Sized {
  readonly chars: number
  /** It came after the last message of the model. */
  readonly latest: boolean
  /** Its texts: a notice in them tells how long it once was, and so how long the next notice will be. */
  readonly texts?: readonly string[]
}

export interface PlanStep {
  index: number
  /** Chars now. */
  chars: number
  maxChars: number
}

/** Checks the options of an aggregate budget; what is not given comes from `preset`. */
export function checkAggregate(options: unknown, preset: Partial<Aggregate> = {}): Aggregate {
  if (typeof options !== 'object' || options === null)
    throw optionError(TypeError, 'aggregate', 'an object', options)
  const { maxChars = preset.maxChars, order, protectLatest, minKeepChars } = options as Partial<Aggregate>
  return {
    maxChars: limit('aggregate.maxChars', maxChars),
    order: choice('aggregate.order', order, ['oldest', 'newest'], preset.order ?? 'oldest'),
    protectLatest: flag('aggregate.protectLatest', protectLatest, preset.protectLatest ?? true),
    minKeepChars: bound('aggregate.minKeepChars', minKeepChars, preset.minKeepChars ?? 2_000),
  }
}

/** Numbers that go with each result, as src/bindings/plan.rs reads them. */
const COLUMNS = 3

/** How often a plan is made anew for what notices tell. Each time it is a few chars that move. */
const ROUNDS = 4

/** A result that keeps more has room for any digits. */
const FEW = 512

/**
 * Plans what each result may keep: at most `maxEach` chars, and all of them what the aggregate says. `policy` is the one
 * by which they will be cut, which tells how long a notice is. No step leaves less than "[...]"; planning again over
 * what the steps leave plans nothing.
 */
export function planOf(
  results: readonly Sized[],
  { aggregate = NO_BUDGET, maxEach = Number.POSITIVE_INFINITY }: { aggregate?: Aggregate; maxEach?: number },
  policy: Compiled,
): PlanStep[] {
  let sum = 0
  for (const { chars } of results) sum += Math.min(chars, maxEach)
  if (sum <= aggregate.maxChars && results.every(({ chars }) => chars <= maxEach)) return []
  const originals = results.map(({ chars }) => chars)
  const asked = new Set<readonly string[]>()
  for (let round = 1; ; round++) {
    const steps = stepsOf(results, originals, aggregate, maxEach, policy)
    let changed = false
    for (const { index, maxChars } of round < ROUNDS ? steps : []) {
      const texts = results[index]?.texts
      if (!texts || maxChars > FEW || asked.has(texts)) continue
      asked.add(texts)
      const original = originalOf(texts)
      changed ||= original !== originals[index]
      originals[index] = original
    }
    if (!changed) return steps
  }
}

const NO_BUDGET: Aggregate = {
  maxChars: Number.POSITIVE_INFINITY,
  order: 'oldest',
  protectLatest: true,
  minKeepChars: 0,
}

function stepsOf(
  results: readonly Sized[],
  originals: readonly number[],
  { maxChars, order, protectLatest, minKeepChars }: Aggregate,
  maxEach: number,
  policy: Compiled,
): PlanStep[] {
  const table = new Float64Array(results.length * COLUMNS)
  for (const [at, { chars, latest }] of results.entries()) {
    table[at * COLUMNS] = chars
    table[at * COLUMNS + 1] = originals[at] ?? chars
    table[at * COLUMNS + 2] = Number(latest)
  }
  const budget = [maxEach, maxChars, Number(order === 'newest'), Number(protectLatest), minKeepChars]
  // Where a caller words the notice, the one that takes its place when it does not fit is reckoned with.
  const packed = pack(policy, policy.words ? KINDS.pi : undefined)
  native.planResults(packed, policy.notice, policy.said, new Float64Array(budget), table)
  const steps: PlanStep[] = []
  for (const [index, { chars }] of results.entries()) {
    const left = table[index * COLUMNS] ?? chars
    if (left < chars) steps.push({ index, chars, maxChars: left })
  }
  return steps
}

/** A glance at both ends finds most notices of a long text. */
const GLANCE = { reach: { head: 0, tail: 0 } }

/** Chars that a result had before it was first cut. */
function originalOf(texts: readonly string[]): number {
  let sum = 0
  for (const text of texts) {
    const [head, tail] = windows(text, GLANCE)
    sum += native.originalChars(head, tail, text.length)
  }
  return sum
}
