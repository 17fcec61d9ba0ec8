import type { ReductionParams, ToolResultReductionPotential } from 'spillway/openclaw'
import { checkOptions } from '../../option.js'
import { reduce } from './messages.js'

export function estimateToolResultReductionPotential(params: ReductionParams): ToolResultReductionPotential {
  const { messages, contextWindowTokens, maxCharsOverride, aggregateMaxCharsOverride, profile } =
    checkOptions('params', params)
  const options = profile === undefined ? {} : { profile }
  const { steps, sizes, maxEach, budget } = reduce(
    messages,
    contextWindowTokens,
    maxCharsOverride,
    aggregateMaxCharsOverride,
    options,
  )
  let oversized = 0
  let all = 0
  for (const { index, maxChars } of steps) {
    const chars = sizes[index]?.chars ?? 0
    oversized += Math.max(0, chars - Math.max(maxEach, maxChars))
    all += chars - maxChars
  }
  const results = sizes.filter(({ chars }) => chars > 0)
  return {
    maxChars: maxEach,
    aggregateBudgetChars: budget,
    toolResultCount: results.length,
    totalToolResultChars: results.reduce((sum, { chars }) => sum + chars, 0),
    oversizedCount: results.filter(({ chars }) => chars > maxEach).length,
    oversizedReducibleChars: oversized,
    aggregateReducibleChars: all - oversized,
    maxReducibleChars: all,
  }
}

export function sessionLikelyHasOversizedToolResults(params: ReductionParams): boolean {
  const { oversizedCount, aggregateReducibleChars } = estimateToolResultReductionPotential(params)
  return oversizedCount > 0 || aggregateReducibleChars > 0
}
