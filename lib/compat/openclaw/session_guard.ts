import type { SessionToolResultGuard, SessionToolResultGuardOptions } from 'spillway/openclaw'
import { flag } from '../../kinds.js'
import { APPEND, AppendPatch } from '../../session/append_patch.js'
import { get, isPromise } from '../../untrusted.js'
import { checkOptions } from '../../validate.js'
import { checkedOptions } from './guard_options.js'
import { ToolResultGuard, type Write } from './tool_result_guard.js'
import { type Manager, Transcript } from './transcript.js'

/** Methods by which managers store messages. The second returns a promise; not every manager has
 *  it. */
const METHODS = [APPEND, 'appendMessageAsync']

const patches = new WeakMap<object, readonly AppendPatch[]>()

export function installSessionToolResultGuard(
  sessionManager: Manager & { appendMessage(message: never, ...rest: never[]): unknown },
  opts: SessionToolResultGuardOptions = {},
): SessionToolResultGuard {
  const options = checkedOptions(checkOptions('opts', opts))
  const [append, ...others] = patches.get(sessionManager) ?? patched(sessionManager)
  const guard = new ToolResultGuard(options)
  const transcript = new Transcript(sessionManager, options)
  setRaw(sessionManager)
  const line = new AppendQueue()
  for (const patch of [append, ...others] as AppendPatch[]) {
    patch.install((message, write, isTop) => {
      if (!isTop || transcript.isWriting(message)) return write(message)
      return guard.take(message, transcript.telling(patch === append ? write : line.after(write)))
    })
  }
  const [later] = others
  const write: Write = (message) => append?.write(message)
  const writeLater = later ? line.after((message) => later.write(message)) : write
  patches.set(sessionManager, [append as AppendPatch, ...others])
  return {
    hasPendingToolResults: () => guard.pending.size > 0,
    flushPendingToolResults: () => void guard.flush(transcript.telling(write)),
    flushPendingToolResultsAsync: async () =>
      void (await Promise.all(guard.flush(transcript.telling(writeLater)))),
    clearPendingToolResults: () => guard.pending.clear(),
    getPendingIds: () => [...guard.pending.keys()],
    setNextUserMessagePersistenceSuppression: (suppress = true) =>
      options.suppression.setNext(flag('suppress', suppress, true)),
    clearNextUserMessagePersistenceSuppression: () => options.suppression.setNext(false),
    setTranscriptRunId: (runId, errors) => transcript.setRun(runId, errors),
    uninstall: () => {
      for (const patch of [append, ...others]) patch?.uninstall()
      Reflect.deleteProperty(sessionManager, RAW)
    },
  }
}

function patched(manager: object): AppendPatch[] {
  const methods = METHODS.filter((method) => method === APPEND || typeof get(manager, method) === 'function')
  return methods.map((method) => new AppendPatch(manager, 'sessionManager', method))
}

/** Appends of an async manager, one after the other: the result of a call is stored before what
 *  came after it. */
class AppendQueue {
  #last: PromiseLike<unknown> | undefined

  after(write: Write): Write {
    return (message) => {
      const last = this.#last
      const written = last ? last.then(() => write(message)) : write(message)
      if (!isPromise(written)) return written
      const left = () => {
        if (this.#last === settled) this.#last = undefined
      }
      const settled = written.then(left, left)
      this.#last = settled
      return written
    }
  }
}

/** The method of a manager before its first guard. OpenClaw's own symbol is private and has the
 *  same description. */
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
