/**
 * Mastra (`@mastra/core` 1): a processor that keeps the prompts of a long run within the window of
 * their model. Tools are bounded by `wrapTools`, and saved outputs are read by
 * `createTool({ id: 'read_output', ...spillTool(store) })`.
 */

import type { Context } from 'spillway'

/**
 * Makes a processor. Before each request the context clears, cuts and repairs the prompt; what is
 * stored stays whole. After a refusal because of its size, Mastra prepares the request again, up to
 * ten times. Put the processor in `inputProcessors` and in `errorProcessors`.
 *
 * `context` belongs to one conversation. For an agent that conversations share, give a function
 * that finds the context of a call, for example by `requestContext`; where it returns undefined,
 * the request passes unchanged.
 *
 * @example
 * const processor = spillwayProcessor(createContext({ contextTokens: 200_000 }))
 * const agent = new Agent({ ..., inputProcessors: [processor], errorProcessors: [processor] })
 */
export function spillwayProcessor(
  // biome-ignore lint/suspicious/noExplicitAny: the package is not imported for its types
  context: Context | ((call: any) => Context | undefined),
): {
  id: 'spillway'
  processLLMRequest<M>(call: { prompt: M[] }): Promise<{ prompt?: M[] }>
  processAPIError(call: { error: unknown; retryCount: number }): Promise<{ retry: boolean } | undefined>
}
