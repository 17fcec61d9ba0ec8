import type { ResultPolicy } from 'spillway'
import { isObject } from './untrusted.js'
import { checkNamesWithin, choice, limit, optionError } from './validate.js'

/** Bytes of JSON that 'cap' keeps of each copy. */
const CAP = 8_192

/** Checks the treatment of side data. */
export function checkSideData(given: ResultPolicy['sideData']): {
  sideData: 'keep' | 'cap' | 'drop'
  maxSideBytes: number
} {
  if (isObject(given)) {
    const { maxBytes } = checkNamesWithin('sideData', given)
    return { sideData: 'cap', maxSideBytes: limit('sideData.maxBytes', maxBytes) }
  }
  if (given !== undefined && typeof given !== 'string')
    throw optionError(TypeError, 'sideData', "'keep', 'cap', 'drop' or { maxBytes }", given)
  return { sideData: choice('sideData', given, ['keep', 'cap', 'drop'], 'keep'), maxSideBytes: CAP }
}
