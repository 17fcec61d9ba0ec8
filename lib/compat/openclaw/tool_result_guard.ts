import { copy } from '../../dialect/shallow_copy.js'
import { MAX_ROW_BYTES } from '../../session/guard.js'
import { GuardedMessage, type MessageRules } from '../../session/guarded_message.js'
import { get, isPromise, notify, tryRead } from '../../untrusted.js'
import {
  answeredBy,
  callsOf,
  isAside,
  isAssistant,
  responseOf,
  withoutMalformedCalls,
  word,
} from './calls.js'
import type { GuardRules } from './guard_options.js'
import { isUser } from './suppression.js'
import { isToolResult } from './tool_results.js'

/** Stores a message, perhaps later. */
export type Write = (message: unknown) => unknown

/** Ensures for one manager that each stored tool call has a result, and that results are within
 *  their limits. */
export class ToolResultGuard {
  /** Tool names of the calls without a result, by call id. */
  readonly pending = new Map<string, string | undefined>()
  /** Ids of the model's response that made them. */
  #response: readonly unknown[] = []

  constructor(readonly options: GuardRules) {}

  take(message: unknown, write: Write): unknown {
    if (isToolResult(message)) return this.#takeResult(message, write)
    const sound = isAssistant(message)
      ? tryRead(() => withoutMalformedCalls(message, this.options.allowed))
      : message
    // Only malformed calls: nothing is stored.
    if (isAssistant(message) && sound === undefined) {
      this.flush(write)
      return undefined
    }
    const calls = tryRead(() => callsOf(sound)) ?? []
    const { flushesBetweenCalls, synthesizes } = this.options
    const waits = calls.length > 0 ? synthesizes : isAside(sound) || this.#isPartOfResponse(sound)
    if (flushesBetweenCalls || !waits) this.flush(write)
    return new GuardedMessage(sound, this.#rules(sound)).write((kept) => this.#store(kept, write), true)
  }

  /** Writes an error for each call without a result, and returns the answers of the appends. A call
   *  whose error is not written waits on. */
  flush(write: Write): unknown[] {
    const calls = [...this.pending]
    const answers: unknown[] = []
    this.pending.clear()
    if (!this.options.synthesizes) return answers
    for (const [at, call] of calls.entries()) {
      const message = missingResult(...call, this.options.missing)
      const made = new GuardedMessage(message, this.#rules(message, { isSynthetic: true }))
      try {
        const written = made.write((kept) => this.#store(kept, write), true)
        if (isPromise(written)) written.then(undefined, () => this.pending.set(...call))
        answers.push(written)
      } catch (error) {
        for (const left of calls.slice(at)) this.pending.set(...left)
        throw error
      }
    }
    return answers
  }

  #takeResult(message: object, write: Write): unknown {
    const id = answeredBy(message)
    const called = id === undefined ? undefined : this.pending.get(id)
    const rules = this.#rules(message, { called })
    return new GuardedMessage(message, rules).write((kept) => this.#store(kept, write), true)
  }

  /** Writes a message, unless an earlier attempt did. What is stored says which calls have results:
   *  a hook may have kept a result back, or dropped a call. */
  #store(kept: unknown, write: Write): unknown {
    const { suppression, onSuppressed } = this.options
    if (suppression.takes(kept)) {
      if (isUser(kept)) notify(() => onSuppressed?.(kept))
      return undefined
    }
    const id = isToolResult(kept) ? answeredBy(kept) : undefined
    const call = id !== undefined && this.pending.has(id) ? ([id, this.pending.get(id)] as const) : undefined
    const written = write(kept)
    if (call) this.pending.delete(call[0])
    const calls = tryRead(() => callsOf(kept)) ?? []
    for (const { id, name } of calls) this.pending.set(id, name)
    if (calls.length > 0) this.#response = responseOf(kept)
    if (call && isPromise(written)) written.then(undefined, () => this.pending.set(...call))
    return written
  }

  /** Returns true for a further part of the response that made the calls. */
  #isPartOfResponse(message: unknown): boolean {
    return responseOf(message).some((id) => this.#response.includes(id))
  }

  /** Makes the rules for one message. `called`: the tool name of its call, for a result without
   *  one. */
  #rules(
    message: unknown,
    { called, isSynthetic = false }: { called?: string | undefined; isSynthetic?: boolean } = {},
  ): MessageRules {
    const { policy, prepare, missingMembers, namesCalls } = this.options
    const { transformMessage, transformResult, beforeWrite, onBlocked } = this.options
    const transformed = (message: unknown) =>
      (transformMessage && tryRead(() => transformMessage(message as never))) ?? message
    const transform: MessageRules['transform'] = (message, meta) => {
      const toolName = word(get(message as object, 'toolName'))
      const kept = transformed(message)
      const about = { ...meta, ...(toolName !== undefined && { toolName }), isSynthetic }
      return (transformResult && tryRead(() => transformResult(kept as never, about))) ?? kept
    }
    const lastly: MessageRules['beforeWrite'] = (message) => {
      const kept = isToolResult(message) ? message : transformed(message)
      const answer = beforeWrite && tryRead(() => beforeWrite({ message: kept as never }))
      if (answer?.block === true) {
        if (isUser(kept)) notify(() => onBlocked?.(kept))
        return false
      }
      return answer?.message ?? kept
    }
    return {
      policy,
      prepare: (message) => {
        if (!isToolResult(message)) return prepare(message)
        const toolCallId = namesCalls ? answeredBy(message) : undefined
        const lacking = { ...missingMembers, ...(toolCallId !== undefined && { toolCallId }) }
        return prepare(completed(message, called, lacking))
      },
      maxRowBytes: MAX_ROW_BYTES,
      // Of other messages the agent sends its own, whatever a hook makes of the transcript.
      inPlace: isToolResult(message),
      transform: transformMessage || transformResult ? transform : undefined,
      beforeWrite: transformMessage || beforeWrite ? lastly : undefined,
    }
  }
}

/** Returns a result with a trimmed tool name, its own or that of its call, and with the members
 *  that it lacks. */
function completed(
  message: object,
  called: string | undefined,
  missing: Readonly<Record<string, unknown>>,
): object {
  const toolName = word(get(message, 'toolName')) ?? called ?? missing['toolName']
  const lacked = Object.entries(missing).filter(([key]) => get(message, key) === undefined)
  const all = new Map<string, unknown>(toolName === undefined ? lacked : [...lacked, ['toolName', toolName]])
  const changed = [...all].filter(([key, value]) => get(message, key) !== value)
  return changed.length === 0 ? message : copy(message, new Map(changed))
}

function missingResult(toolCallId: string, name: string | undefined, text: string): object {
  return {
    role: 'toolResult',
    toolCallId,
    toolName: name ?? 'unknown',
    content: [{ type: 'text', text }],
    isError: true,
    timestamp: Date.now(),
  }
}
