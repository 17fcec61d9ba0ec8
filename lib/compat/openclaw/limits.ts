import type { ToolResultBudget, WeightOptions } from 'spillway/openclaw'
import { COUNT, limit } from '../../kinds.js'
import { option, Table } from '../../option_table.js'
import { sliceUtf16Safe } from '../../text/slice.js'
import { checkOptions, checkString } from '../../validate.js'
import { resolveLiveToolResultMaxChars } from './profile.js'
import { fitted, weightOf } from './weight.js'

/** Chars that a result may have in any window, as the context guard counts them. */
const LEAST_CHARS = 1_024
/** Times a char of a result counts there. */
const WEIGHT = 2

/** Returns the chars that the context guard leaves to one result, in which each char of it counts
 *  twice. */
export function resolveToolResultContextMaxChars(contextWindowTokens: number): number {
  // Half the window at two chars a token.
  return Math.max(LEAST_CHARS, limit('contextWindowTokens', contextWindowTokens))
}

export function resolveToolResultBudget(contextWindowTokens?: number): ToolResultBudget | undefined {
  if (contextWindowTokens === undefined || limit('contextWindowTokens', contextWindowTokens) === 0)
    return undefined
  if (contextWindowTokens === Number.POSITIVE_INFINITY) return undefined
  return {
    maxChars: resolveLiveToolResultMaxChars({ contextWindowTokens }),
    maxContextChars: resolveToolResultContextMaxChars(contextWindowTokens),
  }
}

export function toolResultFitsBudget(text: string, budget?: ToolResultBudget): boolean {
  if (budget === undefined) return true
  const { maxChars, maxContextChars } = checkOptions('budget', budget)
  return weightOf(checkString(text)) <= maxChars && weightOf(text, WEIGHT) <= maxContextChars
}

const OPTIONS = new Table({ minimumRawWeight: option(COUNT, 1) })

export function sliceToolResultTextToBudget(
  text: string,
  maxChars: number,
  options: WeightOptions = {},
): string {
  const { minimumRawWeight: least } = OPTIONS.values(checkOptions('options', options))
  const slice = (chars: number) => sliceUtf16Safe(checkString(text), 0, chars)
  return fitted(limit('maxChars', maxChars), slice, (kept) => weightOf(kept, least))
}
