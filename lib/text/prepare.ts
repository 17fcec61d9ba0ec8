import type { EnginePolicy } from '../compiled.js'
import { native } from '../engine.js'
import { cleaned } from './clean.js'
import { redacted } from './redact.js'

type Preparation = Pick<EnginePolicy, 'clean' | 'redact' | 'ahead'>

/** Returns true if texts change before the limits apply. */
export function prepares({ clean, redact }: Preparation): boolean {
  return clean !== undefined || redact !== undefined
}

/** Cleans a text, then redacts it, if the policy says so. */
export function prepared<T extends string | Uint8Array>(text: T, policy: Preparation): T {
  return redacted(cleaned(text, policy), policy)
}

/**
 * Removes from a cut of a prepared text all but two of equal lines that the cut made neighbors, and
 * secrets that it joined, so that preparing the text again changes nothing.
 */
export function parted(text: string, { clean, redact }: Preparation): string {
  const folds = clean?.[3] ?? false
  return folds || redact ? native.partText(text, folds, redact) : text
}

/** Drops all but two of equal lines that a cut brought together, if the policy folds lines. */
export function leftOfRepeats(text: string, { clean }: Preparation): string {
  return clean?.[3] ? native.partText(text, true) : text
}
