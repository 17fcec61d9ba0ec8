import type { SessionToolResultGuard, SessionToolResultGuardOptions } from 'spillway/openclaw'
import { copy } from '../../dialect/shallow_copy.js'
import { compile } from '../../policy.js'
import { AppendPatch } from '../../session/append_patch.js'
import { MAX_ROW_BYTES } from '../../session/guard.js'
import { GuardedMessage, type Rules } from '../../session/guarded_message.js'
import { get, tryRead } from '../../untrusted.js'
import { callback, checkOptions, flag, limit, optionError, text } from '../../validate.js'
import { answeredBy, callsOf, isAside, isAssistant, withoutMalformedCalls, word } from './calls.js'
import { profileOf } from './profile.js'
import { withStoredDetails } from './stored_details.js'
import { isToolResult, policyFor, truncateToolResultMessage } from './tool_results.js'

export const MISSING_TOOL_RESULT_TEXT: string =
  '[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.'

const patches = new WeakMap<object, AppendPatch>()

export function installSessionToolResultGuard(
  sessionManager: { appendMessage(message: never, ...rest: never[]): unknown },
  opts: SessionToolResultGuardOptions = {},
): SessionToolResultGuard {
  const options = checked(checkOptions('opts', opts))
  const patch = patches.get(sessionManager) ?? new AppendPatch(sessionManager, 'sessionManager')
  const guard = new ToolResultGuard(patch, options)
  patch.install((message, write, isTop) => (isTop ? guard.take(message, write) : write(message)))
  patches.set(sessionManager, patch)
  return {
    flushPendingToolResults: () => guard.flush((message) => patch.write(message)),
    clearPendingToolResults: () => guard.pending.clear(),
    getPendingIds: () => [...guard.pending.keys()],
    uninstall: () => patch.uninstall(),
  }
}

type Options = ReturnType<typeof checked>

function checked(opts: SessionToolResultGuardOptions) {
  const { profile } = opts
  const options = profile === undefined ? {} : { profile }
  const { redacts } = profileOf(options)
  const maxChars = limit('maxToolResultChars', opts.maxToolResultChars ?? profileOf(options).cap(0))
  return {
    policy: compile(
      policyFor(Number.POSITIVE_INFINITY, maxChars, options, { sideData: 'cap', redact: redacts }),
    ),
    transformMessage: callback('transformMessageForPersistence', opts.transformMessageForPersistence),
    transformResult: callback('transformToolResultForPersistence', opts.transformToolResultForPersistence),
    beforeWrite: callback('beforeMessageWriteHook', opts.beforeMessageWriteHook),
    synthesizes: flag('allowSyntheticToolResults', opts.allowSyntheticToolResults, true),
    missing: text('missingToolResultText', opts.missingToolResultText, MISSING_TOOL_RESULT_TEXT),
    allowed: checkNames(opts.allowedToolNames),
    flushesBetweenCalls: profileOf(options).flushesBetweenCalls,
    prepare: (message: object) => {
      const stored = profileOf(options).shapesDetails ? withStoredDetails(message) : message
      return truncateToolResultMessage(stored, maxChars, options)
    },
  }
}

function checkNames(names: Iterable<string> | undefined): ReadonlySet<string> | undefined {
  if (names === undefined) return undefined
  const wrong = () => optionError(TypeError, 'allowedToolNames', 'an iterable of strings', names)
  if (typeof names === 'string' || typeof names?.[Symbol.iterator] !== 'function') throw wrong()
  return new Set(
    Array.from(names, (name: unknown) => {
      if (typeof name !== 'string') throw wrong()
      return name.trim().toLowerCase()
    }),
  )
}

type Write = (message: unknown) => unknown

/** Ensures for one manager that each stored tool call has a result, and that results are within their limits. */
class ToolResultGuard {
  /** Tool names of the calls without a result, by call id. */
  readonly pending = new Map<string, string | undefined>()

  constructor(
    readonly patch: AppendPatch,
    readonly options: Options,
  ) {}

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
    const waits = calls.length > 0 ? synthesizes : isAside(sound)
    if (flushesBetweenCalls || !waits) this.flush(write)
    // Reads the calls from the stored message, since a hook may have dropped some. Providers reject a result without its
    // call.
    let stored: unknown
    const writeStored: Write = (kept) => {
      const written = write(kept)
      stored = kept
      return written
    }
    const written = new GuardedMessage(sound, this.#rules(false)).write(writeStored, true)
    for (const { id, name } of tryRead(() => callsOf(stored)) ?? []) this.pending.set(id, name)
    return written
  }

  /** Writes an error for each call without a result. */
  flush(write: Write): void {
    const calls = [...this.pending]
    this.pending.clear()
    if (!this.options.synthesizes) return
    for (const [id, name] of calls) {
      const message = missingResult(id, name, this.options.missing)
      new GuardedMessage(message, this.#rules(true)).write(write, true)
    }
  }

  #takeResult(message: object, write: Write): unknown {
    const id = answeredBy(message)
    const called = id === undefined ? undefined : this.pending.get(id)
    if (id !== undefined) this.pending.delete(id)
    return new GuardedMessage(message, this.#rules(false, called)).write(write, true)
  }

  /** Makes the rules for one message. `called`: the tool name of its call, for a result without one. */
  #rules(isSynthetic: boolean, called?: string): Rules {
    const { policy, prepare, transformMessage, transformResult, beforeWrite } = this.options
    const transformed = (message: unknown) =>
      (transformMessage && tryRead(() => transformMessage(message as never))) ?? message
    return {
      policy,
      prepare,
      maxRowBytes: MAX_ROW_BYTES,
      inPlace: true,
      transform: (message, meta) => {
        const named = withName(message as object, called)
        const toolName = word(get(named, 'toolName'))
        const kept = transformed(named)
        const about = { ...meta, ...(toolName !== undefined && { toolName }), isSynthetic }
        return (transformResult && tryRead(() => transformResult(kept as never, about))) ?? kept
      },
      beforeWrite: (message) => {
        const kept = isToolResult(message) ? message : transformed(message)
        const answer = beforeWrite && tryRead(() => beforeWrite({ message: kept as never }))
        if (answer?.block === true) return false
        return answer?.message ?? kept
      },
    }
  }
}

/** Returns a result with a trimmed tool name: its own, that of its call, or 'unknown'. */
function withName(message: object, called: string | undefined): object {
  const toolName = word(get(message, 'toolName')) ?? called ?? 'unknown'
  return get(message, 'toolName') === toolName ? message : copy(message, new Map([['toolName', toolName]]))
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
