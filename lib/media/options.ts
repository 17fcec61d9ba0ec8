import type { ResultPolicy } from 'spillway'
import { bound, checkNamesWithin, choice } from '../validate.js'
import type { MediaBudget } from './media.js'

type Given = NonNullable<ResultPolicy['media']>

/** Checks the budget of a policy. Returns undefined if it bounds nothing. */
export function checkMedia(media: Given | undefined): MediaBudget | undefined {
  if (media === undefined) return undefined
  const given = checkNamesWithin('media', media)
  const maxBytes = bound('media.maxBytes', given.maxBytes, Number.POSITIVE_INFINITY)
  const maxItems = bound('media.maxItems', given.maxItems, Number.POSITIVE_INFINITY)
  const first = choice('media.order', given.order, ['oldest', 'newest'], 'oldest') === 'newest'
  return Math.min(maxBytes, maxItems) === Number.POSITIVE_INFINITY ? undefined : { maxBytes, maxItems, first }
}
