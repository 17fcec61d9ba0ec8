import { clampText, clampTextWithReport } from '../lib/index.js'
import type { GivenPolicy } from './policy.js'

/** Tokens that a newline may add to an estimate. */
const MOST = 3

/** Returns a text with a newline at its end: the next prompt, or the next line of a script, would
 *  stand behind its notice. The newline counts within the limits, so a text that was cut makes room
 *  for it, and any other text at its limit stays without. */
export function ended(text: string, isCut: boolean, policy: GivenPolicy): string {
  if (text === '' || text.endsWith('\n')) return text
  const { maxBytes = 51_200, maxLines, maxChars, maxTokens, keep, notice, needles, query } = policy
  const whole = `${text}\n`
  const limits = { maxBytes, maxLines, maxChars, maxTokens }
  if (!clampTextWithReport(whole, { ...limits, keep: 'head' }).truncated) return whole
  const less = (most: number | undefined, by: number) =>
    most === undefined ? undefined : Math.max(0, most - by)
  const within = {
    maxBytes: less(maxBytes, 1),
    maxChars: less(maxChars, 1),
    maxTokens: less(maxTokens, MOST),
  }
  // Counts from the original, as any second cut.
  const shorter = isCut ? clampText(text, { keep, notice, needles, query, ...limits, ...within }) : ''
  if (shorter === '') return text
  return shorter.endsWith('\n') ? shorter : `${shorter}\n`
}
