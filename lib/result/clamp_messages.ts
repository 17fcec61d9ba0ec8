import type { MessagesPolicy } from 'spillway'
import type { Origin } from '../clamp_event.js'
import type { EnginePolicy } from '../compiled.js'
import { lightRoom, surelyFit } from '../dialect/slots.js'
import { roomAfter } from '../json.js'
import { type Aggregate, Planner } from '../plan.js'
import { compileWith } from '../policy.js'
import { ownOptionsOf } from '../read_options.js'
import { elementsOf, hasVastHoles, isList, isObject } from '../untrusted.js'
import { optionError } from '../validate.js'
import { Batch, lighten, sendOnce } from './batch.js'
import { handBack } from './gate.js'
import { History } from './history.js'
import { HistoryResult, lastAnswer, ORIGIN, written } from './message_results.js'
import { prepareHistory } from './redact_value.js'

export function clampMessages<T extends readonly unknown[]>(
  list: T,
  options?: MessagesPolicy,
): { messages: T; clamped: number } {
  const policy = compileWith({ notice: 'pi' }, options, 'messages')
  const { aggregate } = ownOptionsOf('messages', options ?? {})
  const messages = checkMessages(list)
  let clamped = 0
  const kept = handBack(policy, ORIGIN, messages, (origin) => {
    const made = clampAll(messages, policy, aggregate, origin)
    clamped = made.clamped
    return made.messages
  })
  return { messages: kept, clamped }
}

function clampAll<T extends readonly unknown[]>(
  messages: T,
  policy: EnginePolicy,
  aggregate: Aggregate | undefined,
  origin: Origin,
): { messages: T; clamped: number } {
  // With an aggregate, all results count.
  const room = aggregate ? -1 : lightRoom(policy)
  const given = elementsOf(messages)
  const fits = given.map((message) => hasRoom(message, room))
  if (!fits.includes(false)) return { messages, clamped: 0 }
  const open = prepareHistory(messages, given, fits, policy, origin)
  const batch = new Batch(open.messages, policy, (at) => fits[at] === true)
  lighten(batch, policy, origin, true)
  const read = elementsOf(batch.values)
  const answer = lastAnswer(read)
  const history = new History(read)
  const results = batch.results.map(
    ({ at, result }) => new HistoryResult(result, at, at >= answer, policy, history),
  )
  for (const kept of results) if (!surelyFit(kept.result.slots, policy)) kept.clamp()
  if (aggregate) {
    const sized = results.map(({ chars, latest, texts }) => ({ chars, latest, texts }))
    const planner = new Planner(sized, policy)
    for (const { index, maxChars } of planner.steps(aggregate)) results[index]?.clamp(maxChars)
  }
  const made = written(batch.values, results, policy, origin)
  const cut = new Batch(made.messages, policy, (at) => fits[at] === true)
  // Cuts may leave two parts of a result that are alike.
  if (made.changed.size > 0) sendOnce(cut, policy.structured)
  const changed = new Set([...open.changed, ...batch.changed, ...made.changed])
  return { messages: cut.values as unknown as T, clamped: changed.size }
}

/** Returns true if a walk of a message shows that its results fit unchanged. */
function hasRoom(message: unknown, room: number): boolean {
  try {
    return room >= 0 && isObject(message) && roomAfter(message, room) >= 0
  } catch {
    return false
  }
}

/** Rejects values other than arrays. Returns the messages, of a vast list with holes without
 *  these. */
export function checkMessages<T extends readonly unknown[]>(messages: T): T {
  if (!isList(messages)) throw optionError(TypeError, 'messages', 'an array', messages)
  return hasVastHoles(messages) ? (elementsOf(messages) as unknown as T) : (messages as T)
}
