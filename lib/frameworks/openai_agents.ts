import type { SpillStore } from 'spillway'
import type { AgentsModel, readOutputTool as Reader, withContext as Wrapper } from 'spillway/openai-agents'
import { spillTool } from '../index.js'
import { overlaid } from '../overlaid.js'
import { isList, isObject } from '../untrusted.js'
import { optionError } from '../validate.js'
import { contextOf } from './context_of.js'

type Request = Parameters<AgentsModel['getResponse']>[0]

export const withContext: typeof Wrapper = (model, given) => {
  if (!isObject(model) || typeof model.getResponse !== 'function')
    throw optionError(TypeError, 'model', 'a model with a method getResponse', model)
  const find = contextOf(given)
  const around = <R>(request: Request, ask: (request: Request) => Promise<R>): Promise<R> => {
    const { input, systemInstructions: system, tools } = request
    const context = find(request)
    if (!context || !isList(input)) return ask(request)
    return context.run(input as unknown[], (input) => ask({ ...request, input }), { system, tools })
  }
  const getResponse = (request: Request) =>
    around(request, (request) => Promise.resolve(model.getResponse(request as never)))
  /** A refusal comes before the first event. */
  async function* getStreamedResponse(request: Request): AsyncGenerator {
    const begin = async (request: Request) => {
      const events = model.getStreamedResponse(request as never)[Symbol.asyncIterator]()
      return { events, first: await events.next() }
    }
    const { events, first } = await around(request, begin)
    try {
      for (let next = first; !next.done; next = await events.next()) yield next.value
    } finally {
      await events.return?.()
    }
  }
  return overlaid(model, { getResponse, getStreamedResponse })
}

export const readOutputTool: typeof Reader = (store: SpillStore) => {
  const { name, description, parameters, execute } = spillTool(store)
  return {
    type: 'function',
    name,
    description,
    parameters: { ...parameters, additionalProperties: true },
    strict: false,
    needsApproval: async () => false,
    isEnabled: async () => true,
    invoke: async (_context, input) => execute(parsed(input)),
  }
}

/** Returns the value of a JSON text. `execute` answers any other text in words. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input)
  } catch {
    return input
  }
}
