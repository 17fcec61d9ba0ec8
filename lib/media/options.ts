import type { ResultPolicy } from 'spillway'
import { bound, checkNamesWithin, choice } from '../validate.js'
import type { MediaBudget } from './media.js'

type Given = NonNullable<ResultPolicy['media']>

/** Checks the media budget of a policy. Returns undefined if it sets no limit. */
export function checkMedia(media: Given | undefined): MediaBudget | undefined {
  if (media === undefined) return undefined
  const given = checkNamesWithin('media', media)
  const maxBytes = bound('media.maxBytes', given.maxBytes, Number.POSITIVE_INFINITY)
  const maxItems = bound('media.maxItems', given.maxItems, Number.POSITIVE_INFINITY)
  const first = choice('media.keep', given.keep, ['latest', 'first'], 'latest') === 'first'
  return Math.min(maxBytes, maxItems) === Number.POSITIVE_INFINITY ? undefined : { maxBytes, maxItems, first }
}
