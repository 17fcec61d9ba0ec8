import type { installContextEngineLoopHook as Declared } from 'spillway/openclaw'
import { copy } from '../../dialect/shallow_copy.js'
import { text } from '../../kinds.js'
import { elementAt, get, isObject } from '../../untrusted.js'
import { checkOptions } from '../../validate.js'
import { textOf } from './char_estimator.js'
import { addTransform } from './context_guard.js'

/** The marker of a prompt. Copies by spread have it too, JSON does not. */
const TRANSCRIPT_TEXT = Symbol('transcriptPromptText')

export function markTranscriptPromptText(message: object, transcriptText: string): void {
  const value = text('text', transcriptText, '')
  Reflect.defineProperty(checkOptions('message', message), TRANSCRIPT_TEXT, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

export function installContextEngineLoopHook(params: Parameters<typeof Declared>[0]): () => void {
  const { agent, contextEngine, sessionId, sessionKey } = checkOptions('params', params)
  const { isHeartbeat, runtimeSettings, tokenBudget } = params
  /** Messages that the engine has, and its view of them. */
  let known: readonly unknown[] | undefined
  let view: unknown[] | undefined

  /** Hands the messages from `count` on to the engine. */
  async function deliver(messages: object[], count: number): Promise<void> {
    const transcript = messages.map(asTranscript)
    const all = transcript.every((message, at) => message === messages[at]) ? messages : transcript
    const session = { sessionId, sessionKey }
    if (contextEngine.afterTurn) {
      await contextEngine.afterTurn({
        ...session,
        sessionTarget: params.sessionTarget,
        sessionFile: params.sessionFile,
        messages: all,
        prePromptMessageCount: count,
        tokenBudget,
        runtimeContext: params.getRuntimeContext?.({ messages: all, prePromptMessageCount: count }),
        runtimeSettings,
        isHeartbeat,
      })
    } else if (contextEngine.ingestBatch)
      await contextEngine.ingestBatch({ ...session, messages: all.slice(count), isHeartbeat })
    else
      for (const message of all.slice(count))
        await contextEngine.ingest?.({ ...session, message, isHeartbeat })
    params.onAfterTurnCheckpoint?.(all.length)
  }

  return addTransform(agent, async (messages) => {
    if (known !== undefined && !continues(messages, known)) {
      known = undefined
      view = undefined
    }
    const count = Math.min(
      known?.length ?? params.getPrePromptMessageCount?.() ?? messages.length,
      messages.length,
    )
    if (count === messages.length) {
      known = messages.slice()
      return view ?? messages
    }
    try {
      await deliver(messages as object[], count)
      const { messages: assembled } = await contextEngine.assemble({
        sessionId,
        sessionKey,
        messages,
        tokenBudget,
        model: params.modelId,
        runtimeSettings,
      })
      if (!Array.isArray(assembled)) throw new TypeError('assemble must return messages')
      view = params.repairAssembledMessages?.(assembled) ?? assembled
      known = messages.slice()
      return view
    } catch {
      // The next call tries the same messages again.
      known = messages.slice(0, count)
      view = undefined
      return messages
    }
  })
}

/** Returns true if messages are those known, perhaps with more behind them. */
function continues(messages: readonly unknown[], known: readonly unknown[]): boolean {
  return messages.length > known.length
    ? true
    : messages.length === known.length && known.every((message, at) => message === elementAt(messages, at))
}

/** Returns a marked message with the text that the transcript has: its content, or its first text
 *  block. */
function asTranscript(message: object): object {
  const said =
    isObject(message) && get(message, 'role') === 'user' ? get(message, TRANSCRIPT_TEXT) : undefined
  if (typeof said !== 'string') return message
  const content = get(message, 'content')
  const to = Array.isArray(content) ? withFirstText(content, said) : said
  return copy(message, new Map<string, unknown>([['content', to]]))
}

function withFirstText(blocks: readonly unknown[], said: string): unknown {
  const at = blocks.findIndex((block) => isObject(block) && textOf(block).length > 0)
  const block = at < 0 ? undefined : blocks[at]
  return isObject(block) ? copy(blocks, new Map([[at, copy(block, new Map([['text', said]]))]])) : blocks
}
