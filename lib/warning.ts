import type { Channel } from 'node:diagnostics_channel'
import type { ChannelMessages } from 'spillway'
import { show } from './validate.js'

/** Undefined until a wrong value is met, as its module takes a fifth of a millisecond to load. */
let warnings: Channel | undefined

/** Warnings that were sent. Limited, since a caller may compute a new wrong value for each call. */
const told = new Set<string>()
const MOST_TOLD = 1_000

/** Returns `used` in place of a wrong value that another project's function accepts, and reports
 *  that once. */
export function substitute<T>(field: string, value: unknown, used: T): T {
  const key = `${field} ${show(value)}`
  warnings ??= channelOf('spillway:warning')
  if (warnings.hasSubscribers && told.size < MOST_TOLD && !told.has(key)) {
    told.add(key)
    const warning: ChannelMessages['warning'] = { field, value, used }
    warnings.publish(warning)
  }
  return used
}

function channelOf(name: string): Channel {
  const { channel } = require('node:diagnostics_channel') as typeof import('node:diagnostics_channel')
  return channel(name)
}
