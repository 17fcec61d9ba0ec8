import type { truncateOversizedToolResultsInSession as Declared } from 'spillway/openclaw'
import { checkOptions } from '../../option.js'
import { compile } from '../../policy.js'
import { repairBy } from '../../session/session.js'
import { budgetOf } from './messages.js'
import { policyFor } from './result.js'

type Params = Parameters<typeof Declared>[0]
type Answer = Awaited<ReturnType<typeof Declared>>

export async function truncateOversizedToolResultsInSession(params: Params): Promise<Answer> {
  try {
    return await truncate(checkOptions('params', params))
  } catch (error) {
    return {
      truncated: false,
      truncatedCount: 0,
      reason: error instanceof Error ? error.message : String(error),
    }
  }
}

async function truncate(params: Params): Promise<Answer> {
  const { maxEach, aggregate, cutting } = budgetOf(params)
  const policy = compile(policyFor(Number.POSITIVE_INFINITY, maxEach, cutting))
  const { lock = true } = params
  const { clamped, reason } = await repairBy(policy, params.sessionFile, { aggregate, lock })
  if (clamped > 0) return { truncated: true, truncatedCount: clamped }
  const nothing = 'no oversized or aggregate tool results'
  return { truncated: false, truncatedCount: 0, reason: reason === 'empty session' ? reason : nothing }
}
