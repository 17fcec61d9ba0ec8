import type { ResultPolicy } from 'spillway'
import { emitSkip, type Origin } from '../clamp_event.js'
import { type EnginePolicy, failed } from '../compiled.js'
import { Draft } from '../dialect/edit.js'
import { PathNode } from '../dialect/paths.js'
import { isTurn, type Result, readResults } from '../dialect/results.js'
import { lightRoom, parseWellFormed, wellFormed } from '../dialect/slots.js'
import { isSteady, stableValue } from '../dialect/stable_value.js'
import { LITTLE, REST } from '../dialect/walk.js'
import { jsonOf, roomAfter, stringified, VAST } from '../json.js'
import { lightText } from '../media/media.js'
import { compile } from '../policy.js'
import { get, isList, isObject, isPlain, tryRead } from '../untrusted.js'
import { checkAwaited } from '../validate.js'
import { clampAndReport, clampIfResult, clampResults, clampValue, RESULT, tellOf } from './clamp_result.js'
import { handBack } from './gate.js'
import { redactValue } from './redact_value.js'
import { steadyResult } from './steady_result.js'
import { clampSide } from './write_result.js'

export function clampResult<T>(result: T, policy?: ResultPolicy): T {
  return clampAny(checkAwaited('result', result), compile(policy), RESULT)
}

/** Clamps a result or plain data. Messages without a result, and rows of sessions, stay. */
export function clampAny<T>(result: T, policy: EnginePolicy, origin: Origin): T {
  return handBack(policy, origin, result, (own) => clampGiven(result, policy, own))
}

function clampGiven<T>(result: T, policy: EnginePolicy, origin: Origin): T {
  const clamped = isCutData(result) ? undefined : clampIfResult(result, policy, origin)
  if (clamped !== undefined) return clamped
  if (!isObject(result) || tryRead(() => isOfHistory(result))) return result
  return clampReturn(result, policy, origin)
}

/** Returns true for a message without a tool result, and for a row of a session, which holds a
 *  message of any kind. */
function isOfHistory(value: object): boolean {
  const message = get(value, 'message')
  return (
    isTurn(value) || (isObject(message) && (isTurn(message) || readResults(message, undefined).length > 0))
  )
}

/**
 * Redacts and clamps the value that a tool returned, including forms that only tools return:
 * messages in a LangGraph Command, several messages in an array, and plain data, which a framework
 * would send to the model as JSON.
 */
export function clampReturn<T>(given: T, policy: EnginePolicy, origin: Origin): T {
  if (typeof given !== 'object' || given === null) return clampValue(given, policy, origin)
  // One look at the whole is enough for most values.
  const room = lightRoom(policy, policy.flat)
  const left = tryRead(() => roomAfter(given, room)) ?? -1
  if (left >= 0 && room - left <= lightRoom(policy)) return given
  const value = redactValue(given, policy)
  // Data that lost members to a cut may look like a result, and stays data.
  if (isCutData(given)) return (tryRead(() => ofData(value as object, policy, origin)) ?? value) as T
  const isWhole = left >= 0 || (tryRead(() => isSteady(value)) ?? false)
  const steady = isWhole ? value : steadyResult(value)
  const results = tryRead(() => readResults(steady, policy.dialect))
  // Clamps the results that were read, since reading again may give others.
  if (results && tryRead(() => isSure(steady, results))) {
    const clamped = tryRead(() => clampResults(steady, results, policy, origin)) ?? skipped(steady, origin)
    if (clamped === steady || !hasRest(results) || isResult(clamped, policy)) return clamped
    // Data that no dialect knows has taken the room of all known blocks, and nothing tells a result
    // any more. A tool that is wrapped again would return the text of what is left.
    return (tryRead(() => ofData(clamped, policy, origin)) ?? clamped) as T
  }
  const open = tryRead(() => besideClamped(steady, policy, origin)) ?? steady
  const data = isWhole ? open : stableValue(open)
  const made = tryRead(
    () =>
      ofCommand(data, policy, origin) ??
      ofMessages(data, policy, origin) ??
      (left >= 0 ? data : ofData(data, policy, origin, isWhole)),
  )
  return (made ?? data) as T
}

/** Returns a value that code of the caller kept from being clamped, and tells listeners. */
function skipped<T>(value: T, origin: Origin): T {
  emitSkip(origin, 'unreadable')
  return value
}

