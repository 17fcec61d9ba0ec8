import { copy } from '../../dialect/shallow_copy.js'
import { jsonBytes, jsonOf } from '../../json.js'
import { truncateUtf16Safe } from '../../text/slice.js'
import { get, isObject, tryRead } from '../../untrusted.js'
import { isToolResult } from './tool_results.js'

type Members = Record<string, unknown>

const MAX_BYTES = 8_192
const MAX_KEYS = 40
const MAX_SESSIONS = 10
/** Chars of a string, in details, in one of their sessions, and where details are too large all the
 *  same. */
const DETAIL_CHARS = 2_000
const SESSION_CHARS = 500
const FALLBACK_CHARS = 200

/** Members that OpenClaw's readers of sessions look for, also in the fallback. */
const STATE = ['status', 'sessionId', 'pid', 'exitCode', 'exitSignal', 'truncated']
const SPILL = ['spill', 'fullOutputPath', 'spilledChars', 'spillTruncated']
const TIMES = ['startedAt', 'endedAt', 'cwd', 'name']
const TOTALS = ['retryInMs', 'total', 'totalLines', 'totalChars', 'truncation', 'tail']
const FLAGS = ['disabled', 'unavailable', 'success']

/** Returns a tool result whose `details` have 8 KiB of JSON at most, in the shape that OpenClaw
 *  stores. */
export function withStoredDetails(message: object): object {
  const details = isToolResult(message) ? get(message, 'details') : undefined
  const kept =
    details == null ? details : (tryRead(() => stored(details)) ?? { persistedDetailsTruncated: true })
  return kept === details ? message : copy(message, new Map([['details', kept]]))
}

function stored(details: unknown): unknown {
  // Details may be huge or wide, so they are counted only up to the limit.
  const bytes = bytesUpTo(details, MAX_BYTES)
  if (bytes <= MAX_BYTES) return details
  const flags: Members = { persistedDetailsTruncated: true, originalDetailsBytesAtLeast: bytes }
  if (!isObject(details)) return { ...flags, valueType: typeof details }
  const named = { ...flags, originalDetailKeys: firstKeys(details) }
  const shaped = {
    ...named,
    ...picked(details, [...STATE, ...TIMES, ...TOTALS, ...SPILL], DETAIL_CHARS),
    ...sessionsOf(details),
    ...outcome(details, DETAIL_CHARS),
  }
  const size = bytesUpTo(shaped, MAX_BYTES)
  if (size <= MAX_BYTES) return shaped
  const last = { finalDetailsTruncated: true, sanitizedDetailsBytes: size }
  const fewer = {
    ...named,
    ...last,
    ...picked(details, [...STATE, ...SPILL], FALLBACK_CHARS),
    ...outcome(details, FALLBACK_CHARS),
  }
  return bytesUpTo(fewer, MAX_BYTES) <= MAX_BYTES ? fewer : { ...flags, ...last }
}

function picked(details: object, names: readonly string[], chars: number): Members {
  const values = names.map((name) => [name, shortened(get(details, name), chars)] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

/** Returns what says whether the call worked. An error that is not a string is only said to be
 *  there. */
function outcome(details: object, chars: number): Members {
  const flags = FLAGS.map((name) => [name, get(details, name)] as const)
  const error = get(details, 'error')
  return {
    ...Object.fromEntries(flags.filter(([, value]) => typeof value === 'boolean')),
    ...(error ? { error: typeof error === 'string' ? shortened(error, chars) : true } : {}),
  }
}

function sessionsOf(details: object): Members {
  const sessions = get(details, 'sessions')
  if (!Array.isArray(sessions)) return {}
  const names = [...STATE, ...TIMES, 'runtimeMs', 'command']
  const first = Array.from({ length: Math.min(sessions.length, MAX_SESSIONS) }, (_, at) => get(sessions, at))
  const more = sessions.length - first.length
  return {
    sessions: first.map((session) => (isObject(session) ? picked(session, names, SESSION_CHARS) : session)),
    ...(more > 0 && { sessionsTruncated: more }),
  }
}

function shortened(value: unknown, chars: number): unknown {
  if (typeof value !== 'string' || value.length <= chars) return value
  const omitted = value.length - chars
  return `${truncateUtf16Safe(value, chars)}\n\n[OpenClaw persisted detail truncated: ${omitted} original chars omitted]`
}

function firstKeys(details: object): string[] {
  const keys: string[] = []
  for (const name in details) {
    if (keys.length === MAX_KEYS) break
    if (Object.hasOwn(details, name)) keys.push(shortened(name, FALLBACK_CHARS) as string)
  }
  return keys
}

/** Returns the bytes of a value as JSON. If there are more than `most`, returns a smaller number
 *  that is more than that. */
function bytesUpTo(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length > most ? value.length + 2 : jsonBytes(value)
  if (!isObject(value)) return jsonBytes(value)
  if (typeof get(value, 'toJSON') === 'function') return Buffer.byteLength(jsonOf(value) ?? '')
  let bytes = 2
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue
    const member = get(value, name)
    const key = Array.isArray(value) ? 0 : jsonBytes(name) + 1
    bytes += member === undefined && key > 0 ? 0 : key + 1 + bytesUpTo(member, most - bytes)
    if (bytes > most) break
  }
  return bytes
}
