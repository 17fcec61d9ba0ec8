/**
 * The AI SDK (`ai` 5, 6 and 7): a middleware that keeps the prompts of a long run within the window
 * of their model, and bounds for stored messages of a UI. Tools are bounded by `wrapTools`, and
 * read saved outputs by `spillTool`, whose tool the AI SDK takes as it is.
 */

import type { Context, MessagesPolicy } from 'spillway'

/** The members of a call's parameters that are read or replaced. */
export interface CallParams<M> {
  prompt: M[]
  tools?: unknown
}

/** A model, as a middleware gets it. */
export interface CalledModel<P, G, S> {
  doGenerate(params: P): PromiseLike<G>
  doStream(params: P): PromiseLike<S>
}

/**
 * Makes a middleware for `wrapLanguageModel`. Before each request the context clears, cuts and
 * repairs the prompt; after a refusal because of its size it makes a smaller one and asks again,
 * also if the refusal comes as the first part of a stream. Other errors pass through.
 *
 * `context` belongs to one conversation. For a model that many share, give a function that finds
 * the context of a call, for example by `providerOptions`; where it returns undefined, the call
 * passes unchanged.
 *
 * @example
 * const context = createContext({ contextTokens: 200_000 })
 * const model = wrapLanguageModel({ model: given, middleware: spillwayMiddleware(context) })
 */
export function spillwayMiddleware(
  // biome-ignore lint/suspicious/noExplicitAny: each version of the AI SDK has parameters of its own
  context: Context | ((params: any) => Context | undefined),
): {
  specificationVersion: 'v3'
  middlewareVersion: 'v2'
  wrapGenerate<M, P extends CallParams<M>, G, S>(call: {
    model: CalledModel<P, G, S>
    params: P & CallParams<M>
  }): Promise<G>
  wrapStream<M, P extends CallParams<M>, G, S>(call: {
    model: CalledModel<P, G, S>
    params: P & CallParams<M>
  }): Promise<S>
}

/**
 * Bounds the messages of a UI before they are stored, as `onFinish` of `toUIMessageStream` has
 * them, or when they are loaded. Results are cut as by `clampMessages`, but an object keeps its
 * shape, so that components can read its members. A call of an earlier message that has no result
 * gets an error in its place, so that `convertToModelMessages` makes a valid prompt; a call of the
 * last message may still wait for its client or for an approval, and stays.
 *
 * Returns the same array if nothing changes, as on a second call.
 *
 * @example
 * toUIMessageStreamResponse({ onFinish: ({ messages }) => save(clampUIMessages(messages)) })
 */
export function clampUIMessages<M>(messages: M[], policy?: MessagesPolicy): M[]
