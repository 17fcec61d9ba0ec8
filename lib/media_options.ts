import type { MediaOptions, RefusedMedia } from 'spillway'
import { type Kind, mapped, oneOf, WHOLE } from './kinds.js'
import table from './media_limits.json'
import { objectOf, option, Table } from './option_table.js'

/** Limits of all payloads of a result, or of a history. */
export interface MediaBudget {
  readonly maxBytes: number
  readonly maxItems: number
  /** True if the first stay rather than the latest. */
  readonly first: boolean
  readonly limits?: ProviderLimits
}

const LIMITS = [
  'imageBase64',
  'imageBytes',
  'pixels',
  'manyImages',
  'manyPixels',
  'images',
  'documentBytes',
  'documents',
  'requestBytes',
  'brokenImages',
] as const

/** A provider whose limits for images and files are known. */
export type MediaProvider = NonNullable<MediaOptions['provider']>

type LimitName = (typeof LIMITS)[number]

/** The limits of a provider, Infinity for none. */
type ProviderLimits = Readonly<Record<LimitName, number>>

/** The reasons to omit a payload in the order of `Reason` in src/media/provider_limits.rs. */
export const REASONS: readonly (RefusedMedia['reason'] | undefined)[] = [
  undefined,
  'budget',
  'image_bytes',
  'image_pixels',
  'many_images_pixels',
  'images',
  'document_bytes',
  'documents',
  'request_bytes',
  'image_type',
]

const rows: readonly ({ readonly name: string } & { readonly [name in LimitName]?: number })[] = table

export const MEDIA_PROVIDERS = rows.map(({ name }) => name as MediaProvider)

export function limitsOf(provider: MediaProvider): ProviderLimits {
  return completed(rows.find(({ name }) => name === provider))
}

function completed(limits: Partial<ProviderLimits> = {}): ProviderLimits {
  const entries = LIMITS.map((name) => [name, limits[name] ?? Number.POSITIVE_INFINITY] as const)
  return Object.fromEntries(entries) as ProviderLimits
}

const UNBOUNDED = { maxBytes: Number.POSITIVE_INFINITY, maxItems: Number.POSITIVE_INFINITY, first: false }

/** Makes a budget of the limits of a provider alone. */
export function budgetFor(limits: Partial<ProviderLimits>): MediaBudget {
  return { ...UNBOUNDED, limits: completed(limits) }
}

/** Returns the bytes that the body of a request may have by the limits of a provider. */
export function requestBytesOf(budget: MediaBudget | undefined): number {
  return budget?.limits?.requestBytes ?? Number.POSITIVE_INFINITY
}

export const MEDIA = new Table({
  maxBytes: option(WHOLE, Number.POSITIVE_INFINITY, { unit: 'bytes' }),
  maxItems: option(WHOLE, Number.POSITIVE_INFINITY),
  order: option(oneOf('oldest', 'newest'), 'oldest'),
  provider: option(oneOf(...MEDIA_PROVIDERS)),
})

/** A budget, undefined if it sets no limit. */
export const BUDGET: Kind<MediaBudget | undefined> = mapped(
  objectOf(MEDIA),
  ({ maxBytes, maxItems, order, provider }) => {
    if (Math.min(maxBytes, maxItems) === Number.POSITIVE_INFINITY && !provider) return undefined
    const budget = { maxBytes, maxItems, first: order === 'newest' }
    return provider ? { ...budget, limits: limitsOf(provider) } : budget
  },
)