/** Caps or drops the side data of a value's results, before the rest decides what the value is. */
function besideClamped<T extends object>(value: T, policy: EnginePolicy, origin: Origin): T {
  if (policy.sideData === 'whole') return value
  const draft = new Draft()
  const results = readResults(value, policy.dialect)
  const changes = results.filter((result) => clampSide(result, policy, draft, origin))
  return changes.length > 0 ? draft.done(value) : value
}

/** Redacts a pair of content and artifact, and clamps the content. A model sees only that. */
export function clampPair<T>(value: T, policy: EnginePolicy, origin: Origin): T {
  const open = redactValue(value, policy)
  const [content, ...rest] = open as readonly unknown[]
  const clamped = clampReturn(content, policy, origin)
  return clamped === content ? open : ([clamped, ...rest] as T)
}

/** Clamps the messages in a LangGraph Command, which updates the state of a graph. */
function ofCommand(value: object, policy: EnginePolicy, origin: Origin): object | undefined {
  if (!isCommand(value)) return undefined
  const update = get(value, 'update')
  if (typeof update !== 'object' || update === null) return value
  const state = new PathNode(update, new PathNode(value), 'update')
  const draft = new Draft()
  for (const { holder, key, messages } of messagesIn(state)) {
    // A string is a message of the user.
    const clamp = (message: unknown) =>
      typeof message === 'string' ? message : clampValue(message, policy, origin)
    if (isList(messages)) replaceElements(draft, new PathNode(messages, holder, key), clamp)
    else {
      const clamped = clamp(messages)
      if (clamped !== messages) draft.set(holder, key, clamped)
    }
  }
  return draft.done(value)
}

/** Returns the messages of an update: a record of channels, or pairs of a channel and its value. */
function messagesIn(state: PathNode): { holder: PathNode; key: string | number; messages: unknown }[] {
  const { value } = state
  if (!isList(value)) {
    const messages = get(value, 'messages')
    return messages === undefined ? [] : [{ holder: state, key: 'messages', messages }]
  }
  return value.flatMap((pair: unknown, at) =>
    isList(pair) && pair[0] === 'messages'
      ? { holder: new PathNode(pair, state, at), key: 1, messages: pair[1] as unknown }
      : [],
  )
}

/** Clamps an array of messages, which a graph takes one by one. Returns undefined if an element is
 *  not a message. */
function ofMessages(value: object, policy: EnginePolicy, origin: Origin): object | undefined {
  if (!isList(value) || value.length === 0) return undefined
  // Checks all elements before it clamps one, since a cut is reported and saved. Holes are not
  // messages.
  for (const element of value) if (!isCommand(element) && !isMessage(element, policy)) return undefined
  return withElements(
    value,
    new PathNode(value),
    (element) => ofCommand(element as object, policy, origin) ?? clampValue(element, policy, origin),
  )
}

function isCommand(value: unknown): boolean {
  return typeof value === 'object' && value !== null && get(value, 'lg_name') === 'Command'
}

/** Returns true if a value is a result of LangChain. */
function isMessage(value: unknown, { dialect }: EnginePolicy): boolean {
  return (
    isObject(value) &&
    readResults(value, dialect).some((result) => result.isSure && result.dialect === 'langchain')
  )
}

/** Returns true if a result has data that no dialect knows. */
function hasRest(results: readonly Result[]): boolean {
  return results.some(({ slots }) => slots.some(({ json }) => json?.as === REST))
}

function isResult(value: object, { dialect }: EnginePolicy): boolean {
  return tryRead(() => isSure(value, readResults(value, dialect))) ?? false
}

/** Returns true if a value is a result or carries some, and its JSON holds little else. */
function isSure(value: object, results: readonly Result[]): boolean {
  return (
    results.some(({ isSure }) => isSure) &&
    isLittleBeside(value, results) &&
    [...writersOf(results)].every((writer) => saysItsMembers(writer, results))
  )
}

/** Returns true if a value holds little besides the results that it carries. */
function isLittleBeside(value: object, results: readonly Result[]): boolean {
  const carried = new Set<unknown>(results.map(({ place }) => place.value))
  const beside = (part: unknown, written: unknown) => (carried.has(part) ? undefined : written)
  return carried.has(value) || sizeBut(value, beside) <= LITTLE
}

