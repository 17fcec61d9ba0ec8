import type { ClampReport, Cut } from 'spillway'
import { asks, type EnginePolicy } from '../compiled.js'
import type { Input } from './input.js'

/** Measurements of a text, or of several together. */
export type Measurements = Pick<Input, 'total' | 'bytesOut' | 'tokens' | 'hasLongLine'>

/** Gathers what was asked of a text. */
export type Ask = () => string[]

/** Returns what was asked of a text of `chars` chars, if it is over a limit: nothing is gathered
 *  for one that fits. */
export function askedOf(
  input: Measurements,
  chars: number,
  policy: EnginePolicy,
  ask: Ask | undefined,
): string[] | undefined {
  if (!ask || !asks(policy)) return undefined
  const { limits } = policy
  // A char is at least one byte.
  const isOver = chars > Math.min(limits.bytes, limits.chars) || exceededBy(input, policy).length > 0
  return isOver ? ask() : undefined
}

/** Returns the limits that a text exceeds, in the order of the contract. */
export function exceededBy(input: Measurements, policy: EnginePolicy): ClampReport['exceeded'] {
  const { limits } = policy
  const total = input.total()
  const exceeded: ClampReport['exceeded'] = []
  if (input.bytesOut() > limits.bytes) exceeded.push('bytes')
  if (total.lines > limits.lines) exceeded.push('lines')
  if (total.chars > limits.chars) exceeded.push('chars')
  if (limits.tokens !== Number.POSITIVE_INFINITY && input.tokens() > limits.tokens) exceeded.push('tokens')
  if (limits.lineBytes !== Number.POSITIVE_INFINITY && input.hasLongLine(limits.lineBytes))
    exceeded.push('lineBytes')
  return exceeded
}

/** Limits in the order of the contract. */
const LIMITS: Cut['exceeded'] = ['bytes', 'lines', 'chars', 'tokens', 'lineBytes']

/** Returns the limits whose bits the engine has set. */
export function limitsIn(bits: number): ClampReport['exceeded'] {
  return LIMITS.filter((_, at) => (bits >> at) & 1)
}
