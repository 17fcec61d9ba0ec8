import type { ResultPolicy } from 'spillway'
import { bound, checkNamesWithin, choice } from './validate.js'

/** Limits of all payloads of a result, or of a history. */
export interface MediaBudget {
  readonly maxBytes: number
  readonly maxItems: number
  /** True if the first stay rather than the latest. */
  readonly first: boolean
}

type MediaInput = NonNullable<ResultPolicy['media']>

/** Checks the media budget of a policy. Returns undefined if it sets no limit. */
export function checkMedia(media: MediaInput | undefined): MediaBudget | undefined {
  if (media === undefined) return undefined
  const given = checkNamesWithin('media', media)
  const maxBytes = bound('media.maxBytes', given.maxBytes, Number.POSITIVE_INFINITY)
  const maxItems = bound('media.maxItems', given.maxItems, Number.POSITIVE_INFINITY)
  const first = choice('media.order', given.order, ['oldest', 'newest'], 'oldest') === 'newest'
  return Math.min(maxBytes, maxItems) === Number.POSITIVE_INFINITY ? undefined : { maxBytes, maxItems, first }
}
