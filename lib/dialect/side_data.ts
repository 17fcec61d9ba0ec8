import { native } from '../engine.js'
import { plain, stringified } from '../json.js'
import { stableValue } from './stable_value.js'

/**
 * Caps the side data of a result to `maxBytes` of JSON. Data that fits is returned as it is.
 * Otherwise returns a copy that states the original size. Small scalars are kept first, long texts
 * are truncated, payloads are replaced by their size, and arrays and objects keep the entries that
 * fit. Values without JSON (cycles, BigInt, maps, bytes) are described. Returns undefined if not
 * even an empty value fits.
 */
export function capSide(value: unknown, maxBytes: number): unknown {
  let data = value
  let json: string | undefined
  try {
    json = stringified(value)
  } catch {
    data = plain(value)
    json = JSON.stringify(data)
  }
  if (json === undefined) return value
  const bytes = Buffer.byteLength(json)
  if (bytes <= maxBytes) return stableValue(data) === data ? data : JSON.parse(json)
  return shrunk(value, maxBytes, bytes)
}

/** Like `capSide`, for data that a model is sent. Only data with `originalBytes` states them. */
export function shrunk(value: unknown, maxBytes: number, originalBytes?: number): unknown {
  const json = JSON.stringify(plain(value))
  const left = json === undefined ? null : native.shrinkData(json, Math.max(0, maxBytes), originalBytes)
  return left === null ? undefined : JSON.parse(left)
}
