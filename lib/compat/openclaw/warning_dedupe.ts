import type { WarningDedupe } from 'spillway/openclaw'

/** Keys that are remembered. */
const MOST = 1_024

/** The keys of warnings that were logged, so that each is logged once. The oldest are forgotten. */
function createDedupe(): WarningDedupe {
  const known = new Set<string>()
  return {
    check(key) {
      if (!key) return false
      const isKnown = known.delete(key)
      known.add(key)
      const [oldest] = known
      if (known.size > MOST && oldest !== undefined) known.delete(oldest)
      return isKnown
    },
    peek: (key) => Boolean(key) && known.has(key as string),
    delete: (key) => void (key && known.delete(key)),
    clear: () => known.clear(),
    size: () => known.size,
  }
}

export const toolResultWarningDedupe: {
  readonly promptPressure: WarningDedupe
  readonly sessionRecovery: WarningDedupe
} = { promptPressure: createDedupe(), sessionRecovery: createDedupe() }
