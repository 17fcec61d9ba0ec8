import type { ProviderErrorKind } from 'spillway'
import type { ProfileOptions } from 'spillway/openclaw'
import { classifyProviderError } from '../../context/provider_error.js'
import { profileOf } from './profile.js'

export function isContextOverflowError(error: unknown, options?: ProfileOptions): boolean {
  return profileOf(options).overflows.includes(classifyProviderError(error).kind)
}

/** A field over the limit of its own is bytes that are too many, too. */
const PAYLOADS: readonly ProviderErrorKind[] = ['payload_too_large', 'field_too_long']

export function isPayloadTooLargeError(error: unknown): boolean {
  return PAYLOADS.includes(classifyProviderError(error).kind)
}
