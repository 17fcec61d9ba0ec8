import type { Cut } from 'spillway'
import type { EnginePolicy } from '../compiled.js'
import { limitsIn } from './limits.js'

/** Formats the runs, such as "1-120,4803-5000". Adjacent runs are merged. */
function rangesOf(runs: readonly number[]): string {
  const merged: [number, number][] = []
  for (let at = 0; at < runs.length; at += 2) {
    const [first = 0, last = 0] = runs.slice(at)
    const before = merged.at(-1)
    if (before && first <= before[1] + 1) before[1] = last
    else merged.push([first, last])
  }
  return merged.map((run) => run.join('-')).join(',')
}

/** Returns the argument of a notice function. `facts`: see bindings/src/words.rs. */
function cutOf(facts: readonly number[], keep: string, { source, saved }: EnginePolicy): Cut {
  const [totalBytes = 0, totalChars = 0, totalLines = 0, bytes = 0, chars = 0, lines = 0, bits = 0, ...runs] =
    facts
  return {
    keep: keep as Cut['keep'],
    source,
    ...(saved && saved.how !== 'failed' && { saved: saved.name }),
    totalChars,
    totalBytes,
    totalLines,
    omittedChars: totalChars - chars,
    omittedBytes: totalBytes - bytes,
    omittedLines: totalLines - lines,
    keptLines: rangesOf(runs),
    exceeded: limitsIn(bits),
  }
}

/**
 * Returns the notice function of a policy as the engine calls it. It returns null if the function
 * throws or returns no string, which counts as not fitting.
 */
export function wordsOf(policy: EnginePolicy) {
  const { words } = policy
  if (!words) return undefined
  return (facts: readonly number[], keep: string): string | null => {
    try {
      const text: unknown = words(cutOf(facts, keep, policy))
      return typeof text === 'string' ? text.toWellFormed() : null
    } catch {
      return null
    }
  }
}
