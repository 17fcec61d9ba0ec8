import type { clampUIMessages as Clamping, spillwayMiddleware as Declared } from 'spillway/ai-sdk'
import { clampMessages, repairToolPairs } from '../index.js'
import { doorMode } from '../mode.js'
import { contextOf } from './context_of.js'

interface Part {
  readonly type: string
  readonly error?: unknown
}

/** Parts that may stand before the first word of an answer, and before a refusal. */
const BEFORE = ['stream-start', 'response-metadata', 'raw']

export const spillwayMiddleware: typeof Declared = (given) => {
  const find = contextOf(given)
  return {
    specificationVersion: 'v3',
    middlewareVersion: 'v2',
    wrapGenerate: async ({ model, params }) => {
      const ask = (prompt: typeof params.prompt) => model.doGenerate({ ...params, prompt })
      const context = find(params)
      return context ? context.run(params.prompt, ask, { tools: params.tools }) : ask(params.prompt)
    },
    wrapStream: async ({ model, params }) => {
      const ask = (prompt: typeof params.prompt) => model.doStream({ ...params, prompt })
      const context = find(params)
      if (!context) return ask(params.prompt)
      for (;;) {
        const begin = async (prompt: typeof params.prompt) => Begun.of(await ask(prompt))
        const begun = await context.run(params.prompt, begin, { tools: params.tools })
        const { refusal, answer, cancel } = begun
        if (refusal === undefined || !(await context.refused(refusal))) return answer
        await cancel()
      }
    },
  }
}

/** An answer whose stream has begun. Many providers do not reject: the first part of their stream
 *  is the refusal. */
class Begun<S> {
  private constructor(
    /** The answer, with the whole stream. */
    readonly answer: S,
    /** The error with which the stream begins. */
    readonly refusal: unknown,
    readonly cancel: () => Promise<void>,
  ) {}

  static async of<S>(answer: S): Promise<Begun<S>> {
    const reader = (answer as { stream: ReadableStream<Part> }).stream.getReader()
    const read: Part[] = []
    let refusal: unknown
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      read.push(value)
      if (value.type === 'error') refusal = value.error
      if (!BEFORE.includes(value.type)) break
    }
    const stream = new ReadableStream<Part>({
      start: (controller) => {
        for (const part of read) controller.enqueue(part)
      },
      pull: async (controller) => {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    })
    return new Begun({ ...answer, stream }, refusal, () => reader.cancel())
  }
}

export const clampUIMessages: typeof Clamping = (messages, policy) => {
  const kept = clampMessages(messages, { json: 'keep-shape', ...policy, dialect: 'ai-sdk-ui' }).messages
  if (doorMode(policy?.observe) !== 'on') return kept
  // A call of the last message may wait for its client, or for an approval.
  const earlier = kept.slice(0, -1)
  const sound = repairToolPairs(earlier, { dialect: 'ai-sdk-ui' }).messages
  return sound === earlier ? kept : [...sound, ...kept.slice(-1)]
}
