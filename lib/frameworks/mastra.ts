import type { spillwayProcessor as Declared } from 'spillway/mastra'
import { contextOf } from './context_of.js'

/** Times that a request may be made smaller, as Mastra's own processors of errors. */
const RETRIES = 10

export const spillwayProcessor: typeof Declared = (given) => {
  const find = contextOf(given)
  return {
    id: 'spillway',
    async processLLMRequest(call) {
      const context = find(call)
      return context ? { prompt: (await context.prepare(call.prompt)).messages } : {}
    },
    async processAPIError(call) {
      const isSmaller = call.retryCount < RETRIES && (await find(call)?.refused(call.error))
      return isSmaller ? { retry: true } : undefined
    },
  }
}
