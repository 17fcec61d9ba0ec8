import type { LimitName } from 'spillway'
import type { Compiled } from '../compiled.js'
import { native } from '../engine.js'
import { narrowness, pieces } from './pieces.js'
import { io, isOpen } from './size.js'
import type { Subject } from './subject.js'

/** Measurements of a text, or of several together. */
export type Measured = Pick<Subject, 'total' | 'bytesOut' | 'tokens' | 'hasLongLine'>

/** Returns the limits that a text exceeds, in the order of the contract. */
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

/** State of a token estimate between pieces. */
const estimate = new Float64Array(14)

/**
 * Returns the limits in bytes, lines, chars and tokens that strings exceed together, as bits. Stops reading once every
 * finite limit is exceeded.
 */
export function brokenBy(texts: readonly string[], { limits }: Compiled): number {
  const most = [limits.bytes, limits.lines, limits.chars, limits.tokens]
  const counted = limits.tokens !== Number.POSITIVE_INFINITY
  // A char takes at least one byte.
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  const taken = [length, 0, length, 0]
  const isOver = (limit: number, at: number) => (taken[at] ?? 0) > limit
  let bytes = 0
  for (const text of texts) {
    const narrow = narrowness(text)
    let newlines = 0
    let tokens = 0
    const before = [...taken]
    estimate.fill(0)
    for (const piece of pieces(text)) {
      if (most.every((limit, at) => limit === Number.POSITIVE_INFINITY || isOver(limit, at))) break
      const sum = io.fill(0)
      if (narrow(piece)) native.measureLatin1(piece, sum)
      else native.measure(piece, sum)
      bytes += sum[0] ?? 0
      newlines += sum[2] ?? 0
      if (counted) tokens = native.estimate(piece, estimate)
      taken[0] = Math.max(length, bytes)
      // An open line counts only at the end. A piece that ends inside a line does not end it.
      taken[1] = (before[1] ?? 0) + newlines + Number(isOpen(piece))
      taken[3] = (before[3] ?? 0) + tokens
    }
  }
  return most.reduce((bits, limit, at) => bits | (Number(isOver(limit, at)) << at), 0)
}
