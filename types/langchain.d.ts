/**
 * LangChain 1 (`langchain`, `createAgent`): one middleware that bounds results and errors of all
 * tools, offers the tool that reads saved outputs, and keeps the prompts of a long run within the
 * window of their model.
 */

import type { Context, WrapPolicy } from 'spillway'

/** The members of a tool call's request that are read or replaced. */
export interface ToolCallRequest {
  toolCall: { name: string; args: Record<string, unknown> }
  // biome-ignore lint/suspicious/noExplicitAny: the package is not imported for its types
  tool?: any
}

/** The members of a model call's request that are read or replaced. */
export interface ModelCallRequest<M> {
  messages: M[]
  systemMessage?: { text: string } | undefined
}

/** Limits of results, as of `wrapTool`, and the context of a conversation. */
export interface MiddlewareOptions extends WrapPolicy {
  /** Keeps the prompts of one conversation small. For an agent that conversations share, a function
   *  that finds the context of a request, for example by `runtime.configurable.thread_id`. Default:
   *  results are bounded, and nothing is cleared. */
  // biome-ignore lint/suspicious/noExplicitAny: the package is not imported for its types
  context?: Context | ((request: any) => Context | undefined) | undefined
  /** Two middlewares of an agent need two names. Default 'spillway'. */
  name?: string | undefined
}

/**
 * Makes a middleware. Results of tools are cut where they return, so the state, checkpoints and
 * traces hold them cut; with `spill` they are saved, and the agent gets `read_output`. What a tool
 * throws becomes a ToolMessage with status 'error' within the limits, but for interrupts and
 * commands of LangGraph. Results in the history that came another way are cut in each request.
 *
 * With `context` each request is prepared, and after a refusal because of its size asked again,
 * smaller. A stream of tokens starts anew then. Throws ERR_SPILLWAY_OPTION for a wrong option.
 *
 * @example
 * const context = createContext({ contextTokens: 200_000, spill: store })
 * const bounded = spillwayMiddleware({ context, spill: store })
 * const agent = createAgent({ model, tools, middleware: [bounded] })
 */
export function spillwayMiddleware(options?: MiddlewareOptions): {
  name: string
  // biome-ignore lint/suspicious/noExplicitAny: the package is not imported for its types
  tools: any[]
  wrapToolCall<R extends ToolCallRequest, A>(
    request: R,
    handler: (request: R) => A | Promise<A>,
  ): A | Promise<A>
  wrapModelCall<M, R extends ModelCallRequest<M>, A>(
    request: R & ModelCallRequest<M>,
    handler: (request: R) => A | Promise<A>,
  ): Promise<A>
}
