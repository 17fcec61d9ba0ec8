import type { ProviderErrorKind } from 'spillway'
import type { ProfileOptions } from 'spillway/openclaw'
import { classifyProviderError } from '../../provider_errors/classify.js'
import { profileOf } from './profile.js'

export function isContextOverflowError(error: unknown, options?: ProfileOptions): boolean {
  return profileOf(options).overflows.includes(classifyProviderError(error).kind)
}

/** Kinds of errors about too many bytes, in a request or in one of its fields. */
const PAYLOADS: readonly ProviderErrorKind[] = ['payload_too_large', 'field_too_long']

export function isPayloadTooLargeError(error: unknown): boolean {
  return PAYLOADS.includes(classifyProviderError(error).kind)
}
