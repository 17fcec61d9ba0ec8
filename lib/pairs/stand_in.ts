import type { Answer } from './parts.js'

/** Chars of the longest sentence that a host puts in the place of a result. */
const LONGEST = 240

/** Says that there is no result, or that the call came to no end. */
const ABSENT =
  /\b(?:no|missing|lost|without|unavailable|not|never)\b.{0,40}\b(?:results?|outputs?|responses?|available|executed|run|completed?|finished|recorded)\b|\b(?:results?|outputs?|responses?)\b.{0,40}\b(?:missing|lost|unavailable|removed|omitted|not|unknown)\b|\b(?:abort|interrupt|cancell?|skipp|reject|denied)/i

/**
 * Returns true if a result gives way to a later one of the same call: it was put in where one was missing, and the later
 * one was not. Each host has its own words for that. They are one short line, and are an error by their flag, or say that
 * the result is absent.
 */
export function standsIn(first: Answer, later: Answer, missing: string): boolean {
  if (saysAbsent(first, missing)) return !saysAbsent(later, missing)
  return isShort(first) && first.isError && !later.isError && !saysAbsent(later, missing)
}

function saysAbsent(answer: Answer, missing: string): boolean {
  return answer.text === missing || (isShort(answer) && ABSENT.test(answer.text))
}

function isShort({ text }: Answer): boolean {
  return text.length <= LONGEST && !text.trim().includes('\n')
}
