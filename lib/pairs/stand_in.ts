import data from '../../src/stand_in.json'
import type { Answer } from './parts.js'

/** The length of the longest placeholder that a host inserts, in chars. */
const LONGEST = data.longest

/** Matches a statement that there is no result, or that the call did not finish. */
const ABSENT = new RegExp(data.absent, 'i')

/**
 * Returns true if a later result of the same call replaces this one: this one is a placeholder and
 * the later one is not. Each host words its placeholder differently, but all are one short line
 * that is flagged as an error or says that the result is absent.
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
