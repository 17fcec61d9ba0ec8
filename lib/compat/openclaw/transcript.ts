import type { AssistantErrorTranscript } from 'spillway/openclaw'
import { copy } from '../../dialect/shallow_copy.js'
import { get, isObject, isPromise, notify, tryRead } from '../../untrusted.js'
import { isAssistant, word } from './calls.js'
import type { GuardRules } from './guard_options.js'
import { isError, isUser } from './suppression.js'
import type { Write } from './tool_result_guard.js'
import { isToolResult } from './tool_results.js'

/** Members of a session manager beside its append. */
export interface Manager {
  getSessionFile?(): unknown
  getSessionTarget?(): unknown
}

/** The transcript of one manager: marks what is stored with its run, and tells the caller of it. */
export class Transcript {
  #runId: unknown
  #errors: AssistantErrorTranscript | undefined
  /** Messages that are being written. A manager may append one by another of its methods. */
  readonly #writing = new Set<unknown>()

  constructor(
    readonly manager: Manager,
    readonly options: GuardRules,
  ) {
    this.setRun(options.runId, options.errors)
  }

  setRun(runId: unknown, errors: AssistantErrorTranscript | undefined): void {
    this.#runId = runId
    this.#errors = errors
  }

  isWriting(message: unknown): boolean {
    return this.#writing.has(message)
  }

  /** Makes a write that tells the caller of each message once it is stored. */
  telling(write: Write): Write {
    return (message) => {
      const kept = this.#recorded(withRunId(message, this.#runId))
      if (kept === undefined) return undefined
      const written = this.#write(kept, write)
      if (!isPromise(written)) {
        this.#tell(kept, written)
        return written
      }
      return written.then((entryId) => {
        this.#tell(kept, entryId)
        return entryId
      })
    }
  }

  #write(message: unknown, write: Write): unknown {
    const done = () => void this.#writing.delete(message)
    this.#writing.add(message)
    let written: unknown
    try {
      written = write(message)
    } finally {
      if (!isPromise(written)) done()
    }
    if (isPromise(written)) written.then(done, done)
    return written
  }

  /** Returns what the caller's record of failed turns leaves of a message, undefined if it is not
   *  to be stored. */
  #recorded(message: unknown): unknown {
    const errors = this.#errors
    const target = errors && isError(message) && tryRead(() => this.manager.getSessionTarget?.())
    return errors && target ? tryRead(() => errors.record(message, target, message)) : message
  }

  #tell(message: unknown, id: unknown): void {
    const { onPersisted, onUser, onFailed, sessionKey } = this.options
    const entryId = typeof id === 'string' ? id : undefined
    const stored = { appended: true, persistedMessage: message, ...(entryId !== undefined && { entryId }) }
    if (isUser(message)) notify(() => onUser?.(message, stored))
    if (isError(message)) notify(() => onFailed?.(message))
    if (!onPersisted) return
    const sessionFile = tryRead(() => this.manager.getSessionFile?.())
    const about = {
      ...(entryId !== undefined && { entryId }),
      ...(typeof sessionFile === 'string' && { sessionFile }),
      ...(sessionKey !== undefined && { sessionKey }),
    }
    notify(() => onPersisted(message, about))
  }
}

/** Returns a message of the model or of a tool with the id of its run, where OpenClaw looks for
 *  it. */
function withRunId(message: unknown, given: unknown): unknown {
  const runId = word(given)
  if (runId === undefined || !(isAssistant(message) || isToolResult(message))) return message
  const own = get(message, '__openclaw')
  const about = isObject(own) ? own : {}
  if (get(about, 'runId') === runId) return message
  return copy(message, new Map([['__openclaw', { ...about, runId }]]))
}
