import type { Policy } from 'spillway'
import { estimateTokens, measureText } from '../index.js'

/** The limits of a policy, except those of single lines. */
export type Limits = Readonly<Record<'maxBytes' | 'maxLines' | 'maxChars' | 'maxTokens', number>>

const NONE = Number.POSITIVE_INFINITY

export function limitsOf({ maxBytes, maxLines, maxChars = NONE, maxTokens = NONE }: Policy): Limits {
  return { maxBytes, maxLines, maxChars, maxTokens }
}

/** Measures JSON, to which limits on lines do not apply. */
function sizeOf(json: string): Limits {
  const { bytes, chars } = measureText(json)
  return { maxBytes: bytes, maxLines: 0, maxChars: chars, maxTokens: estimateTokens(json) }
}

const NAMES = ['maxBytes', 'maxLines', 'maxChars', 'maxTokens'] as const

/** Returns the limits that JSON leaves. */
export function leftBy(json: string, limits: Limits): Limits {
  const size = sizeOf(json)
  const left = NAMES.map((name) => [name, Math.max(0, limits[name] - size[name])] as const)
  return { ...limits, ...Object.fromEntries(left) }
}

/** Returns true if JSON is within limits. */
export function fits(json: string, limits: Limits, more = 0): boolean {
  const size = sizeOf(json)
  return NAMES.every((name) => size[name] <= limits[name] + more)
}

/** Returns true if no text in some JSON can be over limits: each is shorter than its JSON, and has
 *  its newlines escaped. */
export function surelyFits(json: string, { maxBytes, maxLines, maxChars, maxTokens }: Limits): boolean {
  if (Buffer.byteLength(json) > Math.min(maxBytes, maxChars, maxTokens)) return false
  return maxLines >= json.length || maxLines >= json.split('\\').length
}
