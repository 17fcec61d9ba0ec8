import type { SessionToolResultGuard, SessionToolResultGuardOptions } from 'spillway/openclaw'
import { copy } from '../../dialect/shallow_copy.js'
import { compile } from '../../policy.js'
import { AppendPatch } from '../../session/append_patch.js'
import { MAX_ROW_BYTES } from '../../session/guard.js'
import { GuardedMessage, type Rules } from '../../session/guarded_message.js'
import { get, notify, tryRead } from '../../untrusted.js'
import { callback, checkOptions, flag, optionError, text } from '../../validate.js'
import { substitute } from '../../warning.js'
import { answeredBy, callsOf, isAside, isAssistant, withoutMalformedCalls, word } from './calls.js'
import { MISSING_TOOL_RESULT_TEXT } from './constants.js'
import { profileOf } from './profile.js'
import { withStoredDetails } from './stored_details.js'
import { isError, isUser, Suppression } from './suppression.js'
import { isToolResult, policyFor, resultCutter } from './tool_results.js'

const patches = new WeakMap<object, AppendPatch>()

export function installSessionToolResultGuard(
  sessionManager: { appendMessage(message: never, ...rest: never[]): unknown },
  opts: SessionToolResultGuardOptions = {},
): SessionToolResultGuard {
  const options = checked(checkOptions('opts', opts))
  const patch = patches.get(sessionManager) ?? new AppendPatch(sessionManager, 'sessionManager')
  const guard = new ToolResultGuard(options)
  const telling = (write: Write) => persisting(write, sessionManager, options)
  setRaw(sessionManager)
  patch.install((message, write, isTop) => (isTop ? guard.take(message, telling(write)) : write(message)))
  patches.set(sessionManager, patch)
  return {
    flushPendingToolResults: () => guard.flush(telling((message) => patch.write(message))),
    clearPendingToolResults: () => guard.pending.clear(),
    getPendingIds: () => [...guard.pending.keys()],
    clearNextUserMessagePersistenceSuppression: () => options.suppression.clear(),
    uninstall: () => {
      patch.uninstall()
      Reflect.deleteProperty(sessionManager, RAW)
    },
  }
}

/** The method of a manager before its first guard. OpenClaw's own symbol is private and has the same description. */
const RAW = Symbol('openclaw.session.rawAppendMessage')

function setRaw(manager: { appendMessage(message: never, ...rest: never[]): unknown }): void {
  if (rawOf(manager)) return
  const value = manager.appendMessage.bind(manager)
  Reflect.defineProperty(manager, RAW, { value, configurable: true, writable: true })
}

function rawOf(manager: object): unknown {
  const own = Object.getOwnPropertySymbols(manager)
  const key = own.find(({ description }) => description === RAW.description)
  return key && get(manager, key)
}

export function getRawSessionAppendMessage<A extends (...args: never[]) => unknown>(manager: {
  appendMessage: A
}): A {
  return (rawOf(manager) ?? manager.appendMessage.bind(manager)) as A
}

/** Tells the caller of each message that was written. */
function persisting(write: Write, manager: object, options: Options): Write {
  const { onPersisted, onUser, onFailed, sessionKey } = options
  return (message) => {
    const entryId = write(message)
    if (isUser(message)) notify(() => onUser?.(message))
    if (isError(message)) notify(() => onFailed?.(message))
    if (!onPersisted) return entryId
    const sessionFile = tryRead(() => (manager as { getSessionFile?(): unknown }).getSessionFile?.())
    const about = {
      ...(typeof entryId === 'string' && { entryId }),
      ...(typeof sessionFile === 'string' && { sessionFile }),
      ...(sessionKey !== undefined && { sessionKey }),
    }
    notify(() => onPersisted(message as never, about))
    return entryId
  }
}

type Options = ReturnType<typeof checked>

function checked(opts: SessionToolResultGuardOptions) {
  const { profile } = opts
  const options = profile === undefined ? {} : { profile }
  const { cap, flushesBetweenCalls, missingMembers, redacts, shapesDetails } = profileOf(options)
  const maxChars = charsOf(opts.maxToolResultChars ?? cap(0), cap(0))
  const cut = resultCutter(maxChars, options)
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
    prepare: (message: object) => cut(shapesDetails ? withStoredDetails(message) : message),
    flushesBetweenCalls,
    missingMembers,
    suppression: new Suppression(opts),
    onPersisted: callback('onMessagePersisted', opts.onMessagePersisted),
    onUser: callback('onUserMessagePersisted', opts.onUserMessagePersisted),
    onFailed: callback('onAssistantErrorMessagePersisted', opts.onAssistantErrorMessagePersisted),
    onBlocked: callback('onUserMessageBlocked', opts.onUserMessageBlocked),
    sessionKey: opts.sessionKey,
  }
}

/** Returns a limit as OpenClaw takes it: a session has to start whatever its configuration says. */
function charsOf(given: unknown, preset: number): number {
  const isNumber = typeof given === 'number' && given >= 0
  return isNumber ? Math.floor(given) : substitute('maxToolResultChars', given, preset)
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

  constructor(readonly options: Options) {}

  take(message: unknown, write: Write): unknown {
    if (this.options.suppression.takes(message)) return undefined
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
    const { policy, prepare, missingMembers } = this.options
    const { transformMessage, transformResult, beforeWrite, onBlocked } = this.options
    const transformed = (message: unknown) =>
      (transformMessage && tryRead(() => transformMessage(message as never))) ?? message
    const transform: Rules['transform'] = (message, meta) => {
      const toolName = word(get(message as object, 'toolName'))
      const kept = transformed(message)
      const about = { ...meta, ...(toolName !== undefined && { toolName }), isSynthetic }
      return (transformResult && tryRead(() => transformResult(kept as never, about))) ?? kept
    }
    const lastly: Rules['beforeWrite'] = (message) => {
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
      prepare: (message) =>
        prepare(isToolResult(message) ? completed(message, called, missingMembers) : message),
      maxRowBytes: MAX_ROW_BYTES,
      inPlace: true,
      transform: transformMessage || transformResult ? transform : undefined,
      beforeWrite: transformMessage || beforeWrite ? lastly : undefined,
    }
  }
}

/** Returns a result with a trimmed tool name, its own or that of its call, and with the members that it lacks. */
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
