import { truncateUtf16Safe as truncate } from '../../text/slice.js'
import { substitute } from '../../warning.js'

/** Truncates as OpenClaw does: a fraction is rounded down, and a limit below 0 or NaN is 0. */
export function truncateUtf16Safe(text: string, maxChars: number): string {
  if (typeof maxChars !== 'number') return truncate(text, maxChars)
  const used = Math.floor(Math.max(0, maxChars)) || 0
  return truncate(text, used === maxChars ? used : substitute('maxChars', maxChars, used))
}
