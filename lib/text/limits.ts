import type { LimitName } from 'spillway'
import type { Compiled } from '../compiled.js'
import type { Subject } from './subject.js'

/** What can be measured of a text, or of several together. */
export type Measured = Pick<Subject, 'total' | 'bytesOut' | 'tokens' | 'hasLongLine'>

/** Limits that a text breaks, in the order of the contract. */
export function exceededBy(subject: Measured, policy: Compiled): LimitName[] {
  const { limits } = policy
  const total = subject.total()
  const exceeded: LimitName[] = []
  if (subject.bytesOut() > limits.bytes) exceeded.push('bytes')
  if (total.lines > limits.lines) exceeded.push('lines')
  if (total.chars > limits.chars) exceeded.push('chars')
  if (limits.tokens !== Number.POSITIVE_INFINITY && subject.tokens() > limits.tokens) exceeded.push('tokens')
  if (limits.lineBytes !== Number.POSITIVE_INFINITY && subject.hasLongLine(limits.lineBytes))
    exceeded.push('lineBytes')
  return exceeded
}
