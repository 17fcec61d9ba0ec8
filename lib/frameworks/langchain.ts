import type { SpillStore } from 'spillway'
import type { spillwayMiddleware as Declared, ToolCallRequest } from 'spillway/langchain'
import { clampError, spillTool, wrapTool } from '../index.js'
import { get, isObject } from '../untrusted.js'
import { clampBesidePages } from './beside_pages.js'
import { contextOf, type Found } from './context_of.js'

export const spillwayMiddleware: typeof Declared = ({
  context: given,
  name = 'spillway',
  ...policy
} = {}) => {
  const { spill } = policy
  const find = given === undefined ? () => undefined : contextOf(given as Found<unknown>)
  const reader = spill && readOutputTool(spill)
  return {
    name,
    tools: reader ? [reader] : [],
    wrapToolCall(request, handler) {
      const { name, args } = request.toolCall
      // Its pages are bounded.
      if (name === reader?.name) return handler(request)
      const execute = (_args: unknown) => answered(request, handler)
      return wrapTool({ name, execute }, policy).execute(args)
    },
    wrapModelCall(request, handler) {
      const isPage = (message: unknown) =>
        reader !== undefined && isObject(message) && get(message, 'name') === reader.name
      const messages = clampBesidePages(request.messages, policy, isPage)
      const ask = async (messages: typeof request.messages) => handler({ ...request, messages })
      const context = find(request)
      const system = request.systemMessage?.text
      return context ? context.run(messages, ask, { system }) : ask(messages)
    },
  }

  /** Runs a tool. An error that it throws becomes an answer within the limits. */
  async function answered<R extends ToolCallRequest, A>(
    request: R,
    handler: (request: R) => A | PromiseLike<A>,
  ): Promise<A> {
    try {
      return await handler(request)
    } catch (error) {
      // LangGraph's own: an interrupt, or a command to a parent.
      if (isObject(error) && 'is_bubble_up' in error && error.is_bubble_up === true) throw error
      const said = String(clampError(error, policy))
      // The handler makes a ToolMessage of what a tool answers, so that no class is imported.
      const tool = { name: request.toolCall.name, invoke: async () => said }
      return Object.assign((await handler({ ...request, tool })) as object, { status: 'error' }) as A
    }
  }
}

/** Makes the tool that reads saved outputs in the form that agents of LangChain take, without its
 *  classes. */
function readOutputTool(store: SpillStore) {
  const { name, description, parameters, execute } = spillTool(store)
  const invoke = (call: { readonly args?: unknown }) => execute(call.args ?? call)
  return {
    name,
    description,
    schema: parameters,
    lc_runnable: true,
    lc_namespace: ['langchain', 'tools'],
    invoke,
  }
}
