import type { Compiled } from '../compiled.js'
import { type Result, readResults } from '../dialect/dialect.js'
import { Draft } from '../dialect/draft.js'
import { Place } from '../dialect/path.js'
import { withNames } from '../dialect/payload.js'
import { LITTLE } from '../dialect/rest.js'
import { isLight, wellFormed } from '../dialect/slots.js'
import type { Origin } from '../event.js'
import { jsonOf } from '../json.js'
import { get, isObject, isPlain, quietly } from '../reading.js'
import { clampResults, clampSide, clampValue, told } from './result.js'

/**
 * Clamps what a tool returned, in the forms that only tools return: messages in a LangGraph Command, several messages in an
 * array, and plain data, which a framework would hand to the model as JSON.
 */
export function clampOutcome<T>(value: T, policy: Compiled, origin: Origin): T {
  if (typeof value !== 'object' || value === null) return clampValue(value, policy, origin)
  if (quietly(() => isLight(value, policy))) return value
  const left = quietly(() => besideClamped(value, policy)) ?? value
  const results = quietly(() => readResults(left, policy.dialect))
  // Those that were read are clamped: reading anew may give others.
  if (results && quietly(() => isSure(left, results)))
    return quietly(() => clampResults(left, results, policy, origin)) ?? left
  const made = quietly(
    () => ofCommand(left, policy, origin) ?? ofMessages(left, policy, origin) ?? ofData(left, policy, origin),
  )
  return (made ?? left) as T
}

/** The same with what its results hold besides their texts capped or dropped: what is left tells what it is. */
function besideClamped<T extends object>(value: T, policy: Compiled): T {
  if (policy.sideData === 'keep') return value
  const draft = new Draft()
  const changes = readResults(value, policy.dialect).filter((result) => clampSide(result, policy, draft))
  return changes.length > 0 ? draft.done(value) : value
}

/** Clamps the content of a pair of content and artifact; a model sees the first alone. */
export function clampPair<T>(value: T, policy: Compiled, origin: Origin): T {
  const [content, ...rest] = value as readonly unknown[]
  const clamped = clampOutcome(content, policy, origin)
  return clamped === content ? value : ([clamped, ...rest] as T)
}

/** LangGraph's Command updates the state of a graph, its messages among it. */
function ofCommand(value: object, policy: Compiled, origin: Origin): object | undefined {
  if (!isCommand(value)) return undefined
  const update = get(value, 'update')
  if (typeof update !== 'object' || update === null) return value
  const state = new Place(update, new Place(value), 'update')
  const draft = new Draft()
  for (const { holder, key, messages } of messagesIn(state)) {
    // A string is a message of the user.
    const clamp = (message: unknown) =>
      typeof message === 'string' ? message : clampValue(message, policy, origin)
    if (Array.isArray(messages)) replaceElements(draft, new Place(messages, holder, key), clamp)
    else {
      const clamped = clamp(messages)
      if (clamped !== messages) draft.set(holder, key, clamped)
    }
  }
  return draft.done(value)
}

/** The messages of an update: a record of channels, or pairs of a channel and its value. */
function messagesIn(state: Place): { holder: Place; key: string | number; messages: unknown }[] {
  const { value } = state
  if (!Array.isArray(value)) {
    const messages = get(value, 'messages')
    return messages === undefined ? [] : [{ holder: state, key: 'messages', messages }]
  }
  return value.flatMap((pair: unknown, at) =>
    Array.isArray(pair) && pair[0] === 'messages'
      ? { holder: new Place(pair, state, at), key: 1, messages: pair[1] as unknown }
      : [],
  )
}

/** Several messages at once, of which a graph takes each for itself; nothing where an element is none. */
function ofMessages(value: object, policy: Compiled, origin: Origin): object | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const elements = value as unknown[]
  // All are looked at before one is clamped: a cut is told of, and saved.
  if (!elements.every((element) => isCommand(element) || isMessage(element, policy))) return undefined
  return withElements(
    value,
    new Place(value),
    (element) => ofCommand(element as object, policy, origin) ?? clampValue(element, policy, origin),
  )
}

function isCommand(value: unknown): boolean {
  return typeof value === 'object' && value !== null && get(value, 'lg_name') === 'Command'
}

/** Tells whether a value is a result of LangChain. */
function isMessage(value: unknown, { dialect }: Compiled): boolean {
  return (
    isObject(value) &&
    readResults(value, dialect).some(({ isSure, row }) => isSure && row.name === 'langchain')
  )
}

/** Tells whether a value is a result or carries some, and whoever sends its JSON sends little else. */
function isSure(value: object, results: readonly Result[]): boolean {
  return (
    results.some(({ isSure }) => isSure) &&
    isLittleBeside(value, results) &&
    [...writersOf(results)].every((writer) => saysItsMembers(writer, results))
  )
}

/** Whether a value holds little besides the results that it carries. */
function isLittleBeside(value: object, results: readonly Result[]): boolean {
  const carried = new Set<unknown>(results.map(({ place }) => place.value))
  const beside = (part: unknown, written: unknown) => (carried.has(part) ? undefined : written)
  return carried.has(value) || sizeBut(value, beside) <= LITTLE
}

/** Objects around what was read that say themselves what their JSON is. */
function writersOf(results: readonly Result[]): Set<object> {
  const writers = new Set<object>()
  for (const { place, slots } of results)
    for (const start of [place, ...slots.map(({ holder }) => holder)])
      for (let at: Place | undefined = start; at; at = at.parent)
        if (typeof get(at.value, 'toJSON') === 'function') writers.add(at.value)
  return writers
}

/** Whether the JSON of an object says little more than its members. */
function saysItsMembers(writer: object, results: readonly Result[]): boolean {
  const texts = new Set<unknown>(results.flatMap(({ slots }) => slots.map(({ text }) => text)))
  // Texts that were read are long, and bounded.
  const without = (part: unknown) => (texts.has(part) ? '' : part)
  const said = sizeBut(writer, (_, written) => without(written))
  return said <= LITTLE || said <= sizeBut(writer, without) + LITTLE
}

/** Bytes of JSON with other values in the place of some, which are told as they are and as they are written; 0 where there
 *  is no JSON. */
function sizeBut(value: object, other: (part: unknown, written: unknown) => unknown): number {
  function replace(this: Record<string, unknown>, name: string, written: unknown): unknown {
    return other(this[name], written)
  }
  return Buffer.byteLength(quietly(() => JSON.stringify(value, replace)) ?? '')
}

/** The value with the elements of a list in it replaced. */
function withElements(value: object, list: Place, clamp: (element: unknown, at: number) => unknown): object {
  const draft = new Draft()
  replaceElements(draft, list, clamp)
  return draft.done(value)
}

function replaceElements(draft: Draft, list: Place, clamp: (element: unknown, at: number) => unknown): void {
  for (const [at, element] of (list.value as unknown[]).entries()) {
    const clamped = clamp(element, at)
    if (clamped !== element) draft.set(list, at, clamped)
  }
}

/**
 * Data whose JSON is over the limits becomes the text of it, and lone surrogates in what fits are repaired. Plain data that
 * no framework could make JSON of comes described; of a class instance nothing would be sent.
 */
function ofData(value: object, policy: Compiled, origin: Origin): unknown {
  const own = quietly(() => ({ json: JSON.stringify(value) as string | undefined }))
  const json = own || !(Array.isArray(value) || isPlain(value)) ? own?.json : jsonOf(value)
  if (json === undefined) return undefined
  const text = told(json, { ...policy, clean: undefined }, origin, withNames)
  return own && text === json ? (wellFormed(json) ?? value) : text
}
