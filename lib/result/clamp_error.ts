import type { TextPolicy } from 'spillway'
import type { Origin } from '../clamp_event.js'
import { type EnginePolicy, failed } from '../compiled.js'
import { stableValue } from '../dialect/stable_value.js'
import { compile } from '../policy.js'
import { get } from '../untrusted.js'
import { clampAndReport, clampIfResult, RESULT } from './clamp_result.js'
import { clampString } from './clamp_slots.js'
import { ErrorBudget } from './error_budget.js'
import { DEPTH, listed, type Member, membersOf } from './error_members.js'
import { shortHead } from './error_stack.js'
import { handBack } from './gate.js'
import { type Changes, change } from './rebuild_error.js'
import { redactThrown } from './redact_value.js'

export function clampError<E>(error: E, policy?: TextPolicy): E {
  return clampThrown(error, failed(compile(policy)))
}

const ERROR: Origin = { phase: 'error' }

/** Clamps a thrown value with a policy for failures. The event reports its message. */
export function clampThrown<E>(error: E, policy: EnginePolicy, origin: Origin = ERROR): E {
  // The same error is handed back, so what is dropped must not have changed it.
  const shorten = policy.mode === 'observe' ? messageClamped : shortened
  return handBack(policy, origin, error, (own) => shorten(error, policy, own))
}

/** Clamps no more than the message of an error, which stays as it is. */
function messageClamped<E>(error: E, policy: EnginePolicy, origin: Origin): E {
  const text = messageOf(error)
  if (text !== undefined) clampAndReport(text, policy, origin)
  return error
}

function shortened<E>(error: E, policy: EnginePolicy, origin: Origin): E {
  const messages = new Messages(policy)
  const short = messages.shortened(redactThrown(error, policy), DEPTH, origin)
  return (typeof short === 'string' ? short : new ErrorBudget(policy, messages.members).bounded(short)) as E
}

/** Returns the text of a thrown value, undefined if it has none. */
export function messageOf(thrown: unknown): string | undefined {
  const text = typeof thrown === 'object' && thrown !== null ? get(thrown, 'message') : thrown
  return typeof text === 'string' ? text : undefined
}

/** Shortens messages, each by itself: of the thrown error, of its causes and of its aggregated
 *  errors. */
class Messages {
  /** Members read from each error. */
  readonly members = new Map<object, Member[]>()
  /** Replacements of errors. */
  readonly #stands = new Map<object, object>()

  constructor(readonly policy: EnginePolicy) {}

  shortened(thrown: unknown, depth: number, origin?: Origin): unknown {
    const { policy } = this
    const shorten = (text: string) =>
      origin ? clampAndReport(text, policy, origin) : clampString(text, policy)
    if (typeof thrown === 'string') return shorten(thrown)
    if (typeof thrown !== 'object' || thrown === null) return thrown
    const known = this.#stands.get(thrown)
    if (known) return known
    const message = get(thrown, 'message')
    if (typeof message !== 'string') {
      const data = stableValue(thrown)
      return clampIfResult(data, policy, origin ?? RESULT) ?? data
    }
    const members = membersOf(thrown)
    const own = change(thrown, shortHead(thrown, message, policy, shorten))
    this.#stands.set(thrown, own)
    const changes: Changes = {}
    for (const member of depth > 0 ? members : []) {
      const short = this.#heldBy(member, depth - 1)
      if (short !== member.value) changes[member.key] = member.value = short
    }
    const held = change(own, changes)
    this.#stands.set(thrown, held)
    this.members.set(held, members)
    return held
  }

  #heldBy({ key, value }: Member, depth: number): unknown {
    if (key === 'cause') return this.shortened(value, depth)
    const errors = key === 'errors' ? listed(value) : undefined
    const short = errors?.map((error) => this.shortened(error, depth))
    return short?.some((error, at) => error !== errors?.[at]) ? short : value
  }
}