/** Returns the objects around the texts that were read that have a `toJSON`. */
function writersOf(results: readonly Result[]): Set<object> {
  const writers = new Set<object>()
  for (const { place, slots } of results)
    for (const start of [place, ...slots.map(({ holder }) => holder)])
      for (let at: PathNode | undefined = start; at; at = at.parent)
        if (typeof get(at.value, 'toJSON') === 'function') writers.add(at.value)
  return writers
}

/** Returns true if the JSON of an object holds little more than its members. */
function saysItsMembers(writer: object, results: readonly Result[]): boolean {
  const texts = new Set<unknown>(results.flatMap(({ slots }) => slots.map(({ text }) => text)))
  // Texts that were read do not count: they may be long, and are clamped.
  const without = (part: unknown) => (texts.has(part) ? '' : part)
  const said = sizeBut(writer, (_, written) => without(written))
  return said <= LITTLE || (said < Number.POSITIVE_INFINITY && said <= sizeBut(writer, without) + LITTLE)
}

/**
 * Returns the bytes of JSON with some values replaced, 0 if there is no JSON, Infinity if there are
 * too many places. `other` gets a value as it is and as its `toJSON` writes it.
 */
function sizeBut(value: object, other: (part: unknown, written: unknown) => unknown): number {
  function replace(this: Record<string, unknown>, name: string, written: unknown): unknown {
    return other(this[name], written)
  }
  try {
    return Buffer.byteLength(stringified(value, replace) ?? '')
  } catch (error) {
    return error === VAST ? Number.POSITIVE_INFINITY : 0
  }
}

/** Returns the value with the elements of a list in it replaced. */
function withElements(
  value: object,
  list: PathNode,
  clamp: (element: unknown, at: number) => unknown,
): object {
  const draft = new Draft()
  replaceElements(draft, list, clamp)
  return draft.done(value)
}

function replaceElements(
  draft: Draft,
  list: PathNode,
  clamp: (element: unknown, at: number) => unknown,
): void {
  for (const [at, element] of (list.value as unknown[]).entries()) {
    const clamped = clamp(element, at)
    if (clamped !== element) draft.set(list, at, clamped)
  }
}

/** Returns the JSON of an object, undefined if parts of it must be described. A class instance that
 *  throws has none. `isWhole`: its places were counted. */
function ownJson(value: object, isWhole: boolean): { readonly json: string | undefined } | undefined {
  try {
    return { json: isWhole ? (JSON.stringify(value) as string | undefined) : stringified(value) }
  } catch (error) {
    return error === VAST || isList(value) || isPlain(value) ? undefined : { json: undefined }
  }
}

/**
 * Clamps data by its JSON. If the JSON is over the limits, its truncated text replaces the data;
 * otherwise only lone surrogates are repaired. Plain data that has no JSON is described. A class
 * instance that has none is left alone, since nothing of it would be sent.
 */
function ofData(value: object, policy: EnginePolicy, origin: Origin, isWhole = false): unknown {
  const own = policy.ahead?.once(value, () => ownJson(value, isWhole)) ?? ownJson(value, isWhole)
  const json = own ? own.json : jsonOf(value)
  if (json === undefined) return undefined
  const lean = lightText(json, policy.media, tellOf(origin))
  const judged = tellsFailure(value) ? failed(policy) : policy
  const text = clampAndReport(lean, { ...judged, clean: undefined }, origin, true)
  if (policy.json !== 'text' && text !== lean) return tryRead(() => cutData(text)) ?? text
  if (!own || text !== lean) return text
  return wellFormed(lean) ?? (lean === json ? value : JSON.parse(lean))
}

/** Data that a cut has left. */
const cuts = new WeakSet()

/** Returns true for data that a cut has left. */
export function isCutData(value: unknown): boolean {
  return isObject(value) && cuts.has(value)
}

function cutData(json: string): object {
  const data = parseWellFormed(json) as object
  cuts.add(data)
  return data
}

/** Returns true if data says that it comes from a failure: by a status that is neither 0 nor that
 *  of a success, or by a flag. */
function tellsFailure(value: object): boolean {
  const isBad = (status: unknown) =>
    typeof status === 'number' && status !== 0 && !(status >= 100 && status < 400)
  return (
    ['exitCode', 'exit_code', 'code', 'status'].some((name) => isBad(get(value, name))) ||
    ['success', 'ok'].some((name) => get(value, name) === false) ||
    ['isError', 'is_error', 'failed'].some((name) => get(value, name) === true)
  )
}
