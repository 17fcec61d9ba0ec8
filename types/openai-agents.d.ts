/**
 * OpenAI Agents (`@openai/agents`): a model whose prompts stay within its window over a long run,
 * and the tool that reads saved outputs. Tools are bounded by `wrapTools`.
 */

import type { Context, SpillStore } from 'spillway'

/** The members of a model that are called. */
export interface AgentsModel {
  // biome-ignore lint/suspicious/noExplicitAny: the package is not imported for its types
  getResponse(request: any): PromiseLike<any>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  getStreamedResponse(request: any): AsyncIterable<any>
}

/**
 * Wraps a model. Before each request the context clears, cuts and repairs its input; after a
 * refusal because of its size it makes a smaller one and asks again. In a stream that is possible
 * before the first event. A request whose input is a string passes unchanged, and so do other
 * errors. Sessions and the state of a run keep their items whole.
 *
 * `context` belongs to one conversation. For a model that many share, give a function that finds
 * the context of a request; where it returns undefined, the request passes unchanged. Throws
 * ERR_SPILLWAY_OPTION for a value that is not a model.
 *
 * @example
 * const context = createContext({ contextTokens: 200_000, spill: store })
 * const agent = new Agent({ name: 'builder', model: withContext(given, context), tools })
 */
export function withContext<M extends AgentsModel>(
  model: M,
  context: Context | ((request: Parameters<M['getResponse']>[0]) => Context | undefined),
): M

/** Makes the tool `read_output` of a store, as `spillTool` does, in the form of this framework. */
export function readOutputTool(store: SpillStore): {
  type: 'function'
  name: string
  description: string
  parameters: {
    type: 'object'
    properties: Record<string, { type: string; description: string }>
    required: string[]
    additionalProperties: true
  }
  strict: false
  needsApproval(): Promise<boolean>
  isEnabled(): Promise<boolean>
  invoke(context: unknown, input: string): Promise<string>
}
