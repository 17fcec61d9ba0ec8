import { readResults } from './dialect.js'
import { Draft } from './draft.js'
import type { Origin } from './event.js'
import { jsonOf } from './json.js'
import { Place, Root } from './path.js'
import type { Compiled } from './policy.js'
import { get, isPlain, quietly } from './reading.js'
import { clampKnown, clampValue, told } from './result.js'

/**
 * Clamps what a tool returned, in the forms that only tools return: messages in a LangGraph Command, several results in an
 * array, and plain data, which a framework would hand to the model as JSON.
 */
export function clampOutcome<T>(value: T, policy: Compiled, origin: Origin): T {
  const known = clampKnown(value, policy, origin)
  if (known !== undefined) return known
  if (typeof value !== 'object' || value === null) return value
  const made = quietly(
    () =>
      ofCommand(value, policy, origin) ?? ofResults(value, policy, origin) ?? ofData(value, policy, origin),
  )
  return (made ?? value) as T
}

/** Clamps the content of a pair of content and artifact; a model sees the first alone. */
export function clampPair<T>(value: T, policy: Compiled, origin: Origin): T {
  const [content, ...rest] = value as readonly unknown[]
  const clamped = clampOutcome(content, policy, origin)
  return clamped === content ? value : ([clamped, ...rest] as T)
}

/** LangGraph's Command updates the state of a graph, its messages among it. */
function ofCommand(value: object, policy: Compiled, origin: Origin): object | undefined {
  if (get(value, 'lg_name') !== 'Command') return undefined
  const update = get(value, 'update')
  if (typeof update !== 'object' || update === null) return value
  const messages = get(update, 'messages')
  if (!Array.isArray(messages)) return value
  const command = new Root(value)
  const state = new Place(update, command, 'update')
  const list = new Place(messages, state, 'messages')
  return withElements(value, list, (message) => clampValue(message, policy, origin))
}

/** Several results at once; nothing where an element is none. */
function ofResults(value: object, policy: Compiled, origin: Origin): object | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const elements = value as unknown[]
  // All are looked at before one is clamped: a cut is told of, and saved.
  if (!elements.every((element) => isResult(element, policy))) return undefined
  return withElements(
    value,
    new Root(value),
    (element) => ofCommand(element as object, policy, origin) ?? clampValue(element, policy, origin),
  )
}

function isResult(value: unknown, { dialect }: Compiled): boolean {
  if (typeof value !== 'object' || value === null) return false
  return get(value, 'lg_name') === 'Command' || readResults(value, dialect).length > 0
}

/** The value with the elements of a list in it replaced. */
function withElements(value: object, list: Place, clamp: (element: unknown, at: number) => unknown): object {
  const draft = new Draft()
  for (const [at, element] of (list.value as unknown[]).entries()) {
    const clamped = clamp(element, at)
    if (clamped !== element) draft.set(list, at, clamped)
  }
  return draft.done(value)
}

/** Plain data whose JSON is over the limits becomes the text of it. */
function ofData(value: object, policy: Compiled, origin: Origin): object | string | undefined {
  const json = Array.isArray(value) || isPlain(value) ? jsonOf(value) : undefined
  if (json === undefined) return undefined
  const text = told(json, { ...policy, clean: undefined }, origin)
  return text === json ? value : text
}
