import type { Pairing } from './pairing.js'
import type { Answer, HistoryCall } from './parts.js'

/**
 * Renames calls whose ids the provider rejects, and their results with them: ids with invalid
 * characters, ids that are too long, and ids of an earlier call. Only earlier calls count, so the
 * names stay the same as the history grows.
 */
export function renameCalls(
  { calls, turnOf, rules }: Pairing,
  rename: (one: HistoryCall | Answer, id: string) => void,
): number {
  const { ids } = rules
  const { unique, named } = rules.pairs
  const taken = new Set<string>()
  const doubles = new Map<string, number>()
  let [count, turn] = [0, -1]
  for (const call of calls) {
    if (!unique && turn !== turnOf[call.at]) taken.clear()
    turn = turnOf[call.at] as number
    const { id, tool, answer, kind } = call
    if (!kind.hasIds ? !id : named && id === undefined) continue
    let to = id
    if (!to || taken.has(to) || (ids && !ids.test(to))) {
      const from = id || tool || ''
      let number = doubles.get(from) ?? 0
      do to = nameFor(from, number++)
      while (taken.has(to))
      doubles.set(from, number)
      rename(call, to)
    }
    taken.add(to)
    const isOther = answer !== undefined && answer.id !== to && !(named && answer.id === undefined)
    if (isOther) rename(answer, to)
    if (to !== id || isOther) count += 1
  }
  return count
}

/** The length of the longest id that every provider accepts. */
const LONGEST = 40
const DIGITS = 8

/** Returns an id that every provider accepts. Equal ids and numbers give equal results. */
function nameFor(id: string, number: number): string {
  const start = id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, LONGEST - DIGITS - 1)
  return `${start}_${hashOf(`${id} ${number}`)}`
}

/** FNV-1a. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(DIGITS, '0')
}
