import type { Policy } from 'spillway'
import { estimateTokens, measureText } from '../../index.js'

/** The limits of a policy, without those of single lines. */
export type Limits = Readonly<Record<'maxBytes' | 'maxLines' | 'maxChars' | 'maxTokens', number>>

const NONE = Number.POSITIVE_INFINITY
/** Most room of a notice about structured content. */
const NOTICE: Limits = { maxBytes: 384, maxLines: 1, maxChars: 384, maxTokens: 192 }

export function limitsOf({ maxBytes, maxLines, maxChars = NONE, maxTokens = NONE }: Policy): Limits {
  return { maxBytes, maxLines, maxChars, maxTokens }
}

export function sizeOf(text: string): Limits {
  const { bytes, lines, chars } = measureText(text)
  return { maxBytes: bytes, maxLines: lines, maxChars: chars, maxTokens: estimateTokens(text) }
}

/** Combines two sets of limits. */
function paired(one: Limits, other: Limits, combine: (a: number, b: number) => number): Limits {
  return {
    maxBytes: combine(one.maxBytes, other.maxBytes),
    maxLines: combine(one.maxLines, other.maxLines),
    maxChars: combine(one.maxChars, other.maxChars),
    maxTokens: combine(one.maxTokens, other.maxTokens),
  }
}

/** Returns the limits that texts leave. */
export function left(limits: Limits, ...texts: readonly string[]): Limits {
  return texts
    .filter((text) => text !== '')
    .reduce((rest, text) => paired(rest, sizeOf(text), (a, b) => Math.max(0, a - b)), limits)
}

/** Returns the limits that JSON leaves, which has no lines. */
export function leftBy(json: string, limits: Limits): Limits {
  return { ...left(limits, json), maxLines: limits.maxLines }
}

/** Returns the limits of what stands beside texts: what these leave, and half at least. */
export function beside(limits: Limits, texts: readonly string[]): Limits {
  return paired(left(limits, ...texts), limits, (rest, all) => Math.max(rest, Math.floor(all / 2)))
}

/** Returns the limits without the room of a notice, undefined if it would take more than a quarter. */
export function withoutNotice(room: Limits, limits: Limits): Limits | undefined {
  const hasRoom = Object.keys(NOTICE).every((name) => {
    const key = name as keyof Limits
    return limits[key] >= 4 * NOTICE[key]
  })
  return hasRoom ? paired(room, NOTICE, (a, b) => a - b) : undefined
}

/** Returns true if a text is within limits. JSON has no lines. */
export function fits(json: string, limits: Limits, more = 0): boolean {
  const { maxBytes, maxChars, maxTokens } = sizeOf(json)
  return (
    maxBytes <= limits.maxBytes + more &&
    maxChars <= limits.maxChars + more &&
    maxTokens <= limits.maxTokens + more
  )
}

/** Returns true if no text in some JSON can be over limits: each is shorter than its JSON, and has its newlines escaped. */
export function surelyFits(json: string, { maxBytes, maxLines, maxChars, maxTokens }: Limits): boolean {
  if (Buffer.byteLength(json) > Math.min(maxBytes, maxChars, maxTokens)) return false
  return maxLines >= json.length || maxLines >= json.split('\\').length
}
