import type { EnginePolicy } from '../compiled.js'
import { sizeOf } from '../text/size.js'
import { estimateTokens } from '../text/text.js'

type Limits = EnginePolicy['limits']

const UNITS = ['bytes', 'lines', 'chars', 'tokens'] as const

/** Amounts of what several texts share. Limits of single lines are not shared. */
export type Amounts = Readonly<Record<(typeof UNITS)[number], number>>

/** Measures a text. Tokens are estimated only if they are limited. */
export function amountsOf(text: string, { tokens }: Limits): Amounts {
  return { ...sizeOf(text), tokens: tokens === Number.POSITIVE_INFINITY ? 0 : estimateTokens(text) }
}

/** Measures JSON, which limits on lines do not concern. */
export function amountsOfJson(json: string, limits: Limits): Amounts {
  return { ...amountsOf(json, limits), lines: 0 }
}

/** Returns true if amounts are within limits. */
export function isWithinLimits(amounts: Amounts, limits: Amounts): boolean {
  return UNITS.every((unit) => amounts[unit] <= limits[unit])
}

/** Returns the limits that something leaves, none below 0. */
export function leftOf(limits: Limits, taken: Amounts): Limits {
  return combined(limits, taken, (limit, amount) => Math.max(0, limit - amount))
}

/** Returns the limits of data beside texts: what these leave, and half at least. */
export function limitsBeside(limits: Limits, texts: readonly string[]): Limits {
  const rest = texts.reduce((rest, text) => leftOf(rest, amountsOf(text, limits)), limits)
  return combined(rest, limits, (amount, limit) => Math.max(amount, Math.floor(limit / 2)))
}

/** Returns true if amounts take at most a quarter of the limits. */
export function isQuarter(amounts: Amounts, limits: Limits): boolean {
  return UNITS.every((unit) => 4 * amounts[unit] <= limits[unit])
}

function combined(limits: Limits, other: Amounts, combine: (a: number, b: number) => number): Limits {
  const made = UNITS.map((unit) => [unit, combine(limits[unit], other[unit])] as const)
  return { ...limits, ...Object.fromEntries(made) }
}
